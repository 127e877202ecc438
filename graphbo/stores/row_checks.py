"""Checks of what is about to be written, shared by the stores: bad input never reaches a database."""

import json
import math
from collections.abc import Mapping, Sequence

from graphbo.errors import InvalidName, InvalidView, Remedy, StoreError
from graphbo.stores.contract import EdgeRow, NodeRow
from graphbo.stores.subgraphs import show_key
from graphbo.types import NodeKey, Property, View, check_name
from graphbo.types.text import cut

__all__ = [
    "checked_key",
    "checked_labels",
    "edge_rows",
    "identity",
    "key_property",
    "node_rows",
    "parallel_rows",
    "written_type",
]

SMALLEST, LARGEST = -(2**63), 2**63 - 1


def key_property(view: View) -> str:
    """The view's key property, which writing needs.

    Raises:
        InvalidView: the view has none.
    """
    if view.key is None:
        raise InvalidView("writing a graph needs a key property", Remedy.NAME_KEY)
    return view.key


def checked_key(key: object) -> NodeKey:
    """The key, if every database can store it.

    Raises:
        StoreError: it is neither a 64-bit integer nor well-formed text.
    """
    if isinstance(key, bool) or not isinstance(key, (str, int)):
        raise StoreError(f"the key {show_key(key)} is neither a string nor an integer")
    if isinstance(key, int) and not SMALLEST <= key <= LARGEST:
        raise StoreError(f"the key {key} does not fit into 64 bits: write it as a string")
    if isinstance(key, str) and ("\0" in key or _malformed(key)):
        raise StoreError(
            f"the key {cut(ascii(key), 60)} is not well-formed text, or contains a NUL"
        )
    return key


def node_rows(view: View, nodes: Sequence[NodeRow]) -> dict[NodeKey, dict[str, Property]]:
    """A batch of nodes, checked before any of it is written, each node once.

    Raises:
        InvalidView: the view has no key.
        StoreError: a key that cannot be stored.
        InvalidName: a property that cannot be stored.
    """
    key_property(view)
    rows: dict[NodeKey, dict[str, Property]] = {}
    for key, properties in nodes:
        rows.setdefault(checked_key(key), {}).update(_checked(properties))
    return rows


def edge_rows(
    view: View, edges: Sequence[EdgeRow]
) -> dict[tuple[NodeKey, NodeKey], dict[str, Property]]:
    """A batch of relationships, checked before any of it is written, each pair once.

    Raises:
        As ``node_rows``.
    """
    key_property(view)
    rows: dict[tuple[NodeKey, NodeKey], dict[str, Property]] = {}
    for source, target, properties in edges:
        pair = checked_key(source), checked_key(target)
        rows.setdefault(pair, {}).update(_checked(properties))
    return rows


def parallel_rows(
    view: View, edges: Sequence[EdgeRow]
) -> list[tuple[NodeKey, NodeKey, Mapping[str, Property]]]:
    """A batch of relationships of which a pair may have several, checked; those equal in everything once.

    Raises:
        As ``node_rows``.
    """
    key_property(view)
    rows: dict[tuple[NodeKey, NodeKey, str], tuple[NodeKey, NodeKey, Mapping[str, Property]]] = {}
    for source, target, properties in edges:
        pair = checked_key(source), checked_key(target)
        rows.setdefault((*pair, identity(_checked(properties))), (*pair, properties))
    return list(rows.values())


def identity(properties: Mapping[str, object]) -> str:
    """A text that is equal for equal properties, and for no others."""
    return json.dumps(properties, sort_keys=True)


def checked_labels(view: View, labels: Sequence[str]) -> list[str]:
    """The labels that nodes get beside the view's first, each once.

    Raises:
        InvalidName: one that cannot be written.
    """
    names = dict.fromkeys(check_name(label, "label") for label in labels)
    return [name for name in names if name != view.labels[0]]


def written_type(view: View) -> str:
    """The type of the relationships that are written.

    Raises:
        InvalidView: the view has none.
    """
    if not view.relationships:
        raise InvalidView("writing relationships needs a type of theirs", Remedy.NAME_RELATIONSHIP)
    return view.relationships[0]


def _checked(properties: Mapping[str, Property]) -> Mapping[str, Property]:
    for name, value in properties.items():
        check_name(name, "property name")
        for item in value if isinstance(value, list) else [value]:
            _check_value(name, item)
    return properties


def _check_value(name: str, value: object) -> None:
    if isinstance(value, str):
        fits = not _malformed(value)
    elif isinstance(value, float):
        fits = math.isfinite(value)
    elif isinstance(value, int):
        fits = SMALLEST <= value <= LARGEST
    else:
        fits = False
    if not fits:
        raise InvalidName(
            f"the property {name!r} has the value {cut(ascii(value), 60)}: "
            "expected text, a finite number, true or false, or a list of them"
        )


def _malformed(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
