"""Workers that are killed, anywhere: the run goes on as if nothing had happened."""

import random
import time
from dataclasses import replace
from pathlib import Path

import pytest

from graphbo.runs import RunSettings
from tests.backends import Backend
from tests.faults.workers import (
    Outcome,
    Task,
    evaluations,
    history,
    load,
    perform_elsewhere,
    uninterrupted,
    working,
)

pytestmark = pytest.mark.slow

#: Where a worker can die around each of its two commits, and how many steps it gets before it does.
POINTS = {
    "ask.before_commit": 4,
    "ask.after_commit": 4,
    "ask.answered": 4,
    "objective.done": 3,
    "tell.before_commit": 4,
    "tell.after_commit": 4,
    "tell.answered": 4,
}
#: A server takes long to let twenty workers in: before, between and after the commits.
ON_NEO4J = ("ask.after_commit", "tell.before_commit", "tell.after_commit")
#: Points at which a node has been evaluated and nobody knows.
FORGETFUL = ("objective.done", "tell.before_commit")


@pytest.fixture(autouse=True)
def graph(backend: Backend) -> None:
    with backend.open() as store:
        load(store)


def finish(task: Task, most: int = 100) -> int:
    """Start workers until one comes to the end; how many died."""
    for deaths in range(most):
        outcome = perform_elsewhere(task)
        if outcome is not None:
            assert outcome.reason == "budget"
            return deaths
    raise AssertionError(f"not finished after {most} workers")


def test_a_worker_may_die_at_any_point(backend: Backend, tmp_path: Path) -> None:
    settings = RunSettings(strategy="random", budget=10, seed=3)
    expected = uninterrupted(Task.on(backend, "points", tmp_path, settings))
    for point in POINTS if backend.name == "sqlite" else ON_NEO4J:
        task = Task.on(backend, point.replace(".", "-"), tmp_path, settings)
        deaths = finish(replace(task, die_at=f"{point}:{POINTS[point]}"))
        assert deaths >= 2, point
        assert history(task) == expected, point
        lost = deaths if point in FORGETFUL else 0
        assert len(evaluations(task)) == 10 + lost, point


def test_the_model_goes_on_where_it_was(backend: Backend, tmp_path: Path) -> None:
    settings = RunSettings(strategy="bayes", options={"initial": 6}, budget=22, seed=5)
    task = Task.on(backend, "model", tmp_path, settings)
    assert perform_elsewhere(replace(task, die_at="ask.after_commit:9")) is None
    assert finish(replace(task, die_at="tell.after_commit:7")) >= 1
    assert history(task) == uninterrupted(task)
    assert len(evaluations(task)) == 22


def test_many_workers_die_at_random_moments(backend: Backend, tmp_path: Path) -> None:
    """Each is too short-lived for more than a few steps, so the run outlives them all.

    But each has told something: a node at which three in a row die has failed.
    """
    deaths = 20 if backend.name == "sqlite" else 8
    settings = RunSettings(strategy="local", budget=5 * deaths, seed=1)
    task = replace(Task.on(backend, "random", tmp_path, settings), seconds=0.03)
    rng = random.Random(7)
    for _ in range(deaths):
        with working(task) as worker:
            worker.wait_until_ready()
            begun = evaluations(task) if task.log.exists() else []
            while not task.log.exists() or len(evaluations(task)) < len(begun) + 2:
                time.sleep(0.005)
            time.sleep(rng.uniform(0.0, 0.05))
            assert worker.alive
            worker.kill()
    last = perform_elsewhere(replace(task, seconds=0.0))
    assert isinstance(last, Outcome)
    assert history(task) == uninterrupted(task)
    assert len(evaluations(task)) <= 5 * deaths + deaths
