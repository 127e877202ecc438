"""How central nodes are: betweenness and eigenvector centrality of large graphs."""

from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh

from graphbo.types import FloatArray, IntArray

__all__ = ["adjacency", "betweenness", "eigenvector"]

#: Numbers in each array of a block of sources: blocks that fit into a processor's cache are the fastest.
_BLOCK: Final = 250_000
_FEWEST_SOURCES: Final = 8
#: Below, ARPACK has no room.
_DENSE: Final = 32


def adjacency(edges: IntArray, n: int) -> Any:
    """The sparse, symmetric 0/1 matrix of edges that are there once."""
    ends = np.concatenate([edges, edges[:, ::-1]])
    return csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))


def betweenness(edges: IntArray, n: int, sources: IntArray | None = None) -> FloatArray:
    """The share of the shortest paths between others on which each node lies: Brandes' algorithm, by blocks of sources.

    Args:
        edges: one row each.
        n: how many nodes.
        sources: count only the paths that begin at these, which estimates the share; all nodes without it.
    """
    links = adjacency(edges, n)
    begin = np.arange(n) if sources is None else sources
    size = max(_BLOCK // n, _FEWEST_SOURCES)
    total = np.zeros(n)
    for first in range(0, len(begin), size):
        total += _through(links, begin[first : first + size])
    pairs = (n - 1) * (n - 2)
    return total * (n / max(len(begin), 1)) / max(pairs, 1)


def _through(links: Any, sources: IntArray) -> FloatArray:
    """How many shortest paths from the sources lead through each node; paths to one target share a weight of 1."""
    columns = np.arange(len(sources))
    paths = np.zeros((links.shape[0], len(sources)))
    paths[sources, columns] = 1.0
    fronts = [paths > 0]
    new = paths.copy()
    while fronts[-1].any():
        new = links @ new
        new[paths > 0] = 0.0
        fronts.append(new > 0)
        paths += new
    through = np.zeros_like(paths)
    for nearer, further in zip(fronts[-3:0:-1], fronts[-2:1:-1], strict=True):
        share = np.divide(1.0 + through, paths, out=np.zeros_like(paths), where=further)
        np.add(through, paths * (links @ share), out=through, where=nearer)
    return np.asarray(through.sum(axis=1))


def eigenvector(edges: IntArray, n: int) -> FloatArray:
    """The eigenvector of the largest eigenvalue of the adjacency matrix, of length 1, without negative entries."""
    links = adjacency(edges, n)
    if n <= _DENSE:
        vector = np.linalg.eigh(links.toarray())[1][:, -1]
    else:
        # A positive start is never orthogonal to the vector sought, whose entries are all of one sign.
        start = 1.0 + np.asarray(links.sum(axis=1))
        _, found = eigsh(links, k=1, which="LA", v0=start)
        vector = found[:, 0]
    return np.asarray(np.abs(vector))
