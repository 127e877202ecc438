"""What is known of every node beforehand, as a kernel: values rise or fall with it."""

# ruff: noqa: N803 (X and Y are scikit-learn's names)

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.gaussian_process.kernels import Kernel

from graphbo.search.modes import rows_of
from graphbo.types import FloatArray

__all__ = ["Trend"]


class Trend(Kernel):  # type: ignore[misc]  # scikit-learn publishes no types
    """The covariance x_i · x_j of a function that is linear in a feature x of the nodes.

    It has no hyperparameters: how steep the trend is, is a ``ConstantKernel`` in front.

    Attributes:
        feature: x, by row: a number each, or several, as of an embedding.
    """

    def __init__(self, feature: FloatArray) -> None:
        self.feature = feature

    def __call__(self, X: npt.ArrayLike, Y: Any = None, eval_gradient: bool = False) -> Any:
        """The covariances of the rows X with the rows Y, or among themselves."""
        own = self.of(X)
        covariance = own @ (own if Y is None else self.of(Y)).T
        return (covariance, np.empty((*covariance.shape, 0))) if eval_gradient else covariance

    @property
    def columns(self) -> int:
        """How many numbers x is made of."""
        return 1 if self.feature.ndim == 1 else int(self.feature.shape[1])

    def of(self, X: npt.ArrayLike) -> FloatArray:
        """The feature at the rows X, in columns.

        Raises:
            ModelError: something is not a row.
        """
        return self.feature[rows_of(X, len(self.feature))].reshape(-1, self.columns)

    def diag(self, X: npt.ArrayLike) -> FloatArray:
        """The variances at the rows X."""
        variances: FloatArray = np.square(self.of(X)).sum(axis=1)
        return variances

    def is_stationary(self) -> bool:
        """Variances differ from node to node."""
        return False

    def __repr__(self) -> str:
        return "Trend()"
