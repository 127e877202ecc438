"""The most central node of a random graph."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

import numpy as np

from graphbo.bench.tasks.base import Problem, Task
from graphbo.bench.tasks.graphs import EXACT, barabasi_albert, watts_strogatz
from graphbo.bench.tasks.measures import betweenness, eigenvector
from graphbo.bench.tasks.parameters import Within
from graphbo.types import FloatArray, IntArray

__all__ = ["Centrality"]

_MOST: Final = 10_000_000


@dataclass(frozen=True)
class Centrality(Task):
    """The most central node of a random graph.

    Betweenness is the share of the shortest paths between two others that lead through a node. In graphs of more than
    10,000 nodes only the paths from some random nodes are counted, the pivots: then the estimate is the function, and
    its optimum the optimum. Eigenvector centrality is exact in graphs of any size.
    """

    name: ClassVar[str] = "centrality"

    graph: Annotated[Literal["ba", "ws"], "Barabási-Albert or Watts-Strogatz"] = "ba"
    n: Annotated[int, Within(10, _MOST), "how many nodes"] = 1000
    m: Annotated[int, Within(1, 100), "edges of each new node (ba)"] = 3
    k: Annotated[int, Within(4, 100), "neighbours on the ring (ws)"] = 10
    # Rings with few shortcuts are so wide that betweenness takes for ever.
    p: Annotated[float, Within(0.01, 1), "share of edges that lead elsewhere (ws)"] = 0.1
    measure: Annotated[Literal["betweenness", "eigenvector"], "which centrality"] = "betweenness"
    pivots: Annotated[
        int, Within(1, EXACT), f"sources of the paths that are counted beyond {EXACT:,} nodes"
    ] = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.graph == "ba":
            self._only_with("k", "graph=ws")
            self._only_with("p", "graph=ws")
        else:
            self._only_with("m", "graph=ba")
        if self.k % 2 or self.k >= self.n:
            raise self._refuse(f"k is {self.k}: expected an even number less than n={self.n}")
        if self.m >= self.n:
            raise self._refuse(f"m is {self.m}: expected less than n={self.n}")

    def problem(self, seed: int) -> Problem:
        """The graph of a seed, and how central each node is."""
        rng = self._generator(seed)
        edges = self._edges(seed)
        return Problem(edges, self._values(edges, rng)).shuffled(rng)

    def _edges(self, seed: int) -> IntArray:
        if self.graph == "ba":
            return barabasi_albert(self.n, self.m, seed)
        return watts_strogatz(self.n, self.k, self.p, seed)

    def _values(self, edges: IntArray, rng: np.random.Generator) -> FloatArray:
        if self.measure == "eigenvector":
            return eigenvector(edges, self.n)
        pivots = rng.choice(self.n, self.pivots, replace=False) if self.n > EXACT else None
        return betweenness(edges, self.n, pivots)
