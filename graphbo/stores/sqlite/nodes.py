"""Nodes in a SQLite file: from keys to rows and back."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphbo.errors import InvalidView, KeyNotUnique, Remedy
from graphbo.stores.sqlite.file import SqliteFile, in_list, to_json
from graphbo.stores.sqlite.predicates import Predicates
from graphbo.stores.sqlite.walked import WalkedPath, walked, walks_of
from graphbo.stores.subgraphs import as_key, by_name, refuse_unknown
from graphbo.types import NodeKey, View, check_name

__all__ = ["LABELS_OF_N", "KeySet", "Labels", "Scope", "SqliteNodes", "labels_in", "refuse_hop"]

# Internal ids are handed out as text, as Neo4j does; anything else is no id.
_IS_ID = "type = 'text' AND value = CAST(CAST(value AS INTEGER) AS TEXT)"


@dataclass(frozen=True)
class Labels:
    """Labels in the file's own numbers, and what they are in SQL.

    Attributes:
        ids: the labels' rows.
        further: whether some node has one of them beside its first label; where none has, nobody need look for it.
    """

    ids: tuple[int, ...]
    further: bool = False

    @property
    def listed(self) -> str:
        """The ids, which are numbers of our own, as a list."""
        return f"({', '.join(map(str, self.ids))})"

    def on(self, node: str) -> str:
        """Whether a node has one of them. The plus keeps SQLite from going through the labels' nodes."""
        first = f"+{node}.label IN {self.listed}"
        if not self.further:
            return first
        return f"({first} OR EXISTS ({self._further('1', node)}))"

    def among(self, node: str) -> str:
        """The same, for a query that goes through the labels' nodes."""
        if not self.further:
            return f"{node}.label IN {self.listed}"
        return (
            f"{node}.id IN (SELECT id FROM node WHERE label IN {self.listed} "
            f"UNION ALL SELECT node FROM further WHERE label IN {self.listed})"
        )

    def key(self, node: str) -> str:
        """The key that a node has under them."""
        if not self.further:
            return f"{node}.key"
        further = self._further("f.key", node)
        return f"CASE WHEN {node}.label IN {self.listed} THEN {node}.key ELSE ({further}) END"

    def _further(self, column: str, node: str) -> str:
        return (
            f"SELECT {column} FROM further AS f WHERE f.node = {node}.id AND f.label IN {self.listed} "
            "ORDER BY f.key IS NULL, f.label LIMIT 1"
        )

    def with_keys(self, node: str) -> str:
        """Whether a node has one of ``:keys`` under them."""
        seek = f"label IN {self.listed} AND key IN {in_list('keys')}"
        if not self.further:
            return f"{node}.label IN {self.listed} AND {node}.key IN {in_list('keys')}"
        return (
            f"{node}.id IN (SELECT id FROM node WHERE {seek} "
            f"UNION ALL SELECT node FROM further WHERE {seek} AND key IS NOT NULL)"
        )


