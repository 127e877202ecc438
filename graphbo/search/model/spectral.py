"""The covariance of sums of spectral kernels and trends, F diag(ω) Fᵀ + noise: all derivatives from one solve."""

# ruff: noqa: N803 (X is scikit-learn's name)

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, Product, Sum, WhiteKernel

from graphbo.search.kernels import SpectralKernel, Trend, rows_of
from graphbo.search.model.solve import Solved, add_to_diagonal
from graphbo.search.model.theta import Theta, size_of
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray

__all__ = ["SpectralCovariance", "Unsupported"]


class Unsupported(Exception):
    """A kernel that is no sum of spectral, trend, constant and white terms."""


# From a kernel to its summands


@dataclass(frozen=True)
class _Level:
    """A positive number: fixed, or the exponential of one element of theta."""

    fixed: float
    index: int | None

    @classmethod
    def of(cls, kernel: Kernel, offset: int) -> "_Level":
        """The number of a constant or a white kernel whose part of theta starts at ``offset``."""
        if isinstance(kernel, ConstantKernel):
            value, bounds = kernel.constant_value, kernel.constant_value_bounds
        else:
            value, bounds = kernel.noise_level, kernel.noise_level_bounds
        return cls(float(value), None if isinstance(bounds, str) else offset)

    def at(self, theta: Theta) -> float:
        return self.fixed if self.index is None else math.exp(theta[self.index])


#: A summand: its factors, where its part of theta starts, and the kernel that they multiply.
_Summand: TypeAlias = tuple[tuple[_Level, ...], int, Kernel]


def _summands(
    kernel: Kernel, offset: int = 0, levels: tuple[_Level, ...] = ()
) -> Iterator[_Summand]:
    """The summands of a kernel, its products with constants multiplied out."""
    if isinstance(kernel, Sum | Product):
        second = offset + size_of(kernel.k1)
        if isinstance(kernel, Sum):
            yield from _summands(kernel.k1, offset, levels)
            yield from _summands(kernel.k2, second, levels)
        elif isinstance(kernel.k1, ConstantKernel):
            yield from _summands(kernel.k2, second, (*levels, _Level.of(kernel.k1, offset)))
        elif isinstance(kernel.k2, ConstantKernel):
            yield from _summands(kernel.k1, offset, (*levels, _Level.of(kernel.k2, second)))
        else:
            raise Unsupported
    elif isinstance(kernel, SpectralKernel | Trend):
        yield levels, offset, kernel
    elif isinstance(kernel, ConstantKernel | WhiteKernel):
        yield (*levels, _Level.of(kernel, offset)), offset, kernel
    else:
        raise Unsupported


# Summands at one theta


@dataclass(frozen=True)
class _Term:
    """One summand of a kernel: amplitudes, times a spectral kernel, a trend, a constant or white noise.

    Attributes:
        levels: the factors that are plain numbers, a constant or white kernel's own among them.
        part: which elements of theta are the spectral kernel's.
        columns: which features carry it. White noise counts as one more, at the end.
        kernel: the spectral kernel, if it is one.
    """

    levels: tuple[_Level, ...]
    part: slice
    columns: slice
    kernel: SpectralKernel | None = None

    def at(self, theta: Theta) -> "_TermAt":
        factor = math.prod(level.at(theta) for level in self.levels)
        if self.kernel is None:
            return _TermAt(self, factor, None, None)
        return _TermAt(self, factor, *self.kernel.weights_and_pullback(theta[self.part]))


class _TermAt(NamedTuple):
    """A term at one theta: its factor, and a spectral kernel's weights before that factor."""

    term: _Term
    factor: float
    weights: FloatArray | None
    pullback: Callable[[FloatArray], FloatArray] | None

    def add(self, by_theta: FloatArray, by_weight: FloatArray) -> None:
        """Add what derivatives by the features' weights mean for theta, along the last axes."""
        term = self.term
        own = by_weight[..., term.columns]
        if self.weights is None or self.pullback is None:
            by_level = self.factor * own[..., 0]
        else:
            by_level = self.factor * (own @ self.weights)
            if term.part.start < term.part.stop:
                by_theta[..., term.part] += self.factor * self.pullback(own)
        for level in term.levels:
            if level.index is not None:
                by_theta[..., level.index] += by_level


class _SpectralAt(NamedTuple):
    """The covariance at one theta: ω with the noise at its end, and the terms it is made of."""

    weights: FloatArray
    terms: list[_TermAt]

    def pull(self, by_weight: FloatArray, size: int) -> FloatArray:
        """From derivatives by ω, along the last axis, to derivatives by theta."""
        by_theta = np.zeros((*by_weight.shape[:-1], size))
        for term in self.terms:
            term.add(by_theta, by_weight)
        return by_theta


# The sum


