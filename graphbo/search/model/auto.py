"""All of ``kernel="auto"``: the Gaussian process that needs no search.

Standardised values y at the nodes have the covariance τ² (Φ diag(ω) Φᵀ + νI + known noise). Φ has a row per
node and a column for each function that the values are made of:

- the eigenvectors of the subgraph's Laplacian, with ω_i ∝ exp(−βλ_i): a diffusion kernel. Its β is not fitted, it
  is the one at which a tenth of the modes counts, in effect (:func:`~graphbo.search.modes.effective_beta`);
- the columns of each feature of the nodes, with ω = s of that feature: values may rise or fall with it;
- a one, with ω = 1: the level of the values in this part of the graph is not known.

A few numbers remain, and none is searched for. The amplitude τ² is integrated out, which makes y multivariate
Student-t. The nugget ν and the steepness s of each feature are each one of a few values: the model is conditioned on
the observations at combinations of them, and all are averaged, by their odds times their evidence. Of several features,
the one that is spoken for most is taken in first, then the next one beside it, as long as that helps: what was looked
at on the way is averaged, so a feature that says nothing costs next to nothing.

Theta is [log s of each feature, log ν], as it is for the scikit-learn kernel in ``kernel``.
"""

# ruff: noqa: N803 (X is scikit-learn's name)

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln

from graphbo.errors import ModelError
from graphbo.search.model.algebra import (
    SMALLEST_VARIANCE,
    add_to_diagonal,
    cholesky,
    half_log_determinant,
    whiten,
)
from graphbo.search.model.parts import Additive, Parts
from graphbo.search.modes import diffusion_weights, rows_of
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

__all__ = ["AutomaticModel", "Basis"]

#: ν: how noisy measurements may be, relative to the amplitude.
NUGGETS = (1e-3, 5e-2, 5e-1)

#: s: how much of the variance a trend may explain, relative to the amplitude: nothing, or as much as all else.
FLAT, STEEP = 1e-6, 1.0

#: The odds against a trend. It has to be strongly spoken for: where there is none, as in dense graphs, it leads astray
#: (docs/experiments/defaults.md).
AGAINST = 20.0

#: Components with a smaller share of the average are left out of it.
SMALLEST_SHARE = 1e-6

#: The inverse-gamma prior of τ²: standardised values vary by about 1.
SHAPE, SCALE = 2.0, 2.0


class Basis:
    """The prior: the functions that values are made of, and how much of each there may be.

    Args:
        spectrum: the subgraph's eigenpairs.
        features: what is known of every node, each in columns.
        odds: those of each feature that values rise or fall with it; 1 to 20 without.
    """

    def __init__(
        self,
        spectrum: Spectrum,
        features: Sequence[FloatArray] = (),
        odds: Sequence[float] | FloatArray | None = None,
    ) -> None:
        self._spectrum = spectrum
        self._vectors = spectrum.eigenvectors
        self._known = tuple(features)
        self.odds = (
            [1 / AGAINST] * len(self._known) if odds is None else [float(one) for one in odds]
        )
        self._by_mode = diffusion_weights(spectrum)
        self._zeros = spectrum.zeros
        ends = np.cumsum([len(self._by_mode), *(one.shape[1] for one in self._known)]).tolist()
        self.features = [list(range(*pair)) for pair in pairwise(ends)]

    def steepness(self, steep: Collection[int]) -> list[float]:
        """The steepness of each feature, where values rise or fall with these of them."""
        return [STEEP if place in steep else FLAT for place in range(len(self._known))]

    def at(self, X: FloatArray) -> FloatArray:
        """Φ at these rows.

        Raises:
            ModelError: something is not a row.
        """
        rows = rows_of(X, len(self._vectors))
        trends = [one[rows] for one in self._known]
        return np.column_stack([self._vectors[rows], *trends, np.ones(len(rows))])

    @property
    def smooth(self) -> slice:
        """The columns of Φ that are smooth on the graph; those before them are constant on each part of it."""
        return slice(self._zeros, len(self._by_mode))

    def weights(self, theta: FloatArray) -> FloatArray:
        """ω."""
        widths = [one.shape[1] for one in self._known]
        return np.concatenate([self._by_mode, np.repeat(np.exp(theta[:-1]), widths), [1.0]])

    def kernel(self, theta: FloatArray | None = None) -> "Kernel":
        """All this but the amplitude as a scikit-learn kernel; without a theta, with trends and a little noise."""
        from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel  # noqa: PLC0415

        from graphbo.search.kernels import Diffusion, Trend  # noqa: PLC0415 - searches do without

        if theta is None:
            theta = np.log([*[STEEP] * len(self._known), NUGGETS[1]])
        diffusion = Diffusion.scaled(self._spectrum)
        diffusion.beta_bounds = "fixed"
        total = ConstantKernel(1.0, "fixed") + diffusion
        for log, feature in zip(theta[:-1], self._known, strict=True):
            total += ConstantKernel(math.exp(log), (FLAT, 1e3)) * Trend(feature)
        return total + WhiteKernel(math.exp(theta[-1]), (1e-6, 10.0))


