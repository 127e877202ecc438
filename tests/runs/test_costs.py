"""What measurements cost: a budget that is exact, whoever spends it, and nodes that do not say what they cost."""

import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from graphbo.errors import InvalidCost, ModelError, RunError, RunMismatch
from graphbo.objectives import from_callable
from graphbo.runs import Run, RunSettings
from graphbo.runs.asking import Request
from graphbo.runs.records import total
from graphbo.runs.worker import work
from graphbo.stores import GraphStore
from graphbo.types import Candidate, Proposal, View
from tests.backends import Backend, on_sqlite

VIEW = View(("N",), ("R",), key="id")
SETTINGS = RunSettings(strategy="random", cost="hours", budget_cost=1.0)


def fill(store: GraphStore, costs: Mapping[int, object]) -> GraphStore:
    store.create_key(VIEW)
    nodes = [(i, {} if cost is None else {"hours": cost}) for i, cost in costs.items()]
    store.write_nodes(VIEW, nodes)  # type: ignore[arg-type]  # some costs are none
    store.write_relationships(VIEW, [(i, i + 1, {}) for i in list(costs)[:-1]])
    return store


def measure(key: object) -> float:
    return float(str(key))


def fresh(run: Run) -> Run:
    """The run as somebody finds it who has just come."""
    found = Run.open(run.store, run.name)
    found.refresh()
    return found


def test_all_of_a_budget_is_spent_and_no_more(store: GraphStore) -> None:
    run = Run.create(fill(store, dict.fromkeys(range(30), 0.1)), VIEW, "r", SETTINGS)
    ending = work(run, from_callable(measure))
    assert (ending.reason, ending.evaluations) == ("budget", 10)
    record = fresh(run).record
    assert (record.spent, record.reserved, record.left_to_spend) == (1.0, 0.0, 0.0)
    assert record.state == "finished"
    assert [one.cost for one in fresh(run).history] == [0.1] * 10


def test_what_is_being_measured_is_paid_for(store: GraphStore) -> None:
    fill(store, dict.fromkeys(range(9), 4))
    run = Run.create(store, VIEW, "r", replace(SETTINGS, budget_cost=10))
    other = Run.open(store, "r", worker="other")
    first, second = run.ask().pending, other.ask().pending
    assert first is not None
    assert second is not None
    assert run.ask().why_not == other.ask().why_not == "unaffordable"
    assert fresh(run).record.left_to_spend == 2
    other.release(step=second.step)
    assert fresh(run).record.left_to_spend == 6
    run.tell(1.0, step=first.step)
    assert run.ask().pending is not None
    assert fresh(run).record.spent == 4


def test_another_is_not_overtaken_by_what_it_believes_is_left(store: GraphStore) -> None:
    fill(store, {0: 3, 1: 3, 2: 1})
    run = Run.create(store, VIEW, "r", replace(SETTINGS, budget_cost=4))
    dear = Proposal((Candidate(0, cost=3.0),), "search")
    late = Proposal((Candidate(1, cost=3.0),), "search")
    assert run.transact(Request(dear, "a", "me"))[0].outcome == "new"
    answer, _ = run.transact(Request(late, "b", "you"))
    assert (answer.outcome, answer.news.record.left_to_spend) == ("taken", 1)


def test_the_last_of_a_budget_goes_to_what_it_pays_for(store: GraphStore) -> None:
    costs = dict.fromkeys(range(60), 50) | {7: 1, 40: 1}
    run = Run.create(fill(store, costs), VIEW, "r", replace(SETTINGS, budget_cost=5.5))
    ending = work(run, from_callable(measure))
    assert (ending.reason, {one.key for one in run.history}) == ("unaffordable", {7, 40})
    assert (run.record.state, run.record.left_to_spend) == ("finished", 3.5)


def test_what_counts_no_more_is_given_back(store: GraphStore) -> None:
    fill(store, {0: 0.1, 1: 0.2, 2: 0.4})
    run = Run.create(store, VIEW, "r", replace(SETTINGS, budget_cost=5))
    for key in (0, 1, 2):
        run.ask_for(key)
        run.tell(None if key == 1 else 1.0, key=key)
    assert fresh(run).record.spent == 0.7  # a failure was paid for
    run.retry([1])
    assert fresh(run).record.spent == 0.5
    run.retract(key=0)
    assert fresh(run).record.spent == 0.4
    # Known values and those that are told in place of a failure cost nothing more.
    run.tell_known({0: 3.0})
    run.ask_for(1)
    run.tell(None, key=1)
    run.tell(2.0, key=1)
    assert fresh(run).record.spent == 0.6


def test_somebody_cannot_ask_for_what_is_too_dear(store: GraphStore) -> None:
    fill(store, {0: 3, 1: 8})
    run = Run.create(store, VIEW, "r", replace(SETTINGS, budget_cost=7))
    with pytest.raises(RunError, match="1 costs 8, and 7 is left to spend"):
        run.ask_for(1)
    assert run.ask_for(0).cost == 3


def test_a_run_goes_on_with_more_to_spend(store: GraphStore) -> None:
    fill(store, dict.fromkeys(range(30), 2))
    run = Run.create(store, VIEW, "r", replace(SETTINGS, budget_cost=4))
    work(run, from_callable(measure))
    again = Run.open_or_create(store, VIEW, "r", replace(SETTINGS, budget_cost=10))
    assert work(again, from_callable(measure)).evaluations == 3
    assert (again.record.spent, again.record.budget_cost) == (10, 10)
    with pytest.raises(RunMismatch, match="cost was 'hours', not None"):
        Run.open_or_create(store, VIEW, "r", replace(SETTINGS, cost=None, budget_cost=None))


