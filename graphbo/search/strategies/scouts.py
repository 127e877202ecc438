"""Scouts: nodes from anywhere, measured in place of the region's when what is known of them promises more.

The region's model knows the graph and a few hundred nodes of it. What is known of every node beforehand, its degree and
its properties, says something about all of them, and all that was measured says what. So at each step some nodes are
drawn at random, with their features, and judged by a model of their own (:class:`AnywhereModel`), which knows all that
was measured and nothing of the graph. The best of them is measured if that model has evidence that features matter, and
expects a larger improvement than the region's does. The region's model hears nothing of it: what was measured elsewhere
ruins its climb. When scouts disappoint, the next one waits: two steps, then four, then eight.
"""

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from graphbo.errors import InvalidCost
from graphbo.search.acquisition import log_expected_improvement
from graphbo.search.costs import cost_of
from graphbo.search.features import Features
from graphbo.search.graph import Graph
from graphbo.search.model import AnywhereModel, Parts, Standardisation
from graphbo.search.regions import MovingRegion
from graphbo.search.strategies.base import Purpose, generator
from graphbo.search.strategies.folded_history import Valued, values_of
from graphbo.search.strategies.known_nodes import KnownNodes
from graphbo.search.strategies.model import BELIEVED, CANDIDATES, Belief
from graphbo.search.strategies.situation import Situation
from graphbo.types import Candidate, FloatArray, NodeKey, Proposal, Sample

__all__ = ["Scouted", "Scouts"]

#: Scouts are sent when it is as likely as this that features say something about values.
EVIDENCE = 0.9

#: The model knows so many observations, the latest ones.
MOST_OBSERVATIONS = 200


@dataclass(frozen=True, eq=False)
class _Judge:
    """What is believed of nodes anywhere, after so much was told."""

    valued: Valued
    told: int
    scales: Features
    model: AnywhereModel
    units: Standardisation
    observed: tuple[NodeKey, ...]


@dataclass(frozen=True, eq=False)
class Scouted:
    """What is expected of a node by what is known of it, wherever it is.

    Attributes:
        mean, std: of a measurement there.
        parts: what the mean is the sum of.
        features: what the features are called that it has parts of.
        observed: the nodes of the observations that it has parts of.
    """

    mean: float
    std: float
    parts: Parts
    features: tuple[str, ...]
    observed: tuple[NodeKey, ...]


