"""From a subgraph and observations to what is believed about its nodes, and which of them to measure."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from threadpoolctl import ThreadpoolController

from graphbo.errors import ModelError
from graphbo.search.acquisition import ACQUISITIONS, Ranking, log_expected_improvement, rank
from graphbo.search.costs import Costs
from graphbo.search.features import DEGREE, Features
from graphbo.search.graph import Graph
from graphbo.search.model.fitted import Fitted, fit
from graphbo.search.spectrum import LARGEST_ORDER, SMALLEST_ORDER, Spectrum
from graphbo.search.strategies.base import (
    OF_MODULE,
    KernelOption,
    Purpose,
    at_least,
    check_noise,
    generator,
    one_of,
)
from graphbo.search.strategies.folded_history import Valued, values_of
from graphbo.search.strategies.known_nodes import KnownNodes
from graphbo.search.strategies.situation import Situation
from graphbo.types import (
    Candidate,
    Ego,
    FloatArray,
    NodeKey,
    Posterior,
    Proposal,
    Subgraph,
)

__all__ = ["BELIEVED", "Belief", "Model", "degree_feature"]

#: How many candidates are proposed: as many workers may ask at once, and each finds one that is free.
CANDIDATES = 64

#: More hyperparameters than this are not recorded with each observation (diffusion-ARD has one per node).
MOST_RECORDED = 16

#: The odds that a feature counts: of somebody's belief about the answer, and of any other (docs/experiments/real.md).
BELIEVED, DOUBTED = 10.0, 1 / 20

#: Degrees that vary less than this do not vary: it is rounding.
SMALLEST_SPREAD = 1e-9


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@dataclass(frozen=True, eq=False)
class Belief:
    """What the model makes of a region.

    Attributes:
        subgraph: the model graph.
        posterior: what a measurement at each of its nodes would give, in the user's units, row by row.
        ranking: its unmeasured nodes, the most promising first, with their acquisition.
        modelled: the steps of the observations inside it.
        learned: the model, which knows its kernel and the hyperparameters that were found.
        restart: the number of the region.
        fitted: what the posterior is that of: it says what its means are sums of.
        features: what each of the model's features is called.
        log_gain: the logarithm of the improvement that is expected of the best candidate.
        costs: what each candidate costs, row by row, where nodes say so.
    """

    subgraph: Subgraph
    posterior: Posterior
    ranking: Ranking
    modelled: tuple[int, ...]
    learned: Fitted
    restart: int
    fitted: Fitted | None = None
    features: tuple[str, ...] = ()
    log_gain: float = float("-inf")
    costs: FloatArray | None = None

    @cached_property
    def theta(self) -> tuple[float, ...]:
        """The logarithms of the model's hyperparameters."""
        return tuple(float(value) for value in self.learned.theta)

    @cached_property
    def acquisition(self) -> FloatArray:
        """The acquisition of each node, row by row; NaN where a node has been or is being measured."""
        values = np.full(len(self.subgraph), np.nan)
        values[self.ranking.rows] = self.ranking.values
        return values

    def feature_of(self, name: str, row: int) -> object:
        """What the node of a row has of a feature, as people know it."""
        if name in self.subgraph.properties:
            return self.subgraph.properties[name][row]
        return None if self.subgraph.degrees is None else int(self.subgraph.degrees[row])

    def proposal(self) -> Proposal:
        """The most promising nodes."""
        rows = self.ranking.rows[:CANDIDATES].tolist()
        return Proposal(
            candidates=tuple(self._candidate(row) for row in rows),
            phase="model",
            restart=self.restart,
            modelled=self.modelled,
            theta=self.theta if len(self.theta) <= MOST_RECORDED else (),
        )

    def _candidate(self, row: int) -> Candidate:
        return Candidate(
            key=self.subgraph.keys[row],
            mean=float(self.posterior.mean[row]),
            std=float(self.posterior.std[row]),
            acquisition=float(self.acquisition[row]),
            cost=None if self.costs is None else float(self.costs[row]),
        )


