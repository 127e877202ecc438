"""The graph in a Neo4j database, 5.26 or newer, Community or Enterprise, with no plugin."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, cast

import neo4j
import numpy as np

from graphbo.errors import (
    EvaluationFailed,
    InvalidView,
    KeyNotUnique,
    ReadOnlyDatabase,
    Remedy,
    StoreError,
    StoreUnavailable,
    TimedOut,
)
from graphbo.stores.address import Address
from graphbo.stores.contract import EdgeRow, KeyReport, NodeRow, StoreInfo, Surrounding, WriteCounts
from graphbo.stores.log import Found, RunLog
from graphbo.stores.neo4j.connection import (
    BULK_SECONDS,
    SCAN_SECONDS,
    STEP_SECONDS,
    Neo4jConnection,
    Rows,
    rows_of,
)
from graphbo.stores.neo4j.hops import Hop, HopGrowth
from graphbo.stores.neo4j.log import Neo4jLog
from graphbo.stores.neo4j.predicates import index_for
from graphbo.stores.neo4j.statements import statement
from graphbo.stores.row_checks import (
    checked_labels,
    edge_rows,
    key_property,
    node_rows,
    parallel_rows,
    written_type,
)
from graphbo.stores.sampling import DOUBT, first_draws, is_rare, rare_filter, sample_keys
from graphbo.stores.seeded_order import SeededOrder
from graphbo.stores.subgraphs import as_key, assemble, by_name, refuse_unknown
from graphbo.types import Ego, NodeKey, Sample, Subgraph, View, check_name
from graphbo.types.text import plural

__all__ = ["Neo4jStore"]

#: Statements that look at every node of a label.
SCANS = {"check_key", "count_nodes", "create_key", "nodes_with_property", "scan_sample"}

#: So many connectors in a row may lie between a node and its neighbours.
MOST_LAYERS = 4
#: As many as there are.
MOST = 2**31


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
        """The view with the one property that is constrained to be unique on all its labels as its key.

        Raises:
            InvalidView: its statement cannot be used.
        """
        if view.hop is not None:
            self._check_hop(view.hop)
        if view.key is not None:
            return view
        constrained = self._constrained(view)
        if len(constrained) != 1:
            return view
        return replace(view, key=next(iter(constrained)))

    def check_key(self, view: View) -> KeyReport:
        """Looks for a constraint on every label; only without one are the nodes themselves looked at."""
        if view.key is None or view.key in self._constrained(view):
            return KeyReport(view.key, constrained=view.key is not None, missing=0, duplicates=0)
        labels = list(view.candidate_labels)
        plain = [row for row in self._read("indexes", labels=labels) if row["property"] == view.key]
        unique = [
            row for row in self._read("constraints", labels=labels) if row["property"] == view.key
        ]
        (row,) = self._read("check_key", view)
        return KeyReport(
            view.key,
            constrained=False,
            missing=row["missing"],
            duplicates=row["duplicates"],
            indexed={one["label"] for one in (*plain, *unique)} == {*labels},
            indexes=tuple(one["name"] for one in plain),
        )

    def unique_properties(self, view: View) -> list[str]:
        """From the constraints."""
        return sorted(self._constrained(view))

    def room(self) -> None:
        """A server's disk cannot be seen from here."""

    # Reading the graph

    def count_nodes(self, view: View) -> int:
        """From the count store, for a view with one label and no filter."""
        return int(self._read("count_nodes", view)[0]["nodes"])

    def count_labelled(self, view: View) -> int:
        """From the count store, label by label."""
        plain = (View((label,), ("_",)) for label in view.candidate_labels)
        return sum(map(self.count_nodes, plain))

    def count_relationships(self, view: View) -> int:
        """From the count store."""
        if not view.relationships:
            return 0
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
            return [(row["id"], as_key(row["key"], view)) for row in rows if row["kept"]]

        def scan(limit: int, without: list[NodeKey]) -> list[NodeKey]:
            if view.candidate_condition is not None:
                self._refuse_scan(view)
            rows = self._read("scan_sample", view, exclude=without, limit=limit, **order.parameters)
            return [as_key(row["key"], view) for row in rows]

        def size() -> int:
            if view.candidate_condition is not None and self.finds_by_index(view):
                return self.count_nodes(view)
            return self.count_labelled(view)

        return sample_keys(count, seed, exclude, shoot, scan, size)

    def random_nodes(
        self,
        view: View,
        count: int,
        seed: Sequence[int],
        exclude: Iterable[NodeKey] = (),
        read: Sequence[str] = (),
    ) -> Sample:
        """As ``random_keys`` begins, with a limit: what is not wanted is not read."""
        without = set(exclude)
        rows = self._read(
            "sample",
            view,
            draws=first_draws(count, seed),
            limit=count + len(without),
            read=checked_names(read),
        )
        found = {as_key(row["key"], view): row for row in rows}
        keys = [key for key in found if key not in without][:count]
        return Sample(
            tuple(keys),
            np.array([found[key]["degree"] for key in keys], dtype=np.int64),
            by_name(read, [found[key]["properties"] for key in keys]),
        )

    def _refuse_scan(self, view: View) -> None:
        """Check that a filter is worth a look at every node of its labels."""
        size = self.count_labelled(view)
        if not is_rare(0, size) or self.finds_by_index(view):
            return
        if is_rare(self.count_nodes(view) * DOUBT, size):
            raise rare_filter(view, size, self.index_for(view))

    def ego_networks(
        self,
        view: View,
        egos: Sequence[Ego],
        seed: Sequence[int],
        first: Iterable[NodeKey] = (),
        through: Iterable[NodeKey] | None = None,
        read: Sequence[str] = (),
    ) -> Subgraph:
        """One statement, which is one round trip; another one where there is more than relationships of one label."""
        names = checked_names(read)
        if view.hop is not None:
            grown = HopGrowth(self._read, self._hop_of(view), view, seed)
            return grown.ego_networks(egos, first, through, names)
        firsts, throughs = list(first), list(through or ())
        centres = [ego.centre for ego in egos]
        (row,) = self._read(
            "ego_networks" if view.is_plain else "ego_networks_along_paths",
            view,
            egos=[{"centre": ego.centre, "size": ego.size} for ego in egos],
            keys=list(dict.fromkeys([*centres, *firsts, *throughs])),
            first=firsts,
            limit=max((ego.size for ego in egos), default=1),
            everywhere=through is None,
            through=throughs,
            **SeededOrder.from_seed(seed).parameters,
            **({"read": names} if names else {}),
        )
        nodes = [(node_id, as_key(key, view)) for node_id, key, *_ in row["nodes"]]
        refuse_unknown(centres, (key for _, key in nodes), view)
        degrees = [degree for _, _, degree, *_ in row["nodes"]]
        properties = by_name(names, [one[3] for one in row["nodes"]] if names else [])
        if view.is_plain:
            return assemble(
                view, nodes, row["egos"], row["relationships"], degrees, properties=properties
            )
        connectors = row["connectors"]
        passable = {*row["throughs"], *(node_id for node_id, _ in connectors)}
        return assemble(
            view,
            nodes,
            row["egos"],
            row["relationships"],
            degrees,
            connectors=connectors,
            meetings=row["meetings"],
            through=None if through is None else passable,
            hubs=row["hubs"],
            properties=properties,
        )

    def neighbours(
        self,
        view: View,
        keys: Sequence[NodeKey],
        seed: Sequence[int],
        exclude: Iterable[NodeKey] = (),
        limit: int | None = None,
    ) -> list[NodeKey]:
        """One expansion per key, cut and ordered by the server; layer by layer where there are connectors."""
        if not view.is_plain:
            return self._nearest(view, keys, seed, exclude, limit)
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

    def around(self, view: View, keys: Sequence[NodeKey], limit: int) -> list[Surrounding]:
        """One expansion per node, which ends after the limit."""
        found: dict[tuple[str, bool, tuple[str, ...]], Surrounding] = {}
        for row in self._read("around", view, keys=list(keys), limit=limit):
            kind = (row["type"], row["outgoing"], tuple(sorted(row["labels"])))
            names = {name for some in row["properties"] for name in some}
            found[kind] = Surrounding(*kind, row["nodes"], tuple(sorted(names)))
        return [found[kind] for kind in sorted(found)]

    def _nearest(
        self,
        view: View,
        keys: Sequence[NodeKey],
        seed: Sequence[int],
        exclude: Iterable[NodeKey],
        limit: int | None,
    ) -> list[NodeKey]:
        """A trip for each layer of connectors."""
        order = SeededOrder.from_seed(seed)
        fixed: dict[str, object] = {
            "exclude": [*exclude, *keys],
            "limit": MOST if limit is None else limit,
            "most": view.hub_limit,
            **order.parameters,
        }
        found: dict[int, NodeKey] = {}
        if view.hop is not None:
            led = self._hop_of(view).targets(list(dict.fromkeys(keys)))
            wanted = [key for key in led if key not in set(cast(list[NodeKey], fixed["exclude"]))]
            rows = self._read("candidates", view, keys=wanted)
            found = {row["id"]: as_key(row["key"], view) for row in rows}
        frontier: list[str] = []
        passed: set[str] = set()
        for layer in range(MOST_LAYERS + 1):
            (row,) = self._read(
                "nearby",
                view,
                keys=[] if layer else list(dict.fromkeys(keys)),
                connectors=frontier,
                passed=sorted(passed),
                nearest=False,
                first=[],
                **fixed,
            )
            if not layer and row["found"] < len(set(keys)):
                self.properties(view, keys)  # raises, with the key that is missing
            found |= {node_id: as_key(key, view) for node_id, key, _ in row["neighbours"]}
            frontier = row["connectors"]
            passed.update(frontier)
            if not frontier:
                break
        return [found[node_id] for node_id in order.sorted(found)][:limit]

    def finds_by_index(self, view: View) -> bool:
        """By the plan of the server."""
        text, values = statement("count_nodes").call({}, view)
        query = neo4j.Query(f"EXPLAIN {text}", timeout=STEP_SECONDS)
        with self._connection.session(STEP_SECONDS) as session:
            plan = session.run(query, values).consume().plan
        return plan is not None and any("NodeIndex" in one for one in operators_of(plan))

    def index_for(self, view: View) -> str | None:
        """One for each label, on the first property that helps."""
        return index_for(view)

    # Writing the graph

    def create_key(self, view: View) -> None:
        """``CREATE CONSTRAINT IF NOT EXISTS`` for each label."""
        key_property(view)
        for label in view.candidate_labels:
            one = View((label,), view.relationships or ("_",), key=view.key)
            try:
                self._write("create_key", one)
            except KeyNotUnique:
                report = self.check_key(one)
                belong = "belongs" if report.duplicates == 1 else "belong"
                raise KeyNotUnique(
                    f"{plural(report.duplicates, 'value')} of {view.key!r} {belong} to several :{label} nodes: "
                    "make them unique",
                    Remedy.CHOOSE_KEY,
                ) from None

    def write_nodes(
        self, view: View, nodes: Sequence[NodeRow], labels: Sequence[str] = ()
    ) -> WriteCounts:
        """MERGE by key."""
        rows = [{"key": key, "properties": rest} for key, rest in node_rows(view, nodes).items()]
        return self._write("write_nodes", view, rows=rows, labels=checked_labels(view, labels))

    def write_relationships(
        self,
        view: View,
        edges: Sequence[EdgeRow],
        *,
        target: View | None = None,
        parallel: bool = False,
    ) -> WriteCounts:
        """MERGE by the two keys; of parallel ones, what is not there yet is created."""
        written_type(view)
        if target is not None:
            key_property(target)
        checked = (
            parallel_rows(view, edges)
            if parallel
            else [(*pair, rest) for pair, rest in edge_rows(view, edges).items()]
        )
        rows = [
            {"source": source, "target": end, "properties": rest} for source, end, rest in checked
        ]
        name = "write_parallel_relationships" if parallel else "write_relationships"
        return self._write(name, view, target, rows=rows)

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

    def _check_hop(self, text: str) -> None:
        """Let the server plan a view's statement: it may only read, and answers with three columns."""
        query = neo4j.Query(f"EXPLAIN {text}", timeout=STEP_SECONDS)
        try:
            with self._connection.session(STEP_SECONDS) as session:
                result = session.run(query, {"keys": []})
                columns, kind = result.keys(), result.consume().query_type
        except StoreUnavailable:
            raise
        except StoreError as error:
            raise InvalidView(f"the statement of the view cannot be used: {error}") from None
        if kind != "r":
            raise InvalidView("the statement of the view would write: it may only read")
        if len(columns) != 3:
            raise InvalidView(
                f"the statement of the view returns {len(columns)} columns: expected a source key, a target key "
                "and a weight, as in RETURN a.id, b.id, 1.0"
            )

    def _hop_of(self, view: View) -> Hop:
        def answers(keys: Sequence[NodeKey]) -> list[list[Any]]:
            return self._connection.read(
                str(view.hop), {"keys": list(keys)}, lambda result: result.values()
            )

        return Hop(answers, view.hub_limit)

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
        rows = self._read("constraints", labels=list(view.candidate_labels))
        by_label = {
            label: [row["property"] for row in rows if row["label"] == label]
            for label in view.candidate_labels
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
        text, values = statement(name).call(parameters, view)
        return self._connection.read(text, values, rows_of, seconds=limit)

    def _write(
        self,
        name: str,
        view: View | None = None,
        target: View | None = None,
        **parameters: object,
    ) -> WriteCounts:
        text, values = statement(name).call(parameters, view, target)
        counters = self._connection.write(
            text,
            values,
            lambda found: found.consume().counters,
            seconds=SCAN_SECONDS if name in SCANS else BULK_SECONDS,
        )
        return WriteCounts(
            nodes_created=counters.nodes_created,
            relationships_created=counters.relationships_created,
            properties_set=counters.properties_set,
        )


def checked_names(names: Sequence[str]) -> list[str]:
    """Names of properties to be read.

    Raises:
        InvalidName: a property cannot be called so.
    """
    return [check_name(name, "property") for name in names]


def operators_of(plan: dict[str, Any]) -> Iterator[str]:
    """The names of a plan's operators."""
    yield str(plan["operatorType"])
    for child in plan.get("children", []):
        yield from operators_of(child)
