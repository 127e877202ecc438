"""A run whose lock is held, in a transaction on SQLite: what is read of it, and what is written."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from graphbo.stores.log import (
    Amend,
    ChangeRun,
    DeleteRun,
    Exclude,
    Fail,
    Found,
    Free,
    HandOut,
    Include,
    Lookup,
    Mark,
    MarkRegion,
    MoveBest,
    Observe,
    Properties,
    Release,
    Retract,
    Retry,
    Revise,
    Snapshot,
    TakeOver,
    Touched,
    Warm,
    Write,
)
from graphbo.stores.sqlite.clock import leased, with_time_left
from graphbo.stores.sqlite.file import SqliteFile
from graphbo.stores.sqlite.nodes import SqliteNodes
from graphbo.stores.subgraphs import as_key
from graphbo.types import NodeKey, View

__all__ = ["LockedRun", "change_properties", "change_run", "now"]

#: The property of a run with the nodes of its region, and what was written there: GRAPHBO_REGION in Neo4j.
REGION = "region"

#: What of a run is in its history: the rest was given back, or retracted.
STANDS = "kind NOT IN ('retried', 'retracted')"

#: So many candidates are looked up before all the others are.
FIRST_TRIED = 2


def now() -> str:
    """The time, as records have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class LockedRun:
    """What :class:`~graphbo.stores.log.RunLog` does inside its transaction, which holds the file's write lock."""

    def __init__(self, run: str, view: View, file: SqliteFile, nodes: SqliteNodes) -> None:
        self._run = run
        self._view = view
        self._do = file.connection.execute
        self._do_all = file.connection.executemany
        self._nodes = nodes
        # One time for all that a transaction writes.
        self._at = now()

    def look(self, lookup: Lookup) -> Snapshot | None:
        """The lock is held from the start of the transaction."""
        found = self.read(lookup, with_names=True)
        if found is None:
            return None
        nodes = self._found(lookup.nodes) if lookup.nodes else {}
        return replace(found, nodes=nodes, touched=self._touched() if lookup.touched else ())

    def read(self, lookup: Lookup, *, with_names: bool) -> Snapshot | None:
        """The same for whoever holds no lock; the names of the nodes' properties are looked up on demand."""
        found = self._do("SELECT properties FROM run WHERE name = ?", (self._run,)).fetchone()
        if found is None:
            return None
        return Snapshot(
            run=json.loads(found[0]),
            # What is pending has no seq yet, and there is an index on that, which SQLite would not take by itself.
            pending=self._with_answers(
                self._events("seq IS NULL", table="event INDEXED BY event_seq", with_nodes=True),
                with_names,
            ),
            free=self._first_free(lookup.candidates),
            told=self._told(lookup.steps, lookup.keys),
            news=self._events(f"seq > ? AND {STANDS}", lookup.since),
        )

    def excluded(self) -> list[Properties]:
        """Properties of every exclusion, the oldest first."""
        rows = self._do(
            "SELECT node, properties FROM exclusion WHERE run = ? ORDER BY properties ->> '$.at', node",
            (self._run,),
        ).fetchall()
        keys = self._nodes.keys(self._view, [node for node, _ in rows]) if rows else {}
        return [json.loads(text) | {"key": keys[node]} for node, text in rows if node in keys]

    def _events(
        self,
        where: str,
        *parameters: object,
        table: str = "event",
        with_names: bool = False,
        with_nodes: bool = False,
    ) -> list[Properties]:
        rows = self._do(
            f"SELECT node, properties FROM {table} WHERE run = ? AND {where} ORDER BY seq, step",
            (self._run, *parameters),
        ).fetchall()
        keys = self._nodes.keys(self._view, [node for node, _ in rows]) if rows else {}
        # Somebody may have deleted a node with another tool: Neo4j deletes what was observed there with it.
        return [
            with_time_left(json.loads(text))
            | {"key": keys[node]}
            | ({"held": self._names_of(node)} if with_names else {})
            | ({"node": node} if with_nodes else {})
            for node, text in rows
            if node in keys
        ]

    def _with_answers(self, pending: list[Properties], with_names: bool) -> list[Properties]:
        """Requests with what somebody has set on their nodes as the answer."""
        found = []
        for one in pending:
            node = json.loads(self._text_of(one.pop("node")))
            answer = node.get(one.get("answerIn"))
            found.append(
                one
                | ({"held": list(node)} if with_names else {})
                | ({} if answer is None else {"answer": answer})
            )
        return found

    def retried(self) -> list[Properties]:
        """The failures that were given back, and the values that were retracted."""
        return self._events(f"NOT {STANDS}")

    def _names_of(self, node: int) -> list[str]:
        return list(json.loads(self._text_of(node)))

    def _text_of(self, node: int) -> str:
        (text,) = self._do("SELECT properties FROM node WHERE id = ?", (node,)).fetchone()
        return str(text)

    def _first_free(self, candidates: Sequence[NodeKey]) -> Free | None:
        # Most often it is the very first.
        for start, end in ((0, FIRST_TRIED), (FIRST_TRIED, len(candidates))):
            tried = candidates[start:end]
            nodes = self._found(tried) if tried else {}
            for position, key in enumerate(tried, start):
                if key in nodes and not all(node.in_run or node.excluded for node in nodes[key]):
                    return Free(position, nodes[key])
        return None

    def _told(self, steps: Sequence[int], keys: Sequence[NodeKey]) -> list[Properties]:
        told = "kind IN ('observed', 'failed')"
        nodes = self._nodes.ids(self._view, keys).values() if keys else ()
        # One by one: there is an index for each, and none that SQLite would take for several.
        return [
            *(
                one
                for step in steps
                for one in self._events(f"{told} AND step = ?", step, with_names=True)
            ),
            *(
                one
                for node in nodes
                for one in self._events(f"{told} AND node = ?", node, with_names=True)
            ),
        ]

    def _found(self, keys: Sequence[NodeKey]) -> dict[NodeKey, list[Found]]:
        """One seek per key."""
        nodes: dict[NodeKey, list[Found]] = {}
        for row in self._nodes.found(self._view, keys):
            found = Found(
                str(row["id"]),
                json.loads(row["labels"]),
                list(json.loads(row["properties"])),
                in_run=self._has(row["id"]),
                excluded=self._is_excluded(row["id"]),
            )
            nodes.setdefault(as_key(row["key"], self._view), []).append(found)
        return nodes

    def _has(self, node: int) -> bool:
        found = self._do(
            f"SELECT 1 FROM event WHERE run = ? AND node = ? AND {STANDS}", (self._run, node)
        )
        return found.fetchone() is not None

    def _is_excluded(self, node: int) -> bool:
        found = self._do("SELECT 1 FROM exclusion WHERE run = ? AND node = ?", (self._run, node))
        return found.fetchone() is not None

    def _touched(self) -> list[Touched]:
        """By the run's events, and by the nodes of its region."""
        rows = self._do(
            "SELECT node, kind, properties FROM event WHERE run = ?", (self._run,)
        ).fetchall()
        found = [(node, kind, json.loads(text)) for node, kind, text in rows]
        found += [(node, "region", wrote) for node, wrote in _region(self._do, self._run).items()]
        held = self._names_of_all([node for node, _, _ in found])
        return [
            Touched(str(node), kind, record, held[node])
            for node, kind, record in found
            if node in held
        ]

    def _names_of_all(self, nodes: Sequence[int]) -> dict[int, list[str]]:
        rows = self._do(
            "SELECT id, properties FROM node WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(nodes)),),
        ).fetchall()
        return {node: list(json.loads(text)) for node, text in rows}

    def write(self, writes: Sequence[Write]) -> str:
        """A row changes its kind, or its properties; when that is. There are no labels to move."""
        for write in writes:
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
            Fail: self._fail,
            Release: self._release,
            Amend: self._amend,
            Revise: self._revise,
            Retry: self._retry,
            Retract: self._retract,
            Exclude: self._exclude,
            Include: self._include,
            Warm: self._warm,
            Mark: self._mark,
            MarkRegion: self._mark_region,
            ChangeRun: self._change_run,
            DeleteRun: self._delete_run,
        }

    def _take_over(self, write: TakeOver) -> None:
        new = {"worker": write.worker, "token": write.token, "tries": write.tries}
        self._change(write.step, lambda old: leased(old | new, write.lease))

    def _observe(self, write: Observe) -> None:
        self._conclude("observed", write.step, write.properties)
        self._write_node(write.step, write.node)

    def _fail(self, write: Fail) -> None:
        self._conclude("failed", write.step, write.properties)
        self._write_node(write.step, write.node)

    def _release(self, write: Release) -> None:
        self._write_node(write.step, write.node)
        self._do("DELETE FROM event WHERE run = ? AND step = ?", (self._run, write.step))

    def _amend(self, write: Amend) -> None:
        self._change(write.step, lambda old: old | write.properties)
        self._write_node(write.step, write.node)

    def _revise(self, write: Revise) -> None:
        self._change(write.step, lambda old: old | write.properties)
        self._write_node(write.step, write.node)

    def _hand_out(self, write: HandOut) -> None:
        (node,) = self._nodes.ids(self._view, [write.key]).values()
        pending = leased(write.properties | {"at": self._at}, write.lease)
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
        for row in write.rows:
            told = row["properties"]
            self._do(
                "INSERT INTO event (run, step, kind, seq, node, properties) VALUES (?, ?, 'observed', ?, ?, ?)",
                (
                    self._run,
                    told["step"],
                    told["seq"],
                    int(row["id"]),
                    json.dumps(told | {"at": self._at}),
                ),
            )
            self._write_node(told["step"], row["node"])

    def _retry(self, write: Retry) -> None:
        for step in write.steps:
            self._change(step, lambda old: old | {"retriedAt": self._at})
            where = (self._run, step)
            self._do("UPDATE event SET kind = 'retried' WHERE run = ? AND step = ?", where)

    def _retract(self, write: Retract) -> None:
        self._write_node(write.step, write.node)
        self._change(write.step, lambda old: old | write.properties | {"retractedAt": self._at})
        where = (self._run, write.step)
        self._do("UPDATE event SET kind = 'retracted' WHERE run = ? AND step = ?", where)

    def _exclude(self, write: Exclude) -> None:
        rows = [
            (self._run, int(row["id"]), json.dumps(row["properties"] | {"at": self._at}))
            for row in write.rows
        ]
        self._do_all("INSERT INTO exclusion (run, node, properties) VALUES (?, ?, ?)", rows)

    def _include(self, write: Include) -> None:
        rows = [(self._run, int(one)) for one in write.ids]
        self._do_all("DELETE FROM exclusion WHERE run = ? AND node = ?", rows)

    def _mark(self, write: Mark) -> None:
        """All nodes at once. There are no labels to mark with."""
        self._write_nodes({int(row["id"]): row["set"] for row in write.rows})

    def _mark_region(self, write: MarkRegion) -> None:
        """The run remembers it."""
        self._count({REGION: {row["id"]: row["properties"] for row in write.rows}})

    def _change_run(self, write: ChangeRun) -> None:
        change_run(self._do, self._run, write.properties)

    def _delete_run(self, write: DeleteRun) -> None:
        del write
        self._do("DELETE FROM event WHERE run = ?", (self._run,))
        self._do("DELETE FROM exclusion WHERE run = ?", (self._run,))
        self._do("DELETE FROM run WHERE name = ?", (self._run,))

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
        new = json.dumps({k: v for k, v in change(json.loads(old)).items() if v is not None})
        self._do("UPDATE event SET properties = ? WHERE run = ? AND step = ?", (new, *where))

    def _write_node(self, step: int, properties: Properties) -> None:
        if not properties:
            return
        where = "id = (SELECT node FROM event WHERE run = ? AND step = ?)"
        change_properties(self._do, "node", where, (self._run, step), properties)

    def _count(self, counters: Properties) -> None:
        change_properties(
            self._do, "run", "name = ?", (self._run,), counters | {"updatedAt": self._at}
        )


