"""The graph in one SQLite file, or in memory: a first try with no server, with the behaviour of the Neo4j store."""

import json
import shutil
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from graphbo.errors import ReadOnlyDatabase
from graphbo.stores.address import Address
from graphbo.stores.contract import EdgeRow, KeyReport, NodeRow, StoreInfo, WriteCounts
from graphbo.stores.log import Found, RunLog
from graphbo.stores.sampling import sample_keys
from graphbo.stores.seeded_order import SeededOrder
from graphbo.stores.sqlite.file import SqliteFile, in_list, to_json
from graphbo.stores.sqlite.log import SqliteLog
from graphbo.stores.sqlite.nodes import KeySet, SqliteNodes, key_column
from graphbo.stores.sqlite.walk import SqliteWalk, order_by
from graphbo.stores.sqlite.writes import SqliteWriter
from graphbo.stores.subgraphs import as_key, assemble, refuse_unknown
from graphbo.types import Ego, NodeKey, Subgraph, View, check_name

__all__ = ["SqliteStore"]

# SQLite walks from either end of the index (label, rowid), so each bound is one look.
_BOUNDS = """
SELECT (SELECT id FROM node WHERE label = l.value ORDER BY id LIMIT 1) AS low,
       (SELECT id FROM node WHERE label = l.value ORDER BY id DESC LIMIT 1) AS high
FROM json_each(:labels) AS l"""


