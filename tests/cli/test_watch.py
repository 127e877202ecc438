"""``graphbo status --watch``: following a run that other processes work on."""

import json
import re
import signal
from pathlib import Path

import pytest

from graphbo.cli.watch import Status, rate_of
from graphbo.runs import Run, RunSettings
from graphbo.runs.records import RunRecord
from graphbo.runs.registry import runs_in
from graphbo.types import Candidate, Observation, Pending, Proposal
from tests.backends import Backend, SqliteBackend, on_sqlite
from tests.cli.runs import (
    OPTIONS,
    VIEW,
    InProcess,
    end_group,
    load,
    started,
    wait_until,
    write_objective,
)
from tests.cli.test_live import CONTROL, on_a_terminal

pytestmark = pytest.mark.slow

NAME = "shared"
RANDOM = ("run", *OPTIONS, "--strategy", "random", "--name", NAME)
WATCH = ("status", NAME, "--watch", "--interval", "0.05")


def test_follows_two_workers_to_the_end(loaded: Backend, here: InProcess, tmp_path: Path) -> None:
    # Each worker waits at its second evaluation until the other is there.
    spec = write_objective(
        tmp_path,
        "open(f'{os.getpid()}.seen', 'w').close()\n"
        "    while len(calls) > 1 and sum(n.endswith('.seen') for n in os.listdir()) < 2: time.sleep(0.01)\n"
        "    time.sleep(0.2)",
    )
    options = (*RANDOM, "--objective", spec, "--budget", 14, "--worker")
    with started(loaded, tmp_path, *options) as one, started(loaded, tmp_path, *options) as other:
        with loaded.open() as store:
            wait_until(
                lambda: (found := runs_in(store).find(NAME)) is not None and found.pending > 1
            )
        watched = here(*WATCH)
        for worker in (one, other):
            worker.communicate(timeout=60)
            assert worker.returncode == 0
    assert watched.code == 0, watched
    lines = watched.out.splitlines()
    assert f":{one.pid}" in watched.out
    assert f":{other.pid}" in watched.out
    assert re.search(
        r"^running, \d+ of 14 evaluations, best .* at work, .* each, about .* left",
        watched.out,
        re.M,
    )
    assert re.fullmatch(r"finished, 14 of 14 evaluations, best \S+ at \d+", lines[-1])
    told = [line.split() for line in lines if re.match(r" +\d+  \d+  \S+$", line)]
    steps = [int(words[0]) for words in told]
    assert len(steps) == len(set(steps)) >= 8
    assert len(lines) == len(set(lines))  # nothing is said twice


@on_sqlite
def test_json_lines(loaded: Backend, here: InProcess, tmp_path: Path) -> None:
    spec = write_objective(tmp_path, "time.sleep(0.2); assert key % 2, 'no sensor'")
    with started(loaded, tmp_path, *RANDOM, "--objective", spec, "--budget", 8) as worker:
        with loaded.open() as store:
            wait_until(
                lambda: (found := runs_in(store).find(NAME)) is not None and found.pending > 0
            )
        watched = here(*WATCH, "--json")
        worker.communicate(timeout=60)
        assert worker.returncode == 0
    assert watched.code == 0, watched
    looks = [json.loads(line) for line in watched.out.splitlines()]
    assert looks[0]["told"] == []
    assert looks[-1]["state"] == "finished"
    assert (looks[-1]["evaluations"], looks[-1]["pending"]) == (8, [])
    told = [one["step"] for look in looks for one in look["told"]]
    assert told == list(range(9 - len(told), 9))
    assert any(look["pending"] and look["pending"][0]["worker"] for look in looks)
    assert any(look["per_second"] and look["seconds_left"] for look in looks)


@on_sqlite
def test_a_run_that_has_ended_is_shown_once(loaded: Backend, here: InProcess) -> None:
    assert here(*RANDOM, "--objective", "property:score", "--budget", 3).code == 0
    (line,) = here(*WATCH).out.splitlines()
    assert line.startswith("finished, 3 of 3 evaluations, best ")
    assert len(here(*WATCH, "--json").out.splitlines()) == 1


