"""Cells are run once, whatever happens in between."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from graphbo.bench.cells import JOURNAL, Cell, Finished, Journal
from graphbo.bench.engine import Event, Skipped, run_cells, units_of
from graphbo.bench.tasks.base import Task
from graphbo.errors import BenchError
from tests.bench.support import Broken, Missing, Ring, cells

RING = Ring()


def run(
    wanted: Sequence[Cell], directory: Path, *tasks: Task, jobs: int = 1
) -> tuple[list[Event], dict[str, Finished]]:
    journal = Journal(directory)
    known = {task.spec: task for task in tasks or (RING,)}
    events = list(run_cells(units_of(wanted, known, journal.read()), journal, jobs=jobs))
    return events, journal.read()


def test_every_cell_is_run_and_remembered(tmp_path: Path) -> None:
    wanted = cells(RING)
    events, done = run(wanted, tmp_path)

    assert len(events) == len(wanted) == 4
    assert set(done) == {cell.key for cell in wanted}
    assert all(len(one.regret) == 12 for one in done.values())


def test_finished_cells_are_not_run_again(tmp_path: Path) -> None:
    run(cells(RING), tmp_path)

    assert run(cells(RING), tmp_path)[0] == []
    more, _ = run(cells(RING, methods=("local", "random", "bfs")), tmp_path)
    assert [event[0].method.label for event in more if not isinstance(event, Skipped)] == [
        "bfs"
    ] * 2


@pytest.mark.parametrize(
    "changed",
    [
        cells(RING, budget=13),
        cells(RING, methods=("bayes:initial=4,size=10", "bayes:initial=4,size=11")),
        cells(Ring(41)),
    ],
    ids=["budget", "option", "parameter"],
)
def test_a_change_is_another_cell(tmp_path: Path, changed: list[Cell]) -> None:
    run(cells(RING), tmp_path)
    tasks = {RING.spec: RING, Ring(41).spec: Ring(41)}

    missing = units_of(changed, tasks, Journal(tmp_path).read())

    assert sum(len(unit.cells) for unit in missing) == len(changed) == 4


def test_equal_methods_by_two_names_are_run_once(tmp_path: Path) -> None:
    wanted = cells(RING, methods=("paper:initial=4", "paper:initial=4,size=100"), seeds=1)

    assert len(wanted) == 2
    assert len(run(wanted, tmp_path)[0]) == 1


@pytest.mark.slow
def test_as_many_processes_as_one_likes_give_the_same(tmp_path: Path) -> None:
    wanted = cells(RING, Ring(50, 0.5), methods=("bayes:initial=4", "local"))
    tasks = (RING, Ring(50, 0.5))
    _, one = run(wanted, tmp_path / "one", *tasks)
    _, two = run(wanted, tmp_path / "two", *tasks, jobs=2)

    assert one.keys() == two.keys()
    for key, mine in one.items():
        assert np.array_equal(mine.regret, two[key].regret)
        assert np.array_equal(mine.observed_regret, two[key].observed_regret)
        assert np.array_equal(mine.revealed, two[key].revealed)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_failing_task_is_remembered_as_that_and_the_others_go_on(
    tmp_path: Path, jobs: int
) -> None:
    wanted = cells(Broken(), RING)
    events, done = run(wanted, tmp_path, Broken(), RING, jobs=jobs)

    failed = [one for one in events if not isinstance(one, Skipped) and one[1].error]
    assert len(failed) == 4
    assert {one[1].error for one in failed} == {"ZeroDivisionError: of all things"}
    assert len(done) == 4
    lines = [json.loads(line) for line in (tmp_path / JOURNAL).read_text().splitlines()]
    assert sum("of all things" in line.get("traceback", "") for line in lines) == 4


def test_a_failing_method_does_not_stop_the_others(tmp_path: Path) -> None:
    path = tmp_path / "fails.py"
    path.write_text("def search(*_):\n    raise ValueError('no')\n")
    events, done = run(cells(RING, methods=(f"prototype:{path}", "local")), tmp_path)

    assert len(events) == 4
    assert len(done) == 2
    # What failed is tried again.
    assert len(run(cells(RING, methods=(f"prototype:{path}", "local")), tmp_path)[0]) == 2


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_task_without_its_data_is_skipped(tmp_path: Path, jobs: int) -> None:
    events, done = run(cells(Missing(), RING), tmp_path, Missing(), RING, jobs=jobs)

    assert {one for one in events if isinstance(one, Skipped)} == {
        Skipped("missing", "there is no such file")
    }
    assert len(done) == 4


@pytest.mark.slow
class TestKilled:
    """Whatever was finished before stays."""

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_in_the_middle(self, tmp_path: Path, jobs: int) -> None:
        wanted = cells(RING, Ring(50), seeds=3)
        tasks = {RING.spec: RING, Ring(50).spec: Ring(50)}
        journal = Journal(tmp_path)
        events = run_cells(units_of(wanted, tasks, {}), journal, jobs=jobs)
        next(events)
        events.close()
        before = journal.read()

        assert before
        rest, after = run(wanted, tmp_path, *tasks.values(), jobs=jobs)
        assert len(rest) == len(wanted) - len(before)
        assert len(after) == len(wanted)

    def test_in_the_middle_of_a_line(self, tmp_path: Path) -> None:
        wanted = cells(RING)
        run(wanted, tmp_path)
        path = tmp_path / JOURNAL
        path.write_bytes(path.read_bytes()[:-40])

        rest, after = run(wanted, tmp_path)

        assert len(rest) == 1
        assert len(after) == len(wanted)
        assert len(Journal(tmp_path).read()) == len(wanted)

    def test_a_worker(self, tmp_path: Path) -> None:
        path = tmp_path / "dies.py"
        path.write_text("import os\n\ndef search(*_):\n    os._exit(9)\n")
        wanted = cells(RING, methods=(f"prototype:{path}",))

        with pytest.raises(BenchError, match="a process of the comparison died"):
            run(wanted, tmp_path, jobs=2)


def test_seeds_come_before_tasks() -> None:
    """All tasks have been met early: an estimate needs that, and so does who stops half-way."""
    tasks = {RING.spec: RING, Ring(50).spec: Ring(50)}
    found = units_of(cells(*tasks.values()), tasks, {})

    assert [(unit.seed, unit.task) for unit in found] == [
        (0, RING),
        (0, Ring(50)),
        (1, RING),
        (1, Ring(50)),
    ]


def test_what_is_read_is_what_was_run(tmp_path: Path) -> None:
    events, done = run(cells(RING, seeds=1), tmp_path)
    for event in events:
        assert not isinstance(event, Skipped)
        ran, read = event[1], done[event[0].key]
        assert (ran.spread, ran.seconds) == (read.spread, read.seconds)
        assert np.array_equal(ran.milliseconds, read.milliseconds)
