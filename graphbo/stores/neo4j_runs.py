"""Runs in Neo4j: a node for the run, a relationship for each node that it asked for or measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import neo4j
from neo4j.time import DateTime

from graphbo.errors import KeyNotUnique, StoreError
from graphbo.stores.assemble import as_key
from graphbo.stores.cypher import statement
from graphbo.stores.neo4j_connection import Neo4jConnection, Rows, rows_of
from graphbo.stores.runs.ledger import (
    Amend,
    Annotate,
    Fail,
    HandOut,
    KeepLate,
    Ledger,
    Look,
    MarkRegion,
    MoveBest,
    Observe,
    Properties,
    Release,
    Situation,
    TakeOver,
    Warm,
    Write,
)
from graphbo.stores.runs.properties import is_whole, is_whole_run
from graphbo.types import NodeKey, View

__all__ = ["SCHEMA_STATEMENTS", "Neo4jRuns"]

SCHEMA_STATEMENTS = ("run_schema_name", "run_schema_prefix", "run_schema_step")
DROP_STATEMENTS = ("run_drop_run_name", "run_drop_run_prefix", "run_drop_observed_step")

#: What writes what.
STATEMENTS: Mapping[type[Write], str] = {
    HandOut: "run_ask",
    TakeOver: "run_take_over",
    Observe: "run_observe",
    Fail: "run_fail",
    Release: "run_release",
    Amend: "run_amend",
    KeepLate: "run_late",
    Warm: "run_warm",
    MoveBest: "run_best",
    Annotate: "run_annotate",
    MarkRegion: "run_region",
}
#: Statements that lock, look and write at once.
AT_ONCE: Mapping[type[Write], str] = {
    HandOut: "run_ask_at_once",
    Observe: "run_observe_at_once",
}

#: How often a record that is not whole is read again. Nobody tells that often between two reads.
MOST_READS = 10

Answer = TypeVar("Answer")


class _WrongGuess(Exception):
    """What was written in advance is not what is to be written: it must not be committed."""


class Neo4jLedger:
    """See ``Ledger``."""

    def __init__(self, run: str, view: View, transaction: neo4j.ManagedTransaction) -> None:
        self._run = run
        self._view = view
        self._transaction = transaction
        # What ``known`` found, for ``Warm``: looked up once.
        self._elements: dict[NodeKey, str] = {}

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
        parameters = _parameters(write)
        if isinstance(write, Warm):
            parameters["rows"] = [
                row | {"element": self._elements[row["key"]]} for row in write.rows
            ]
        rows = self._do(STATEMENTS[type(write)], parameters)
        return _time_of(rows[0]) if rows else ""

    def known(self, keys: Sequence[NodeKey]) -> dict[NodeKey, bool]:
        """All keys at once."""
        rows = self._do("run_known", {"keys": list(keys)})
        known = {as_key(key, self._view) for row in rows for key in row["known"]}
        self._elements = {
            as_key(node["key"], self._view): node["element"]
            for row in rows
            for node in row["found"]
        }
        return {key: key in known for key in self._elements}


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

    def known(self, keys: Sequence[NodeKey]) -> dict[NodeKey, bool]:
        raise _WrongGuess(keys)


def _parameters(write: Write) -> dict[str, object]:
    """They are called what the fields are called."""
    parameters = dict(vars(write))
    if "lease" in parameters:
        parameters["lease"] = _milliseconds(parameters["lease"])
    return parameters


class Neo4jRuns:
    """See ``RunRows``."""

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection

    def transact(
        self,
        run: str,
        look: Look,
        work: Callable[[Ledger, Situation], Answer],
        *,
        survives_power_cut: bool = True,
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

        return self._connection.write_several(in_transaction)

    def _at_once(
        self, run: str, look: Look, work: Callable[[Ledger, Situation], Answer], guess: Write
    ) -> Answer:
        def check(result: neo4j.Result) -> Answer:
            # Raising ends the transaction without a commit.
            rows = rows_of(result)
            if not rows or rows[0]["written"] != 1:
                raise _WrongGuess
            ledger = _GuessedLedger(guess, _time_of(rows[0]))
            # What was written when a node was asked for shows that the first candidate was free.
            answer = work(ledger, replace(_situation(rows[0], look.view), free=0))
            if not ledger.confirmed:
                raise _WrongGuess
            return answer

        text = statement(AT_ONCE[type(guess)]).text(look.view)
        asked = {"run": run, "token": look.token, "since": look.since}
        return self._connection.write(text, _parameters(guess) | asked, check)

    def create_run(self, properties: Properties) -> bool:
        """Constraints first, in transactions of their own: Neo4j does not mix schema and data."""
        for name in SCHEMA_STATEMENTS:
            self._do(name)
        try:
            self._do("run_create", properties=properties)
        except KeyNotUnique:
            return False
        return True

    def list_runs(self, name: str | None = None) -> list[tuple[Properties, int]]:
        """In write mode: a follower may lag."""

        def read() -> list[tuple[Properties, int]]:
            rows = self._do("run_list", run=name)
            return [(_plain(row["run"]), row["pending"]) for row in rows]

        return _read_whole(read, lambda found: all(is_whole_run(run) for run, _ in found))

    def read_news(self, run: str, view: View, since: int) -> Situation | None:
        """In write mode: a follower may lag."""

        def read() -> Situation | None:
            rows = self._do("run_news", view, run=run, since=since)
            return _situation(rows[0], view) if rows else None

        return _read_whole(read, lambda found: found is None or is_whole(found))

    def renew(self, run: str, tokens: Sequence[str], lease: float) -> list[int]:
        """By the server's clock."""
        rows = self._do("run_renew", run=run, tokens=list(tokens), lease=_milliseconds(lease))
        return [row["step"] for row in rows]

    def set_run(self, run: str, properties: Properties) -> None:
        """Properties that are None are removed."""
        self._do("run_set", run=run, properties=properties)

    def clean_run(self, run: str, view: View, node: Properties, labels: Sequence[str]) -> None:
        """One transaction for the run; the constraints go with the last one."""
        del view
        self._do("run_clean", run=run, node=node, labels=list(labels))
        if not self.list_runs():
            for name in DROP_STATEMENTS:
                self._do(name)

    def _do(self, name: str, view: View | None = None, **parameters: object) -> Rows:
        return self._connection.write(statement(name).text(view), parameters, rows_of)


def _read_whole(read: Callable[[], Answer], whole: Callable[[Answer], bool]) -> Answer:
    """Read without the run's lock: a statement sees what others commit meanwhile, and half of what they delete."""
    for _ in range(MOST_READS):
        found = read()
        if whole(found):
            return found
    raise StoreError(
        "the record of a run is damaged: its (:GraphboRun) node, or a relationship from there, has lost properties "
        "that graphbo wrote; restore them, or delete the node"
    )


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


def _situation(row: dict[str, Any], view: View) -> Situation:
    def flat(entries: Rows) -> list[Properties]:
        return [
            _plain(entry["properties"])
            | {"key": as_key(entry["key"], view), "left": entry.get("left")}
            for entry in entries
        ]

    return Situation(
        run=_plain(row["run"]),
        pending=flat(row["pending"]),
        free=next(iter(row.get("free", ())), None),
        told=flat(row.get("told", [])),
        news=flat(row["news"]),
    )
