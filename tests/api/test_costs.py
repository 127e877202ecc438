"""What measurements cost, from Python."""

from typing import Any

import networkx as nx
import numpy as np
import pytest

import graphbo
from graphbo.errors import InvalidCost, RunError


def grid() -> Any:
    graph = nx.grid_2d_graph(8, 8)
    for row, column in graph:
        graph.nodes[row, column]["hours"] = np.float64(0.5 + (row + column) % 3)
    return graph


def corner(node: tuple[int, int]) -> float:
    return float(sum(node))


def test_a_budget_of_cost_is_spent() -> None:
    graph = grid()
    result = graphbo.optimize(corner, graph, cost="hours", budget_cost=30)
    costs = [graph.nodes[one.key]["hours"] for one in result.history]
    assert [one.cost for one in result.history] == costs
    assert 29 <= sum(costs) <= 30
    assert len(costs) != 30


def test_a_search_goes_on_with_more_to_spend() -> None:
    search = graphbo.Search(grid(), cost="hours")
    search.optimize(corner, budget_cost=5, budget=3)
    assert len(search.history) == 3
    search.optimize(corner, budget_cost=20, budget=40)
    assert sum(one.cost or 0 for one in search.history) == search.run.record.spent
    assert 19 <= search.run.record.spent <= 20
    assert search.ask() is None
    assert list(search.to_dataframe()["cost"]) == [one.cost for one in search.history]


@pytest.mark.parametrize("budget", [0, -1, "10", True, float("inf")])
def test_what_is_no_cost_is_refused(budget: Any) -> None:
    with pytest.raises(RunError, match=r"budget_cost is .*: expected a number above 0"):
        graphbo.optimize(corner, grid(), cost="hours", budget_cost=budget)


def test_what_has_no_cost_is_refused() -> None:
    with pytest.raises(RunError, match="name the property as cost"):
        graphbo.optimize(corner, grid(), budget_cost=3)
    graph = grid()
    del graph.nodes[3, 4]["hours"]
    with pytest.raises(InvalidCost, match="has no cost in 'hours'"):
        graphbo.optimize(corner, graph, cost="hours")
