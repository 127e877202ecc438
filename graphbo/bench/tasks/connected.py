"""Nodes that hang together through others which are never measured: machines through racks, people through places."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from graphbo.bench.tasks.base import Connectors, Problem, Task
from graphbo.stores import GraphStore
from graphbo.types import FloatArray, IntArray, View
from graphbo.types.conditions import HasLabel
from graphbo.types.paths import Path, Step

__all__ = ["ConnectedTask", "Parts", "projection", "write_connectors"]

#: How many relationships are written at a time.
BATCH = 20_000


@dataclass(frozen=True, eq=False)
class Parts:
    """What a problem of such a task is made of: what each candidate is worth, and what connects them."""

    values: FloatArray
    connectors: tuple[Connectors, ...]


@dataclass(frozen=True)
class ConnectedTask(Task):
    """A task whose candidates are no neighbours of each other.

    The parameter says how they become neighbours: by paths through their connectors; by relationships to connectors
    that are nodes of the graph; or by relationships that somebody wrote between any two with a common connector.
    """

    #: What its connectors are.
    kinds: ClassVar[tuple[str, ...]]

    through: Annotated[
        Literal["paths", "nodes", "projection"], "how candidates become neighbours"
    ] = "paths"

    def view(self, label: str, relationship: str) -> View:
        """The graph of its problems where candidates have this label; the other names are made of the two."""
        if self.through == "projection":
            return super().view(label, relationship)
        named = [_names(label, relationship, kind) for kind in self.kinds]
        if self.through == "nodes":
            connectors = tuple(name for name, _ in named)
            types = tuple(name for _, name in named)
            return View((label, *connectors), types, key="id", candidates=(label,))
        return View((), key="id", paths=tuple(_path(label, *names) for names in named))

    def problem(self, seed: int) -> Problem:
        """The candidates of a seed."""
        rng = self._generator(seed)
        parts = self._parts(rng)
        projected = self.through == "projection"
        edges = projection(parts.connectors) if projected else np.empty((0, 2), dtype=np.int64)
        return Problem(
            edges,
            parts.values,
            connectors=() if projected else parts.connectors,
        ).shuffled(rng)

    @abstractmethod
    def _parts(self, rng: np.random.Generator) -> Parts:
        """The candidates' values and connectors, by candidates that are numbered from 0."""


def _names(label: str, relationship: str, kind: str) -> tuple[str, str]:
    """The label of connectors, and the type of the relationships to them."""
    return f"{label}_{kind}", f"{relationship}_{kind}"


def _path(label: str, connector: str, relationship: str) -> Path:
    """From a candidate through a connector to another."""
    ends, middle = HasLabel(label), HasLabel(connector)
    return Path((ends, middle, ends), (Step((relationship,), "out"), Step((relationship,), "in")))


def write_connectors(store: GraphStore, problem: Problem, label: str, relationship: str) -> None:
    """Write what connects the candidates of a problem, which are there, into a database."""
    for one in problem.connectors:
        name, kind = _names(label, relationship, one.kind)
        source = View((label,), (kind,), key="id")
        target = replace(source, labels=(name,))
        store.create_key(target)
        numbers = np.unique(one.links[:, 1]).tolist()
        for first in range(0, len(numbers), BATCH):
            store.write_nodes(target, [(key, {}) for key in numbers[first : first + BATCH]])
        for first in range(0, len(one.links), BATCH):
            rows = one.links[first : first + BATCH].tolist()
            store.write_relationships(source, [(a, b, {}) for a, b in rows], target=target)


def projection(connectors: tuple[Connectors, ...]) -> IntArray:
    """Every two candidates that have a connector in common, once."""
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for one in connectors:
        order = np.argsort(one.links[:, 1], kind="stable")
        ends = np.flatnonzero(np.diff(one.links[order, 1])) + 1
        for group in np.split(one.links[order, 0], ends):
            members = np.unique(group)
            first, second = np.triu_indices(len(members), k=1)
            pairs.append(np.column_stack([members[first], members[second]]))
    return np.unique(np.concatenate(pairs), axis=0)
