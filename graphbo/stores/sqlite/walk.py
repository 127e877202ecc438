"""Walking along relationships in a SQLite file: hops, ego-networks, and what lies among their nodes."""

import json

from graphbo.stores.seeded_order import SeededOrder
from graphbo.stores.sqlite.file import SqliteFile, in_list, to_json
from graphbo.stores.sqlite.nodes import Scope, key_column
from graphbo.stores.subgraphs import as_key
from graphbo.types import NodeKey

__all__ = ["SqliteWalk", "order_by"]

HIGHEST_LIMIT = 2**62
HUB_DEGREE = 500
#: The weight of a relationship where weights do not matter.
ONE: list[object] = [1]

# The seeded order of stores/seeded_order.py, as SQL over a node id.
ORDER = "({x} * {x} + :c) % :p, {x}"
HASH = "({id} % :p * :a + :b) % :p"


def order_by(node_id: str) -> str:
    """What puts nodes into seeded order; the order's numbers are parameters."""
    return ORDER.format(x=f"({HASH.format(id=node_id)})")


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
        keys: dict[int, NodeKey],
    ) -> list[int]:
        """The ids of one ego-network; their keys are added to ``keys``. ``first`` is as for ``hop``."""
        selected, frontier = [centre], [centre]
        while len(selected) < size:
            if passable is not None:
                frontier = [node_id for node_id in frontier if node_id in passable]
            if not frontier:
                break
            limit = size - len(selected)
            hop = self.hop(scope, frontier, selected, limit, order, first=first)
            frontier = [node_id for node_id, _ in hop]
            selected += frontier
            for node_id, key in hop:
                keys.setdefault(node_id, key)
        return selected

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
        outgoing = {"both": "", "out": "AND r.outgoing", "in": "AND NOT r.outgoing"}[view.direction]
        rows = self._file.all(
            f"""SELECT n.id, {key_column(view)} AS key FROM (
                  SELECT DISTINCT r.other FROM json_each(:frontier) AS f
                  CROSS JOIN json_each(:types) AS t
                  CROSS JOIN relationship AS r ON r.node = f.value AND r.type = t.value {outgoing}
                ) AS hop CROSS JOIN node AS n ON n.id = hop.other
                WHERE +n.label IN {in_list("labels")} AND n.id NOT IN {in_list("without")} AND NOT {excluded}
                ORDER BY NOT {first}, {order_by("n.id")} LIMIT :limit""",
            frontier=to_json(frontier),
            types=scope.types,
            labels=scope.labels,
            without=to_json(without),
            limit=HIGHEST_LIMIT if limit is None else limit,
            **order.parameters,
        )
        return [(row["id"], as_key(row["key"], view)) for row in rows]

    def degrees(self, scope: Scope, nodes: list[int]) -> list[int]:
        """How many relationships lead from each of these nodes to its neighbours."""
        count = {"both": "outgoing + incoming - loops", "out": "outgoing", "in": "incoming"}
        rows = self._file.tuples(
            f"""SELECT (SELECT coalesce(sum({count[scope.view.direction]}), 0) FROM degree
                  WHERE node = a.value AND type IN {in_list("types")})
                FROM json_each(:nodes) AS a ORDER BY a.key""",
            nodes=to_json(nodes),
            types=scope.types,
        )
        return [degree for (degree,) in rows]

    def relationships_among(
        self, scope: Scope, nodes: list[int]
    ) -> list[tuple[int, int, list[object]]]:
        """Source, target and weights: small nodes are walked, pairs with a hub are looked up one by one."""
        view = scope.view
        # As JSON text: SQLite's own values do not tell true from 1.
        weight = "'1'" if view.weight is None else "property(r.properties, :name)"
        # The unary plus keeps SQLite from seeking every pair, which for small nodes costs more than walking.
        rows = self._file.tuples(
            f"""WITH start AS MATERIALIZED (
                  SELECT a.value AS node, t.value AS type, EXISTS (
                    SELECT 1 FROM relationship WHERE node = a.value AND type = t.value AND outgoing = 1
                    LIMIT 1 OFFSET {HUB_DEGREE}) AS hub
                  FROM json_each(:nodes) AS a CROSS JOIN json_each(:types) AS t)
                SELECT r.node AS source, r.other AS target, {weight} AS weight
                FROM start CROSS JOIN relationship AS r ON r.node = start.node AND r.type = start.type
                  AND r.outgoing = 1 AND +r.other IN {in_list("nodes")} WHERE NOT start.hub
                UNION ALL
                SELECT r.node, r.other, {weight}
                FROM start CROSS JOIN json_each(:nodes) AS b CROSS JOIN relationship AS r
                  ON r.node = start.node AND r.type = start.type AND r.outgoing = 1 AND r.other = b.value
                WHERE start.hub
                ORDER BY 1, 2""",
            nodes=to_json(nodes),
            types=scope.types,
            name=view.weight,
        )
        if view.weight is None:
            return [(source, target, ONE) for source, target, _ in rows]
        return [(source, target, [json.loads(weight)]) for source, target, weight in rows]
