"""``graphbo run`` and the commands that look at a run, on each database."""

import csv
import io
import os
import signal
from pathlib import Path
from typing import ClassVar

import pytest

from graphbo.runs.registry import runs_in
from tests.backends import Backend, SqliteBackend, on_sqlite
from tests.cli.commands import Graphbo, run_graphbo
from tests.cli.runs import (
    OPTIONS,
    SIZE,
    VIEW,
    InProcess,
    end_group,
    history,
    in_this_process,
    load,
    started,
    wait_for_lines,
    wait_until,
    write_objective,
)

SCORE = ("--objective", "property:score")


@pytest.mark.slow
def test_the_life_of_a_run(loaded: Backend, graphbo: Graphbo, here: InProcess) -> None:
    command = ("run", *OPTIONS, *SCORE, "--uri", loaded.uri)
    answer = graphbo(*command, "--budget", 20)
    assert answer.code == 0, answer
    best, *rest = answer.out.splitlines()
    assert best.startswith("Best: ")
    assert any(line.strip().startswith("name: node ") for line in rest)
    assert "The budget is used up: 20 of 20 evaluations" in answer.out
    assert f"graphbo history n-score --uri {loaded.uri}" in answer.out
    lines = [line for line in answer.err.splitlines() if "  best " in line]
    assert len(lines) == 20
    assert lines[0].split()[0] == "1/20"

    again = here(*command)
    assert again.code == 0
    assert "The run 'n-score' is finished" in again.out
    assert "--budget 120" in again.out
    assert "--name NAME" in again.out
    assert again.out.splitlines()[0] == best

    more = here("run", "--name", "n-score", "--budget", 24, "--json")
    assert more.json["evaluations"] == 24
    assert more.json["evaluated_here"] == 4
    assert more.json["ending"] == "budget"
    assert "Resuming n-score (it was finished)" in more.err


def test_looking_at_a_run_and_removing_it(loaded: Backend, here: InProcess) -> None:
    before = loaded.dump()
    assert "There is no run" in here("runs").out
    assert here("run", *OPTIONS, *SCORE, "--strategy", "random", "--budget", 12).code == 0

    (run,) = here("runs", "--json").json
    assert (run["name"], run["state"], run["evaluations"]) == ("n-score", "finished", 12)
    table = here("runs").out.splitlines()
    assert table[1].split()[:2] == ["n-score", "finished"]

    status = here("status", "n-score").out
    for part in ("finished, 12 of 12 evaluations", "maximize property:score", "random, seed 0"):
        assert part in status
    assert here("status", "n-score", "--json").json["state"] == "finished"

    told = here("history", "n-score", "--json").json
    assert [one["step"] for one in told] == list(range(1, 13))
    assert len({one["key"] for one in told}) == 12
    best = max(told, key=lambda one: one["value"])
    rows = list(csv.DictReader(io.StringIO(here("history", "n-score", "--csv").out)))
    assert [int(row["key"]) for row in rows] == [one["key"] for one in told]
    assert float(rows[-1]["best"]) == best["value"]
    assert len(here("history", "n-score").out.splitlines()) == 13

    found = here("best", "n-score", "--json").json
    assert (found["key"], found["value"]) == (best["key"], best["value"])
    assert found["properties"]["name"] == f"node {best['key']}"
    assert f"Best: {best['key']}" in here("best", "n-score").out

    assert "was finished already" in here("stop", "n-score").out
    refused = loaded.dump()
    assert "--yes" in here("clean", "n-score").failed_with_one_line()
    assert loaded.dump() == refused
    assert here("clean", "n-score", "--yes", "--json").json["observations"] == 12
    assert loaded.dump() == before


