"""Nodes in a SQLite file: from keys to rows and back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from graphbo.errors import KeyNotUnique, Remedy
from graphbo.stores.sqlite.file import SqliteFile, in_list, to_json
from graphbo.stores.subgraphs import as_key, refuse_unknown
from graphbo.types import NodeKey, View

__all__ = ["KeySet", "Scope", "SqliteNodes", "key_column"]

# Internal ids are handed out as text, as Neo4j does; anything else is no id.
_IS_ID = "type = 'text' AND value = CAST(CAST(value AS INTEGER) AS TEXT)"


@dataclass(frozen=True)
class Scope:
    """A view with the ids of its labels and types, as JSON lists."""

    view: View
    labels: str
    types: str


def key_column(view: View) -> str:
    """The key of the node ``n``."""
    return "CAST(n.id AS TEXT)" if view.key is None else "n.key"


class SqliteNodes:
    """Finds nodes, labels and types."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def labels(self, view: View) -> list[dict[str, Any]]:
        """The rows of the view's labels."""
        return self._file.all(
            f"SELECT * FROM label WHERE name IN {in_list('names')}", names=to_json(view.labels)
        )

    def label_ids(self, view: View) -> str:
        """The ids of the view's labels, as a JSON list.

        Raises:
            KeyNotUnique: a label has another key.
        """
        labels = self.labels(view)
        for row in labels:
            if view.key is not None and row["key"] != view.key:
                raise KeyNotUnique(
                    f"the :{row['name']} nodes in {self._file.address} have the key {row['key']!r}, "
                    f"not {view.key!r}",
                    Remedy.USE_KEY,
                    key=row["key"],
                )
        return to_json([row["id"] for row in labels])

    def scope(self, view: View) -> Scope:
        """The view in the file's own numbers, looked up once per call."""
        types = self._file.all(
            f"SELECT id FROM type WHERE name IN {in_list('names')}",
            names=to_json(view.relationships),
        )
        return Scope(view, self.label_ids(view), to_json([row["id"] for row in types]))

    @staticmethod
    def _has_key(view: View) -> str:
        """Whether the node ``n`` has one of ``:keys``."""
        if view.key is None:
            return f"n.id IN (SELECT CAST(value AS INTEGER) FROM json_each(:keys) WHERE {_IS_ID})"
        return f"n.key IN {in_list('keys')}"

    def columns(self, view: View, column: str, keys: Sequence[NodeKey]) -> dict[NodeKey, Any]:
        """A column of the nodes among these that exist, by key."""
        rows = self._file.all(
            f"""SELECT {key_column(view)} AS key, n.{column} AS wanted FROM node AS n
                WHERE n.label IN {in_list("labels")} AND {self._has_key(view)}""",
            labels=self.label_ids(view),
            keys=to_json(list(keys)),
        )
        return {as_key(row["key"], view): row["wanted"] for row in rows}

    def found(self, view: View, keys: Sequence[NodeKey]) -> list[dict[str, Any]]:
        """Every node that has one of these keys: its id, key, label and properties."""
        return self._file.all(
            f"""SELECT n.id, {key_column(view)} AS key, label.name AS label, n.properties FROM node AS n
                JOIN label ON label.id = n.label
                WHERE n.label IN {in_list("labels")} AND {self._has_key(view)}""",
            labels=self.label_ids(view),
            keys=to_json(list(keys)),
        )

    def ids(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, int]:
        """The ids of the nodes among these that exist, by key."""
        return self.columns(view, "id", keys)

    def keys(self, view: View, ids: Sequence[int]) -> dict[int, NodeKey]:
        """The keys of the nodes among these that exist, by id."""
        rows = self._file.all(
            f"SELECT n.id, {key_column(view)} AS key FROM node AS n WHERE n.id IN {in_list('ids')}",
            ids=to_json(list(ids)),
        )
        return {row["id"]: as_key(row["key"], view) for row in rows}

    def known_ids(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, int]:
        """In the order of the keys; every one of them has to exist."""
        ids = self.ids(view, keys)
        refuse_unknown(keys, ids, view)
        return {key: ids[key] for key in keys}


class KeySet:
    """Keys in a temporary table.

    A run names all that it has measured with every question, and each time there is a little more of it: only the
    difference is written.

    Args:
        file: who asks.
        name: of the table; each use has its own.
    """

    def __init__(self, file: SqliteFile, name: str) -> None:
        self._file = file
        self._table = f"temp.{name}"
        self._held: frozenset[NodeKey] | None = None

    def hold(self, view: View, keys: Iterable[NodeKey]) -> str:
        """Hold these keys and no others; a condition that tells whether the node ``n`` has one of them."""
        wanted = frozenset(keys)
        # What is interrupted is begun anew.
        held, self._held = self._held, None
        if held is None:
            self._file.tuples(
                f"CREATE TABLE IF NOT EXISTS {self._table} (key PRIMARY KEY) WITHOUT ROWID"
            )
            self._file.tuples(f"DELETE FROM {self._table}")
            held = frozenset()
        if held - wanted:
            gone = to_json(list(held - wanted))
            self._file.tuples(
                f"DELETE FROM {self._table} WHERE key IN {in_list('keys')}", keys=gone
            )
        if wanted - held:
            new = to_json(list(wanted - held))
            self._file.tuples(
                f"INSERT INTO {self._table} SELECT value FROM json_each(:keys)", keys=new
            )
        self._held = wanted
        return f"EXISTS (SELECT 1 FROM {self._table} AS held WHERE held.key = {key_column(view)})"
