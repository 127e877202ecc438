"""From a subgraph and observations to what is believed about its nodes, and which of them to measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from threadpoolctl import ThreadpoolController

from graphbo.search.acquisition import ACQUISITIONS, Ranking, rank
from graphbo.search.graph import Graph
from graphbo.search.kernels import Kernel
from graphbo.search.model import KERNEL_NAMES, SpectralGaussianProcess, theta_of
from graphbo.search.spectrum import LARGEST_ORDER, SMALLEST_ORDER, Spectrum
from graphbo.search.strategies.base import (
    LARGEST_NOISE,
    Purpose,
    Situation,
    at_least,
    at_most,
    generator,
    one_of,
)
from graphbo.search.strategies.told import Valued, values_of
from graphbo.types import (
    Candidate,
    Ego,
    FloatArray,
    NodeKey,
    Posterior,
    Proposal,
    Subgraph,
)

__all__ = ["Belief", "Model", "degree_feature", "surroundings"]

#: How many candidates are proposed: as many workers may ask at once, and each finds one that is free.
CANDIDATES = 64

#: More hyperparameters than this are not recorded with each observation (diffusion-ARD has one per node).
MOST_RECORDED = 16


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
        kernel: the model's kernel, with the hyperparameters that were found.
        restart: the number of the region.
    """

    subgraph: Subgraph
    posterior: Posterior
    ranking: Ranking
    modelled: tuple[int, ...]
    kernel: Kernel
    restart: int

    @cached_property
    def theta(self) -> tuple[float, ...]:
        """The logarithms of the model's hyperparameters."""
        return tuple(float(value) for value in theta_of(self.kernel))

    @cached_property
    def acquisition(self) -> FloatArray:
        """The acquisition of each node, row by row; NaN where a node has been or is being measured."""
        values = np.full(len(self.subgraph), np.nan)
        values[self.ranking.rows] = self.ranking.values
        return values

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
        )


class Model:
    """A Gaussian process and an acquisition, for one subgraph after the other.

    Args:
        kernel: ``auto``, or one of the paper's kernels.
        acquisition: what makes a node promising.
        noise: the standard deviation of a measurement, if it is known.
        order: what the order η of the polynomial kernels is at most.
        degrees: whether values may rise or fall with the number of a node's relationships.

    Raises:
        ModelError: there is no such kernel or acquisition, the noise is negative, or the order is too small.
    """

    def __init__(
        self,
        kernel: str,
        acquisition: str,
        noise: float | None,
        order: int = LARGEST_ORDER,
        *,
        degrees: bool = False,
    ) -> None:
        one_of(KERNEL_NAMES, kernel=kernel)
        one_of(list(ACQUISITIONS), acquisition=acquisition)
        at_least(SMALLEST_ORDER, order=order)
        at_least(0, noise=noise or 0.0)
        at_most(LARGEST_NOISE, noise=noise or 0.0)
        self._kernel = kernel
        self._acquisition = acquisition
        self._order = order
        self._degrees = degrees
        self._variance = None if noise is None else noise**2
        self._last: tuple[Subgraph, Spectrum] | None = None
        self._believed: tuple[tuple[object, ...], Belief] | None = None

    def believe(
        self,
        subgraph: Subgraph,
        valued: Valued,
        pending: Sequence[NodeKey],
        candidates: Sequence[int],
        ties: np.random.Generator,
        *,
        restart: int,
        maximize: bool,
    ) -> Belief:
        """Fit the model to the observations inside the subgraph and rank its other nodes.

        To ask the same once more costs nothing: whoever has been given a node may ask for the answer so far.

        Args:
            subgraph: what is modelled; at least one observation is inside.
            valued: what was observed. All of it sets the scale, what is outside the subgraph too.
            pending: nodes that are being measured. The model believes its own expectation there.
            candidates: the rows of nodes that may be proposed.
            ties: where the order of equals comes from.
            restart: the number of the region.
            maximize: whether large values are wanted.

        Raises:
            ModelError: the model cannot be fitted.
        """
        question = (
            subgraph,  # the same object while the region stays: see Graph
            valued,  # the same object while nothing but more is told: see Told
            len(valued),
            tuple(pending),
            tuple(candidates),
            ties.bit_generator.state,
            restart,
            maximize,
        )
        if self._believed is None or self._believed[0] != question:
            belief = self._fitted(
                subgraph, valued, pending, candidates, ties, restart=restart, maximize=maximize
            )
            self._believed = (question, belief)
        return self._believed[1]

    def _fitted(
        self,
        subgraph: Subgraph,
        valued: Valued,
        pending: Sequence[NodeKey],
        candidates: Sequence[int],
        ties: np.random.Generator,
        *,
        restart: int,
        maximize: bool,
    ) -> Belief:
        inside = valued.inside(subgraph)
        rows = [subgraph.row(observation.key) for observation in inside]
        awaited = [subgraph.row(key) for key in pending if key in subgraph]
        values = values_of(inside)
        fitted = SpectralGaussianProcess(
            self._kernel,
            spectrum=self._spectrum(subgraph),
            feature=degree_feature(subgraph) if self._degrees else None,
        ).fit(rows, values, reference=valued.values, noise=self._variance)
        posterior = fitted.believing(awaited).posterior()
        known = np.concatenate([values, posterior.mean[awaited]])
        ranking = rank(
            posterior,
            candidates,
            float(known.max() if maximize else known.min()),
            ties,
            acquisition=self._acquisition,
            maximise=maximize,
        )
        return Belief(
            subgraph=subgraph,
            posterior=posterior,
            ranking=ranking,
            modelled=tuple([observation.step for observation in inside]),
            kernel=fitted.kernel_,
            restart=restart,
        )

    def _spectrum(self, subgraph: Subgraph) -> Spectrum:
        """Its eigenpairs, which are most of the work, once for as long as the region stays."""
        if self._last is None or self._last[0] is not subgraph:
            # At this size another BLAS thread costs more than it saves, and the objective may want the cores.
            with _controller().limit(limits=1, user_api="blas"):
                self._last = (subgraph, Spectrum.of(subgraph, self._order))
        return self._last[1]


def degree_feature(subgraph: Subgraph) -> FloatArray | None:
    """The logarithm of the nodes' degrees, standardised; None where they are not known, or all the same."""
    if subgraph.degrees is None:
        return None
    # Without the logarithm a single hub would be all there is to see.
    logarithm = np.log1p(subgraph.degrees)
    spread = float(logarithm.std())
    return (logarithm - logarithm.mean()) / spread if spread > SMALLEST_SPREAD else None


def surroundings(
    model: Model,
    key: NodeKey,
    size: int,
    situation: Situation,
    graph: Graph,
    *,
    maximize: bool,
) -> Belief:
    """What a model makes of the ego-network of a measured node, by all that was measured there.

    Raises:
        ModelError: the model cannot be fitted.
        StoreError: the database does not answer.
    """
    draw = (0, Purpose.ANSWER)
    valued = situation.told.valued
    subgraph = graph.ego_networks([Ego(key, size)], draw, valued.keys, valued.keys)
    ties = generator(*draw)  # nothing is proposed here, so nobody asks for the order
    return model.believe(
        subgraph,
        valued,
        (),
        range(len(subgraph)),
        ties,
        restart=situation.last_restart,
        maximize=maximize,
    )