def test_a_dry_run_says_what_would_be_written_and_writes_nothing(
    loaded: Backend, here: InProcess
) -> None:
    before = loaded.dump()
    answer = here("run", *OPTIONS, *SCORE, "--dry-run")
    assert answer.code == 0
    for name in (
        *("graphboValue", "graphboStep", "graphboMean", "graphboStd", "graphboAcquisition"),
        *("graphboMeanNow", "graphboStdNow", "graphboAcquisitionNow"),
        *("GraphboObserved", "GraphboBest", "GraphboPending", "GraphboRegion", "GraphboRun"),
        *("GRAPHBO_OBSERVED", "GRAPHBO_PENDING", "GRAPHBO_FAILED", "GRAPHBO_REGION"),
    ):
        assert f"  {name}  " in answer.out
    assert ("graphbo_observed_step" in answer.out) == (loaded.name == "neo4j")
    writes = here("run", *OPTIONS, *SCORE, "--dry-run", "--json", "--write-prefix", "x").json
    assert next(iter(writes["properties"])) == "xValue"
    assert list(writes["labels"]) == ["XObserved", "XBest", "XPending", "XRegion"]
    bare = here("run", *OPTIONS, *SCORE, "--dry-run", "--no-labels").out
    assert "labels: none" in bare
    assert loaded.dump() == before


@on_sqlite
def test_a_dry_run_names_what_the_run_then_writes(loaded: Backend, here: InProcess) -> None:
    options = (*OPTIONS, *SCORE, "--strategy", "random", "--budget", 3)
    here("run", *options, "--name", "first")
    announced = here("run", *options, "--name", "second", "--dry-run", "--json").json
    assert next(iter(announced["properties"])) == "graphbo2Value"
    here("run", *options, "--name", "second")
    with loaded.open() as store:
        assert runs_in(store).get("second").prefix == "graphbo2"
    text = str(loaded.dump())
    assert "graphbo2Value" in text
    assert "graphbo2Step" in text


