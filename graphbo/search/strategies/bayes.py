"""The default: expected improvement on a pair of ego-networks that move through the graph.

The model graph is the ego-network of the region's centre together with that of the best other node. Every node in it
that has not been measured is a candidate. When nothing beats the centre for a while, the region moves on (see
:mod:`graphbo.search.regions`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from graphbo.errors import ModelError
from graphbo.search.features import AUTO
from graphbo.search.graph import Graph
from graphbo.search.regions import MovingRegion, MovingRules
from graphbo.search.strategies.base import (
    KernelOption,
    Option,
    Purpose,
    at_least,
    check_noise,
    feature_names,
    kernel_name,
    random_proposal,
)
from graphbo.search.strategies.known_nodes import KnownNodes
from graphbo.search.strategies.situation import Situation
from graphbo.types import Ego, NodeKey, Observation, Proposal, Subgraph

if TYPE_CHECKING:
    from graphbo.search.strategies.model import Belief, Model
    from graphbo.search.strategies.scouts import Scouted, Scouts

__all__ = ["BayesConfig", "BayesStrategy"]

#: After so many regions in a row in which every node has been measured, a random node is quicker.
MOST_BARREN = 8


@dataclass(frozen=True)
class BayesConfig:
    """What can be chosen about the default strategy.

    Attributes:
        initial: how many random nodes are measured before the model is asked; known values count.
        size: how many nodes an ego-network has. 50 find clearly less, 200 no more.
        egos: how many ego-networks are modelled together: the centre's, and those of the best other nodes.
        apart: whether the other nodes are sought outside of the centre's ego-network.
        refresh: after how many failures in a row the ego-networks are drawn anew.
        patience: after how many failures in a row the region moves.
        kernel: ``auto``, one of the paper's kernels, or a function that makes one of a subgraph's eigenpairs.
        degrees: whether values may rise or fall with the number of a node's relationships. The observations tell; in a
            graph that is still being revealed, degrees are not known.
        features: the node properties that values may depend on; the observations tell. A run takes ``auto`` for those
            that are fit for it.
        prior: the node property that is somebody's belief about the answer, in any units, if there is one: a feature
            that is believed until the observations speak against it. Every other node to begin with is the one of which
            it promises most, among some from anywhere.
        scouts: how many nodes are drawn from anywhere at each step: the best of them is measured where its degree and
            its features promise more than the region does. None in a graph that is still being revealed.
        acquisition: what makes a node promising.
        noise: the standard deviation of a measurement, if it is known.

    Raises:
        ModelError: a number is too small, what should be true or false is neither, or there is no such kernel or
            acquisition.
    """

    initial: int = 10
    size: int = 100
    egos: int = 2
    # The second ego-network would be on another hill, not on the other side of the same. What that is worth is not
    # resolved, and it takes more questions: docs/experiments/defaults.md.
    apart: bool = False
    # Drawing anew at every failure is not resolved to find more, and costs a question to the database each time:
    # docs/experiments/defaults.md.
    refresh: int = 5
    patience: int = 15
    kernel: KernelOption = "auto"
    # A bottleneck mostly has many neighbours, and where it has not the model learns so: docs/experiments/defaults.md.
    degrees: bool = True
    features: Sequence[str] = ()
    prior: str = ""
    # Judging 1,000 takes several times as long; whether they find more is not resolved: docs/experiments/real.md.
    scouts: int = 200
    acquisition: str = "ei"
    noise: float | None = None

    def __post_init__(self) -> None:
        at_least(1, initial=self.initial, egos=self.egos)
        at_least(2, size=self.size)
        at_least(1, refresh=self.refresh, patience=self.patience)
        at_least(0, scouts=self.scouts)
        check_noise(self.noise)
        if self.features != AUTO:
            object.__setattr__(self, "features", feature_names(self.features))
        if not isinstance(self.prior, str):
            raise ModelError(f"prior is {self.prior!r}: expected the name of a property")
        for name in ("apart", "degrees"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise ModelError(f"{name} is {value!r}: expected true or false")
        # Who only asks where a run looks need not wait for all kernels to be imported.
        if (self.kernel, self.acquisition) != (BayesConfig.kernel, BayesConfig.acquisition):
            self.model()

    @property
    def names(self) -> Sequence[str]:
        """The properties that are features, as far as they have been named, and the prior."""
        named = () if self.features == AUTO else self.features
        return tuple(dict.fromkeys((*named, *([self.prior] if self.prior else []))))

    def model(self) -> "Model":
        """A model as chosen."""
        from graphbo.search.strategies.model import Model  # noqa: PLC0415 - see above

        return Model(
            self.kernel, self.acquisition, self.noise, degrees=self.degrees, prior=self.prior
        )


class BayesStrategy:
    """Bayesian optimisation on moving ego-networks."""

    name: ClassVar[str] = "bayes"

    def __init__(self, config: BayesConfig | None = None) -> None:
        self._config = config or BayesConfig()
        self._guess: frozenset[NodeKey] = frozenset()
        self._known = KnownNodes(self._config.names, degrees=self._config.degrees)

    @cached_property
    def _scouts(self) -> "Scouts":
        from graphbo.search.strategies.scouts import Scouts  # noqa: PLC0415 - as the model

        return Scouts(self._config.scouts, self._known, self._config.prior)

    @cached_property
    def _model(self) -> "Model":
        return self._config.model()

    @property
    def options(self) -> Mapping[str, Option]:
        """The configuration."""
        own = {
            "kernel": kernel_name(self._config.kernel),
            "features": AUTO if self._config.features == AUTO else list(self._config.features),
        }
        return asdict(self._config) | own

    def region_rules(self, maximize: bool) -> MovingRules:
        """How its region moves."""
        return MovingRules(
            maximize,
            failures_to_move=self._config.patience,
            failures_to_redraw=self._config.refresh,
        )

    def propose(self, situation: Situation, graph: Graph) -> Proposal:
        """See :class:`~graphbo.search.strategies.base.Strategy`."""
        initial = self._config.initial
        if situation.asked < initial or not situation.told.valued:
            believed = None
            if self._config.prior and situation.asked % 2:
                believed = self._scouts.believed(situation, graph)
            if believed is not None:
                return believed
            draw = (0, Purpose.INITIAL)
            return random_proposal(
                situation, graph, draw, phase="initial", restart=0, expected=initial
            )
        region, belief = self._look(situation, graph)
        if belief is not None:
            scouts = self._scouts.proposal(situation, graph, region, belief)
            return scouts or belief.proposal()
        draw = (situation.step, Purpose.RESTART)
        return random_proposal(situation, graph, draw, phase="restart", restart=region.restart)

    def believe(self, situation: Situation, graph: Graph) -> "Belief | None":
        """See :class:`~graphbo.search.strategies.base.Believing`."""
        return self._look(situation, graph)[1]

    def believe_around(self, key: NodeKey, situation: Situation, graph: Graph) -> "Belief | None":
        """See :class:`~graphbo.search.strategies.base.Believing`."""
        return self._model.believe_around(key, self._config.size, situation, graph, self._known)

    def scouted(self, key: NodeKey, situation: Situation, graph: Graph) -> "Scouted | None":
        """See :class:`~graphbo.search.strategies.base.Scouting`."""
        return self._scouts.expected(key, situation, graph)

    def _look(self, situation: Situation, graph: Graph) -> "tuple[MovingRegion, Belief | None]":
        """The region that still has candidates, and what is believed there; or one that needs a random node."""
        rules, told = self.region_rules(situation.maximize), situation.told
        region = told.folded(rules)
        for _ in range(MOST_BARREN):
            if region.centre is None:
                return region, None
            subgraph = self._model_graph(situation, graph, region, region.centre)
            belief = self._model.believe(
                subgraph,
                told.valued,
                situation,
                restart=region.restart,
                scales=self._known.scales(graph, subgraph) if self._known.names else None,
            )
            if belief is not None:
                return region, belief
            region = rules.moved(region, told.history)
        return region, None

    def _model_graph(
        self,
        situation: Situation,
        graph: Graph,
        region: MovingRegion,
        centre: Observation,
    ) -> Subgraph:
        ranked = situation.told.valued.ranked
        count = self._config.egos - 1
        if not self._config.apart:
            best = islice((one for one in ranked if one.key != centre.key), count)
            return self._drawn(situation, graph, region, [centre, *best])
        others = [one for one in ranked if one.key != centre.key]
        # Who was far from the centre at the last step mostly is at this one: then one question is enough.
        guess = [one for one in others if one.key in self._guess][:count]
        tried = guess if len(guess) == count else others[:count]
        drawn = self._drawn(situation, graph, region, [centre, *tried])
        near = {drawn.keys[row] for row in drawn.egos[0]}
        # Two ego-networks of neighbours are hardly more than one: those that the centre's holds already come last.
        chosen = sorted(others, key=lambda observation: observation.key in near)[:count]
        self._guess = frozenset(observation.key for observation in chosen)
        if chosen != tried:
            drawn = self._drawn(situation, graph, region, [centre, *chosen])
        return drawn

    def _drawn(
        self,
        situation: Situation,
        graph: Graph,
        region: MovingRegion,
        centres: Sequence[Observation],
    ) -> Subgraph:
        """The ego-networks of these; that of the first does not depend on the others."""
        return graph.ego_networks(
            [Ego(one.key, self._config.size) for one in centres],
            (region.epoch, Purpose.EGO),
            situation.told.valued.until(region.epoch),
            situation.evaluated,
            tuple(dict.fromkeys((*self._known.names, *situation.read))),
        )
