"""Runs in SQLite: a row for the run, a row for each node that it asked for or measured."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import numpy as np

from graphbo.stores.log import Decide, Found, Lookup, Properties, Snapshot, Write
from graphbo.stores.sqlite.clock import leased
from graphbo.stores.sqlite.file import SqliteFile, in_list
from graphbo.stores.sqlite.locked_run import (
    LockedRun,
    change_properties,
    now,
)
from graphbo.stores.sqlite.nodes import LABELS_OF_N, SqliteNodes
from graphbo.types import View

__all__ = ["SqliteLog"]

Answer = TypeVar("Answer")

#: How many nodes are looked at to see which properties they have: first ones, and drawn ones.
FIRST_LOOKED_AT, DRAWN = 200, 1_000


class SqliteLog:
    """See ``RunLog``."""

    def __init__(self, file: SqliteFile, nodes: SqliteNodes) -> None:
        self._file = file
        self._nodes = nodes

    def _locked(self, run: str, view: View) -> LockedRun:
        return LockedRun(run, view, self._file, self._nodes)

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
        """BEGIN IMMEDIATE … COMMIT; the disk is waited for only where it matters. A trip costs nothing here."""
        del guess, grows
        with self._lasting(survives_power_cut), self._file.transaction():
            locked = self._locked(run, lookup.view)
            found = locked.look(lookup)
            if found is None:
                return None
            answer, writes = decide(found)
            return answer, locked.write(writes)

    @contextmanager
    def _lasting(self, survives_power_cut: bool) -> Iterator[None]:
        """Commits wait for the disk, unless what they write may be lost in a power cut."""
        if survives_power_cut:
            yield
            return
        self._file.connection.execute("PRAGMA synchronous = NORMAL")
        try:
            yield
        finally:
            self._file.connection.execute("PRAGMA synchronous = FULL")

    def create_run(self, properties: Properties) -> bool:
        """False when a unique name or prefix says no."""
        stamped = properties | {"startedAt": now(), "updatedAt": now()}
        with self._file.transaction() as execute:
            created = execute(
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

    def read_news(self, run: str, view: View, since: int) -> Snapshot | None:
        """A read is consistent without a lock: it is one snapshot."""
        with self._file.errors():
            try:
                self._file.connection.execute("BEGIN")
                locked = self._locked(run, view)
                found = locked.read(Lookup(view, "", since), with_names=False)
                return None if found is None else replace(found, excluded=locked.excluded())
            finally:
                if self._file.connection.in_transaction:
                    self._file.connection.execute("ROLLBACK")

    def read_retried(self, run: str, view: View) -> list[Properties]:
        """In the order in which they were told."""
        with self._file.errors():
            return self._locked(run, view).retried()

    def renew(self, run: str, tokens: Sequence[str], lease: float, tries: int = 0) -> list[int]:
        """All that the worker still holds."""
        with self._file.transaction() as execute:
            rows = execute(
                "SELECT step, properties FROM event WHERE run = ? AND kind = 'pending'", (run,)
            ).fetchall()
            held = [(step, json.loads(text)) for step, text in rows]
            mine = [(step, old) for step, old in held if old["token"] in tokens]
            for step, old in mine:
                new = leased(old | {"tries": old.get("tries", 1) + tries}, lease)
                execute(
                    "UPDATE event SET properties = ? WHERE run = ? AND step = ?",
                    (json.dumps(new), run, step),
                )
        return [step for step, _ in mine]

    def drop_schema(self) -> None:
        """The tables stay: they belong to the file."""

    def names_in_use(
        self, view: View, properties: Sequence[str], labels: Sequence[str]
    ) -> list[str]:
        """There are neither labels nor relationships of runs among those of the graph."""
        del labels
        found: set[str] = set()
        for label in self._nodes.rows(view.candidate_labels):
            of_label = "SELECT id FROM node WHERE label = :label"
            if label["further"]:
                of_label += " UNION ALL SELECT node FROM further WHERE label = :label"
            (row,) = self._file.all(
                f"SELECT min(id) AS low, max(id) AS high FROM ({of_label})", label=label["id"]
            )
            if row["low"] is None:
                continue
            draws = np.random.default_rng(0).integers(row["low"], row["high"] + 1, size=DRAWN)
            names = self._file.tuples(
                f"""SELECT DISTINCT name.key FROM (
                      SELECT properties FROM node WHERE id IN (SELECT id FROM ({of_label}) LIMIT :first)
                      UNION ALL
                      SELECT properties FROM ({of_label}) AS labelled JOIN node ON node.id = labelled.id
                      WHERE labelled.id IN {in_list("draws")}
                    ) AS looked_at, json_each(looked_at.properties) AS name""",
                label=label["id"],
                first=FIRST_LOOKED_AT,
                draws=json.dumps(draws.tolist()),
            )
            found |= {name for (name,) in names}
        return [name for name in properties if name in found]

    def strays(
        self, properties: Sequence[str], labels: Sequence[str], scan: bool, limit: int
    ) -> list[Found]:
        """Only a scan finds them: there are no labels."""
        del labels
        if not scan:
            return []
        rows = self._file.tuples(
            f"""SELECT n.id, {LABELS_OF_N}, n.properties FROM node AS n
                WHERE EXISTS (SELECT 1 FROM json_each(n.properties) AS name WHERE name.key IN {in_list("names")})
                LIMIT :limit""",
            names=json.dumps(list(properties)),
            limit=limit,
        )
        return [
            Found(str(node), json.loads(names), list(json.loads(text)))
            for node, names, text in rows
        ]

    def remove_strays(
        self, ids: Sequence[str], properties: Sequence[str], labels: Sequence[str]
    ) -> None:
        """One transaction."""
        del labels
        with self._file.transaction() as execute:
            for node in ids:
                change_properties(
                    execute, "node", "id = ?", (int(node),), dict.fromkeys(properties)
                )