class TestBadInput:
    """One clear line, and nothing changes."""

    CASES: ClassVar = [
        (("status", "nothing"), "there is no run 'nothing'"),
        (("best", "nothing"), "there is no run 'nothing'"),
        (("history", "nothing"), "there is no run 'nothing'"),
        (("stop", "nothing"), "there is no run 'nothing'"),
        (("clean", "nothing", "--yes"), "there is no run 'nothing'"),
        (("ask", "nothing"), "--label"),
        (("tell", "nothing", "1", "2"), "there is no run 'nothing'"),
        (("release", "nothing", "1"), "there is no run 'nothing'"),
        (("run", "--name", "nothing"), "there is no run 'nothing'"),
        (("run", "--name", "nothing", "--worker"), "there is no run 'nothing'"),
        (("run", *OPTIONS), "--objective"),
        (("run", *OPTIONS, "--objective", "magic"), "of no known kind"),
        (("run", *OPTIONS, "--objective", "python:nowhere:f"), "no module 'nowhere'"),
        (("run", *OPTIONS, "--objective", "cypher:none.cypher"), "cannot be read"),
        (("run", "--label", "Nothing", "--rel", "R", *SCORE), "no node has the label 'Nothing'"),
        (("run", *OPTIONS, *SCORE, "--start", "nobody"), "'nobody'"),
        (("run", *OPTIONS, *SCORE, "--reveal", "evaluated"), "name a start node"),
        (("run", *OPTIONS, *SCORE, "--option", "initial=abc"), "expected an integer"),
        (("run", *OPTIONS, *SCORE, "--option", "initial=true"), "expected an integer"),
        (("run", *OPTIONS, *SCORE, "--option", "apart=maybe"), "expected true or false"),
        (("run", *OPTIONS, *SCORE, "--option", "apart=1"), "expected true or false"),
        (("run", *OPTIONS, *SCORE, "--option", "initial"), "NAME=VALUE"),
        (("run", *OPTIONS, *SCORE, "--option", "magic=1"), "has no option magic"),
        (("run", *OPTIONS, *SCORE, "--option", "initial=0"), "at least 1"),
        (("run", *OPTIONS, *SCORE, "--strategy", "random", "--kernel", "matern"), "kernel"),
        (("run", *OPTIONS, *SCORE, "--warm-start", "nothing"), "no node"),
        (("run", *OPTIONS, *SCORE, "--warm-start", "name"), "expected a number"),
        (("run", *OPTIONS, *SCORE, "--write-prefix", "not a word"), "not a word"),
        (("run", *OPTIONS, *SCORE, "--executor", "magic://x"), "dask://HOST:PORT"),
        (("run", *OPTIONS, *SCORE, "--key", "name"), "uniqueness constraint"),
    ]
    USAGE: ClassVar = [
        ("run",),
        ("run", *OPTIONS, *SCORE, "--budget", "-5"),
        ("run", *OPTIONS, *SCORE, "--budget", "many"),
        ("run", *OPTIONS, *SCORE, "--time", "soon"),
        ("run", *OPTIONS, *SCORE, "--time", "0"),
        ("run", *OPTIONS, *SCORE, "--noise", "-1"),
        ("run", *OPTIONS, *SCORE, "--strategy", "magic"),
        ("run", *OPTIONS, *SCORE, "--kernel", "magic"),
        ("run", *OPTIONS, *SCORE, "--workers", "0"),
        ("history", "x", "--csv", "--json"),
        ("tell", "x"),
        ("tell", "x", "1", "2", "3"),
        ("tell", "x", "1", "2", "--failed", "why"),
        ("release", "x"),
    ]

    @on_sqlite
    def test_is_one_clear_line_and_changes_nothing(self, loaded: Backend, here: InProcess) -> None:
        before = loaded.dump()
        for arguments, expected in self.CASES:
            line = here(*arguments).failed_with_one_line()
            assert expected in line, arguments
            assert len(line) < 400
        assert loaded.dump() == before

    @on_sqlite
    def test_of_a_kind_that_click_finds_has_exit_code_2(
        self, loaded: Backend, here: InProcess
    ) -> None:
        before = loaded.dump()
        for arguments in self.USAGE:
            answer = here(*arguments)
            assert answer.code == 2, (arguments, answer)
            assert answer.err.count("Error: ") == 1
        assert loaded.dump() == before

    @on_sqlite
    def test_contradictions_of_a_run_are_refused_with_the_difference(
        self, loaded: Backend, here: InProcess
    ) -> None:
        options = ("run", *OPTIONS, *SCORE, "--budget", 2, "--option", "initial=2")
        assert here(*options).code == 0
        before = loaded.dump()
        more = ("run", "--name", "n-score", "--budget", 4)
        for changes, expected in [
            (("--seed", "7"), "seed was 0, not 7"),
            (("--minimize",), "direction was 'maximize', not 'minimize'"),
            (("--strategy", "random"), "strategy was 'bayes', not 'random'"),
            (("--kernel", "matern"), "kernel was 'auto', not 'matern'"),
            (("--option", "initial=3"), "initial was 2, not 3"),
            (("--objective", "property:name"), "objective was 'property:score'"),
            (("--direction", "out"), "view was"),
            (("--noise", "0.5"), "noise was None, not 0.5"),
            (("--no-labels",), "labels was True"),
        ]:
            line = here(*more, *changes).failed_with_one_line()
            assert here(*more, *changes, "--dry-run").failed_with_one_line() == line
            assert expected in line
            assert "--name" in line
        assert "is finished" in here(*more, "--worker").out
        assert loaded.dump() == before


def test_a_missing_file_is_not_created(sqlite_backend: SqliteBackend, tmp_path: Path) -> None:
    answer = run_graphbo(sqlite_backend, tmp_path, "run", *OPTIONS, *SCORE)
    assert "graphbo load" in answer.failed_with_one_line()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@on_sqlite
def test_the_same_seed_gives_the_same_history(
    loaded: Backend, graphbo: Graphbo, here: InProcess
) -> None:
    options = ("run", *OPTIONS, *SCORE, "--budget", 20, "--seed", 5)
    assert graphbo(*options, "--uri", loaded.uri).code == 0
    first = history(here, "n-score")
    assert here("clean", "n-score", "--yes").code == 0
    assert here(*options).code == 0
    assert history(here, "n-score") == first
    assert len(first) == 20


def test_the_same_seed_gives_the_same_history_in_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    histories = []
    for number in range(2):
        backend = load(SqliteBackend(tmp_path / f"{number}.db"))
        here = in_this_process(backend, tmp_path, monkeypatch, capsys)
        assert here("run", *OPTIONS, *SCORE, "--budget", 20, "--seed", 5).code == 0
        histories.append(history(here, "n-score"))
    assert histories[0] == histories[1]


