"""Towns: people who meet."""

import networkx as nx
import pytest

from graphbo.bench.tasks.town import contact_graph
from graphbo.errors import GraphboError


def test_a_town_is_the_same_for_the_same_seed() -> None:
    one, same, other = (contact_graph(200, seed=seed) for seed in (1, 1, 2))
    assert nx.utils.graphs_equal(one, same)
    assert not nx.utils.graphs_equal(one, other)


@pytest.mark.parametrize("people", [1, 2, 30, 500])
def test_everybody_is_somebody_and_meets_somebody(people: int) -> None:
    graph = contact_graph(people, seed=3)
    assert len(graph) == people
    assert all({"name", "age", "home"} <= set(data) for _, data in graph.nodes(data=True))
    assert all(degree > 0 for _, degree in graph.degree()) or people == 1
    assert nx.number_of_selfloops(graph) == 0


def test_people_who_live_or_learn_together_meet() -> None:
    graph = contact_graph(500, seed=0)
    homes = nx.get_node_attributes(graph, "home")
    together = [(a, b) for a in graph for b in graph if a < b and homes[a] == homes[b]]
    assert together
    assert all(graph.has_edge(a, b) for a, b in together)
    for _, data in graph.nodes(data=True):
        assert data.get("place", "class").startswith(
            "class" if data["age"] < 19 else ("class", "team")
        )


def test_nobody_is_no_town() -> None:
    with pytest.raises(GraphboError, match="0 people"):
        contact_graph(0)