@dataclass(frozen=True, eq=False)
class _Component:
    """The model at one theta, conditioned on the observations.

    Attributes:
        theta: the steepness of each feature, and the nugget, as logarithms.
        nugget: ν.
        lower: L, with LLᵀ = Φ diag(ω) Φᵀ + νI + known noise at the observed rows.
        whitened: L⁻¹y.
        amplitude: what τ² comes to in variances, given y.
        evidence: the log density of y, which is multivariate Student-t.
    """

    theta: FloatArray
    nugget: float
    lower: FloatArray
    whitened: FloatArray
    amplitude: float
    evidence: float


def _conditioned(
    theta: FloatArray, covariance: FloatArray, y: FloatArray, noise: FloatArray
) -> _Component:
    """Condition on values y with known noise, given the covariance of the nodes before any noise.

    Raises:
        numpy.linalg.LinAlgError: the covariance cannot be decomposed.
    """
    observed, nugget = covariance.copy(), math.exp(theta[-1])
    add_to_diagonal(observed, nugget)
    add_to_diagonal(observed, noise)
    lower = cholesky(observed)
    whitened = whiten(lower, y)
    # Given y, the amplitude is inverse-gamma again.
    shape, scale = SHAPE + 0.5 * len(y), SCALE + 0.5 * float(whitened @ whitened)
    evidence = SHAPE * np.log(SCALE) - gammaln(SHAPE)
    evidence += gammaln(shape) - shape * np.log(scale) - half_log_determinant(lower)
    return _Component(theta, nugget, lower, whitened, scale / shape, float(evidence))


class _Group(NamedTuple):
    """The components whose values rise or fall with the same features: their covariance before noise is the same."""

    odds: float
    weights: FloatArray
    components: list[_Component]

    @property
    def evidence(self) -> float:
        """How much speaks for it: the logarithm of its odds times its evidence."""
        found = np.array([one.evidence for one in self.components])
        if not found.size:
            return -math.inf
        return math.log(self.odds) + float(found.max() + np.log(np.exp(found - found.max()).sum()))