@pytest.mark.slow
def test_a_run_that_is_killed_and_resumed_is_as_if_nothing_happened(
    loaded: Backend, here: InProcess, tmp_path: Path
) -> None:
    spec = write_objective(tmp_path, "time.sleep(0.05)")
    options = (*OPTIONS, "--objective", spec, "--budget", 24, "--seed", 3)
    with started(loaded, tmp_path, "run", *options, "--name", "broken") as process:
        wait_for_lines(process, 13)
        end_group(process, signal.SIGKILL)
    answer = here("run", "--name", "broken")
    assert answer.code == 0, answer
    assert "Resuming broken: " in answer.err
    assert "Others are at work" not in answer.err
    assert here("run", *options, "--name", "whole").code == 0
    broken = history(here, "broken")
    assert len(broken) == 24
    assert broken == history(here, "whole")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "number", "code"),
    [
        ("sqlite", signal.SIGINT, 130),
        ("sqlite", signal.SIGTERM, 143),
        pytest.param("neo4j", signal.SIGTERM, 143, marks=pytest.mark.neo4j),
    ],
    indirect=["backend"],
)
def test_a_signal_keeps_everything_and_says_how_to_resume(
    loaded: Backend, here: InProcess, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    spec = write_objective(tmp_path, "time.sleep(60 * (len(calls) > 2))")
    options = ("--objective", spec, "--budget", 6, "--strategy", "random", "--timeout", "10m")
    with started(loaded, tmp_path, "run", *OPTIONS, *options) as process, loaded.open() as store:
        wait_for_lines(process, 2)
        wait_until(lambda: runs_in(store).get("n-measuring-score").pending == 1)
        os.kill(process.pid, number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in err
    assert "Saved: 2 of 6 evaluations. What was being evaluated (" in err
    (command,) = (line for line in err.splitlines() if line.startswith("Resume: "))
    words = command.removeprefix("Resume: graphbo ").split()
    assert words == ["run", "--name", "n-measuring-score", "--timeout", "600", "--uri", loaded.uri]
    waiting = here("status", words[2], "--json").json["pending"]
    assert [one["step"] for one in waiting] == [3]
    write_objective(tmp_path)
    assert here(*words).code == 0
    told = history(here, words[2])
    assert [one["step"] for one in told] == [1, 2, 3, 4, 5, 6]
    assert told[2]["key"] == waiting[0]["key"]


@on_sqlite
def test_known_values_cost_nothing(loaded: Backend, here: InProcess) -> None:
    with loaded.open() as store:
        rows = [(node, {"known": 10.0 - abs(node - 42) / 10}) for node in range(0, SIZE, 10)]
        store.write_nodes(VIEW, rows)
    options = ("run", *OPTIONS, *SCORE, "--warm-start", "known", "--option", "initial=6")
    result = here(*options, "--budget", 4, "--json")
    assert result.code == 0, result
    assert (result.json["evaluations"], result.json["warm"]) == (4, 6)
    told = here("history", "n-score", "--json").json
    assert [one["source"] for one in told] == ["warm"] * 6 + ["run"] * 4
    assert {one["phase"] for one in told[6:]} == {"model"}
    assert "known" in here("history", "n-score").out


@on_sqlite
def test_failures_are_recorded_and_too_many_end_the_run(
    loaded: Backend, here: InProcess, tmp_path: Path
) -> None:
    (tmp_path / "failing.py").write_text(
        "def score(key):\n    raise ValueError('no\\n\\x1b[31msensor')\n"
    )
    options = ("run", *OPTIONS, "--objective", "python:failing:score", "--strategy", "random")
    answer = here(*options, "--max-failures", 3)
    assert answer.code == 1
    assert "3 evaluations failed" in answer.err.splitlines()[-1]
    assert "\x1b" not in answer.err
    status = here("status", "n-failing-score")
    assert "failed     3, the last at " in status.out
    assert here("best", "n-failing-score").failed_with_one_line().count("has no value yet") == 1
    told = here("history", "n-failing-score", "--json").json
    assert all(one["value"] is None and "ValueError" in one["error"] for one in told)


@on_sqlite
def test_a_broken_objective_ends_a_run_soon(
    loaded: Backend, here: InProcess, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text(
        "def score(key):\n    if key < 100: raise ValueError('the\\nwhole \x1b[31mstory')\n"
    )
    options = ("run", *OPTIONS, "--objective", "python:broken:score", "--strategy", "random")
    answer = here(*options, "--workers", 1, "--budget", 20)
    assert (answer.code, answer.out) == (1, "")
    *lines, last = answer.err.splitlines()
    assert last.startswith("graphbo: 10 evaluations in a row failed; the last one, at ")
    assert "ValueError: the; mend the objective and run again" in last
    assert "    if key < 100: raise ValueError('the\\nwhole  [31mstory')" in lines
    assert "whole  [31mstory" in lines
    assert lines[-3].startswith("Once the objective is mended: graphbo retry n-broken-score")
    assert lines[-2].startswith("Another objective takes a run of its own")
    assert lines[-1].startswith("Then:   graphbo run --name n-broken-score")
    assert here("status", "n-broken-score", "--json").json["state"] == "running"

    # Who knows that much will fail says so; but a run without any value is no success.
    for _ in range(2):
        answer = here("run", "--name", "n-broken-score", "--keep-going")
        assert (answer.code, answer.out) == (1, "")
        last = answer.err.splitlines()[-1]
        assert last.startswith("graphbo: not one evaluation gave a value; the last one, at ")
        assert "graphbo retry n-broken-score" in answer.err
    assert here("status", "n-broken-score", "--json").json["failed"] == 20


@on_sqlite
def test_limits_other_than_the_budget(loaded: Backend, here: InProcess, tmp_path: Path) -> None:
    random = (*OPTIONS, *SCORE, "--strategy", "random", "--json")
    patient = here("run", *random, "--name", "patient", "--patience", 5).json
    assert patient["ending"] == "patience"
    assert patient["evaluations"] - patient["best"]["step"] == 5
    spec = write_objective(tmp_path, "time.sleep(0.1)")
    options = ("--objective", spec, "--name", "timed", "--time", "0.3s")
    timed = here("run", *random, *options).json
    assert timed["ending"] == "time"
    assert timed["state"] == "running"
    assert 1 <= timed["evaluations"] <= 4
    everything = here("run", *random, "--name", "all", "--budget", 1000).json
    assert (everything["ending"], everything["evaluations"]) == ("exhausted", SIZE)
    assert everything["best"]["key"] == 42


@on_sqlite
def test_an_unknown_graph_and_small_values(loaded: Backend, here: InProcess) -> None:
    options = ("--start", "3", "--reveal", "evaluated", "--minimize", "--budget", 12)
    result = here("run", *OPTIONS, *SCORE, *options, "--json").json
    assert (result["direction"], result["start"], result["reveal"]) == (
        "minimize",
        [3],
        "evaluated",
    )
    told = here("history", "n-score", "--json").json
    assert told[0]["key"] == 3
    assert result["best"]["value"] == min(one["value"] for one in told)
    assert told[-1]["best"] == result["best"]["value"]


@on_sqlite
def test_under_noise_the_answer_is_what_the_model_believes(
    loaded: Backend, here: InProcess
) -> None:
    options = ("--noise", "0.5", "--budget", 14)
    result = here("run", *OPTIONS, *SCORE, *options, "--json").json
    assert result["options"]["noise"] == 0.5
    assert result["best"]["mean"] is not None
    assert here("best", "n-score", "--json").json["mean"] == pytest.approx(result["best"]["mean"])
    assert "believed to be" in here("best", "n-score").out


@on_sqlite
def test_every_command_explains_itself(here: InProcess) -> None:
    commands = ("run", "ask", "tell", "release", "status", "runs", "best", "history", "stop")
    for command in (*commands, "clean"):
        answer = here(command, "--help")
        assert answer.code == 0
        assert "--uri" in answer.out
        assert "--json" in answer.out
    assert "[auto|" in here("run", "--help").out


@on_sqlite
def test_a_property_that_no_node_has_is_no_objective(loaded: Backend, here: InProcess) -> None:
    before = loaded.dump()
    line = here("run", *OPTIONS, "--objective", "property:scoer").failed_with_one_line()
    assert "has a property 'scoer'" in line
    assert loaded.dump() == before
