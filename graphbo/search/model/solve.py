"""One covariance of the observations: its decomposition, and the evidence of their values under it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri, dtrtrs
from scipy.special import gammaln
from threadpoolctl import ThreadpoolController

from graphbo.types import FloatArray

__all__ = ["InverseGamma", "Solved", "add_to_diagonal", "one_thread", "solve"]

LOG_2PI = float(np.log(2 * np.pi))


def one_thread() -> AbstractContextManager[Any]:
    """Matrices of this size get slower with every further BLAS thread."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@cache
def _controller() -> ThreadpoolController:
    # Looking for the loaded libraries takes as long as a fit, so it is done once.
    return ThreadpoolController()


def add_to_diagonal(matrix: FloatArray, values: FloatArray | float) -> None:
    """Add in place to the diagonal of a matrix in C order: of any other, ravel makes a copy."""
    matrix.ravel()[:: len(matrix) + 1] += values


@dataclass(frozen=True)
class InverseGamma:
    """The prior of an amplitude that is integrated out; y is then multivariate Student-t."""

    shape: float
    scale: float


@dataclass(frozen=True)
class Solved:
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


def solve(covariance: FloatArray, y: FloatArray, amplitude: InverseGamma | None) -> Solved | None:
    """Decompose a covariance, overwriting it; None if rounding has left it without a decomposition."""
    # Symmetric, so the transpose is the same matrix, but in the order that LAPACK need not copy.
    lower, failed = dpotrf(covariance.T, lower=1, clean=1, overwrite_a=1)
    if failed:
        return None
    whitened, _ = dtrtrs(lower, y, lower=1)
    square = float(whitened @ whitened)
    log_root = float(np.log(lower.diagonal()).sum()) + 0.5 * len(y) * LOG_2PI
    if amplitude is None:
        return Solved(lower, whitened, -0.5 * square - log_root)
    shape, scale = amplitude.shape + 0.5 * len(y), amplitude.scale + 0.5 * square
    evidence = amplitude.shape * np.log(amplitude.scale) - gammaln(amplitude.shape)
    evidence += gammaln(shape) - shape * np.log(scale) - log_root
    return Solved(lower, whitened, float(evidence), scale / shape, shape / scale)