@dataclass(frozen=True)
class _Question:
    """What a belief depends on."""

    subgraph: Subgraph  # the same object while the region stays: see Graph
    valued: Valued  # the same object while nothing but more is told: see FoldedHistory
    known: int
    awaited: tuple[NodeKey, ...]
    candidates: tuple[int, ...]
    ties: tuple[int, ...]
    restart: int
    maximize: bool
    scales: Features | None = None  # the same object as long as the graph is
    costs: Costs | None = None


class _Memory:
    """The eigenpairs of the last subgraph, which are most of the work, and the last belief."""

    def __init__(self) -> None:
        self.spectrum: tuple[Subgraph, Spectrum] | None = None
        self.belief: tuple[_Question, Belief] | None = None


class Model:
    """A Gaussian process and an acquisition, for one subgraph after the other.

    Args:
        kernel: ``auto``, one of the paper's kernels, or a function that makes one.
        acquisition: what makes a node promising.
        noise: the standard deviation of a measurement, if it is known.
        order: what the order η of the polynomial kernels is at most.
        degrees: whether values may rise or fall with the number of a node's relationships.
        prior: the feature that is believed until observations speak against it, if there is one.

    Raises:
        ModelError: there is no such kernel or acquisition, the noise is negative, or the order is too small.
    """

    def __init__(
        self,
        kernel: KernelOption,
        acquisition: str,
        noise: float | None,
        order: int = LARGEST_ORDER,
        *,
        degrees: bool = False,
        prior: str = "",
    ) -> None:
        _check_kernel(kernel)
        one_of(list(ACQUISITIONS), acquisition=acquisition)
        at_least(SMALLEST_ORDER, order=order)
        check_noise(noise)
        self._kernel = kernel
        self._acquisition = acquisition
        self._order = order
        self._degrees = degrees
        self._prior = prior
        self._variance = None if noise is None else noise**2
        # Two, so that a look elsewhere leaves what is known of the region as it is.
        self._region, self._elsewhere = _Memory(), _Memory()

    def believe(
        self,
        subgraph: Subgraph,
        valued: Valued,
        situation: Situation,
        *,
        restart: int,
        scales: Features | None = None,
    ) -> Belief | None:
        """Fit the model to the observations inside the subgraph and rank the nodes that may be proposed.

        To ask the same once more costs nothing: whoever has been given a node may ask for the answer so far.

        Args:
            subgraph: what is modelled; at least one observation is inside.
            valued: what was observed. All of it sets the scale, what is outside the subgraph too.
            situation: who is being measured, where the model believes its own expectation, and what is wanted.
            restart: the number of the region.
            scales: how the properties of the subgraph's nodes become features.

        Returns:
            None if none of its nodes may be proposed.

        Raises:
            ModelError: the model cannot be fitted.
            InvalidCost: a node that may be proposed does not say what it costs.
        """
        candidates = _affordable(subgraph, situation)
        if not candidates:
            return None
        question = _Question(
            subgraph,
            valued,
            known=len(valued),
            awaited=tuple(situation.awaited),
            candidates=tuple(candidates),
            ties=(situation.seed, situation.step, Purpose.TIES),
            restart=restart,
            maximize=situation.maximize,
            scales=scales,
            costs=situation.costs,
        )
        return self._answer(question, self._region)

    def believe_around(
        self,
        key: NodeKey,
        size: int,
        situation: Situation,
        graph: Graph,
        known: KnownNodes | None = None,
    ) -> Belief | None:
        """What the model makes of the ego-network of a node, by all that was measured there; None if nothing was.

        Raises:
            ModelError: the model cannot be fitted.
            StoreError: the database does not answer.
        """
        draw = (0, Purpose.ANSWER)
        valued = situation.told.valued
        names = known.names if known else ()
        subgraph = graph.ego_networks([Ego(key, size)], draw, valued.keys, valued.keys, names)
        if not valued.inside(subgraph):
            return None
        question = _Question(
            subgraph,
            valued,
            known=len(valued),
            awaited=(),
            candidates=tuple(range(len(subgraph))),
            ties=draw,  # nothing is proposed here, so nobody asks for the order
            restart=situation.told.last_restart,
            maximize=situation.maximize,
            scales=known.scales(graph, subgraph) if known and known.names else None,
        )
        return self._answer(question, self._elsewhere)

    def _answer(self, question: _Question, memory: _Memory) -> Belief:
        if memory.belief is None or memory.belief[0] != question:
            spectrum = self._spectrum(question.subgraph, memory)
            memory.belief = (question, self._fitted(question, spectrum))
        return memory.belief[1]

    def _fitted(self, question: _Question, spectrum: Spectrum) -> Belief:
        subgraph, maximize = question.subgraph, question.maximize
        inside = question.valued.inside(subgraph)
        rows = [subgraph.row(observation.key) for observation in inside]
        awaited = [subgraph.row(key) for key in question.awaited if key in subgraph]
        values = values_of(inside)
        features = self._features(question)
        fitted = fit(
            self._kernel,
            spectrum,
            list(features.values()),
            rows,
            values,
            odds=[BELIEVED if name == self._prior else DOUBTED for name in features],
            reference=question.valued.values,
            noise=self._variance,
        )
        believing = fitted.believing(awaited)
        posterior = believing.posterior(np.arange(len(subgraph)))
        known = np.concatenate([values, posterior.mean[awaited]])
        incumbent = float(known.max() if maximize else known.min())
        costs, discount = None, None
        if question.costs is not None:
            costs = question.costs.of(subgraph, question.candidates)
            discount = question.costs.discount(costs)
        ranking = rank(
            posterior,
            question.candidates,
            incumbent,
            generator(*question.ties),
            acquisition=self._acquisition,
            maximize=maximize,
            discount=discount,
        )
        best, sign = ranking.rows, 1.0 if maximize else -1.0
        gains = log_expected_improvement(
            sign * posterior.mean[best], posterior.std[best], sign * incumbent
        )
        if discount is not None:
            gains -= discount[best]
        return Belief(
            subgraph=subgraph,
            posterior=posterior,
            ranking=ranking,
            modelled=tuple([observation.step for observation in inside]),
            learned=fitted,
            restart=question.restart,
            fitted=believing,
            features=tuple(features),
            log_gain=float(gains.max()),
            costs=costs,
        )

    def _features(self, question: _Question) -> dict[str, FloatArray]:
        """What is known of the subgraph's nodes, by name."""
        degree = degree_feature(question.subgraph) if self._degrees else None
        found = {} if degree is None else {DEGREE: degree}
        if question.scales is None:
            return found
        return found | question.scales.properties(question.subgraph.properties)

    def _spectrum(self, subgraph: Subgraph, memory: _Memory) -> Spectrum:
        """Its eigenpairs, once for as long as the region stays."""
        if memory.spectrum is None or memory.spectrum[0] is not subgraph:
            # At this size another BLAS thread costs more than it saves, and the objective may want the cores.
            with _controller().limit(limits=1, user_api="blas"):
                memory.spectrum = (subgraph, Spectrum.of(subgraph, self._order))
        return memory.spectrum[1]


