"""``--cost`` and ``--budget-cost``: what people type, and where they read what was spent."""

import csv
import io

import pytest

from graphbo.runs.records import total
from tests.backends import Backend, on_sqlite
from tests.cli.runs import OPTIONS, VIEW, InProcess

pytestmark = on_sqlite

RUN = ("run", *OPTIONS, "--objective", "property:score", "--name", "found", "--cost", "price")


def price(node: int) -> float:
    """One in ten nodes is dear."""
    return 2.5 if node % 10 else 40.0


@pytest.fixture
def priced(loaded: Backend) -> Backend:
    with loaded.open() as store:
        store.write_nodes(VIEW, [(node, {"price": price(node)}) for node in range(60)])
    return loaded


def test_a_budget_of_cost_is_spent_and_shown(priced: Backend, here: InProcess) -> None:
    answer = here(*RUN, "--budget-cost", 60, "--option", "initial=4")
    assert answer.code == 0, answer
    history = here("history", "found", "--json").json
    spent = total(*(one["cost"] for one in history))
    assert all(one["cost"] == price(one["key"]) for one in history)
    assert 57.5 < spent <= 60
    said = f"{len(history)} evaluations, {spent:g} of 60 spent"
    assert said in answer.out
    status = here("status", "found", "--json").json
    assert (status["cost"], status["budget"], status["budget_cost"]) == ("price", None, 60)
    assert (status["spent"], status["reserved"], status["state"]) == (spent, 0, "finished")
    for command in ("status", "runs", "stop"):
        shown = here(command) if command == "runs" else here(command, "found")
        assert shown.code == 0
    assert said in here("status", "found").out
    last = [one for one in history if one["phase"] == "model"][-1]
    why = here("why", "found", last["key"])
    assert f" at a cost of {price(last['key']):g}; the best so far" in why.out
    rows = list(csv.DictReader(io.StringIO(here("history", "found", "--csv").out)))
    assert [float(row["cost"]) for row in rows] == [one["cost"] for one in history]
    titles = here("history", "found").out.splitlines()[0].split()
    assert titles[:4] == ["step", "node", "value", "cost"]


def test_a_run_goes_on_with_more_to_spend(priced: Backend, here: InProcess) -> None:
    here(*RUN, "--budget-cost", 60)
    again = here("run", "--name", "found")
    assert "--budget-cost 1" in again.out  # says how to go on
    assert here("run", "--name", "found", "--budget-cost", 100).code == 0
    assert 60 < here("status", "found", "--json").json["spent"] <= 100


def test_who_measures_by_hand_sees_what_it_costs(priced: Backend, here: InProcess) -> None:
    first = here("ask", "hand", *OPTIONS, "--cost", "price", "--budget-cost", 44, "--node", 10)
    assert "Cost:    40 (0 of 44 spent, 40 reserved)" in first.out
    (facts,) = here("ask", "hand", "--json").json["pending"]
    assert facts["cost"] == 40
    here("ask", "hand", "--node", 11)
    dear = here("ask", "hand", "--node", 12)
    assert (dear.code, dear.err.splitlines()[-1]) == (
        1,
        "graphbo: 12 costs 2.5, and 1.5 is left to spend",
    )
    none = here("ask", "hand", "--another")
    assert none.code == 1
    assert "what is left to spend by the run 'hand' pays for no node" in none.err
    assert "ask hand --budget-cost X" in none.err
    joined = here(*RUN[:-4], "--name", "hand", "--worker", "--budget-cost", 120)
    assert joined.code == 1
    assert "a worker does not change it; leave out --budget-cost" in joined.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--budget-cost", 5), "nothing says what a measurement costs: add --cost PROPERTY"),
        (
            ("--cost", "pirce", "--budget-cost", 5),
            "has a cost in 'pirce', as far as a sample shows: check --cost",
        ),
        (("--cost", "name"), "a number above 0 is expected: set it, or leave such nodes out with"),
        (("--cost", "price", "--option", "acquisition=ucb"), "ucb cannot be had per cost"),
        (("--cost", "price", "--budget-cost", "nan"), "expected a number above 0"),
    ],
    ids=["alone", "mistyped", "text", "ucb", "nan"],
)
def test_what_is_wrong_is_said_before_anything_is_written(
    priced: Backend, here: InProcess, options: tuple[object, ...], said: str
) -> None:
    before = priced.dump()
    answer = here("run", *OPTIONS, "--objective", "property:score", *options)
    assert answer.code == 1
    assert said in answer.err
    assert len(answer.err.splitlines()) == 2  # the first says which database
    assert priced.dump() == before