@on_sqlite
def test_a_number_of_evaluations_may_be_the_budget_too(store: GraphStore) -> None:
    fill(store, dict.fromkeys(range(30), 2))
    run = Run.create(store, VIEW, "r", replace(SETTINGS, budget=3, budget_cost=100))
    assert work(run, from_callable(measure)).reason == "budget"
    assert (run.record.spent, run.record.state) == (6, "finished")
    free = Run.create(store, VIEW, "free", replace(SETTINGS, budget=3, budget_cost=None))
    assert work(free, from_callable(measure)).evaluations == 3
    assert (free.record.spent, free.record.left_to_spend) == (6, math.inf)


WRONG = {
    "missing": (None, "the node 5 has no cost in 'hours'"),
    "zero": (0, "the node 5 has the cost 0 in 'hours'"),
    "negative": (-2.5, "the node 5 has the cost -2.5 in 'hours'"),
    "text": ("3", "the node 5 has the cost '3' in 'hours'"),
    "truth": (True, "the node 5 has the cost True in 'hours'"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_cost_is_refused_before_anything_is_measured(wrong: str, store: GraphStore) -> None:
    cost, message = WRONG[wrong]
    fill(store, dict.fromkeys(range(9), 1) | {5: cost})
    with pytest.raises(InvalidCost, match=message):
        Run.create(store, VIEW, "r", SETTINGS)
    assert store.log.list_runs() == []


@pytest.mark.parametrize("strategy", ["random", "bayes", "paper"])
def test_a_wrong_cost_that_no_sample_has_shown_names_its_node(
    strategy: str, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphbo.runs.costs.LOOKED_AT", 0)
    fill(store, dict.fromkeys(range(14), 1) | {5: 0})
    settings = replace(SETTINGS, strategy=strategy, budget_cost=25)
    run = Run.create(store, VIEW, "r", settings)
    with pytest.raises(InvalidCost, match="the node 5 has the cost 0"):
        work(run, from_callable(measure))
    assert fresh(run).record.spent == fresh(run).record.evaluations
    run.exclude([5])
    again = Run.open(store, "r")
    again.refresh()
    work(again, from_callable(measure))
    assert again.record.spent == 13


@on_sqlite
def test_settings_that_mean_nothing_are_refused(store: GraphStore) -> None:
    fill(store, dict.fromkeys(range(9), 1))
    with pytest.raises(RunError, match="nothing says what a measurement costs"):
        RunSettings(budget_cost=3)
    for amount in (0, -1, math.inf, math.nan, True):
        with pytest.raises(RunError, match="expected a number above 0"):
            RunSettings(cost="hours", budget_cost=amount)
    with pytest.raises(ModelError, match="ucb cannot be had per cost"):
        Run.create(
            store, VIEW, "r", RunSettings(cost="hours", options={"acquisition": "ucb"}, budget=5)
        )


def test_workers_share_a_budget_without_overspending(backend: Backend) -> None:
    costs = {i: round(0.1 + (i * 7 % 13) / 10, 1) for i in range(80)}
    with backend.open() as store:
        Run.create(fill(store, costs), VIEW, "r", replace(SETTINGS, budget_cost=12.3))

    def join(number: int) -> int:
        with backend.open() as store:
            run = Run.open(store, "r", worker=f"w{number}")
            return work(run, from_callable(measure)).evaluations

    with ThreadPoolExecutor(3) as pool:
        evaluations = sum(pool.map(join, range(3)))
    with backend.open() as store:
        run = Run.open(store, "r")
        run.refresh()
        assert len(run.history) == evaluations
        assert run.record.spent == total(*(costs[int(str(one.key))] for one in run.history))
        assert 11 < run.record.spent <= 12.3
        assert (run.record.pending, run.record.state) == (0, "finished")


@pytest.mark.parametrize("strategy", ["bayes", "paper"])
def test_strategies_with_a_model_know_what_nodes_cost(strategy: str, store: GraphStore) -> None:
    costs = {i: 1 + 9 * (i % 2) for i in range(120)}
    run = Run.create(
        fill(store, costs), VIEW, "r", RunSettings(strategy=strategy, cost="hours", budget_cost=120)
    )
    work(run, from_callable(measure))
    assert 110 <= run.record.spent <= 120
    assert all(one.cost == costs[int(str(one.key))] for one in run.history)


@on_sqlite
def test_a_run_with_costs_is_the_same_wherever_it_is_resumed(store: GraphStore) -> None:
    costs = {i: 1 + i % 7 for i in range(150)}
    settings = RunSettings(cost="hours", budget_cost=80)
    fill(store, costs)
    whole = Run.create(store, VIEW, "whole", settings)
    work(whole, from_callable(measure))
    Run.create(store, VIEW, "parts", settings)
    while (part := Run.open(store, "parts")).ask().pending is not None:
        pending = part.pending[0]
        part.tell(measure(pending.key), step=pending.step)
    assert [one.key for one in part.history] == [one.key for one in whole.history]


@on_sqlite
def test_reasons_know_what_was_left_then(store: GraphStore) -> None:
    costs = {i: 1 + i % 7 for i in range(150)}
    run = Run.create(fill(store, costs), VIEW, "r", RunSettings(cost="hours", budget_cost=70))
    work(run, from_callable(measure))
    for one in run.history:
        if one.phase == "model":
            why = run.why(one.key)
            assert (why.place, why.cost) == (1, one.cost)
