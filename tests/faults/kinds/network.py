"""A network that cuts connections, holds up what goes by, and loses answers: a proxy in front of Neo4j."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random

from benchmarks._wire import Wire, wire_to
from tests.faults.fleet import Fleet
from tests.faults.kinds.base import Attempt, Kind, Limits, Try
from tests.faults.processes import PATIENCE_SECONDS, fork
from tests.faults.site import Site

__all__ = ["NETWORK"]

#: How likely each fault is, for each piece of data that goes by; and how long a delay may be.
_CUT, _LOSE, _HOLD_UP = 0.004, 0.01, 0.02
_LONGEST_SECONDS = 0.3


@dataclass
class _Bad:
    """Makes a wire bad, and counts how often."""

    wire: Wire
    rng: Random
    faults: int = 0

    def __post_init__(self) -> None:
        self.wire.ends = lambda: self._strikes(_CUT)
        self.wire.loses = lambda _: self._strikes(_LOSE)
        self.wire.holds_up = self._hold_up

    def _strikes(self, probability: float) -> bool:
        strikes = self.rng.random() < probability
        self.faults += strikes
        return strikes

    def _hold_up(self) -> float:
        return self.rng.uniform(0.0, _LONGEST_SECONDS) if self._strikes(_HOLD_UP) else 0.0

    def mend(self) -> None:
        """From here on everything arrives."""
        self.wire.ends, self.wire.loses, self.wire.holds_up = (
            lambda: False,
            lambda _: False,
            lambda: 0.0,
        )


@contextmanager
def _bad_network(site: Site) -> Iterator[Try]:
    with wire_to(site.backend.uri, 0.0) as wire:

        def attempt(rng: Random, limits: Limits) -> Attempt:
            fleet = Fleet(
                site,
                rng.randint(1, limits.workers),
                rng.randint(20, 60),
                # The last --uri of a command line counts.
                launch=lambda command, _: fork(
                    replace(command, arguments=[*command.arguments, "--uri", wire.uri])
                ),
            )
            bad = _Bad(wire, rng)
            fleet.work(PATIENCE_SECONDS, until=lambda: bad.faults >= limits.faults)
            bad.mend()
            fleet.finish()
            return Attempt(bad.faults, fleet.check(may_give_up=True))

        yield attempt


NETWORK = Kind("connections cut, held up, answers lost", {"neo4j": 500}, _bad_network)
