"""What an expected value is the sum of: a level, what is known of the node, and what each observation adds to it.

Values are y = Hβ + g + noise. H has a few functions of the nodes, with weights ω that say how much of each there may
be, and g is smooth on the graph. Given observations, Hβ is what is expected of a node without a look at its neighbours,
and what g adds at a node is

    k*ᵀ (K + N)⁻¹ (y − Hβ),

with K the covariance of g at the observed rows, k* that with the node, and N that of the noise. So each observation is
listened to by its element of k*ᵀ(K + N)⁻¹, and adds that much of how far it differs from what Hβ says of it: what is
measured near by speaks for a node if it is more than could be expected there. Nothing of this is an approximation:
with β the posterior mean of the coefficients, the sum is the posterior mean of the value.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphbo.search.model.algebra import add_to_diagonal, cholesky, whiten
from graphbo.types import FloatArray

__all__ = ["Additive", "Parts"]


@dataclass(frozen=True, eq=False)
class Parts:
    """What expected values are sums of, a column for each node that they are expected of.

    Attributes:
        level: what is expected of a node whatever is known of it, and whatever was measured near by.
        features: what each feature adds; a row for each.
        observations: what each observation adds; a row for each.
        weights: how much each observation is listened to: below zero where what is seen there speaks for the opposite
            here, as it does at the other end of the graph.
    """

    level: FloatArray
    features: FloatArray
    observations: FloatArray
    weights: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The sum: the expected values."""
        total: FloatArray = self.level + self.features.sum(axis=0) + self.observations.sum(axis=0)
        return total

    def scaled(self, location: float, scale: float) -> "Parts":
        """The same in other units."""
        return Parts(
            location + scale * self.level,
            scale * self.features,
            scale * self.observations,
            self.weights,
        )

    @classmethod
    def average(cls, shares: FloatArray, parts: Sequence["Parts"]) -> "Parts":
        """Those of several models that count so much each."""
        return cls(
            *(
                np.einsum("i,i...->...", shares, np.array([getattr(one, name) for one in parts]))
                for name in ("level", "features", "observations", "weights")
            )
        )


@dataclass(frozen=True, eq=False)
class Additive:
    """A Gaussian process as a sum, conditioned on observations.

    Attributes:
        columns: H at the observed rows.
        weights: ω, one for each column.
        level: which columns are the level.
        features: which columns are each feature.
        smooth: K, the covariance of g at the observed rows.
        noise: the variance of each observation's noise.
        y: the values.
    """

    columns: FloatArray
    weights: FloatArray
    level: Sequence[int]
    features: Sequence[Sequence[int]]
    smooth: FloatArray
    noise: FloatArray
    y: FloatArray

    def parts(self, columns: FloatArray, cross: FloatArray) -> Parts:
        """What the means of some nodes are sums of.

        Args:
            columns: H at these nodes.
            cross: the covariances of g between the observed rows (down) and these nodes (across).

        Raises:
            numpy.linalg.LinAlgError: the covariance cannot be decomposed.
        """
        apart = np.array(self.smooth, order="C")
        add_to_diagonal(apart, self.noise)
        together = apart + (self.columns * self.weights) @ self.columns.T
        beta = self.weights * (self.columns.T @ _solved(together, self.y))
        gain = _solved(apart, cross)
        each = columns * beta
        return Parts(
            level=each[:, list(self.level)].sum(axis=1),
            features=np.array([each[:, list(one)].sum(axis=1) for one in self.features]).reshape(
                len(self.features), len(columns)
            ),
            observations=gain * (self.y - self.columns @ beta)[:, None],
            weights=gain,
        )


def _solved(covariance: FloatArray, values: FloatArray) -> FloatArray:
    """The inverse of a covariance, which is overwritten, times values."""
    lower = cholesky(covariance)
    return np.asarray(np.linalg.solve(lower.T, whiten(lower, values)))
