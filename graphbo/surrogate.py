"""The model of an expensive function on the nodes of a subgraph, as a scikit-learn regressor.

:class:`SpectralGaussianProcess` does two things that a ``GaussianProcessRegressor`` does not:

- **A cheap gradient.** The covariance of the observations is F diag(ω) Fᵀ + noise, with the
  eigenvectors as the columns f_i of F. Each f_i f_iᵀ has rank one, so with K = LLᵀ the derivative of the
  log-likelihood by ω_i is ½((f_iᵀK⁻¹y)² − ‖L⁻¹f_i‖²): one triangular solve, O(N²ñ), gives all of them,
  and the kernel turns them into derivatives by its hyperparameters. scikit-learn's own way builds an
  N × N matrix per hyperparameter. Kernels that are no sums of spectral, constant and white ones take
  that way here, too.
- **A model that needs no search**, ``kernel="auto"``: a diffusion kernel whose scale is set by effective
  dimension, averaged over three noise levels by their evidence, with its amplitude integrated out.

y is standardised inside; what comes out is in the user's units. Only the log-likelihood is that of the
standardised values, as it is in scikit-learn with ``normalize_y``.
"""

# ruff: noqa: N803 (X and Y are scikit-learn's names)

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Real
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtri, dtrtrs
from scipy.optimize import Bounds, minimize
from scipy.special import gammaln
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    CompoundKernel,
    ConstantKernel,
    Exponentiation,
    Kernel,
    KernelOperator,
    Product,
    Sum,
    WhiteKernel,
)
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from threadpoolctl import ThreadpoolController

from graphbo.errors import ModelError
from graphbo.kernels import KERNELS, Diffusion, SpectralKernel, rows_of
from graphbo.spectrum import Spectrum
from graphbo.types import FloatArray, Posterior

__all__ = [
    "KERNEL_NAMES",
    "MULTIMODAL_UP_TO",
    "GaussianPrior",
    "MapOptimizer",
    "SpectralGaussianProcess",
    "Standardisation",
    "starting_points",
    "weak_prior",
]

#: What ``kernel`` may be called: the default, and the paper's.
KERNEL_NAMES = ("auto", *KERNELS)

#: The noise levels of ``kernel="auto"``, relative to the amplitude.
NUGGETS = (1e-3, 5e-2, 5e-1)

#: The smallest variance left at a node, on the standardised scale: rounding must not turn it negative.
SMALLEST_VARIANCE = 1e-9

#: Climbing to the best hyperparameters ends when a step promises less than this, in nats: it would
#: move no decision. It ends anyway after so many steps.
ENOUGH, MOST_STEPS = 1e-2, 100

#: Up to so many observations fits climb from more than one start. Few observations often have two
#: explanations, a rough function and a noisy one; many seldom do, and cost more to climb with.
MULTIMODAL_UP_TO = 30

LOG_2PI = float(np.log(2 * np.pi))

Theta: TypeAlias = FloatArray
Objective: TypeAlias = Callable[..., Any]
Prior: TypeAlias = Callable[[Theta], tuple[float, Theta]]
Cost: TypeAlias = Callable[[Theta], tuple[float, Theta]]


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _one_thread() -> AbstractContextManager[Any]:
    """Matrices of this size get slower with every further BLAS thread."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@dataclass(frozen=True)
class Standardisation:
    """The location and the scale that turn the user's values into standard ones and back."""

    location: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, values: npt.ArrayLike) -> "Standardisation":
        """The mean and the standard deviation of these values.

        Values that do not differ (or a single one) have no spread to go by: their size is the scale.

        Raises:
            ModelError: there is no value, or one is not finite.
        """
        given = _finite(values, "value")
        largest = float(np.abs(given).max())
        if largest == 0:
            return cls()
        relative = given / largest  # no square of a value overflows or underflows
        mean, spread = float(relative.mean()), float(relative.std())
        if spread <= 1e-14:
            return cls(mean * largest, largest)
        return cls(mean * largest, spread * largest)

    def standard(self, values: FloatArray) -> FloatArray:
        """The values on the standard scale."""
        return (values - self.location) / self.scale

    def original(self, standard: FloatArray) -> FloatArray:
        """Standard values in the user's units."""
        return self.location + self.scale * standard


def _finite(values: npt.ArrayLike, what: str) -> FloatArray:
    given = np.asarray(values, dtype=np.float64)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1 or not given.size:
        raise ModelError(f"the {what}s have shape {given.shape}: expected one or more in a row")
    if not np.isfinite(given).all():
        raise ModelError(f"the {what}s contain NaN or infinity: leave those observations out")
    return given


# ---------------------------------------------------------------------------------------------
# A composed kernel's theta, without scikit-learn's search through dir() at every access: that costs
# more than the linear algebra of a whole fit.

#: Kernels of one number: the name of their only hyperparameter.
_NUMBERS = {ConstantKernel: "constant_value", WhiteKernel: "noise_level"}


def _leaves(kernel: Kernel) -> Iterator[Kernel]:
    """The kernels that a kernel is composed of, in the order of their parts in theta."""
    if isinstance(kernel, KernelOperator):
        yield from _leaves(kernel.k1)
        yield from _leaves(kernel.k2)
    elif isinstance(kernel, Exponentiation):
        yield from _leaves(kernel.kernel)
    elif isinstance(kernel, CompoundKernel):
        for part in kernel.kernels:
            yield from _leaves(part)
    else:
        yield kernel


