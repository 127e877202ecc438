"""``graphbo clean`` while workers are at work: nothing is left, and each of them ends with one line."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from tests.faults.fleet import Fleet
from tests.faults.journal import read_journal
from tests.faults.kinds.base import Attempt, Kind, Limits, Try
from tests.faults.processes import PATIENCE_SECONDS
from tests.faults.site import Site

__all__ = ["CLEAN_BESIDE_WORKERS"]

#: More than there is time for.
_BUDGET = 250


@contextmanager
def _cleaned_beside_workers(site: Site) -> Iterator[Try]:
    def attempt(rng: Random, limits: Limits) -> Attempt:
        fleet = Fleet(site, rng.randint(1, limits.workers), _BUDGET, joins=True)
        fleet.muster()
        _await_evaluations(fleet, rng.randint(1, 20))
        answer = site.run("clean", fleet.run, "--yes")
        fleet.await_all()
        found = site.after_clean()
        found.other += fleet.bad_endings(may_give_up=True)
        found.other += [
            f"{one.name} ended with 0 when its run was removed"
            for one in fleet.workers
            if one.process.code == 0
        ]
        if answer.code != 0:
            found.other.append(f"clean ended with {answer.code}: {answer.message}")
        return Attempt(1, found)

    yield attempt


def _await_evaluations(fleet: Fleet, count: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if len(read_journal(fleet.site.journal, fleet.run)) >= count or not fleet.alive:
            return
        time.sleep(0.005)


CLEAN_BESIDE_WORKERS = Kind(
    "`graphbo clean` beside workers", {"sqlite": 40, "neo4j": 80}, _cleaned_beside_workers
)
