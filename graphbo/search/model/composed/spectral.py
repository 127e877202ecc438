"""The same for sums of spectral kernels, with a cheap gradient.

The covariance of the observations is Φ diag(ω) Φᵀ + noise, with eigenvectors as the columns φ_i of Φ. Each φ_i φ_iᵀ has
rank one, so with K = LLᵀ the derivative of the log-likelihood by ω_i is ½((φ_iᵀK⁻¹y)² − ‖L⁻¹φ_i‖²): one triangular
solve, O(N²ñ), gives all of them, and the kernels turn them into derivatives by their hyperparameters.
"""

# ruff: noqa: N803 (X is scikit-learn's name)

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, Product, Sum, WhiteKernel

from graphbo.search.kernels import SpectralKernel, Trend, rows_of
from graphbo.search.kernels.base import Pullback
from graphbo.search.model.algebra import add_to_diagonal
from graphbo.search.model.composed.at_theta import AtTheta
from graphbo.search.model.composed.theta import Theta, parts
from graphbo.search.model.parts import Additive, Parts
from graphbo.types import FloatArray

__all__ = ["OfSpectralSum", "Term", "features_of", "terms_of"]


@dataclass(frozen=True, eq=False)
class Term:
    """A summand: a number times a spectral kernel or a trend; or white noise.

    Attributes:
        level: the number, if it is fixed.
        place: where it is in theta, if it is not.
        core: what is multiplied; None for noise.
        part: which elements of theta are the core's.
        columns: which of Φ carry the core. Noise counts as one more, at the end.
    """

    level: float
    place: slice
    core: SpectralKernel | Trend | None
    part: slice
    columns: slice

    def features(self, X: FloatArray) -> FloatArray:
        """Its columns of Φ."""
        if isinstance(self.core, SpectralKernel):
            spectrum = self.core.spectrum
            return spectrum.eigenvectors[rows_of(X, len(spectrum))]
        return np.empty((len(X), 0)) if self.core is None else self.core.of(X)

    def at(self, theta: Theta) -> "_TermAt":
        """The term at one theta."""
        fitted = theta[self.place]
        factor = math.exp(fitted[0]) if len(fitted) else self.level
        if isinstance(self.core, SpectralKernel):
            return _TermAt(self, factor, *self.core.weights_and_pullback(theta[self.part]))
        return _TermAt(self, factor, np.ones(1 if self.core is None else self.core.columns), None)


class _TermAt(NamedTuple):
    """A term at one theta: its number, and the weights of its columns before that number."""

    term: Term
    factor: float
    weights: FloatArray
    pullback: Pullback | None

    def add(self, by_theta: FloatArray, by_weight: FloatArray) -> None:
        """Add what derivatives by ω mean for theta, along the last axes."""
        own = by_weight[..., self.term.columns]
        by_theta[..., self.term.place] += self.factor * (own @ self.weights)[..., None]
        if self.pullback is not None:
            by_theta[..., self.term.part] += self.factor * self.pullback(own)


def terms_of(kernel: Kernel) -> list[Term] | None:
    """The terms of a sum of spectral kernels and trends, each times a constant, and white noise; None if it is none."""
    terms, start = [], 0
    places = (place for _, place in parts(kernel))
    for summand in _summands(kernel):
        match summand:
            case Product(k1=ConstantKernel(), k2=SpectralKernel() | Trend() as core):
                spectral = isinstance(core, SpectralKernel)
                stop = start + (core.spectrum.modes if spectral else core.columns)
                columns = slice(start, stop)
                level = float(summand.k1.constant_value)
                terms.append(Term(level, next(places), core, next(places), columns))
                start = stop
            case WhiteKernel():
                level = float(summand.noise_level)
                terms.append(Term(level, next(places), None, slice(0), slice(-1, None)))
            case _:
                return None
    return terms


def _summands(kernel: Kernel) -> list[Kernel]:
    if isinstance(kernel, Sum):
        return _summands(kernel.k1) + _summands(kernel.k2)
    return [kernel]


def features_of(terms: list[Term], X: FloatArray) -> FloatArray:
    """Φ at these rows.

    Raises:
        ModelError: something is not a row.
    """
    return np.hstack([term.features(X) for term in terms])


