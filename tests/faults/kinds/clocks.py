"""Clocks that are wrong by hours, and that are set while workers are at work.

On Neo4j each worker may be on a host of its own and has its own wrong clock. Workers on a SQLite file are on one host,
so that they share one.
"""

import datetime
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

from tests.backends import SqliteBackend
from tests.faults.fleet import Fleet
from tests.faults.kinds.base import Attempt, Kind, Limits, Try
from tests.faults.processes import Command, Running, fork
from tests.faults.site import Site

__all__ = ["CLOCKS"]

_HOURS = 48
_SECONDS = 0.05
_DOUBLE = struct.Struct("d")


class _Clock:
    """A clock that another process can set: by how much it is wrong stands in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.set(0.0)

    def set(self, seconds: float) -> None:
        """Let it be wrong by so much from now on."""
        # A single write of few bytes: whoever reads meanwhile sees the old or the new.
        with self._path.open("r+b" if self._path.exists() else "wb", buffering=0) as file:
            file.write(_DOUBLE.pack(seconds))

    def use(self) -> None:
        """Let this process have no other."""
        true_time, path = time.time, self._path

        def wrong_by() -> float:
            return float(_DOUBLE.unpack(path.read_bytes())[0])

        class WrongDatetime(datetime.datetime):
            @classmethod
            def now(cls, tz: datetime.tzinfo | None = None) -> "WrongDatetime":
                return cls.fromtimestamp(true_time() + wrong_by(), tz)

        time.time = lambda: true_time() + wrong_by()
        for name, module in list(sys.modules.items()):
            if name.startswith("graphbo") and vars(module).get("datetime") is datetime.datetime:
                vars(module)["datetime"] = WrongDatetime


@contextmanager
def _wrong_clocks(site: Site) -> Iterator[Try]:
    shared = isinstance(site.backend, SqliteBackend)

    def attempt(rng: Random, limits: Limits) -> Attempt:
        size = rng.randint(2, limits.workers)
        files = [site.directory / site.name("clock") for _ in range(1 if shared else size)]
        clocks = [_Clock(path) for path in files]

        def launch(command: Command, number: int) -> Running:
            clock = clocks[number % len(clocks)]
            return fork(replace(command, prepare=partial(_Clock.use, clock)))

        def set_all() -> int:
            for clock in clocks:
                clock.set(3600.0 * rng.uniform(-_HOURS, _HOURS))
            return len(clocks)

        fleet = Fleet(site, size, rng.randint(20, 60), _SECONDS, launch=launch)
        wrong = set_all()
        while wrong < limits.faults and not fleet.work(rng.uniform(0.0, 1.0)):
            wrong += set_all()
        fleet.finish()
        return Attempt(wrong, fleet.check())

    yield attempt


CLOCKS = Kind("clocks set by hours", {"sqlite": 100, "neo4j": 100}, _wrong_clocks)
