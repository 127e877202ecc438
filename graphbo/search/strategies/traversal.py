"""Breadth-first and depth-first search: follow the relationships, whatever the values are."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import ClassVar

from graphbo.search.graph import Graph
from graphbo.search.strategies.base import Option, Purpose, random_proposal
from graphbo.search.strategies.situation import Situation
from graphbo.types import Candidate, NodeKey, Proposal

__all__ = ["BreadthFirstSearch", "DepthFirstSearch"]

#: How many neighbours are proposed: others who ask at the same moment take those after the first.
CANDIDATES = 16


class _Traversal:
    """An unmeasured neighbour of one measured node; a random node when none has any."""

    name: ClassVar[str]

    def __init__(self) -> None:
        # Nodes whose neighbours have all been measured. That stays so while a run goes on; it is kept to ask about
        # each node once.
        self._dry: set[NodeKey] = set()
        self._dry_in: tuple[Graph, frozenset[NodeKey]] | None = None

    @property
    def options(self) -> Mapping[str, Option]:
        """There are none."""
        return {}

    @abstractmethod
    def _order(self, evaluated: Sequence[NodeKey]) -> Iterable[NodeKey]:
        """Whose neighbours come first, given the nodes in the order in which they were measured."""

    def propose(self, situation: Situation, graph: Graph) -> Proposal:
        """See :class:`~graphbo.search.strategies.base.Strategy`."""
        restart = situation.last_restart
        self._forget_other_runs(graph, situation)
        for key in self._order(situation.evaluated):
            if key in self._dry:
                continue
            found = self._unmeasured(key, situation, graph)
            if found:
                return Proposal(tuple(Candidate(other) for other in found), "search", restart)
        draw = (situation.step, Purpose.RESTART)
        if not situation.told.valued:
            return random_proposal(situation, graph, draw, phase="initial", restart=restart)
        return random_proposal(situation, graph, draw, phase="restart", restart=restart + 1)

    def _forget_other_runs(self, graph: Graph, situation: Situation) -> None:
        if self._dry_in is not None:
            known, taken = self._dry_in
            if known is not graph or not taken <= situation.taken:
                self._dry.clear()
        self._dry_in = (graph, situation.taken - set(situation.awaited))

    def _unmeasured(self, key: NodeKey, situation: Situation, graph: Graph) -> list[NodeKey]:
        def neighbours(exclude: Collection[NodeKey], limit: int) -> list[NodeKey]:
            draw = (situation.step, Purpose.SEARCH)
            return graph.neighbours([key], draw, exclude, situation.evaluated, limit)

        found = neighbours(situation.taken, CANDIDATES)
        if not found:
            # What is being measured may yet be released.
            told = situation.taken - set(situation.awaited)
            if told == situation.taken or not neighbours(told, 1):
                self._dry.add(key)
        return found


class BreadthFirstSearch(_Traversal):
    """All neighbours of the first node, then all neighbours of the second, and so on."""

    name: ClassVar[str] = "bfs"

    def _order(self, evaluated: Sequence[NodeKey]) -> Iterable[NodeKey]:
        return evaluated


class DepthFirstSearch(_Traversal):
    """A neighbour of the last node; where it has none left, of the one before."""

    name: ClassVar[str] = "dfs"

    def _order(self, evaluated: Sequence[NodeKey]) -> Iterable[NodeKey]:
        return reversed(evaluated)
