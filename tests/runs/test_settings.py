"""Strategies and kernels of one's own: the database has their names, whoever resumes the run brings them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from graphbo.errors import ModelError, RunError, RunMismatch
from graphbo.runs import Run, RunSettings, refuse_difference
from graphbo.runs.records import PLAIN_SCHEMA, VIEW_SCHEMA, RunRecord
from graphbo.runs.registry import runs_in
from graphbo.search.graph import Graph
from graphbo.search.kernels import Diffusion
from graphbo.search.spectrum import Spectrum
from graphbo.search.strategies import Option, Situation, create_strategy
from graphbo.search.strategies.bayes import BayesConfig, BayesStrategy
from graphbo.stores import GraphStore, open_store
from graphbo.types import Candidate, NodeKey, Proposal, View
from graphbo.types.notation import read_condition, read_path

VIEW = View(("N",), ("R",), key="id")


class Ascending:
    """The nodes by their numbers."""

    name: ClassVar[str] = "ascending"

    def __init__(self, first: int = 0) -> None:
        self.first = first

    @property
    def options(self) -> Mapping[str, Option]:
        return {"first": self.first}

    def propose(self, situation: Situation, graph: Graph) -> Proposal:
        free = [key for key in range(self.first, 30) if key not in situation.taken]
        return Proposal(tuple(Candidate(key) for key in free), "search")


def smooth(spectrum: Spectrum) -> Diffusion:
    return Diffusion.scaled(spectrum)


SMOOTH = f"{__name__}:smooth"


@pytest.fixture
def path() -> Iterator[GraphStore]:
    with open_store("sqlite::memory:") as store:
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(29)])
        yield store


def advance(run: Run, steps: int) -> list[NodeKey]:
    asked = []
    for _ in range(steps):
        pending = run.ask().pending
        assert pending is not None
        asked.append(pending.key)
        run.tell(float(int(pending.key) % 7), step=pending.step)
    return asked


def test_a_strategy_may_be_an_object(path: GraphStore) -> None:
    settings = RunSettings(strategy=Ascending(3))
    assert advance(Run.create(path, VIEW, "r", settings), 2) == [3, 4]
    config = runs_in(path).get("r").config
    assert (config["strategy"], config["options"]) == ("ascending", {"first": 3})
    assert advance(Run.open_or_create(path, VIEW, "r", settings), 2) == [5, 6]
    assert advance(Run.open(path, "r", settings=settings), 1) == [7]


def test_it_is_given_again_to_resume(path: GraphStore) -> None:
    Run.create(path, VIEW, "r", RunSettings(strategy=Ascending(3)))
    with pytest.raises(ModelError, match="no strategy is called 'ascending': choose from bayes"):
        Run.open(path, "r").ask()
    with pytest.raises(RunMismatch, match="first was 3, not 4"):
        Run.open_or_create(path, VIEW, "r", RunSettings(strategy=Ascending(4)))
    with pytest.raises(RunMismatch, match="strategy was 'ascending', not 'random'"):
        Run.open_or_create(path, VIEW, "r", RunSettings(strategy="random"))


def test_an_object_has_its_options(path: GraphStore) -> None:
    with pytest.raises(RunError, match=r"'ascending' is given as an object, .*: make it with size"):
        RunSettings(strategy=Ascending(), options={"size": 3})


def test_an_object_of_ours_needs_not_be_given_again(path: GraphStore) -> None:
    settings = RunSettings(strategy=BayesStrategy(BayesConfig(initial=3, size=10)))
    advance(Run.create(path, VIEW, "r", settings), 4)
    again = Run.open(path, "r")
    assert again.strategy.options == create_strategy("bayes", {"initial": 3, "size": 10}).options
    Run.open_or_create(path, VIEW, "r", RunSettings(options={"initial": 3, "size": 10}))


def test_a_kernel_may_be_a_function(path: GraphStore) -> None:
    settings = RunSettings(options={"initial": 3, "size": 10, "kernel": smooth})
    run = Run.create(path, VIEW, "r", settings)
    advance(run, 5)
    assert run.history[-1].phase == "model"
    assert runs_in(path).get("r").config["options"]["kernel"] == SMOOTH
    advance(Run.open_or_create(path, VIEW, "r", settings), 1)
    with pytest.raises(ModelError, match=f"the kernel '{SMOOTH}' is a function that only"):
        Run.open(path, "r").ask()
    with pytest.raises(RunMismatch, match=f"kernel was '{SMOOTH}', not 'diffusion'"):
        Run.open_or_create(
            path, VIEW, "r", RunSettings(options={**settings.options, "kernel": "diffusion"})
        )


def test_a_function_finds_what_the_kernel_that_it_makes_finds(path: GraphStore) -> None:
    histories = []
    for name, kernel in {"one": smooth, "other": "diffusion"}.items():
        options = {"initial": 3, "size": 10, "kernel": kernel}
        run = Run.create(path, VIEW, name, RunSettings(options=options))
        advance(run, 8)
        histories.append([(one.key, one.mean, one.std) for one in run.history])
    assert histories[0] == histories[1]


@pytest.mark.parametrize(
    "wrong", [{"budget": -5}, {"budget": "x"}, {"budget": 2.5}, {"seed": -1}, {"seed": True}]
)
def test_what_no_database_may_hold_is_refused_before_it_is_written(
    path: GraphStore, wrong: dict[str, Any]
) -> None:
    run = Run.create(path, VIEW, "r", RunSettings(strategy="random", budget=3))
    before = runs_in(path).get("r")
    with pytest.raises(RunError, match="expected a whole number from 0"):
        RunSettings(**wrong)
    with pytest.raises(RunError, match="cannot be the"):
        runs_in(path).change(run.name, **wrong)
    assert runs_in(path).get("r") == before


def test_a_goal_that_is_no_goal_is_not_taken_for_one(path: GraphStore) -> None:
    with pytest.raises(RunError, match="maximize is 'minimize': expected True or False"):
        RunSettings(maximize="minimize")  # type: ignore[arg-type]  # what people try
    run = Run.create(path, VIEW, "r", RunSettings(strategy="random", budget=3))
    for wrong in ("3", 2.5, -1):
        with pytest.raises(RunError, match="expected a whole number"):
            run.go_on(wrong)  # type: ignore[arg-type]  # the same
    assert run.record.budget == 3


CONNECTED = View(
    ("N", "M"),
    ("R",),
    weight="w",
    key="id",
    candidates=("N",),
    where=read_condition("x > 1"),
    paths=(read_path("(:N)-[:R]->(:M)<-[:R]-(:N)"),),
    default_weight=2.0,
    factors=(("R", 0.5),),
)


def kept(store: GraphStore, view: View) -> RunRecord:
    return runs_in(store).create(RunSettings().record("kept", view))


def test_a_plain_run_has_the_schema_that_it_always_had(path: GraphStore) -> None:
    assert kept(path, VIEW).schema == PLAIN_SCHEMA


@pytest.mark.parametrize("view", [CONNECTED, replace(VIEW, hub_limit=3)], ids=str)
def test_what_older_versions_do_not_know_has_a_schema_that_they_refuse(
    path: GraphStore, view: View
) -> None:
    record = kept(path, view)

    assert record.schema == VIEW_SCHEMA > PLAIN_SCHEMA
    assert record.view == view


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (replace(CONNECTED, candidates=("M",)), "view was .* not .* candidates .:M."),
        (replace(CONNECTED, where=read_condition("x > 2")), "WHERE x > 2"),
        (replace(CONNECTED, hub_limit=3), "hub limit was 1000, not 3"),
        (replace(CONNECTED, default_weight=3.0), "default weight was 2.0, not 3.0"),
        (replace(CONNECTED, factors=()), "factors was"),
        (replace(CONNECTED, weight_as="distance"), "weight as was 'similarity'"),
        (replace(CONNECTED, key="no"), "view was .*id.* not .*no"),
        (replace(CONNECTED, hop="RETURN $keys"), "a statement"),
    ],
    ids=str,
)
def test_another_view_is_refused_in_one_line(path: GraphStore, other: View, expected: str) -> None:
    record = kept(path, CONNECTED)
    refuse_difference(record, CONNECTED, RunSettings())

    with pytest.raises(RunMismatch, match=expected) as raised:
        refuse_difference(record, other, RunSettings())
    assert "\n" not in str(raised.value)


def test_another_statement_is_another_view(path: GraphStore) -> None:
    hop = replace(VIEW, hop="MATCH (a)\nRETURN $keys")
    record = kept(path, hop)

    with pytest.raises(RunMismatch, match="the statement for the edges was another one"):
        refuse_difference(record, replace(hop, hop="RETURN $keys"), RunSettings())


def test_a_statement_that_only_the_database_has_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHBO_CONFIG_DIR", str(tmp_path / "settings"))
    with open_store(f"sqlite:{tmp_path / 'g.db'}", create=True) as store:
        record = kept(store, replace(VIEW, hop="MATCH (n) RETURN $keys"))
        with pytest.raises(RunError, match="nobody here has agreed"):
            _ = Run(store, record).graph

        Run(store, record).agree_to_hop()

        assert Run(store, record).graph is not None
        other = replace(record, view=replace(VIEW, hop="MATCH (m) RETURN $keys"))
        with pytest.raises(RunError, match="nobody here has agreed"):
            _ = Run(store, other).graph