def change_run(execute: Callable[..., sqlite3.Cursor], run: str, properties: Properties) -> bool:
    """Change properties of a run; its prefix also has a column, which keeps it unique."""
    if "prefix" in properties:
        execute("UPDATE run SET prefix = ? WHERE name = ?", (properties["prefix"], run))
    return change_properties(execute, "run", "name = ?", (run,), properties)


def change_properties(
    execute: Callable[..., sqlite3.Cursor],
    table: str,
    where: str,
    parameters: Iterable[object],
    changes: Properties,
) -> bool:
    """Set properties of one row; those that are None are removed. Whether there is such a row."""
    parameters = tuple(parameters)
    found = execute(f"SELECT properties FROM {table} WHERE {where}", parameters).fetchone()
    if found is not None and changes:
        text = _changed(found[0], changes)
        execute(f"UPDATE {table} SET properties = ? WHERE {where}", (text, *parameters))
    return found is not None


def _changed(properties: str, changes: Properties) -> str:
    """Properties as JSON with some of them set; those that are None are removed."""
    new = {k: v for k, v in (json.loads(properties) | changes).items() if v is not None}
    return json.dumps(new, ensure_ascii=False, separators=(",", ":"))


def _region(execute: Callable[..., sqlite3.Cursor], run: str) -> dict[int, Properties]:
    """The nodes on which the run has written what it believes now, and what it wrote there."""
    found = execute("SELECT properties FROM run WHERE name = ?", (run,)).fetchone()
    region = json.loads(found[0]).get(REGION, {}) if found else {}
    if isinstance(region, list):  # by the first schema, which kept the nodes alone
        region = {node: {} for node in region}
    return {int(node): wrote for node, wrote in region.items()}
