"""What people call nodes: one of their properties, looked up for the nodes that are shown."""

from collections.abc import Iterable, Mapping

from graphbo.errors import NoSuchNode
from graphbo.stores import GraphStore
from graphbo.stores.checks import properties_on
from graphbo.stores.near_names import did_you_mean
from graphbo.types import NodeKey, View
from graphbo.types.text import cut

__all__ = ["Captions", "caption_in", "caption_remark", "labels_of"]

#: A property may hold a book.
LONGEST_CAPTION = 500


def caption_in(properties: Mapping[str, object], name: str | None, key: NodeKey) -> str | None:
    """The caption of a node with these properties; None where it has none, or none but its key."""
    value = None if name is None else properties.get(name)
    text = "" if value is None else str(value).strip()
    return cut(text, LONGEST_CAPTION) if text and text != str(key) else None


def caption_remark(store: GraphStore, view: View, name: str) -> str | None:
    """That no node of a sample has a property, and what may have been meant; None if one has it."""
    there = properties_on(store, view)
    if not there or name in there:
        return None
    return f"no node that was looked at has the property {name!r}{did_you_mean([name], there)}"


class Captions:
    """The captions of nodes, each looked up once.

    Args:
        store: where they are.
        view: of what graph.
        name: the property; without it nothing has a caption, and nothing is looked up.
    """

    def __init__(self, store: GraphStore, view: View, name: str | None) -> None:
        self.name = name
        self._store = store
        self._view = view
        self._known: dict[NodeKey, str | None] = {}

    def read(self, keys: Iterable[NodeKey]) -> "Captions":
        """Look up those that are not known yet, in one question; this.

        Raises:
            StoreError: the database does not answer.
        """
        new = [key for key in dict.fromkeys(keys) if key not in self._known]
        if self.name is not None and new:
            found = self._properties(new)
            for key in new:
                self._known[key] = caption_in(found.get(key, {}), self.name, key)
        return self

    def take(self, key: NodeKey, properties: Mapping[str, object]) -> "Captions":
        """Remember a node's, whose properties are known anyway; this."""
        self._known[key] = caption_in(properties, self.name, key)
        return self

    def of(self, key: NodeKey) -> str | None:
        """The caption of a node; None if it has none, or was not looked up."""
        return self._known.get(key)

    def _properties(self, keys: list[NodeKey]) -> Mapping[NodeKey, Mapping[str, object]]:
        try:
            return self._store.properties(self._view, keys)
        except NoSuchNode:
            # Some were deleted since they were measured: the others still have theirs.
            there = self._store.nodes_with_keys(self._view, keys)
            return self._store.properties(self._view, [key for key in keys if key in there])


def labels_of(store: GraphStore, view: View, keys: list[NodeKey]) -> dict[NodeKey, list[str]]:
    """Which of the labels of candidates each node has; nothing where there is but one.

    Raises:
        StoreError: the database does not answer.
    """
    if len(view.candidate_labels) < 2:
        return {}
    found = store.nodes_with_keys(view, keys)
    return {
        key: [label for label in view.candidate_labels if any(label in one.labels for one in nodes)]
        for key, nodes in found.items()
    }
