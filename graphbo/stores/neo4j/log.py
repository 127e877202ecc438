"""Runs in Neo4j: a node for the run, a relationship for each node that it asked for or measured."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import neo4j
import numpy as np
from neo4j.time import DateTime

from graphbo.errors import KeyNotUnique, StoreError
from graphbo.stores.log import (
    Amend,
    ChangeRun,
    DeleteRun,
    Fail,
    Found,
    Free,
    HandOut,
    Kind,
    Ledger,
    Look,
    Mark,
    MarkRegion,
    MoveBest,
    Observe,
    Properties,
    Release,
    Retry,
    Revise,
    Situation,
    TakeOver,
    Touched,
    Warm,
    Write,
    is_whole,
    is_whole_run,
)
from graphbo.stores.neo4j.connection import (
    BULK_SECONDS,
    SCAN_SECONDS,
    IndexInTheWay,
    Neo4jConnection,
    Rows,
    rows_of,
)
from graphbo.stores.neo4j.statements import statement
from graphbo.stores.subgraphs import as_key
from graphbo.types import NodeKey, View

__all__ = ["DROP_STATEMENTS", "SCHEMA_STATEMENTS", "Neo4jLog"]

#: What makes which constraint.
SCHEMA_STATEMENTS = {
    "run_schema_name": "graphbo_run_name",
    "run_schema_prefix": "graphbo_run_prefix",
    "run_schema_step": "graphbo_observed_step",
}
DROP_STATEMENTS = ("run_drop_run_name", "run_drop_run_prefix", "run_drop_observed_step")

#: What writes what.
STATEMENTS: Mapping[type[Write], str] = {
    HandOut: "run_ask",
    TakeOver: "run_take_over",
    Observe: "run_observe",
    Fail: "run_fail",
    Release: "run_release",
    Amend: "run_amend",
    Revise: "run_revise",
    Retry: "run_retry",
    Warm: "run_warm",
    MoveBest: "run_best",
    Mark: "run_mark",
    MarkRegion: "run_region",
    ChangeRun: "run_set",
    DeleteRun: "run_delete",
}
#: Statements that lock, look and write at once.
AT_ONCE: Mapping[type[Write], str] = {
    HandOut: "run_ask_at_once",
    Observe: "run_observe_at_once",
}
#: What a relationship of a run means.
KINDS: Mapping[str, Kind] = {
    "GRAPHBO_PENDING": "pending",
    "GRAPHBO_OBSERVED": "observed",
    "GRAPHBO_FAILED": "failed",
    "GRAPHBO_RETRIED": "retried",
    "GRAPHBO_REGION": "region",
}

#: How many nodes are drawn to see which properties they have.
SAMPLE = 1_000
#: How often a run is created anew because somebody dropped the constraints at the same moment.
MOST_CREATIONS = 20
#: How often a record that is not whole is read again. Nobody tells that often between two reads.
MOST_READS = 10

Answer = TypeVar("Answer")


class _WrongGuess(Exception):
    """What was written in advance is not what is to be written: it must not be committed."""


class _WithoutConstraints(Exception):
    """The constraints of runs are gone: a run must not be created without them."""


class _RunsLeft(Exception):
    """There are runs: their constraints must not be dropped."""


class Neo4jLedger:
    """See ``Ledger``."""

    def __init__(self, run: str, view: View, transaction: neo4j.ManagedTransaction) -> None:
        self._run = run
        self._view = view
        self._transaction = transaction

    def _do(self, name: str, parameters: Mapping[str, object]) -> Rows:
        text = statement(name).text(self._view)
        return rows_of(self._transaction.run(text, {"run": self._run, **parameters}))

    def look(self, look: Look) -> Situation | None:
        """The lock and one look, in one trip."""
        rows = self._do(
            "run_lock",
            {
                "token": look.token,
                "candidates": list(look.candidates),
                "step": look.step,
                "key": look.key,
                "since": look.since,
            },
        )
        return _situation(rows[0], look.view) if rows else None

    def write(self, write: Write) -> str:
        """One statement."""
        rows = self._do(STATEMENTS[type(write)], _parameters(write))
        return _time_of(rows[0]) if rows else ""

    def nodes(self, keys: Sequence[NodeKey]) -> dict[NodeKey, list[Found]]:
        """All keys at once."""
        (row,) = self._do("run_known", {"keys": list(keys)})
        known = set(row["known"])
        nodes: dict[NodeKey, list[Found]] = {}
        for node in row["found"]:
            found = replace(_found(node), in_run=node["id"] in known)
            nodes.setdefault(as_key(node["key"], self._view), []).append(found)
        return nodes

    def touched(self) -> list[Touched]:
        """By the run's own relationships."""
        return [
            Touched(row["id"], KINDS[row["type"]], _plain(row["record"]), row["held"])
            for row in self._do("run_touched", {})
        ]


class _GuessedLedger:
    """See ``Ledger``: what was guessed is written already, so there is nothing to do if that is what is wanted."""

    def __init__(self, guess: Write, at: str) -> None:
        self._guess = guess
        self._at = at
        self.confirmed = False

    def write(self, write: Write) -> str:
        if write != self._guess:
            raise _WrongGuess
        self.confirmed = True
        return self._at

    def look(self, look: Look) -> Situation | None:
        raise _WrongGuess(look)

    def nodes(self, keys: Sequence[NodeKey]) -> dict[NodeKey, list[Found]]:
        raise _WrongGuess(keys)

    def touched(self) -> list[Touched]:
        raise _WrongGuess


