"""Suites are what they say, and can be run."""

from dataclasses import replace

import pytest

from graphbo.bench.methods import METHODS
from graphbo.bench.plan import each_task, plan
from graphbo.bench.suites import SUITES
from graphbo.bench.tasks import parse_task
from graphbo.errors import BenchError, TaskError


@pytest.mark.parametrize("name", SUITES)
def test_every_task_and_method_exists(name: str) -> None:
    found = plan([name])
    groups = [replace(group, tasks=each_task(group.tasks)) for group in SUITES[name].groups]
    # Specs that mean the same are one cell.
    wanted = {
        (parse_task(task).spec, method, seed)
        for group in groups
        for task in group.tasks
        for method in group.methods
        for seed in range(SUITES[name].seeds)
    }

    assert len(found.cells) == len(wanted)


def test_the_paper_suite_compares_all_methods_on_every_task() -> None:
    suite = SUITES["paper"]

    assert {group.methods for group in suite.groups} == {METHODS["all"]}
    assert suite.seeds == 10
    assert {group.budget for group in suite.groups} == {100}


def test_smoke_needs_no_data() -> None:
    for group in SUITES["smoke"].groups:
        for spec in group.tasks:
            assert parse_task(spec).problem(0).n > 0


def test_choices_go_before_those_of_the_suite() -> None:
    found = plan(
        ["smoke", "teams:people=5"], methods=["local", "dfs"], seeds=3, first_seed=7, budget=9
    )

    assert found.methods == ["local", "dfs"]
    assert list(found.seeds) == [7, 8, 9]
    assert {cell.budget for cell in found.cells} == {9}
    assert [group.name for group in found.groups] == ["smoke", "tasks"]
    assert found.groups[1].tasks == ("teams:people=5",)


def test_nothing_and_nonsense_are_refused() -> None:
    with pytest.raises(BenchError, match="nothing to compare"):
        plan([])
    with pytest.raises(TaskError, match="nonesuch"):
        plan(["teams:nonesuch=1"])


def test_what_is_neither_a_suite_nor_a_task_is_told_both() -> None:
    with pytest.raises(
        BenchError, match=r"no suite or task 'papr': the suites are smoke.*the tasks centrality"
    ):
        plan(["papr"])