class OfSpectralSum(AtTheta):
    """For sums of spectral kernels.

    Args:
        terms: of the sum.
        features: Φ at the observed rows.
        theta: the hyperparameters.
        y: the standardised values.
        noise: the known variance of each.
    """

    def __init__(
        self,
        terms: list[Term],
        features: FloatArray,
        theta: Theta,
        y: FloatArray,
        noise: FloatArray,
    ) -> None:
        self._terms = [term.at(theta) for term in terms]
        self._features = features
        self._size = len(theta)
        weights = np.zeros(features.shape[1] + 1)
        for term, factor, own, _ in self._terms:
            weights[term.columns] += factor * own
        self._weights, self._noise = weights[:-1], float(weights[-1])
        covariance = self._covariance(features)
        add_to_diagonal(covariance, self._noise)
        super().__init__(covariance, y, noise)

    def _covariance(self, features: FloatArray) -> FloatArray:
        root = features * np.sqrt(self._weights)
        return np.asarray(root @ root.T)  # with its own transpose it is half the work

    def moments(self, X: FloatArray, *, joint: bool) -> tuple[FloatArray, FloatArray]:
        """See :class:`AtTheta`."""
        features = features_of([at.term for at in self._terms], X)
        return self._given(
            cross=(self._features * self._weights) @ features.T,
            variances=np.square(features) @ self._weights,
            covariance=self._covariance(features) if joint else None,
            noise=self._noise,
        )

    def parts(self, X: FloatArray) -> Parts:
        """See :class:`AtTheta`. Zero modes are the level: they are constant on each part of the graph."""
        here = features_of([at.term for at in self._terms], X)
        level, features = _level_and_features([at.term for at in self._terms])
        others = sorted([*level, *(column for one in features for column in one)])
        smooth = np.delete(np.arange(len(self._weights)), others)
        observed, weights = self._features[:, smooth], self._weights[smooth]
        additive = Additive(
            columns=self._features[:, others],
            weights=self._weights[others],
            level=[others.index(column) for column in level],
            features=[[others.index(column) for column in one] for one in features],
            smooth=(observed * weights) @ observed.T,
            noise=self.known_noise + self._noise,
            y=self.y,
        )
        return additive.parts(here[:, others], (observed * weights) @ here[:, smooth].T)

    def gradient(self) -> Theta:
        """By ω_i it is ½((φ_iᵀK⁻¹y)² − ‖L⁻¹φ_i‖²), by the noise ½(‖K⁻¹y‖² − tr K⁻¹)."""
        solution = self.whitened @ self.inverse
        inverse = self.inverse.ravel(order="K")
        slopes = np.empty(len(self._weights) + 1)
        slopes[:-1] = np.square(self.whitened @ self._half)
        slopes[:-1] -= np.einsum("ij,ij->j", self._half, self._half)
        slopes[-1] = solution @ solution - inverse @ inverse
        return self._pull(0.5 * slopes)

    def information(self) -> FloatArray:
        """The expected curvature of the likelihood (Fisher's information), p × p.

        For the covariance's derivatives φ_i φ_iᵀ it is ½(φ_iᵀK⁻¹φ_j)², for that of the noise ½tr(K⁻²).
        """
        count = len(self._weights)
        inner = np.empty((count + 1, count + 1))
        np.square(self._half.T @ self._half, out=inner[:-1, :-1])
        full = self.inverse.T @ self._half
        inner[-1, :-1] = inner[:-1, -1] = np.einsum("ij,ij->j", full, full)
        inner[-1, -1] = np.square(self.inverse.T @ self.inverse).sum()
        return 0.5 * self._pull(self._pull(inner).T)

    @cached_property
    def _half(self) -> FloatArray:
        """L⁻¹Φ, which the gradient and the information share."""
        return self.inverse @ self._features

    def _pull(self, by_weight: FloatArray) -> FloatArray:
        """From derivatives by ω and the noise, along the last axis, to derivatives by theta."""
        by_theta = np.zeros((*by_weight.shape[:-1], self._size))
        for term in self._terms:
            term.add(by_theta, by_weight)
        return by_theta


def _level_and_features(terms: Sequence[Term]) -> tuple[list[int], list[range]]:
    """Which columns of Φ are zero modes, and which are the feature of each trend."""
    level: list[int] = []
    features: list[range] = []
    for term in terms:
        start = term.columns.start
        if isinstance(term.core, SpectralKernel):
            level += range(start, start + term.core.spectrum.zeros)
        elif isinstance(term.core, Trend):
            features.append(range(start, term.columns.stop))
    return level, features
