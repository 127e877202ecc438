"""Property graphs in Python, and what a view of one is by brute force: what every store has to answer."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graphbo.stores import GraphStore
from graphbo.types import Direction, NodeKey, Property, Subgraph, View
from graphbo.types.conditions import And, Comparison, Condition, HasLabel, IsIn, IsNull, Not, Or
from graphbo.types.paths import Path, Step

Truth = bool | None


def holds(
    condition: Condition | None, properties: dict[str, Property], labels: Sequence[str] = ()
) -> Truth:
    """Whether a condition is true; None if that is not known."""
    if condition is None:
        return True
    if isinstance(condition, HasLabel):
        return condition.name in labels
    if isinstance(condition, Not):
        inner = holds(condition.part, properties, labels)
        return None if inner is None else not inner
    if isinstance(condition, (And, Or)):
        parts = [holds(part, properties, labels) for part in condition.parts]
        decisive = isinstance(condition, Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    value = properties.get(condition.property)
    if isinstance(condition, IsNull):
        return value is None
    if isinstance(condition, IsIn):
        if not condition.values:
            return False
        return None if value is None else any(_equal(value, one) for one in condition.values)
    return None if value is None else _compared(condition, value)


def _equal(a: object, b: object) -> bool:
    return _kind(a) == _kind(b) and a == b


def _kind(value: object) -> str:
    if isinstance(value, (bool, str, list)):
        return type(value).__name__
    return "number"


def _compared(condition: Comparison, value: Property) -> Truth:
    wanted = condition.value
    if condition.operator == "=":
        return _equal(value, wanted)
    if condition.operator == "<>":
        return not _equal(value, wanted)
    if _kind(value) != _kind(wanted):
        return None
    if condition.operator == "STARTS WITH":
        return str(value).startswith(str(wanted)) if isinstance(value, str) else None
    return {
        "<": value < wanted,  # type: ignore[operator]
        "<=": value <= wanted,  # type: ignore[operator]
        ">": value > wanted,  # type: ignore[operator]
        ">=": value >= wanted,  # type: ignore[operator]
    }[condition.operator]


@dataclass(frozen=True)
class Node:
    """A node; its first label carries the key ``id``."""

    key: NodeKey
    labels: tuple[str, ...]
    properties: dict[str, Property] = field(default_factory=dict)


@dataclass(frozen=True)
class Relationship:
    """A relationship between two nodes, which are known by their positions."""

    source: int
    type: str
    target: int
    properties: dict[str, Property] = field(default_factory=dict)


@dataclass(frozen=True)
class PropertyGraph:
    """Nodes and relationships."""

    nodes: Sequence[Node]
    relationships: Sequence[Relationship]

    def write(self, store: GraphStore) -> None:
        """As a loader does."""
        for labels in sorted({node.labels for node in self.nodes}):
            view = View(labels[:1], ("R",), key="id")
            store.create_key(view)
            rows = [(n.key, n.properties) for n in self.nodes if n.labels == labels]
            store.write_nodes(view, rows, labels[1:])
        by_kind = defaultdict(list)
        for one in self.relationships:
            a, b = self.nodes[one.source], self.nodes[one.target]
            by_kind[a.labels[0], one.type, b.labels[0]].append((a.key, b.key, one.properties))
        for (start, kind, end), edges in sorted(by_kind.items()):
            source, target = (View((label,), (kind,), key="id") for label in (start, end))
            store.write_relationships(source, edges, target=target, parallel=True)

    # A view of it, by positions

    def is_candidate(self, view: View, node: int) -> bool:
        one = self.nodes[node]
        return bool(set(one.labels) & set(view.candidate_labels)) and bool(
            holds(view.candidate_condition, one.properties, one.labels)
        )

    def is_node(self, view: View, node: int) -> bool:
        one = self.nodes[node]
        return bool(set(one.labels) & set(view.labels)) and bool(
            holds(view.where, one.properties, one.labels)
        )

    def _fulfils(self, condition: Condition | None, node: int) -> bool:
        one = self.nodes[node]
        return bool(holds(condition, one.properties, one.labels))

    def _leading(self, step: Step, node: int, *, filtered: bool = True) -> Iterator[int]:
        for one in self.relationships:
            if one.type not in step.types or (filtered and not holds(step.where, one.properties)):
                continue
            if step.direction in ("both", "out") and one.source == node:
                yield one.target
            elif step.direction in ("both", "in") and one.target == node:
                yield one.source

    def degree(self, step: Step, node: int) -> int:
        return sum(1 for _ in self._leading(step, node, filtered=False))

    def ways(self, view: View, path: Path, start: int) -> Iterator[tuple[list[int], float]]:
        """Every way along a path from a node that is at its start, and what it weighs."""
        if self._fulfils(path.nodes[0], start):
            yield from self._ways(view, path, [start], 1.0)

    def _ways(
        self, view: View, path: Path, way: list[int], weight: float
    ) -> Iterator[tuple[list[int], float]]:
        at = len(way)
        for node in self._leading(path.steps[at - 1], way[-1]):
            if not self._fulfils(path.nodes[at], node):
                continue
            if at == len(path.steps):
                if self.is_node(view, node):
                    yield [*way, node], weight
            else:
                came = self.degree(path.steps[at - 1].turned, node)
                leads = self.degree(path.steps[at], node)
                # Where nothing leads on, there is no way.
                if leads and max(came, leads) <= view.hub_limit:
                    yield from self._ways(
                        view, path, [*way, node], weight / math.sqrt(came * leads)
                    )

    def path_weights(self, view: View) -> Counter[tuple[int, int]]:
        """What all ways along the view's paths weigh together, by their ends."""
        total: Counter[tuple[int, int]] = Counter()
        for path in view.paths:
            for start in range(len(self.nodes)):
                if self.is_node(view, start):
                    for way, weight in self.ways(view, path, start):
                        total[way[0], way[-1]] += weight  # type: ignore[assignment]
        return total

    def is_hub(self, view: View, node: int) -> bool:
        """Whether a connector is skipped."""
        return self.degree(Step(view.relationships), node) > view.hub_limit

    def beside(self, view: View, node: int) -> set[int]:
        """The nodes of the view that are one hop away."""
        found: set[int] = set()
        if view.relationships:
            found.update(self._leading(Step(view.relationships, view.direction), node))
        for path in walks_of(view):
            found.update(way[-1] for way, _ in self.ways(view, path, node))
        return {
            other
            for other in found - {node}
            if self.is_candidate(view, other)
            or (view.has_connectors and self.is_node(view, other) and not self.is_hub(view, other))
        }

    def neighbours(self, view: View, node: int) -> set[int]:
        """The nearest candidates, through at most four layers of connectors."""
        found: set[int] = set()
        frontier, passed = {node}, {node}
        for _ in range(5):
            reached = {other for one in frontier for other in self.beside(view, one)}
            found |= {other for other in reached if self.is_candidate(view, other)}
            frontier = {other for other in reached - passed if not self.is_candidate(view, other)}
            passed |= frontier
        return found - {node}

    def trend_degree(self, view: View, node: int) -> int:
        """How many relationships and ways lead from a node, by stored counts."""
        total = self.degree(Step(view.relationships, view.direction), node)
        for path in walks_of(view):
            if not self._fulfils(path.nodes[0], node):
                continue
            if len(path.steps) == 1:
                total += self.degree(path.steps[0], node)
                continue
            for inner in self._leading(path.steps[0], node):
                came = self.degree(path.steps[0].turned, inner)
                leads = self.degree(path.steps[1], inner)
                if self._fulfils(path.nodes[1], inner) and max(came, leads) <= view.hub_limit:
                    total += max(leads - 1, 0)
        return total

    def adjacency(self, view: View, rows: Sequence[int]) -> np.ndarray:
        """What the model has to see among these nodes, without weights, factors and reveal."""
        position = {node: row for row, node in enumerate(rows)}
        directed = np.zeros((len(rows), len(rows)))
        for one in self.relationships:
            if one.type in view.relationships and one.source in position and one.target in position:
                directed[position[one.source], position[one.target]] += 1.0
        for (a, b), weight in self.path_weights(view).items():
            if a in position and b in position:
                directed[position[a], position[b]] += weight
        np.fill_diagonal(directed, 0.0)
        return np.maximum(directed, directed.T)


