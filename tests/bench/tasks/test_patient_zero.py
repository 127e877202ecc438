"""What an outbreak looks like, and the problem of finding its source."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbo.bench.tasks.measures import adjacency
from graphbo.bench.tasks.patient_zero import Outbreak, PatientZero, Sir, contact_graph, spread
from graphbo.errors import GraphboError
from tests.bench.tasks.data import DATA, needs_data


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


PATH = adjacency(np.array([(node, node + 1) for node in range(9)]), 10)

chance = st.floats(0, 1)


class TestDays:
    @given(beta=chance, gamma=chance, epsilon=st.sampled_from([0.0, 0.01]), seed=st.integers(0, 99))
    def test_somebody_fell_ill_the_day_before(
        self, beta: float, gamma: float, epsilon: float, seed: int
    ) -> None:
        rng = np.random.default_rng(seed)
        since = Sir(beta, gamma, epsilon).days(PATH, np.array([4]), rng)
        assert since[4] == 0
        assert np.flatnonzero(since == 0).tolist() == [4]
        assert since.max() <= 200
        for person in np.flatnonzero(since > 0):
            earlier = since[PATH.indices[PATH.indptr[person] : PATH.indptr[person + 1]]]
            infected_by_a_neighbour = ((earlier >= 0) & (earlier < since[person])).any()
            assert infected_by_a_neighbour or epsilon > 0

    def test_end_when_nothing_can_happen_any_more(self) -> None:
        rng = np.random.default_rng(0)
        never = Sir(beta=0.0, gamma=0.0).days(PATH, np.array([0]), rng)
        assert never.tolist() == [0] + 9 * [-1]

    def test_go_on_as_long_as_people_fall_ill_by_themselves(self) -> None:
        alone = adjacency(np.zeros((0, 2), dtype=np.int64), 50)
        since = Sir(0.0, 1.0, 0.3).days(alone, np.array([0]), np.random.default_rng(1))
        assert (since >= 0).all()
        assert len(set(since.tolist())) > 3

    def test_recovered_people_infect_nobody(self) -> None:
        # The first one meets all the others on one day only: the one on which it recovers.
        star = adjacency(np.array([(0, leaf) for leaf in range(1, 2001)]), 2001)
        since = Sir(beta=0.5, gamma=1.0).days(star, np.array([0]), np.random.default_rng(2))
        assert set(since.tolist()) == {0, 1, -1}
        assert 900 < np.count_nonzero(since == 1) < 1100


class TestPatientZero:
    @pytest.mark.parametrize("graph", ["town", "caveman"])
    def test_the_first_is_the_optimum(self, graph: str) -> None:
        problem = PatientZero(graph=graph, n=300).problem(2)  # type: ignore[arg-type]
        assert problem.optimum == 1.0
        assert np.count_nonzero(problem.values == 1.0) == 1
        assert problem.values.min() == 0.0
        assert problem.n == (300 if graph == "town" else 297)

    @pytest.mark.parametrize(("initial", "people"), [(0.0, 1), (0.01, 3), (0.1, 30), (1.0, 300)])
    def test_a_share_is_infected_at_first(self, initial: float, people: int) -> None:
        problem = PatientZero(n=300, initial=initial).problem(0)
        assert np.count_nonzero(problem.values == 1.0) == people

    def test_people_in_a_town_are_known_by_name(self) -> None:
        problem = PatientZero(n=50).problem(1)
        town = contact_graph(50, seed=1)
        names = nx.get_node_attributes(town, "name")
        assert sorted(map(str, problem.properties["name"])) == sorted(names.values())
        assert "" in problem.properties["place"]

    def test_neighbours_of_the_source_are_worth_more_than_others(self) -> None:
        problem = PatientZero().problem(4)
        source = int(problem.values.argmax())
        ends = problem.edges[(problem.edges == source).any(axis=1)].ravel()
        near = problem.values[ends[ends != source]]
        assert near.mean() > problem.values.mean()

    @needs_data
    def test_the_contacts_of_the_paper(self) -> None:
        problem = PatientZero(graph="contacts", data_dir=DATA).problem(0)
        assert (problem.n, len(problem.edges)) == (692, 79_530)
        assert problem.optimum == 1.0
