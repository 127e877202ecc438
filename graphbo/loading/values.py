"""Ids, weights and properties: from what files hold to what every store can hold."""

import json
import math
from collections.abc import Mapping
from decimal import Decimal

import numpy as np

from graphbo.errors import InvalidName
from graphbo.loading.base import show
from graphbo.types import NodeKey, Property, check_name

__all__ = ["INT64", "check_id", "is_integer", "number", "properties", "storable", "weight"]

INT64 = range(-(2**63), 2**63)

#: Neo4j cannot index values of more than about 8,000 bytes, and a character may need four.
LONGEST_ID = 2_000


def is_integer(text: str) -> bool:
    """Whether ``text`` is how a 64-bit integer prints: no leading zeros, no plus, no spaces."""
    if text.isascii() and text.isdigit() and len(text) < 19:
        return text[0] != "0" or text == "0"  # nearly always, and quick
    try:
        value = int(text)
    except ValueError:
        return False
    return str(value) == text and value in INT64


def check_id(text: str) -> str:
    """Return ``text`` if it may be the key of a node.

    Raises:
        ValueError: it may not, and why.
    """
    if text and len(text) <= LONGEST_ID and text.isascii() and "\0" not in text:
        return text  # nearly always, and quick
    if not text:
        raise ValueError("an id is empty")
    if len(text) > LONGEST_ID:
        raise ValueError(f"an id has {len(text):,} characters, at most {LONGEST_ID:,} are possible")
    if "\0" in text:
        raise ValueError("an id contains a NUL character")
    _check_surrogates(text, "an id")
    return text


def weight(value: object) -> float:
    """A weight: any finite number ≥ 0, or its text.

    Raises:
        ValueError: it is none, and why.
    """
    if value is None or value == "":
        raise ValueError("the weight is missing")
    try:
        result = number(value)
    except ValueError:
        raise ValueError(f"the weight {show(value)} is not a number") from None
    if not math.isfinite(result):
        raise ValueError(f"the weight {show(value)} is not finite")
    if result < 0:
        raise ValueError(f"the weight {show(value)} is negative")
    return result + 0.0  # -0.0 becomes 0.0


def number(value: object) -> float:
    """The float that a number or its text stands for.

    Raises:
        ValueError: it stands for none.
    """
    if isinstance(value, str):
        if "_" in value:  # float() would accept 1_000, which no file format means
            raise ValueError(value)
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(value)  # noqa: TRY004 - callers catch one kind of error
    try:
        return float(value)
    except OverflowError:
        return math.inf


def properties(
    attributes: Mapping[str, object], node: NodeKey | None = None, key: str | None = None
) -> dict[str, Property]:
    """The attributes of a record as properties; those without a value are left out.

    An attribute of a ``node`` that has the name of the ``key`` property must agree with the node's
    id.

    Raises:
        ValueError: a name or a value that no store can hold, or one that contradicts the id.
    """
    result = {}
    for name, value in attributes.items():
        converted = storable(value)
        if converted is None:
            continue
        if node is not None and name == key:
            if str(value) != str(node):
                raise ValueError(
                    f"its attribute {show(name)} is {show(value)} and its id {show(node)},"
                    " but both would become the key property: choose another"
                )
            continue
        try:
            result[check_name(name, "attribute name")] = converted
        except InvalidName as error:
            raise ValueError(str(error)) from error
    return result


def storable(value: object) -> Property | None:
    """A value as every store can hold it, or None to leave it out.

    Nothing, not-a-number and infinity have no counterpart. Nested values, mixed lists and integers
    beyond 64 bits become text.

    Raises:
        ValueError: text with half a surrogate pair in it.
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    match value:
        case None | bool():
            return value
        case int():
            return value if value in INT64 else str(value)
        case float() | Decimal():
            result = number(value)
            return result if math.isfinite(result) else None
        case str():
            return _check_surrogates(value, "a text")
        case list() | tuple():
            return _list(list(value))
        case _:
            return _json(value)


def _list(values: list[object]) -> Property:
    """A list of one type as it is, one of integers and floats as floats, any other as JSON text."""
    plain = [storable(value) if not isinstance(value, list | dict) else None for value in values]
    if all(isinstance(value, str) for value in values):
        return [value for value in plain if isinstance(value, str)]
    if all(isinstance(value, bool) for value in plain):
        return [value for value in plain if isinstance(value, bool)]
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in plain):
        return _json(values)
    if all(isinstance(value, int) for value in plain):
        return [value for value in plain if isinstance(value, int)]
    return [float(value) for value in plain if isinstance(value, int | float)]


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=_plain)
    return _check_surrogates(text, "a text")


def _plain(value: object) -> object:
    """For what ``json`` does not know: decimals are numbers, the rest becomes text."""
    return number(value) if isinstance(value, Decimal) else str(value)


def _check_surrogates(text: str, what: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} contains half a surrogate pair") from None
    return text
