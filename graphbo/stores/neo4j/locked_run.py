"""A run whose lock is held, in a transaction on Neo4j: what is read of it, and what is written."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import neo4j
from neo4j.time import DateTime

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
    Kind,
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
from graphbo.stores.neo4j.connection import Rows, rows_of
from graphbo.stores.neo4j.statements import statement
from graphbo.stores.subgraphs import as_key
from graphbo.types import NodeKey, View

__all__ = [
    "LockedRun",
    "found_node",
    "milliseconds",
    "parameters_of",
    "plain",
    "snapshot_of",
    "time_of",
]

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
    Retract: "run_retract",
    Exclude: "run_exclude",
    Include: "run_include",
    Warm: "run_warm",
    MoveBest: "run_best",
    Mark: "run_mark",
    MarkRegion: "run_region",
    ChangeRun: "run_set",
    DeleteRun: "run_delete",
}
#: What a relationship of a run means.
KIND_OF: Mapping[str, Kind] = {
    "GRAPHBO_PENDING": "pending",
    "GRAPHBO_OBSERVED": "observed",
    "GRAPHBO_FAILED": "failed",
    "GRAPHBO_RETRIED": "retried",
    "GRAPHBO_RETRACTED": "retracted",
    "GRAPHBO_REGION": "region",
}


class LockedRun:
    """What :class:`~graphbo.stores.log.RunLog` does inside its transaction."""

    def __init__(self, run: str, view: View, transaction: neo4j.ManagedTransaction) -> None:
        self._run = run
        self._view = view
        self._transaction = transaction

    def look(self, lookup: Lookup) -> Snapshot | None:
        """The lock and one look, in one trip; the nodes that are sought, in another one each way."""
        rows = self._do(
            "run_lock",
            token=lookup.by,
            candidates=list(lookup.candidates),
            steps=list(lookup.steps),
            keys=list(lookup.keys),
            since=lookup.since,
        )
        found = snapshot_of(rows[0], self._view) if rows else None
        if found is None:
            return None
        nodes = self._nodes(lookup.nodes) if lookup.nodes else {}
        return replace(found, nodes=nodes, touched=self._touched() if lookup.touched else ())

    def write(self, writes: Sequence[Write]) -> str:
        """A statement each; when the last of them was written, if it says so."""
        at = ""
        for write in writes:
            rows = self._do(STATEMENTS[type(write)], **parameters_of(write))
            at = time_of(rows[0]) if rows else ""
        return at

    def _nodes(self, keys: Sequence[NodeKey]) -> dict[NodeKey, list[Found]]:
        (row,) = self._do("run_known", keys=list(keys))
        known, excluded = set(row["known"]), set(row["excluded"])
        nodes: dict[NodeKey, list[Found]] = {}
        for node in row["found"]:
            found = replace(
                found_node(node), in_run=node["id"] in known, excluded=node["id"] in excluded
            )
            nodes.setdefault(as_key(node["key"], self._view), []).append(found)
        return nodes

    def _touched(self) -> list[Touched]:
        """By the run's own relationships."""
        return [
            Touched(row["id"], KIND_OF[row["type"]], plain(row["record"]), row["held"])
            for row in self._do("run_touched")
        ]

    def _do(self, name: str, **parameters: object) -> Rows:
        text, values = statement(name).call({"run": self._run, **parameters}, self._view)
        return rows_of(self._transaction.run(text, values))


def parameters_of(write: Write) -> dict[str, object]:
    """They are called what the fields are called."""
    parameters = dict(vars(write))
    if "lease" in parameters:
        parameters["lease"] = milliseconds(parameters["lease"])
    return parameters


def milliseconds(seconds: float | None) -> int | None:
    """Leases are whole milliseconds, by the server's clock."""
    return None if seconds is None else round(1e3 * seconds)


def time_of(row: Mapping[str, Any]) -> str:
    """When something was written, if the statement says so."""
    return str(plain({"at": row.get("at") or ""})["at"])


def plain(properties: Properties) -> Properties:
    """The driver's own times as text."""
    return {
        name: value.iso_format() if isinstance(value, DateTime) else value
        for name, value in properties.items()
    }


def found_node(node: Mapping[str, Any]) -> Found:
    """A node as statements answer with it."""
    return Found(node["id"], node["labels"], node["properties"])


def snapshot_of(row: dict[str, Any], view: View) -> Snapshot | None:
    """What was found; None if somebody deleted the run while its lock was waited for."""

    def flat(entries: Rows) -> list[Properties]:
        return [
            plain(entry["properties"])
            | {
                "key": as_key(entry["key"], view),
                "left": entry.get("left"),
                "held": entry.get("held"),
            }
            | ({"answer": entry["answer"]} if entry.get("answer") is not None else {})
            for entry in entries
        ]

    if not row["run"]:
        return None
    free = [
        Free(position, [found_node(node) for node in row["found"]])
        for position in row.get("free", ())
    ]
    return Snapshot(
        run=plain(row["run"]),
        pending=flat(row["pending"]),
        free=next(iter(free), None),
        told=flat(row.get("told", [])),
        news=flat(row["news"]),
        excluded=flat(row["excluded"]) if "excluded" in row else None,
    )