def _size(leaf: Kernel) -> int:
    name = _NUMBERS.get(type(leaf))
    if name is None:
        return int(leaf.n_dims)
    return 0 if isinstance(getattr(leaf, f"{name}_bounds"), str) else 1


def _parts(kernel: Kernel) -> Iterator[tuple[Kernel, slice]]:
    """Every leaf with its part of theta."""
    start = 0
    for leaf in _leaves(kernel):
        stop = start + _size(leaf)
        yield leaf, slice(start, stop)
        start = stop


def _theta(kernel: Kernel) -> Theta:
    """``kernel.theta``."""
    return np.concatenate([_leaf_theta(leaf) for leaf in _leaves(kernel)])


def _leaf_theta(leaf: Kernel) -> Theta:
    name = _NUMBERS.get(type(leaf))
    if name is None:
        return np.asarray(leaf.theta, dtype=np.float64)
    return np.log([getattr(leaf, name)]) if _size(leaf) else np.empty(0)


def _set_theta(kernel: Kernel, theta: Theta) -> None:
    """``kernel.theta = theta``."""
    for leaf, part in _parts(kernel):
        name = _NUMBERS.get(type(leaf))
        if part.start == part.stop:
            continue
        if name is None:
            leaf.theta = theta[part]
        else:
            setattr(leaf, name, math.exp(theta[part.start]))


def _bounds(kernel: Kernel) -> FloatArray:
    """``kernel.bounds``."""
    limits = [_leaf_bounds(leaf) for leaf in _leaves(kernel) if _size(leaf)]
    return np.concatenate(limits) if limits else np.empty((0, 2))


def _leaf_bounds(leaf: Kernel) -> FloatArray:
    name = _NUMBERS.get(type(leaf))
    if name is None:
        return np.asarray(leaf.bounds, dtype=np.float64)
    return np.log(np.reshape(getattr(leaf, f"{name}_bounds"), (1, 2)))


# ---------------------------------------------------------------------------------------------
# The covariance of the observations as a function of theta


@dataclass(frozen=True)
class _Solved:
    """A decomposed covariance of the observations, and the evidence of their values under it.

    Attributes:
        lower: L with K = LLᵀ.
        whitened: L⁻¹y.
        evidence: the log marginal likelihood.
        amplitude: by what the covariances are to be multiplied: 1 unless it was integrated out.
        pull: what the square of K⁻¹y weighs in the derivative of the evidence by K.
    """

    lower: FloatArray
    whitened: FloatArray
    evidence: float
    amplitude: float = 1.0
    pull: float = 1.0

    @cached_property
    def inverse(self) -> FloatArray:
        """L⁻¹."""
        inverse, _ = dtrtri(self.lower, lower=1)
        return np.asarray(inverse)


class _Covariance(Protocol):
    """The covariance between observed nodes, and between them and others, at any theta."""

    def observed(self, theta: Theta) -> FloatArray:
        """The covariance of the observations, their noise included."""

    def gradient(self, theta: Theta, solved: _Solved) -> Theta:
        """The gradient of the evidence by theta."""

    def features(self, X: FloatArray) -> FloatArray:
        """What the next three need to know about the nodes in X, whatever theta is."""

    def cross(self, theta: Theta, features: FloatArray) -> FloatArray:
        """Covariances of the observed nodes (rows) with others (columns)."""

    def variance(self, theta: Theta, features: FloatArray) -> tuple[FloatArray, float]:
        """The variances of nodes, and the noise of a measurement where it is apart."""

    def full(self, theta: Theta, features: FloatArray) -> FloatArray:
        """The covariance of measurements at nodes."""


class _AnyCovariance:
    """Of any scikit-learn kernel: p matrices of N × N for the gradient."""

    def __init__(self, kernel: Kernel, X: FloatArray) -> None:
        self._kernel = clone(kernel)
        self._X = X

    def _at(self, theta: Theta) -> Any:
        _set_theta(self._kernel, theta)
        return self._kernel

    def observed(self, theta: Theta) -> FloatArray:
        # Noise is added in place later, by a view that only C order allows.
        return np.array(self._at(theta)(self._X), order="C")

    def gradient(self, theta: Theta, solved: _Solved) -> Theta:
        _, by_theta = self._at(theta)(self._X, eval_gradient=True)
        solution = solved.inverse.T @ solved.whitened
        inner = solved.pull * np.outer(solution, solution) - solved.inverse.T @ solved.inverse
        return np.asarray(0.5 * np.einsum("ij,ijk->k", inner, by_theta))

    def features(self, X: FloatArray) -> FloatArray:
        return X

    def cross(self, theta: Theta, features: FloatArray) -> FloatArray:
        return np.asarray(self._at(theta)(self._X, features))

    def variance(self, theta: Theta, features: FloatArray) -> tuple[FloatArray, float]:
        return np.asarray(self._at(theta).diag(features)), 0.0

    def full(self, theta: Theta, features: FloatArray) -> FloatArray:
        return np.asarray(self._at(theta)(features))


@dataclass(frozen=True)
class _Level:
    """A positive number: fixed, or the exponential of one element of theta."""

    fixed: float
    index: int | None

    @classmethod
    def of(cls, value: float, bounds: object, offset: int) -> "_Level":
        return cls(float(value), None if isinstance(bounds, str) else offset)

    def at(self, theta: Theta) -> float:
        return self.fixed if self.index is None else math.exp(theta[self.index])


