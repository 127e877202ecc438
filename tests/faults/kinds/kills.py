"""Workers that are killed at random moments, 1 to 8 of them on a run, and replaced until the run is finished."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from tests.faults.fleet import Fleet
from tests.faults.kinds.base import Attempt, Kind, Limits, Try
from tests.faults.site import Site

__all__ = ["KILLS"]

#: How long a worker lives on average, in the time that one takes from its start to the end of a short run.
_LIVES = 1.5
_BUDGETS = (20, 60)


@contextmanager
def _kills(site: Site) -> Iterator[Try]:
    # The first command takes longer: everything is imported for all that follow.
    site.run("runs")
    life = _LIVES * _time_of_one(site)

    def attempt(rng: Random, limits: Limits) -> Attempt:
        fleet = Fleet(site, rng.randint(1, limits.workers), rng.randint(*_BUDGETS))
        killed = 0
        while killed < limits.faults:
            if fleet.work(rng.uniform(0.0, 2 * life) / fleet.size):
                break
            killed += fleet.kill_one(rng)
        fleet.finish()
        return Attempt(killed, fleet.check())

    yield attempt


def _time_of_one(site: Site) -> float:
    """How long a worker takes that has little to do."""
    fleet = Fleet(site, size=1, budget=2)
    began = time.monotonic()
    fleet.finish()
    seconds = time.monotonic() - began
    assert not fleet.check(), "not even a run without a fault comes to its end"
    return seconds


KILLS = Kind("workers killed", {"sqlite": 1000, "neo4j": 300}, _kills)
