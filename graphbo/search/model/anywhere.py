"""What is expected of nodes anywhere, by what is known of each: a model that does not know the graph.

Standardised values y have the covariance τ² (11ᵀ + trend + likeness + ρI), of features of the nodes: values may rise or
fall with them (as in ``auto``), and nodes that are alike in all of them may have like values. As in ``auto``, the
amplitude τ² is integrated out, and what else there is to choose is averaged by its evidence: trend, likeness, both or
neither, and ρ, how much of the values the features leave unexplained. Of several features, the one that is spoken for
most is taken in first, then the next one beside it, as long as that helps.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from graphbo.search.model.algebra import (
    SMALLEST_VARIANCE,
    add_to_diagonal,
    cholesky,
    one_thread,
    whiten,
)
from graphbo.search.model.auto import SCALE, SHAPE, SMALLEST_SHARE
from graphbo.search.model.parts import Additive, Parts
from graphbo.types import FloatArray

__all__ = ["AnywhereModel"]

#: ρ: how much the features leave unexplained, relative to the amplitude.
LEVELS = (0.05, 0.3, 1.0, 3.0)
#: The one at which features are compared.
TYPICAL_LEVEL = 0.3

#: Against rounding.
JITTER = 1e-6

#: Likeness has gone down to 1/e at so many times the typical squared distance.
REACH = 2.0


@dataclass(frozen=True)
class _Kind:
    """Which features count, and how."""

    features: tuple[str, ...]
    trend: bool
    likeness: bool


@dataclass(frozen=True, eq=False)
class _Component:
    """The model of one kind at one level, conditioned on the observations."""

    kind: _Kind
    level: float
    lower: FloatArray
    whitened: FloatArray
    amplitude: float
    evidence: float


class AnywhereModel:
    """The Gaussian process, conditioned on observations.

    Args:
        known: the columns of each feature, of the observed nodes.
        y: their standardised values.
        favour: the logarithm of the odds for each feature; of those not named, as many as there are share even odds.

    Attributes:
        weight: how likely it is that the features say anything, from 0 to 1.
        features: those that count.
    """

    def __init__(
        self,
        known: Mapping[str, FloatArray],
        y: FloatArray,
        favour: Mapping[str, float] | None = None,
    ) -> None:
        self._known, self._y = known, y
        even = -math.log(max(1, len(known)))
        self._favour = {name: (favour or {}).get(name, even) for name in known}
        self._distances = {name: _squared_distances(one, one) for name, one in known.items()}
        self._trends = {name: one @ one.T for name, one in known.items()}
        with one_thread():
            self.features = self._chosen()
            kinds = [
                _Kind((), trend=False, likeness=False),
                _Kind(self.features, trend=True, likeness=False),
                _Kind(self.features, trend=False, likeness=True),
                _Kind(self.features, trend=True, likeness=True),
            ]
            found = [
                component
                for kind in (kinds if self.features else kinds[:1])
                for level in LEVELS
                for component in self._component(kind, level)
            ]
        logs = np.array([one.evidence for one in found])
        shares = np.exp(logs - logs.max()) if found else np.empty(0)
        shares /= shares.sum() or 1.0
        self.weight = float(
            sum(s for s, one in zip(shares, found, strict=True) if one.kind.features)
        )
        counts = shares > SMALLEST_SHARE
        self._components = [one for one, is_in in zip(found, counts, strict=True) if is_in]
        self._shares = shares[counts] / (shares[counts].sum() or 1.0)

    def _chosen(self) -> tuple[str, ...]:
        """The features that are spoken for, together."""
        chosen: tuple[str, ...] = ()
        best = -math.inf
        while left := [name for name in self._known if name not in chosen]:
            tried = {name: self._spoken_for((*chosen, name)) for name in left}
            name = max(tried, key=lambda one: tried[one])
            if tried[name] <= best:
                break
            chosen, best = (*chosen, name), tried[name]
        return chosen

    def _spoken_for(self, features: tuple[str, ...]) -> float:
        kind = _Kind(features, trend=True, likeness=True)
        return max(
            (one.evidence for one in self._component(kind, TYPICAL_LEVEL)), default=-math.inf
        )

    def _component(self, kind: _Kind, level: float) -> Sequence[_Component]:
        covariance = self._covariance(kind, self._trends, self._distances)
        add_to_diagonal(covariance, level + JITTER)
        with suppress(np.linalg.LinAlgError):
            lower = cholesky(covariance)
            whitened = whiten(lower, self._y)
            shape, scale = SHAPE + 0.5 * len(self._y), SCALE + 0.5 * float(whitened @ whitened)
            evidence = -float(np.log(lower.diagonal()).sum()) - shape * math.log(scale)
            evidence += sum(self._favour[name] for name in kind.features)
            return [_Component(kind, level, lower, whitened, scale / shape, evidence)]
        return []

    def _covariance(
        self, kind: _Kind, trends: Mapping[str, FloatArray], distances: Mapping[str, FloatArray]
    ) -> FloatArray:
        """Of the observed nodes (down) with others (across), given what each feature says of these pairs."""
        found: FloatArray = np.ones(next(iter(trends.values())).shape)
        if kind.trend:
            for name in kind.features:
                found += trends[name]
        if kind.likeness:
            found += np.exp(-sum(distances[name] for name in kind.features) / self._reach(kind))
        return found

    def _reach(self, kind: _Kind) -> float:
        apart: FloatArray = sum(self._distances[name] for name in kind.features)  # type: ignore[assignment]
        positive = apart[apart > 0]
        return REACH * float(np.median(positive)) if positive.size else 1.0

    def moments(self, known: Mapping[str, FloatArray]) -> tuple[FloatArray, FloatArray]:
        """The means and variances of measurements at nodes with these features."""
        own = {name: one @ known[name].T for name, one in self._known.items()}
        apart = {name: _squared_distances(one, known[name]) for name, one in self._known.items()}
        means, spreads = [], []
        with one_thread():
            for kind in dict.fromkeys(one.kind for one in self._components):
                cross = self._covariance(kind, own, apart)
                variances = np.full(cross.shape[1], 1.0 + kind.likeness)
                if kind.trend:
                    for name in kind.features:
                        variances += np.square(known[name]).sum(axis=1)
                for one in self._components:
                    if one.kind != kind:
                        continue
                    half = whiten(one.lower, cross)
                    left = variances - np.einsum("ij,ij->j", half, half)
                    means.append(one.whitened @ half)
                    spreads.append(
                        one.amplitude * (np.maximum(left, SMALLEST_VARIANCE) + one.level)
                    )
        mean = self._shares @ np.array(means)
        apart_from = np.array(means) - mean
        return mean, self._shares @ (np.array(spreads) + np.square(apart_from))

    def parts(self, known: Mapping[str, FloatArray]) -> Parts:
        """What the means at nodes with these features are sums of: a trend in each of ``features``, and nodes alike."""
        names, count = self.features, len(next(iter(known.values())))
        observed = [np.ones((len(self._y), 1)), *(self._known[name] for name in names)]
        here = [np.ones((count, 1)), *(known[name] for name in names)]
        ends = np.cumsum([one.shape[1] for one in observed]).tolist()
        apart = {name: _squared_distances(self._known[name], known[name]) for name in names}
        found = []
        with one_thread():
            for one in self._components:
                weights = np.full(ends[-1], float(one.kind.trend))
                weights[0] = 1.0
                likeness = replace(one.kind, trend=False)
                smooth = self._covariance(likeness, self._trends, self._distances) - 1.0
                other = {name: np.empty((len(self._y), count)) for name in self._trends}
                cross = self._covariance(likeness, other, apart) - 1.0
                additive = Additive(
                    columns=np.hstack(observed),
                    weights=weights,
                    level=[0],
                    features=[list(range(*pair)) for pair in pairwise(ends)],
                    smooth=smooth,
                    noise=np.full(len(self._y), one.level + JITTER),
                    y=self._y,
                )
                found.append(additive.parts(np.hstack(here), cross))
        return Parts.average(self._shares, found)


def _squared_distances(ones: FloatArray, others: FloatArray) -> FloatArray:
    squares = np.square(ones).sum(axis=1)[:, None] + np.square(others).sum(axis=1)
    apart: FloatArray = np.maximum(squares - 2 * ones @ others.T, 0.0)
    return apart
