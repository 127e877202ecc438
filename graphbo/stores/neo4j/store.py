"""The graph in a Neo4j database, 5.26 or newer, Community or Enterprise, with no plugin."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import neo4j

from graphbo.errors import (
    EvaluationFailed,
    KeyNotUnique,
    ReadOnlyDatabase,
    Remedy,
    StoreError,
    TimedOut,
)
from graphbo.stores.address import Address
from graphbo.stores.contract import EdgeRow, KeyReport, NodeRow, StoreInfo, WriteCounts
from graphbo.stores.log import Found, RunLog
from graphbo.stores.neo4j.connection import (
    BULK_SECONDS,
    SCAN_SECONDS,
    STEP_SECONDS,
    Neo4jConnection,
    Rows,
    rows_of,
)
from graphbo.stores.neo4j.log import Neo4jLog
from graphbo.stores.neo4j.statements import statement
from graphbo.stores.row_checks import edge_rows, key_property, node_rows
from graphbo.stores.sampling import sample_keys
from graphbo.stores.seeded_order import SeededOrder
from graphbo.stores.subgraphs import as_key, assemble, refuse_unknown
from graphbo.types import Ego, NodeKey, Subgraph, View, check_name

__all__ = ["Neo4jStore"]

#: Statements that look at every node of a label.
SCANS = {"check_key", "count_nodes", "create_key", "nodes_with_property", "scan_sample"}


class Neo4jStore:
    """See ``GraphStore``. Reads are routed to readers; every call is one managed transaction with retries."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connection = Neo4jConnection(address)
        try:
            self.ping()
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> str:
        """Where the database is, without credentials."""
        return self._address.public

    @property
    def access(self) -> Address:
        """Where the server is, and who asks."""
        return self._address

    def close(self) -> None:
        """Close the connection."""
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
    def log(self) -> RunLog:
        """What runs keep in this database."""
        return Neo4jLog(self._connection)

    # About the database

    def info(self) -> StoreInfo:
        """Version, edition and whether this user may write."""
        (kernel,) = self._read("server_info")[:1]
        refusal = self._write_refusal()
        return StoreInfo(
            address=self.address,
            product="Neo4j",
            version=kernel["version"],
            edition=kernel["edition"],
            database=self._connection.database,
            writable=not refusal,
            why_not_writable=refusal,
        )

    def ping(self) -> None:
        """``RETURN 1``."""
        self._read("ping")

    def names(self) -> tuple[list[str], list[str]]:
        """From the token stores."""
        (row,) = self._read("names")
        labels = [name for name in row["labels"] if not name.startswith("Graphbo")]
        types = [name for name in row["types"] if not name.startswith("GRAPHBO_")]
        return sorted(labels), sorted(types)

    def resolve(self, view: View) -> View:
        """The view with the one property that is constrained to be unique on all its labels as its key."""
        if view.key is not None:
            return view
        constrained = self._constrained(view)
        if len(constrained) != 1:
            return view
        return _with_key(view, next(iter(constrained)))

    def check_key(self, view: View) -> KeyReport:
        """Looks for a constraint on every label; only without one are the nodes themselves looked at."""
        if view.key is None or view.key in self._constrained(view):
            return KeyReport(view.key, constrained=view.key is not None, missing=0, duplicates=0)
        (row,) = self._read("check_key", view)
        return KeyReport(
            view.key, constrained=False, missing=row["missing"], duplicates=row["duplicates"]
        )

    def room(self) -> None:
        """A server's disk cannot be seen from here."""

    # Reading the graph

    def count_nodes(self, view: View) -> int:
        """From the count store, for a view with one label."""
        return int(self._read("count_nodes", view)[0]["nodes"])

    def count_relationships(self, view: View) -> int:
        """From the count store."""
        return int(self._read("count_relationships", view)[0]["relationships"])

    def nodes_with_keys(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, list[Found]]:
        """One seek per key."""
        nodes: dict[NodeKey, list[Found]] = {}
        for row in self._read("nodes_with_keys", view, keys=list(keys)):
            found = Found(row["id"], row["labels"], row["properties"])
            nodes.setdefault(as_key(row["key"], view), []).append(found)
        return nodes

    def properties(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, dict[str, object]]:
        """One seek per key."""
        rows = self._read("properties", view, keys=list(keys))
        found = {as_key(row["key"], view): dict(row["properties"]) for row in rows}
        refuse_unknown(keys, found, view)
        return {key: found[key] for key in keys}

    def nodes_with_property(self, view: View, name: str, limit: int) -> dict[NodeKey, object]:
        """One scan of the label."""
        check_name(name, "property")
        rows = self._read("nodes_with_property", view, property=name, limit=limit)
        return {as_key(row["key"], view): row["value"] for row in rows}

    def random_keys(
        self, view: View, count: int, seed: Sequence[int], exclude: Iterable[NodeKey] = ()
    ) -> list[NodeKey]:
        """Rejection on internal ids; the ids' bounds come from the ordered label index."""
        order = SeededOrder.from_seed(seed)

        def shoot(draws: list[int]) -> list[tuple[int, NodeKey]]:
            rows = self._read("random_nodes", view, draws=draws)
            return [(row["id"], as_key(row["key"], view)) for row in rows]

        def scan(limit: int, without: list[NodeKey]) -> list[NodeKey]:
            rows = self._read("scan_sample", view, exclude=without, limit=limit, **order.parameters)
            return [as_key(row["key"], view) for row in rows]

        def size() -> int:
            # Label by label: only then does the count store know. A node with two of them counts twice.
            return sum(self.count_nodes(replace(view, labels=(label,))) for label in view.labels)

        return sample_keys(count, seed, exclude, shoot, scan, size)

    def ego_networks(
        self,
        view: View,
        egos: Sequence[Ego],
        seed: Sequence[int],
        first: Iterable[NodeKey] = (),
        through: Iterable[NodeKey] | None = None,
    ) -> Subgraph:
        """One statement for eight hops, which is one round trip on any graph but the sparsest."""
        fixed = {
            "first": list(first),
            "limit": max((ego.size for ego in egos), default=1),
            "everywhere": through is None,
            "through": list(through or ()),
            **SeededOrder.from_seed(seed).parameters,
        }
        growing = [_growing(ego.size, [ego.centre], [ego.centre]) for ego in egos]
        while True:
            (row,) = self._read("ego_networks", view, egos=growing, **fixed)
            keys = {node_id: as_key(key, view) for node_id, key in row["nodes"]}
            refuse_unknown((ego.centre for ego in egos), keys.values(), view)
            grown = list(zip(egos, row["egos"], row["frontiers"], strict=True))
            if not any(frontier and len(ids) < ego.size for ego, ids, frontier in grown):
                nodes = list(keys.items())
                return assemble(view, nodes, row["egos"], row["relationships"], row["degrees"])
            growing = [
                _growing(ego.size, [keys[i] for i in ids], [keys[i] for i in frontier])
                for ego, ids, frontier in grown
            ]

    def neighbours(
        self,
        view: View,
        keys: Sequence[NodeKey],
        seed: Sequence[int],
        exclude: Iterable[NodeKey] = (),
        limit: int | None = None,
    ) -> list[NodeKey]:
        """One expansion per key, cut and ordered by the server."""
        (row,) = self._read(
            "neighbours",
            view,
            keys=list(dict.fromkeys(keys)),
            exclude=list(exclude),
            limit=2**31 if limit is None else limit,
            **SeededOrder.from_seed(seed).parameters,
        )
        if row["found"] < len(set(keys)):
            self.properties(view, keys)  # raises, with the key that is missing
        return [as_key(key, view) for _, key in row["neighbours"]]

    # Writing the graph

    def create_key(self, view: View) -> None:
        """``CREATE CONSTRAINT IF NOT EXISTS`` for each label."""
        key_property(view)
        for label in view.labels:
            one = View((label,), view.relationships, key=view.key)
            try:
                self._write("create_key", one)
            except KeyNotUnique:
                report = self.check_key(one)
                raise KeyNotUnique(
                    f"{report.duplicates:,} values of {view.key!r} belong to several :{label} nodes: make them unique",
                    Remedy.CHOOSE_KEY,
                ) from None

    def write_nodes(self, view: View, nodes: Sequence[NodeRow]) -> WriteCounts:
        """MERGE by key."""
        rows = [{"key": key, "properties": rest} for key, rest in node_rows(view, nodes).items()]
        return self._write("write_nodes", view, rows=rows)

    def write_relationships(self, view: View, edges: Sequence[EdgeRow]) -> WriteCounts:
        """MERGE by the two keys."""
        rows = [
            {"source": source, "target": target, "properties": rest}
            for (source, target), rest in edge_rows(view, edges).items()
        ]
        return self._write("write_relationships", view, rows=rows)

    def delete_graph(self, view: View) -> None:
        """DETACH DELETE in batches, which needs a transaction that the server manages."""
        query = neo4j.Query(statement("delete_graph").text(view), timeout=SCAN_SECONDS)
        with self._connection.session(SCAN_SECONDS) as session:
            session.run(query).consume()

    # Statements of the user: ``cypher:`` objectives

    def check_query(self, text: str) -> None:
        """Let the server plan a statement of the user's, which only reads.

        Raises:
            StoreError: it has a mistake, or would write.
        """
        query = neo4j.Query(f"EXPLAIN {text}", timeout=STEP_SECONDS)
        with self._connection.session(STEP_SECONDS) as session:
            kind = session.run(query, {"key": None}).consume().query_type
        if kind != "r":
            raise StoreError("the statement would write: it may only read")

    def query_number(self, text: str, key: NodeKey, timeout: float | None) -> object:
        """The only value of the only row that a statement of the user's returns for a node.

        Raises:
            EvaluationFailed: it returns something else.
            StoreError: it fails.
        """

        def work(transaction: neo4j.ManagedTransaction) -> list[list[Any]]:
            # Two rows are enough to know that there are too many.
            rows = transaction.run(text, {"key": key}).fetch(2)
            return [list(row.values()) for row in rows]

        limit = SCAN_SECONDS if timeout is None else timeout
        limited = neo4j.unit_of_work(timeout=limit)(work)
        try:
            with self._connection.session(limit) as session:
                rows = session.execute_read(limited)
        except TimedOut:
            # It reads, so it waits for nobody: the statement itself is to blame.
            raise EvaluationFailed(f"no answer within {limit:g} s") from None
        if len(rows) != 1 or len(rows[0]) != 1:
            found = f"{len(rows)} rows" if len(rows) != 1 else f"{len(rows[0])} columns"
            raise EvaluationFailed(
                f"the statement returns {found} for {key!r}: expected one number"
            )
        return rows[0][0]

    # Talking to the server

    def _constrained(self, view: View) -> dict[str, None]:
        """The properties that a constraint makes unique on every label of the view."""
        rows = self._read("constraints", labels=list(view.labels))
        by_label = {
            label: [row["property"] for row in rows if row["label"] == label]
            for label in view.labels
        }
        first, *others = by_label.values()
        return dict.fromkeys(name for name in first if all(name in other for other in others))

    def _write_refusal(self) -> str:
        """Why this user may not write here; empty if they may. Leaves no trace."""
        text = statement("probe_write").text()
        try:
            with (
                self._connection.session(STEP_SECONDS) as session,
                session.begin_transaction(timeout=STEP_SECONDS) as transaction,
            ):
                transaction.run(text).consume()
                transaction.rollback()
        except ReadOnlyDatabase as error:
            return str(error)
        return ""

    def _read(self, name: str, view: View | None = None, **parameters: object) -> Rows:
        limit = SCAN_SECONDS if name in SCANS else None
        return self._connection.read(statement(name).text(view), parameters, rows_of, seconds=limit)

    def _write(self, name: str, view: View | None = None, **parameters: object) -> WriteCounts:
        counters = self._connection.write(
            statement(name).text(view),
            parameters,
            lambda found: found.consume().counters,
            seconds=SCAN_SECONDS if name in SCANS else BULK_SECONDS,
        )
        return WriteCounts(
            nodes_created=counters.nodes_created,
            relationships_created=counters.relationships_created,
            properties_set=counters.properties_set,
        )


def _growing(size: int, selected: list[NodeKey], frontier: list[NodeKey]) -> dict[str, object]:
    return {"size": size, "selected": selected, "frontier": frontier}


def _with_key(view: View, key: str) -> View:
    return View(view.labels, view.relationships, view.direction, view.weight, key)