@dataclass(frozen=True)
class Scope:
    """A view in the file's own numbers, looked up once per call. Predicates are on the node ``n``.

    Attributes:
        labels: those of its candidates.
        types: its relationship types, as a JSON list.
        type_names: the names of these, by number.
        candidate: whether a node is a candidate.
        connector: whether it is a connector.
        seeks: what is true of every candidate, and may be looked up in an index on a property.
        paths: the paths that are edges.
        walks: the paths as they lead from a node to its neighbours: from either end, or from one.
        parameters: the values that predicates compare with.
    """

    view: View
    labels: Labels
    types: str
    type_names: Mapping[int, str]
    candidate: str
    connector: str = "0"
    seeks: Sequence[str] = ()
    paths: Sequence[WalkedPath] = ()
    walks: Sequence[WalkedPath] = ()
    parameters: Mapping[str, object] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key of the node ``n``."""
        return _key(self.view, self.labels)

    @property
    def is_plain(self) -> bool:
        """Whether one hop along relationships, to candidates, is all there is."""
        return not self.paths and not self.view.has_connectors


def _key(view: View, labels: Labels) -> str:
    return "CAST(n.id AS TEXT)" if view.key is None else labels.key("n")


class SqliteNodes:
    """Finds nodes, labels and types."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def rows(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """The rows of labels."""
        return self._file.all(
            f"SELECT * FROM label WHERE name IN {in_list('names')} ORDER BY id",
            names=to_json(names),
        )

    def labels(self, view: View) -> Labels:
        """Those one of which each candidate has.

        Raises:
            KeyNotUnique: one has another key, or none.
        """
        rows = self.rows(view.candidate_labels)
        for row in rows:
            if view.key is not None and row["key"] is None:
                raise KeyNotUnique(
                    f"the :{row['name']} nodes in {self._file.address} have no key of their own",
                    Remedy.CREATE_KEY,
                )
            if view.key is not None and row["key"] != view.key:
                raise KeyNotUnique(
                    f"the :{row['name']} nodes in {self._file.address} have the key {row['key']!r}, "
                    f"not {view.key!r}",
                    Remedy.USE_KEY,
                    key=row["key"],
                )
        return labels_in(rows)

    def scope(self, view: View) -> Scope:
        """The view in the file's own numbers, looked up once per call.

        Raises:
            InvalidView: some of its edges are a statement's, which is Cypher.
        """
        refuse_hop(view)
        types = self._types(view)
        mine = {number: name for name, number in types.items() if name in view.relationships}
        labels = self.labels(view)
        if view.is_plain:
            return Scope(view, labels, to_json(list(mine)), mine, labels.on("n"))
        rows = self._file.all("SELECT * FROM label")
        predicates = Predicates({row["name"]: row["id"] for row in rows})
        candidate = f"({labels.on('n')} AND {predicates.on_node(view.candidate_condition, 'n')})"
        every = labels_in(row for row in rows if row["name"] in view.labels)
        node = f"{every.on('n')} AND {predicates.on_node(view.where, 'n')}"
        return Scope(
            view,
            labels,
            to_json(list(mine)),
            mine,
            candidate,
            f"({node} AND NOT coalesce({candidate}, 0))" if view.has_connectors else "0",
            predicates.seeks(view.candidate_condition, "n"),
            [walked(path, predicates, types) for path in view.paths],
            [walked(path, predicates, types) for path in walks_of(view)],
            predicates.parameters,
        )

    def _types(self, view: View) -> dict[str, int]:
        """The numbers of all types that the view names, in the order of the numbers."""
        names = [*view.relationships]
        names += [name for path in view.paths for step in path.steps for name in step.types]
        rows = self._file.all(
            f"SELECT id, name FROM type WHERE name IN {in_list('names')} ORDER BY id",
            names=to_json(names),
        )
        return {row["name"]: row["id"] for row in rows}

    def _that_have(self, view: View, labels: Labels) -> str:
        """Whether the node ``n`` has one of ``:keys``."""
        if view.key is not None:
            return labels.with_keys("n")
        ids = f"SELECT CAST(value AS INTEGER) FROM json_each(:keys) WHERE {_IS_ID}"
        return f"{labels.on('n')} AND n.id IN ({ids})"

    def columns(self, view: View, column: str, keys: Sequence[NodeKey]) -> dict[NodeKey, Any]:
        """A column of the nodes among these that exist, by key."""
        labels = self.labels(view)
        rows = self._file.all(
            f"""SELECT {_key(view, labels)} AS key, n.{column} AS wanted FROM node AS n
                WHERE {self._that_have(view, labels)}""",
            keys=to_json(list(keys)),
        )
        return {as_key(row["key"], view): row["wanted"] for row in rows}

    def found(self, view: View, keys: Sequence[NodeKey]) -> list[dict[str, Any]]:
        """Every node that has one of these keys: its id, key, labels and properties."""
        labels = self.labels(view)
        return self._file.all(
            f"""SELECT n.id, {_key(view, labels)} AS key, {LABELS_OF_N} AS labels, n.properties
                FROM node AS n WHERE {self._that_have(view, labels)}""",
            keys=to_json(list(keys)),
        )

    def ids(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, int]:
        """The ids of the nodes among these that exist, by key."""
        return self.columns(view, "id", keys)

    def keys(self, view: View, ids: Sequence[int]) -> dict[int, NodeKey]:
        """The keys of the nodes among these that exist, by id."""
        rows = self._file.all(
            f"SELECT n.id, {_key(view, self.labels(view))} AS key FROM node AS n WHERE n.id IN {in_list('ids')}",
            ids=to_json(list(ids)),
        )
        return {row["id"]: as_key(row["key"], view) for row in rows}

    def properties(self, ids: Sequence[int], names: Sequence[str]) -> dict[str, tuple[object, ...]]:
        """Properties of nodes, by name: of each, in this order; nothing is looked at where no name is given.

        Raises:
            InvalidName: a property cannot be called so.
        """
        if not names:
            return {}
        for name in names:
            check_name(name, "property")
        rows = self._file.tuples(
            """SELECT n.properties FROM json_each(:ids) AS a JOIN node AS n ON n.id = a.value
               ORDER BY a.key""",
            ids=to_json(list(ids)),
        )
        # Taken apart here: SQLite's own JSON paths cannot spell every name.
        found = [json.loads(text) for (text,) in rows]
        return by_name(names, [[own.get(name) for name in names] for own in found])

    def known_ids(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, int]:
        """In the order of the keys; every one of them has to exist."""
        ids = self.ids(view, keys)
        refuse_unknown(keys, ids, view)
        return {key: ids[key] for key in keys}


#: The names of all labels of the node ``n``, as a JSON list, the first one first.
LABELS_OF_N = """(SELECT json_group_array(name) FROM (
  SELECT name FROM label WHERE id = n.label
  UNION ALL
  SELECT name FROM further AS f JOIN label ON label.id = f.label WHERE f.node = n.id))"""


def labels_in(rows: Iterable[dict[str, Any]]) -> Labels:
    """The labels of these rows."""
    found = list(rows)
    return Labels(tuple(row["id"] for row in found), any(row["further"] for row in found))


def refuse_hop(view: View) -> None:
    """Check that no Cypher is needed.

    Raises:
        InvalidView: some of the view's edges are a statement's.
    """
    if view.hop is not None:
        raise InvalidView(
            "a statement that answers with edges (a hop) needs a Neo4j: open one, or say by paths what is an edge"
        )


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

    def hold(self, scope: Scope, keys: Iterable[NodeKey]) -> str:
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
        return f"EXISTS (SELECT 1 FROM {self._table} AS held WHERE held.key = {scope.key})"