@dataclass(frozen=True)
class _Term:
    """One summand of a kernel: amplitudes, times a spectral kernel or a constant or white noise.

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


class _Unsupported(Exception):
    """A kernel that is no sum of spectral, constant and white terms."""


class _SpectralCovariance:
    """Of a sum of spectral, constant and white kernels, each times constants: F diag(ω) Fᵀ + noise.

    Raises:
        _Unsupported: the kernel is none.
    """

    def __init__(self, kernel: Kernel, X: FloatArray) -> None:
        parsed = list(_parse(kernel, 0, ()))
        self._starts: dict[Spectrum, int] = {}
        width = 0
        for spectral in (leaf for _, _, leaf in parsed if isinstance(leaf, SpectralKernel)):
            if spectral.spectrum not in self._starts:
                self._starts[spectral.spectrum] = width
                width += len(spectral.spectrum)
        self._width = width + any(isinstance(leaf, ConstantKernel) for _, _, leaf in parsed)
        self._terms = [self._term(*found) for found in parsed]
        self._features = self.features(X)
        self._last: tuple[bytes, _SpectralAt] | None = None
        self._last_half: tuple[_Solved, FloatArray] | None = None

    def _term(self, levels: tuple[_Level, ...], offset: int, leaf: Kernel) -> _Term:
        if isinstance(leaf, SpectralKernel):
            start = self._starts[leaf.spectrum]
            columns = slice(start, start + len(leaf.spectrum))
            return _Term(levels, slice(offset, offset + leaf.n_dims), columns, leaf)
        column = self._width - isinstance(leaf, ConstantKernel)
        return _Term(levels, slice(offset, offset), slice(column, column + 1))

    def features(self, X: FloatArray) -> FloatArray:
        features = np.ones((len(X), self._width))
        for spectrum, start in self._starts.items():
            rows = rows_of(X, len(spectrum))
            features[:, start : start + len(spectrum)] = spectrum.eigenvectors[rows]
        return features

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

    def __getstate__(self) -> dict[str, Any]:
        # What was computed last is quickly computed again, and holds functions that cannot be pickled.
        return self.__dict__ | {"_last": None, "_last_half": None}

    def observed(self, theta: Theta) -> FloatArray:
        return self._within(theta, self._features)

    def _within(self, theta: Theta, features: FloatArray) -> FloatArray:
        weights = self._at(theta).weights
        root = features * np.sqrt(weights[:-1])
        covariance: FloatArray = root @ root.T
        covariance.ravel()[:: len(covariance) + 1] += weights[-1]
        return covariance

    def _half(self, solved: _Solved) -> FloatArray:
        """L⁻¹F, which the gradient and the information share."""
        if self._last_half is None or self._last_half[0] is not solved:
            self._last_half = (solved, solved.inverse @ self._features)
        return self._last_half[1]

    def gradient(self, theta: Theta, solved: _Solved) -> Theta:
        half = self._half(solved)
        solution = solved.whitened @ solved.inverse
        inverse = solved.inverse.ravel(order="K")
        slopes = np.empty(self._width + 1)
        slopes[:-1] = solved.pull * np.square(solved.whitened @ half)
        slopes[:-1] -= np.einsum("ij,ij->j", half, half)
        slopes[-1] = solved.pull * (solution @ solution) - inverse @ inverse
        slopes *= 0.5
        return self._at(theta).pull(slopes, len(theta))

    def information(self, theta: Theta, solved: _Solved) -> FloatArray:
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

    def cross(self, theta: Theta, features: FloatArray) -> FloatArray:
        result: FloatArray = (self._features * self._at(theta).weights[:-1]) @ features.T
        return result

    def variance(self, theta: Theta, features: FloatArray) -> tuple[FloatArray, float]:
        weights = self._at(theta).weights
        return np.square(features) @ weights[:-1], float(weights[-1])

    def full(self, theta: Theta, features: FloatArray) -> FloatArray:
        return self._within(theta, features)


def _parse(
    kernel: Kernel, offset: int, levels: tuple[_Level, ...]
) -> Iterator[tuple[tuple[_Level, ...], int, Kernel]]:
    """The summands of a kernel: constant factors, where its part of theta starts, and its core."""
    if isinstance(kernel, Sum | Product):
        second = offset + sum(map(_size, _leaves(kernel.k1)))
        if isinstance(kernel, Sum):
            yield from _parse(kernel.k1, offset, levels)
            yield from _parse(kernel.k2, second, levels)
        elif isinstance(kernel.k1, ConstantKernel):
            yield from _parse(kernel.k2, second, (*levels, _constant(kernel.k1, offset)))
        elif isinstance(kernel.k2, ConstantKernel):
            yield from _parse(kernel.k1, offset, (*levels, _constant(kernel.k2, second)))
        else:
            raise _Unsupported
    elif isinstance(kernel, SpectralKernel):
        yield levels, offset, kernel
    elif isinstance(kernel, ConstantKernel):
        yield (*levels, _constant(kernel, offset)), offset, kernel
    elif isinstance(kernel, WhiteKernel):
        noise = _Level.of(kernel.noise_level, kernel.noise_level_bounds, offset)
        yield (*levels, noise), offset, kernel
    else:
        raise _Unsupported


def _constant(kernel: ConstantKernel, offset: int) -> _Level:
    return _Level.of(kernel.constant_value, kernel.constant_value_bounds, offset)


def _covariance(kernel: Kernel, X: FloatArray) -> _Covariance:
    try:
        return _SpectralCovariance(kernel, X)
    except _Unsupported:
        return _AnyCovariance(kernel, X)


# ---------------------------------------------------------------------------------------------
# The evidence of the observations


@dataclass(frozen=True)
class _InverseGamma:
    """The prior of an amplitude that is integrated out; y is then multivariate Student-t."""

    shape: float
    scale: float


def _solve(
    covariance: FloatArray, y: FloatArray, amplitude: _InverseGamma | None
) -> _Solved | None:
    """Decompose a covariance; None if rounding has left it without a decomposition."""
    lower, failed = dpotrf(covariance.T, lower=1, clean=1, overwrite_a=1)
    if failed:
        return None
    whitened, _ = dtrtrs(lower, y, lower=1)
    square = float(whitened @ whitened)
    log_root = float(np.log(lower.diagonal()).sum()) + 0.5 * len(y) * LOG_2PI
    if amplitude is None:
        return _Solved(lower, whitened, -0.5 * square - log_root)
    shape, scale = amplitude.shape + 0.5 * len(y), amplitude.scale + 0.5 * square
    evidence = amplitude.shape * np.log(amplitude.scale) - gammaln(amplitude.shape)
    evidence += gammaln(shape) - shape * np.log(scale) - log_root
    return _Solved(lower, whitened, float(evidence), scale / shape, shape / scale)


@dataclass(frozen=True)
class _Component:
    """The model at one theta, conditioned on the observations, and its share in the average."""

    theta: Theta
    solved: _Solved
    share: float


# ---------------------------------------------------------------------------------------------
# Hyperparameters: their prior, and the search for the best


@dataclass(frozen=True, eq=False)
class GaussianPrior:
    """A normal prior of theta, that is, a log-normal one of the hyperparameters.

    Attributes:
        mean: where it is centred.
        scale: the standard deviation of each element.
        shared: parts of theta whose elements shrink towards their own (weighted) average. ``scale``
            is then that of the deviations, and the average's is ``shared_scale``.
        shared_scale: the standard deviation of those averages.
    """

    mean: Theta
    scale: Theta
    shared: tuple[slice, ...] = ()
    shared_scale: float = 1.0

    def __call__(self, theta: Theta) -> tuple[float, Theta]:
        """The logarithm of the density, up to a constant, and its gradient."""
        precision = self._precision
        deviations = theta - self.mean
        value, gradient = 0.0, np.zeros(len(theta))
        for part in self.shared:
            shares = precision[part] / precision[part].sum()
            average = float(shares @ deviations[part])
            deviations[part] -= average
            pull = average / self.shared_scale**2
            value -= 0.5 * average * pull
            gradient[part] -= pull * shares
        by_element = precision * deviations
        return value - 0.5 * float(deviations @ by_element), gradient - by_element

    @cached_property
    def curvature(self) -> FloatArray:
        """The negative second derivatives of the logarithm of the density."""
        matrix = np.diag(self._precision)
        for part in self.shared:
            precision = self._precision[part]
            total = precision.sum()
            extra = 1.0 / (total * self.shared_scale) ** 2 - 1.0 / total
            matrix[part, part] += extra * np.outer(precision, precision)
        return matrix

    @cached_property
    def _precision(self) -> Theta:
        return 1.0 / self.scale**2


def weak_prior(kernel: Kernel) -> GaussianPrior:
    """A prior that lets the data speak, centred on a kernel's own hyperparameters.

    Standardised values vary by about 1, so the amplitude is known to a factor of e; noise and most
    length scales only to one of e³. The many β_i of a :class:`~graphbo.kernels.DiffusionARD` shrink
    towards a shared value (:meth:`~graphbo.kernels.DiffusionARD.prior_scale`).
    """
    scales: list[FloatArray] = []
    shared: list[slice] = []
    for leaf, part in _parts(kernel):
        if isinstance(leaf, SpectralKernel):
            scales.append(leaf.prior_scale())
            if leaf.per_mode and part.start < part.stop:
                shared.append(part)
        else:
            scale = 1.0 if isinstance(leaf, ConstantKernel) else 3.0
            scales.append(np.full(part.stop - part.start, scale))
    return GaussianPrior(_theta(kernel), np.concatenate(scales), tuple(shared))


def starting_points(kernel: Kernel) -> list[list[Theta]]:
    """Thetas worth starting from, in two groups: with little noise, and with much.

    Likelihoods of this kind have two typical optima: a rough function without noise explains the
    data, and so does a smooth one with noise. Within each group are rougher and smoother kernels.
    """
    theta, bounds = _theta(kernel), _bounds(kernel)
    noise, roughness = np.zeros(len(theta)), np.zeros(len(theta))
    for leaf, part in _parts(kernel):
        if isinstance(leaf, WhiteKernel):
            noise[part] = 1.0
        elif isinstance(leaf, SpectralKernel):
            roughness[part] = leaf.dilation()
    return [
        [
            np.clip(theta + level * noise + scale * roughness, bounds[:, 0], bounds[:, 1])
            for scale in ((-1.5, 0.0, 1.5) if roughness.any() else (0.0,))
        ]
        for level in ((-2.0, 2.0) if noise.any() else (0.0,))
    ]


class MapOptimizer:
    """An ``optimizer`` for scikit-learn's regressor that adds a prior and tries several starts.

    It looks at every start once and climbs from the best of each group. The likelihood that the
    regressor reports stays the likelihood: the prior is added here, to what is maximised.

    Args:
        prior: the log density of theta and its gradient; None for maximum likelihood.
        starts: groups of thetas to start from, instead of the one that the regressor gives.
        information: the likelihood's expected curvature at a theta, if known. With it and a
            :class:`GaussianPrior` climbing is Fisher scoring, which takes half as many evaluations
            as L-BFGS and does not stop on the plateaus of a DiffusionARD.
    """

    def __init__(
        self,
        prior: Prior | None = None,
        starts: Sequence[Sequence[Theta]] = (),
        *,
        information: Callable[[Theta], FloatArray] | None = None,
    ) -> None:
        self.prior = prior
        self.starts = starts
        self.information = information

    def __call__(
        self, obj_func: Objective, initial_theta: Theta, bounds: Any
    ) -> tuple[Theta, float]:
        """The best theta found and its cost, as scikit-learn expects."""

        def cost(theta: Theta) -> tuple[float, Theta]:
            value, gradient = obj_func(theta)
            if self.prior is not None:
                log_density, slope = self.prior(theta)
                value, gradient = value - log_density, gradient - slope
            # A finite wall instead of infinity keeps the line search's arithmetic free of NaN.
            return (float(value) if np.isfinite(value) else 1e25), gradient

        def first_look(theta: Theta) -> float:
            value = float(obj_func(theta, eval_gradient=False))
            return value if self.prior is None else value - self.prior(theta)[0]

        best: tuple[Theta, float] | None = None
        for start in self._best_starts(first_look) or [initial_theta]:
            found = self._climb(cost, start, np.asarray(bounds), best)
            best = found if best is None or found[1] < best[1] else best
        return best or (initial_theta, np.inf)

    def _best_starts(self, look: Callable[[Theta], float]) -> list[Theta]:
        """The best of every group, the best of all first."""
        if len(self.starts) == 1 and len(self.starts[0]) == 1:
            return list(self.starts[0])
        seen = [
            [(look(theta), index) for index, theta in enumerate(group)] for group in self.starts
        ]
        winners = [(*min(values), group) for values, group in zip(seen, self.starts, strict=True)]
        return [group[index] for _, index, group in sorted(winners, key=lambda winner: winner[0])]

    def _climb(
        self, cost: Cost, start: Theta, bounds: FloatArray, best: tuple[Theta, float] | None
    ) -> tuple[Theta, float]:
        prior, information = self.prior, self.information
        if information is None or not isinstance(prior, GaussianPrior):
            return _climb_by_gradient(cost, start, bounds)

        def curvature(theta: Theta) -> FloatArray:
            return information(theta) + prior.curvature

        def hopeless(theta: Theta, value: float, promised: float) -> bool:
            """Whether it leads to the last climb's optimum, or can hardly get as far."""
            if best is None:
                return False
            gap = np.linalg.norm((theta - best[0]) / prior.scale)
            return value - 2 * promised > best[1] or bool(gap < 0.3 * whole)

        whole = 0.0 if best is None else np.linalg.norm((start - best[0]) / prior.scale)
        return _climb_by_scoring(cost, curvature, start, bounds, hopeless)


