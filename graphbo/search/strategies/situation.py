"""The situation in which a strategy proposes a node, and how one follows from the one before."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from graphbo.search.costs import Costs
from graphbo.search.strategies.folded_history import FoldedHistory, Folding, HistoryRules
from graphbo.types import NodeKey, Observation, Pending, Subgraph

__all__ = ["Situation", "Situations"]


@dataclass(frozen=True, eq=False)
class Situation:
    """What a strategy is given beside the graph; true until the history goes on.

    Attributes:
        told: what was observed, and what follows from it.
        pending: what is being measured now.
        seed: of the run.
        step: the number that the next measurement will have.
        maximize: whether large values are wanted.
        excluded: nodes that must not be proposed, whatever else is known of them.
        costs: what measurements cost, where nodes say so.
    """

    told: FoldedHistory
    pending: Sequence[Pending]
    seed: int
    step: int
    maximize: bool
    excluded: frozenset[NodeKey] = frozenset()
    costs: Costs | None = None

    @property
    def read(self) -> tuple[str, ...]:
        """The properties of nodes that have to be known where they are ranked."""
        return () if self.costs is None else (self.costs.name,)

    @property
    def evaluated(self) -> list[NodeKey]:
        """The nodes that have a value. A failed measurement reveals nothing, not even who the neighbours are."""
        return self.told.valued.keys

    @cached_property
    def taken(self) -> frozenset[NodeKey]:
        """The nodes that must not be proposed: measured, failed, being measured or excluded."""
        return self.excluded.union(self.told.keys, self.awaited)

    def candidates(self, subgraph: Subgraph) -> list[int]:
        """The rows of a subgraph whose nodes may be proposed."""
        measured, others = self.told.keys, self.excluded.union(self.awaited)
        return [
            row for row, key in enumerate(subgraph) if key not in measured and key not in others
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
        """How many nodes were asked for, or have a known value."""
        return len(self.told.history) + len(self.pending)


class Situations:
    """The situations of one run, one after the other: whoever has the history keeps this with it.

    A situation costs what was told since the last one, not what was told in all.
    """

    def __init__(self) -> None:
        self._folding: Folding[FoldedHistory] = Folding()

    def of(
        self,
        history: Sequence[Observation],
        pending: Sequence[Pending] = (),
        *,
        seed: int,
        step: int,
        maximize: bool,
        excluded: frozenset[NodeKey] = frozenset(),
        costs: Costs | None = None,
    ) -> Situation:
        """The situation after a history."""
        told = self._folding.fold(HistoryRules(maximize), history)
        return Situation(told, pending, seed, step, maximize, excluded, costs)
