"""What is known of every node beforehand, as a kernel: values rise or fall with it."""

# ruff: noqa: N803 (X and Y are scikit-learn's names)

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.gaussian_process.kernels import Kernel

from graphbo.search.kernels.base import rows_of
from graphbo.types import FloatArray

__all__ = ["Trend"]


class Trend(Kernel):  # type: ignore[misc]  # scikit-learn publishes no types
    """The covariance x_i x_j of a function that is proportional to a feature x of the nodes.

    It has no hyperparameters: how steep the trend is, is a ``ConstantKernel`` in front.

    Attributes:
        feature: x, by row.
    """

    def __init__(self, feature: FloatArray) -> None:
        self.feature = feature

    def __call__(self, X: npt.ArrayLike, Y: Any = None, eval_gradient: bool = False) -> Any:
        """The covariances of the rows X with the rows Y, or among themselves."""
        own = self.of(X)
        covariance = np.outer(own, own if Y is None else self.of(Y))
        return (covariance, np.empty((*covariance.shape, 0))) if eval_gradient else covariance

    def of(self, X: npt.ArrayLike) -> FloatArray:
        """The feature at the rows X.

        Raises:
            ModelError: something is not a row.
        """
        return self.feature[rows_of(X, len(self.feature))]

    def diag(self, X: npt.ArrayLike) -> FloatArray:
        """The variances at the rows X."""
        return np.square(self.of(X))

    def is_stationary(self) -> bool:
        """Variances differ from node to node."""
        return False

    def __repr__(self) -> str:
        return "Trend()"