def _climb_by_gradient(cost: Cost, start: Theta, bounds: FloatArray) -> tuple[Theta, float]:
    found = minimize(
        cost, start, jac=True, method="L-BFGS-B", bounds=Bounds(bounds[:, 0], bounds[:, 1])
    )
    return found.x, float(found.fun)


def _climb_by_scoring(
    cost: Cost,
    curvature: Callable[[Theta], FloatArray],
    start: Theta,
    bounds: FloatArray,
    hopeless: Callable[[Theta, float, float], bool],
) -> tuple[Theta, float]:
    """Newton's method with the expected curvature, which is positive definite everywhere."""
    theta = start
    value, slope = cost(theta)
    for _ in range(MOST_STEPS):
        outward = ((theta <= bounds[:, 0]) & (slope > 0)) | ((theta >= bounds[:, 1]) & (slope < 0))
        step = _newton_step(curvature(theta), slope, outward)
        promised = -float(step @ slope)
        if promised < ENOUGH or hopeless(theta, value, promised):
            break
        for length in 0.4 ** np.arange(12):
            new_theta = np.clip(theta + length * step, bounds[:, 0], bounds[:, 1])
            new_value, new_slope = cost(new_theta)
            if new_value <= value - 1e-4 * length * promised:
                break
        else:
            break  # rounding leaves nothing to gain
        gained = value - new_value
        theta, value, slope = new_theta, new_value, new_slope
        if gained < 0.1 * ENOUGH:
            break
    return theta, value


