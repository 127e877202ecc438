"""Views with connectors, paths and conditions in Cypher: who is one hop away, and where paths meet.

A path is walked layer by layer from nodes that are at its start. A node inside of it that has too many neighbours, by
the counters that the database keeps, is a hub: it is tested before its relationships are walked, so it costs no more
than any other.
"""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from graphbo.stores.neo4j.names import any_of
from graphbo.stores.neo4j.predicates import is_candidate, is_node, predicate
from graphbo.types import View
from graphbo.types.paths import Direction, Path, Step

__all__ = [
    "connector_degree",
    "degree_along",
    "meetings",
    "nearby",
    "path_hubs",
    "relationship",
    "summed",
    "walks_of",
]

_ARROWS: dict[Direction, tuple[str, str]] = {
    "both": ("-", "-"),
    "out": ("-", "->"),
    "in": ("<-", "-"),
}


def relationship(types: tuple[str, ...], direction: Direction, variable: str = "") -> str:
    """A relationship of a pattern."""
    left, right = _ARROWS[direction]
    return f"{left}[{variable}:{any_of(types)}]{right}"


def walks_of(view: View) -> list[Path]:
    """The view's paths as they lead from a node to its neighbours."""
    found = list(view.paths) if view.direction != "in" else []
    if view.direction != "out":
        turned = (path.turned for path in view.paths)
        found += [path for path in turned if view.direction == "in" or path not in view.paths]
    return list(dict.fromkeys(found))


def connector_degree(view: View, variable: str) -> str:
    """How many relationships of the view's types a node has."""
    if not view.relationships:
        return "0"
    return f"COUNT {{ ({variable}){relationship(view.relationships, 'both')}() }}"


@dataclass(frozen=True)
class _Walk:
    """A path of a view, walked from its start; its nodes are called ``v0``, ``v1``, and so on."""

    view: View
    path: Path

    def fulfils(self, at: int) -> str:
        """Whether the node at a place is what the path asks for."""
        condition = self.path.nodes[at]
        return "true" if condition is None else predicate(self.view, condition, f"v{at}")

    def step(self, at: int) -> str:
        """The relationship that leads to the node at a place, from the one before."""
        step = self.path.steps[at - 1]
        return f"(v{at - 1}){relationship(step.types, step.direction, f'r{at}')}(v{at})"

    def passes(self, at: int) -> str:
        """Whether the relationship that leads there fulfils its filter."""
        where = self.path.steps[at - 1].where
        return "true" if where is None else predicate(self.view, where, f"r{at}")

    def counts(self, at: int) -> tuple[str, str]:
        """How many relationships lead to the inner node at a place, and how many from it."""
        return _count(self.path.steps[at - 1].turned, at), _count(self.path.steps[at], at)

    def no_hub(self, at: int) -> str:
        """Whether the inner node at a place has few enough neighbours."""
        arriving, leaving = self.counts(at)
        limit = self.view.hub_limit
        # Where nothing leads on, there is no way.
        return f"{arriving} <= {limit} AND 0 < {leaving} <= {limit}"

    def factor(self, at: int) -> str:
        """What a way weighs for leading through the inner node at a place."""
        arriving, leaving = self.counts(at)
        return f"1.0 / sqrt(toFloat({arriving}) * {leaving})"

    def reached(self, start: str) -> str:
        """Clauses that end with ``m``, the nodes at the end of the path, and with how much the ways there weigh.

        ``start`` makes ``v0``. A node comes as often as there are relationships that lead to it in the end.
        """
        lines = [f"{start} AND {self.fulfils(0)}", "WITH v0, 1.0 AS ways"]
        last = len(self.path.steps)
        for at in range(1, last):
            lines += [
                f"MATCH {self.step(at)} WHERE {self.passes(at)} AND {self.fulfils(at)} AND {self.no_hub(at)}",
                f"RETURN [v{at}, ways] AS one",
            ]
            # A connector is walked through once, however many ways lead to it.
            lines = [
                f"UNWIND {summed(collected(lines))} AS one",
                f"WITH one[0] AS v{at}, one[1] AS ways",
                f"WITH v{at}, ways * {self.factor(at)} AS ways",
            ]
        lines.append(f"MATCH {self.step(last)} WHERE {self.passes(last)} AND {self.fulfils(last)}")
        lines.append(f"WITH v{last} AS m, ways")
        return "\n".join(lines)

    def half(self, length: int, side: int, middle: str) -> str:
        """Clauses that return, for each node in the middle and each row, how much all ways between them weigh."""
        lines = [
            f"UNWIND nodes AS v0 WITH v0 WHERE {self.fulfils(0)}",
            "WITH v0 AS start, v0, 1.0 AS ways",
        ]
        for at in range(1, length + 1):
            lines.append(
                f"MATCH {self.step(at)} WHERE {self.passes(at)} AND {self.fulfils(at)} AND {self.no_hub(at)}"
            )
            lines.append(f"WITH start, v{at}, sum(ways) AS ways")
            if at < length:
                lines.append(f"WITH start, v{at}, ways * {self.factor(at)} AS ways")
        lines.append(
            f"RETURN v{length} AS {middle}, {self.factor(length)} AS weight, id(start) AS row, ways, {side} AS side"
        )
        return "\n".join(lines)

    def hubs(self, length: int) -> Iterator[str]:
        """For each layer, clauses that return the hubs in it as ``hub``."""
        for layer in range(1, length + 1):
            lines = [f"UNWIND nodes AS v0 WITH v0 WHERE {self.fulfils(0)}"]
            for at in range(1, layer + 1):
                wanted = self.no_hub(at) if at < layer else f"NOT ({self.few(at)})"
                lines.append(
                    f"MATCH {self.step(at)} WHERE {self.passes(at)} AND {self.fulfils(at)} AND {wanted}"
                )
                lines.append(f"WITH DISTINCT v{at}")
            lines.append(f"RETURN v{layer} AS hub")
            yield "\n".join(lines)

    def few(self, at: int) -> str:
        """Whether the inner node at a place is no hub, whether or not something leads on."""
        arriving, leaving = self.counts(at)
        return f"{arriving} <= {self.view.hub_limit} AND {leaving} <= {self.view.hub_limit}"


