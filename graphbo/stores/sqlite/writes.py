"""Writing a graph into a SQLite file."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, TypeAlias

from graphbo.errors import KeyNotUnique, Remedy
from graphbo.stores.contract import EdgeRow, NodeRow, WriteCounts
from graphbo.stores.row_checks import (
    checked_labels,
    edge_rows,
    identity,
    key_property,
    node_rows,
    parallel_rows,
    written_type,
)
from graphbo.stores.sqlite.file import SqliteFile, in_list, to_json
from graphbo.stores.sqlite.nodes import SqliteNodes, labels_in
from graphbo.stores.subgraphs import show_key
from graphbo.types import NodeKey, Property, View

__all__ = ["SqliteWriter"]

#: A relationship at one of its ends: properties, node, type, outgoing, other, number.
_End: TypeAlias = tuple[str, int, int, int, int, int]

#: The value of a label's key property on the node ``n``, as SQLite has it.
_KEY_OF_N = "json_extract(property(n.properties, label.key), '$')"


class SqliteWriter:
    """Creates and changes nodes and relationships."""

    def __init__(self, file: SqliteFile, nodes: SqliteNodes) -> None:
        self._file = file
        self._nodes = nodes

    def create_key(self, view: View) -> None:
        """Notes the key property of each label, once."""
        key = key_property(view)
        rows = self._nodes.rows(view.labels)
        for row in rows:
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
            for row in rows:
                if row["key"] is None and row["further"]:
                    nodes = execute("SELECT node FROM further WHERE label = ?", (row["id"],))
                    self._note_keys(execute, [node for (node,) in nodes])

    def write_nodes(
        self, view: View, nodes: Sequence[NodeRow], labels: Sequence[str] = ()
    ) -> WriteCounts:
        """Inserts what is missing, then updates what was there."""
        checked = node_rows(view, nodes)
        further = checked_labels(view, labels)
        self.create_key(view)
        one = _first(view)
        with self._file.transaction() as execute:
            label = self._first_label(view)
            rows = [(_properties(view, key, rest), label, key) for key, rest in checked.items()]
            known = self._ids_by_further(one, list(checked))
            created = self._insert_nodes(
                execute, label, [row for row in rows if row[2] not in known]
            )
            # A batch that was new in all its rows leaves nothing to compare.
            changed = 0
            if created < len(rows):
                changed = self._change("node", "label = ? AND key = ?", rows)
                changed += self._change(
                    "node", "id = ?", [(row[0], known[row[2]]) for row in rows if row[2] in known]
                )
            if further or changed:
                self._label(execute, list(self._nodes.ids(one, list(checked)).values()), further)
        return WriteCounts(nodes_created=created, properties_set=changed)

    def write_relationships(
        self,
        view: View,
        edges: Sequence[EdgeRow],
        *,
        target: View | None = None,
        parallel: bool = False,
    ) -> WriteCounts:
        """Inserts what is missing, at both ends, then updates what was there."""
        if parallel:
            checked = parallel_rows(view, edges)
        else:
            checked = [(*pair, rest) for pair, rest in edge_rows(view, edges).items()]
        for one in (view, target):
            if one is not None:
                self.create_key(one)
        with self._file.transaction() as execute:
            kind = self._first_type(execute, written_type(view))
            if target is None:
                # In the order in which they occur: ids decide what is drawn.
                sources, nodes = self._ends(
                    execute, view, (key for row in checked for key in row[:2])
                )
                targets = sources
            else:
                sources, nodes = self._ends(execute, view, (row[0] for row in checked))
                targets, more = self._ends(execute, target, (row[1] for row in checked))
                nodes += more
            pairs = [(sources[a], targets[b], rest) for a, b, rest in checked]
            numbered = (
                self._new_parallels(kind, pairs) if parallel else [(*pair, 0) for pair in pairs]
            )
            rows = list(_both_ends(numbered, kind))
            created = self._insert_relationships(execute, kind, rows)
            changed = 0
            if 2 * created < len(rows):
                where = "node = ? AND type = ? AND outgoing = ? AND other = ?"
                changed = self._change("relationship", where, [row[:-1] for row in rows]) // 2
        return WriteCounts(nodes, created, changed)

    def _ends(
        self, run: Any, view: View, keys: Iterable[NodeKey]
    ) -> tuple[dict[NodeKey, int], int]:
        """The ids of nodes, and how many of them had to be created."""
        one = _first(view)
        wanted = list(dict.fromkeys(keys))
        ids = self._nodes.ids(one, wanted)
        label = self._first_label(view)
        missing = [(_properties(view, key, {}), label, key) for key in wanted if key not in ids]
        if not missing:
            return ids, 0
        created = self._insert_nodes(run, label, missing)
        return ids | self._nodes.ids(one, [key for _, _, key in missing]), created

    def _new_parallels(
        self, kind: int, pairs: Sequence[tuple[int, int, Mapping[str, Property]]]
    ) -> list[tuple[int, int, Mapping[str, Property], int]]:
        """Those of which the pair has none that is equal, with the numbers that they get."""
        rows = self._file.tuples(
            """SELECT r.node, r.other, r.number, r.properties FROM (
                 SELECT DISTINCT json_extract(value, '$[0]') AS source,
                   json_extract(value, '$[1]') AS target FROM json_each(:pairs)
               ) AS pair CROSS JOIN relationship AS r
               ON r.node = pair.source AND r.type = :kind AND r.outgoing = 1 AND r.other = pair.target""",
            pairs=to_json([pair[:2] for pair in pairs]),
            kind=kind,
        )
        there = {(a, b, identity(json.loads(text))) for a, b, _, text in rows}
        numbers: dict[tuple[int, int], int] = {}
        for a, b, number, _ in rows:
            numbers[a, b] = max(number + 1, numbers.get((a, b), 0))
        found = []
        for a, b, rest in pairs:
            if (a, b, identity(rest)) not in there:
                number = numbers.get((a, b), 0)
                numbers[a, b] = number + 1
                found.append((a, b, rest, number))
        return found

    def _insert_nodes(self, run: Any, label: int, rows: list[tuple[str, int, NodeKey]]) -> int:
        """How many of them were missing."""
        insert = "INSERT OR IGNORE INTO node (properties, label, key) VALUES (?, ?, ?)"
        created = self._file.connection.executemany(insert, rows).rowcount if rows else 0
        run("UPDATE label SET nodes = nodes + ? WHERE id = ?", (created, label))
        return created

    def _insert_relationships(self, run: Any, kind: int, rows: list[_End]) -> int:
        """How many of them were missing. Sorted, because neighbouring rows share their page."""
        insert = (
            "INSERT OR IGNORE INTO relationship (properties, node, type, outgoing, other, number) "
            "VALUES (?, ?, ?, ?, ?, ?)"
        )
        ordered = sorted(rows, key=itemgetter(slice(1, None)))
        created = self._file.connection.executemany(insert, ordered).rowcount // 2 if rows else 0
        run("UPDATE type SET relationships = relationships + ? WHERE id = ?", (created, kind))
        return created

    def _label(self, run: Any, nodes: Sequence[int], names: Sequence[str]) -> None:
        """Give nodes these labels, too; the keys of all their labels but the first follow their properties."""
        for name in names:
            run("INSERT OR IGNORE INTO label (name) VALUES (?)", (name,))
        run(
            f"""INSERT OR IGNORE INTO further (node, label)
                SELECT n.id, label.id FROM json_each(:nodes) AS one CROSS JOIN node AS n ON n.id = one.value
                JOIN label ON label.name IN {in_list("names")} WHERE n.label <> label.id""",
            {"nodes": to_json(list(nodes)), "names": to_json(list(names))},
        )
        self._note_keys(run, nodes)

    def _note_keys(self, run: Any, nodes: Sequence[int]) -> None:
        """Note the values of the keys of the further labels of nodes.

        Raises:
            KeyNotUnique: another node with such a label has the same.
        """
        changed = run(
            f"""SELECT f.node, f.label, {_KEY_OF_N} AS found FROM json_each(:nodes) AS one
                CROSS JOIN further AS f ON f.node = one.value CROSS JOIN node AS n ON n.id = f.node
                CROSS JOIN label ON label.id = f.label
                WHERE label.key IS NOT NULL AND found IS NOT f.key""",
            {"nodes": to_json(list(nodes))},
        ).fetchall()
        for node, label, key in changed:
            run("UPDATE further SET key = ? WHERE node = ? AND label = ?", (key, node, label))
        for node, label, key in changed:
            twin = run(
                """SELECT name, label.key FROM label WHERE id = :label AND (
                     EXISTS (SELECT 1 FROM node WHERE label = :label AND key = :key AND id <> :node)
                     OR EXISTS (SELECT 1 FROM further
                                WHERE label = :label AND key = :key AND key IS NOT NULL AND node <> :node))""",
                {"label": label, "key": key, "node": node},
            ).fetchone()
            if twin:
                raise KeyNotUnique(
                    f"the {twin[1]} {show_key(key)} belongs to several :{twin[0]} nodes: make it unique",
                    Remedy.CHOOSE_KEY,
                )

    def _ids_by_further(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, int]:
        """The ids of the nodes among these that have the label, but another one first."""
        labels = self._nodes.labels(view)
        if not labels.further:
            return {}
        rows = self._file.tuples(
            f"SELECT key, node FROM further WHERE label IN {labels.listed} AND key IN {in_list('keys')} "
            "AND key IS NOT NULL",
            keys=to_json(list(keys)),
        )
        return dict(rows)

    def _change(self, table: str, where: str, rows: Sequence[tuple[object, ...]]) -> int:
        """Sets the properties, given first in each row, where they differ; how many rows did."""
        if not rows:
            return 0
        return self._file.connection.executemany(
            f"UPDATE {table} SET properties = json_patch(properties, ?1) "
            f"WHERE {_numbered(where)} AND json_patch(properties, ?1) <> properties",
            rows,
        ).rowcount

    def _first_type(self, run: Any, name: str) -> int:
        run("INSERT OR IGNORE INTO type (name) VALUES (?)", (name,))
        return int(run("SELECT id FROM type WHERE name = ?", (name,)).fetchone()[0])

    def delete_graph(self, view: View) -> None:
        """Deletes the nodes with every relationship that touches one."""
        labels = labels_in(self._nodes.rows(view.labels))
        with self._file.transaction() as execute:
            doomed = f"SELECT n.id FROM node AS n WHERE {labels.among('n')}"
            others = (
                "SELECT other, type, 1 - outgoing, node, number FROM relationship "
                f"WHERE node IN ({doomed})"
            )
            execute(
                f"DELETE FROM relationship WHERE (node, type, outgoing, other, number) IN ({others})"
            )
            execute(f"DELETE FROM relationship WHERE node IN ({doomed})")
            execute(f"DELETE FROM node WHERE id IN ({doomed})")

    def _first_label(self, view: View) -> int:
        return int(self._nodes.rows(view.labels[:1])[0]["id"])


def _first(view: View) -> View:
    """The view of the nodes that are written: those with its first label."""
    return replace(view, labels=view.labels[:1], candidates=(), where=None, candidates_where=None)


def _properties(view: View, key: NodeKey, rest: Mapping[str, Property]) -> str:
    return to_json({**rest, key_property(view): key})


def _both_ends(
    edges: Iterable[tuple[int, int, Mapping[str, Property], int]], kind: int
) -> Iterator[_End]:
    for source, target, properties, number in edges:
        text = to_json(properties) if properties else "{}"
        yield text, source, kind, 1, target, number
        yield text, target, kind, 0, source, number


def _numbered(where: str) -> str:
    """Parameters ?2, ?3, … for the marks of a condition: ?1 is the new properties."""
    first, *others = where.split("?")
    return first + "".join(f"?{i}{other}" for i, other in enumerate(others, start=2))
