"""Many workers on one run, with no broker but the database."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from graphbo.runs import RunSettings
from tests.backends import Backend, Neo4jBackend
from tests.faults.workers import Task, evaluations, history, load, working

pytestmark = pytest.mark.slow

#: Model fits for each evaluation, at most.
MOST_FITS = 1.1


@pytest.mark.neo4j
def test_eight_workers_share_a_run(neo4j_backend: Neo4jBackend, tmp_path: Path) -> None:
    with neo4j_backend.open() as store:
        load(store)
    settings = RunSettings(strategy="bayes", budget=64, seed=6)
    task = replace(Task.on(neo4j_backend, "eight", tmp_path, settings), seconds=0.3)
    with ExitStack() as opened:
        workers = [opened.enter_context(working(task)) for _ in range(8)]
        found = [worker.outcome() for worker in workers]
    outcomes = [outcome for outcome in found if outcome is not None]
    assert [outcome.reason for outcome in outcomes] == ["budget"] * 8
    history(task)
    assert len(evaluations(task)) == sum(outcome.evaluations for outcome in outcomes) == 64
    assert min(outcome.evaluations for outcome in outcomes) >= 1
    assert sum(outcome.fits for outcome in outcomes) <= MOST_FITS * 64


def test_those_who_live_finish_what_the_dead_began(backend: Backend, tmp_path: Path) -> None:
    """Nobody starts again: the others wait for what is left, and take it over."""
    with backend.open() as store:
        load(store)
    settings = RunSettings(strategy="random", budget=12, seed=6)
    task = replace(Task.on(backend, "some", tmp_path, settings), seconds=0.05)
    with (
        working(replace(task, die_at="objective.done:2")) as first,
        working(replace(task, die_at="tell.before_commit:2")) as second,
        working(task) as survivor,
    ):
        outcome = survivor.outcome()
        assert outcome is not None
        assert first.outcome() is second.outcome() is None
    history(task)
    assert len(evaluations(task)) == 12 + 2
