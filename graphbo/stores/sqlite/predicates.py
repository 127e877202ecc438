"""Conditions in SQL: what Cypher answers, from properties that are kept as JSON.

A predicate is 1, 0 or NULL, which are Cypher's true, false and null, and AND, OR and NOT do with them what Cypher's do.
Names are written into the text as literals, values are parameters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphbo.stores.sqlite.file import to_json
from graphbo.types.conditions import (
    And,
    Comparison,
    Condition,
    HasLabel,
    IsIn,
    IsNull,
    Not,
    Or,
    Value,
)

__all__ = ["Predicates", "index_on", "value_of"]

#: Cypher compares what has an order with its own kind only; what comes first is what ``json_type`` says.
_KINDS: Mapping[type, Sequence[str]] = {
    bool: ("true", "false"),
    int: ("integer", "real"),
    float: ("integer", "real"),
    str: ("text",),
}


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _path(name: str) -> str | None:
    """A name as a JSON path, if one can spell it: paths know no escapes, and some names are kept with them."""
    return None if to_json(name) != f'"{name}"' else literal(f'$."{name}"')


def value_of(properties: str, name: str) -> str:
    """The value of a property as SQLite has it: true and 1 are the same, a list is its text."""
    path = _path(name)
    if path is not None:
        return f"json_extract({properties}, {path})"
    return f"json_extract(property({properties}, {literal(name)}), '$')"


def _type_of(properties: str, name: str) -> str:
    path = _path(name)
    if path is not None:
        return f"coalesce(json_type({properties}, {path}), 'null')"
    return f"json_type(property({properties}, {literal(name)}), '$')"


def index_on(condition: Condition | None) -> str | None:
    """The statement that makes an index by which nodes that fulfil a condition are found; None if none would do."""
    parts = condition.parts if isinstance(condition, And) else (condition,)
    for part in parts:
        if isinstance(part, And):
            found = index_on(part)
        elif isinstance(part, (Comparison, IsIn)) and getattr(part, "operator", "") != "<>":
            found = _index_on(part.property)
        else:
            found = None
        if found is not None:
            return found
    return None


def _index_on(name: str) -> str | None:
    if _path(name) is None:
        return None
    return f"CREATE INDEX {_quoted(f'node_{name}')} ON node ({value_of('properties', name)})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _joined(word: str, parts: Sequence[str]) -> str:
    """Half of them, and the other half: SQLite takes only so many levels of a text."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return f"({_joined(word, parts[:half])} {word} {_joined(word, parts[half:])})"


@dataclass
class Predicates:
    """Makes predicates of conditions, and keeps the values that their text has parameters for.

    Args:
        labels: the numbers of labels by name; a label without one is on no node.
    """

    labels: Mapping[str, int]
    parameters: dict[str, object] = field(default_factory=dict)

    def on_node(self, condition: Condition | None, node: str) -> str:
        """Whether a node fulfils a condition."""
        if condition is None:
            return "1"
        return self._text(condition, node)

    def on_relationship(self, condition: Condition | None, relationship: str) -> str:
        """The same for a relationship, which has no label."""
        return self.on_node(condition, relationship)

    def seeks(self, condition: Condition | None, node: str) -> list[str]:
        """What is true wherever a condition is, and may be looked up in an index on a property."""
        parts = condition.parts if isinstance(condition, And) else (condition,)
        return [text for part in parts for text in self._seek(part, node)]

    def _seek(self, part: Condition | None, node: str) -> list[str]:
        if isinstance(part, And):
            return self.seeks(part, node)
        if isinstance(part, IsIn):
            values = ", ".join(map(self._parameter, part.values))
            return [f"{value_of(f'{node}.properties', part.property)} IN ({values})"]
        if isinstance(part, Comparison) and part.operator not in ("<>", "STARTS WITH"):
            value = value_of(f"{node}.properties", part.property)
            return [f"{value} {part.operator} {self._parameter(part.value)}"]
        if isinstance(part, Comparison) and part.operator == "STARTS WITH":
            value, start = (
                value_of(f"{node}.properties", part.property),
                self._parameter(part.value),
            )
            # No text is beyond the last character.
            return [f"{value} >= {start} AND {value} < {start} || char(1114111)"]
        return []

    def _text(self, condition: Condition, of: str) -> str:
        if isinstance(condition, HasLabel):
            return self._has_label(condition.name, of)
        if isinstance(condition, IsNull):
            return f"({_type_of(f'{of}.properties', condition.property)} = 'null')"
        if isinstance(condition, Not):
            return f"(NOT {self._text(condition.part, of)})"
        if isinstance(condition, (And, Or)):
            word = "AND" if isinstance(condition, And) else "OR"
            return _joined(word, [self._text(part, of) for part in condition.parts])
        if isinstance(condition, IsIn):
            return self._is_in(condition, of)
        return self._compares(condition, of)

    def _has_label(self, name: str, node: str) -> str:
        number = self.labels.get(name)
        if number is None:
            return "0"
        return (
            f"({node}.label = {number} OR EXISTS "
            f"(SELECT 1 FROM further WHERE node = {node}.id AND label = {number}))"
        )

    def _compares(self, condition: Comparison, of: str) -> str:
        kinds = _KINDS[type(condition.value)]
        value, wanted = (
            value_of(f"{of}.properties", condition.property),
            self._parameter(condition.value),
        )
        if condition.operator == "STARTS WITH":
            test = f"substr({value}, 1, length({wanted})) = {wanted}"
        else:
            test = f"{value} {condition.operator} {wanted}"
        # Values of two kinds are not equal, which is known; which one is larger is not.
        otherwise = {"=": "0", "<>": "1"}.get(condition.operator, "NULL")
        cases = " ".join(f"WHEN '{kind}' THEN {test}" for kind in kinds)
        kind = _type_of(f"{of}.properties", condition.property)
        return f"(CASE {kind} WHEN 'null' THEN NULL {cases} ELSE {otherwise} END)"

    def _is_in(self, condition: IsIn, of: str) -> str:
        if not condition.values:
            return "0"
        value = value_of(f"{of}.properties", condition.property)
        cases = []
        for kinds in dict.fromkeys(_KINDS[type(one)] for one in condition.values):
            wanted = ", ".join(
                self._parameter(one) for one in condition.values if _KINDS[type(one)] == kinds
            )
            cases += [f"WHEN '{kind}' THEN {value} IN ({wanted})" for kind in kinds]
        kind = _type_of(f"{of}.properties", condition.property)
        return f"(CASE {kind} WHEN 'null' THEN NULL {' '.join(cases)} ELSE 0 END)"

    def _parameter(self, value: Value) -> str:
        name = f"value{len(self.parameters)}"
        self.parameters[name] = value
        return f":{name}"
