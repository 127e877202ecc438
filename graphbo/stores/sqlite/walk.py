"""Walking along relationships in a SQLite file: hops, ego-networks, and what lies among their nodes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from graphbo.stores.seeded_order import SeededOrder
from graphbo.stores.sqlite.file import SqliteFile, in_list, to_json
from graphbo.stores.sqlite.nodes import Scope
from graphbo.stores.sqlite.walked import degree_of
from graphbo.stores.subgraphs import Meeting, as_key, way_weight
from graphbo.types import NodeKey

__all__ = ["Grown", "SqliteWalk", "order_by"]

HIGHEST_LIMIT = 2**62
HUB_DEGREE = 500
#: So many connectors in a row may lie between a node and its neighbours.
MOST_LAYERS = 4
#: The weight of a relationship where weights do not matter.
ONE: list[object] = [1]

OUTGOING = {"both": "", "out": "AND r.outgoing", "in": "AND NOT r.outgoing"}

# The seeded order of stores/seeded_order.py, as SQL over a node id.
ORDER = "({x} * {x} + :c) % :p, {x}"
HASH = "({id} % :p * :a + :b) % :p"


def order_by(node_id: str) -> str:
    """What puts nodes into seeded order; the order's numbers are parameters."""
    return ORDER.format(x=f"({HASH.format(id=node_id)})")


@dataclass
class Grown:
    """What ego-networks have found, each once, in the order of discovery.

    Attributes:
        keys: the candidates.
        connectors: the ids of the connectors.
        hubs: those that were skipped.
    """

    keys: dict[int, NodeKey] = field(default_factory=dict)
    connectors: dict[int, None] = field(default_factory=dict)
    hubs: set[int] = field(default_factory=set)


