"""What a task is: a family of problems with a known answer, one problem per seed."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from graphbo.bench.tasks.parameters import Parameter, parameters_of
from graphbo.errors import TaskError
from graphbo.types import FloatArray, IntArray, Property, View

__all__ = ["Connectors", "Problem", "Task"]


@dataclass(frozen=True, eq=False)
class Connectors:
    """Nodes that are never measured, all of one kind, through which candidates hang together.

    Attributes:
        kind: what they are: ``RACK``.
        links: a candidate and a connector in each row; connectors are numbered from 0.
    """

    kind: str
    links: IntArray


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph on the nodes 0 … n-1 and the value of each. Large values are wanted.

    Attributes:
        edges: the two ends of each edge, one row per edge; undirected, each once.
        values: what each node is worth, without noise. Regret is measured against them.
        noise: the standard deviation of a measurement.
        errors: the noise in the measurement of each node; drawn once, since no node is measured twice. None without.
        properties: what is known of each node before it is measured, by name; one entry per node, None where it is
            missing.
        hides_degrees: whether how many neighbours a node has is not known before it is measured.
        connectors: what else connects the nodes, kind by kind.
    """

    edges: IntArray
    values: FloatArray
    noise: float = 0.0
    errors: FloatArray | None = None
    properties: Mapping[str, Sequence[Property | None]] = field(default_factory=dict)
    hides_degrees: bool = False
    connectors: tuple[Connectors, ...] = ()

    def __post_init__(self) -> None:
        if self.edges.ndim != 2 or self.edges.shape[1] != 2:
            raise TaskError(f"edges of shape {self.edges.shape}: expected two ends per edge")
        columns = {"noise": self.noisy, **self.properties}
        for name, column in columns.items():
            if len(column) != self.n:
                raise TaskError(
                    f"{len(column)} entries of {name}: expected one for each of {self.n} nodes"
                )

    @property
    def n(self) -> int:
        """How many nodes."""
        return len(self.values)

    @property
    def relationships(self) -> int:
        """How many relationships its graph has: edges, and those to connectors."""
        return len(self.edges) + sum(len(one.links) for one in self.connectors)

    @property
    def noisy(self) -> FloatArray:
        """What a measurement of each node gives."""
        return self.values if self.errors is None else self.values + self.errors

    @property
    def optimum(self) -> float:
        """The best value there is, without noise."""
        return float(self.values.max())

    @property
    def spread(self) -> float:
        """The distance from a typical node to the best: the unit of normalised regret; 1 if all are equal."""
        return float(self.optimum - np.median(self.values)) or 1.0

    def known_of(self, node: int) -> dict[str, Property]:
        """The properties that a node has."""
        own = {name: column[node] for name, column in self.properties.items()}
        return {name: value for name, value in own.items() if value is not None}

    def with_noise(self, deviation: float, rng: np.random.Generator) -> "Problem":
        """The same problem, measured with normal noise."""
        errors = deviation * rng.normal(size=self.n) if deviation else None
        return replace(self, noise=deviation, errors=errors)

    def shuffled(self, rng: np.random.Generator) -> "Problem":
        """The same with other numbers: in generated graphs they tell age and degree."""
        order = rng.permutation(self.n)
        back = np.argsort(order)
        columns = {name: [column[row] for row in back] for name, column in self.properties.items()}
        errors = None if self.errors is None else self.errors[back]
        return replace(
            self,
            edges=order[self.edges],
            values=self.values[back],
            errors=errors,
            properties=columns,
            connectors=tuple(
                replace(one, links=np.column_stack([order[one.links[:, 0]], one.links[:, 1]]))
                for one in self.connectors
            ),
        )


@dataclass(frozen=True)
class Task(ABC):
    """A family of problems. Subclasses are frozen dataclasses; their annotated fields are the parameters.

    Each parameter is checked by itself; what must hold between them, a subclass checks after that. Equal tasks and
    seeds give equal problems, in every process.

    Raises:
        TaskError: a parameter is out of range.
    """

    #: What users call it: its key in ``TASKS``.
    name: ClassVar[str]

    def __post_init__(self) -> None:
        for parameter in self.parameters().values():
            try:
                parameter.check(getattr(self, parameter.name))
            except TaskError as error:
                raise TaskError(f"{self.name}: {error}") from None

    @classmethod
    def parameters(cls) -> Mapping[str, Parameter]:
        """What may be chosen, by name."""
        return parameters_of(cls)

    @abstractmethod
    def problem(self, seed: int) -> Problem:
        """The problem of a seed; its nodes are numbered at random.

        Raises:
            TaskError: a data set that it needs is not there.
        """

    def view(self, label: str, relationship: str) -> View:
        """The graph of its problems where nodes have this label and edges this type."""
        return View((label,), (relationship,), key="id")

    @property
    def spec(self) -> str:
        """How to name it on the command line: ``NAME:PARAMETER=VALUE,…``, without what is the default."""
        chosen = [
            f"{one.name}={one.show(getattr(self, one.name))}"
            for one in self.parameters().values()
            if getattr(self, one.name) != one.default
        ]
        return f"{self.name}:{','.join(chosen)}" if chosen else self.name

    def _refuse(self, why: str) -> TaskError:
        return TaskError(f"{self.name}: {why}")

    def _only_with(self, name: str, reason: str) -> None:
        """Refuse a parameter that means nothing here, unless it was left alone."""
        if getattr(self, name) != self.parameters()[name].default:
            raise self._refuse(f"{name} is {getattr(self, name)}, but it is only for {reason}")

    def _generator(self, seed: int) -> np.random.Generator:
        """What draws the problem of a seed.

        Raises:
            TaskError: it is no seed.
        """
        if seed < 0:
            raise self._refuse(f"the seed is {seed}: expected an integer from 0 on")
        return np.random.default_rng([seed, 0])
