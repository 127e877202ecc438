"""Runs in SQLite: a row for the run, a row for each node that it asked for or measured."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, TypeVar

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
from graphbo.stores.sqlite_file import SqliteFile
from graphbo.stores.sqlite_nodes import SqliteNodes
from graphbo.types import NodeKey, View

__all__ = ["SqliteRuns"]

Answer = TypeVar("Answer")

#: The property of a run with the ids of the nodes of its region: GRAPHBO_REGION in Neo4j.
REGION = "region"

#: So many candidates are looked up before all the others are.
FIRST_TRIED = 2


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _milliseconds() -> float:
    return 1e3 * time.time()


class SqliteLedger:
    """See ``Ledger``: inside a transaction that holds the file's write lock."""

    def __init__(self, run: str, view: View, file: SqliteFile, nodes: SqliteNodes) -> None:
        self._run = run
        self._view = view
        self._do = file.connection.execute
        self._do_all = file.connection.executemany
        self._nodes = nodes
        # One time for all that a transaction writes.
        self._at = _now()

    def look(self, look: Look) -> Situation | None:
        """The lock is held from the start of the transaction."""
        found = self._do("SELECT properties FROM run WHERE name = ?", (self._run,)).fetchone()
        if found is None:
            return None
        return Situation(
            run=json.loads(found[0]),
            # What is pending has no seq yet, and there is an index on that.
            pending=self._events("seq IS NULL"),
            free=self._first_free(look.candidates),
            told=self._told(look.step, look.key),
            news=self._events("seq > ?", look.since),
        )

    def _events(self, where: str, *parameters: object) -> list[Properties]:
        rows = self._do(
            f"SELECT node, properties FROM event WHERE run = ? AND {where} ORDER BY seq, step",
            (self._run, *parameters),
        ).fetchall()
        keys = self._nodes.keys(self._view, [node for node, _ in rows]) if rows else {}
        # Somebody may have deleted a node with another tool: Neo4j deletes what was observed there with it.
        return [
            _with_lease(json.loads(text)) | {"key": keys[node]}
            for node, text in rows
            if node in keys
        ]

    def _first_free(self, candidates: Sequence[NodeKey]) -> int | None:
        # Most often it is the very first.
        for start, end in ((0, FIRST_TRIED), (FIRST_TRIED, len(candidates))):
            tried = candidates[start:end]
            ids = self._nodes.ids(self._view, tried) if tried else {}
            for position, key in enumerate(tried, start):
                if key in ids and not self._has(ids[key]):
                    return position
        return None

    def _has(self, node: int) -> bool:
        found = self._do("SELECT 1 FROM event WHERE run = ? AND node = ?", (self._run, node))
        return found.fetchone() is not None

    def _told(self, step: int | None, key: NodeKey | None) -> list[Properties]:
        if step is not None:
            return self._events("kind <> 'pending' AND step = ?", step)
        ids = self._nodes.ids(self._view, [key]) if key is not None else {}
        return [
            one
            for node in ids.values()
            for one in self._events("kind <> 'pending' AND node = ?", node)
        ]

    def known(self, keys: Sequence[NodeKey]) -> dict[NodeKey, bool]:
        """One seek per key."""
        return {key: self._has(node) for key, node in self._nodes.ids(self._view, keys).items()}

    def write(self, write: Write) -> str:
        """A row changes its kind, or its properties. There are no labels to move."""
        if not isinstance(write, MoveBest):
            self._writers[type(write)](write)
            self._count(getattr(write, "counters", {}))
        return self._at

    @cached_property
    def _writers(self) -> dict[type[Write], Callable[[Any], None]]:
        return {
            HandOut: self._hand_out,
            TakeOver: self._take_over,
            Observe: self._observe,
            Fail: lambda write: self._conclude("failed", write.step, write.properties),
            Release: self._release,
            Amend: self._amend,
            KeepLate: lambda write: self._change(
                write.step, lambda old: old | {"late": write.late}
            ),
            Warm: self._warm,
            Annotate: self._annotate,
            MarkRegion: self._mark_region,
        }

    def _take_over(self, write: TakeOver) -> None:
        new = {"worker": write.worker, "token": write.token}
        self._change(write.step, lambda old: _leased(old | new, write.lease))

    def _observe(self, write: Observe) -> None:
        self._conclude("observed", write.step, write.properties)
        self._write_node(write.step, write.node)

    def _release(self, write: Release) -> None:
        self._do("DELETE FROM event WHERE run = ? AND step = ?", (self._run, write.step))

    def _amend(self, write: Amend) -> None:
        self._change(write.step, lambda old: old | write.properties)
        self._write_node(write.step, write.node)

    def _hand_out(self, write: HandOut) -> None:
        (node,) = self._nodes.ids(self._view, [write.key]).values()
        pending = _leased(write.properties | {"at": self._at}, write.lease)
        self._do(
            "INSERT INTO event (run, step, kind, node, properties) VALUES (?, ?, 'pending', ?, ?)",
            (self._run, pending["step"], node, json.dumps(pending)),
        )

    def _conclude(self, kind: str, step: int, told: Properties) -> None:
        self._do(
            "UPDATE event SET kind = ?, seq = ?, properties = ? WHERE run = ? AND step = ?",
            (kind, told["seq"], json.dumps(told | {"at": self._at}), self._run, step),
        )

    def _warm(self, write: Warm) -> None:
        ids = self._nodes.ids(self._view, [row["key"] for row in write.rows])
        for row in write.rows:
            told = row["properties"]
            self._do(
                "INSERT INTO event (run, step, kind, seq, node, properties) VALUES (?, ?, 'observed', ?, ?, ?)",
                (
                    self._run,
                    told["step"],
                    told["seq"],
                    ids[row["key"]],
                    json.dumps(told | {"at": self._at}),
                ),
            )
            self._write_node(told["step"], row["node"])

    def _annotate(self, write: Annotate) -> None:
        """All nodes at once."""
        ids = self._nodes.ids(self._view, [row["key"] for row in write.rows])
        self._write_nodes({ids[row["key"]]: row["node"] for row in write.rows if row["key"] in ids})

    def _mark_region(self, write: MarkRegion) -> None:
        """All nodes at once; the run remembers which they are."""
        ids = self._nodes.ids(self._view, [row["key"] for row in write.rows])
        new = {ids[row["key"]]: row["node"] for row in write.rows if row["key"] in ids}
        old = dict.fromkeys(_region(self._do, self._run), write.node)
        self._write_nodes(old | {node: write.node | new[node] for node in new})
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
        _merge(self._do, "run", "name = ?", (self._run,), counters | {"updatedAt": self._at})


