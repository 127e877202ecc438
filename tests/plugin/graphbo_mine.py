"""A strategy, a kernel, an objective and a task of one's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from graphbo.bench.tasks.base import Problem, Task
from graphbo.bench.tasks.parameters import Within
from graphbo.search.graph import Graph
from graphbo.search.kernels import Diffusion
from graphbo.search.strategies import Option, Situation
from graphbo.types import Candidate, FloatArray, NodeKey, Proposal


class Hops:
    """Random nodes, but every few steps a neighbour of the best one."""

    name: ClassVar[str] = "mine"

    def __init__(self, every: int = 2) -> None:
        self.every = every

    @property
    def options(self) -> Mapping[str, Option]:
        return {"every": self.every}

    def propose(self, situation: Situation, graph: Graph) -> Proposal:
        taken, evaluated = situation.taken, situation.evaluated
        found: list[NodeKey] = []
        if evaluated and situation.step % self.every == 0:
            best = situation.told.valued.ranked[0].key
            found = graph.neighbours([best], (situation.step,), taken, evaluated)
        if not found:
            count = 1 + len(situation.pending)
            found = graph.random(count, (situation.step,), taken, evaluated)
        return Proposal(tuple(Candidate(key) for key in found), "search")


class Steep(Diffusion):
    """r⁻¹(λ) = exp(−βλ²): what is smooth counts for more than it does for diffusion."""

    def log_inverse(
        self, eigenvalues: FloatArray, *, beta: float
    ) -> tuple[FloatArray, dict[str, FloatArray]]:
        logs = -beta * eigenvalues**2
        return logs, {"beta": logs[None, :].copy()}


def nearness(rest: str) -> Callable[[int], float]:
    """``mine:7``: how near a node's number is to 7."""
    centre = float(rest)

    def measure(key: int) -> float:
        return -abs(key - centre)

    return measure


@dataclass(frozen=True)
class Necklace(Task):
    """The largest bead of a necklace whose beads grow towards it."""

    name: ClassVar[str] = "mine"

    beads: Annotated[int, Within(3, 10_000), "how many there are"] = 50

    def problem(self, seed: int) -> Problem:
        around = np.arange(self.beads)
        edges = np.column_stack([around, (around + 1) % self.beads])
        sizes = np.cos(2 * np.pi * around / self.beads)
        return Problem(edges, sizes).shuffled(self._generator(seed))