class AutomaticModel:
    """The Gaussian process, conditioned on observations.

    Args:
        basis: the prior.
        X: the observed rows.
        y: their standardised values.
        noise: the known variance of each, relative to the amplitude.

    Attributes:
        theta: the one with the largest share in the average.
        evidence: the log-likelihood of y under the whole average.

    Raises:
        ModelError: something in X is not a row, or the covariance can be decomposed at no theta.
    """

    def __init__(self, basis: Basis, X: FloatArray, y: FloatArray, noise: FloatArray) -> None:
        self.basis, self.X, self.y, self.noise = basis, X, y, noise
        self._features = basis.at(X)
        self._groups = list(self._looked_at())
        found = [(group, one) for group in self._groups for one in group.components]
        if not found:
            raise ModelError(
                f"the covariance of {basis.kernel()} is not positive definite: raise alpha"
            )
        logs = np.array([np.log(group.odds) + one.evidence for group, one in found])
        shares = np.exp(logs - logs.max())
        all_odds = len(NUGGETS) * sum(group.odds for group in self._groups)
        self.evidence = float(logs.max() + np.log(shares.sum())) - float(np.log(all_odds))
        # As the kernel at theta has it, which knows what theta is the logarithm of.
        best = found[int(np.argmax(shares))][1].theta
        self.theta = np.log([math.exp(one) for one in best])
        # What has next to no share would be most of the work.
        counts = shares > SMALLEST_SHARE * shares.sum()
        self._shares = shares[counts] / shares[counts].sum()
        kept = iter(counts.tolist())
        self._groups = [
            group._replace(components=[one for one in group.components if next(kept)])
            for group in self._groups
        ]

    @cached_property
    def kernel(self) -> "Kernel":
        """The scikit-learn kernel at theta."""
        return self.basis.kernel(self.theta)

    def _looked_at(self) -> Iterator[_Group]:
        """No trend, one in each feature, then one more beside the best, as long as that is spoken for."""
        basis, observed = self.basis, self._features
        # Of these, each combination is a sum.
        base = _covariance(observed, basis.weights(np.array([*[-np.inf] * len(basis.features), 0])))
        trends = [observed[:, one] @ observed[:, one].T for one in basis.features]
        steep: tuple[int, ...] = ()
        best = self._group(steep, base, trends)
        yield best
        while left := [place for place in range(len(trends)) if place not in steep]:
            tried = [self._group((*steep, place), base, trends) for place in left]
            yield from tried
            scores = [group.evidence for group in tried]
            place = int(np.argmax(scores))
            if scores[place] <= best.evidence:
                break
            steep, best = (*steep, left[place]), tried[place]

    def _group(
        self, steep: tuple[int, ...], base: FloatArray, trends: Sequence[FloatArray]
    ) -> _Group:
        steepness = self.basis.steepness(steep)
        covariance = base.copy()
        for s, trend in zip(steepness, trends, strict=True):
            covariance += s * trend
        components = []
        for nugget in NUGGETS:
            theta = np.log([*steepness, nugget])
            with suppress(np.linalg.LinAlgError):
                components.append(_conditioned(theta, covariance, self.y, self.noise))
        weights = self.basis.weights(np.log([*steepness, 1.0]))
        return _Group(math.prod(self.basis.odds[one] for one in steep), weights, components)

    def moments(self, X: FloatArray, *, joint: bool) -> tuple[FloatArray, FloatArray]:
        """The mean and the variances of measurements at X, or their covariance if ``joint``.

        Raises:
            ModelError: something is not a row.
        """
        features = self.basis.at(X)
        means, spreads = [], []
        for _, weights, components in self._groups:
            if not components:
                continue
            cross = (self._features * weights) @ features.T
            variances = np.square(features) @ weights
            covariance = _covariance(features, weights) if joint else None
            for one in components:
                half = whiten(one.lower, cross)
                means.append(one.whitened @ half)
                left = variances - np.einsum("ij,ij->j", half, half)
                spread = np.maximum(left, SMALLEST_VARIANCE) + one.nugget
                if covariance is not None:
                    diagonal, spread = spread, covariance - half.T @ half
                    np.fill_diagonal(spread, diagonal)
                spreads.append(one.amplitude * spread)
        # Components disagree about the mean, which is part of the variance.
        mean = self._shares @ np.array(means)
        apart = np.array(means) - mean
        within = sum(share * spread for share, spread in zip(self._shares, spreads, strict=True))
        between = (apart.T * self._shares) @ apart if joint else self._shares @ np.square(apart)
        return mean, within + between

    def parts(self, X: FloatArray) -> Parts:
        """What the means at X are sums of.

        Raises:
            ModelError: something is not a row.
        """
        smooth, features = self.basis.smooth, self.basis.features
        observed, here = self._features, self.basis.at(X)
        # What is constant on each part of the graph is a level as well.
        others = np.delete(np.arange(observed.shape[1]), smooth)
        place = {int(column): row for row, column in enumerate(others)}
        named = [[place[column] for column in one] for one in features]
        level = sorted({*place.values()} - {row for one in named for row in one})
        found = []
        for _, weights, components in self._groups:
            covariance = _covariance(observed[:, smooth], weights[smooth])
            cross = (observed[:, smooth] * weights[smooth]) @ here[:, smooth].T
            for one in components:
                additive = Additive(
                    columns=observed[:, others],
                    weights=weights[others],
                    level=level,
                    features=named,
                    smooth=covariance,
                    noise=self.noise + one.nugget,
                    y=self.y,
                )
                found.append(additive.parts(here[:, others], cross))
        return Parts.average(self._shares, found)

    def believing(self, X: FloatArray, alpha: float) -> "AutomaticModel":
        """The model once it has observed its own mean at X (Kriging believer), with this known noise.

        The components are weighed anew.

        Raises:
            ModelError: something is not a row.
        """
        mean, _ = self.moments(X, joint=False)
        return AutomaticModel(
            self.basis,
            np.concatenate([self.X, X]),
            np.concatenate([self.y, mean]),
            np.concatenate([self.noise, np.full(len(X), alpha)]),
        )

    def log_likelihood(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """The log-likelihood of y at any one theta, and its gradient by theta."""
        covariance = _covariance(self._features, self.basis.weights(theta))
        try:
            one = _conditioned(theta, covariance, self.y, self.noise)
        except np.linalg.LinAlgError:
            return -math.inf, np.zeros(len(theta))
        inverse = np.linalg.inv(one.lower)
        solution = one.whitened @ inverse
        by_covariance = np.outer(solution, solution) / one.amplitude - inverse.T @ inverse
        gradient = []
        for log, columns in zip(theta[:-1], self.basis.features, strict=True):
            trend = self._features[:, columns]
            gradient.append(0.5 * math.exp(log) * np.sum(trend * (by_covariance @ trend)))
        return one.evidence, np.array([*gradient, 0.5 * one.nugget * np.trace(by_covariance)])


def _covariance(features: FloatArray, weights: FloatArray) -> FloatArray:
    """Φ diag(ω) Φᵀ, as the product of a matrix with its own transpose, which is half the work."""
    root = features * np.sqrt(weights)
    return np.asarray(root @ root.T)