class Scouts:
    """What sends scouts.

    Args:
        count: how many nodes are drawn at each step.
        known: what is known of nodes.
        prior: the feature that is somebody's belief about the answer, if there is one.
    """

    def __init__(self, count: int, known: KnownNodes, prior: str = "") -> None:
        self._count = count
        self._prior = prior
        self._known = known
        self._judge: _Judge | None = None

    def proposal(
        self, situation: Situation, graph: Graph, region: MovingRegion, belief: Belief
    ) -> Proposal | None:
        """The scouts that promise more than the region's best node, best first; None if there are none.

        Raises:
            StoreError: the database does not answer.
        """
        if graph.unknown or not self._count or _resting(situation, region):
            return None
        scales = self._known.scales(graph)
        if not scales.names:
            return None
        self._known.keep(scales, belief.subgraph, belief.ranking.rows[:CANDIDATES].tolist())
        judge = self._judged(situation.told.valued, scales, graph)
        if judge.model.weight < EVIDENCE:
            return None
        draw = (situation.step, Purpose.SCOUTS)
        names = tuple(dict.fromkeys((*self._known.names, *situation.read)))
        sample = graph.sample(self._count, draw, (), names)
        rows, costs = _free(sample, situation, belief)
        if not rows:
            return None
        mean, spread = judge.model.moments(self._known.keep(scales, sample, rows))
        mean, std = judge.units.original(mean), judge.units.scale * np.sqrt(spread)
        best = situation.told.valued.ranked[0].value
        sign = 1.0 if situation.maximize else -1.0
        promised = log_expected_improvement(sign * mean, std, sign * float(best or 0.0))
        gain = promised
        if costs is not None and situation.costs is not None:
            gain = promised - situation.costs.discount(costs)
        ties = generator(situation.seed, *draw).random(len(rows))
        order = [int(one) for one in np.lexsort((ties, -gain)) if gain[one] > belief.log_gain]
        if not order:
            return None
        return Proposal(
            tuple(
                Candidate(
                    sample.keys[rows[one]],
                    float(mean[one]),
                    float(std[one]),
                    float(np.exp(promised[one])),
                    None if costs is None else float(costs[one]),
                )
                for one in order[:CANDIDATES]
            ),
            "scout",
            belief.restart,
            belief.modelled,
        )

    def believed(self, situation: Situation, graph: Graph) -> Proposal | None:
        """The nodes of which the prior promises most, among some from anywhere, to begin with; None if there are none.

        Raises:
            StoreError: the database does not answer.
        """
        if graph.unknown or not self._count or situation.costs is not None:
            return None
        sample = graph.sample(self._count, (situation.step, Purpose.SCOUTS), (), self._known.names)
        scale = self._known.scales(graph).scales.get(self._prior)
        rows = [row for row, key in enumerate(sample.keys) if key not in situation.taken]
        if scale is None or not rows:
            return None
        worth = scale.columns([sample.properties[self._prior][row] for row in rows])[:, 0]
        order = np.argsort(-worth if situation.maximize else worth, kind="stable")
        keys = [sample.keys[rows[int(one)]] for one in order[:CANDIDATES]]
        return Proposal(tuple(map(Candidate, keys)), "prior", 0)

    def expected(self, key: NodeKey, situation: Situation, graph: Graph) -> Scouted | None:
        """What is expected of a node by what is known of it, wherever it is; None if that is nothing.

        Raises:
            StoreError: the database does not answer.
        """
        if graph.unknown or not situation.told.valued:
            return None
        scales = self._known.scales(graph)
        there, columns = self._known.of([key], scales, graph)
        if not scales.names or not there:
            return None
        judge = self._judged(situation.told.valued, scales, graph)
        mean, spread = judge.model.moments(columns)
        units = judge.units
        return Scouted(
            mean=float(units.original(mean)[0]),
            std=units.scale * math.sqrt(float(spread[0])),
            parts=judge.model.parts(columns).scaled(units.location, units.scale),
            features=judge.model.features,
            observed=judge.observed,
        )

    @property
    def _favour(self) -> dict[str, float]:
        return {self._prior: math.log(BELIEVED)} if self._prior else {}

    def _judged(self, valued: Valued, scales: Features, graph: Graph) -> _Judge:
        judge = self._judge
        if (
            judge is None
            or judge.valued is not valued
            or judge.told != len(valued)
            or judge.scales is not scales
        ):
            latest = valued.observations[-MOST_OBSERVATIONS:]
            there, columns = self._known.of([one.key for one in latest], scales, graph)
            units = Standardisation.of(valued.values)
            found = {one.key: one for one in latest}
            y = units.standard(values_of([found[key] for key in there]))
            judge = _Judge(
                valued,
                len(valued),
                scales,
                AnywhereModel(columns, y, self._favour),
                units,
                tuple(there),
            )
            self._judge = judge
        return judge


def _resting(situation: Situation, region: MovingRegion) -> bool:
    """Whether scouts disappointed of late. Those that are being measured have not pleased yet."""
    out = [one.step for one in situation.pending if one.proposal.phase == "scout"]
    fruitless = region.fruitless + len(out)
    last = max([region.scouted, *out])
    return bool(fruitless) and situation.step - last <= 2**fruitless


def _free(
    sample: Sample, situation: Situation, belief: Belief
) -> tuple[list[int], FloatArray | None]:
    """The rows of the nodes outside of the region that may be proposed, and what they cost, where nodes say so."""
    rows = [
        row
        for row, key in enumerate(sample.keys)
        if key not in situation.taken and key not in belief.subgraph
    ]
    if situation.costs is None:
        return rows, None
    found: dict[int, float] = {}
    for row in rows:
        # One that does not say what it costs is none of theirs: the region's own are refused.
        with suppress(InvalidCost):
            value = sample.properties[situation.costs.name][row]
            found[row] = cost_of(value, sample.keys[row], situation.costs.name)
    paid = {row: cost for row, cost in found.items() if cost <= situation.costs.left}
    return list(paid), np.array(list(paid.values()))
