"""Writing a graph into a SQLite file."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from graphbo.errors import KeyNotUnique, Remedy
from graphbo.stores.contract import EdgeRow, NodeRow, WriteCounts
from graphbo.stores.row_checks import edge_rows, key_property, node_rows
from graphbo.stores.sqlite.file import SqliteFile, in_list, to_json
from graphbo.stores.sqlite.nodes import SqliteNodes
from graphbo.types import NodeKey, Property, View

__all__ = ["SqliteWriter"]


class SqliteWriter:
    """Creates and changes nodes and relationships."""

    def __init__(self, file: SqliteFile, nodes: SqliteNodes) -> None:
        self._file = file
        self._nodes = nodes

    def create_key(self, view: View) -> None:
        """Notes the key property of each label, once."""
        key = key_property(view)
        for row in self._nodes.labels(view):
            if row["key"] not in (None, key):
                raise KeyNotUnique(
                    f"the :{row['name']} nodes in {self._file.address} have the key {row['key']!r}, not {key!r}",
                    Remedy.USE_KEY_OR_FILE,
                    key=row["key"],
                )
        with self._file.transaction() as execute:
            for label in view.labels:
                execute(
                    "INSERT INTO label (name, key) VALUES (?, ?) "
                    "ON CONFLICT (name) DO UPDATE SET key = excluded.key WHERE key IS NULL",
                    (label, key),
                )

    def write_nodes(self, view: View, nodes: Sequence[NodeRow]) -> WriteCounts:
        """Inserts what is missing, then updates what was there."""
        checked = node_rows(view, nodes)
        self.create_key(view)
        with self._file.transaction() as execute:
            label = self._first_label(view)
            rows = [(_properties(view, key, rest), label, key) for key, rest in checked.items()]
            created = self._insert_nodes(execute, label, rows)
            # A batch that was new in all its rows leaves nothing to compare.
            changed = (
                0 if created == len(rows) else self._change("node", "label = ? AND key = ?", rows)
            )
        return WriteCounts(nodes_created=created, properties_set=changed)

    def write_relationships(self, view: View, edges: Sequence[EdgeRow]) -> WriteCounts:
        """Inserts what is missing, at both ends, then updates what was there."""
        checked = edge_rows(view, edges)
        self.create_key(view)
        ends = dict.fromkeys(key for pair in checked for key in pair)
        with self._file.transaction() as execute:
            label = self._first_label(view)
            ids = self._nodes.ids(view, list(ends))
            missing = [(_properties(view, key, {}), label, key) for key in ends if key not in ids]
            nodes = self._insert_nodes(execute, label, missing)
            if missing:
                ids |= self._nodes.ids(view, [key for _, _, key in missing])
            rows = list(_both_ends(checked, ids, self._first_type(execute, view)))
            created = self._insert_relationships(execute, view, rows)
            changed = 0
            if 2 * created < len(rows):
                where = "node = ? AND type = ? AND outgoing = ? AND other = ?"
                changed = self._change("relationship", where, rows) // 2
        return WriteCounts(nodes, created, changed)

    def _insert_nodes(self, run: Any, label: int, rows: list[tuple[str, int, NodeKey]]) -> int:
        """How many of them were missing."""
        insert = "INSERT OR IGNORE INTO node (properties, label, key) VALUES (?, ?, ?)"
        created = self._file.connection.executemany(insert, rows).rowcount
        run("UPDATE label SET nodes = nodes + ? WHERE id = ?", (created, label))
        return created

    def _insert_relationships(
        self, run: Any, view: View, rows: list[tuple[str, int, int, int, int]]
    ) -> int:
        """How many of them were missing. Sorted, because neighbouring rows share their page."""
        insert = (
            "INSERT OR IGNORE INTO relationship (properties, node, type, outgoing, other) "
            "VALUES (?, ?, ?, ?, ?)"
        )
        ordered = sorted(rows, key=itemgetter(slice(1, None)))
        created = self._file.connection.executemany(insert, ordered).rowcount // 2
        run(
            "UPDATE type SET relationships = relationships + ? WHERE name = ?",
            (created, view.relationships[0]),
        )
        return created

    def _change(self, table: str, where: str, rows: Sequence[tuple[object, ...]]) -> int:
        """Sets the properties, given first in each row, where they differ; how many rows did."""
        return self._file.connection.executemany(
            f"UPDATE {table} SET properties = json_patch(properties, ?1) "
            f"WHERE {_numbered(where)} AND json_patch(properties, ?1) <> properties",
            rows,
        ).rowcount

    def _first_type(self, run: Any, view: View) -> int:
        name = view.relationships[0]
        run("INSERT OR IGNORE INTO type (name) VALUES (?)", (name,))
        return int(run("SELECT id FROM type WHERE name = ?", (name,)).fetchone()[0])

    def delete_graph(self, view: View) -> None:
        """Deletes the nodes with every relationship that touches one."""
        labels = to_json([row["id"] for row in self._nodes.labels(view)])
        with self._file.transaction() as execute:
            doomed = f"SELECT id FROM node WHERE label IN {in_list('labels')}"
            others = (
                f"SELECT other, type, 1 - outgoing, node FROM relationship WHERE node IN ({doomed})"
            )
            execute(
                f"DELETE FROM relationship WHERE (node, type, outgoing, other) IN ({others})",
                {"labels": labels},
            )
            execute(f"DELETE FROM relationship WHERE node IN ({doomed})", {"labels": labels})
            execute(f"DELETE FROM node WHERE label IN {in_list('labels')}", {"labels": labels})

    def _first_label(self, view: View) -> int:
        return next(
            int(row["id"]) for row in self._nodes.labels(view) if row["name"] == view.labels[0]
        )


def _properties(view: View, key: NodeKey, rest: Mapping[str, Property]) -> str:
    return to_json({**rest, key_property(view): key})


def _both_ends(
    edges: Mapping[tuple[NodeKey, NodeKey], Mapping[str, Property]],
    ids: Mapping[NodeKey, int],
    kind: int,
) -> Iterator[tuple[str, int, int, int, int]]:
    for (source, target), properties in edges.items():
        a, b, text = ids[source], ids[target], to_json(properties) if properties else "{}"
        yield text, a, kind, 1, b
        yield text, b, kind, 0, a


def _numbered(where: str) -> str:
    """Parameters ?2, ?3, … for the marks of a condition: ?1 is the new properties."""
    first, *others = where.split("?")
    return first + "".join(f"?{i}{other}" for i, other in enumerate(others, start=2))