class SqliteRuns:
    """See ``RunRows``."""

    def __init__(self, file: SqliteFile, nodes: SqliteNodes) -> None:
        self._file = file
        self._nodes = nodes

    def _ledger(self, run: str, view: View) -> SqliteLedger:
        return SqliteLedger(run, view, self._file, self._nodes)

    def transact(
        self,
        run: str,
        look: Look,
        work: Callable[[Ledger, Situation], Answer],
        *,
        survives_power_cut: bool = True,
        guess: Write | None = None,
    ) -> Answer | None:
        """BEGIN IMMEDIATE … COMMIT; the disk is waited for only where it matters. A trip costs nothing here."""
        del guess
        if survives_power_cut:
            return self._locked(run, look, work)
        self._file.connection.execute("PRAGMA synchronous = NORMAL")
        try:
            return self._locked(run, look, work)
        finally:
            self._file.connection.execute("PRAGMA synchronous = FULL")

    def _locked(
        self, run: str, look: Look, work: Callable[[Ledger, Situation], Answer]
    ) -> Answer | None:
        with self._file.transaction():
            ledger = self._ledger(run, look.view)
            situation = ledger.look(look)
            return None if situation is None else work(ledger, situation)

    def create_run(self, properties: Properties) -> bool:
        """False when a unique name or prefix says no."""
        stamped = properties | {"startedAt": _now(), "updatedAt": _now()}
        with self._file.transaction() as run:
            created = run(
                "INSERT OR IGNORE INTO run (name, prefix, properties) VALUES (?, ?, ?)",
                (properties["name"], properties["prefix"], json.dumps(stamped)),
            )
            return bool(created.rowcount)

    def list_runs(self, name: str | None = None) -> list[tuple[Properties, int]]:
        """Oldest first."""
        with self._file.errors():
            rows = self._file.connection.execute(
                "SELECT run.properties, (SELECT count(*) FROM event JOIN node ON node.id = event.node "
                "WHERE event.run = run.name AND seq IS NULL) "
                "FROM run WHERE ?1 IS NULL OR name = ?1 ORDER BY run.properties ->> '$.startedAt'",
                (name,),
            ).fetchall()
        return [(json.loads(properties), pending) for properties, pending in rows]

    def read_news(self, run: str, view: View, since: int) -> Situation | None:
        """A read is consistent without a lock: it is one snapshot."""
        with self._file.errors():
            try:
                self._file.connection.execute("BEGIN")
                return self._ledger(run, view).look(Look(view, "", since))
            finally:
                if self._file.connection.in_transaction:
                    self._file.connection.execute("ROLLBACK")

    def renew(self, run: str, tokens: Sequence[str], lease: float) -> list[int]:
        """All that the worker still holds."""
        with self._file.transaction() as execute:
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
        with self._file.transaction() as execute:
            _merge(execute, "run", "name = ?", (run,), properties | {"updatedAt": _now()})

    def clean_run(self, run: str, view: View, node: Properties, labels: Sequence[str]) -> None:
        """The nodes' properties, the events, the run."""
        del view, labels
        with self._file.transaction() as execute:
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
