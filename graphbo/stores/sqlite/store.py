"""The graph in one SQLite file, or in memory: a first try with no server, with the behaviour of the Neo4j store."""

import json
import shutil
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from graphbo.errors import ReadOnlyDatabase
from graphbo.stores.address import Address
from graphbo.stores.contract import EdgeRow, KeyReport, NodeRow, StoreInfo, Surrounding, WriteCounts
from graphbo.stores.log import Found, RunLog
from graphbo.stores.sampling import DOUBT, first_draws, is_rare, rare_filter, sample_keys
from graphbo.stores.seeded_order import SeededOrder
from graphbo.stores.sqlite.around import surroundings
from graphbo.stores.sqlite.file import SqliteFile, in_list, to_json
from graphbo.stores.sqlite.log import SqliteLog
from graphbo.stores.sqlite.nodes import KeySet, Labels, Scope, SqliteNodes, labels_in, refuse_hop
from graphbo.stores.sqlite.predicates import index_on
from graphbo.stores.sqlite.walk import Grown, SqliteWalk, order_by
from graphbo.stores.sqlite.writes import SqliteWriter
from graphbo.stores.subgraphs import as_key, assemble, refuse_unknown
from graphbo.types import Ego, NodeKey, Sample, Subgraph, View, check_name

__all__ = ["SqliteStore"]

