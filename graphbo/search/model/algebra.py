"""The linear algebra of both models: what LAPACK calls otherwise, and with the arguments that keep it fast."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs
from threadpoolctl import ThreadpoolController

from graphbo.types import FloatArray

__all__ = [
    "SMALLEST_VARIANCE",
    "add_to_diagonal",
    "cholesky",
    "half_log_determinant",
    "one_thread",
    "whiten",
]

#: The smallest variance left at a node, on the standardised scale: rounding must not turn it negative.
SMALLEST_VARIANCE = 1e-9

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


def cholesky(covariance: FloatArray) -> FloatArray:
    """L with LLᵀ = the covariance, which it overwrites.

    Raises:
        numpy.linalg.LinAlgError: rounding has left it without a decomposition.
    """
    # Symmetric, so the transpose is the same matrix, but in the order that LAPACK need not copy.
    lower, failed = dpotrf(covariance.T, lower=1, clean=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("not positive definite")
    return np.asarray(lower)


def whiten(lower: FloatArray, values: FloatArray) -> FloatArray:
    """L⁻¹ times values."""
    whitened, _ = dtrtrs(lower, values, lower=1)
    return np.asarray(whitened)


def half_log_determinant(lower: FloatArray) -> float:
    """½ log |2πLLᵀ|."""
    return float(np.log(lower.diagonal()).sum()) + 0.5 * len(lower) * LOG_2PI
