"""What holds for SQLite files alone."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from graphbo.errors import InvalidAddress, ReadOnlyDatabase, StoreError
from graphbo.runs import Run, RunSettings
from graphbo.runs.registry import runs_in
from graphbo.stores import open_store
from graphbo.stores.sqlite.store import SqliteStore
from graphbo.types import Ego, View
from tests.backends import read_only
from tests.runs.support import news_in

VIEW = View(("N",), ("R",), key="id")


@pytest.fixture
def first_version(tmp_path: Path) -> Path:
    """A file as the first version wrote it, with a graph in it."""
    path = tmp_path / "media" / "old.db"
    path.parent.mkdir(exist_ok=True)
    with open_store(f"sqlite:{path}", create=True) as store:
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(0, 1, {}), (0, 2, {}), (2, 2, {})])
    file = sqlite3.connect(path)
    file.executescript(
        "DROP TRIGGER degree_grows; DROP TRIGGER degree_shrinks; DROP TABLE degree; PRAGMA user_version = 1;"
    )
    file.executescript("DROP INDEX event_node;")
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


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A file with a graph and a run of one step in it, in a directory of its own."""
    path = tmp_path / "media" / "graph.db"
    path.parent.mkdir(exist_ok=True)
    with open_store(f"sqlite:{path}", create=True) as store:
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(2000)])
        run = Run.create(store, VIEW, "short", RunSettings(strategy="random", budget=3))
        run.ask()
        run.tell(1.0, step=1)
    return path


# Files that go away


@pytest.mark.parametrize(
    ("happen", "message"),
    [
        (lambda path: path.unlink(), "deleted while it was open"),
        (lambda path: path.rename(path.with_suffix(".old")), "deleted while it was open"),
        (
            lambda path: Path(shutil.copy(path, f"{path}.new")).replace(path),
            "replaced while it was open",
        ),
    ],
    ids=["deleted", "moved", "replaced"],
)
def test_nothing_is_written_to_a_file_that_is_no_longer_there(
    filled: Path, happen: Callable[[Path], object], message: str
) -> None:
    with open_store(f"sqlite:{filled}") as store:
        run = Run.open(store, "short")
        assert run.ask().pending is not None
        happen(filled)
        with pytest.raises(StoreError, match=message):
            run.tell(2.0, step=2)
        assert runs_in(store).get("short").told == 1


def test_a_process_may_go_to_another_directory(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(filled.parent)
    with open_store("sqlite:graph.db") as store:
        monkeypatch.chdir(tmp_path)
        runs_in(store).change("short", state="stopped")
        assert runs_in(store).get("short").state == "stopped"


# Files that are damaged


def test_a_damaged_file_is_told_from_one_of_another_kind(filled: Path) -> None:
    damaged = bytearray(filled.read_bytes())
    # All pages but the first, which says whose file it is.
    damaged[4096:] = b"\xa5" * (len(damaged) - 4096)
    filled.write_bytes(damaged)
    with (
        open_store(f"sqlite:{filled}") as store,
        pytest.raises(StoreError, match=r"is damaged .*: restore a backup, or .*\.recover"),
    ):
        store.count_nodes(VIEW)


# Media that may not be written


def test_what_may_not_be_written_can_be_looked_at(filled: Path) -> None:
    with read_only(filled.parent), open_store(f"sqlite:{filled}") as store:
        info = store.info()
        assert not info.writable
        assert "may not be written" in info.why_not_writable
        assert [record.name for record in runs_in(store).all()] == ["short"]
        assert [one.value for one in news_in(store, name="short").observations] == [1.0]
        assert len(store.ego_networks(VIEW, [Ego(5, 10)], [0])) == 10
        with pytest.raises(ReadOnlyDatabase, match="may not be written"):
            runs_in(store).change("short", state="stopped")
        with pytest.raises(ReadOnlyDatabase, match="may not be written"):
            store.write_nodes(VIEW, [(5000, {})])


def test_what_is_not_in_the_file_yet_cannot_be_read_there(filled: Path, tmp_path: Path) -> None:
    with open_store(f"sqlite:{filled}") as store:
        runs_in(store).change("short", state="stopped")
        # As a process leaves them that was killed.
        for file in filled.parent.glob("graph.db*"):
            shutil.copy(file, tmp_path / file.name)
    for name in ("graph.db", "graph.db-wal"):
        shutil.move(tmp_path / name, filled.with_name(name))
    wanted = pytest.raises(ReadOnlyDatabase, match=r"is in graph\.db-wal still: copy both")
    with read_only(filled.parent), wanted:
        open_store(f"sqlite:{filled}")


def test_a_file_of_the_first_version_cannot_be_brought_up_to_date_there(
    first_version: Path,
) -> None:
    before = first_version.read_bytes()
    wanted = pytest.raises(ReadOnlyDatabase, match=r"earlier version .* \(schema 1\).*copy it")
    with read_only(first_version.parent), wanted:
        open_store(f"sqlite:{first_version}")
    assert first_version.read_bytes() == before


def test_asking_and_telling_look_at_no_more_of_a_long_run_than_of_a_short_one() -> None:
    """Every statement finds its rows by an index; the events of a run are never gone through."""
    with open_store("sqlite::memory:") as store:
        assert isinstance(store, SqliteStore)
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(key, key + 1, {}) for key in range(9)])
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