class SqliteWalk:
    """Walks from nodes to their neighbours."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def grow(
        self,
        scope: Scope,
        centre: int,
        size: int,
        order: SeededOrder,
        first: str,
        passable: set[int] | None,
        found: Grown,
    ) -> list[int]:
        """The ids of the candidates of one ego-network; all that it found is added. ``first`` is as for ``hop``."""
        selected, frontier = [centre], [centre]
        connectors: list[int] = []
        walked_on = 0
        while len(selected) < size:
            if passable is not None:
                frontier = [node_id for node_id in frontier if node_id in passable]
            # Connectors may be walked on in any case: nobody measures them.
            frontier += connectors[walked_on:]
            walked_on = len(connectors)
            if not frontier:
                break
            limit = size - len(selected)
            if scope.is_plain:
                hop = self.hop(scope, frontier, selected, limit, order, first=first)
            else:
                self._reach(scope, frontier, [*selected, *connectors])
                hop = self._reached_candidates(scope, limit, order, first=first, nearest=True)
                connectors += self._reached_connectors(scope, size - len(connectors), order)
                found.hubs |= self._reached_hubs(scope)
            frontier = [node_id for node_id, _ in hop]
            selected += frontier
            for node_id, key in hop:
                found.keys.setdefault(node_id, key)
        found.connectors.update(dict.fromkeys(connectors))
        return selected

    def neighbours(
        self,
        scope: Scope,
        nodes: list[int],
        excluded: str,
        limit: int | None,
        order: SeededOrder,
    ) -> list[NodeKey]:
        """The keys of the nearest candidates, through connectors alone, in seeded order."""
        if scope.is_plain:
            return [
                key for _, key in self.hop(scope, nodes, nodes, limit, order, excluded=excluded)
            ]
        self._reach(scope, nodes, nodes)
        without, frontier = list(nodes), list(nodes)
        layers = MOST_LAYERS if scope.view.has_connectors else 0
        for _ in range(layers):
            frontier = self._reached_connectors(scope, scope.view.hub_limit, order, without)
            if not frontier:
                break
            without += frontier
            self._reach(scope, frontier, nodes, more=True)
        hop = self._reached_candidates(
            scope, HIGHEST_LIMIT if limit is None else limit, order, excluded=excluded
        )
        return [key for _, key in hop]

    def _reach(
        self, scope: Scope, frontier: list[int], without: list[int], *, more: bool = False
    ) -> None:
        """Note who is one hop from the frontier, how near along paths, and which hubs were passed by."""
        table = "temp.reached"
        if not more:
            self._file.tuples(
                f"CREATE TABLE IF NOT EXISTS {table} (id, hub, ways, PRIMARY KEY (id, hub)) WITHOUT ROWID"
            )
            self._file.tuples(f"DELETE FROM {table}")
        outgoing = OUTGOING[scope.view.direction]
        # Without paths all are equally near.
        ways = "1.0 * count(*)" if scope.walks else "0.0"
        walks = [
            f"""SELECT r.other, 0, {ways} FROM json_each(:frontier) AS f CROSS JOIN json_each(:types) AS t
                CROSS JOIN relationship AS r ON r.node = f.value AND r.type = t.value {outgoing}
                GROUP BY r.other"""
        ]
        for walk in [*walks, *(path.reached() for path in scope.walks)]:
            self._file.tuples(
                f"""INSERT INTO {table} SELECT * FROM ({walk}) WHERE true
                    ON CONFLICT DO UPDATE SET ways = ways + excluded.ways""",
                frontier=to_json(frontier),
                types=scope.types,
                hub_limit=scope.view.hub_limit,
                **scope.parameters,
            )
        self._file.tuples(
            f"DELETE FROM {table} WHERE NOT hub AND id IN {in_list('without')}",
            without=to_json(without),
        )

    def _reached_candidates(
        self,
        scope: Scope,
        limit: int,
        order: SeededOrder,
        *,
        first: str = "FALSE",
        excluded: str = "FALSE",
        nearest: bool = False,
    ) -> list[tuple[int, NodeKey]]:
        near = "round(h.ways, 9) DESC" if nearest else "NULL"
        rows = self._file.tuples(
            f"""SELECT n.id, {scope.key} FROM temp.reached AS h CROSS JOIN node AS n ON n.id = h.id
                WHERE NOT h.hub AND {scope.candidate} AND NOT {excluded}
                ORDER BY NOT {first}, {near}, {order_by("n.id")} LIMIT :limit""",
            limit=limit,
            **order.parameters,
            **scope.parameters,
        )
        return [(node_id, as_key(key, scope.view)) for node_id, key in rows]

    def _reached_connectors(
        self, scope: Scope, limit: int, order: SeededOrder, without: Sequence[int] = ()
    ) -> list[int]:
        if not scope.view.has_connectors:
            return []
        rows = self._file.tuples(
            f"""SELECT n.id FROM temp.reached AS h CROSS JOIN node AS n ON n.id = h.id
                WHERE NOT h.hub AND {scope.connector} AND {_relationships_of("n.id")} <= :hub_limit
                AND n.id NOT IN {in_list("without")} ORDER BY {order_by("n.id")} LIMIT :limit""",
            limit=max(limit, 0),
            types=scope.types,
            hub_limit=scope.view.hub_limit,
            without=to_json(list(without)),
            **order.parameters,
            **scope.parameters,
        )
        return [node_id for (node_id,) in rows]

    def _reached_hubs(self, scope: Scope) -> set[int]:
        rows = self._file.tuples("SELECT id FROM temp.reached WHERE hub")
        if scope.view.has_connectors:
            rows += self._file.tuples(
                f"""SELECT n.id FROM temp.reached AS h CROSS JOIN node AS n ON n.id = h.id
                    WHERE NOT h.hub AND {scope.connector} AND {_relationships_of("n.id")} > :hub_limit""",
                types=scope.types,
                hub_limit=scope.view.hub_limit,
                **scope.parameters,
            )
        return {node_id for (node_id,) in rows}

    def hop(
        self,
        scope: Scope,
        frontier: list[int],
        without: list[int],
        limit: int | None,
        order: SeededOrder,
        *,
        first: str = "FALSE",
        excluded: str = "FALSE",
    ) -> list[tuple[int, NodeKey]]:
        """(id, key) of distinct nodes one hop from the frontier, in seeded order.

        ``first`` and ``excluded`` are conditions on the node ``n``: who comes before the others, and who does not come.

        CROSS JOIN fixes the order: from the frontier outwards, never from the label's nodes inwards.
        """
        view = scope.view
        outgoing = OUTGOING[view.direction]
        rows = self._file.all(
            f"""SELECT n.id, {scope.key} AS key FROM (
                  SELECT DISTINCT r.other FROM json_each(:frontier) AS f
                  CROSS JOIN json_each(:types) AS t
                  CROSS JOIN relationship AS r ON r.node = f.value AND r.type = t.value {outgoing}
                ) AS hop CROSS JOIN node AS n ON n.id = hop.other
                WHERE {scope.candidate} AND n.id NOT IN {in_list("without")} AND NOT {excluded}
                ORDER BY NOT {first}, {order_by("n.id")} LIMIT :limit""",
            frontier=to_json(frontier),
            types=scope.types,
            without=to_json(without),
            limit=HIGHEST_LIMIT if limit is None else limit,
            **order.parameters,
            **scope.parameters,
        )
        return [(row["id"], as_key(row["key"], view)) for row in rows]

    def degrees(self, scope: Scope, nodes: list[int]) -> list[int]:
        """How many relationships and ways lead from each of these nodes to its neighbours."""
        count = {"both": "outgoing + incoming - loops", "out": "outgoing", "in": "incoming"}
        rows = self._file.tuples(
            f"""SELECT (SELECT coalesce(sum({count[scope.view.direction]}), 0) FROM degree
                  WHERE node = a.value AND type IN {in_list("types")})
                FROM json_each(:nodes) AS a ORDER BY a.key""",
            nodes=to_json(nodes),
            types=scope.types,
        )
        total = dict(zip(nodes, (degree for (degree,) in rows), strict=True))
        for path in scope.walks:
            ways = self._file.tuples(
                path.degrees(),
                rows=to_json(nodes),
                hub_limit=scope.view.hub_limit,
                **scope.parameters,
            )
            for node_id, degree in ways:
                total[node_id] += degree
        return list(total.values())

    def meetings(self, scope: Scope, rows: list[int]) -> tuple[list[Meeting], set[int]]:
        """What the view's paths connect among these nodes, and the hubs in their way."""
        meetings: list[Meeting] = []
        hubs: set[int] = set()
        parameters = {"rows": to_json(rows), "hub_limit": scope.view.hub_limit, **scope.parameters}
        for path in scope.paths:
            if len(path.steps) == 1:
                edges = self._file.tuples(path.edges(), **parameters)
                meetings += [(1.0, [(a, 1.0)], [(b, float(times))]) for a, b, times in edges]
                continue
            weights: dict[int, float] = {}
            ends: dict[int, tuple[list[tuple[int, float]], list[tuple[int, float]]]] = {}
            for middle, arriving, leaving, end, row, ways in self._file.tuples(
                path.meetings(), **parameters
            ):
                if end is None:
                    hubs.add(middle)
                else:
                    weights[middle] = way_weight(arriving, leaving)
                    ends.setdefault(middle, ([], []))[end].append((row, ways))
            for middle, (starts, stops) in ends.items():
                # Of a palindrome, what leads to the middle leads from it, too.
                meetings.append((weights[middle], starts, starts if path.is_palindrome else stops))
        return meetings, hubs

    def relationships_among(
        self, scope: Scope, nodes: list[int]
    ) -> list[tuple[int, int, list[object]]]:
        """Source, target and weights: small nodes are walked, pairs with a hub are looked up one by one."""
        view = scope.view
        # As JSON text: SQLite's own values do not tell true from 1.
        weight = "'1'" if view.weight is None else "property(r.properties, :name)"
        columns = f"r.type, {weight}" if view.factors else f"NULL, {weight}"
        # The unary plus keeps SQLite from seeking every pair, which for small nodes costs more than walking.
        rows = self._file.tuples(
            f"""WITH start AS MATERIALIZED (
                  SELECT a.value AS node, t.value AS type, EXISTS (
                    SELECT 1 FROM relationship WHERE node = a.value AND type = t.value AND outgoing = 1
                    LIMIT 1 OFFSET {HUB_DEGREE}) AS hub
                  FROM json_each(:nodes) AS a CROSS JOIN json_each(:types) AS t)
                SELECT r.node AS source, r.other AS target, {columns}
                FROM start CROSS JOIN relationship AS r ON r.node = start.node AND r.type = start.type
                  AND r.outgoing = 1 AND +r.other IN {in_list("nodes")} WHERE NOT start.hub
                UNION ALL
                SELECT r.node, r.other, {columns}
                FROM start CROSS JOIN json_each(:nodes) AS b CROSS JOIN relationship AS r
                  ON r.node = start.node AND r.type = start.type AND r.outgoing = 1 AND r.other = b.value
                WHERE start.hub
                ORDER BY 1, 2""",
            nodes=to_json(nodes),
            types=scope.types,
            name=view.weight,
        )
        if view.factors:
            names = scope.type_names
            return [(a, b, [(names[kind], json.loads(weight))]) for a, b, kind, weight in rows]
        if view.weight is None:
            return [(source, target, ONE) for source, target, _, _ in rows]
        return [(source, target, [json.loads(weight)]) for source, target, _, weight in rows]


def _relationships_of(node: str) -> str:
    """How many relationships of ``:types`` a node has."""
    return degree_of(node, in_list("types"), "both")