class SqliteStore:
    """See ``GraphStore``."""

    def __init__(self, path: str, *, create: bool = False) -> None:
        self._access = None if path == ":memory:" else Address(f"sqlite:{Path(path).absolute()}")
        self._file = SqliteFile(path, create=create)
        self._nodes = SqliteNodes(self._file)
        self._walk = SqliteWalk(self._file)
        self._writer = SqliteWriter(self._file, self._nodes)
        self._first = KeySet(self._file, "first")
        self._excluded = KeySet(self._file, "excluded")

    @property
    def address(self) -> str:
        """``sqlite:`` and the file."""
        return self._file.address

    @property
    def access(self) -> Address | None:
        """The file, wherever the process goes meanwhile."""
        return self._access

    def close(self) -> None:
        """Close the file."""
        self._file.close()

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
    def log(self) -> RunLog:
        """What runs keep in this file."""
        return SqliteLog(self._file, self._nodes)

    # About the database

    def info(self) -> StoreInfo:
        """SQLite's version, and whether the file may be written."""
        refusal = ""
        try:
            with self._file.transaction() as execute:
                # Beginning alone is allowed where nothing may be written.
                execute("DELETE FROM label WHERE false")
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
        self._file.all("SELECT 1")

    def names(self) -> tuple[list[str], list[str]]:
        """The names of labels and types that have been loaded."""
        labels = self._file.all("SELECT name FROM label ORDER BY name")
        types = self._file.all("SELECT name FROM type ORDER BY name")
        return [row["name"] for row in labels], [row["name"] for row in types]

    def resolve(self, view: View) -> View:
        """The view with the key property that its labels were loaded with."""
        if view.key is not None:
            return view
        keys = {row["key"] for row in self._nodes.labels(view) if row["key"] is not None}
        if len(keys) != 1:
            return view
        return View(view.labels, view.relationships, view.direction, view.weight, keys.pop())

    def check_key(self, view: View) -> KeyReport:
        """A label's key property is unique by construction; any other property is looked at node by node."""
        labels = self._nodes.labels(view)
        if view.key is None or all(row["key"] == view.key for row in labels):
            constrained = view.key is not None and len(labels) == len(view.labels)
            return KeyReport(view.key, constrained=constrained, missing=0, duplicates=0)
        rows = self._file.all(
            f"""SELECT count(*) AS nodes, property(properties, :name) AS value FROM node
                WHERE label IN {in_list("labels")} GROUP BY value""",
            name=view.key,
            labels=to_json([row["id"] for row in labels]),
        )
        return KeyReport(
            view.key,
            constrained=False,
            missing=sum(row["nodes"] for row in rows if row["value"] == "null"),
            duplicates=sum(row["value"] != "null" and row["nodes"] > 1 for row in rows),
        )

    def room(self) -> int | None:
        """Of the disk that the file is on."""
        if self._access is None:
            return None
        return shutil.disk_usage(Path(self._access.path).resolve().parent).free

    # Reading the graph

    def count_nodes(self, view: View) -> int:
        """From the counts that are kept."""
        return sum(row["nodes"] for row in self._nodes.labels(view))

    def count_relationships(self, view: View) -> int:
        """From the counts that are kept."""
        rows = self._file.all(
            f"SELECT relationships FROM type WHERE name IN {in_list('names')}",
            names=to_json(view.relationships),
        )
        return sum(row["relationships"] for row in rows)

    def nodes_with_keys(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, list[Found]]:
        """One seek per key."""
        nodes: dict[NodeKey, list[Found]] = {}
        for row in self._nodes.found(view, keys):
            found = Found(str(row["id"]), [row["label"]], list(json.loads(row["properties"])))
            nodes.setdefault(as_key(row["key"], view), []).append(found)
        return nodes

    def properties(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, dict[str, object]]:
        """One seek per key."""
        rows = self._nodes.columns(view, "properties", keys)
        refuse_unknown(keys, rows, view)
        return {key: json.loads(rows[key]) for key in keys}

    def nodes_with_property(self, view: View, name: str, limit: int) -> dict[NodeKey, object]:
        """One scan of the label."""
        check_name(name, "property")
        rows = self._file.all(
            f"""SELECT {key_column(view)} AS key, property(n.properties, :name) AS value FROM node AS n
                WHERE n.label IN {in_list("labels")} AND value <> 'null' ORDER BY n.id LIMIT :limit""",
            labels=self._nodes.label_ids(view),
            name=name,
            limit=limit,
        )
        return {as_key(row["key"], view): json.loads(row["value"]) for row in rows}

    def random_keys(
        self, view: View, count: int, seed: Sequence[int], exclude: Iterable[NodeKey] = ()
    ) -> list[NodeKey]:
        """Rejection on rowids between the lowest and the highest of the view's labels."""
        labels = self._nodes.label_ids(view)
        key = key_column(view)

        def shoot(draws: list[int]) -> list[tuple[int, NodeKey]]:
            bounds = self._file.all(
                f"SELECT min(low) AS low, max(high) AS high FROM ({_BOUNDS})", labels=labels
            )
            low, high = bounds[0]["low"], bounds[0]["high"]
            if low is None:
                return []
            rows = self._file.all(
                f"""SELECT n.id, {key} AS key FROM json_each(:ids) AS draw
                    JOIN node AS n ON n.id = draw.value WHERE n.label IN {in_list("labels")}
                    ORDER BY draw.key""",
                ids=to_json([low + draw % (high - low + 1) for draw in draws]),
                labels=labels,
            )
            return [(row["id"], as_key(row["key"], view)) for row in rows]

        def scan(limit: int, without: list[NodeKey]) -> list[NodeKey]:
            rows = self._file.all(
                f"""SELECT {key} AS key FROM node AS n WHERE n.label IN {in_list("labels")}
                    AND {key} NOT IN {in_list("without")} ORDER BY {order_by("n.id")} LIMIT :limit""",
                labels=labels,
                without=to_json(without),
                limit=limit,
                **SeededOrder.from_seed(seed).parameters,
            )
            return [as_key(row["key"], view) for row in rows]

        return sample_keys(count, seed, exclude, shoot, scan, lambda: self.count_nodes(view))

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
        scope = self._nodes.scope(view)
        centres = self._nodes.known_ids(view, [ego.centre for ego in egos])
        come_first = self._first.hold(view, first)
        passable = None if through is None else set(self._nodes.ids(view, list(through)).values())
        keys: dict[int, NodeKey] = {}
        grown = []
        for ego in egos:
            keys.setdefault(centres[ego.centre], ego.centre)
            centre = centres[ego.centre]
            grown.append(
                self._walk.grow(scope, centre, ego.size, order, come_first, passable, keys)
            )
        relationships = self._walk.relationships_among(scope, list(keys))
        if passable is not None:
            relationships = [
                one for one in relationships if one[0] in passable or one[1] in passable
            ]
        degrees = self._walk.degrees(scope, list(keys))
        return assemble(view, list(keys.items()), grown, relationships, degrees)

    def neighbours(
        self,
        view: View,
        keys: Sequence[NodeKey],
        seed: Sequence[int],
        exclude: Iterable[NodeKey] = (),
        limit: int | None = None,
    ) -> list[NodeKey]:
        """One index range per key."""
        nodes = list(self._nodes.known_ids(view, keys).values())
        excluded = self._excluded.hold(view, exclude)
        order, scope = SeededOrder.from_seed(seed), self._nodes.scope(view)
        hop = self._walk.hop(scope, nodes, nodes, limit, order, excluded=excluded)
        return [key for _, key in hop]

    # Writing the graph

    def create_key(self, view: View) -> None:
        """Notes the key property of each label, once."""
        self._writer.create_key(view)

    def write_nodes(self, view: View, nodes: Sequence[NodeRow]) -> WriteCounts:
        """Inserts what is missing, then updates what was there."""
        return self._writer.write_nodes(view, nodes)

    def write_relationships(self, view: View, edges: Sequence[EdgeRow]) -> WriteCounts:
        """Inserts what is missing, at both ends, then updates what was there."""
        return self._writer.write_relationships(view, edges)

    def delete_graph(self, view: View) -> None:
        """Deletes the nodes with every relationship that touches one."""
        self._writer.delete_graph(view)
