"""Workers in containers that have the same host name and the same process ids: nobody dies, so nobody is replaced."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from tests.faults.fleet import Fleet
from tests.faults.kinds.base import Attempt, Impossible, Kind, Limits, Try
from tests.faults.processes import Command, Running, spawn
from tests.faults.site import Site

__all__ = ["CONTAINERS"]

#: Own process ids and an own /proc, under the host's name: what containers of one image on several hosts look like.
_CONTAINER = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--uts")
_WITHOUT_ROOT = ("unshare", "--user", "--map-root-user", *_CONTAINER[1:])
#: The first process of a container is a shell that has started so many others before.
_SHELL = ("sh", "-c", 'for _ in $(seq "$0"); do /bin/true; done; "$@"')
_EVALUATIONS, _SECONDS = 30, 0.1


@contextmanager
def _shared_by_containers(site: Site) -> Iterator[Try]:
    container = _available()

    def attempt(rng: Random, limits: Limits) -> Attempt:
        # Nearly all of them have the number of another one.
        others = [str(rng.randint(0, 1)) for _ in range(limits.workers)]

        def launch(command: Command, number: int) -> Running:
            return spawn(command, [*container, *_SHELL, others[number - 1]])

        size = rng.randint(2, min(4, limits.workers))
        fleet = Fleet(site, size, _EVALUATIONS, _SECONDS, launch=launch)
        fleet.muster()
        fleet.await_all()
        return Attempt(1, fleet.check())

    yield attempt


def _available() -> tuple[str, ...]:
    """How a container is made here.

    Raises:
        Impossible: not at all.
    """
    if shutil.which("unshare") is None:
        raise Impossible("there is no program unshare")
    for command in (_CONTAINER, _WITHOUT_ROOT):
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
            return command
    raise Impossible("unshare may not make namespaces here: run as root")


CONTAINERS = Kind(
    "runs shared by containers with equal process ids",
    {"sqlite": 20, "neo4j": 20},
    _shared_by_containers,
)