def walks_of(view: View) -> list[Path]:
    """The view's paths as they lead from a node to its neighbours."""
    found = list(view.paths) if view.direction in ("both", "out") else []
    if view.direction in ("both", "in"):
        found += [path.turned for path in view.paths]
    return [path for at, path in enumerate(found) if path not in found[:at]]


@dataclass(frozen=True)
class Written:
    """A property graph in a store, and the internal ids of its nodes."""

    graph: PropertyGraph
    store: GraphStore
    ids: tuple[str, ...]

    @classmethod
    def into(cls, store: GraphStore, graph: PropertyGraph) -> "Written":
        """Write it."""
        graph.write(store)
        ids = []
        for node in graph.nodes:
            view = View(node.labels[:1], ("R",), key="id")
            ids.append(store.nodes_with_keys(view, [node.key])[node.key][0].id)
        return cls(graph, store, tuple(ids))

    def key(self, node: int, view: View) -> NodeKey:
        """What a view calls a candidate."""
        return self.ids[node] if view.key is None else self.graph.nodes[node].key

    def node(self, key: NodeKey, view: View) -> int:
        """The candidate that a view calls so."""
        (found,) = (
            node
            for node in range(len(self.graph.nodes))
            if self.graph.is_candidate(view, node) and self.key(node, view) == key
        )
        return found

    def rows(self, found: Subgraph, view: View) -> list[int]:
        """The nodes of a subgraph's rows."""
        connectors = [self.ids.index(name) for name in found.connectors]
        return [*(self.node(key, view) for key in found.keys), *connectors]


def without_key(view: View) -> View:
    """The same view, by internal ids."""
    return replace(view, key=None)


DIRECTIONS: tuple[Direction, ...] = ("both", "out", "in")