def _count(step: Step, at: int) -> str:
    return f"COUNT {{ (v{at}){relationship(step.types, step.direction)}() }}"


def collected(lines: Iterable[str]) -> str:
    """The list of what clauses return."""
    return f"COLLECT {{\n{textwrap.indent(chr(10).join(lines), '  ')}\n}}"


def summed(pairs: str) -> str:
    """A list of nodes, each once, with the sum of what is beside it in a list of pairs.

    Neo4j 5 refuses ``sum`` inside of what is done for each element of a list, as egos are grown. So the pairs are
    sorted, and those of a node are a slice.
    """
    return (
        f"head([sorted IN [COLLECT {{ UNWIND {pairs} AS pair WITH pair ORDER BY id(pair[0]) RETURN pair }}] |\n"
        "  head([starts IN [[at IN range(0, size(sorted) - 1) WHERE at = 0 OR sorted[at][0] <> sorted[at - 1][0]]] |\n"
        "    [at IN range(0, size(starts) - 1) | [sorted[starts[at]][0], reduce(total = 0.0,\n"
        "      pair IN sorted[starts[at]..coalesce(starts[at + 1], size(sorted))] | total + pair[1])]]])])"
    )


def nearby(view: View, start: str) -> str:
    """Clauses that return ``one``: a node of the graph one hop from what ``start`` makes ``v0``, and how near it is.

    That is what the ways there weigh: a node that several lead to comes several times. Without paths, all are
    equally near.
    """
    member = is_node(view, "m") if view.has_connectors else is_candidate(view, "m")
    parts = []
    if view.relationships:
        hop = relationship(view.relationships, view.direction)
        ways = "m, 1.0 AS ways" if view.paths else "DISTINCT m, 0.0 AS ways"
        parts.append(f"{start}\nMATCH (v0){hop}(m)\nWITH {ways}")
    parts += [_Walk(view, path).reached(start) for path in walks_of(view)]
    if not parts:
        parts = [f"{start} AND false\nWITH v0 AS m, 0.0 AS ways"]
    return "\nUNION ALL\n".join(f"{part} WHERE {member}\nRETURN [m, ways] AS one" for part in parts)


