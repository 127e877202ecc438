"""Random search without replacement: what any other strategy has to beat."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from graphbo.search.graph import Graph
from graphbo.search.strategies.base import Option, Purpose, Situations, random_proposal
from graphbo.types import Observation, Pending, Proposal

__all__ = ["RandomSearch"]


class RandomSearch:
    """Every node that has not been measured is equally likely to be next."""

    name: ClassVar[str] = "random"

    def __init__(self) -> None:
        self._situations = Situations()

    @property
    def options(self) -> Mapping[str, Option]:
        """There are none."""
        return {}

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
        """See :class:`~graphbo.search.strategies.base.Strategy`."""
        del seed
        situation = self._situations.of(history, pending, maximize=maximize)
        return random_proposal(situation, graph, (step, Purpose.SEARCH), phase="search", restart=0)