def _parameters(write: Write) -> dict[str, object]:
    """They are called what the fields are called."""
    parameters = dict(vars(write))
    if "lease" in parameters:
        parameters["lease"] = _milliseconds(parameters["lease"])
    return parameters


class Neo4jLog:
    """See ``RunLog``."""

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection

    def transact(
        self,
        run: str,
        look: Look,
        work: Callable[[Ledger, Situation], Answer],
        *,
        survives_power_cut: bool = True,
        grows: bool = False,
        guess: Write | None = None,
    ) -> Answer | None:
        """One managed write transaction. The server keeps whatever it commits.

        Where the guess is right, that is a single statement: two trips in place of four.
        """
        del survives_power_cut
        if guess is not None and type(guess) in AT_ONCE:
            try:
                return self._at_once(run, look, work, guess)
            except _WrongGuess:
                pass  # rolled back: now step by step

        def in_transaction(transaction: neo4j.ManagedTransaction) -> Answer | None:
            ledger = Neo4jLedger(run, look.view, transaction)
            situation = ledger.look(look)
            return None if situation is None else work(ledger, situation)

        return self._connection.write_several(
            in_transaction, seconds=BULK_SECONDS if grows else None
        )

    def _at_once(
        self, run: str, look: Look, work: Callable[[Ledger, Situation], Answer], guess: Write
    ) -> Answer:
        def check(result: neo4j.Result) -> Answer:
            # Raising ends the transaction without a commit.
            rows = rows_of(result)
            situation = _situation(rows[0], look.view) if rows else None
            if situation is None or rows[0]["written"] != 1:
                raise _WrongGuess
            ledger = _GuessedLedger(guess, _time_of(rows[0]))
            # What was written when a node was asked for shows that the first candidate was free.
            found = [_found(node) for node in rows[0].get("found", ())]
            answer = work(ledger, replace(situation, free=Free(0, found)))
            if not ledger.confirmed:
                raise _WrongGuess
            return answer

        text = statement(AT_ONCE[type(guess)]).text(look.view)
        asked = {"run": run, "token": look.token, "since": look.since}
        return self._connection.write(text, _parameters(guess) | asked, check)

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
                        statement("run_drop_index").text(), {"name": constraint}, rows_of
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
            return [(_plain(row["run"]), row["pending"]) for row in rows if row["run"]]

        return _read_whole(read, lambda found: all(is_whole_run(run) for run, _ in found))

    def read_news(self, run: str, view: View, since: int) -> Situation | None:
        """In write mode: a follower may lag."""

        def read() -> Situation | None:
            rows = self._do("run_news", view, run=run, since=since)
            return _situation(rows[0], view) if rows else None

        return _read_whole(read, lambda found: found is None or is_whole(found))

    def read_retried(self, run: str, view: View) -> list[Properties]:
        """In write mode: a follower may lag."""
        rows = self._do("run_retried", view, run=run)
        return [_plain(row["properties"]) | {"key": as_key(row["key"], view)} for row in rows]

    def renew(self, run: str, tokens: Sequence[str], lease: float, tries: int = 0) -> list[int]:
        """By the server's clock."""
        rows = self._do(
            "run_renew", run=run, tokens=list(tokens), lease=_milliseconds(lease), tries=tries
        )
        return [row["step"] for row in rows]

    def set_run(self, run: str, properties: Properties) -> bool:
        """Properties that are None are removed."""
        return any(row["name"] for row in self._do("run_set", run=run, properties=properties))

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
        return list({row["id"]: _found(row) for row in found}.values())

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
        text = statement(name).text(view)
        return self._connection.write(text, parameters, rows_of, seconds=seconds)


def _create(transaction: neo4j.ManagedTransaction, properties: Properties) -> None:
    transaction.run(statement("run_create").text(), {"properties": properties}).consume()
    if len(rows_of(transaction.run(statement("run_schema").text()))) < len(SCHEMA_STATEMENTS):
        raise _WithoutConstraints


def _drop(transaction: neo4j.ManagedTransaction) -> None:
    for name in DROP_STATEMENTS:
        transaction.run(statement(name).text()).consume()
    for constraint in SCHEMA_STATEMENTS.values():
        # Left alone by somebody who was killed while the constraint was made.
        transaction.run(statement("run_drop_index").text(), {"name": constraint}).consume()
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


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(1e3 * seconds)


def _time_of(row: Mapping[str, Any]) -> str:
    """When something was written, if the statement says so."""
    return str(_plain({"at": row.get("at") or ""})["at"])


def _plain(properties: Properties) -> Properties:
    """The driver's own times as text."""
    return {
        name: value.iso_format() if isinstance(value, DateTime) else value
        for name, value in properties.items()
    }


def _found(node: Mapping[str, Any]) -> Found:
    return Found(node["id"], node["labels"], node["properties"])


def _situation(row: dict[str, Any], view: View) -> Situation | None:
    """What was found; None if somebody deleted the run while its lock was waited for."""

    def flat(entries: Rows) -> list[Properties]:
        return [
            _plain(entry["properties"])
            | {
                "key": as_key(entry["key"], view),
                "left": entry.get("left"),
                "held": entry.get("held"),
            }
            for entry in entries
        ]

    if not row["run"]:
        return None
    free = [
        Free(position, [_found(node) for node in row["found"]]) for position in row.get("free", ())
    ]
    return Situation(
        run=_plain(row["run"]),
        pending=flat(row["pending"]),
        free=next(iter(free), None),
        told=flat(row.get("told", [])),
        news=flat(row["news"]),
    )
