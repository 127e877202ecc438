"""What holds for SQLite files alone."""

import re
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from graphbo.errors import InvalidAddress, ReadOnlyDatabase, StoreError
from graphbo.runs import Run, RunSettings
from graphbo.runs.registry import runs_in
from graphbo.stores import open_store
from graphbo.stores.sqlite.store import SqliteStore
from graphbo.types import Ego, View
from graphbo.types.notation import read_condition, read_path
from tests.backends import read_only
from tests.runs.support import news_in

VIEW = View(("N",), ("R",), key="id")


# What the first version wrote, with the relationships 0 → 1, 0 → 2 and 2 → 2.
FIRST_VERSION = """
CREATE TABLE label (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, key TEXT, nodes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE type (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, relationships INTEGER NOT NULL DEFAULT 0);
CREATE TABLE node (
  id INTEGER PRIMARY KEY, label INTEGER NOT NULL REFERENCES label, key NOT NULL,
  properties TEXT NOT NULL, UNIQUE (label, key)
);
CREATE INDEX node_label ON node (label);
CREATE TABLE relationship (
  node INTEGER NOT NULL, type INTEGER NOT NULL, outgoing INTEGER NOT NULL, other INTEGER NOT NULL,
  properties TEXT NOT NULL, PRIMARY KEY (node, type, outgoing, other)
) WITHOUT ROWID;
CREATE TRIGGER node_deleted AFTER DELETE ON node BEGIN
  UPDATE label SET nodes = nodes - 1 WHERE id = old.label;
END;
CREATE TRIGGER relationship_deleted AFTER DELETE ON relationship WHEN old.outgoing BEGIN
  UPDATE type SET relationships = relationships - 1 WHERE id = old.type;
END;
CREATE TABLE run (name TEXT PRIMARY KEY, prefix TEXT NOT NULL UNIQUE, properties TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE event (
  run TEXT NOT NULL, step INTEGER NOT NULL, kind TEXT NOT NULL, seq INTEGER, node INTEGER NOT NULL,
  properties TEXT NOT NULL, PRIMARY KEY (run, step), UNIQUE (run, node)
) WITHOUT ROWID;
CREATE INDEX event_seq ON event (run, seq);
INSERT INTO label VALUES (1, 'N', 'id', 3);
INSERT INTO type VALUES (1, 'R', 3);
INSERT INTO node VALUES (1, 1, 0, '{"id":0}'), (2, 1, 1, '{"id":1}'), (3, 1, 2, '{"id":2}');
INSERT INTO relationship VALUES
  (1, 1, 1, 2, '{"w":1.5}'), (1, 1, 1, 3, '{}'), (2, 1, 0, 1, '{"w":1.5}'), (3, 1, 0, 1, '{}'),
  (3, 1, 0, 3, '{}'), (3, 1, 1, 3, '{}');
PRAGMA application_id = 1734504241;
PRAGMA user_version = 1;
"""

#: What the next versions made of it.
SECOND_VERSION = """
CREATE TABLE degree (
  node INTEGER NOT NULL, type INTEGER NOT NULL,
  outgoing INTEGER NOT NULL, incoming INTEGER NOT NULL, loops INTEGER NOT NULL, PRIMARY KEY (node, type)
) WITHOUT ROWID;
CREATE TRIGGER degree_grows AFTER INSERT ON relationship BEGIN
  INSERT INTO degree
  VALUES (new.node, new.type, new.outgoing, NOT new.outgoing, new.outgoing AND new.other = new.node)
  ON CONFLICT DO UPDATE SET outgoing = outgoing + excluded.outgoing,
    incoming = incoming + excluded.incoming, loops = loops + excluded.loops;
END;
CREATE TRIGGER degree_shrinks AFTER DELETE ON relationship BEGIN
  UPDATE degree SET outgoing = outgoing - old.outgoing, incoming = incoming - NOT old.outgoing,
    loops = loops - (old.outgoing AND old.other = old.node)
  WHERE node = old.node AND type = old.type;
END;
INSERT INTO degree VALUES (1, 1, 2, 0, 0), (2, 1, 0, 1, 0), (3, 1, 1, 2, 1);
PRAGMA user_version = 2;
"""
THIRD_VERSION = """
DROP TABLE event;
CREATE TABLE event (
  run TEXT NOT NULL, step INTEGER NOT NULL, kind TEXT NOT NULL, seq INTEGER, node INTEGER NOT NULL,
  properties TEXT NOT NULL, PRIMARY KEY (run, step)
) WITHOUT ROWID;
CREATE UNIQUE INDEX event_node ON event (run, node) WHERE kind <> 'retried';
CREATE INDEX event_seq ON event (run, seq);
PRAGMA user_version = 3;
"""


def written_by(path: Path, *versions: str) -> Path:
    """A file as an earlier version left it."""
    path.parent.mkdir(exist_ok=True)
    file = sqlite3.connect(path)
    for script in versions:
        file.executescript(script)
    file.close()
    return path