def _newton_step(curvature: FloatArray, slope: Theta, held: npt.NDArray[np.bool_]) -> Theta:
    """The step to the optimum of the quadratic, leaving alone what is held at a bound."""
    if held.any():
        curvature = np.where(
            held[:, None] | held[None, :], np.diag(curvature.diagonal()), curvature
        )
        slope = np.where(held, 0.0, slope)
    lower, failed = dpotrf(curvature, lower=1)
    if failed:  # only by rounding: the diagonal alone still points downhill
        return -slope / curvature.diagonal()
    step, _ = dpotrs(lower, -slope, lower=1)
    return np.asarray(step)


# ---------------------------------------------------------------------------------------------
# The regressor


class SpectralGaussianProcess(GaussianProcessRegressor):  # type: ignore[misc]  # has no types
    """A Gaussian process over the nodes of a subgraph, given by their row numbers.

    Args:
        kernel: ``"auto"``, one of the paper's kernels by name (with an amplitude and noise), or any
            scikit-learn kernel, such as ``ConstantKernel() * Diffusion(spectrum) + WhiteKernel()``.
        spectrum: the subgraph's eigenpairs, for a kernel given by name.
        alpha: a little variance added to every observation, on the standardised scale, against rounding.
        optimizer: how to find the hyperparameters. ``"map"`` maximises likelihood × prior from several
            starts; None keeps those of the kernel; ``"fmin_l_bfgs_b"`` or a callable as in scikit-learn.
        prior: for ``"map"``: ``"weak"`` (:func:`weak_prior`), None, or a callable that takes theta and
            gives the log density and its gradient.
        n_restarts_optimizer: how many more starts ``"map"`` draws at random around the kernel's own.
        normalize_y: whether to standardise the values; without, 0 and 1 are their prior mean and scale.
        random_state: for those starts.

    Attributes:
        kernel_: the kernel with the hyperparameters found. For ``"auto"``, at the noise level of most
            evidence and without the amplitude, which is integrated out.
        standardisation_: how the values were standardised.
        log_marginal_likelihood_value_: the log-likelihood of the standardised values. For ``"auto"``, that
            of the whole average.
    """

    _parameter_constraints: dict[str, list[object]] = {  # noqa: RUF012 (scikit-learn's own way)
        "kernel": [StrOptions(set(KERNEL_NAMES)), Kernel],
        "spectrum": [Spectrum, None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "optimizer": [StrOptions({"map", "fmin_l_bfgs_b"}), callable, None],
        "prior": [StrOptions({"weak"}), callable, None],
        "n_restarts_optimizer": [Interval(Real, 0, None, closed="left")],
        "normalize_y": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        spectrum: Spectrum | None = None,
        alpha: float = 1e-6,
        optimizer: Any = "map",
        prior: Prior | Literal["weak"] | None = "weak",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = True,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.spectrum = spectrum
        self.alpha = alpha
        self.optimizer = optimizer
        self.prior = prior
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.random_state = random_state

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        reference: npt.ArrayLike | None = None,
        noise: npt.ArrayLike | None = None,
        start: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from the values y at the rows X.

        Args:
            X: row numbers, a column or a plain list.
            y: the values observed there.
            reference: values to standardise by instead of y: those of the whole run, of which only some
                lie in the subgraph.
            noise: the known variance of each observation, in the square of y's units. What is left over
                is fitted all the same. ``"auto"`` takes it as relative to an amplitude of 1.
            start: a theta to start from: ``kernel_.theta`` of the last fit on this subgraph.

        Raises:
            ModelError: X, y, reference, noise or start do not fit, the kernel is a name without a
                spectrum, or the covariance cannot be decomposed.
        """
        self._validate_params()
        inputs, values = _inputs(X), _finite(y, "value")
        if len(inputs) != len(values):
            raise ModelError(f"{len(values)} values at {len(inputs)} rows: expected as many")
        self._standardise(values if reference is None else reference)
        self.kernel_ = self._initial_kernel()
        self.n_features_in_ = inputs.shape[1]
        standard = self.standardisation_.standard(values)
        with _one_thread():
            self._observe(inputs, standard, self._known_noise(noise, len(values)))
            self._condition(self._thetas(start))
        return self

    def _standardise(self, reference: npt.ArrayLike) -> None:
        self.standardisation_ = (
            Standardisation.of(reference) if self.normalize_y else Standardisation()
        )

    def _initial_kernel(self) -> Kernel:
        if not isinstance(self.kernel, str):
            return clone(self.kernel)
        if self.spectrum is None:
            raise ModelError(f"the kernel {self.kernel!r} needs a spectrum: give spectrum=")
        if self.kernel == "auto":
            spectral = Diffusion.scaled(self.spectrum)
            spectral.beta_bounds = "fixed"
            return ConstantKernel(1.0, "fixed") + spectral + WhiteKernel(NUGGETS[1], (1e-6, 10.0))
        named = KERNELS[self.kernel](self.spectrum)
        return ConstantKernel(1.0, (1e-3, 1e3)) * named + WhiteKernel(0.05, (1e-6, 10.0))

    @property
    def _amplitude(self) -> _InverseGamma | None:
        automatic = isinstance(self.kernel, str) and self.kernel == "auto"
        return _InverseGamma(2.0, 2.0) if automatic else None

    def _known_noise(self, noise: npt.ArrayLike | None, count: int) -> FloatArray:
        """The variance of each observation that is not fitted, on the standardised scale."""
        if noise is None:
            return np.full(count, float(self.alpha))
        given = _finite(np.atleast_1d(noise), "noise variance")
        if len(given) not in (1, count) or (given < 0).any():
            raise ModelError(
                f"{len(given)} noise variances from {given.min()} up: expected {count} from 0 up"
            )
        scale = self.standardisation_.scale
        # Two divisions: the square of a scale of 1e-200 would be 0.
        return np.broadcast_to(given / scale / scale + self.alpha, count).copy()

    def _observe(self, inputs: FloatArray, standard: FloatArray, noise: FloatArray) -> None:
        self.X_train_ = inputs
        self.y_train_ = standard
        self.noise_ = noise
        self._covariance = _covariance(self.kernel_, inputs)
        self._last: tuple[bytes, _Solved | None] | None = None

    def _thetas(self, start: npt.ArrayLike | None) -> list[Theta]:
        """The hyperparameters to average over: three noise levels, or the best ones alone."""
        if self._amplitude is not None:
            return [np.log([nugget]) for nugget in NUGGETS]
        initial = _theta(self.kernel_)
        if start is not None:
            given = np.asarray(start, dtype=np.float64)
            if given.shape != initial.shape:
                raise ModelError(
                    f"a start with {given.size} hyperparameters: the kernel has {initial.size}"
                )
        if self.optimizer is None or not initial.size:
            return [initial if start is None else given]
        bounds = _bounds(self.kernel_)
        warm = None if start is None else np.clip(given, bounds[:, 0], bounds[:, 1])
        first = initial if warm is None else warm
        theta, _ = self._optimizer(warm)(self._cost, first, bounds=bounds)
        return [np.asarray(theta)]

    def _optimizer(self, warm: Theta | None) -> Objective:
        if callable(self.optimizer):
            given: Objective = self.optimizer
            return given
        if self.optimizer != "map":
            return MapOptimizer()
        prior = weak_prior(self.kernel_) if self.prior == "weak" else self.prior
        starts = starting_points(self.kernel_) if warm is None else [[warm]]
        if len(self.y_train_) > MULTIMODAL_UP_TO:
            starts = starts[:1]
        starts += [[start] for start in self._random_starts()]
        return MapOptimizer(prior, starts, information=self._information())

    def _random_starts(self) -> list[Theta]:
        if not self.n_restarts_optimizer:
            return []
        generator = check_random_state(self.random_state)
        theta, bounds = _theta(self.kernel_), _bounds(self.kernel_)
        draws = generator.normal(theta, 3.0, size=(int(self.n_restarts_optimizer), len(theta)))
        return list(np.clip(draws, bounds[:, 0], bounds[:, 1]))

    def _cost(self, theta: Theta, eval_gradient: bool = True) -> Any:
        """The negative log-likelihood, with its gradient: what optimisers minimise."""
        solved = self._solve_at(theta)
        if solved is None:
            return (np.inf, np.zeros(len(theta))) if eval_gradient else np.inf
        if not eval_gradient:
            return -solved.evidence
        return -solved.evidence, -self._covariance.gradient(theta, solved)

    def _information(self) -> Callable[[Theta], FloatArray] | None:
        """The expected curvature of the likelihood as a function, where it is cheap to have."""
        covariance = self._covariance
        if not isinstance(covariance, _SpectralCovariance):
            return None

        def information(theta: Theta) -> FloatArray:
            solved = self._solve_at(theta)
            if solved is None:  # nothing to go by but the prior
                return np.zeros((len(theta), len(theta)))
            return covariance.information(theta, solved)

        return information

    def _solve_at(self, theta: Theta) -> _Solved | None:
        key = theta.tobytes()
        if self._last is None or self._last[0] != key:
            covariance = self._covariance.observed(theta)
            covariance.ravel()[:: len(covariance) + 1] += self.noise_
            self._last = (key, _solve(covariance, self.y_train_, self._amplitude))
        return self._last[1]

    def _condition(self, thetas: Sequence[Theta]) -> None:
        pairs = [(theta, self._solve_at(theta)) for theta in thetas]
        found = [(theta, solved) for theta, solved in pairs if solved is not None]
        if not found:
            raise ModelError(
                f"the covariance of {self.kernel_} is not positive definite: "
                "add a WhiteKernel or raise alpha"
            )
        evidence = np.array([solved.evidence for _, solved in found])
        shares = np.exp(evidence - evidence.max())
        total = float(evidence.max() + np.log(shares.sum()))
        shares /= shares.sum()
        self._components = [
            _Component(theta, solved, float(share))
            for (theta, solved), share in zip(found, shares, strict=True)
        ]
        self.log_marginal_likelihood_value_ = total - float(np.log(len(thetas)))
        best = found[int(np.argmax(evidence))][0]
        _set_theta(self.kernel_, best)

    def predict(
        self,
        X: npt.ArrayLike,
        return_std: bool = False,
        return_cov: bool = False,
    ) -> Any:
        """The expected values at the rows X, and how uncertain a new measurement there is.

        Args:
            X: row numbers, a column or a plain list.
            return_std: whether to return the standard deviations, too: fitted noise is part of them.
            return_cov: whether to return the covariance matrix instead.

        Raises:
            ModelError: something is not a row, or both were asked for.
        """
        if return_std and return_cov:
            raise ModelError("return_std and return_cov: at most one of them can be had")
        inputs = _inputs(X)
        if not hasattr(self, "kernel_"):
            return self._prior(inputs, return_std, return_cov)
        with _one_thread():
            mean, spread = self._moments(inputs, joint=return_cov, spread=return_std or return_cov)
        original = self.standardisation_.original(mean)
        scale = self.standardisation_.scale
        if return_cov:
            return original, spread * scale * scale
        return (original, np.sqrt(spread) * scale) if return_std else original

    def posterior(self, rows: npt.ArrayLike | None = None) -> Posterior:
        """What the model believes about these rows, or about every node of the subgraph.

        Raises:
            ModelError: something is not a row, or the kernel has no subgraph.
        """
        if rows is None:
            rows = np.arange(len(self._subgraph()))
        mean, std = self.predict(rows, return_std=True)
        return Posterior(mean, std)

    def believing(self, rows: npt.ArrayLike) -> "SpectralGaussianProcess":
        """A model that has observed its own expectation at these rows (Kriging believer).

        The standardisation and the hyperparameters stay (``"auto"`` weighs its noise levels anew).

        Raises:
            ModelError: something is not a row, or the model has not been fitted.
        """
        self._check_fitted()
        model = copy.copy(self)
        if not np.size(rows):
            return model
        inputs = _inputs(rows)
        model.kernel_ = clone(self.kernel_)
        with _one_thread():
            mean, _ = self._moments(inputs, joint=False, spread=False)
            model._observe(
                np.concatenate([self.X_train_, inputs]),
                np.concatenate([self.y_train_, mean]),
                np.concatenate([self.noise_, np.full(len(inputs), float(self.alpha))]),
            )
            model._condition([component.theta for component in self._components])
        return model

    def sample_y(
        self,
        X: npt.ArrayLike,
        n_samples: int = 1,
        random_state: Any = 0,
    ) -> FloatArray:
        """Draw measurements at the rows X together, one column per sample.

        They are normal with the mean and the covariance that :meth:`predict` gives.

        Args:
            X: row numbers, a column or a plain list.
            n_samples: how many.
            random_state: a numpy Generator, or what scikit-learn takes.

        Raises:
            ModelError: something is not a row.
        """
        mean, covariance = self.predict(X, return_cov=True)
        if not isinstance(random_state, np.random.Generator):
            random_state = check_random_state(random_state)
        # Relative to the largest variance, so that units of 1e12 or 1e-12 are all the same.
        largest = float(covariance.diagonal().max())
        values, vectors = np.linalg.eigh(covariance / largest)
        root = vectors * np.sqrt(np.maximum(values, 0.0) * largest)
        draws = root @ random_state.standard_normal((len(mean), n_samples))
        return np.asarray(mean[:, None] + draws)

    def log_marginal_likelihood(
        self,
        theta: npt.ArrayLike | None = None,
        eval_gradient: bool = False,
        clone_kernel: bool = True,
    ) -> Any:
        """The log-likelihood of the standardised values at theta, without any prior.

        Args:
            theta: the hyperparameters. Without them it is the one of the fitted model.
            eval_gradient: whether to return the gradient by theta, too.
            clone_kernel: of no effect here, ``kernel_`` never changes; for scikit-learn's callers.

        Raises:
            ModelError: the model has not been fitted, or there is no theta for the gradient.
        """
        del clone_kernel
        self._check_fitted()
        if theta is None:
            if eval_gradient:
                raise ModelError("the gradient of the likelihood needs a theta")
            return self.log_marginal_likelihood_value_
        with _one_thread():
            result = self._cost(np.asarray(theta, dtype=np.float64), eval_gradient)
        return (-result[0], -result[1]) if eval_gradient else -result

    def _check_fitted(self) -> None:
        if not hasattr(self, "kernel_"):
            raise ModelError("the model has observed nothing yet: call fit first")

    def _subgraph(self) -> Spectrum:
        kernel = self.kernel_ if hasattr(self, "kernel_") else self._initial_kernel()
        for leaf in _leaves(kernel):
            if isinstance(leaf, SpectralKernel):
                return leaf.spectrum
        raise ModelError("the kernel has no subgraph: name the rows to predict")

    def _prior(self, inputs: FloatArray, return_std: bool, return_cov: bool) -> Any:
        """What is believed before anything was observed."""
        kernel, mean = self._initial_kernel(), np.zeros(len(inputs))
        if return_cov:
            return mean, kernel(inputs)
        return (mean, np.sqrt(kernel.diag(inputs))) if return_std else mean

    def _moments(
        self, inputs: FloatArray, *, joint: bool, spread: bool
    ) -> tuple[FloatArray, FloatArray]:
        """The mean and the variances, or the covariance if ``joint``, on the standardised scale."""
        features = self._covariance.features(inputs)
        means = np.empty((len(self._components), len(inputs)))
        shape = (len(inputs), len(inputs)) if joint else (len(inputs),)
        second = np.zeros(shape)
        for mean, component in zip(means, self._components, strict=True):
            mean[:], own = self._component_moments(component, features, joint, spread)
            if spread:
                second += component.share * own
        shares = np.array([component.share for component in self._components])
        mean = shares @ means
        if spread and len(means) > 1:  # the components disagree about the mean
            apart = means - mean
            second += (apart.T * shares) @ apart if joint else shares @ np.square(apart)
        return mean, second

    def _component_moments(
        self, component: _Component, features: FloatArray, joint: bool, spread: bool
    ) -> tuple[FloatArray, FloatArray]:
        theta, solved = component.theta, component.solved
        half, _ = dtrtrs(solved.lower, self._covariance.cross(theta, features), lower=1)
        mean = solved.whitened @ half
        if not spread:
            return mean, mean
        variances, noise = self._covariance.variance(theta, features)
        variances = variances - np.einsum("ij,ij->j", half, half)
        np.maximum(variances, SMALLEST_VARIANCE, out=variances)
        variances += noise
        if not joint:
            return mean, solved.amplitude * variances
        covariance = self._covariance.full(theta, features) - half.T @ half
        np.fill_diagonal(covariance, variances)
        return mean, solved.amplitude * covariance


def _inputs(X: npt.ArrayLike) -> FloatArray:
    """The rows as a column; other kernels' inputs as they are."""
    given = np.asarray(X)
    if given.ndim == 1:
        given = given[:, None]
    if given.ndim != 2 or given.dtype.kind not in "iuf" or not given.size:
        raise ModelError(
            f"the input has shape {given.shape} and type {given.dtype}: expected rows by number"
        )
    return given
