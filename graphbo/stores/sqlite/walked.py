"""Paths in SQL: who is reached along them, and where they meet.

A path is walked layer by layer from nodes that are at its start. A node inside of it that has too many neighbours, by
the degrees that are kept, is a hub: it is tested before its relationships are, so it costs no more than any other.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from graphbo.stores.sqlite.predicates import Predicates
from graphbo.types import View
from graphbo.types.paths import Direction, Path, Step

__all__ = ["WalkedPath", "WalkedStep", "degree_of", "walked", "walks_of"]

#: Which rows of a node are its relationships in a direction; one that leads back to the node itself has two.
_ROWS: Mapping[Direction, str] = {
    "both": "AND (r.outgoing = 1 OR r.other <> r.node)",
    "out": "AND r.outgoing = 1",
    "in": "AND r.outgoing = 0",
}
#: How many those are.
_COUNTS: Mapping[Direction, str] = {
    "both": "outgoing + incoming - loops",
    "out": "outgoing",
    "in": "incoming",
}
_TURNED: Mapping[Direction, Direction] = {"both": "both", "out": "in", "in": "out"}


def degree_of(node: str, types: str, direction: Direction) -> str:
    """How many relationships of these types a node has in a direction, by the count that is kept."""
    return (
        f"(SELECT coalesce(sum({_COUNTS[direction]}), 0) FROM degree "
        f"WHERE degree.node = {node} AND degree.type IN {types})"
    )


@dataclass(frozen=True)
class WalkedStep:
    """One relationship of a path, walked from the node before it.

    Attributes:
        types: its types' numbers, as a list.
        where: what it has to fulfil, as a predicate on ``r``.
    """

    types: str
    direction: Direction
    where: str

    @property
    def turned(self) -> "WalkedStep":
        """The same, walked from the node behind it."""
        return WalkedStep(self.types, _TURNED[self.direction], self.where)

    def leads_from(self, node: str) -> str:
        """The relationships ``r`` that lead on from a node."""
        return (
            f"relationship AS r ON r.node = {node} AND r.type IN {self.types} "
            f"{_ROWS[self.direction]} AND {self.where}"
        )

    def leaving(self, node: str) -> str:
        """How many relationships could lead on from a node."""
        return degree_of(node, self.types, self.direction)

    def arriving(self, node: str) -> str:
        """How many could have led to it."""
        return self.turned.leaving(node)


@dataclass(frozen=True)
class WalkedPath:
    """A path, walked from its start.

    Attributes:
        nodes: what each node of it has to fulfil, as predicates on ``n``.
    """

    nodes: tuple[str, ...]
    steps: tuple[WalkedStep, ...]
    is_palindrome: bool

    @property
    def turned(self) -> "WalkedPath":
        """The same, walked from its other end."""
        steps = tuple(step.turned for step in reversed(self.steps))
        return WalkedPath(self.nodes[::-1], steps, self.is_palindrome)

    def reached(self) -> str:
        """Query for the nodes at its end from ``:frontier``, and for the hubs that were passed by: (id, hub, ways).

        The last is how much all ways to a node weigh together.
        """
        tables = [f"w0(id, hub, ways) AS (SELECT id, 0, 1.0 FROM ({self._begin('frontier')}))"]
        hubs = []
        for at in range(1, len(self.steps)):
            arriving = self.steps[at - 1].arriving("n.id")
            leaving = self.steps[at].leaving("n.id")
            tables.append(
                f"w{at}(id, hub, ways) AS MATERIALIZED (SELECT n.id, {self._is_hub(at)}, "
                f"o.ways * way_weight({arriving}, {leaving}) FROM ({self._step_from(at - 1)}) AS o "
                f"CROSS JOIN node AS n ON n.id = o.id WHERE {self.nodes[at]})"
            )
            hubs.append(f"UNION ALL SELECT id, 1, 0.0 FROM w{at} WHERE hub")
        return (
            f"WITH {', '.join(tables)} SELECT n.id, 0, o.ways FROM ({self._step_from(len(self.steps) - 1)}) AS o "
            f"CROSS JOIN node AS n ON n.id = o.id WHERE {self.nodes[-1]} {' '.join(hubs)}"
        )

    def _step_from(self, at: int) -> str:
        """Query for the nodes one step on from those at a place, and how much all ways there weigh together."""
        before = f"w{at}"
        return (
            f"SELECT r.other AS id, sum({before}.ways) AS ways FROM {before} "
            f"CROSS JOIN {self.steps[at].leads_from(f'{before}.id')} WHERE NOT {before}.hub GROUP BY 1"
        )

    def meetings(self) -> str:
        """Query for what meets in its middle: (middle, degrees there, end, row, ways), or (hub, NULL, …).

        Rows are those of ``:rows``. Of a palindrome, what leads to the middle leads from it, too.
        """
        middle = len(self.steps) // 2
        names = [f"a{at}" for at in range(middle + 1)]
        tables = self._half("a", middle)
        other = "a"
        if not self.is_palindrome:
            other = "b"
            tables += self.turned._half("b", len(self.steps) - middle)
            names += [f"b{at}" for at in range(len(self.steps) - middle + 1)]
        left, right = f"a{middle}", f"{other}{len(self.steps) - middle}"
        few = "HAVING count(*) > 1" if self.is_palindrome else ""
        both = f"SELECT id FROM {right} WHERE id IN (SELECT id FROM {left}) GROUP BY id {few}"
        tables.append(
            "middle(id, arriving, leaving) AS MATERIALIZED (SELECT n.id, "
            f"{self.steps[middle - 1].arriving('n.id')}, {self.steps[middle].leaving('n.id')} "
            f"FROM ({both}) AS o CROSS JOIN node AS n ON n.id = o.id WHERE {self.nodes[middle]})"
        )
        limit = "arriving <= :hub_limit AND leaving <= :hub_limit"
        ends = [(0, left)] if self.is_palindrome else [(0, left), (1, right)]
        parts = [
            f"SELECT middle.id, arriving, leaving, {end}, h.row, h.ways FROM middle "
            f"CROSS JOIN {half} AS h ON h.id = middle.id WHERE {limit}"
            for end, half in ends
        ]
        parts.append(f"SELECT id, NULL, NULL, NULL, NULL, NULL FROM middle WHERE NOT ({limit})")
        inner = [name for name in names if name not in (left, right)]
        parts += [
            f"SELECT id, NULL, NULL, NULL, NULL, NULL FROM {name} WHERE hub" for name in inner
        ]
        return f"WITH {', '.join(tables)} {' UNION ALL '.join(parts)} ORDER BY 1, 4, 5"

    def edges(self) -> str:
        """Query for what a path of one relationship connects among ``:rows``: (start, end, how often)."""
        return (
            f"WITH a0(id, hub) AS ({self._begin('rows')}) "
            f"SELECT a0.id, n.id, count(*) FROM a0 CROSS JOIN {self.steps[0].leads_from('a0.id')} "
            "AND +r.other IN (SELECT value FROM json_each(:rows)) "
            f"CROSS JOIN node AS n ON n.id = r.other WHERE {self.nodes[1]} GROUP BY 1, 2 ORDER BY 1, 2"
        )

    def degrees(self) -> str:
        """Query for how many ways lead from ``:rows`` to neighbours, roughly, by the counts that are kept."""
        begin = f"WITH w0(id, hub) AS ({self._begin('rows')}) "
        if len(self.steps) == 1:
            return f"{begin} SELECT id, {self.steps[0].leaving('w0.id')} FROM w0"
        return (
            f"{begin} SELECT w0.id, max({self.steps[1].leaving('n.id')} - 1, 0) FROM w0 "
            f"CROSS JOIN {self.steps[0].leads_from('w0.id')} "
            f"CROSS JOIN node AS n ON n.id = r.other WHERE {self.nodes[1]} AND NOT {self._is_hub(1)}"
        )

    def _half(self, name: str, length: int) -> list[str]:
        """Tables of (row, id, ways, hub): how much all ways weigh together that lead from a row to a node.

        The weight of the last node is left out, and so is what it has to fulfil.
        """
        tables = [
            f"{name}0(row, id, ways, hub) AS (SELECT id, id, 1.0, 0 FROM ({self._begin('rows')}))"
        ]
        for at in range(1, length + 1):
            before = f"{name}{at - 1}"
            walk = (
                f"SELECT {before}.row AS row, r.other AS id, sum({before}.ways) AS ways FROM {before} "
                f"CROSS JOIN {self.steps[at - 1].leads_from(f'{before}.id')} "
                f"WHERE NOT {before}.hub GROUP BY 1, 2"
            )
            if at < length:
                arriving, leaving = (
                    self.steps[at - 1].arriving("n.id"),
                    self.steps[at].leaving("n.id"),
                )
                walk = (
                    f"SELECT o.row, n.id, o.ways * way_weight({arriving}, {leaving}), {self._is_hub(at)} "
                    f"FROM ({walk}) AS o CROSS JOIN node AS n ON n.id = o.id WHERE {self.nodes[at]}"
                )
            else:
                walk = f"SELECT row, id, ways, 0 FROM ({walk})"
            tables.append(f"{name}{at}(row, id, ways, hub) AS MATERIALIZED ({walk})")
        return tables

    def _begin(self, parameter: str) -> str:
        return (
            f"SELECT n.id AS id, 0 AS hub FROM json_each(:{parameter}) AS one "
            f"CROSS JOIN node AS n ON n.id = one.value WHERE {self.nodes[0]}"
        )

    def _is_hub(self, at: int) -> str:
        """Whether ``n``, the path's node at this place, has too many neighbours."""
        arriving, leaving = self.steps[at - 1].arriving("n.id"), self.steps[at].leaving("n.id")
        return f"({arriving} > :hub_limit OR {leaving} > :hub_limit)"


def walks_of(view: View) -> list[Path]:
    """The view's paths as they lead from a node to its neighbours: from either end, or from one, each once."""
    forward = view.paths if view.direction in ("both", "out") else ()
    back = [path.turned for path in view.paths] if view.direction in ("both", "in") else []
    return list(dict.fromkeys((*forward, *back)))


def walked(path: Path, predicates: Predicates, types: Mapping[str, int]) -> WalkedPath:
    """A path in the file's own numbers."""

    def step(one: Step) -> WalkedStep:
        numbers = [str(types[name]) for name in one.types if name in types]
        where = predicates.on_relationship(one.where, "r")
        return WalkedStep(f"({', '.join(numbers)})", one.direction, where)

    return WalkedPath(
        tuple(predicates.on_node(node, "n") for node in path.nodes),
        tuple(map(step, path.steps)),
        path == path.turned,
    )
