"""A pseudo-random order of node ids that every database can compute for itself."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["SeededOrder"]

# 2³¹ - 1, a prime whose square fits into the 64-bit integers of both databases (which raise on overflow).
PRIME = 2_147_483_647


@dataclass(frozen=True)
class SeededOrder:
    """Sorts node ids by a quadratic hash: x = (id % p · a + b) % p, then (x² + c) % p, then x.

    A linear hash would take whole runs of adjacent ids, and adjacent ids were often loaded together. The
    square makes neighbours independent; x itself decides between the two roots of a square.
    """

    p: int
    a: int
    b: int
    c: int

    @classmethod
    def from_seed(cls, seed: Sequence[int]) -> "SeededOrder":
        """The order that belongs to a seed: equal seeds give equal orders."""
        a, b, c = np.random.SeedSequence(list(seed)).generate_state(3, np.uint64) % (PRIME - 1)
        return cls(PRIME, int(a) + 1, int(b), int(c))

    @property
    def parameters(self) -> dict[str, int]:
        """The order's constants under the names that the statements use."""
        return {"p": self.p, "a": self.a, "b": self.b, "c": self.c}

    def sorted(self, ids: Iterable[int]) -> list[int]:
        """Node ids in this order."""

        def place(node_id: int) -> tuple[int, int]:
            x = (node_id % self.p * self.a + self.b) % self.p
            return (x * x + self.c) % self.p, x

        return sorted(ids, key=place)
