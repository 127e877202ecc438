"""All of ``kernel="auto"``: the Gaussian process that needs no search.

Standardised values y at the nodes have the covariance τ² (Φ diag(ω) Φᵀ + νI + known noise). Φ has a row per
node and a column for each function that the values are made of:

- the eigenvectors of the subgraph's Laplacian, with ω_i ∝ exp(−βλ_i): a diffusion kernel. Its β is not fitted, it
  is the one at which a tenth of the modes counts, in effect (:func:`~graphbo.search.kernels.effective_beta`);
- a feature of the nodes, if one is given, with ω = s: values may rise or fall with it;
- a one, with ω = 1: the level of the values in this part of the graph is not known.

Three numbers remain, and none is searched for. The amplitude τ² is integrated out, which makes y multivariate
Student-t. The nugget ν and the steepness s are each one of a few values: the model is conditioned on the
observations at every combination, and all are averaged, by their odds times their evidence.

Theta is [log ν], or [log s, log ν] with a feature, as it is for the scikit-learn kernel in ``kernel``.
"""

# ruff: noqa: N803 (X is scikit-learn's name)

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, WhiteKernel

from graphbo.errors import ModelError
from graphbo.search.kernels import Diffusion, Trend, rows_of
from graphbo.search.model.algebra import (
    SMALLEST_VARIANCE,
    add_to_diagonal,
    cholesky,
    half_log_determinant,
    whiten,
)
from graphbo.search.model.parts import Additive, Parts
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray

__all__ = ["AutomaticModel", "Basis"]

#: ν: how noisy measurements may be, relative to the amplitude.
NUGGETS = (1e-3, 5e-2, 5e-1)

#: s: how much of the variance a trend may explain, relative to the amplitude: nothing, or as much as all else; and the
#: odds of each. A trend has to be strongly spoken for: where there is none, as in dense graphs, it leads astray
#: (docs/experiments/defaults.md).
STEEPNESSES = {1e-6: 20.0, 1.0: 1.0}

#: The inverse-gamma prior of τ²: standardised values vary by about 1.
SHAPE, SCALE = 2.0, 2.0


class Basis:
    """The prior: the functions that values are made of, and how much of each there may be.

    Args:
        spectrum: the subgraph's eigenpairs.
        feature: something known of every node, if there is any.
    """

    def __init__(self, spectrum: Spectrum, feature: FloatArray | None = None) -> None:
        self._vectors = spectrum.eigenvectors
        self._feature = feature
        self._diffusion = Diffusion.scaled(spectrum)
        self._diffusion.beta_bounds = "fixed"
        self._by_mode = self._diffusion.weights()
        self._zeros = spectrum.zeros

    @property
    def steepnesses(self) -> dict[tuple[float, ...], float]:
        """The values that s may have, and the odds of each; there is no s without a feature."""
        if self._feature is None:
            return {(): 1.0}
        return {(steepness,): odds for steepness, odds in STEEPNESSES.items()}

    def at(self, X: FloatArray) -> FloatArray:
        """Φ at these rows.

        Raises:
            ModelError: something is not a row.
        """
        rows = rows_of(X, len(self._vectors))
        trend = [] if self._feature is None else [self._feature[rows]]
        return np.column_stack([self._vectors[rows], *trend, np.ones(len(rows))])

    @property
    def smooth(self) -> slice:
        """The columns of Φ that are smooth on the graph; those before them are constant on each part of it."""
        return slice(self._zeros, len(self._by_mode))

    @property
    def features(self) -> list[list[int]]:
        """The columns of Φ that are each feature."""
        return [] if self._feature is None else [[len(self._by_mode)]]

    def weights(self, theta: FloatArray) -> FloatArray:
        """ω."""
        steepness = [math.exp(log) for log in theta[:-1]]
        return np.concatenate([self._by_mode, steepness, [1.0]])

    def kernel(self, theta: FloatArray | None = None) -> Kernel:
        """All this but the amplitude as a scikit-learn kernel; without a theta, with a trend and a little noise."""
        if theta is None:
            theta = np.log([max(STEEPNESSES), NUGGETS[1]])
        noise = WhiteKernel(math.exp(theta[-1]), (1e-6, 10.0))
        smooth = ConstantKernel(1.0, "fixed") + self._diffusion
        if self._feature is None:
            return smooth + noise
        steepness = ConstantKernel(math.exp(theta[0]), (min(STEEPNESSES), 1e3))
        return smooth + steepness * Trend(self._feature) + noise


@dataclass(frozen=True, eq=False)
class _Component:
    """The model at one theta, conditioned on the observations.

    Attributes:
        theta: the steepness, if there is one, and the nugget, as logarithms.
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
    """The components of one steepness, which has these odds: their covariance before noise is the same."""

    odds: float
    weights: FloatArray
    components: list[_Component]


class AutomaticModel:
    """The Gaussian process, conditioned on observations.

    Args:
        basis: the prior.
        X: the observed rows.
        y: their standardised values.
        noise: the known variance of each, relative to the amplitude.

    Attributes:
        kernel: the scikit-learn kernel of the theta with the largest share in the average.
        evidence: the log-likelihood of y under the whole average.

    Raises:
        ModelError: something in X is not a row, or the covariance can be decomposed at no theta.
    """

    def __init__(self, basis: Basis, X: FloatArray, y: FloatArray, noise: FloatArray) -> None:
        self.basis, self.X, self.y, self.noise = basis, X, y, noise
        self._features = basis.at(X)
        self._groups = [self._group(*candidate) for candidate in basis.steepnesses.items()]
        found = [(group.odds, one) for group in self._groups for one in group.components]
        if not found:
            raise ModelError(
                f"the covariance of {basis.kernel()} is not positive definite: raise alpha"
            )
        logs = np.array([np.log(odds) + one.evidence for odds, one in found])
        shares = np.exp(logs - logs.max())
        all_odds = len(NUGGETS) * sum(basis.steepnesses.values())
        self.evidence = float(logs.max() + np.log(shares.sum())) - float(np.log(all_odds))
        self._shares = shares / shares.sum()
        _, best = found[int(np.argmax(self._shares))]
        self.kernel = basis.kernel(best.theta)

    def _group(self, steepness: tuple[float, ...], odds: float) -> _Group:
        thetas = [np.log([*steepness, nugget]) for nugget in NUGGETS]
        weights = self.basis.weights(thetas[0])
        covariance = _covariance(self._features, weights)
        components = []
        for theta in thetas:
            with suppress(np.linalg.LinAlgError):
                components.append(_conditioned(theta, covariance, self.y, self.noise))
        return _Group(odds, weights, components)

    def moments(self, X: FloatArray, *, joint: bool) -> tuple[FloatArray, FloatArray]:
        """The mean and the variances of measurements at X, or their covariance if ``joint``.

        Raises:
            ModelError: something is not a row.
        """
        features = self.basis.at(X)
        means, spreads = [], []
        for _, weights, components in self._groups:
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
        gradient = [0.5 * one.nugget * np.trace(by_covariance)]
        if len(theta) > 1:
            trend = self._features[:, -2]
            gradient.insert(0, 0.5 * math.exp(theta[0]) * (trend @ by_covariance @ trend))
        return one.evidence, np.array(gradient)


def _covariance(features: FloatArray, weights: FloatArray) -> FloatArray:
    """Φ diag(ω) Φᵀ, as the product of a matrix with its own transpose, which is half the work."""
    root = features * np.sqrt(weights)
    return np.asarray(root @ root.T)
