"""The covariance of the observations as a function of theta: what models need, for any kernel."""

# ruff: noqa: N803 (X is scikit-learn's name)

from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Kernel

from graphbo.search.model.solve import Solved
from graphbo.search.model.theta import Theta, set_theta
from graphbo.types import FloatArray

__all__ = ["AnyCovariance", "Covariance"]


class Covariance(Protocol):
    """The covariance between observed nodes, and between them and others, at any theta."""

    def observed(self, theta: Theta) -> FloatArray:
        """The covariance of the observations, their fitted noise included: a new array in C order."""

    def gradient(self, theta: Theta, solved: Solved) -> Theta:
        """The gradient of the evidence by theta."""

    def features(self, X: FloatArray) -> FloatArray:
        """What the next three need to know about the nodes in X, whatever theta is."""

    def cross(self, theta: Theta, features: FloatArray) -> FloatArray:
        """Covariances of the observed nodes (rows) with others (columns)."""

    def variance(self, theta: Theta, features: FloatArray) -> tuple[FloatArray, float]:
        """The variances of nodes, and the noise of a measurement where it is apart."""

    def full(self, theta: Theta, features: FloatArray) -> FloatArray:
        """The covariance of measurements at nodes."""


class AnyCovariance:
    """Of any scikit-learn kernel: p matrices of N × N for the gradient."""

    def __init__(self, kernel: Kernel, X: FloatArray) -> None:
        self._kernel = clone(kernel)
        self._X = X

    def _at(self, theta: Theta) -> Any:
        set_theta(self._kernel, theta)
        return self._kernel

    def observed(self, theta: Theta) -> FloatArray:
        """The kernel's matrix, copied: a user's own may come in any order, or be kept there."""
        return np.array(self._at(theta)(self._X), order="C")

    def gradient(self, theta: Theta, solved: Solved) -> Theta:
        """½ tr((pull K⁻¹y yᵀK⁻¹ − K⁻¹) ∂K) for every hyperparameter."""
        _, by_theta = self._at(theta)(self._X, eval_gradient=True)
        solution = solved.inverse.T @ solved.whitened
        inner = solved.pull * np.outer(solution, solution) - solved.inverse.T @ solved.inverse
        return np.asarray(0.5 * np.einsum("ij,ijk->k", inner, by_theta))

    def features(self, X: FloatArray) -> FloatArray:
        """The input itself: nothing is known about what the kernel makes of it."""
        return X

    def cross(self, theta: Theta, features: FloatArray) -> FloatArray:
        """Covariances of the observed inputs (rows) with others (columns)."""
        return np.asarray(self._at(theta)(self._X, features))

    def variance(self, theta: Theta, features: FloatArray) -> tuple[FloatArray, float]:
        """The variances of measurements: the noise in them cannot be told apart."""
        return np.asarray(self._at(theta).diag(features)), 0.0

    def full(self, theta: Theta, features: FloatArray) -> FloatArray:
        """The covariance of measurements."""
        return np.asarray(self._at(theta)(features))