def _affordable(subgraph: Subgraph, situation: Situation) -> list[int]:
    """The rows of the nodes that may be proposed, and for which enough is left."""
    rows = situation.candidates(subgraph)
    if situation.costs is None:
        return rows
    costs = situation.costs.of(subgraph, rows)
    return [row for row in rows if costs[row] <= situation.costs.left]


def _check_kernel(kernel: KernelOption) -> None:
    """Check that there is such a kernel.

    Raises:
        ModelError: there is not.
    """
    if not isinstance(kernel, str):
        return
    if OF_MODULE in kernel:
        raise ModelError(
            f"the kernel {kernel!r} is a function that only the program that started with it has: give it again"
        )
    if kernel != "auto":
        from graphbo.search.kernels import named_kernel  # noqa: PLC0415 - scikit-learn takes a second

        named_kernel(kernel)


def degree_feature(subgraph: Subgraph) -> FloatArray | None:
    """The logarithm of the nodes' degrees, standardised; None where they are not known, or all the same."""
    if subgraph.degrees is None:
        return None
    # Without the logarithm a single hub would be all there is to see.
    logarithm = np.log1p(subgraph.degrees)
    spread = float(logarithm.std())
    return (logarithm - logarithm.mean()) / spread if spread > SMALLEST_SPREAD else None