class SpectralCovariance:
    """Of a sum of spectral, trend, constant and white kernels, each times constants: F diag(ω) Fᵀ + noise.

    Raises:
        Unsupported: the kernel is none.
    """

    def __init__(self, kernel: Kernel, X: FloatArray) -> None:
        summands = list(_summands(kernel))
        cores = [core for _, _, core in summands]
        # Kernels on the same spectrum share its columns.
        self._starts: dict[Spectrum, int] = {}
        width = 0
        for spectral in (core for core in cores if isinstance(core, SpectralKernel)):
            if spectral.spectrum not in self._starts:
                self._starts[spectral.spectrum] = width
                width += len(spectral.spectrum)
        # A trend has a column of its own.
        trends = [core for core in cores if isinstance(core, Trend)]
        self._trends = dict(enumerate(trends, start=width))
        width += len(trends)
        self._width = width + any(isinstance(core, ConstantKernel) for core in cores)
        self._terms = [self._term(*summand) for summand in summands]
        self._features = self.features(X)
        self._last: tuple[bytes, _SpectralAt] | None = None
        self._last_half: tuple[Solved, FloatArray] | None = None
        self._products: dict[str, tuple[FloatArray, FloatArray, FloatArray]] = {}

    def _term(self, levels: tuple[_Level, ...], offset: int, core: Kernel) -> _Term:
        if isinstance(core, SpectralKernel):
            start = self._starts[core.spectrum]
            columns = slice(start, start + len(core.spectrum))
            return _Term(levels, slice(offset, offset + core.n_dims), columns, core)
        column = self._width - isinstance(core, ConstantKernel)
        if isinstance(core, Trend):
            column = next(place for place, trend in self._trends.items() if trend is core)
        return _Term(levels, slice(offset, offset), slice(column, column + 1))

    def __getstate__(self) -> dict[str, Any]:
        # What was computed last is quickly computed again, and holds functions that cannot be pickled.
        return self.__dict__ | {"_last": None, "_last_half": None, "_products": {}}

    def features(self, X: FloatArray) -> FloatArray:
        """Their rows of the eigenvectors, their features, and a one for constant kernels."""
        features = np.ones((len(X), self._width))
        for spectrum, start in self._starts.items():
            rows = rows_of(X, len(spectrum))
            features[:, start : start + len(spectrum)] = spectrum.eigenvectors[rows]
        for column, trend in self._trends.items():
            features[:, column] = trend.of(X)
        return features

    def observed(self, theta: Theta) -> FloatArray:
        """The covariance of the observations, their fitted noise included."""
        return self.full(theta, self._features)

    def full(self, theta: Theta, features: FloatArray) -> FloatArray:
        """The covariance of measurements at nodes."""
        weights = self._at(theta).weights

        def product() -> FloatArray:
            root = features * np.sqrt(weights[:-1])
            own: FloatArray = root @ root.T  # a product with its own transpose is half the work
            return own

        covariance = self._kept("full", features, weights, product).copy()
        add_to_diagonal(covariance, weights[-1])
        return covariance

    def cross(self, theta: Theta, features: FloatArray) -> FloatArray:
        """Covariances of the observed nodes (rows) with others (columns)."""
        weights = self._at(theta).weights

        def product() -> FloatArray:
            covariances: FloatArray = (self._features * weights[:-1]) @ features.T
            return covariances

        return self._kept("cross", features, weights, product)

    def variance(self, theta: Theta, features: FloatArray) -> tuple[FloatArray, float]:
        """The variances of nodes, and the noise of a measurement."""
        weights = self._at(theta).weights

        def product() -> FloatArray:
            variances: FloatArray = np.square(features) @ weights[:-1]
            return variances

        return self._kept("variance", features, weights, product), float(weights[-1])

    def gradient(self, theta: Theta, solved: Solved) -> Theta:
        """The gradient of the evidence by theta.

        By ω_i it is ½((f_iᵀK⁻¹y)² − ‖L⁻¹f_i‖²), by the noise ½(‖K⁻¹y‖² − tr K⁻¹); ``pull`` weighs y.
        """
        half = self._half(solved)
        solution = solved.whitened @ solved.inverse
        inverse = solved.inverse.ravel(order="K")
        slopes = np.empty(self._width + 1)
        slopes[:-1] = solved.pull * np.square(solved.whitened @ half)
        slopes[:-1] -= np.einsum("ij,ij->j", half, half)
        slopes[-1] = solved.pull * (solution @ solution) - inverse @ inverse
        slopes *= 0.5
        return self._at(theta).pull(slopes, len(theta))

    def information(self, theta: Theta, solved: Solved) -> FloatArray:
        """The expected curvature of the likelihood (Fisher's information), p × p.

        For the covariance's derivatives f_i f_iᵀ it is ½(f_iᵀK⁻¹f_j)², for that of the noise ½tr(K⁻²).
        """
        half = self._half(solved)
        inner = np.empty((self._width + 1, self._width + 1))
        np.square(half.T @ half, out=inner[:-1, :-1])
        full = solved.inverse.T @ half
        inner[-1, :-1] = inner[:-1, -1] = np.einsum("ij,ij->j", full, full)
        inner[-1, -1] = np.square(solved.inverse.T @ solved.inverse).sum()
        at, size = self._at(theta), len(theta)
        return 0.5 * at.pull(at.pull(inner, size).T, size)

    def _at(self, theta: Theta) -> _SpectralAt:
        key = theta.tobytes()
        if self._last is None or self._last[0] != key:  # the gradient follows on the value
            self._last = (key, self._evaluate(theta))
        return self._last[1]

    def _evaluate(self, theta: Theta) -> _SpectralAt:
        weights = np.zeros(self._width + 1)
        terms = [term.at(theta) for term in self._terms]
        for term, factor, own, _ in terms:
            weights[term.columns] += factor if own is None else factor * own
        return _SpectralAt(weights, terms)

    def _kept(
        self,
        name: str,
        features: FloatArray,
        weights: FloatArray,
        product: Callable[[], FloatArray],
    ) -> FloatArray:
        """A product, or the last one of that name: thetas that differ in their noise alone have the same."""
        last = self._products.get(name)
        if last is None or last[0] is not features or not np.array_equal(last[1], weights[:-1]):
            last = self._products[name] = (features, weights[:-1], product())
        return last[2]

    def _half(self, solved: Solved) -> FloatArray:
        """L⁻¹F, which the gradient and the information share."""
        if self._last_half is None or self._last_half[0] is not solved:
            self._last_half = (solved, solved.inverse @ self._features)
        return self._last_half[1]
