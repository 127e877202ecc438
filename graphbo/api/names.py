"""What the user calls a node, and what the database does: the user's own objects go in and come out."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphbo.errors import InvalidView
from graphbo.types import LARGEST_INTEGER, NodeKey
from graphbo.types.text import cut

__all__ = ["NodeNames", "kept_names", "numbered_names"]

_NONE: Mapping[str, object] = {}


@dataclass(frozen=True, eq=False)
class NodeNames:
    """From nodes to keys and back. Of a database, whose keys are what the user knows, it has nothing to say.

    Attributes:
        keys: the key of each node.
        nodes: the node of each key.
        attributes: what is known of nodes in Python; None where the database knows it.
    """

    keys: Mapping[Hashable, NodeKey] = field(default_factory=dict)
    nodes: Mapping[NodeKey, Hashable] = field(default_factory=dict)
    attributes: Mapping[Any, Mapping[str, object]] | None = None

    def inward(self, node: Any) -> NodeKey:
        """The key of a node.

        Raises:
            InvalidView: the graph has no such node.
        """
        if not self.keys:
            # What numpy and pandas hand out has a Python value.
            key: NodeKey = node.item() if hasattr(node, "item") else node
            return key
        try:
            return self.keys[node]
        except (KeyError, TypeError):
            raise InvalidView(f"the graph has no node {cut(repr(node), 80)}") from None

    def outward(self, key: NodeKey) -> Any:
        """The node of a key."""
        return self.nodes.get(key, key)

    def attributes_of(self, node: Any) -> Mapping[str, object]:
        """What is known of a node in Python."""
        return _NONE if self.attributes is None else self.attributes.get(node, _NONE)


def numbered_names(
    nodes: Sequence[Hashable], attributes: Mapping[Any, Mapping[str, object]]
) -> NodeNames:
    """Nodes by their numbers: whatever can be hashed may be one, as long as it stays in memory."""
    rows: dict[Hashable, NodeKey] = {node: row for row, node in enumerate(nodes)}
    return NodeNames(rows, {row: node for node, row in rows.items()}, attributes)


def kept_names(
    nodes: Sequence[Hashable], attributes: Mapping[Any, Mapping[str, object]]
) -> NodeNames:
    """Nodes by keys that another process gives them, too.

    Raises:
        InvalidView: a node is neither a text, a whole number nor a tuple of these; or two would have the same key.
    """
    keys: dict[Hashable, NodeKey] = {node: _key(node) for node in nodes}
    found: dict[NodeKey, Hashable] = {}
    for node, key in keys.items():
        if key in found:
            raise InvalidView(
                f"the nodes {found[key]!r} and {node!r} would be kept as the same: rename one of them"
            )
        found[key] = node
    return NodeNames(keys, found, attributes)


def _key(node: Any) -> NodeKey:
    plain = _plain(node)
    if isinstance(plain, tuple):
        return repr(plain)
    key: NodeKey = plain
    return key


def _plain(node: Any) -> Any:
    """A node without what is numpy's about it."""
    value = node.item() if hasattr(node, "item") else node
    if type(value) is tuple and value:
        return tuple(map(_plain, value))
    if type(value) is str and value:
        return value
    if type(value) is int and abs(value) <= LARGEST_INTEGER:
        return value
    kind = type(node).__name__
    raise InvalidView(
        f"the node {cut(repr(node), 60)} is a {kind}, which a storage cannot keep: use texts, whole numbers or tuples "
        "of them, as networkx.convert_node_labels_to_integers does, or leave out the storage"
    )
