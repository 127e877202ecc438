"""Tasks that are quick, and some that go wrong."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphbo.bench.cells import Cell
from graphbo.bench.methods import parse_methods
from graphbo.bench.results import Curve
from graphbo.bench.tasks.base import Problem, Task
from graphbo.errors import TaskError

__all__ = ["Broken", "Missing", "Ring", "cells", "curve"]


@dataclass(frozen=True)
class Ring(Task):
    """A ring with one hill on it."""

    name: ClassVar[str] = "ring"

    nodes: int = 40
    noise: float = 0.0

    @property
    def spec(self) -> str:
        return f"ring:nodes={self.nodes},noise={self.noise:g}"

    def problem(self, seed: int) -> Problem:
        rng = np.random.default_rng([seed, 0])
        around = np.arange(self.nodes)
        edges = np.stack([around, (around + 1) % self.nodes], axis=1)
        values = -np.abs(around - self.nodes // 2).astype(float)
        return Problem(edges, values).with_noise(self.noise, rng).shuffled(rng)


@dataclass(frozen=True)
class Missing(Ring):
    """One whose data is not there."""

    @property
    def spec(self) -> str:
        return "missing"

    def problem(self, seed: int) -> Problem:
        raise TaskError("there is no such file")


@dataclass(frozen=True)
class Broken(Ring):
    """One with a fault."""

    @property
    def spec(self) -> str:
        return "broken"

    def problem(self, seed: int) -> Problem:
        raise ZeroDivisionError("of all things")


def cells(
    *tasks: Task, methods: tuple[str, ...] = ("local", "random"), seeds: int = 2, budget: int = 12
) -> list[Cell]:
    return [
        Cell(task.spec, method, seed, budget)
        for task in tasks
        for seed in range(seeds)
        for method in parse_methods(methods)
    ]


def curve(
    task: str,
    method: str,
    seed: int,
    regret: list[float],
    *,
    spread: float = 1.0,
    milliseconds: float = 1.0,
) -> Curve:
    values = np.array(regret)
    return Curve(
        key=f"{task}-{method}-{seed}",
        task=task,
        method=method,
        seed=seed,
        budget=len(regret),
        spread=spread,
        regret=values,
        observed_regret=values,
        milliseconds=np.full(len(values), milliseconds),
        revealed=np.arange(1, len(values) + 1),
    )
