"""Random graphs as arrays of edges, up to millions of nodes.

Up to ``EXACT`` nodes they are networkx's own. Beyond, where networkx would need minutes and gigabytes, they are drawn
with arrays. Those differ from networkx's in one respect: a node of a Barabási-Albert graph that draws the same
neighbour twice has one edge less, which happens to the oldest nodes only, and whether a rewired edge of a
Watts-Strogatz graph exists already is looked up in all edges, not in those that were drawn before.
"""

from typing import Final

import networkx as nx
import numpy as np

from graphbo.types import IntArray

__all__ = ["EXACT", "barabasi_albert", "edges_of", "watts_strogatz"]

#: Up to so many nodes, nothing is approximated.
EXACT: Final = 10_000


def edges_of(graph: "nx.Graph[int]") -> IntArray:
    """The edges of a graph on 0 … n-1, one row each, without self-loops."""
    edges = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
    return np.asarray(edges[edges[:, 0] != edges[:, 1]])


def barabasi_albert(n: int, m: int, seed: int) -> IntArray:
    """Nodes that come one by one; each connects to m of those there are, who have many to those who have many."""
    if n <= EXACT:
        return edges_of(nx.barabasi_albert_graph(n, m, seed=seed))
    return _attached(n, m, np.random.default_rng([seed, 1]))


def watts_strogatz(n: int, k: int, p: float, seed: int) -> IntArray:
    """A ring of nodes with k neighbours each, a share p of whose edges leads elsewhere."""
    if n <= EXACT:
        return edges_of(nx.watts_strogatz_graph(n, k, p, seed=seed))
    return _rewired(n, k, p, np.random.default_rng([seed, 1]))


def _attached(n: int, m: int, rng: np.random.Generator) -> IntArray:
    """Each end of an earlier edge is equally likely to be the end of a new one; that makes it preferential.

    The ends of edge e are at the places 2e and 2e+1. The first m edges are a star, as in networkx. The second end of
    any other is a copy of an earlier place, drawn at random; copies of copies are followed until there are none.
    """
    edge = np.arange(m * (n - m), dtype=np.int64)
    ends = np.empty(2 * len(edge), dtype=np.int64)
    ends[0::2] = edge // m + m
    ends[0 : 2 * m : 2] = 0
    ends[1 : 2 * m : 2] = np.arange(1, m + 1)
    copied = np.arange(len(ends))
    copied[2 * m + 1 :: 2] = rng.integers(2 * m * (edge[m:] // m))
    while True:
        further = copied[copied]
        if np.array_equal(further, copied):
            break
        copied = further
    return _once(ends[copied].reshape(-1, 2), n)


def _rewired(n: int, k: int, p: float, rng: np.random.Generator) -> IntArray:
    first = np.tile(np.arange(n, dtype=np.int64), k // 2)
    second = (first + np.repeat(np.arange(1, k // 2 + 1), n)) % n
    # Those that stay come first, so that they are the ones to be kept when an edge is there twice.
    moved = rng.random(len(first)) < p
    order = np.argsort(moved, kind="stable")
    first, second = first[order], second[order]
    again = np.arange(len(first) - int(moved.sum()), len(first))
    while len(again):
        second[again] = rng.integers(n, size=len(again))
        again = _repeated(first, second, n)
    return np.column_stack([first, second])


def _repeated(first: IntArray, second: IntArray, n: int) -> IntArray:
    """The rows of self-loops, and of edges that an earlier row has."""
    pairs = np.minimum(first, second) * n + np.maximum(first, second)
    _, at = np.unique(pairs, return_index=True)
    bad = np.ones(len(pairs), dtype=bool)
    bad[at] = False
    return np.flatnonzero(bad | (first == second))


def _once(edges: IntArray, n: int) -> IntArray:
    """Each pair once, whatever its direction."""
    low, high = edges.min(axis=1), edges.max(axis=1)
    low, high = np.divmod(np.unique(low * n + high), n)
    return np.column_stack([low, high])
