"""Runs in Neo4j: a node for the run, a relationship for each node that it asked for or measured."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

import neo4j
from neo4j.time import DateTime

from graphbo.errors import KeyNotUnique
from graphbo.stores.assemble import as_key
from graphbo.stores.cypher import statement
from graphbo.stores.runs import Ledger, Mark, Properties, Situation
from graphbo.types import NodeKey, View

__all__ = ["SCHEMA_STATEMENTS", "Neo4jRuns"]

SCHEMA_STATEMENTS = ("run_schema_name", "run_schema_prefix", "run_schema_step")
DROP_STATEMENTS = ("run_drop_run_name", "run_drop_run_prefix", "run_drop_observed_step")

Answer = TypeVar("Answer")
Rows = list[dict[str, Any]]

#: Runs work in one managed write transaction.
Transact = Callable[[Callable[[neo4j.ManagedTransaction], Any]], Any]


def run_statement(
    transaction: neo4j.ManagedTransaction, name: str, view: View | None = None, **parameters: object
) -> Rows:
    """The rows that a statement of ``cypher/`` answers with."""
    result = transaction.run(statement(name).text(view), parameters)
    columns = result.keys()
    return [dict(zip(columns, row, strict=True)) for row in result.values()]


class Neo4jLedger:
    """See ``Ledger``."""

    def __init__(self, run: str, transaction: neo4j.ManagedTransaction) -> None:
        self._run = run
        self._transaction = transaction

    def _do(self, name: str, view: View | None = None, **parameters: object) -> Rows:
        return run_statement(self._transaction, name, view, run=self._run, **parameters)

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
        """The lock and one look, in one trip."""
        rows = self._do(
            "run_lock",
            view,
            token=token,
            candidates=list(candidates),
            step=step,
            key=key,
            since=since,
        )
        return _situation(rows[0], view) if rows else None

    def ask(
        self,
        view: View,
        key: NodeKey,
        pending: Properties,
        lease: float | None,
        counters: Properties,
    ) -> None:
        """Creates GRAPHBO_PENDING."""
        self._do(
            "run_ask",
            view,
            key=key,
            properties=pending,
            lease=_milliseconds(lease),
            counters=counters,
        )

    def take_over(self, step: int, worker: str, token: str, lease: float | None) -> None:
        """Changes who holds GRAPHBO_PENDING."""
        self._do("run_take_over", step=step, worker=worker, token=token, lease=_milliseconds(lease))

    def observe(
        self,
        step: int,
        observed: Properties,
        node: Properties,
        labels: Sequence[str],
        counters: Properties,
    ) -> None:
        """GRAPHBO_PENDING becomes GRAPHBO_OBSERVED."""
        self._do(
            "run_observe",
            step=step,
            properties=observed,
            node=node,
            labels=list(labels),
            counters=counters,
        )

    def fail(self, step: int, failed: Properties, counters: Properties) -> None:
        """GRAPHBO_PENDING becomes GRAPHBO_FAILED."""
        self._do("run_fail", step=step, properties=failed, counters=counters)

    def release(self, step: int) -> None:
        """Deletes GRAPHBO_PENDING."""
        self._do("run_release", step=step)

    def amend(
        self, step: int, observed: Properties, node: Properties, counters: Properties
    ) -> None:
        """Changes GRAPHBO_OBSERVED."""
        self._do("run_amend", step=step, properties=observed, node=node, counters=counters)

    def mark_best(self, old: int | None, new: int, label: str) -> None:
        """Moves the label."""
        self._do("run_best", old=old, new=new, label=label)

    def known(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, bool]:
        """One seek per key."""
        rows = self._do("run_known", view, keys=list(keys))
        return {as_key(row["key"], view): bool(row["known"]) for row in rows}

    def warm(
        self,
        view: View,
        rows: Sequence[tuple[NodeKey, Properties, Properties]],
        labels: Sequence[str],
        counters: Properties,
    ) -> None:
        """Creates GRAPHBO_OBSERVED for all of them."""
        maps = [{"key": key, "properties": told, "node": node} for key, told, node in rows]
        self._do("run_warm", view, rows=maps, labels=list(labels), counters=counters)

    def annotate(self, view: View, marks: Sequence[Mark]) -> None:
        """One statement for all nodes."""
        self._do("run_annotate", view, rows=[asdict(mark) for mark in marks])

    def mark_region(
        self,
        view: View,
        rows: Sequence[tuple[NodeKey, Properties]],
        nothing: Properties,
        labels: Sequence[str],
    ) -> None:
        """One statement for all nodes: GRAPHBO_REGION says which they are."""
        maps = [{"key": key, "node": node} for key, node in rows]
        self._do("run_region", view, rows=maps, node=nothing, labels=list(labels))


class Neo4jRuns:
    """See ``RunRows``."""

    def __init__(self, transact: Transact) -> None:
        self._transact = transact

    def transact(
        self, run: str, work: Callable[[Ledger], Answer], *, survives_power_cut: bool = True
    ) -> Answer:
        """One managed write transaction, with the driver's retries. The server keeps whatever it commits."""
        del survives_power_cut

        def in_transaction(transaction: neo4j.ManagedTransaction) -> Answer:
            return work(Neo4jLedger(run, transaction))

        answer: Answer = self._transact(in_transaction)
        return answer

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
        rows = self._do("run_list", run=name)
        return [(_plain(row["run"]), row["pending"]) for row in rows]

    def read_news(self, run: str, view: View, since: int) -> Situation | None:
        """In write mode: a follower may lag."""
        rows = self._do("run_news", view, run=run, since=since)
        return _situation(rows[0], view) if rows else None

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
        rows: Rows = self._transact(
            lambda transaction: run_statement(transaction, name, view, **parameters)
        )
        return rows


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(1e3 * seconds)


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
