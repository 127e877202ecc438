"""Conditions in Cypher: names are quoted, and values are in the parameter ``$values``.

A condition that is unknown is not true, in Cypher as in a view; where the opposite of one is asked for, ``coalesce``
says so.
"""

from collections.abc import Iterable, Iterator

from graphbo.stores.neo4j.names import any_of, quote
from graphbo.types import View
from graphbo.types.conditions import (
    And,
    Comparison,
    Condition,
    HasLabel,
    IsIn,
    IsNull,
    Not,
    Value,
    values_in,
)

__all__ = ["index_for", "is_candidate", "is_node", "predicate", "values_of"]


def _conditions(view: View) -> Iterator[Condition | None]:
    """Every condition of a view, in an order that is always the same."""
    yield from (view.where, view.candidates_where)
    for path in view.paths:
        yield from path.nodes
        yield from (step.where for step in path.steps)


def values_of(view: View) -> list[object]:
    """What ``$values`` has to be: everything that the view's conditions compare with, each value once."""
    return [list(one) if isinstance(one, tuple) else one for one in _values(view).values()]


def _values(view: View) -> dict[str, Value | tuple[Value, ...]]:
    # 1, 1.0 and true are equal in Python, and different values.
    found = (value for one in _conditions(view) for value in values_in(one))
    return {repr(value): value for value in found}


def predicate(view: View, condition: Condition, variable: str) -> str:
    """A condition of the view's on a node or a relationship, in parentheses.

    Raises:
        InvalidName: a name that cannot be quoted.
    """
    if isinstance(condition, HasLabel):
        return f"({variable}:{quote(condition.name)})"
    if isinstance(condition, Not):
        return f"(NOT {predicate(view, condition.part, variable)})"
    if isinstance(condition, (Comparison, IsIn, IsNull)):
        return f"({variable}.{quote(condition.property)} {_test(view, condition)})"
    word = " AND " if isinstance(condition, And) else " OR "
    return f"({word.join(predicate(view, part, variable) for part in condition.parts)})"


def _test(view: View, condition: Comparison | IsIn | IsNull) -> str:
    if isinstance(condition, IsNull):
        return "IS NULL"
    operator, value = (
        ("IN", condition.values)
        if isinstance(condition, IsIn)
        else (condition.operator, condition.value)
    )
    return f"{operator} $values[{list(_values(view)).index(repr(value))}]"


def is_node(view: View, variable: str) -> str:
    """Whether a node belongs to the graph."""
    return _has(view, variable, view.labels, view.where)


def is_candidate(view: View, variable: str) -> str:
    """Whether a node may be measured."""
    return _has(view, variable, view.candidate_labels, view.candidate_condition)


def _has(view: View, variable: str, labels: tuple[str, ...], condition: Condition | None) -> str:
    labelled = f"({variable}:{any_of(labels)})"
    if condition is None:
        return labelled
    return f"({labelled} AND {predicate(view, condition, variable)})"


def index_for(view: View) -> str | None:
    """What makes an index by which a filter finds its nodes, label by label; None if none would help."""
    condition = view.candidate_condition
    parts = condition.parts if isinstance(condition, And) else (condition,)
    for part in _flat(parts):
        if isinstance(part, (Comparison, IsIn)) and not (
            isinstance(part, Comparison) and part.operator == "<>"
        ):
            lines = (
                f"CREATE INDEX FOR (n:{quote(label)}) ON (n.{quote(part.property)})"
                for label in view.candidate_labels
            )
            return "; ".join(lines)
    return None


def _flat(parts: Iterable[Condition | None]) -> Iterator[Condition | None]:
    for part in parts:
        if isinstance(part, And):
            yield from _flat(part.parts)
        else:
            yield part
