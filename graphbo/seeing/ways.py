"""A view's edges as Cypher for people to paste: names are quoted, values are written out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphbo.stores.neo4j.statements import literal, quote
from graphbo.types import Direction, View
from graphbo.types.conditions import (
    And,
    Comparison,
    Condition,
    HasLabel,
    IsIn,
    IsNull,
    Not,
    Or,
)
from graphbo.types.paths import Path, Step

__all__ = ["Way", "alternatives", "connector", "edge_types", "ways_between", "ways_from"]

_ARROWS: dict[Direction, tuple[str, str]] = {
    "both": ("-", "-"),
    "out": ("-", "->"),
    "in": ("<-", "-"),
}
#: The same relationships, seen from their other end.
_TURNED: dict[Direction, Direction] = {"both": "both", "out": "in", "in": "out"}


def edge_types(view: View) -> str:
    """The types of all relationships that edges are made of, as a pattern has them; empty where there are none."""
    steps = (kind for path in view.paths for step in path.steps for kind in step.types)
    return _any_of(tuple(dict.fromkeys((*view.relationships, *steps))))


@dataclass(frozen=True)
class Way:
    """One kind of edge from a node ``n`` to a node ``m``.

    Attributes:
        pattern: what it looks like.
        conditions: what its nodes and relationships have to fulfil.
    """

    pattern: str
    conditions: tuple[str, ...]


def ways_from(view: View) -> list[Way]:
    """The kinds of edges that a view has. Connectors of paths that are hubs are skipped, as in a run."""
    found = []
    if view.relationships:
        where = () if view.where is None else (_condition(view.where, "m"),)
        found.append(Way(f"(n)-[:{_any_of(view.relationships)}]-(m:{_any_of(view.labels)})", where))
    return [*found, *(_way(view, path) for path in _walked(view))]


def ways_between(view: View) -> list[Way]:
    """The ways that lead through connectors: those of paths, and relationships to a connector of the view and on."""
    found = [_way(view, path) for path in _walked(view) if len(path.steps) > 1]
    if view.relationships and view.has_connectors:
        types = _any_of(view.relationships)
        conditions = [
            connector(view, "c1"),
            f"COUNT {{ (c1)-[:{types}]-() }} <= {view.hub_limit}",
            *([] if view.where is None else [_condition(view.where, "c1")]),
        ]
        pattern = f"(n)-[:{types}]-(c1:{_any_of(view.labels)})-[:{types}]-(m)"
        found.append(Way(pattern, tuple(conditions)))
    return found


def connector(view: View, variable: str) -> str:
    """Whether a node of the view is no candidate, as a condition."""
    labels = " OR ".join(f"{variable}:{quote(label)}" for label in view.candidate_labels)
    condition = view.candidate_condition
    candidate = (
        f"(({labels}) AND {_condition(condition, variable)})" if condition else f"({labels})"
    )
    return f"NOT coalesce({candidate}, false)"


def alternatives(ways: Sequence[Way], ending: str, *more: str) -> str:
    """The inside of a subquery that answers with each of the ways as ``way``, or with nothing where there is none.

    Args:
        ways: one after the other.
        ending: what stands behind each of them.
        more: further conditions.
    """
    parts = []
    for one in ways:
        conditions = " AND ".join((*one.conditions, *more))
        where = f"\n  WHERE {conditions}" if conditions else ""
        parts.append(f"  OPTIONAL MATCH way = {one.pattern}{where}\n  {ending}")
    return "\n  UNION\n".join(parts) or "  RETURN null AS way"


def _walked(view: View) -> list[Path]:
    """Each path from either of its ends; where they are alike that is the same."""
    return list(dict.fromkeys(one for path in view.paths for one in (path, path.turned)))


def _any_of(names: Sequence[str]) -> str:
    return "|".join(map(quote, names))


def _way(view: View, path: Path) -> Way:
    """A path as a pattern, and what its nodes and relationships have to fulfil."""
    inner = [f"c{place}" for place in range(1, len(path.steps))]
    nodes = ["n", *inner, "m"]
    steps = [f"s{place}" for place in range(1, len(path.steps) + 1)]
    pattern = "(n)"
    for name, step, node in zip(steps, path.steps, nodes[1:], strict=True):
        pattern += f"{_step(step, name if step.where is not None else '')}({node})"
    conditions = [
        _condition(part, name)
        for name, part in [
            *zip(nodes, path.nodes, strict=True),
            *((name, step.where) for name, step in zip(steps, path.steps, strict=True)),
            ("m", view.where),
        ]
        if part is not None
    ]
    for place, name in enumerate(inner):
        arriving, leaving = path.steps[place], path.steps[place + 1]
        back = Step(arriving.types, _TURNED[arriving.direction])
        # By the degrees that the database stores: nothing is walked for it.
        conditions += dict.fromkeys(
            f"COUNT {{ ({name}){_step(step)}() }} <= {view.hub_limit}"
            for step in (back, Step(leaving.types, leaving.direction))
        )
    return Way(pattern, tuple(conditions))


def _step(step: Step, variable: str = "") -> str:
    left, right = _ARROWS[step.direction]
    return f"{left}[{variable}:{_any_of(step.types)}]{right}"


def _condition(condition: Condition, variable: str) -> str:
    """A condition on what the variable stands for, in parentheses where it has parts."""
    if isinstance(condition, HasLabel):
        return f"{variable}:{quote(condition.name)}"
    if isinstance(condition, Comparison):
        value = literal(condition.value)
        return f"{variable}.{quote(condition.property)} {condition.operator} {value}"
    if isinstance(condition, IsIn):
        return f"{variable}.{quote(condition.property)} IN {literal(condition.values)}"
    if isinstance(condition, IsNull):
        return f"{variable}.{quote(condition.property)} IS NULL"
    if isinstance(condition, Not):
        return f"NOT ({_condition(condition.part, variable)})"
    return _joined(condition, variable)


def _joined(condition: And | Or, variable: str) -> str:
    word = " AND " if isinstance(condition, And) else " OR "
    return f"({word.join(_parts(condition, variable))})"


def _parts(condition: And | Or, variable: str) -> Iterator[str]:
    return (_condition(part, variable) for part in condition.parts)