def meetings(view: View) -> str:
    """Clauses that return ``one``: for each middle of a path among ``nodes``, its weight and what meets there."""
    parts = []
    for path in view.paths:
        walk = _Walk(view, path)
        if len(path.steps) == 1:
            parts.append(
                f"UNWIND nodes AS v0 WITH v0 WHERE {walk.fulfils(0)}\n"
                f"MATCH {walk.step(1)} WHERE v1 IN nodes AND {walk.passes(1)} AND {walk.fulfils(1)}\n"
                "WITH v0, v1, toFloat(count(*)) AS ways\n"
                "RETURN [1.0, [[id(v0), 1.0]], [[id(v1), ways]]] AS one"
            )
            continue
        middle = len(path.steps) // 2
        if path == path.turned:
            parts.append(
                f"CALL (nodes) {{\n{walk.half(middle, 0, 'middle')}\n}}\n"
                "WITH middle, weight, collect([row, ways]) AS starts WHERE size(starts) > 1\n"
                "RETURN [weight, starts, starts] AS one"
            )
            continue
        turned = _Walk(view, path.turned)
        parts.append(
            f"CALL (nodes) {{\n{walk.half(middle, 0, 'middle')}\nUNION ALL\n"
            f"{turned.half(len(path.steps) - middle, 1, 'middle')}\n}}\n"
            "WITH middle, collect(CASE side WHEN 0 THEN weight END) AS weights,\n"
            "     collect(CASE side WHEN 0 THEN [row, ways] END) AS starts,\n"
            "     collect(CASE side WHEN 1 THEN [row, ways] END) AS stops\n"
            "WHERE size(starts) > 0 AND size(stops) > 0\n"
            "RETURN [weights[0], starts, stops] AS one"
        )
    return "\nUNION ALL\n".join(parts) or "WITH nodes WHERE false RETURN null AS one"


def path_hubs(view: View) -> str:
    """Clauses that return ``hub``: the hubs that were skipped on the way along paths from ``nodes``."""
    parts: list[str] = []
    for path in view.paths:
        middle = len(path.steps) // 2
        parts += _Walk(view, path).hubs(middle)
        if path != path.turned and len(path.steps) > 1:
            parts += _Walk(view, path.turned).hubs(len(path.steps) - middle)
    return "\nUNION\n".join(parts) or "WITH nodes WHERE false RETURN null AS hub"


def degree_along(view: View, variable: str) -> str:
    """How many relationships and ways lead from a node, by the counters that the database keeps."""
    terms = []
    if view.relationships:
        hop = relationship(view.relationships, view.direction)
        terms.append(f"COUNT {{ ({variable}){hop}() }}")
    for path in walks_of(view):
        walk = _Walk(view, path)
        condition = path.nodes[0]
        begins = "true" if condition is None else predicate(view, condition, variable)
        if len(path.steps) == 1:
            step = relationship(path.steps[0].types, path.steps[0].direction)
            found = f"COUNT {{ ({variable}){step}() }}"
        else:
            _, leaving = walk.counts(1)
            step = walk.step(1).replace("(v0)", f"({variable})", 1)
            found = (
                f"reduce(sum = 0, ways IN COLLECT {{ MATCH {step} WHERE {walk.passes(1)} AND {walk.fulfils(1)} "
                f"AND {walk.no_hub(1)} RETURN {leaving} - 1 }} | sum + ways)"
            )
        terms.append(f"CASE WHEN {begins} THEN {found} ELSE 0 END")
    return " + ".join(terms) or "0"
