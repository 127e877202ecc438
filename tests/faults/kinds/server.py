"""A Neo4j server that is killed and started again while workers are at work."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from tests.faults.fleet import Fleet
from tests.faults.kinds.base import Attempt, Impossible, Kind, Limits, Try
from tests.faults.site import Site

__all__ = ["SERVER"]

#: Longer than a server takes to come back: a lease that runs out meanwhile is another matter.
_LEASE = "300"
#: So long that the run is not over before the server is back.
_SECONDS, _EVALUATIONS_BETWEEN = 0.1, 15


@contextmanager
def _kills_of_the_server(site: Site) -> Iterator[Try]:
    server = site.server
    if server is None:
        raise Impossible("the server of GRAPHBO_TEST_NEO4J_URI is not ours to kill")

    def attempt(rng: Random, limits: Limits) -> Attempt:
        kills = min(limits.faults, rng.randint(1, 3))
        size = rng.randint(2, max(2, limits.workers // 2))
        budget = size * _EVALUATIONS_BETWEEN * (kills + 1)
        fleet = Fleet(site, size, budget, _SECONDS, ["--lease", _LEASE])
        done = 0
        for _ in range(kills):
            # From the second one on it may be struck while the workers find their way back.
            if fleet.work(rng.uniform(0.5, 4.0)):
                break
            server.kill()
            done += 1
            server.start()
        fleet.finish()
        return Attempt(done, fleet.check(may_give_up=True))

    yield attempt


SERVER = Kind("server killed", {"neo4j": 12}, _kills_of_the_server)
