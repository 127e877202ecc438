"""What every strategy is, and what they share: who is taken, and how random nodes are proposed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import ClassVar, Protocol, TypeAlias

import numpy as np

from graphbo.errors import ModelError
from graphbo.search.graph import Graph
from graphbo.search.strategies.told import Folding, Telling, Told
from graphbo.types import Candidate, NodeKey, Observation, Pending, Phase, Proposal, Subgraph

__all__ = [
    "Option",
    "Purpose",
    "Situation",
    "Situations",
    "Strategy",
    "at_least",
    "generator",
    "one_of",
    "random_proposal",
]

#: The value of a strategy's option: what JSON can hold.
Option: TypeAlias = bool | int | float | str | None

#: How many random nodes are drawn for each that is needed: others who ask at the same moment take the rest.
SPARE = 3


class Purpose(IntEnum):
    """What a random choice is for. Choices for different purposes are independent; numbers are never reused."""

    INITIAL = 1
    RESTART = 2
    EGO = 3
    TIES = 4
    SEARCH = 5
    ANSWER = 6


class Strategy(Protocol):
    """What proposes the next node to measure.

    A strategy is a pure function of what it is given and of the graph in the database. Whatever it keeps between two
    calls only saves time: another process with the same history proposes the same. Its randomness comes from
    ``seed``, a position in the run and a :class:`Purpose`, never from a state of its own.
    """

    #: What users call it: its key in ``STRATEGIES``.
    name: ClassVar[str]

    @property
    def options(self) -> Mapping[str, Option]:
        """What was chosen, fit for JSON: ``create_strategy(name, options)`` makes it again."""

    def propose(
        self,
        history: Sequence[Observation],
        pending: Sequence[Pending],
        graph: Graph,
        *,
        seed: int,
        step: int,
        maximize: bool,
    ) -> Proposal:
        """The nodes to measure next, best first; the first that is free will be.

        Args:
            history: what was observed, in the order of ``seq``.
            pending: what is being measured now.
            graph: the only door to the graph.
            seed: of the run.
            step: the number that the next measurement will have.
            maximize: whether large values are wanted.

        Returns:
            A proposal with no candidates when there is no node left, apart from those that are being measured.

        Raises:
            StoreError: the database does not answer.
        """


@dataclass(frozen=True)
class Situation:
    """What was told and what is pending, as strategies ask about them; true until the history goes on."""

    told: Told
    pending: Sequence[Pending]

    @property
    def evaluated(self) -> list[NodeKey]:
        """The nodes that have a value. A failed measurement reveals nothing, not even who the neighbours are."""
        return self.told.valued.keys

    @cached_property
    def taken(self) -> frozenset[NodeKey]:
        """The nodes that must not be proposed: measured, failed or being measured."""
        return frozenset().union(self.told.keys, self.awaited)

    def candidates(self, subgraph: Subgraph) -> list[int]:
        """The rows of a subgraph whose nodes may be proposed."""
        measured, awaited = self.told.keys, set(self.awaited)
        return [
            row for row, key in enumerate(subgraph) if key not in measured and key not in awaited
        ]

    @property
    def awaited(self) -> list[NodeKey]:
        """The nodes that are being measured."""
        return [pending.key for pending in self.pending]

    @property
    def last_restart(self) -> int:
        """The highest number of a region that a node was proposed in."""
        awaited = (pending.proposal.restart for pending in self.pending)
        return max(self.told.last_restart, *awaited, 0)

    @property
    def asked(self) -> int:
        """How many nodes were asked for, or known beforehand."""
        return len(self.told.history) + len(self.pending)


class Situations:
    """The situations of one run, one after the other."""

    def __init__(self) -> None:
        self._folding: Folding[Told] = Folding()

    def of(
        self, history: Sequence[Observation], pending: Sequence[Pending], *, maximize: bool
    ) -> Situation:
        """The situation after a history."""
        return Situation(self._folding.fold(Telling(maximize), history), pending)


def random_proposal(
    situation: Situation,
    graph: Graph,
    draw: Sequence[int],
    *,
    phase: Phase,
    restart: int,
    expected: int = 1,
) -> Proposal:
    """Random nodes that nobody has measured.

    Args:
        situation: who has been measured.
        graph: where they come from.
        draw: numbers that tell this random choice from others of the run.
        phase: what the nodes are for.
        restart: the region that they belong to.
        expected: how many nodes will come from this same draw, in calls one after the other. The database is asked
            for all of them at once, and once.
    """
    evaluated, taken = situation.evaluated, situation.taken
    found = graph.random(2 * expected, draw, (), evaluated) if expected > 1 else []
    free = [key for key in found if key not in taken]
    if not free:
        count = (1 + SPARE) * (1 + len(situation.pending))
        free = graph.random(count, (*draw, situation.asked), taken, evaluated)
    return Proposal(tuple(Candidate(key) for key in free), phase, restart)


def generator(*numbers: int) -> np.random.Generator:
    """Random numbers that belong to a seed, a position in the run and a purpose."""
    return np.random.default_rng(np.random.SeedSequence(list(numbers)))


#: Of a standard deviation: the square of a larger one overflows.
LARGEST_NOISE = 1e150


def at_least(smallest: float, **options: float) -> None:
    """Check the values of options.

    Raises:
        ModelError: one is smaller, or not a number.
    """
    for name, value in options.items():
        if not value >= smallest:
            raise ModelError(f"{name} is {value}: expected at least {smallest:g}")


def at_most(largest: float, **options: float) -> None:
    """Check the values of options.

    Raises:
        ModelError: one is larger, or not a number.
    """
    for name, value in options.items():
        if not value <= largest:
            raise ModelError(f"{name} is {value}: expected at most {largest:g}")


def one_of(known: Collection[str], **options: str) -> None:
    """Check the names that options have.

    Raises:
        ModelError: one is not known.
    """
    for name, value in options.items():
        if value not in known:
            raise ModelError(f"{name} is {value!r}: choose from {', '.join(known)}")