# SQLite walks from either end of the indexes (label, id), so each bound is one look.
_BOUNDS = """
SELECT (SELECT id FROM node WHERE label = l.id ORDER BY id LIMIT 1) AS low,
       (SELECT id FROM node WHERE label = l.id ORDER BY id DESC LIMIT 1) AS high
FROM label AS l WHERE l.id IN {labels}
UNION ALL
SELECT (SELECT node FROM further WHERE label = l.id ORDER BY node LIMIT 1),
       (SELECT node FROM further WHERE label = l.id ORDER BY node DESC LIMIT 1)
FROM label AS l WHERE l.id IN {labels}"""


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
        refuse_hop(view)
        if view.key is not None:
            return view
        keys = {row["key"] for row in self._nodes.rows(view.candidate_labels)} - {None}
        return replace(view, key=keys.pop()) if len(keys) == 1 else view

    def check_key(self, view: View) -> KeyReport:
        """A label's key property is unique by construction; any other property is looked at node by node."""
        rows = self._nodes.rows(view.candidate_labels)
        if view.key is None or all(row["key"] == view.key for row in rows):
            constrained = view.key is not None and len(rows) == len(view.candidate_labels)
            return KeyReport(view.key, constrained=constrained, missing=0, duplicates=0)
        rows = self._file.all(
            f"""SELECT count(*) AS nodes, property(n.properties, :name) AS value FROM node AS n
                WHERE {labels_in(rows).among("n")} GROUP BY value""",
            name=view.key,
        )
        return KeyReport(
            view.key,
            constrained=False,
            missing=sum(row["nodes"] for row in rows if row["value"] == "null"),
            duplicates=sum(row["value"] != "null" and row["nodes"] > 1 for row in rows),
            fixed=True,
        )

    def unique_properties(self, view: View) -> list[str]:
        """The key that all the labels were loaded with."""
        rows = self._nodes.rows(view.candidate_labels)
        keys = {row["key"] for row in rows}
        return [name for name in keys if name is not None] if len(keys) == 1 else []

    def room(self) -> int | None:
        """Of the disk that the file is on."""
        if self._access is None:
            return None
        return shutil.disk_usage(Path(self._access.path).resolve().parent).free

    # Reading the graph

    def count_nodes(self, view: View) -> int:
        """From the counts that are kept, but for a condition: then each is looked at."""
        if view.candidate_condition is None:
            return self._count(view)
        scope = self._nodes.scope(view)
        rows = self._file.tuples(
            f"SELECT count(*) FROM node AS n WHERE {self._among(scope)}", **scope.parameters
        )
        return int(rows[0][0])

    def _count(self, view: View) -> int:
        """The nodes with the candidates' labels; those that have two of them are looked for, and count once."""
        rows = self._nodes.rows(view.candidate_labels)
        labels = labels_in(rows)
        if len(rows) < 2 or not labels.further:
            return sum(int(row["nodes"]) for row in rows)
        further = self._file.tuples(
            f"""SELECT count(DISTINCT f.node) FROM further AS f JOIN node AS n ON n.id = f.node
                WHERE f.label IN {labels.listed} AND n.label NOT IN {labels.listed}"""
        )
        return sum(int(row["nodes"] - row["further"]) for row in rows) + int(further[0][0])

    def count_labelled(self, view: View) -> int:
        """From the counts that are kept."""
        return self._count(view)

    def finds_by_index(self, view: View) -> bool:
        """By SQLite's plan."""
        scope = self._nodes.scope(view)
        return "<expr>" in self._plan(scope, self._among(scope))

    def index_for(self, view: View) -> str | None:
        """One for all nodes, on the first property that helps."""
        return index_on(view.candidate_condition)

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
            found = Found(
                str(row["id"]), json.loads(row["labels"]), list(json.loads(row["properties"]))
            )
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
        scope = self._nodes.scope(view)
        rows = self._file.all(
            f"""SELECT {scope.key} AS key, property(n.properties, :name) AS value FROM node AS n
                WHERE {self._among(scope)} AND value <> 'null' ORDER BY n.id LIMIT :limit""",
            name=name,
            limit=limit,
            **scope.parameters,
        )
        return {as_key(row["key"], view): json.loads(row["value"]) for row in rows}

    def random_keys(
        self, view: View, count: int, seed: Sequence[int], exclude: Iterable[NodeKey] = ()
    ) -> list[NodeKey]:
        """Rejection on rowids between the lowest and the highest of the view's labels."""
        scope = self._nodes.scope(view)
        labels, key = scope.labels, scope.key

        def shoot(draws: list[int]) -> list[tuple[int, NodeKey]]:
            ids = self._drawn_ids(labels, draws)
            rows = self._file.all(
                f"""SELECT n.id, {key} AS key, coalesce({scope.candidate}, 0) AS candidate
                    FROM json_each(:ids) AS draw
                    JOIN node AS n ON n.id = draw.value WHERE {labels.on("n")}
                    ORDER BY draw.key""",
                ids=to_json(ids),
                **scope.parameters,
            )
            return [(row["id"], as_key(row["key"], view)) for row in rows if row["candidate"]]

        def scan(limit: int, without: list[NodeKey]) -> list[NodeKey]:
            where = self._among(scope)
            if view.candidate_condition is not None and "<expr>" not in self._plan(scope, where):
                self._refuse_scan(view)
            rows = self._file.all(
                f"""SELECT {key} AS key FROM node AS n WHERE {where}
                    AND {key} NOT IN {in_list("without")} ORDER BY {order_by("n.id")} LIMIT :limit""",
                without=to_json(without),
                limit=limit,
                **SeededOrder.from_seed(seed).parameters,
                **scope.parameters,
            )
            return [as_key(row["key"], view) for row in rows]

        def size() -> int:
            by_index = view.candidate_condition is not None and self.finds_by_index(view)
            return self.count_nodes(view) if by_index else self._count(view)

        return sample_keys(count, seed, exclude, shoot, scan, size)

    def _drawn_ids(self, labels: Labels, draws: Iterable[int]) -> list[int]:
        """Draws as ids between the lowest and the highest of some labels; none if they have no node."""
        bounds = _BOUNDS.format(labels=labels.listed)
        ((low, high),) = self._file.tuples(f"SELECT min(low), max(high) FROM ({bounds})")
        return [] if low is None else [low + draw % (high - low + 1) for draw in draws]

    def random_nodes(
        self,
        view: View,
        count: int,
        seed: Sequence[int],
        exclude: Iterable[NodeKey] = (),
        read: Sequence[str] = (),
    ) -> Sample:
        """As ``random_keys`` begins, with a limit."""
        scope, without = self._nodes.scope(view), set(exclude)
        ids = dict.fromkeys(self._drawn_ids(scope.labels, first_draws(count, seed)))
        rows = self._file.tuples(
            f"""SELECT n.id, {scope.key} FROM json_each(:ids) AS draw JOIN node AS n ON n.id = draw.value
                WHERE {scope.candidate} ORDER BY draw.key LIMIT :limit""",
            ids=to_json(list(ids)),
            limit=count + len(without),
            **scope.parameters,
        )
        found = {node_id: as_key(key, view) for node_id, key in rows}
        kept = [node_id for node_id, key in found.items() if key not in without][:count]
        return Sample(
            tuple(found[node_id] for node_id in kept),
            np.array(self._walk.degrees(scope, kept), dtype=np.int64),
            self._nodes.properties(kept, read),
        )

    def _refuse_scan(self, view: View) -> None:
        """Check that a filter is worth a look at every node of its labels."""
        size = self._count(view)
        if is_rare(0, size) and is_rare(self.count_nodes(view) * DOUBT, size):
            raise rare_filter(view, size, self.index_for(view))

    def _among(self, scope: Scope) -> str:
        """Whether ``n`` is a candidate, for a query that goes through all of them: by an index, if there is one."""
        if not scope.seeks:
            labels = scope.labels.among("n")
            return (
                labels
                if scope.view.candidate_condition is None
                else f"{labels} AND {scope.candidate}"
            )
        by_index = " AND ".join([*scope.seeks, scope.candidate])
        if "<expr>" in self._plan(scope, by_index):
            return by_index
        return f"{scope.labels.among('n')} AND {scope.candidate}"

    def _plan(self, scope: Scope, where: str) -> str:
        rows = self._file.tuples(
            f"EXPLAIN QUERY PLAN SELECT n.id FROM node AS n WHERE {where}", **scope.parameters
        )
        return " ".join(row[3] for row in rows)

    def ego_networks(
        self,
        view: View,
        egos: Sequence[Ego],
        seed: Sequence[int],
        first: Iterable[NodeKey] = (),
        through: Iterable[NodeKey] | None = None,
        read: Sequence[str] = (),
    ) -> Subgraph:
        """Hop by hop; a round trip costs nothing here."""
        order = SeededOrder.from_seed(seed)
        scope = self._nodes.scope(view)
        centres = self._nodes.known_ids(view, [ego.centre for ego in egos])
        come_first = self._first.hold(scope, first)
        passable = None if through is None else set(self._nodes.ids(view, list(through)).values())
        found = Grown()
        grown = []
        for ego in egos:
            centre = centres[ego.centre]
            found.keys.setdefault(centre, ego.centre)
            grown.append(
                self._walk.grow(scope, centre, ego.size, order, come_first, passable, found)
            )
        # A centre may have left the view's filter since it was a candidate, and have been met as a connector.
        connectors = [node_id for node_id in found.connectors if node_id not in found.keys]
        rows = [*found.keys, *connectors]
        meetings, hubs = self._walk.meetings(scope, rows)
        return assemble(
            view,
            list(found.keys.items()),
            grown,
            self._walk.relationships_among(scope, rows),
            self._walk.degrees(scope, list(found.keys)),
            connectors=[(node_id, str(node_id)) for node_id in connectors],
            meetings=meetings,
            through=None if passable is None else passable.union(connectors),
            hubs=map(str, found.hubs | hubs),
            properties=self._nodes.properties(list(found.keys), read),
        )

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
        order, scope = SeededOrder.from_seed(seed), self._nodes.scope(view)
        excluded = self._excluded.hold(scope, exclude)
        return self._walk.neighbours(scope, nodes, excluded, limit, order)

    def around(self, view: View, keys: Sequence[NodeKey], limit: int) -> list[Surrounding]:
        """One index range per node."""
        return surroundings(self._file, list(self._nodes.known_ids(view, keys).values()), limit)

    # Writing the graph

    def create_key(self, view: View) -> None:
        """Notes the key property of each label, once."""
        self._writer.create_key(view)

    def write_nodes(
        self, view: View, nodes: Sequence[NodeRow], labels: Sequence[str] = ()
    ) -> WriteCounts:
        """Inserts what is missing, then updates what was there."""
        return self._writer.write_nodes(view, nodes, labels)

    def write_relationships(
        self,
        view: View,
        edges: Sequence[EdgeRow],
        *,
        target: View | None = None,
        parallel: bool = False,
    ) -> WriteCounts:
        """Inserts what is missing, at both ends, then updates what was there."""
        return self._writer.write_relationships(view, edges, target=target, parallel=parallel)

    def delete_graph(self, view: View) -> None:
        """Deletes the nodes with every relationship that touches one."""
        self._writer.delete_graph(view)
