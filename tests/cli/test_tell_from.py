"""``graphbo tell --from``: many values at once, all or none."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from graphbo.runs.registry import runs_in
from tests.backends import Backend, on_sqlite
from tests.cli.runs import OPTIONS, SIZE, InProcess, history, load

RANDOM = (*OPTIONS, "--strategy", "random")


@pytest.fixture
def asked(here: InProcess) -> list[int]:
    """Three nodes that were asked for by hand."""
    here("ask", "hand", *RANDOM)
    here("ask", "hand", "--another")
    pending = here("ask", "hand", "--another", "--json").json["pending"]
    return [one["key"] for one in pending]


def test_records_values_and_failures(
    loaded: Backend, here: InProcess, tmp_path: Path, asked: list[int]
) -> None:
    one, two, three = asked
    (tmp_path / "values.csv").write_text(
        f"node;value;note\n{two};1.5;\n{one};-2e3;by eye\n{three};;not at home\n"
    )
    answer = here("tell", "hand", "--from", "values.csv")
    assert answer.code == 0, answer
    lines = answer.out.splitlines()
    assert lines[0] == f"Step 2: {two} = 1.5, the best so far."
    assert lines[1] == f"Step 1: {one} = -2000."
    assert lines[2] == f"Step 3: {three} failed (not at home)."
    assert lines[3] == "3 evaluations."
    assert [(told["key"], told["value"]) for told in history(here, "hand")] == [
        (two, 1.5),
        (one, -2000.0),
        (three, None),
    ]
    # The same again changes nothing.
    before = loaded.dump()
    again = here("tell", "hand", "--from", "values.csv", "--json").json
    assert [told["outcome"] for told in again["told"]] == ["repeated"] * 3
    assert loaded.dump() == before


@on_sqlite
def test_a_line_that_is_wrong_records_nothing(
    loaded: Backend, here: InProcess, tmp_path: Path, asked: list[int]
) -> None:
    one, two, _ = asked
    before = loaded.dump()
    for line, message in {
        f"{two},high": "line 3: 'high' is not a number",
        f"{one},1": f"line 3: '{one}' is in line 2 already",
        "nowhere,1": "line 3: no node of",
    }.items():
        (tmp_path / "values.csv").write_text(f"node,value\n{one},1.5\n{line}\n")
        said = here("tell", "hand", "--from", "values.csv").failed_with_one_line()
        assert f"values.csv, {message}" in said
        assert loaded.dump() == before


@on_sqlite
def test_what_the_run_refuses_is_said_with_its_line(
    loaded: Backend, here: InProcess, tmp_path: Path, asked: list[int]
) -> None:
    one, two, _ = asked
    other = next(node for node in range(60) if node not in asked)
    file = tmp_path / "values.csv"
    file.write_text(f"node,value\n{one},1.5\n\n{other},1\n")
    before = loaded.dump()
    said = here("tell", "hand", "--from", file).failed_with_one_line()
    assert f"values.csv, line 4: nobody asked for {other}" in said
    assert "nothing was recorded" in said
    assert loaded.dump() == before
    assert here("tell", "hand", two, 7).code == 0
    file.write_text(f"node,value\n{one},1.5\n{two},8\n")
    assert (
        "values.csv, line 3: step 2" in here("tell", "hand", "--from", file).failed_with_one_line()
    )
    assert here("tell", "hand", "--from", file, "--amend").code == 0
    assert [told["value"] for told in history(here, "hand")] == [8.0, 1.5]


@on_sqlite
def test_the_best_is_found_again_when_its_value_is_amended(
    loaded: Backend, here: InProcess, tmp_path: Path, asked: list[int]
) -> None:
    one, two, _ = asked
    for node, value in ((one, 1.5), (two, 7)):
        assert here("tell", "hand", node, value).code == 0
    (tmp_path / "values.csv").write_text(f"node,value\n{two},1\n")
    assert here("tell", "hand", "--from", "values.csv", "--amend").code == 0
    with loaded.open() as store:
        assert runs_in(store).get("hand").best_value == 1.5


@on_sqlite
def test_goes_with_nothing_else(here: InProcess, tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text("node,value\n1,1\n")
    for words in (("1", "2"), ("--step", "1"), ("--failed", "why")):
        answer = here("tell", "hand", "--from", "values.csv", *words)
        assert answer.code == 2
        assert (
            "--from goes with --amend or --known, --dry-run and the names of columns alone"
            in answer.err
        )
    assert here("tell", "hand", "--from", "nothing.csv").code == 2


FULL = """
import sqlite3

def score(key):
    with sqlite3.connect("graph.db") as database:
        for what in ("INSERT", "UPDATE"):
            database.execute(
                f"CREATE TRIGGER full_{what} BEFORE {what} ON event BEGIN SELECT RAISE(ABORT, 'disk full'); END"
            )
    return 0.1 + 0.2
"""


def test_what_a_worker_could_not_tell_is_kept_for_it(
    sqlite_backend: Backend, tmp_path: Path, in_process: Callable[[Backend], InProcess]
) -> None:
    here = in_process(load(sqlite_backend))
    (tmp_path / "full.py").write_text(FULL)
    options = ("run", *RANDOM, "--name", "my run", "--budget", 3, "--lease", "2s")
    answer = here(*options, "--objective", "python:full:score")
    assert answer.code == 1
    assert "disk full" in answer.err.splitlines()[-1]
    with sqlite3.connect(tmp_path / "graph.db") as database:
        for what in ("INSERT", "UPDATE"):
            database.execute(f"DROP TRIGGER full_{what}")
    database.close()
    (waiting,) = here("status", "my run", "--json").json["pending"]
    file = tmp_path / "graphbo-my_run-untold.csv"
    assert file.read_text() == f"node,value,note\n{waiting['key']},0.30000000000000004,\n"


def test_and_is_told_later(
    sqlite_backend: Backend, tmp_path: Path, in_process: Callable[[Backend], InProcess]
) -> None:
    test_what_a_worker_could_not_tell_is_kept_for_it(sqlite_backend, tmp_path, in_process)
    here = in_process(sqlite_backend)
    assert here("tell", "my run", "--from", "graphbo-my_run-untold.csv").code == 0
    assert [told["value"] for told in history(here, "my run")] == [0.1 + 0.2]


@on_sqlite
def test_known_values_need_not_be_asked_for(
    here: InProcess, tmp_path: Path, asked: list[int]
) -> None:
    """What a worker kept of a run that was removed, for another one."""
    other = next(key for key in range(SIZE) if key not in asked)
    (tmp_path / "values.csv").write_text(f"node,value,note\n{other},4.5,\n{asked[0]},,broken\n")
    answer = here("tell", "hand", "--known", "--from", "values.csv")
    assert answer.code == 0, answer
    assert "1 known value (1 new to the run)" in answer.out
    assert [(one["key"], one["value"], one["source"]) for one in history(here, "hand")] == [
        (other, 4.5, "warm")
    ]
    assert here("tell", "hand", "--known", "--amend", "--from", "values.csv").code == 2


@on_sqlite
def test_a_file_without_an_end_is_not_read(here: InProcess, asked: list[int]) -> None:
    assert "larger than 20 MB" in here("tell", "hand", "--from", "/dev/zero").err
