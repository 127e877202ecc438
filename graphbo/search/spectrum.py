"""From a subgraph to the spectrum of its Laplacian: pure functions of an adjacency matrix.

The Laplacian is L̃ = ½(I − D^-½ A D^-½), halved so that its eigenvalues lie in [0, 1]. An isolated
node has a zero row, hence an eigenvalue of 0 and an eigenvector of its own. There are as many zero
eigenvalues as there are connected components, and that is all that sets a disconnected subgraph
apart.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from graphbo.errors import ModelError
from graphbo.types import FloatArray, IntArray, Subgraph

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["LARGEST_ORDER", "SMALLEST_ORDER", "Spectrum", "laplacian", "powers_of"]

#: Eigenvalues up to this belong to the zero modes. Rounding leaves about 1e-15; the smallest true
#: one of a path of a thousand nodes is 2e-6.
ZERO = 5e-9

#: The order of the polynomial kernels: with order 1 they would be the identity and learn nothing.
SMALLEST_ORDER, LARGEST_ORDER = 2, 5


def laplacian(adjacency: npt.ArrayLike) -> FloatArray:
    """L̃ = ½(I − D^-½ A D^-½) of a symmetric, non-negative adjacency matrix.

    The diagonal of A is ignored: a self-loop says nothing about how a node relates to others.

    Raises:
        ModelError: the matrix is empty, not square, not symmetric, or holds a weight that is
            negative or not finite.
    """
    return _laplacian(_checked(adjacency))


def _laplacian(weights: FloatArray) -> FloatArray:
    degrees = weights.sum(axis=1)
    connected = degrees > 0
    shrink = np.zeros(len(degrees))
    shrink[connected] = 1.0 / np.sqrt(degrees[connected])
    result = -0.5 * (shrink[:, None] * weights * shrink)
    np.fill_diagonal(result, 0.5 * connected)
    return result


def _checked(adjacency: npt.ArrayLike) -> FloatArray:
    """A copy without its diagonal, scaled to a largest weight of 1 so that no sum overflows."""
    weights = np.array(adjacency, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or not len(weights):
        raise ModelError(
            f"the adjacency matrix has shape {weights.shape}: expected (n, n) with n of at least 1"
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ModelError(
            "the adjacency matrix has negative or infinite weights: expected finite ones from 0 up"
        )
    if not np.array_equal(weights, weights.T):
        raise ModelError("the adjacency matrix is not symmetric: give max(W, Wᵀ)")
    np.fill_diagonal(weights, 0.0)
    largest = float(weights.max())
    if largest > 0:
        weights /= largest
    return weights


def _adjacency(graph: "nx.Graph[Any]", weight: str | None) -> FloatArray:
    """The symmetric weights of a networkx graph."""
    if not hasattr(graph, "number_of_nodes"):
        raise ModelError(f"the graph is a {type(graph).__name__}: expected a networkx graph")
    import networkx as nx  # noqa: PLC0415 - whoever has a graph of it has it

    if not graph.number_of_nodes():
        raise ModelError("the graph has no node")
    if weight is not None:
        value: Any
        for source, target, value in graph.edges(data=weight):
            if not isinstance(value, Real):
                raise ModelError(
                    f"the edge from {source!r} to {target!r} has the weight {value!r} in {weight!r}: expected a number"
                )
    matrix = nx.to_numpy_array(graph, weight=cast("str", weight))  # None counts each edge as 1
    return np.maximum(matrix, matrix.T)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigenpairs of a subgraph's Laplacian L̃, smoothest mode first.

    Attributes:
        eigenvalues: ascending, within [0, 1].
        eigenvectors: a column for each of them, a row for each candidate of the subgraph. Where connectors have rows
            in the adjacency matrix, they had some in the unit vectors as well: nobody asks for those.
        zeros: how many modes have the eigenvalue 0, the first ones: one per connected component.
        adjacency: what it was computed from, scaled to a largest weight of 1, without self-loops.
        largest_order: what the order η of the polynomial kernels is at most.
        nodes: what the user calls the rows; empty where they have numbers only.
    """

    eigenvalues: FloatArray
    eigenvectors: FloatArray
    zeros: int
    adjacency: FloatArray
    largest_order: int = LARGEST_ORDER
    nodes: tuple[Hashable, ...] = ()

    def __post_init__(self) -> None:
        if self.largest_order < SMALLEST_ORDER:
            raise ModelError(
                f"the largest order is {self.largest_order}: expected at least {SMALLEST_ORDER}"
            )

    @classmethod
    def of(
        cls,
        graph: "Subgraph | nx.Graph[Any]",
        largest_order: int = LARGEST_ORDER,
        *,
        weight: str | None = None,
    ) -> "Spectrum":
        """The spectrum of a graph, with a row for each of its nodes; of a subgraph, for each of its candidates.

        It takes all eigenpairs: a second for 1,000 nodes, minutes for 10,000.

        Args:
            graph: a networkx graph, or a subgraph. Where edges have directions, the larger weight of a pair counts;
                parallel ones add up.
            largest_order: what the order η of the polynomial kernels is at most.
            weight: the edge attribute with the weights of a networkx graph; each edge counts 1 without it.

        Raises:
            ModelError: the graph has no node, an edge has no weight or one that is no number from 0 up, or the order
                is too small.
        """
        if isinstance(graph, Subgraph):
            return cls.from_adjacency(graph.adjacency, largest_order, len(graph))
        found = cls.from_adjacency(_adjacency(graph, weight), largest_order)
        return replace(found, nodes=tuple(graph))

    @classmethod
    def from_adjacency(
        cls,
        adjacency: npt.ArrayLike,
        largest_order: int = LARGEST_ORDER,
        candidates: int | None = None,
    ) -> "Spectrum":
        """The spectrum of a symmetric, non-negative adjacency matrix, of whose rows so many are candidates.

        Raises:
            ModelError: the matrix is not one, or the order is too small.
        """
        weights = _checked(adjacency)
        eigenvalues, eigenvectors = np.linalg.eigh(_laplacian(weights))
        zeros = int(np.searchsorted(eigenvalues, ZERO))
        eigenvalues[:zeros] = 0.0
        np.clip(eigenvalues, 0.0, 1.0, out=eigenvalues)
        if candidates is not None and candidates < len(weights):
            eigenvectors = eigenvectors[:candidates].copy()
        for array in (eigenvalues, eigenvectors, weights):
            array.flags.writeable = False
        return cls(eigenvalues, eigenvectors, zeros, weights, largest_order)

    def __len__(self) -> int:
        return len(self.eigenvectors)

    def rows(self, nodes: Iterable[Hashable]) -> IntArray:
        """The row numbers of these nodes, which is how kernels and models know them.

        Raises:
            ModelError: the graph has no such node, or its rows have numbers only.
        """
        wanted = list(nodes)
        missing = [node for node in wanted if node not in self._row]
        if missing:
            raise ModelError(
                f"the graph has no node {missing[0]!r}: it has {len(self._row)} with names"
            )
        return np.array([self._row[node] for node in wanted], dtype=np.int64)

    @cached_property
    def _row(self) -> dict[Hashable, int]:
        return {node: row for row, node in enumerate(self.nodes)}

    @property
    def modes(self) -> int:
        """How many eigenpairs there are: as many as rows, and one for each connector."""
        return len(self.eigenvalues)

    def __repr__(self) -> str:
        return f"Spectrum({len(self)} nodes, {self.zeros} zero modes)"

    def __deepcopy__(self, memo: dict[int, object]) -> "Spectrum":
        # scikit-learn's `clone` copies what is not an estimator, and every fit clones. Nothing here
        # ever changes, so there is nothing to copy.
        return self

    @cached_property
    def order(self) -> int:
        """η = min(5, diameter), but at least 2: the order of the polynomial kernels. The 5 is ``largest_order``.

        The diameter is that of the widest component. Up to 5 it takes three matrix products; to know it exactly
        would take a search from every node.
        """
        _, component = connected_components(csr_array(self.adjacency), directed=False)
        pairs_in_reach = int((np.bincount(component) ** 2).sum())
        step = ((self.adjacency > 0) | np.eye(self.modes, dtype=np.bool_)).astype(np.float32)
        reached = step
        for hops in range(SMALLEST_ORDER, self.largest_order):
            reached = (reached @ step > 0).astype(np.float32)
            if np.count_nonzero(reached) == pairs_in_reach:
                return hops
        return self.largest_order

    @cached_property
    def powers(self) -> FloatArray:
        """λ^α of every eigenvalue, one row per power α = 0 … η − 1."""
        return powers_of(self.eigenvalues, self.order)


def powers_of(values: FloatArray, count: int) -> FloatArray:
    """The powers 0 to ``count`` − 1 of these values, one row per power."""
    powers = np.ones((count, len(values)))
    for power in range(1, count):
        np.multiply(powers[power - 1], values, out=powers[power])
    return powers
