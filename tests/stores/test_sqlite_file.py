"""What holds for SQLite files alone."""

import sqlite3
from pathlib import Path

import pytest

from graphbo.errors import InvalidAddress
from graphbo.run import Run, RunSettings
from graphbo.stores import open_store
from graphbo.stores.sqlite import SqliteStore
from graphbo.types import Ego, View

VIEW = View(("N",), ("R",), key="id")


@pytest.fixture
def first_version(tmp_path: Path) -> Path:
    """A file as the first version wrote it, with a graph in it."""
    path = tmp_path / "old.db"
    with open_store(f"sqlite:{path}", create=True) as store:
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(0, 1, {}), (0, 2, {}), (2, 2, {})])
    file = sqlite3.connect(path)
    file.executescript(
        "DROP TRIGGER degree_grows; DROP TRIGGER degree_shrinks; DROP TABLE degree; PRAGMA user_version = 1;"
    )
    file.close()
    return path


def degrees(path: Path) -> list[int]:
    with open_store(f"sqlite:{path}") as store:
        found = store.ego_networks(VIEW, [Ego(key, 1) for key in (0, 1, 2)], [0]).degrees
    assert found is not None
    return [int(degree) for degree in found]


def test_a_file_of_the_first_version_is_brought_up_to_date(first_version: Path) -> None:
    assert degrees(first_version) == [2, 1, 2]
    with open_store(f"sqlite:{first_version}") as store:
        store.write_relationships(VIEW, [(1, 0, {}), (0, 1, {})])
    assert degrees(first_version) == [3, 2, 2]


def test_a_file_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    open_store(f"sqlite:{path}", create=True).close()
    file = sqlite3.connect(path)
    file.execute("PRAGMA user_version = 99")
    file.close()
    before = path.read_bytes()
    with pytest.raises(InvalidAddress, match="schema 99"):
        open_store(f"sqlite:{path}")
    assert path.read_bytes() == before


def test_asking_and_telling_look_at_no_more_of_a_long_run_than_of_a_short_one() -> None:
    """Every statement finds its rows by an index; the events of a run are never gone through."""
    with open_store("sqlite::memory:") as store:
        assert isinstance(store, SqliteStore)
        store.create_key(VIEW)
        store.write_nodes(VIEW, [(key, {}) for key in range(9)])
        run = Run.create(store, VIEW, "r", RunSettings(strategy="random"))
        statements: list[str] = []
        connection = store._file.connection
        connection.set_trace_callback(statements.append)
        for _ in range(3):
            asked = run.ask(lease=60).pending
            assert asked is not None
            run.tell(1.0, step=asked.step, token=asked.token)
        connection.set_trace_callback(None)
        plans = [
            (row[3], sql)
            for sql in set(statements)
            if "event" in sql and sql.lstrip().startswith(("SELECT", "UPDATE"))
            for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")
            if " event" in row[3]
        ]
    assert plans
    for plan, sql in plans:
        assert plan.startswith("SEARCH event"), sql
        assert not plan.endswith("(run=?)"), sql
