"""Local search: climb from neighbour to neighbour, and begin elsewhere at the top of each hill."""

from collections.abc import Mapping
from typing import ClassVar

from graphbo.search.graph import Graph
from graphbo.search.strategies.base import Option, Purpose, random_proposal
from graphbo.search.strategies.situation import Situation
from graphbo.types import Candidate, Proposal

__all__ = ["LocalSearch"]

#: How many neighbours are proposed: others who ask at the same moment take those after the first.
CANDIDATES = 16


class LocalSearch:
    """A random neighbour of the best node since the last restart; a random node when it has no other.

    It moves whenever a neighbour is better, so a restart means that all neighbours of the best were measured and are
    not better.
    """

    name: ClassVar[str] = "local"

    @property
    def options(self) -> Mapping[str, Option]:
        """There are none."""
        return {}

    def propose(self, situation: Situation, graph: Graph) -> Proposal:
        """See :class:`~graphbo.search.strategies.base.Strategy`."""
        climb = situation.last_restart
        ranked = situation.told.valued_in(climb).ranked
        if not ranked:
            return random_proposal(
                situation,
                graph,
                (situation.step, Purpose.RESTART),
                phase="restart" if climb else "initial",
                restart=climb,
            )
        found = graph.neighbours(
            [ranked[0].key],
            (situation.step, Purpose.SEARCH),
            situation.taken,
            situation.evaluated,
            limit=CANDIDATES,
        )
        if found:
            return Proposal(tuple(Candidate(key) for key in found), "search", climb)
        return random_proposal(
            situation, graph, (situation.step, Purpose.RESTART), phase="restart", restart=climb + 1
        )
