"""Runs in Neo4j: a node for the run, a relationship for each node that it asked for or measured."""

import contextlib
from collections.abc import Callable, Sequence
from typing import TypeVar

import neo4j
import numpy as np

from graphbo.errors import KeyNotUnique, StoreError
from graphbo.stores.log import (
    Decide,
    Found,
    Lookup,
    Properties,
    Snapshot,
    Write,
    is_whole,
    is_whole_run,
)
from graphbo.stores.neo4j.at_once import AtOnce, WrongGuess
from graphbo.stores.neo4j.connection import (
    BULK_SECONDS,
    SCAN_SECONDS,
    IndexInTheWay,
    Neo4jConnection,
    Rows,
    rows_of,
)
from graphbo.stores.neo4j.locked_run import (
    LockedRun,
    found_node,
    milliseconds,
    plain,
    snapshot_of,
)
from graphbo.stores.neo4j.statements import statement
from graphbo.stores.subgraphs import as_key
from graphbo.types import View

__all__ = ["DROP_STATEMENTS", "SCHEMA_STATEMENTS", "Neo4jLog"]

#: What makes which constraint.
SCHEMA_STATEMENTS = {
    "run_schema_name": "graphbo_run_name",
    "run_schema_prefix": "graphbo_run_prefix",
    "run_schema_step": "graphbo_observed_step",
}
DROP_STATEMENTS = ("run_drop_run_name", "run_drop_run_prefix", "run_drop_observed_step")

#: How many nodes are drawn to see which properties they have.
SAMPLE = 1_000
#: How often a run is created anew because somebody dropped the constraints at the same moment.
MOST_CREATIONS = 20
#: How often a record that is not whole is read again. Nobody tells that often between two reads.
MOST_READS = 10

Answer = TypeVar("Answer")


class _WithoutConstraints(Exception):
    """The constraints of runs are gone: a run must not be created without them."""


class _RunsLeft(Exception):
    """There are runs: their constraints must not be dropped."""


