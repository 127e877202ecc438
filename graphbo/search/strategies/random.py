"""Random search without replacement: what any other strategy has to beat."""

from collections.abc import Mapping
from typing import ClassVar

from graphbo.search.graph import Graph
from graphbo.search.strategies.base import Option, Purpose, random_proposal
from graphbo.search.strategies.situation import Situation
from graphbo.types import Proposal

__all__ = ["RandomSearch"]


class RandomSearch:
    """Every node that has not been measured is equally likely to be next."""

    name: ClassVar[str] = "random"

    @property
    def options(self) -> Mapping[str, Option]:
        """There are none."""
        return {}

    def propose(self, situation: Situation, graph: Graph) -> Proposal:
        """See :class:`~graphbo.search.strategies.base.Strategy`."""
        return random_proposal(
            situation, graph, (situation.step, Purpose.SEARCH), phase="search", restart=0
        )
