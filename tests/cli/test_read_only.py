"""A database file on media that may only be read."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.backends import SqliteBackend, read_only
from tests.cli.runs import OPTIONS, InProcess, load

InDirectory = Callable[[SqliteBackend], InProcess]


@pytest.fixture
def backend(tmp_path: Path, in_process: InDirectory) -> SqliteBackend:
    """A finished run in a directory of its own."""
    path = tmp_path / "media" / "graph.db"
    path.parent.mkdir()
    backend = SqliteBackend(path)
    load(backend)
    run = ("run", *OPTIONS, "--objective", "property:score", "--name", "r", "--budget", "12")
    assert in_process(backend)(*run).code == 0
    return backend


def test_runs_can_be_looked_at(
    backend: SqliteBackend, in_process: InDirectory, tmp_path: Path
) -> None:
    graphbo = in_process(backend)
    with read_only(backend.path.parent):
        for command in ("status", "best", "history"):
            assert graphbo(command, "r", "--json").json
        assert [run["name"] for run in graphbo("runs", "--json").json] == ["r"]
        assert graphbo("report", "r", "--output", tmp_path / "r.html").code == 0
        doctor = graphbo("doctor", *OPTIONS)
        assert doctor.code == 1
        assert "this user may read, but not write" in doctor.out
        assert "an ego-network" in doctor.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "r", "--budget", "20"),
        ("clean", "r", "--yes"),
        ("load", "ba:n=5,m=2", "--label", "N", "--rel", "R"),
        ("run", "--name", "r", "--budget", "20"),
        ("run", *OPTIONS, "--objective", "property:score", "--name", "another"),
    ],
)
def test_what_would_write_says_that_it_may_not(
    backend: SqliteBackend, in_process: InDirectory, arguments: tuple[str, ...]
) -> None:
    with read_only(backend.path.parent):
        line = in_process(backend)(*arguments).failed_with_one_line()
    assert "may not be written" in line


def test_a_damaged_file_is_called_that(backend: SqliteBackend, in_process: InDirectory) -> None:
    with closing(sqlite3.connect(backend.path)) as file:
        page = "SELECT rootpage FROM sqlite_schema WHERE name = 'run'"
        (number,) = file.execute(page).fetchone()
        (size,) = file.execute("PRAGMA page_size").fetchone()
    content = bytearray(backend.path.read_bytes())
    content[(number - 1) * size : number * size] = b"\xa5" * size
    backend.path.write_bytes(content)
    line = in_process(backend)("status", "r").failed_with_one_line()
    assert "graph.db is damaged" in line
    assert "restore a backup" in line
