"""Runs in SQLite: a row for the run, a row for each node that it asked for or measured."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, TypeVar

from graphbo.stores.runs import Ledger, Mark, Properties, Situation
from graphbo.types import NodeKey, View

__all__ = ["RUN_SCHEMA", "SqliteRuns"]

# The properties are those that Neo4j would have on the run and its relationships. Labels are left out: there is
# no Browser to colour by them.
RUN_SCHEMA = """
CREATE TABLE run (name TEXT PRIMARY KEY, prefix TEXT NOT NULL UNIQUE, properties TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE event (
  run TEXT NOT NULL, step INTEGER NOT NULL, kind TEXT NOT NULL, seq INTEGER, node INTEGER NOT NULL,
  properties TEXT NOT NULL, PRIMARY KEY (run, step), UNIQUE (run, node)
) WITHOUT ROWID;
CREATE INDEX event_seq ON event (run, seq);
"""

Answer = TypeVar("Answer")

#: The property of a run with the ids of the nodes of its region: GRAPHBO_REGION in Neo4j.
REGION = "region"

#: So many candidates are looked up before all the others are.
FIRST_TRIED = 2

#: Finds nodes: given a view and keys, the ids of those that exist.
FindIds = Callable[[View, Sequence[NodeKey]], dict[NodeKey, int]]
#: Finds keys: given a view and ids.
FindKeys = Callable[[View, Sequence[int]], dict[int, NodeKey]]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _milliseconds() -> float:
    return 1e3 * time.time()


class SqliteLedger:
    """See ``Ledger``: inside a transaction that holds the file's write lock."""

    def __init__(
        self, run: str, connection: sqlite3.Connection, find_ids: FindIds, find_keys: FindKeys
    ) -> None:
        self._run = run
        self._do = connection.execute
        self._do_all = connection.executemany
        self._find_ids = find_ids
        self._find_keys = find_keys

    def look(
        self,
        view: View,
        *,
        token: str,
        candidates: Sequence[NodeKey] = (),
        step: int | None = None,
        key: NodeKey | None = None,
        since: int,
    ) -> Situation | None:
        """The lock is held from the start of the transaction."""
        del token
        found = self._do("SELECT properties FROM run WHERE name = ?", (self._run,)).fetchone()
        if found is None:
            return None
        return Situation(
            run=json.loads(found[0]),
            # What is pending has no seq yet, and there is an index on that.
            pending=self._events(view, "seq IS NULL"),
            free=self._first_free(view, candidates),
            told=self._told(view, step, key),
            news=self._events(view, "seq > ?", since),
        )

    def _events(self, view: View, where: str, *parameters: object) -> list[Properties]:
        rows = self._do(
            f"SELECT node, properties FROM event WHERE run = ? AND {where} ORDER BY seq, step",
            (self._run, *parameters),
        ).fetchall()
        keys = self._find_keys(view, [node for node, _ in rows]) if rows else {}
        return [_with_lease(json.loads(text)) | {"key": keys[node]} for node, text in rows]

    def _first_free(self, view: View, candidates: Sequence[NodeKey]) -> int | None:
        # Most often it is the very first.
        for start, end in ((0, FIRST_TRIED), (FIRST_TRIED, len(candidates))):
            tried = candidates[start:end]
            ids = self._find_ids(view, tried) if tried else {}
            for position, key in enumerate(tried, start):
                if key in ids and not self._has(ids[key]):
                    return position
        return None

    def _has(self, node: int) -> bool:
        found = self._do("SELECT 1 FROM event WHERE run = ? AND node = ?", (self._run, node))
        return found.fetchone() is not None

    def _told(self, view: View, step: int | None, key: NodeKey | None) -> list[Properties]:
        if step is not None:
            return self._events(view, "kind <> 'pending' AND step = ?", step)
        ids = self._find_ids(view, [key]) if key is not None else {}
        return [
            one
            for node in ids.values()
            for one in self._events(view, "kind <> 'pending' AND node = ?", node)
        ]

    def ask(
        self,
        view: View,
        key: NodeKey,
        pending: Properties,
        lease: float | None,
        counters: Properties,
    ) -> None:
        """A row of the kind pending."""
        (node,) = self._find_ids(view, [key]).values()
        self._do(
            "INSERT INTO event (run, step, kind, node, properties) VALUES (?, ?, 'pending', ?, ?)",
            (
                self._run,
                pending["step"],
                node,
                json.dumps(_leased(pending | {"at": _now()}, lease)),
            ),
        )
        self._count(counters)

    def take_over(self, step: int, worker: str, token: str, lease: float | None) -> None:
        """Changes the row."""
        self._change(step, lambda old: _leased(old | {"worker": worker, "token": token}, lease))
        self._count({})

    def observe(
        self,
        step: int,
        observed: Properties,
        node: Properties,
        labels: Sequence[str],
        counters: Properties,
    ) -> None:
        """The row becomes one of the kind observed."""
        del labels
        self._conclude("observed", step, observed, counters)
        self._write_node(step, node)

    def fail(self, step: int, failed: Properties, counters: Properties) -> None:
        """The row becomes one of the kind failed."""
        self._conclude("failed", step, failed, counters)

    def _conclude(self, kind: str, step: int, told: Properties, counters: Properties) -> None:
        self._do(
            "UPDATE event SET kind = ?, seq = ?, properties = ? WHERE run = ? AND step = ?",
            (kind, told["seq"], json.dumps(told | {"at": _now()}), self._run, step),
        )
        self._count(counters)

    def release(self, step: int) -> None:
        """Deletes the row."""
        self._do("DELETE FROM event WHERE run = ? AND step = ?", (self._run, step))
        self._count({})

    def amend(
        self, step: int, observed: Properties, node: Properties, counters: Properties
    ) -> None:
        """Changes the row."""
        self._change(step, lambda old: old | observed)
        self._write_node(step, node)
        self._count(counters)

    def mark_best(self, old: int | None, new: int, label: str) -> None:
        """There are no labels to move."""

    def known(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, bool]:
        """One seek per key."""
        return {key: self._has(node) for key, node in self._find_ids(view, keys).items()}

    def warm(
        self,
        view: View,
        rows: Sequence[tuple[NodeKey, Properties, Properties]],
        labels: Sequence[str],
        counters: Properties,
    ) -> None:
        """A row of the kind observed for each."""
        del labels
        ids = self._find_ids(view, [key for key, _, _ in rows])
        for key, told, node in rows:
            self._do(
                "INSERT INTO event (run, step, kind, seq, node, properties) VALUES (?, ?, 'observed', ?, ?, ?)",
                (self._run, told["step"], told["seq"], ids[key], json.dumps(told | {"at": _now()})),
            )
            self._write_node(told["step"], node)
        self._count(counters)

    def annotate(self, view: View, marks: Sequence[Mark]) -> None:
        """All nodes at once, without labels."""
        ids = self._find_ids(view, [mark.key for mark in marks])
        self._write_nodes({ids[mark.key]: mark.node for mark in marks if mark.key in ids})

    def mark_region(
        self,
        view: View,
        rows: Sequence[tuple[NodeKey, Properties]],
        nothing: Properties,
        labels: Sequence[str],
    ) -> None:
        """All nodes at once, without labels; the run remembers which they are."""
        del labels
        ids = self._find_ids(view, [key for key, _ in rows])
        new = {ids[key]: node for key, node in rows if key in ids}
        old = dict.fromkeys(_region(self._do, self._run), nothing)
        self._write_nodes(old | {node: nothing | new[node] for node in new})
        self._count({REGION: list(new)})

    def _write_nodes(self, changes: Mapping[int, Properties]) -> None:
        """Set properties of many nodes; those that are None are removed."""
        found = self._do(
            "SELECT id, properties FROM node WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(changes)),),
        ).fetchall()
        rows = [(_changed(text, changes[node]), node) for node, text in found]
        self._do_all("UPDATE node SET properties = ? WHERE id = ?", rows)

    def _change(self, step: int, change: Callable[[Properties], Properties]) -> None:
        where = (self._run, step)
        (old,) = self._do(
            "SELECT properties FROM event WHERE run = ? AND step = ?", where
        ).fetchone()
        new = json.dumps(change(json.loads(old)))
        self._do("UPDATE event SET properties = ? WHERE run = ? AND step = ?", (new, *where))

    def _write_node(self, step: int, properties: Properties) -> None:
        where = "id = (SELECT node FROM event WHERE run = ? AND step = ?)"
        _merge(self._do, "node", where, (self._run, step), properties)

    def _count(self, counters: Properties) -> None:
        _merge(self._do, "run", "name = ?", (self._run,), counters | {"updatedAt": _now()})


class SqliteRuns:
    """See ``RunRows``."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        transaction: Callable[[], AbstractContextManager[Any]],
        errors: Callable[[], AbstractContextManager[None]],
        find_ids: FindIds,
        find_keys: FindKeys,
    ) -> None:
        self._connection = connection
        self._transaction = transaction
        self._errors = errors
        self._find = find_ids, find_keys

    def _ledger(self, run: str) -> SqliteLedger:
        return SqliteLedger(run, self._connection, *self._find)

    def transact(
        self, run: str, work: Callable[[Ledger], Answer], *, survives_power_cut: bool = True
    ) -> Answer:
        """BEGIN IMMEDIATE … COMMIT; the disk is waited for only where it matters."""
        if survives_power_cut:
            with self._transaction():
                return work(self._ledger(run))
        self._connection.execute("PRAGMA synchronous = NORMAL")
        try:
            with self._transaction():
                return work(self._ledger(run))
        finally:
            self._connection.execute("PRAGMA synchronous = FULL")

    def create_run(self, properties: Properties) -> bool:
        """False when a unique name or prefix says no."""
        stamped = properties | {"startedAt": _now(), "updatedAt": _now()}
        with self._transaction() as run:
            created = run(
                "INSERT OR IGNORE INTO run (name, prefix, properties) VALUES (?, ?, ?)",
                (properties["name"], properties["prefix"], json.dumps(stamped)),
            )
            return bool(created.rowcount)

    def list_runs(self, name: str | None = None) -> list[tuple[Properties, int]]:
        """Oldest first."""
        with self._errors():
            rows = self._connection.execute(
                "SELECT properties, (SELECT count(*) FROM event WHERE run = name AND seq IS NULL) "
                "FROM run WHERE ?1 IS NULL OR name = ?1 ORDER BY properties ->> '$.startedAt'",
                (name,),
            ).fetchall()
        return [(json.loads(properties), pending) for properties, pending in rows]

    def read_news(self, run: str, view: View, since: int) -> Situation | None:
        """A read is consistent without a lock: it is one snapshot."""
        with self._errors():
            try:
                self._connection.execute("BEGIN")
                return self._ledger(run).look(view, token="", since=since)
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def renew(self, run: str, tokens: Sequence[str], lease: float) -> list[int]:
        """All that the worker still holds."""
        with self._transaction() as execute:
            rows = execute(
                "SELECT step, properties FROM event WHERE run = ? AND kind = 'pending'", (run,)
            ).fetchall()
            held = [(step, json.loads(text)) for step, text in rows]
            mine = [(step, old) for step, old in held if old["token"] in tokens]
            for step, old in mine:
                execute(
                    "UPDATE event SET properties = ? WHERE run = ? AND step = ?",
                    (json.dumps(_leased(old, lease)), run, step),
                )
        return [step for step, _ in mine]

    def set_run(self, run: str, properties: Properties) -> None:
        """Properties that are None are removed."""
        with self._transaction() as execute:
            _merge(execute, "run", "name = ?", (run,), properties | {"updatedAt": _now()})

    def clean_run(self, run: str, view: View, node: Properties, labels: Sequence[str]) -> None:
        """The nodes' properties, the events, the run."""
        del view, labels
        with self._transaction() as execute:
            touched = execute("SELECT node FROM event WHERE run = ?", (run,)).fetchall()
            marked = [(found,) for found in _region(execute, run)]
            for found in {*touched, *marked}:
                _merge(execute, "node", "id = ?", found, node)
            execute("DELETE FROM event WHERE run = ?", (run,))
            execute("DELETE FROM run WHERE name = ?", (run,))


def _merge(
    execute: Callable[..., sqlite3.Cursor],
    table: str,
    where: str,
    parameters: Iterable[object],
    changes: Properties,
) -> None:
    """Set properties of one row; those that are None are removed."""
    parameters = tuple(parameters)
    for (old,) in execute(f"SELECT properties FROM {table} WHERE {where}", parameters).fetchall():
        text = _changed(old, changes)
        execute(f"UPDATE {table} SET properties = ? WHERE {where}", (text, *parameters))


def _changed(properties: str, changes: Properties) -> str:
    """Properties as JSON with some of them set; those that are None are removed."""
    new = {k: v for k, v in (json.loads(properties) | changes).items() if v is not None}
    return json.dumps(new, ensure_ascii=False, separators=(",", ":"))


def _region(execute: Callable[..., sqlite3.Cursor], run: str) -> list[int]:
    """The nodes on which the run has written what it believes now."""
    found = execute("SELECT properties FROM run WHERE name = ?", (run,)).fetchone()
    region: list[int] = json.loads(found[0]).get(REGION, []) if found else []
    return region


def _leased(pending: Properties, lease: float | None) -> Properties:
    until = None if lease is None else _milliseconds() + 1e3 * lease
    return pending | {"leaseUntil": until}


def _with_lease(properties: Properties) -> Properties:
    until = properties.pop("leaseUntil", None)
    return properties | {"left": None if until is None else until - _milliseconds()}
