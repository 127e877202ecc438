"""A disk that is full for a while, under a SQLite file: what was reported is there, the rest is kept elsewhere."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from tests.backends import SqliteBackend
from tests.faults.checker import Findings, check
from tests.faults.fleet import Fleet
from tests.faults.kinds.base import Attempt, Impossible, Kind, Limits, Try
from tests.faults.site import Site

__all__ = ["DISK"]

#: More than a run wants to find free when it begins.
_SIZE = "64m"
_CHUNK = 1 << 16
#: How long workers get to notice.
_FULL_SECONDS = 2.0
_SECONDS = 0.02


@contextmanager
def _full_disk(site: Site) -> Iterator[Try]:
    with _small_disk(site.directory / "disk") as disk:
        said = site.directory / "said"
        said.mkdir()
        small = Site(SqliteBackend(disk / "graph.db"), said)

        def attempt(rng: Random, limits: Limits) -> Attempt:
            fleet = Fleet(small, rng.randint(1, limits.workers), rng.randint(20, 60), _SECONDS)
            found, full = Findings(), 0
            while full < limits.faults and not fleet.work(rng.uniform(0.2, 1.5)):
                _fill(disk / "ballast")
                full += 1
                fleet.wait_while_alive(_FULL_SECONDS)
                (disk / "ballast").unlink()
                if not fleet.alive:
                    # Nobody has measured anything again yet: what is nowhere now is lost.
                    found.add_new(check(fleet.evidence()))
            fleet.finish()
            found.add_new(fleet.check(may_give_up=True))
            return Attempt(full, found)

        yield attempt


@contextmanager
def _small_disk(path: Path) -> Iterator[Path]:
    """A file system of its own.

    Raises:
        Impossible: it may not be mounted.
    """
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(path)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        raise Impossible("a small disk may not be mounted here: run as root")
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


def _fill(path: Path) -> None:
    """Write until the disk is full."""
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(os.urandom(1) * _CHUNK)


DISK = Kind("disk full", {"sqlite": 60}, _full_disk)