@pytest.fixture
def first_version(tmp_path: Path) -> Path:
    """A file as the first version wrote it, with a graph in it."""
    return written_by(tmp_path / "media" / "old.db", FIRST_VERSION)


def schema_of(path: Path) -> set[str]:
    """What makes the tables, indexes and triggers of a file, in whatever layout of the text."""
    file = sqlite3.connect(path)
    rows = file.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    file.close()
    return {"".join(sql.replace('"', "").split()) for (sql,) in rows}


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


@pytest.mark.parametrize(
    "versions",
    [
        (FIRST_VERSION,),
        (FIRST_VERSION, SECOND_VERSION),
        (FIRST_VERSION, SECOND_VERSION, THIRD_VERSION),
    ],
    ids=["first", "second", "third"],
)
def test_a_file_of_any_earlier_version_is_as_if_it_had_been_made_anew(
    tmp_path: Path, versions: tuple[str, ...]
) -> None:
    path = written_by(tmp_path / "old.db", *versions)
    assert degrees(path) == [2, 1, 2]
    new = tmp_path / "new.db"
    open_store(f"sqlite:{new}", create=True).close()
    # The column that was added to the labels is spelled otherwise.
    assert {sql for sql in schema_of(path) if "TABLElabel" not in sql} == {
        sql for sql in schema_of(new) if "TABLElabel" not in sql
    }
    weighed = replace(VIEW, weight="w", default_weight=0.25)
    with open_store(f"sqlite:{path}") as store:
        assert (store.count_nodes(VIEW), store.count_relationships(VIEW)) == (3, 3)
        found = store.ego_networks(weighed, [Ego(0, 5)], [0])
        assert found.adjacency[found.row(0), found.row(1)] == 1.5
        store.write_nodes(VIEW, [(0, {})], ["Further"])
        store.write_relationships(VIEW, [(0, 1, {"w": 2.0})], parallel=True)
        assert store.count_nodes(View(("Further",), ("R",))) == 1
        assert store.count_relationships(VIEW) == 4
        again = store.ego_networks(weighed, [Ego(0, 5)], [0])
        assert again.adjacency[again.row(0), again.row(1)] == 3.5
    assert degrees(path) == [3, 2, 2]


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


def test_nodes_are_numbered_in_the_order_in_which_relationships_name_them() -> None:
    """What is drawn, and so every history, follows from the numbers."""
    with open_store("sqlite::memory:") as store:
        store.create_key(VIEW)
        store.write_relationships(VIEW, [("c", "a", {}), ("b", "c", {}), ("d", "a", {})])
        found = store.nodes_with_keys(VIEW, ["a", "b", "c", "d"])
        assert {key: nodes[0].id for key, nodes in found.items()} == {
            "c": "1",
            "a": "2",
            "b": "3",
            "d": "4",
        }


SHARED = read_path(
    "(:Person WHERE age > 3)-[v:VISITS WHERE v.hours > 1]->(:Place&!Closed)<-[:VISITS]-(:Person)-[:KNOWS]-(:Person)"
)


@pytest.mark.parametrize(
    "view",
    [
        View(("Person",), paths=(SHARED,), key="id"),
        View(
            ("Person",), direction="out", paths=(SHARED,), key="id", where=read_condition("age > 5")
        ),
        View(("Place",), ("VISITS",), key="id", candidates=("Person",), hub_limit=5),
        View(("Place", "Adult"), ("KNOWS",), candidates=("Adult",), paths=(SHARED,)),
    ],
    ids=["path", "filter", "connectors", "further label"],
)
def test_a_view_of_a_property_graph_is_looked_at_by_indexes_alone(view: View) -> None:
    people, places = (View((label,), ("VISITS",), key="id") for label in ("Person", "Place"))
    with open_store("sqlite::memory:") as store:
        assert isinstance(store, SqliteStore)
        store.create_key(people)
        store.write_nodes(people, [(i, {"age": i}) for i in range(40)], ["Adult"])
        store.write_relationships(
            people, [(i, i % 7, {"hours": 2}) for i in range(40)], target=places
        )
        store.write_relationships(replace(people, relationships=("KNOWS",)), [(9, 10, {})])
        keys = store.random_keys(view, 3, [0])
        statements: list[str] = []
        connection = store._file.connection
        connection.set_trace_callback(statements.append)
        store.random_keys(view, 3, [1])
        store.ego_networks(view, [Ego(keys[0], 9)], [0], first=keys, through=keys)
        store.neighbours(view, keys, [0], exclude=keys)
        connection.set_trace_callback(None)
        plans = [
            (row[3], sql)
            for sql in dict.fromkeys(statements)
            if sql.lstrip().startswith(("SELECT", "WITH", "INSERT", "DELETE"))
            for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")
        ]
    assert len(plans) > 20
    for plan, sql in plans:
        assert not re.match(r"SCAN (n|r|f|node|relationship|degree|further)\b(?! VIRTUAL)", plan), (
            sql
        )


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
