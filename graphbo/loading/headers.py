"""The first line of a table, in the notation of ``neo4j-admin database import``: ``id:ID(Person),age:int,:LABEL``."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from graphbo.errors import InvalidName, SourceError
from graphbo.loading.base import show
from graphbo.loading.values import INT64, storable
from graphbo.loading.values import number as number_of
from graphbo.types import Property, check_name

__all__ = ["ARRAY_SEPARATOR", "Column", "Header", "Role", "read_header"]

#: Between the values of a list, and between labels.
ARRAY_SEPARATOR: Final = ";"


class Role(StrEnum):
    """What a column is for."""

    ID = "ID"
    LABEL = "LABEL"
    START = "START_ID"
    END = "END_ID"
    TYPE = "TYPE"
    IGNORE = "IGNORE"
    PROPERTY = "property"


def _integer(bits: int) -> Callable[[str], Property]:
    values = INT64 if bits == 64 else range(-(2 ** (bits - 1)), 2 ** (bits - 1))

    def read(text: str) -> Property:
        try:
            value = int(text.replace("_", "?"))  # int() would accept 1_000
        except ValueError:
            raise ValueError(f"{show(text)} is not an integer") from None
        if value not in values:
            raise ValueError(f"{show(text)} does not fit into {bits} bits")
        return value

    return read


def _float(text: str) -> Property:
    try:
        value = storable(number_of(text))
    except ValueError:
        raise ValueError(f"{show(text)} is not a number") from None
    if value is None:
        raise ValueError(f"{show(text)} is not finite")
    return value


def _boolean(text: str) -> Property:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{show(text)} is neither true nor false")
    return text.lower() == "true"


def _text(text: str) -> Property:
    storable(text)  # or it raises
    return text


def _character(text: str) -> Property:
    if len(text) != 1:
        raise ValueError(f"{show(text)} is not one character")
    return _text(text)


#: What reads a value, by the name of its type.
_TYPES: Final[Mapping[str, Callable[[str], Property]]] = {
    "byte": _integer(8),
    "short": _integer(16),
    "int": _integer(32),
    "long": _integer(64),
    "float": _float,
    "double": _float,
    "boolean": _boolean,
    "char": _character,
    "string": _text,
}

#: Types that not every database has: their values are kept as the text that the table has.
_AS_TEXT: Final = ("date", "time", "localtime", "datetime", "localdatetime", "duration", "point")

_SPECIAL: Final = {role.value: role for role in Role if role is not Role.PROPERTY}

#: ``name:type(group)[]{options}``. A name may have colons in it, if a type follows.
_CELL: Final = re.compile(
    r"(?:(?P<name>.*):)?(?P<type>[^:(){}\[\]]*)(?:\((?P<group>[^()]*)\))?(?P<array>\[\])?(?:\{(?P<options>[^{}]*)\})?",
    re.DOTALL,
)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        role: what it is for.
        name: the property that it becomes; empty if none.
        type: of its values.
        array: whether each field has several values.
        group: within which its ids are unique; empty for the group of all tables that name none.
        options: what braces say of it.
    """

    role: Role
    name: str = ""
    type: str = "string"
    array: bool = False
    group: str = ""
    options: tuple[tuple[str, str], ...] = ()

    @property
    def as_text(self) -> bool:
        """Whether its values are kept as text, though they mean something else."""
        return self.type in _AS_TEXT

    def read(self, text: str) -> Property:
        """The value of a field that is not empty.

        Raises:
            ValueError: it is none of the type.
        """
        reader = _TYPES.get(self.type, _text)
        try:
            if not self.array:
                return reader(text)
            return [reader(part) for part in text.split(ARRAY_SEPARATOR)]  # type: ignore[return-value]
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None


@dataclass(frozen=True)
class Header:
    """The columns of a table, in order."""

    columns: tuple[Column, ...]

    def the(self, role: Role) -> int | None:
        """Where the only column of a role is."""
        return next((i for i, one in enumerate(self.columns) if one.role is role), None)

    @property
    def properties(self) -> list[tuple[int, Column]]:
        """The columns that become properties, with their places."""
        return [(i, one) for i, one in enumerate(self.columns) if one.role is Role.PROPERTY]

    @property
    def is_nodes(self) -> bool:
        """Whether it has a column that only a table of nodes has."""
        return any(one.role in (Role.ID, Role.LABEL) for one in self.columns)

    @property
    def is_edges(self) -> bool:
        """Whether it has a column that only a table of edges has."""
        return any(one.role in (Role.START, Role.END, Role.TYPE) for one in self.columns)


def read_header(cells: Sequence[str]) -> Header:
    """The columns that the fields of a first line name.

    Raises:
        SourceError: a field that names no column, or two that name the same.
    """
    header = Header(tuple(_column(cell, place) for place, cell in enumerate(cells, start=1)))
    for role in (Role.ID, Role.LABEL, Role.START, Role.END, Role.TYPE):
        if sum(one.role is role for one in header.columns) > 1:
            raise SourceError(f"several columns :{role.value}, at most one is possible")
    names = Counter(
        one.name for one in header.columns if one.role in (Role.ID, Role.PROPERTY) and one.name
    )
    for name, count in names.items():
        if count > 1:
            raise SourceError(f"{count} columns are called {show(name)}")
    return header


def _column(cell: str, place: int) -> Column:
    found = _CELL.fullmatch(cell)
    if found is None:
        raise SourceError(f"column {place}, {show(cell)}, is not NAME:TYPE")
    if found["name"] is None:
        if not cell or found["group"] is not None or found["options"] or found["array"]:
            raise SourceError(
                f"column {place}, {show(cell)}, has no name: give it one, or call it :IGNORE"
            )
        return Column(Role.PROPERTY, _checked(cell, place))
    role = _SPECIAL.get(found["type"].upper(), Role.PROPERTY)
    options = _options(found["options"] or "", place)
    if role is not Role.PROPERTY:
        if found["array"]:
            raise SourceError(f"column {place}, {show(cell)}, cannot be a list")
        # Only the name of an id is kept.
        name = _checked(found["name"], place) if role is Role.ID and found["name"] else ""
        return Column(role, name, group=found["group"] or "", options=options)
    kind = found["type"].lower()
    if kind not in _TYPES and kind not in _AS_TEXT:
        known = ", ".join([*_TYPES, *_AS_TEXT, *(f":{name}" for name in _SPECIAL)])
        raise SourceError(
            f"column {place}, {show(cell)}, has an unknown type: expected one of {known}"
        )
    if found["group"] is not None:
        raise SourceError(f"column {place}, {show(cell)}: only ids have a group")
    return Column(role, _checked(found["name"], place), kind, bool(found["array"]), options=options)


def _options(text: str, place: int) -> tuple[tuple[str, str], ...]:
    """What braces hold: ``id-type:long, label:Person``."""
    pairs = []
    for part in text.split(","):
        name, colon, value = part.partition(":")
        if part.strip():
            if not colon:
                raise SourceError(f"column {place}: {show(part)} is not OPTION:VALUE")
            pairs.append((name.strip().lower(), value.strip().strip("'\"")))
    return tuple(pairs)


def _checked(name: str, place: int) -> str:
    try:
        return check_name(name, "property name")
    except InvalidName as error:
        raise SourceError(f"column {place}: {error}") from None
