"""A Gaussian process with a composed kernel at one theta, conditioned on observations: for any kernel."""

# ruff: noqa: N803 (X is scikit-learn's name)

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dtrtri
from sklearn.gaussian_process.kernels import Kernel

from graphbo.search.model.algebra import (
    SMALLEST_VARIANCE,
    add_to_diagonal,
    cholesky,
    half_log_determinant,
    whiten,
)
from graphbo.search.model.composed.theta import Theta
from graphbo.search.model.parts import Additive, Parts
from graphbo.types import FloatArray

__all__ = ["AtTheta", "OfAnyKernel"]


class AtTheta(ABC):
    """A Gaussian process at one theta, conditioned on observations.

    Args:
        covariance: of the observations, fitted noise included; a new array in C order.
        y: their standardised values.
        noise: the known variance of each.

    Attributes:
        lower: L, with LLᵀ the covariance of the observations and all their noise.
        whitened: L⁻¹y.
        evidence: the log marginal likelihood.

    Raises:
        numpy.linalg.LinAlgError: the covariance cannot be decomposed.
    """

    def __init__(self, covariance: FloatArray, y: FloatArray, noise: FloatArray) -> None:
        self.y, self.known_noise = y, noise
        add_to_diagonal(covariance, noise)
        self.lower = cholesky(covariance)
        self.whitened = whiten(self.lower, y)
        square = float(self.whitened @ self.whitened)
        self.evidence = -0.5 * square - half_log_determinant(self.lower)

    @cached_property
    def inverse(self) -> FloatArray:
        """L⁻¹."""
        inverse, _ = dtrtri(self.lower, lower=1)
        return np.asarray(inverse)

    @abstractmethod
    def gradient(self) -> Theta:
        """The gradient of the evidence by theta."""

    @abstractmethod
    def parts(self, X: FloatArray) -> Parts:
        """What the means at X are sums of."""

    @abstractmethod
    def moments(self, X: FloatArray, *, joint: bool) -> tuple[FloatArray, FloatArray]:
        """The mean and the variances of measurements at X, or their covariance if ``joint``."""

    def _given(
        self,
        cross: FloatArray,
        variances: FloatArray,
        covariance: FloatArray | None,
        noise: float,
    ) -> tuple[FloatArray, FloatArray]:
        """The same from what was believed before.

        Args:
            cross: the covariances of the observed rows (down) with X (across).
            variances: those of X.
            covariance: that of X, if it is to be joint.
            noise: of a measurement, unless it is part of the variances.
        """
        half = whiten(self.lower, cross)
        left = variances - np.einsum("ij,ij->j", half, half)
        spread = np.maximum(left, SMALLEST_VARIANCE) + noise
        if covariance is not None:
            diagonal, spread = spread, covariance - half.T @ half
            np.fill_diagonal(spread, diagonal)
        return self.whitened @ half, spread


class OfAnyKernel(AtTheta):
    """For any scikit-learn kernel: its gradient takes a matrix of N × N per hyperparameter."""

    def __init__(self, kernel: Kernel, X: FloatArray, y: FloatArray, noise: FloatArray) -> None:
        self._kernel = kernel
        self._X = X
        # A copy: a user's own kernel may give any order, or keep what it gives.
        super().__init__(np.array(kernel(X), order="C"), y, noise)

    def gradient(self) -> Theta:
        """½ tr((K⁻¹y yᵀK⁻¹ − K⁻¹) ∂K) for every hyperparameter."""
        _, by_theta = self._kernel(self._X, eval_gradient=True)
        solution = self.inverse.T @ self.whitened
        inner = np.outer(solution, solution) - self.inverse.T @ self.inverse
        return np.asarray(0.5 * np.einsum("ij,ijk->k", inner, by_theta))

    def parts(self, X: FloatArray) -> Parts:
        """See :class:`AtTheta`. What such a kernel is made of cannot be known: all comes through the observations."""
        nothing = np.empty((len(self._X), 0))
        additive = Additive(
            nothing, np.empty(0), (), (), np.array(self._kernel(self._X)), self.known_noise, self.y
        )
        return additive.parts(np.empty((len(X), 0)), np.asarray(self._kernel(self._X, X)))

    def moments(self, X: FloatArray, *, joint: bool) -> tuple[FloatArray, FloatArray]:
        """See :class:`AtTheta`. Noise is part of the variances: it cannot be told apart."""
        return self._given(
            cross=np.asarray(self._kernel(self._X, X)),
            variances=np.asarray(self._kernel.diag(X)),
            covariance=np.asarray(self._kernel(X)) if joint else None,
            noise=0.0,
        )
