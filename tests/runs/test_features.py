"""Runs with features, the same on every store."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from graphbo.errors import ModelError, RunMismatch
from graphbo.objectives import from_callable
from graphbo.runs import Run, RunSettings
from graphbo.runs.registry import runs_in
from graphbo.runs.worker import work
from graphbo.stores import GraphStore, NodeRow
from graphbo.types import View
from tests.backends import Backend, on_sqlite

VIEW = View(("N",), ("R",), key="id")
AUTO = RunSettings(
    options={"features": "auto", "initial": 6, "size": 8}, objective="property:score", budget=16
)


@pytest.fixture
def store(backend: Backend) -> Iterator[GraphStore]:
    """People on a ring, with all kinds of properties."""
    with backend.open() as store:
        store.create_key(VIEW)
        rows: list[NodeRow] = [
            (
                i,
                {
                    "age": 20 + i * 7 % 60,
                    "member": i % 3 == 0,
                    "kind": "abc"[i % 3],
                    "name": f"person {i}",
                    "vector": [float(i % 5), float(i % 7)],
                    "same": 1,
                    "score": float(i * 7 % 60),
                },
            )
            for i in range(80)
        ]
        store.write_nodes(VIEW, rows)
        store.write_relationships(VIEW, [(i, (i + 1) % 80, {}) for i in range(80)])
        yield store


def features_of(run: Run) -> object:
    return run.record.config["options"]["features"]


def test_auto_takes_what_is_fit_and_finds_the_best(store: GraphStore) -> None:
    run = Run.create(store, VIEW, "search", AUTO)
    assert features_of(run) == ["age", "kind", "member", "vector"]
    assert str(run.usable) == (
        "Features: age (numbers), kind (3 texts), member (true or false), vector (lists of 2 numbers); "
        "left out: name (its texts are too many: 80 among 80 nodes), same (it is the same everywhere)"
    )
    work(run, from_callable(lambda node: float(node * 7 % 60)))
    assert run.best() is not None
    assert run.best().value == 59.0  # type: ignore[union-attr]
    assert "scout" in {one.phase for one in run.history}
    for one in [one for one in run.history if one.phase == "scout"][:2]:
        why = run.why(one.key)
        if one.mean is not None:
            assert sum(part.amount for part in why.parts) == pytest.approx(one.mean)

    # What the run wrote is nobody's feature, nor is what it measured.
    again = Run.create(store, VIEW, "again", AUTO)
    assert features_of(again) == features_of(run)
    # auto is what it was when the run began.
    resumed = Run.open_or_create(store, VIEW, "search", replace(AUTO, budget=17))
    assert features_of(resumed) == features_of(run)
    with pytest.raises(RunMismatch, match="features was"):
        Run.open_or_create(
            store, VIEW, "search", replace(AUTO, options={**AUTO.options, "features": ["age"]})
        )


@on_sqlite
def test_what_cannot_be_used_leaves_no_run_behind(store: GraphStore) -> None:
    for options, message in (
        ({"features": ["name"]}, "'name' can be no feature: its texts are too many"),
        ({"features": ["nothing"]}, "'nothing' can be no feature: no node has it"),
        ({"prior": "kind"}, "'kind' can be no prior: it holds 3 texts, where numbers are expected"),
    ):
        with pytest.raises(ModelError, match=message):
            Run.create(store, VIEW, "search", RunSettings(options=options))
    assert not runs_in(store).listed()


@on_sqlite
def test_a_run_from_before_there_were_scouts_has_none(store: GraphStore) -> None:
    settings = RunSettings(options={"initial": 6, "scouts": 0}, budget=12)
    run = Run.create(store, VIEW, "search", settings)
    options = {
        name: value
        for name, value in run.record.config["options"].items()
        if name not in ("scouts", "features", "prior")
    }
    old = replace(run.record, config={**run.record.config, "options": options})

    assert RunSettings.of(old).options["scouts"] == 0
    assert RunSettings.of(old).create_strategy().options["scouts"] == 0
    with pytest.raises(RunMismatch, match="scouts was 0, not 200"):
        Run.resume(store, old, VIEW, replace(settings, options={"initial": 6}))
