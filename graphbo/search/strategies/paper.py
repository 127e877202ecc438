"""The paper's Algorithm 1: a trust region around the best node, which grows, shrinks and begins afresh.

It follows the paper where the published code does not: the incumbent is on the model's scale, the region is drawn anew
when its size changes, and after a restart only what was measured since then is known to the model.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from graphbo.search.graph import Graph
from graphbo.search.regions import TrustRegion, TrustRules
from graphbo.search.strategies.base import (
    KernelOption,
    Option,
    Purpose,
    at_least,
    check_noise,
    kernel_name,
    random_proposal,
)
from graphbo.search.strategies.situation import Situation
from graphbo.types import Ego, NodeKey, Proposal

if TYPE_CHECKING:
    from graphbo.search.strategies.model import Belief, Model

__all__ = ["PaperConfig", "PaperStrategy"]


@dataclass(frozen=True)
class PaperConfig:
    """What can be chosen about the paper's algorithm.

    Q₀, Q_min, γ and N₀ are those of the published code. Its tolerances are not: with 30 failures to a shrinkage it
    takes 180 to restart, which is more than the budget of 100. With 5 it takes 30 (100, 67, 45, 30, 20, 13, 10),
    so that a run of 100 can shrink and begin afresh twice. Three successes in a row do occur in a climb, ten do not.

    Attributes:
        initial: N₀, how many random nodes are measured at first and after a restart.
        size: Q₀, how many nodes the trust region has at first.
        smallest: Q_min, the size at which it is given up.
        largest: the size at which it grows no more (the paper's n, where that is more than a model can have).
        growth: γ, by which the size is multiplied or divided.
        success_tolerance: after how many successes in a row it grows.
        failure_tolerance: after how many failures in a row it shrinks.
        kernel: one of the paper's kernels, ``auto``, or a function that makes one of a subgraph's eigenpairs.
        order: η of the polynomial kernels is min(order, diameter of the subgraph), and at least 2.
        acquisition: what makes a node promising.
        noise: the standard deviation of a measurement, if it is known.

    Raises:
        ModelError: a number is out of range, or there is no such kernel or acquisition.
    """

    initial: int = 10
    size: int = 100
    smallest: int = 10
    largest: int = 500
    growth: float = 1.5
    success_tolerance: int = 3
    failure_tolerance: int = 5
    kernel: KernelOption = "sum-inverse"
    order: int = 5
    acquisition: str = "ei"
    noise: float | None = None

    def __post_init__(self) -> None:
        at_least(1, initial=self.initial)
        check_noise(self.noise)
        self.region_rules(maximize=True)
        # Who only asks where a run looks need not wait for all kernels to be imported.
        usual = (PaperConfig.kernel, PaperConfig.order, PaperConfig.acquisition)
        if (self.kernel, self.order, self.acquisition) != usual:
            self.model()

    def region_rules(self, maximize: bool) -> TrustRules:
        """How the region follows from the history."""
        return TrustRules(
            maximize=maximize,
            size=self.size,
            smallest=self.smallest,
            largest=self.largest,
            growth=self.growth,
            success_tolerance=self.success_tolerance,
            failure_tolerance=self.failure_tolerance,
        )

    def model(self) -> "Model":
        """A model as chosen."""
        from graphbo.search.strategies.model import Model  # noqa: PLC0415 - see above

        return Model(self.kernel, self.acquisition, self.noise, self.order)


class PaperStrategy:
    """Bayesian optimisation in one trust region at a time."""

    name: ClassVar[str] = "paper"

    def __init__(self, config: PaperConfig | None = None) -> None:
        self._config = config or PaperConfig()

    @cached_property
    def _model(self) -> "Model":
        return self._config.model()

    @property
    def options(self) -> Mapping[str, Option]:
        """The configuration."""
        return asdict(self._config) | {"kernel": kernel_name(self._config.kernel)}

    def region_rules(self, maximize: bool) -> TrustRules:
        """How its region grows, shrinks and begins afresh."""
        return self._config.region_rules(maximize)

    def propose(self, situation: Situation, graph: Graph) -> Proposal:
        """See :class:`~graphbo.search.strategies.base.Strategy`."""
        region = self._region(situation)
        if self._gathering(situation, region):
            return self._random(situation, graph, region.restart)
        belief = self._look(situation, graph, region)
        if belief is None:
            return self._random(situation, graph, region.restart + 1)
        return belief.proposal()

    def believe(self, situation: Situation, graph: Graph) -> "Belief | None":
        """See :class:`~graphbo.search.strategies.base.Believing`."""
        return self._look(situation, graph, self._region(situation))

    def believe_around(self, key: NodeKey, situation: Situation, graph: Graph) -> "Belief | None":
        """See :class:`~graphbo.search.strategies.base.Believing`."""
        return self._model.believe_around(key, self._config.size, situation, graph)

    def _region(self, situation: Situation) -> TrustRegion:
        return situation.told.folded(self.region_rules(situation.maximize))

    def _gathering(self, situation: Situation, region: TrustRegion) -> bool:
        awaited = sum(
            pending.proposal.restart == region.restart and pending.proposal.phase != "model"
            for pending in situation.pending
        )
        return region.centre is None or region.gathered + awaited < self._config.initial

    def _random(self, situation: Situation, graph: Graph, restart: int) -> Proposal:
        return random_proposal(
            situation,
            graph,
            (restart, Purpose.RESTART),
            phase="restart" if restart else "initial",
            restart=restart,
            expected=self._config.initial,
        )

    def _look(self, situation: Situation, graph: Graph, region: TrustRegion) -> "Belief | None":
        """What is believed of the trust region; None if it has no centre yet, or no candidate any more."""
        if region.centre is None:
            return None
        subgraph = graph.ego_networks(
            [Ego(region.centre.key, region.size)],
            (region.epoch, Purpose.EGO),
            (),
            situation.evaluated,
            situation.read,
        )
        # Older observations would pull the search back to where it was given up.
        valued = situation.told.valued_in(region.restart)
        return self._model.believe(subgraph, valued, situation, restart=region.restart)
