"""The graph in one SQLite file, or in memory: a first try with no server, with the behaviour of the Neo4j store."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graphbo.errors import (
    InvalidAddress,
    KeyNotUnique,
    ReadOnlyDatabase,
    StoreError,
    StoreUnavailable,
)
from graphbo.stores.assemble import as_key, assemble, refuse_unknown
from graphbo.stores.base import EdgeRow, KeyReport, NodeRow, StoreInfo, WriteCounts
from graphbo.stores.order import SeededOrder
from graphbo.stores.rows import edge_rows, key_property, node_rows
from graphbo.stores.runs import RunBook
from graphbo.stores.sampling import sample_keys
from graphbo.stores.sqlite_runs import RUN_SCHEMA, SqliteRuns
from graphbo.types import Ego, NodeKey, Property, Subgraph, View, check_name

__all__ = ["SqliteStore"]

#: "graphbo" in the file's header tells our files from other SQLite databases.
APPLICATION_ID = 0x67626F31
SCHEMA_VERSION = 1
BUSY_TIMEOUT_SECONDS = 60.0
HIGHEST_LIMIT = 2**62
HUB_DEGREE = 500

# A node has one label, as `load` gives it. Its rowid is its internal id. Each relationship has a row at both of its
# ends, so that both directions are one index range. Counts are kept, since counting would be a scan.
SCHEMA = """
CREATE TABLE label (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, key TEXT, nodes INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE type (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, relationships INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE node (
  id INTEGER PRIMARY KEY, label INTEGER NOT NULL REFERENCES label, key NOT NULL,
  properties TEXT NOT NULL, UNIQUE (label, key)
);
CREATE INDEX node_label ON node (label);
CREATE TABLE relationship (
  node INTEGER NOT NULL, type INTEGER NOT NULL, outgoing INTEGER NOT NULL, other INTEGER NOT NULL,
  properties TEXT NOT NULL, PRIMARY KEY (node, type, outgoing, other)
) WITHOUT ROWID;
CREATE TRIGGER node_deleted AFTER DELETE ON node BEGIN
  UPDATE label SET nodes = nodes - 1 WHERE id = old.label;
END;
CREATE TRIGGER relationship_deleted AFTER DELETE ON relationship WHEN old.outgoing BEGIN
  UPDATE type SET relationships = relationships - 1 WHERE id = old.type;
END;
"""

# The seeded order of stores/order.py, as SQL over a node id.
ORDER = "({x} * {x} + :c) % :p, {x}"
HASH = "({id} % :p * :a + :b) % :p"


# One encoder for all: json.dumps with options makes a new one for each value.
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _order_by(node_id: str) -> str:
    return ORDER.format(x=f"({HASH.format(id=node_id)})")


class SqliteStore:
    """See ``GraphStore``. WAL and FULL synchronisation: several processes share a file, and a commit is on disk."""

    def __init__(self, path: str, *, create: bool = False) -> None:
        self._path = path
        in_memory = path == ":memory:"
        if not in_memory and not create and not Path(path).exists():
            raise StoreUnavailable(
                f"there is no database file {path}: load a graph first (`graphbo load --help`), "
                "or name another with --uri sqlite:FILE"
            )
        with self._errors():
            self._connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None
            )
        try:
            with self._errors():
                self._prepare(in_memory=in_memory, create=create or in_memory)
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, *, in_memory: bool, create: bool) -> None:
        run = self._connection.execute
        (application,) = run("PRAGMA application_id").fetchone()
        (tables,) = run("SELECT count(*) FROM sqlite_schema").fetchone()
        if application != APPLICATION_ID:
            if tables or not create:
                raise InvalidAddress(
                    f"{self._path} is not a graphbo database: name another file with --uri sqlite:FILE"
                )
            self._create(in_memory=in_memory)
        (version,) = run("PRAGMA user_version").fetchone()
        if version != SCHEMA_VERSION:
            raise InvalidAddress(
                f"{self._path} was written by another version of graphbo (schema {version}, this one reads "
                f"{SCHEMA_VERSION}): use that version, or load the graph into a new file"
            )
        run("PRAGMA synchronous = FULL")
        # SQLite's own JSON paths cannot spell every name.
        self._connection.create_function("property", 2, _property, deterministic=True)

    def _create(self, *, in_memory: bool) -> None:
        if not in_memory:
            self._connection.execute("PRAGMA journal_mode = WAL")
        with self._transaction() as run:
            # Another process may have been quicker while this one waited for the lock.
            if run("PRAGMA application_id").fetchone()[0] == APPLICATION_ID:
                return
            # Statements one by one: executescript would end the transaction first.
            for piece in _statements(SCHEMA + RUN_SCHEMA):
                run(piece)
            run(f"PRAGMA application_id = {APPLICATION_ID}")
            run(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @property
    def address(self) -> str:
        """``sqlite:`` and the file."""
        return f"sqlite:{self._path}"

    @property
    def shared(self) -> bool:
        """A file may be opened again."""
        return self._path != ":memory:"

    def another(self) -> "SqliteStore":
        """The same file, opened again."""
        if not self.shared:
            raise StoreError("a database in memory has one connection: use a file, sqlite:FILE")
        return SqliteStore(self._path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def runs(self) -> RunBook:
        """The runs in this file."""
        rows = SqliteRuns(self._connection, self._transaction, self._errors, self._ids, self._keys)
        return RunBook(rows)

    # About the database

    def info(self) -> StoreInfo:
        """SQLite's version, and whether the file may be written."""
        refusal = ""
        try:
            with self._transaction():
                pass
        except ReadOnlyDatabase as error:
            refusal = str(error)
        return StoreInfo(
            address=self.address,
            product="SQLite",
            version=sqlite3.sqlite_version,
            edition="embedded",
            database="main",
            writable=not refusal,
            why_not_writable=refusal,
        )

    def ping(self) -> None:
        """``SELECT 1``."""
        self._all("SELECT 1")

    def names(self) -> tuple[list[str], list[str]]:
        """The names of labels and types that have been loaded."""
        labels = self._all("SELECT name FROM label ORDER BY name")
        types = self._all("SELECT name FROM type ORDER BY name")
        return [row["name"] for row in labels], [row["name"] for row in types]

    def resolve(self, view: View) -> View:
        """The view with the key property that its labels were loaded with."""
        if view.key is not None:
            return view
        keys = {row["key"] for row in self._labels(view) if row["key"] is not None}
        if len(keys) != 1:
            return view
        return View(view.labels, view.relationships, view.direction, view.weight, keys.pop())

    def check_key(self, view: View) -> KeyReport:
        """A label's key property is unique by construction; any other property is looked at node by node."""
        labels = self._labels(view)
        if view.key is None or all(row["key"] == view.key for row in labels):
            constrained = view.key is not None and len(labels) == len(view.labels)
            return KeyReport(view.key, constrained=constrained, missing=0, duplicates=0)
        rows = self._all(
            f"""SELECT count(*) AS nodes, property(properties, :name) AS value FROM node
                WHERE label IN {_in("labels")} GROUP BY value""",
            name=view.key,
            labels=_json([row["id"] for row in labels]),
        )
        return KeyReport(
            view.key,
            constrained=False,
            missing=sum(row["nodes"] for row in rows if row["value"] == "null"),
            duplicates=sum(row["value"] != "null" and row["nodes"] > 1 for row in rows),
        )

    # Reading the graph

    def count_nodes(self, view: View) -> int:
        """From the counts that are kept."""
        return sum(row["nodes"] for row in self._labels(view))

    def count_relationships(self, view: View) -> int:
        """From the counts that are kept."""
        rows = self._all(
            f"SELECT relationships FROM type WHERE name IN {_in('names')}",
            names=_json(view.relationships),
        )
        return sum(row["relationships"] for row in rows)

    def properties(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, dict[str, object]]:
        """One seek per key."""
        rows = self._nodes(view, "properties", keys)
        refuse_unknown(keys, rows, view)
        return {key: json.loads(rows[key]) for key in keys}

    def nodes_with_property(self, view: View, name: str, limit: int) -> dict[NodeKey, object]:
        """One scan of the label."""
        check_name(name, "property")
        rows = self._all(
            f"""SELECT {_key_column(view)} AS key, property(n.properties, :name) AS value FROM node AS n
                WHERE n.label IN {_in("labels")} AND value <> 'null' ORDER BY n.id LIMIT :limit""",
            labels=self._label_ids(view),
            name=name,
            limit=limit,
        )
        return {as_key(row["key"], view): json.loads(row["value"]) for row in rows}

    def random_keys(
        self, view: View, count: int, seed: Sequence[int], exclude: Iterable[NodeKey] = ()
    ) -> list[NodeKey]:
        """Rejection on rowids between the lowest and the highest of the view's labels."""
        labels = self._label_ids(view)
        key = _key_column(view)

        def shoot(draws: list[int]) -> list[tuple[int, NodeKey]]:
            bounds = self._all(
                f"SELECT min(low) AS low, max(high) AS high FROM ({_BOUNDS})", labels=labels
            )
            low, high = bounds[0]["low"], bounds[0]["high"]
            if low is None:
                return []
            rows = self._all(
                f"""SELECT n.id, {key} AS key FROM json_each(:ids) AS draw
                    JOIN node AS n ON n.id = draw.value WHERE n.label IN {_in("labels")}
                    ORDER BY draw.key""",
                ids=_json([low + draw % (high - low + 1) for draw in draws]),
                labels=labels,
            )
            return [(row["id"], as_key(row["key"], view)) for row in rows]

        def scan(limit: int, without: list[NodeKey]) -> list[NodeKey]:
            rows = self._all(
                f"""SELECT {key} AS key FROM node AS n WHERE n.label IN {_in("labels")}
                    AND {key} NOT IN {_in("without")} ORDER BY {_order_by("n.id")} LIMIT :limit""",
                labels=labels,
                without=_json(without),
                limit=limit,
                **SeededOrder.from_seed(seed).parameters,
            )
            return [as_key(row["key"], view) for row in rows]

        return sample_keys(count, seed, exclude, shoot, scan)

    def ego_networks(
        self,
        view: View,
        egos: Sequence[Ego],
        seed: Sequence[int],
        first: Iterable[NodeKey] = (),
        through: Iterable[NodeKey] | None = None,
    ) -> Subgraph:
        """Hop by hop; a round trip costs nothing here."""
        order = SeededOrder.from_seed(seed)
        scope = self._scope(view)
        centres = self._known_ids(view, [ego.centre for ego in egos])
        first_ids = list(self._ids(view, list(first)).values())
        passable = None if through is None else set(self._ids(view, list(through)).values())
        keys: dict[int, NodeKey] = {}
        grown = []
        for ego in egos:
            keys.setdefault(centres[ego.centre], ego.centre)
            centre = centres[ego.centre]
            grown.append(self._grow(scope, centre, ego.size, order, first_ids, passable, keys))
        relationships = (
            (source, target, weights)
            for source, target, weights in self._relationships_among(scope, list(keys))
            if passable is None or source in passable or target in passable
        )
        return assemble(view, list(keys.items()), grown, relationships)

    def neighbours(
        self,
        view: View,
        keys: Sequence[NodeKey],
        seed: Sequence[int],
        exclude: Iterable[NodeKey] = (),
        limit: int | None = None,
    ) -> list[NodeKey]:
        """One index range per key."""
        nodes = list(self._known_ids(view, keys).values())
        excluded = self._ids(view, list(exclude)).values()
        order = SeededOrder.from_seed(seed)
        hop = self._hop(self._scope(view), nodes, [*nodes, *excluded], [], limit, order)
        return [key for _, key in hop]

    def degrees(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, int]:
        """One index range per key."""
        scope, order = self._scope(view), SeededOrder.from_seed([0])
        nodes = self._known_ids(view, keys)
        return {
            key: len(self._hop(scope, [nodes[key]], [nodes[key]], [], None, order)) for key in keys
        }

    # Writing the graph

    def create_key(self, view: View) -> None:
        """Notes the key property of each label, once."""
        key = key_property(view)
        for row in self._labels(view):
            if row["key"] not in (None, key):
                raise KeyNotUnique(
                    f"the :{row['name']} nodes in {self.address} have the key {row['key']!r}, not {key!r}: "
                    f"use --key {row['key']}, another label, or --replace in a new file"
                )
        with self._transaction() as run:
            for label in view.labels:
                run(
                    "INSERT INTO label (name, key) VALUES (?, ?) "
                    "ON CONFLICT (name) DO UPDATE SET key = excluded.key WHERE key IS NULL",
                    (label, key),
                )

    def write_nodes(self, view: View, nodes: Sequence[NodeRow]) -> WriteCounts:
        """Inserts what is missing, then updates what was there."""
        checked = node_rows(view, nodes)
        self.create_key(view)
        with self._transaction() as run:
            label = self._first_label(view)
            rows = [(_properties(view, key, rest), label, key) for key, rest in checked.items()]
            created = self._insert_nodes(run, label, rows)
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
        with self._transaction() as run:
            label = self._first_label(view)
            ids = self._ids(view, list(ends))
            missing = [(_properties(view, key, {}), label, key) for key in ends if key not in ids]
            nodes = self._insert_nodes(run, label, missing)
            if missing:
                ids |= self._ids(view, [key for _, _, key in missing])
            rows = list(_both_ends(checked, ids, self._first_type(run, view)))
            created = self._insert_relationships(run, view, rows)
            changed = 0
            if 2 * created < len(rows):
                where = "node = ? AND type = ? AND outgoing = ? AND other = ?"
                changed = self._change("relationship", where, rows) // 2
        return WriteCounts(nodes, created, changed)

    def _insert_nodes(self, run: Any, label: int, rows: list[tuple[str, int, NodeKey]]) -> int:
        """How many of them were missing."""
        insert = "INSERT OR IGNORE INTO node (properties, label, key) VALUES (?, ?, ?)"
        created = self._connection.executemany(insert, rows).rowcount
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
        created = self._connection.executemany(insert, ordered).rowcount // 2
        run(
            "UPDATE type SET relationships = relationships + ? WHERE name = ?",
            (created, view.relationships[0]),
        )
        return created

    def _change(self, table: str, where: str, rows: Sequence[tuple[object, ...]]) -> int:
        """Sets the properties, given first in each row, where they differ; how many rows did."""
        return self._connection.executemany(
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
        labels = _json([row["id"] for row in self._labels(view)])
        with self._transaction() as run:
            doomed = f"SELECT id FROM node WHERE label IN {_in('labels')}"
            others = (
                f"SELECT other, type, 1 - outgoing, node FROM relationship WHERE node IN ({doomed})"
            )
            run(
                f"DELETE FROM relationship WHERE (node, type, outgoing, other) IN ({others})",
                {"labels": labels},
            )
            run(f"DELETE FROM relationship WHERE node IN ({doomed})", {"labels": labels})
            run(f"DELETE FROM node WHERE label IN {_in('labels')}", {"labels": labels})

    # Talking to the file

    def _grow(
        self,
        scope: "_Scope",
        centre: int,
        size: int,
        order: SeededOrder,
        first: list[int],
        passable: set[int] | None,
        keys: dict[int, NodeKey],
    ) -> list[int]:
        """The ids of one ego-network; their keys are added to ``keys``."""
        selected, frontier = [centre], [centre]
        while len(selected) < size:
            if passable is not None:
                frontier = [node_id for node_id in frontier if node_id in passable]
            if not frontier:
                break
            hop = self._hop(scope, frontier, selected, first, size - len(selected), order)
            frontier = [node_id for node_id, _ in hop]
            selected += frontier
            for node_id, key in hop:
                keys.setdefault(node_id, key)
        return selected

    def _hop(
        self,
        scope: "_Scope",
        frontier: list[int],
        without: list[int],
        first: list[int],
        limit: int | None,
        order: SeededOrder,
    ) -> list[tuple[int, NodeKey]]:
        """(id, key) of distinct nodes one hop from the frontier, ``first`` first, then in seeded order.

        CROSS JOIN fixes the order: from the frontier outwards, never from the label's nodes inwards.
        """
        view = scope.view
        outgoing = {"both": "", "out": "AND r.outgoing", "in": "AND NOT r.outgoing"}[view.direction]
        rows = self._all(
            f"""SELECT n.id, {_key_column(view)} AS key FROM (
                  SELECT DISTINCT r.other FROM json_each(:frontier) AS f
                  CROSS JOIN json_each(:types) AS t
                  CROSS JOIN relationship AS r ON r.node = f.value AND r.type = t.value {outgoing}
                ) AS hop CROSS JOIN node AS n ON n.id = hop.other
                WHERE +n.label IN {_in("labels")} AND n.id NOT IN {_in("without")}
                ORDER BY n.id NOT IN {_in("first")}, {_order_by("n.id")} LIMIT :limit""",
            frontier=_json(frontier),
            types=scope.types,
            labels=scope.labels,
            without=_json(without),
            first=_json(first),
            limit=HIGHEST_LIMIT if limit is None else limit,
            **order.parameters,
        )
        return [(row["id"], as_key(row["key"], view)) for row in rows]

    def _relationships_among(
        self, scope: "_Scope", nodes: list[int]
    ) -> Iterator[tuple[int, int, list[object]]]:
        """Source, target and weights: small nodes are walked, pairs with a hub are looked up one by one."""
        view = scope.view
        # As JSON text: SQLite's own values do not tell true from 1.
        weight = "'1'" if view.weight is None else "property(r.properties, :name)"
        # The unary plus keeps SQLite from seeking every pair, which for small nodes costs more than walking.
        rows = self._all(
            f"""WITH start AS MATERIALIZED (
                  SELECT a.value AS node, t.value AS type, EXISTS (
                    SELECT 1 FROM relationship WHERE node = a.value AND type = t.value AND outgoing = 1
                    LIMIT 1 OFFSET {HUB_DEGREE}) AS hub
                  FROM json_each(:nodes) AS a CROSS JOIN json_each(:types) AS t)
                SELECT r.node AS source, r.other AS target, {weight} AS weight
                FROM start CROSS JOIN relationship AS r ON r.node = start.node AND r.type = start.type
                  AND r.outgoing = 1 AND +r.other IN {_in("nodes")} WHERE NOT start.hub
                UNION ALL
                SELECT r.node, r.other, {weight}
                FROM start CROSS JOIN json_each(:nodes) AS b CROSS JOIN relationship AS r
                  ON r.node = start.node AND r.type = start.type AND r.outgoing = 1 AND r.other = b.value
                WHERE start.hub
                ORDER BY 1, 2""",
            nodes=_json(nodes),
            types=scope.types,
            name=view.weight,
        )
        for row in rows:
            parallel = [1 if view.weight is None else json.loads(row["weight"])]
            yield row["source"], row["target"], parallel

    def _labels(self, view: View) -> list[dict[str, Any]]:
        return self._all(
            f"SELECT * FROM label WHERE name IN {_in('names')}", names=_json(view.labels)
        )

    def _label_ids(self, view: View) -> str:
        labels = self._labels(view)
        for row in labels:
            if view.key is not None and row["key"] != view.key:
                raise KeyNotUnique(
                    f"the :{row['name']} nodes in {self.address} have the key {row['key']!r}, "
                    f"not {view.key!r}: use --key {row['key']}"
                )
        return _json([row["id"] for row in labels])

    def _scope(self, view: View) -> "_Scope":
        """The view in the file's own numbers, looked up once per call."""
        types = self._all(
            f"SELECT id FROM type WHERE name IN {_in('names')}", names=_json(view.relationships)
        )
        return _Scope(view, self._label_ids(view), _json([row["id"] for row in types]))

    def _first_label(self, view: View) -> int:
        return next(int(row["id"]) for row in self._labels(view) if row["name"] == view.labels[0])

    def _nodes(self, view: View, column: str, keys: Sequence[NodeKey]) -> dict[NodeKey, Any]:
        """A column of the nodes among these that exist, by key."""
        if view.key is None:
            found = f"n.id IN (SELECT CAST(value AS INTEGER) FROM json_each(:keys) WHERE {_IS_ID})"
        else:
            found = f"n.key IN {_in('keys')}"
        rows = self._all(
            f"""SELECT {_key_column(view)} AS key, n.{column} AS wanted FROM node AS n
                WHERE n.label IN {_in("labels")} AND {found}""",
            labels=self._label_ids(view),
            keys=_json(list(keys)),
        )
        return {as_key(row["key"], view): row["wanted"] for row in rows}

    def _ids(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, int]:
        return self._nodes(view, "id", keys)

    def _keys(self, view: View, ids: Sequence[int]) -> dict[int, NodeKey]:
        rows = self._all(
            f"SELECT n.id, {_key_column(view)} AS key FROM node AS n WHERE n.id IN {_in('ids')}",
            ids=_json(list(ids)),
        )
        return {row["id"]: as_key(row["key"], view) for row in rows}

    def _known_ids(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, int]:
        """In the order of the keys; every one of them has to exist."""
        ids = self._ids(view, keys)
        refuse_unknown(keys, ids, view)
        return {key: ids[key] for key in keys}

    def _all(self, sql: str, **parameters: object) -> list[dict[str, Any]]:
        with self._errors():
            cursor = self._connection.execute(sql, parameters)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        """A write transaction that holds the file's write lock from its start."""
        with self._errors():
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection.execute
                self._connection.execute("COMMIT")
            except BaseException:
                # Ctrl-C may come at any moment, and a full disk with the COMMIT.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeEncodeError, OverflowError) as error:
            raise _translate(error, self._path) from None


@dataclass(frozen=True)
class _Scope:
    """A view with the ids of its labels and types, as JSON lists."""

    view: View
    labels: str
    types: str


# SQLite walks from either end of the index (label, rowid), so each bound is one look.
_BOUNDS = """
SELECT (SELECT id FROM node WHERE label = l.value ORDER BY id LIMIT 1) AS low,
       (SELECT id FROM node WHERE label = l.value ORDER BY id DESC LIMIT 1) AS high
FROM json_each(:labels) AS l"""

# Internal ids are handed out as text, as Neo4j does; anything else is no id.
_IS_ID = "type = 'text' AND value = CAST(CAST(value AS INTEGER) AS TEXT)"


def _in(parameter: str) -> str:
    """A list parameter: SQLite takes lists as JSON, which keeps integers and strings apart."""
    return f"(SELECT value FROM json_each(:{parameter}))"


def _key_column(view: View) -> str:
    return "CAST(n.id AS TEXT)" if view.key is None else "n.key"


def _properties(view: View, key: NodeKey, rest: Mapping[str, Property]) -> str:
    return _json({**rest, key_property(view): key})


def _both_ends(
    edges: Mapping[tuple[NodeKey, NodeKey], Mapping[str, Property]],
    ids: Mapping[NodeKey, int],
    kind: int,
) -> Iterator[tuple[str, int, int, int, int]]:
    for (source, target), properties in edges.items():
        a, b, text = ids[source], ids[target], _json(properties) if properties else "{}"
        yield text, a, kind, 1, b
        yield text, b, kind, 0, a


def _property(properties: str, name: str) -> str:
    """One of a node's or relationship's properties, as JSON."""
    return _json(json.loads(properties).get(name))


def _numbered(where: str) -> str:
    """Parameters ?2, ?3, … for the marks of a condition: ?1 is the new properties."""
    first, *others = where.split("?")
    return first + "".join(f"?{i}{other}" for i, other in enumerate(others, start=2))


def _statements(script: str) -> Iterator[str]:
    text = ""
    for line in script.splitlines():
        text += line + "\n"
        if sqlite3.complete_statement(text):
            yield text
            text = ""


def _translate(error: Exception, path: str) -> StoreError | InvalidAddress:
    text = str(error)
    if "readonly" in text:
        return ReadOnlyDatabase(f"sqlite:{path} may not be written: check the file's permissions")
    if "not a database" in text or "malformed" in text:
        return InvalidAddress(
            f"{path} is not a graphbo database: name another file with --uri sqlite:FILE"
        )
    if "unable to open" in text:
        return StoreUnavailable(f"{path} cannot be opened: check the path and its permissions")
    if "locked" in text:
        return StoreUnavailable(f"sqlite:{path} is locked by another process: try again")
    return StoreError(f"sqlite:{path}: {text}")
