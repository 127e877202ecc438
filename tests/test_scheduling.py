"""What ``tests/scheduling.py`` says of the tests is true of those that there are."""

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import pytest

from tests.scheduling import LONG_TERM, ORDER, WITH_A_SERVER, Scheduling


def test_what_is_named_is_there(pytestconfig: pytest.Config) -> None:
    named = (*ORDER, *WITH_A_SERVER)
    assert [path for path in named if not (pytestconfig.rootpath / path).exists()] == []


def test_all_that_need_a_server_are_named(request: pytest.FixtureRequest) -> None:
    needing = {
        item.nodeid.partition("::")[0]
        for item in request.session.items
        if item.get_closest_marker("neo4j")
    }
    assert needing <= set(WITH_A_SERVER)


def test_all_that_need_the_older_server_stay_together(request: pytest.FixtureRequest) -> None:
    needing = {
        item.nodeid.partition("::")[0]
        for item in request.session.items
        if isinstance(item, pytest.Function) and "long_term" in f"{item.nodeid} {item.fixturenames}"
    }
    assert needing <= set(LONG_TERM)


class Process:
    """One that runs what it is sent, when it is told to."""

    def __init__(self, name: str) -> None:
        self.gateway = Namespace(id=name)
        self.shutting_down = False
        self.waiting: list[int] = []
        self.done: list[int] = []

    def send_runtest_some(self, numbers: list[int]) -> None:
        self.waiting += numbers

    def shutdown(self) -> None:
        self.shutting_down = True

    @property
    def able(self) -> bool:
        """The last one waits until there is another, or none will be."""
        return len(self.waiting) > (not self.shutting_down)


def run(tests: Sequence[str], count: int, expression: str = "") -> list[set[str]]:
    """Which files each process gets."""
    options = Namespace(markexpr=expression, tx=["popen"] * count, loadscopereorder=True)
    config: Any = Namespace(option=options, getvalue=lambda name: getattr(options, name))
    scheduling = Scheduling(config, None)
    processes = [Process(f"gw{number}") for number in range(count)]
    for process in processes:
        scheduling.add_node(process)
        scheduling.add_node_collection(process, tests)
    scheduling.schedule()
    while able := [process for process in processes if process.able]:
        for process in able:
            number = process.waiting.pop(0)
            process.done.append(number)
            scheduling.mark_test_complete(process, number)
    done = [number for process in processes for number in process.done]
    assert sorted(done) == list(range(len(tests)))
    assert scheduling.tests_finished
    return [{tests[number].partition("::")[0] for number in one.done} for one in processes]


def in_files(files: Sequence[str], each: int) -> list[str]:
    return [f"{file}::test_{number}" for file in files for number in range(each)]


WITHOUT = [f"tests/search/test_{number}.py" for number in range(9)]


@pytest.mark.parametrize("each", [1, 2, 7])
def test_two_of_three_processes_start_a_server(each: int) -> None:
    *serving, other = run(in_files([*WITH_A_SERVER, *WITHOUT], each), 3)
    assert set.union(*serving) >= set(WITH_A_SERVER)
    assert other
    assert other <= set(WITHOUT)


@pytest.mark.parametrize("each", [1, 2, 7])
def test_where_nobody_starts_one_all_do_everything(each: int) -> None:
    for files in run(in_files(WITH_A_SERVER, each), 3, "not neo4j and not slow"):
        assert len(files) >= 2


@pytest.mark.parametrize("files", [WITH_A_SERVER, WITH_A_SERVER[-2:], WITHOUT])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_nothing_is_left_out(files: Sequence[str], count: int) -> None:
    run(in_files(files, 3), count)
