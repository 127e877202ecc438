"""Views with a statement of the user's that answers with edges: it is asked hop by hop.

It gets ``$keys``, a list of candidates' keys, and returns rows of a source key, a target key and a weight. Targets that
are no candidates of the view are dropped. Of more than the view's hub limit from one source, the heaviest are kept, of
equal ones those whose key comes first. Answers need not be symmetric: the model takes the larger weight of either
direction.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from graphbo.errors import InvalidView, InvalidWeight
from graphbo.stores.neo4j.connection import Rows
from graphbo.stores.seeded_order import SeededOrder
from graphbo.stores.subgraphs import (
    Meeting,
    as_key,
    assemble,
    by_name,
    refuse_unknown,
    show_key,
)
from graphbo.types import Ego, NodeKey, Subgraph, View

__all__ = ["Hop", "HopGrowth"]


class Read(Protocol):
    """Runs a statement of ``cypher/``."""

    def __call__(self, name: str, view: View | None = None, **parameters: object) -> Rows: ...


@dataclass
class Hop:
    """A view's statement, and what it has answered: no source is asked for twice.

    Attributes:
        answers: runs it.
        most: how many rows are kept of one source.
    """

    answers: Callable[[Sequence[NodeKey]], list[list[Any]]]
    most: int
    _known: dict[NodeKey, list[tuple[NodeKey, float]]] = field(default_factory=dict)

    def edges(self, keys: Sequence[NodeKey]) -> list[tuple[NodeKey, NodeKey, float]]:
        """The edges that lead from these nodes, with their weights.

        Raises:
            InvalidView: a row is not of the form that it should be.
            InvalidWeight: a weight is negative, or no finite number.
        """
        asked = [key for key in keys if key not in self._known]
        if asked:
            self._known |= {key: [] for key in asked}
            for row in self.answers(asked):
                source, target, weight = self._checked(row, set(asked))
                self._known[source].append((target, weight))
            for key in asked:
                self._known[key] = self._heaviest(self._known[key])
        return [(key, *edge) for key in keys for edge in self._known[key]]

    def targets(self, keys: Sequence[NodeKey]) -> list[NodeKey]:
        """Where these nodes lead, each once."""
        return list(dict.fromkeys(target for _, target, _ in self.edges(keys)))

    def _heaviest(self, edges: list[tuple[NodeKey, float]]) -> list[tuple[NodeKey, float]]:
        def place(edge: tuple[NodeKey, float]) -> tuple[float, str, str]:
            return -edge[1], str(edge[0]), type(edge[0]).__name__

        return sorted(edges, key=place)[: self.most]

    def _checked(self, row: list[Any], asked: set[NodeKey]) -> tuple[NodeKey, NodeKey, float]:
        expected = "expected a source key, a target key and a weight"
        if len(row) != 3:
            raise InvalidView(
                f"the statement of the view returns rows of {len(row)} columns: {expected}"
            )
        source, target, weight = row
        for key in (source, target):
            if isinstance(key, bool) or not isinstance(key, (str, int)):
                raise InvalidView(
                    f"the statement of the view returns {show_key(key)} for a key: {expected}"
                )
        if source not in asked:
            raise InvalidView(
                f"the statement of the view returns the source {show_key(source)}, which is not in $keys: "
                "let it begin with UNWIND $keys AS key"
            )
        number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not number or not math.isfinite(weight) or weight < 0:
            raise InvalidWeight(
                f"the statement of the view returns the weight {show_key(weight)} from {show_key(source)} to "
                f"{show_key(target)}: expected a finite number, 0 or more"
            )
        return source, target, float(weight)


@dataclass
class _Growing:
    """An ego-network: its candidates and connectors, and those of the last hop."""

    ego: Ego
    candidates: dict[NodeKey, None]
    connectors: dict[str, None] = field(default_factory=dict)
    frontier: list[NodeKey] = field(default_factory=list)
    beyond: list[str] = field(default_factory=list)


class HopGrowth:
    """Ego-networks of a view with a statement: some trips for each hop."""

    def __init__(self, read: Read, hop: Hop, view: View, seed: Sequence[int]) -> None:
        self._read = read
        self._hop = hop
        self._view = view
        self._order = SeededOrder.from_seed(seed)

    def ego_networks(
        self,
        egos: Sequence[Ego],
        first: Iterable[NodeKey],
        through: Iterable[NodeKey] | None,
        read: Sequence[str] = (),
    ) -> Subgraph:
        """See ``GraphStore.ego_networks``."""
        firsts = set(first)
        passable = None if through is None else set(through)
        grown = [self._grown(ego, firsts, passable) for ego in egos]
        keys = list(dict.fromkeys(key for one in grown for key in one.candidates))
        connectors = list(dict.fromkeys(name for one in grown for name in one.connectors))
        reading = {"read": list(read)} if read else {}
        (row,) = self._read("between", self._view, keys=keys, connectors=connectors, **reading)
        found = {as_key(key, self._view): (node_id, *more) for node_id, key, *more in row["nodes"]}
        refuse_unknown(keys, found, self._view)
        ids = {key: found[key][0] for key in keys}
        places = {name: node_id for node_id, name in row["connectors"]}
        meetings: list[Meeting] = [*row["meetings"]]
        for source, target, weight in self._hop.edges(keys):
            if target in ids:
                meetings.append((1.0, [(ids[source], 1.0)], [(ids[target], weight)]))
        allowed = None
        if passable is not None:
            allowed = {ids[key] for key in passable if key in ids} | set(places.values())
        return assemble(
            self._view,
            [(ids[key], key) for key in keys],
            [[ids[key] for key in one.candidates] for one in grown],
            row["relationships"],
            [found[key][1] for key in keys],
            connectors=[(places[name], name) for name in connectors if name in places],
            meetings=meetings,
            through=allowed,
            hubs=row["hubs"],
            properties=by_name(read, [found[key][2] for key in keys] if read else []),
        )

    def _grown(self, ego: Ego, firsts: set[NodeKey], passable: set[NodeKey] | None) -> _Growing:
        one = _Growing(ego, {ego.centre: None}, frontier=[ego.centre])
        while len(one.candidates) < ego.size and (one.frontier or one.beyond):
            if passable is not None:
                one.frontier = [key for key in one.frontier if key in passable]
            self._take_hop(one, firsts)
        return one

    def _take_hop(self, one: _Growing, firsts: set[NodeKey]) -> None:
        """Go on to the next hop, as far as there is room."""
        room = one.ego.size - len(one.candidates)
        (row,) = self._read(
            "nearby",
            self._view,
            keys=one.frontier,
            connectors=one.beyond,
            exclude=list(one.candidates),
            passed=list(one.connectors),
            first=list(firsts),
            limit=room,
            most=max(one.ego.size - len(one.connectors), 0),
            nearest=True,
            **self._order.parameters,
        )
        reached = {node_id: as_key(key, self._view) for node_id, key, _ in row["neighbours"]}
        near = {as_key(key, self._view): ways for _, key, ways in row["neighbours"]}
        for _, key, weight in self._hop.edges(one.frontier):
            near[key] = near.get(key, 0.0) + weight
        led = [key for key in self._hop.targets(one.frontier) if key not in one.candidates]
        for found in self._read("candidates", self._view, keys=led) if led else []:
            reached[found["id"]] = as_key(found["key"], self._view)
        ordered = [reached[node_id] for node_id in self._order.sorted(reached)]
        ordered.sort(key=lambda key: (key not in firsts, -round(near[key], 9)))
        one.frontier = ordered[:room]
        one.beyond = row["connectors"]
        one.candidates.update(dict.fromkeys(one.frontier))
        one.connectors.update(dict.fromkeys(one.beyond))
