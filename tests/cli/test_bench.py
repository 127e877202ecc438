"""``graphbo bench``, as a researcher uses it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import graphbo.cli
from graphbo.bench.results import read_results
from tests.cli.commands import COMMAND, Answer

#: Small enough for a test: two tasks, one of them noisy.
TASKS = ("centrality:n=40,m=2", "grid:side=6,noise=0.5")
SMALL = ("--seeds", "2", "--budget", "12", "--jobs", "1", "-o", "out")

Bench = Callable[..., Answer]


@pytest.fixture
def bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Bench:
    """``graphbo bench ARGUMENTS``, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRAPHBO_DATA", raising=False)

    def run(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["graphbo", "bench", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            graphbo.cli.main()
        out, err = capsys.readouterr()
        return Answer(int(ended.value.code or 0), out, err)

    return run


def test_from_tasks_to_tables_and_figures(bench: Bench, tmp_path: Path) -> None:
    answer = bench(*TASKS, "--methods", "bayes:initial=4 local", "-m", "random", *SMALL)

    assert answer.code == 0, answer.err
    assert "12 cells to run" in answer.err
    assert "normalised regret after 12 evaluations" in answer.out
    found = read_results(tmp_path / "out" / "results.csv.gz")
    assert len(found) == 12
    assert {one.method for one in found} == {"bayes:initial=4", "local", "random"}
    assert (tmp_path / "out" / "tables" / "overall.md").exists()
    assert (tmp_path / "out" / "figures" / "tasks.png").exists()


@pytest.mark.slow
def test_again_reuses_everything_and_gives_the_same(bench: Bench, tmp_path: Path) -> None:
    options = (*TASKS, "--methods", "local random", *SMALL)
    bench(*options)
    before = (tmp_path / "out" / "results.csv.gz").read_bytes()
    answer = bench(*options, "--json")

    assert (answer.json["ran"], answer.json["reused"]) == (0, 8)
    assert (tmp_path / "out" / "results.csv.gz").read_bytes() == before
    # Also from the results file alone, as one that comes with a publication.
    (tmp_path / "out" / "cells.jsonl").unlink()
    assert bench(*options, "--json").json["reused"] == 8
    assert (tmp_path / "out" / "results.csv.gz").read_bytes() == before
    assert bench(*options, "--json", "--budget", "13").json["reused"] == 0
    assert bench(*options, "--json", "--fresh").json["ran"] == 8


def test_the_numbers_as_json(bench: Bench) -> None:
    answer = bench(*TASKS, "--methods", "bayes local", *SMALL, "--json")

    found = answer.json
    assert found["reference"] == "bayes"
    assert [one["method"] for one in found["methods"]] == ["bayes", "local"]
    assert [one["task"] for one in found["tasks"]] == [
        "centrality:n=40,m=2",
        "grid:side=6,noise=0.5",
    ]
    point = found["tasks"][1]["methods"][1]["at"][1]
    assert point["evaluations"] == 12
    assert point["regret"]["count"] == 2
    assert {one["verdict"] for one in found["claims"]} <= {"holds", "does not hold"}


@pytest.mark.slow
def test_only_a_report_runs_nothing(bench: Bench, tmp_path: Path) -> None:
    assert "has no results of these tasks" in bench(*TASKS, "--only-report", *SMALL).err
    bench(*TASKS, "--methods", "local random", *SMALL)
    (tmp_path / "out" / "cells.jsonl").unlink()
    figure = tmp_path / "out" / "figures" / "ranks.png"
    figure.unlink()
    answer = bench(*TASKS, "--only-report", *SMALL, "--json")

    assert (answer.code, answer.json["ran"]) == (0, 0)
    assert [one["method"] for one in answer.json["methods"]] == ["local", "random"]
    assert figure.exists()


def test_a_task_without_its_data_is_skipped_and_said(bench: Bench) -> None:
    options = ("influence:data=enron", TASKS[0], "--methods", "local", *SMALL)
    answer = bench(*options, "--json")

    assert answer.code == 0
    assert answer.err.count("Skipped influence:data=enron: the data set enron") == 1
    assert [one["task"] for one in answer.json["skipped"]] == ["influence:data=enron"]
    assert len(answer.json["tasks"]) == 1
    assert bench(*options, "--strict").code == 1


def test_a_failing_method_is_one_line_and_exit_code_1(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("def search(*_):\n    raise ValueError('not today')\n")
    answer = bench(TASKS[0], "--methods", "prototype:fails.py local", *SMALL)

    assert answer.code == 1
    assert answer.err.count("Failed: prototype on centrality:n=40,m=2") == 2
    assert "ValueError: not today" in answer.err
    assert "Traceback" not in answer.err
    assert {one.method for one in read_results(tmp_path / "out" / "results.csv.gz")} == {"local"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nonesuch",), "nonesuch"),
        (("centrality:n=zero",), "centrality"),
        ((TASKS[0], "--methods", "magic"), "no method is called 'magic'"),
        ((TASKS[0], "--methods", "bayes:size=1"), "expected at least 2"),
        ((TASKS[0], "-o", "file"), "file"),
    ],
)
def test_mistakes_are_one_line(
    bench: Bench, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "file").write_text("")
    answer = bench(*arguments)

    assert answer.code in (1, 2)
    assert message in answer.err
    assert "Traceback" not in answer.err
    assert not (tmp_path / "bench-results").exists()


@pytest.mark.slow
def test_interrupted_it_goes_on_from_there(tmp_path: Path) -> None:
    """Ctrl-C on a terminal, where every process gets it."""
    command = [
        *(str(COMMAND), "bench", "centrality:n=60", "centrality:n=70", "--methods", "local"),
        *("--seeds", "200", "--budget", "60", "--jobs", "2", "-o", "out"),
    ]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "/400" in line:
            break
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)

    assert process.returncode == 130, err
    assert "goes on from the cells that are finished" in err
    assert "Traceback" not in err
    assert out == ""
    finished = len((tmp_path / "out" / "cells.jsonl").read_text().splitlines())
    assert 0 < finished < 400
    done = subprocess.run(
        [*command, "--seeds", "2"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "0 finished before" not in done.stderr