class Neo4jLog:
    """See ``RunLog``."""

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection

    def transact(
        self,
        run: str,
        lookup: Lookup,
        decide: Decide[Answer],
        *,
        guess: Write | None = None,
        survives_power_cut: bool = True,
        grows: bool = False,
    ) -> tuple[Answer, str] | None:
        """One managed write transaction. The server keeps whatever it commits."""
        del survives_power_cut
        if guess is not None and AtOnce.fits(guess):
            guessed = AtOnce(run, lookup, decide, guess)
            try:
                return self._connection.write(guessed.text, guessed.parameters, guessed.checked)
            except WrongGuess:
                pass  # rolled back: now step by step

        def in_transaction(transaction: neo4j.ManagedTransaction) -> tuple[Answer, str] | None:
            locked = LockedRun(run, lookup.view, transaction)
            found = locked.look(lookup)
            if found is None:
                return None
            answer, writes = decide(found)
            return answer, locked.write(writes)

        return self._connection.write_several(
            in_transaction, seconds=BULK_SECONDS if grows else None
        )

    def create_run(self, properties: Properties) -> bool:
        """Constraints first, in transactions of their own: Neo4j does not mix schema and data.

        The last run may be cleaned at the same moment, and the constraints with it. Whoever creates a run keeps others
        from dropping them until it is committed, so that a look in the same transaction tells.
        """
        for _ in range(MOST_CREATIONS):
            self._create_schema()
            try:
                self._connection.write_several(lambda one: _create(one, properties))
            except KeyNotUnique:
                return False
            except _WithoutConstraints:
                continue
            return True
        raise StoreError("the constraints of runs are dropped as soon as they are made: try again")

    def _create_schema(self) -> None:
        """Look first: whoever changes the schema keeps others waiting, even if there is nothing to change."""
        there = {row["name"] for row in self._do("run_schema")}
        for name, constraint in SCHEMA_STATEMENTS.items():
            if constraint in there:
                continue
            try:
                self._do(name)
            except IndexInTheWay:
                # Somebody was killed who made it: its index is there, and the constraint is not. Or somebody else has
                # just mended that: then the index cannot be dropped, and need not be.
                with contextlib.suppress(StoreError):
                    self._connection.write(
                        *statement("run_drop_index").call({"name": constraint}), rows_of
                    )
                self._do(name)

    def drop_schema(self) -> None:
        """All constraints at once, unless there is a run; nobody can create one meanwhile."""
        with contextlib.suppress(_RunsLeft):
            self._connection.write_several(_drop)

    def list_runs(self, name: str | None = None) -> list[tuple[Properties, int]]:
        """In write mode: a follower may lag."""

        def read() -> list[tuple[Properties, int]]:
            rows = self._do("run_list", run=name)
            return [(plain(row["run"]), row["pending"]) for row in rows if row["run"]]

        return _read_whole(read, lambda found: all(is_whole_run(run) for run, _ in found))

    def read_news(self, run: str, view: View, since: int) -> Snapshot | None:
        """In write mode: a follower may lag."""

        def read() -> Snapshot | None:
            rows = self._do("run_news", view, run=run, since=since)
            return snapshot_of(rows[0], view) if rows else None

        return _read_whole(read, lambda found: found is None or is_whole(found))

    def read_retried(self, run: str, view: View) -> list[Properties]:
        """In write mode: a follower may lag."""
        rows = self._do("run_retried", view, run=run)
        return [plain(row["properties"]) | {"key": as_key(row["key"], view)} for row in rows]

    def renew(self, run: str, tokens: Sequence[str], lease: float, tries: int = 0) -> list[int]:
        """By the server's clock."""
        rows = self._do(
            "run_renew", run=run, tokens=list(tokens), lease=milliseconds(lease), tries=tries
        )
        return [row["step"] for row in rows]

    def names_in_use(
        self, view: View, properties: Sequence[str], labels: Sequence[str]
    ) -> list[str]:
        """Types from the count store, labels from their index."""
        (types,) = self._do("run_types_in_use")
        used = [name for name, count in types.items() if count]
        for row in self._do("run_labels_in_use", _labelled(labels)) if labels else ():
            used += set(labels).intersection(row["labels"])
        draws = np.random.default_rng(0).integers(0, 2**62, size=SAMPLE).tolist()
        for row in self._do("run_properties_in_use", view, draws=draws):
            used += set(properties).intersection(row["names"])
        return used

    def strays(
        self, properties: Sequence[str], labels: Sequence[str], scan: bool, limit: int
    ) -> list[Found]:
        """By their labels, and by a scan of all nodes."""
        found = self._do("run_strays", _labelled(labels), limit=limit)
        if scan:
            found += self._do(
                "run_strays_by_property", seconds=SCAN_SECONDS, names=list(properties), limit=limit
            )
        return list({row["id"]: found_node(row) for row in found}.values())

    def remove_strays(
        self, ids: Sequence[str], properties: Sequence[str], labels: Sequence[str]
    ) -> None:
        """One transaction."""
        nothing = dict.fromkeys(properties)
        rows = [{"id": one, "set": nothing, "add": [], "remove": list(labels)} for one in ids]
        self._do("run_mark", seconds=BULK_SECONDS, rows=rows)

    def _do(
        self,
        name: str,
        view: View | None = None,
        *,
        seconds: float | None = None,
        **parameters: object,
    ) -> Rows:
        text, values = statement(name).call(parameters, view)
        return self._connection.write(text, values, rows_of, seconds=seconds)


def _create(transaction: neo4j.ManagedTransaction, properties: Properties) -> None:
    transaction.run(*statement("run_create").call({"properties": properties})).consume()
    if len(rows_of(transaction.run(statement("run_schema").text()))) < len(SCHEMA_STATEMENTS):
        raise _WithoutConstraints


def _drop(transaction: neo4j.ManagedTransaction) -> None:
    for name in DROP_STATEMENTS:
        transaction.run(statement(name).text()).consume()
    for constraint in SCHEMA_STATEMENTS.values():
        # Left alone by somebody who was killed while the constraint was made.
        transaction.run(*statement("run_drop_index").call({"name": constraint})).consume()
    if rows_of(transaction.run(statement("run_count").text()))[0]["runs"]:
        raise _RunsLeft


def _labelled(labels: Sequence[str]) -> View:
    """A view of the nodes with one of these labels; its relationships do not matter."""
    return View(tuple(labels), ("GRAPHBO_OBSERVED",))


def _read_whole(read: Callable[[], Answer], whole: Callable[[Answer], bool]) -> Answer:
    """Read without the run's lock: a statement sees what others commit meanwhile, and half of what they delete.

    What is never whole is damaged, which whoever makes sense of it will say.
    """
    for _ in range(MOST_READS):
        found = read()
        if whole(found):
            break
    return found
