"""Conditions on nodes and relationships, as values: what a filter or a label expression means.

A condition is true, false or unknown, as in Cypher: whatever is compared with a property that is not there is
unknown, and what is not true is left out. ``str()`` gives the text that :mod:`graphbo.types.notation` reads again.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "NAME",
    "WORDS",
    "And",
    "Comparison",
    "Condition",
    "HasLabel",
    "IsIn",
    "IsNull",
    "Not",
    "Operator",
    "Or",
    "Value",
    "any_label",
    "both",
    "label_expression",
    "labels_in",
    "only_labels",
    "pattern",
    "properties_in",
    "required_labels",
    "spelled",
    "values_in",
]

#: What a property may be compared with.
Value: TypeAlias = str | int | float | bool

#: How it may be compared.
Operator: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">=", "STARTS WITH"]

#: A name that needs no backticks, as a regular expression.
NAME = r"[^\W\d]\w*"

#: Words of the notation, which are no names unless they stand in backticks.
WORDS = frozenset(
    ["and", "or", "not", "in", "is", "null", "starts", "with", "true", "false", "where"]
)


def spelled(name: str) -> str:
    """A name as the notation writes it."""
    if re.fullmatch(NAME, name) and name.lower() not in WORDS:
        return name
    return "`" + name.replace("`", "``") + "`"


def _literal(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class HasLabel:
    """Whether a node has a label."""

    name: str

    def __str__(self) -> str:
        return f":{spelled(self.name)}"


@dataclass(frozen=True)
class Comparison:
    """A property against a value."""

    property: str
    operator: Operator
    value: Value

    def __str__(self) -> str:
        return f"{spelled(self.property)} {self.operator} {_literal(self.value)}"


@dataclass(frozen=True)
class IsIn:
    """Whether a property is one of several values."""

    property: str
    values: tuple[Value, ...]

    def __str__(self) -> str:
        return f"{spelled(self.property)} IN [{', '.join(map(_literal, self.values))}]"


@dataclass(frozen=True)
class IsNull:
    """Whether a property is not there."""

    property: str

    def __str__(self) -> str:
        return f"{spelled(self.property)} IS NULL"


@dataclass(frozen=True)
class Not:
    """The opposite; of what is unknown, unknown."""

    part: "Condition"

    def __str__(self) -> str:
        if isinstance(self.part, IsNull):
            return f"{spelled(self.part.property)} IS NOT NULL"
        return f"NOT {_inside(self.part, (And, Or))}"


@dataclass(frozen=True)
class And:
    """All of these."""

    parts: "tuple[Condition, ...]"

    def __str__(self) -> str:
        return " AND ".join(_inside(part, (And, Or)) for part in self.parts)


@dataclass(frozen=True)
class Or:
    """Any of these."""

    parts: "tuple[Condition, ...]"

    def __str__(self) -> str:
        return " OR ".join(_inside(part, (Or,)) for part in self.parts)


Condition: TypeAlias = HasLabel | Comparison | IsIn | IsNull | Not | And | Or


def _inside(part: Condition, in_parentheses: tuple[type, ...]) -> str:
    return f"({part})" if isinstance(part, in_parentheses) else str(part)


def both(*conditions: Condition | None) -> Condition | None:
    """What all of these ask for; None asks for nothing."""
    parts = tuple(one for one in conditions if one is not None)
    return And(parts) if len(parts) > 1 else next(iter(parts), None)


def any_label(names: tuple[str, ...]) -> Condition:
    """Whether a node has one of these labels."""
    labels = tuple(HasLabel(name) for name in names)
    return Or(labels) if len(labels) > 1 else labels[0]


def required_labels(condition: Condition | None) -> tuple[str, ...]:
    """Labels one of which every node has that fulfils a condition; none where it does not say so."""
    if isinstance(condition, HasLabel):
        return (condition.name,)
    if isinstance(condition, Or):
        found = [required_labels(part) for part in condition.parts]
        return tuple(dict.fromkeys(name for names in found for name in names)) if all(found) else ()
    if isinstance(condition, And):
        found = [names for part in condition.parts if (names := required_labels(part))]
        return min(found, key=len, default=())
    return ()


def only_labels(condition: Condition) -> bool:
    """Whether a condition asks for labels and nothing else."""
    if isinstance(condition, (And, Or)):
        return all(map(only_labels, condition.parts))
    if isinstance(condition, Not):
        return only_labels(condition.part)
    return isinstance(condition, HasLabel)


def label_expression(condition: Condition) -> str:
    """A condition on labels as a pattern writes it: ``Application&!Retired``.

    Raises:
        TypeError: it asks for something else.
    """
    if isinstance(condition, HasLabel):
        return spelled(condition.name)
    if isinstance(condition, Not):
        inner = label_expression(condition.part)
        return f"!({inner})" if isinstance(condition.part, (And, Or)) else f"!{inner}"
    if isinstance(condition, (And, Or)):
        parts = (
            f"({label_expression(part)})" if isinstance(part, (And, Or)) else label_expression(part)
            for part in condition.parts
        )
        return ("&" if isinstance(condition, And) else "|").join(parts)
    raise TypeError(f"{condition} is no condition on labels")


def pattern(
    condition: Condition | None, labels: tuple[str, ...] = (), key: str | None = None
) -> str:
    """What a node has to fulfil as Cypher writes it: ``:Application&!Retired {id} WHERE age > 3``.

    Args:
        condition: what it has to fulfil.
        labels: one of these, too.
        key: the property that it is known by.
    """
    parts = condition.parts if isinstance(condition, And) else (condition,)
    wanted = [part for part in parts if part is not None]
    expression = both(*(part for part in wanted if only_labels(part)))
    rest = both(*(part for part in wanted if not only_labels(part)))
    if labels and set(required_labels(expression)) != set(labels):
        expression = both(any_label(labels), expression)
    pieces = [] if expression is None else [f":{label_expression(expression)}"]
    pieces += [] if key is None else [f"{{{spelled(key)}}}"]
    pieces += [] if rest is None else [f"WHERE {rest}"]
    return " ".join(pieces)


def properties_in(condition: Condition | None) -> Iterator[str]:
    """The properties that a condition looks at."""
    if isinstance(condition, (Comparison, IsIn, IsNull)):
        yield condition.property
    elif isinstance(condition, Not):
        yield from properties_in(condition.part)
    elif isinstance(condition, (And, Or)):
        for part in condition.parts:
            yield from properties_in(part)


def labels_in(condition: Condition | None) -> Iterator[str]:
    """The labels that a condition asks about."""
    if isinstance(condition, HasLabel):
        yield condition.name
    elif isinstance(condition, Not):
        yield from labels_in(condition.part)
    elif isinstance(condition, (And, Or)):
        for part in condition.parts:
            yield from labels_in(part)


def values_in(condition: Condition | None) -> Iterator[Value | tuple[Value, ...]]:
    """The values that a condition compares with, from left to right."""
    if isinstance(condition, Comparison):
        yield condition.value
    elif isinstance(condition, IsIn):
        yield condition.values
    elif isinstance(condition, Not):
        yield from values_in(condition.part)
    elif isinstance(condition, (And, Or)):
        for part in condition.parts:
            yield from values_in(part)
