"""The town, and what an outbreak in it looks like."""

import networkx as nx
import numpy as np
import pytest

from graphbo.errors import GraphboError
from graphbo.tasks.patient_zero import Outbreak, contact_graph, spread


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


class TestSpread:
    def test_of_a_certain_infection_goes_one_hop_a_day(self) -> None:
        graph = nx.relabel_nodes(nx.path_graph(11), str)
        outbreak = spread(graph, beta=1.0, gamma=0.0, reached=1.0, source="0")
        assert outbreak.infected == {str(day): day for day in range(11)}
        assert outbreak.day == 10
        assert [outbreak.value(str(day)) for day in (0, 5, 10)] == [1.0, 0.25, 0.0]

    def test_ends_when_everybody_has_recovered(self) -> None:
        graph = nx.relabel_nodes(nx.path_graph(5), str)
        outbreak = spread(graph, beta=0.0, gamma=1.0, source="2")
        assert outbreak.infected == {"2": 0}
        assert outbreak.value("2") == 1.0
        assert outbreak.value("3") == 0.0

    def test_reaches_as_many_as_asked_for(self) -> None:
        graph = contact_graph(300, seed=1)
        outbreak = spread(graph, reached=0.5, seed=2)
        share = len(outbreak.infected) / 300
        assert 0.5 <= share < 0.8
        assert max(outbreak.infected.values()) == outbreak.day

    def test_is_largest_at_the_source_alone(self) -> None:
        graph = contact_graph(300, seed=1)
        outbreak = spread(graph, seed=3)
        values = {key: outbreak.value(key) for key in graph}
        assert values[outbreak.source] == 1.0
        assert sum(value == 1.0 for value in values.values()) == 1
        assert min(values.values()) == 0.0

    def test_the_chance_of_an_infection_is_that_of_the_model(self) -> None:
        # A star: each leaf meets the source, and nobody else, every day.
        graph = nx.relabel_nodes(nx.star_graph(4000), str)
        outbreak = spread(graph, beta=0.3, gamma=0.0, reached=0.2, source="0", seed=5)
        assert outbreak.day == 1
        assert np.isclose(len(outbreak.infected) / 4000, 0.3, atol=4 * (0.21 / 4000) ** 0.5)

    def test_can_begin_elsewhere_too(self) -> None:
        graph: nx.Graph[str] = nx.empty_graph(["a", "b", "c", "d"])
        outbreak = spread(graph, beta=0.0, gamma=0.0, epsilon=1.0, reached=1.0, source="a")
        assert outbreak == Outbreak("a", {"a": 0, "b": 1, "c": 1, "d": 1}, 1)

    def test_has_to_begin_with_somebody(self) -> None:
        with pytest.raises(GraphboError, match="'nobody'"):
            spread(nx.empty_graph(["a"]), source="nobody")
        with pytest.raises(GraphboError, match="nobody"):
            spread(nx.empty_graph(0))
