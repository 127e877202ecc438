"""Runs of every version so far can be gone on with; those of versions to come, and damaged ones, are one clear line.

``tests/fixtures/runs`` has what each version wrote: a run with everything that happens in one, and a second.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graphbo.errors import NoSuchRun, RunDamaged, RunTooNew
from graphbo.runs import Run
from graphbo.runs.records import PLAIN_SCHEMA, VIEW_SCHEMA, RunRecord, UnreadableRun
from graphbo.runs.registry import runs_in
from graphbo.seeing.annotate import annotate
from graphbo.stores import GraphStore, open_store
from graphbo.stores.neo4j.statements import quote
from graphbo.types import View
from tests.backends import (
    Backend,
    Neo4jBackend,
    SqliteBackend,
    all_on_sqlite_and_one_on_neo4j,
)

FIXTURES = Path(__file__).parents[1] / "fixtures" / "runs"
VIEW = View(("N",), ("R",), key="id")


def restore_sqlite(path: Path, fixture: str) -> GraphStore:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((FIXTURES / fixture).read_text())
    return open_store(f"sqlite:{path}")


def restore_neo4j(backend: Neo4jBackend, fixture: str) -> GraphStore:
    found = json.loads((FIXTURES / fixture).read_text())
    with backend.open() as store:
        store.create_key(VIEW)
        runs_in(store).create(RunRecord("schema", True, VIEW, {}, 0, ""))
        runs_in(store).clean("schema")
    ids = {}
    for node in found["nodes"]:
        labels = ":".join(map(quote, node["labels"]))
        (row,) = backend.run(
            f"CREATE (n:{labels}) SET n = $properties RETURN elementId(n) AS id",
            properties=node["properties"],
        )
        ids[node["id"]] = row["id"]
    for one in found["relationships"]:
        backend.run(
            f"MATCH (a), (b) WHERE elementId(a) = $a AND elementId(b) = $b "
            f"CREATE (a)-[r:{quote(one['type'])}]->(b) SET r = $properties",
            a=ids[one["source"]],
            b=ids[one["target"]],
            properties=one["properties"],
        )
    return backend.open()


@pytest.fixture(
    params=[
        "sqlite-file-1.sql",
        "sqlite-file-2.sql",
        "sqlite-file-4.sql",
        pytest.param("neo4j-run-1.json", marks=pytest.mark.neo4j),
    ]
)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> GraphStore:
    """A database that an earlier version has left."""
    if request.param.startswith("sqlite"):
        return restore_sqlite(tmp_path / "old.db", request.param)
    return restore_neo4j(request.getfixturevalue("neo4j_backend"), request.param)


def test_an_old_run_goes_on(old: GraphStore) -> None:
    with old as store:
        run = Run.open(store, "search")
        run.refresh()
        assert [one.value for one in run.history[:2]] == [1.0, 2.0]
        assert [(one.error, one.failed) for one in run.history[-1:]] == [("no answer", True)]
        best = run.best()
        assert best is not None
        assert best.value == 99.0
        assert [one.tries for one in run.pending] == [1, 1]
        for one in run.pending:
            run.tell(1.5, step=one.step)
        Run.open(store, "search").retry()
        for _ in range(4):
            pending = run.ask().pending
            assert pending is not None
            run.tell(float(int(pending.key) % 5), step=pending.step)
        assert run.record.failed == 0
        assert len(run.history) == run.record.in_history == 14


def test_cleaning_an_old_run_leaves_the_graph_alone(old: GraphStore) -> None:
    with old as store:
        annotate(store, "search", posterior=True)
        runs_in(store).clean("search")
        assert store.properties(VIEW, range(60)) == {key: {"id": key} for key in range(60)}
        assert runs_in(store).strays("graphbo", scan=True) == []
        assert [run.name for run in runs_in(store).all()] == ["other"]


def change_run(backend: Backend, name: str, **properties: object) -> None:
    """Change what the database has of a run, behind graphbo's back; None removes."""
    if isinstance(backend, Neo4jBackend):
        backend.run("MATCH (r:GraphboRun {name: $name}) SET r += $all", name=name, all=properties)
        return
    assert isinstance(backend, SqliteBackend)
    with closing(sqlite3.connect(backend.path)) as connection, connection:
        (text,) = connection.execute(
            "SELECT properties FROM run WHERE name = ?", (name,)
        ).fetchone()
        changed = json.loads(text) | properties
        kept = {key: value for key, value in changed.items() if value is not None}
        connection.execute("UPDATE run SET properties = ? WHERE name = ?", (json.dumps(kept), name))


@pytest.fixture
def two_runs(store: GraphStore) -> GraphStore:
    store.create_key(VIEW)
    store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(9)])
    for name in ("fine", "odd"):
        run = Run.create(store, VIEW, name)
        pending = run.ask().pending
        assert pending is not None
        run.tell(1.0, step=pending.step)
    return store


DAMAGES: list[tuple[dict[str, object], type[Exception], str]] = [
    ({"schema": 99, "writtenBy": "7.1"}, RunTooNew, "graphbo 7.1 .schema 99"),
    ({"view": None}, RunDamaged, "has lost its view"),
    ({"view": "{"}, RunDamaged, "cannot be read"),
    ({"view": '{"labels": ["N"], "relationships": ["R"], "shape": 1}'}, RunDamaged, "shape"),
    ({"config": '{"strategy": "bayes", "mood": 1}'}, RunDamaged, "'mood'"),
    ({"seq": None}, RunDamaged, "has lost its seq"),
    ({"budget": "many"}, RunDamaged, "has 'many' as its budget"),
    ({"direction": "sideways"}, RunDamaged, "has 'sideways' as its direction"),
    ({"schema": "abc"}, RunDamaged, "has 'abc' as its schema"),
    ({"config": '{"strategy": "bayes", "objective": ["rm"]}'}, RunDamaged, "objective is"),
]


@all_on_sqlite_and_one_on_neo4j("damage", DAMAGES)
def test_a_run_that_cannot_be_read_is_one_clear_line(
    two_runs: GraphStore,
    backend: Backend,
    damage: tuple[dict[str, object], type[Exception], str],
) -> None:
    change, error, expected = damage
    change_run(backend, "odd", **change)
    with pytest.raises(error, match=expected):
        Run.open(two_runs, "odd").ask()
    # The other one is none the worse for it.
    assert Run.open(two_runs, "fine").ask().pending is not None
    listed = {run.name: run for run in runs_in(two_runs).listed()}
    assert set(listed) == {"fine", "odd"}
    if "mood" not in str(change):
        assert isinstance(listed["odd"], UnreadableRun)
    # It can be cleaned all the same.
    runs_in(two_runs).clean("odd")
    with pytest.raises(NoSuchRun):
        runs_in(two_runs).get("odd")
    runs_in(two_runs).clean("fine")
    assert two_runs.properties(VIEW, range(10)) == {key: {"id": key} for key in range(10)}


def test_runs_on_views_of_other_kinds_say_so(tmp_path: Path) -> None:
    with restore_sqlite(tmp_path / "old.db", "sqlite-file-4.sql") as store:
        schemas = {run.name: run.schema for run in runs_in(store).all()}
    assert schemas == {"search": VIEW_SCHEMA, "other": PLAIN_SCHEMA}