@on_sqlite
def test_stopping_and_interrupting(loaded: Backend, here: InProcess, tmp_path: Path) -> None:
    with loaded.open() as store:
        run = Run.create(store, VIEW, NAME, RunSettings(strategy="random"))
        run.ask()
    with started(loaded, tmp_path, *WATCH) as one, started(loaded, tmp_path, *WATCH) as other:
        assert one.stdout is not None
        assert other.stdout is not None
        first = "open, 0 evaluations, somebody by hand at work\n"
        assert one.stdout.readline() == first
        assert other.stdout.readline() == first
        _, err = end_group(other, signal.SIGINT)
        assert other.returncode == 130
        assert err.splitlines()[-1] == "graphbo: interrupted"
        assert here("stop", NAME).code == 0
        out, _ = one.communicate(timeout=60)
        assert one.returncode == 0
        assert out == "stopped, 0 evaluations\n"


def test_a_run_that_is_removed_meanwhile(sqlite_backend: SqliteBackend, tmp_path: Path) -> None:
    load(sqlite_backend)
    with sqlite_backend.open() as store:
        Run.create(store, VIEW, NAME, RunSettings(strategy="random"))
        with started(sqlite_backend, tmp_path, *WATCH) as watch:
            assert watch.stdout is not None
            assert watch.stdout.readline() == "open, 0 evaluations, nobody is at work\n"
            runs_in(store).clean(NAME)
            _, err = watch.communicate(timeout=60)
    assert watch.returncode == 1
    assert "graphbo: the run 'shared' is gone" in err


def test_on_a_terminal(sqlite_backend: SqliteBackend, tmp_path: Path) -> None:
    load(sqlite_backend)
    spec = write_objective(tmp_path, "time.sleep(0.4); assert key % 2, 'no\\x1b[31m sensor'")
    with sqlite_backend.open() as store:
        Run.create(store, VIEW, NAME, RunSettings(strategy="random", budget=12))
    # Both take as long to start: the worker is at work while it is watched.
    with started(sqlite_backend, tmp_path, "run", "--name", NAME, "--objective", spec):
        code, drawn = on_a_terminal(sqlite_backend, tmp_path, *WATCH, width=80)
    assert code == 0, drawn
    assert "\x1b[31m sensor" not in drawn
    text = CONTROL.sub("", drawn)
    for expected in ("best  ", "last  ", "at work  ", " of 12", " left", "failed  ", "finished"):
        assert expected in text, (expected, text[-2000:])
    assert all(len(line.rstrip()) <= 80 for line in re.split(r"[\r\n]+", text) if " of 12" in line)


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (("status", "nobody", "--watch"), 1, "there is no run 'nobody'"),
        (("status", NAME, "--interval", "1"), 2, "--interval is for --watch"),
        (("status", NAME, "--watch", "--interval", "0"), 2, "--interval"),
    ],
)
@on_sqlite
def test_mistakes_are_one_line(
    loaded: Backend, here: InProcess, words: tuple[str, ...], code: int, expected: str
) -> None:
    answer = here(*words)
    assert answer.code == code
    assert expected in answer.err.splitlines()[-1]
    assert answer.out == ""


def observation(seq: int, second: float, source: str = "run") -> Observation:
    at = f"2026-01-01T00:00:{second:09.6f}000+00:00"  # Neo4j has nanoseconds
    return Observation(seq, seq, seq, 1.0, at=at, source=source)  # type: ignore[arg-type]


def test_the_rate_is_that_of_all_workers_lately() -> None:
    slow = [observation(seq, seq * 1.0) for seq in range(1, 5)]
    assert rate_of(slow) == pytest.approx(1.0)
    fast = [observation(seq, 4 + seq * 0.1) for seq in range(5, 40)]
    assert rate_of([*slow, *fast]) == pytest.approx(10.0)
    assert rate_of(slow[:1]) is None
    assert rate_of([observation(1, 1.0, "warm"), observation(2, 2.0)]) is None
    assert rate_of([observation(1, 1.0), observation(2, 1.0)]) is None


def test_a_stopped_run_ends_with_its_last_evaluation() -> None:
    def look(state: str, left: float | None) -> Status:
        record = RunRecord(NAME, True, VIEW, {}, 0, "graphbo", state=state)  # type: ignore[arg-type]
        candidate = Candidate(1)
        return Status(
            record,
            pending=(Pending(1, candidate, Proposal((candidate,), "initial"), "w", "t", left),),
        )

    assert not look("running", 5.0).ended
    assert not look("stopped", 5.0).ended
    assert look("stopped", -1.0).ended
    assert look("stopped", None).ended
    assert not look("running", -1.0).at_work
