"""The default strategy: what it models, where it moves, and that it finds what the baselines do not."""

from collections.abc import Iterator
from typing import Any, cast

import networkx as nx
import numpy as np
import pytest

from graphbo.errors import ModelError
from graphbo.search.graph import Graph
from graphbo.search.model import KERNEL_NAMES
from graphbo.search.strategies.bayes import BayesConfig, BayesStrategy
from graphbo.search.strategies.model import CANDIDATES, degree_feature
from graphbo.stores import GraphStore
from graphbo.types import NodeKey, Observation, Pending, Subgraph
from tests.search.strategies.support import VIEW, SpyingStore, observe, simulate, situation, stored

GRAPH: "nx.Graph[int]" = nx.watts_strogatz_graph(400, 6, 0.05, seed=1)


def wave(key: NodeKey) -> float:
    """Smooth along the ring, with its top at node 100."""
    return float(np.sin(2 * np.pi * cast(int, key) / 400))


@pytest.fixture
def spy() -> Iterator[SpyingStore]:
    with stored(GRAPH) as store:
        yield SpyingStore(store)


def door(spy: SpyingStore) -> Graph:
    return Graph(cast(GraphStore, spy), VIEW, seed=0)


def values(history: list[Observation]) -> dict[NodeKey, float]:
    return {one.key: one.value for one in history if one.value is not None}


class TestModelGraph:
    def test_may_be_the_centre_and_the_best_node_outside_of_its_ego_network(
        self, spy: SpyingStore
    ) -> None:
        apart = BayesStrategy(BayesConfig(scouts=0, apart=True))
        history = simulate(apart, door(spy), wave, budget=11)
        ranked = sorted(history[:10], key=lambda one: -wave(one.key))
        used = spy.egos[-1]
        first, second = ({used.keys[row] for row in ego} for ego in used.egos)
        assert used.keys[0] == ranked[0].key
        outside = [one.key for one in ranked if one.key not in first]
        assert used.keys[used.egos[1][0]] == outside[0]
        assert outside[0] in second

    def test_is_one_call_where_the_second_best_is_far_away(self, spy: SpyingStore) -> None:
        simulate(
            BayesStrategy(BayesConfig(scouts=0, size=3, apart=True)), door(spy), wave, budget=11
        )
        assert spy.calls == ["random_keys", "ego_networks"]

    def test_is_around_the_second_best_where_all_are_near(self) -> None:
        with stored(nx.star_graph(30)) as store:
            spy = SpyingStore(store)
            simulate(BayesStrategy(BayesConfig(scouts=0, apart=True)), door(spy), wave, budget=11)
        assert spy.calls == ["random_keys", "ego_networks"]

    def test_is_two_ego_networks_in_one_call(self, spy: SpyingStore) -> None:
        history = simulate(BayesStrategy(BayesConfig(scouts=0)), door(spy), wave, budget=11)
        assert spy.calls == ["random_keys", "ego_networks"]
        ranked = sorted(history[:10], key=lambda one: -wave(one.key))
        used = spy.egos[0]
        assert [used.keys[ego[0]] for ego in used.egos] == [one.key for one in ranked[:2]]
        assert [len(ego) for ego in used.egos] == [100, 100]

    def test_who_was_far_at_the_last_step_is_asked_for_first(self, spy: SpyingStore) -> None:
        """In a process that has been there two questions are an exception; one that resumes finds the same."""
        graph, strategy = door(spy), BayesStrategy(BayesConfig(scouts=0, refresh=1, apart=True))
        history = simulate(strategy, graph, wave, budget=40)
        assert spy.calls.count("ego_networks") < 1.4 * 30
        for told in (12, 25, 39):
            again = BayesStrategy(BayesConfig(scouts=0, refresh=1, apart=True)).propose(
                situation(history[:told], step=told + 1), door(spy)
            )
            assert again.candidates[0].key == history[told].key

    def test_every_other_node_in_it_is_a_candidate(self, spy: SpyingStore) -> None:
        graph = door(spy)
        history = simulate(BayesStrategy(), graph, wave, budget=20)
        belief = BayesStrategy().believe(situation(history, step=21), graph)
        assert belief is not None
        known = {one.key for one in history}
        free = {belief.subgraph.keys[row] for row in belief.ranking.rows}
        assert free == set(belief.subgraph.keys) - known
        assert np.isnan(belief.acquisition).sum() == len(known & set(belief.subgraph.keys))

    def test_evaluated_nodes_come_first(self) -> None:
        """Who was evaluated stays in the model when the ego-network of a hub is drawn anew."""
        hub = Observation(step=-1, seq=0, key=0, value=1.0, source="warm")
        with stored(nx.star_graph(1000)) as store:
            history = simulate(
                BayesStrategy(), Graph(store, VIEW, seed=0), lambda _: 0.0, budget=20, history=[hub]
            )
        assert set(history[-1].modelled) == {one.step for one in history[:-1]}

    @pytest.mark.parametrize("refresh", [1, 4])
    def test_is_drawn_anew_after_so_many_failures(self, spy: SpyingStore, refresh: int) -> None:
        strategy = BayesStrategy(BayesConfig(scouts=0, refresh=refresh, patience=100, egos=1))
        falling = iter(range(0, -1000, -1))
        simulate(strategy, door(spy), lambda _: float(next(falling)), budget=30)
        assert spy.calls.count("ego_networks") == 1 + 19 // refresh

    def test_nothing_is_asked_twice(self, spy: SpyingStore) -> None:
        graph, strategy = door(spy), BayesStrategy()
        history = simulate(strategy, graph, wave, budget=15)
        before = len(spy.calls)
        for _ in range(3):
            strategy.propose(situation(history[:14], step=15), graph)
        assert len(spy.calls) == before


def test_apart_is_true_or_false() -> None:
    with pytest.raises(ModelError, match="apart is 'maybe': expected true or false"):
        BayesConfig(apart=cast(bool, "maybe"))


class TestProposal:
    def test_says_what_it_believes_in_the_users_units(self, spy: SpyingStore) -> None:
        graph, strategy = door(spy), BayesStrategy()
        history = simulate(strategy, graph, lambda key: 1e6 + 1e3 * wave(key), budget=30)
        proposal = strategy.propose(situation(history, step=31), graph)
        assert len(proposal.candidates) == CANDIDATES
        for one in proposal.candidates:
            assert one.mean is not None
            assert one.std is not None
            assert 0.99e6 < one.mean < 1.01e6
            assert 0 < one.std < 1e4
        promises = [cast(float, one.acquisition) for one in proposal.candidates]
        assert promises == pytest.approx(sorted(promises, reverse=True))

    def test_names_the_observations_that_were_modelled(self, spy: SpyingStore) -> None:
        graph, strategy = door(spy), BayesStrategy()
        history = simulate(strategy, graph, wave, budget=20)
        proposal = strategy.propose(situation(history, step=21), graph)
        belief = strategy.believe(situation(history, step=21), graph)
        assert belief is not None
        inside = [one.step for one in history if one.key in belief.subgraph]
        assert list(proposal.modelled) == inside
        assert proposal.theta == belief.theta

    def test_is_the_same_for_the_negative_minimised(self, spy: SpyingStore) -> None:
        up = simulate(BayesStrategy(), door(spy), wave, budget=40)
        down = simulate(
            BayesStrategy(), door(spy), lambda key: -wave(key), budget=40, maximize=False
        )
        assert [one.key for one in up] == [one.key for one in down]

    @pytest.mark.parametrize("kernel", KERNEL_NAMES)
    def test_takes_any_kernel(self, spy: SpyingStore, kernel: str) -> None:
        strategy = BayesStrategy(BayesConfig(kernel=kernel, size=30))
        history = simulate(strategy, door(spy), wave, budget=16)
        assert history[-1].phase == "model"
        assert bool(history[-1].theta) == (kernel != "diffusion-ard")

    def test_takes_known_noise(self, spy: SpyingStore) -> None:
        graph = door(spy)
        history = simulate(BayesStrategy(), graph, wave, budget=20)
        spread = []
        for noise in (0.0, 2.0):
            strategy = BayesStrategy(BayesConfig(noise=noise))
            belief = strategy.believe(situation(history, step=21), graph)
            assert belief is not None
            spread.append(float(np.ptp(belief.posterior.mean)))
        assert spread[1] < spread[0]

    def test_believes_nothing_before_it_has_seen_anything(self, spy: SpyingStore) -> None:
        belief = BayesStrategy().believe(situation([], step=1), door(spy))
        assert belief is None


class TestPending:
    def pend(self, history: list[Observation], graph: Graph, count: int) -> list[Pending]:
        strategy, pending = BayesStrategy(), list[Pending]()
        for step in range(len(history) + 1, len(history) + 1 + count):
            proposal = strategy.propose(situation(history, pending, step=step), graph)
            pending.append(Pending(step, proposal.candidates[0], proposal, "w", str(step)))
        return pending

    def test_are_believed_and_not_proposed(self, spy: SpyingStore) -> None:
        graph = door(spy)
        history = simulate(BayesStrategy(), graph, wave, budget=20)
        pending = self.pend(history, graph, 5)
        asked = [one.key for one in pending]
        assert len(set(asked)) == 5
        alone, along = (
            BayesStrategy().believe(situation(history, some, step=26), graph)
            for some in ((), pending)
        )
        assert alone is not None
        assert along is not None
        assert alone.subgraph is along.subgraph
        assert not set(asked) & {along.subgraph.keys[row] for row in along.ranking.rows}
        # A believed value moves no expectation much, and takes uncertainty away.
        rows = [along.subgraph.row(key) for key in asked]
        assert (along.posterior.std[rows] < alone.posterior.std[rows]).all()

    def test_count_among_the_first(self, spy: SpyingStore) -> None:
        pending = self.pend([], door(spy), 12)
        assert len({one.key for one in pending}) == 12
        assert {one.proposal.phase for one in pending} == {"initial"}
        graph = door(spy)
        history = simulate(BayesStrategy(), graph, wave, budget=4)
        phases = [one.proposal.phase for one in self.pend(history, graph, 8)]
        assert phases == ["initial"] * 6 + ["model"] * 2

    def test_late_answers_of_a_region_that_was_left_are_data(self, spy: SpyingStore) -> None:
        graph, strategy = door(spy), BayesStrategy(BayesConfig(patience=4))
        falling = iter(range(0, -1000, -1))
        history = simulate(strategy, graph, lambda _: float(next(falling)), budget=13)
        late = strategy.propose(situation(history, step=14), graph)
        history.append(observe(late, lambda _: -14.0, step=15, candidate=late.candidates[1]))
        moved = strategy.propose(situation(history, step=16), graph)
        assert moved.restart == 1
        history.append(observe(late, lambda _: 99.0, step=14, seq=16))
        after = strategy.propose(situation(history, step=16), graph)
        assert after.restart == 1


class TestMoving:
    def test_leaves_a_region_that_yields_nothing(self, spy: SpyingStore) -> None:
        falling = iter(range(0, -1000, -1))
        history = simulate(BayesStrategy(), door(spy), lambda _: float(next(falling)), budget=60)
        restarts = [one.restart for one in history[10:]]
        assert restarts[:15] == [0] * 15
        assert restarts[15] == 1
        assert restarts == sorted(restarts)
        assert restarts[-1] >= 3

    def test_goes_on_elsewhere_when_a_component_is_used_up(self) -> None:
        graph = nx.disjoint_union_all([nx.complete_graph(15)] * 5)
        with stored(graph) as store:
            strategy = BayesStrategy(BayesConfig(initial=3))
            history = simulate(
                strategy, Graph(store, VIEW, seed=1), lambda key: float(cast(int, key)), budget=99
            )
        assert len(history) == 75
        assert {one.phase for one in history} == {"initial", "model", "restart"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"initial": 0},
        {"size": 1},
        {"egos": 0},
        {"refresh": 0},
        {"patience": 0},
        {"noise": -1.0},
        {"noise": np.nan},
    ],
)
def test_refuses_numbers_that_are_too_small(wrong: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=r"is .*: expected at least"):
        BayesStrategy(BayesConfig(**wrong))


@pytest.mark.parametrize("wrong", [{"kernel": "cosine"}, {"acquisition": "luck"}])
def test_refuses_unknown_names(wrong: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="choose from"):
        BayesStrategy(BayesConfig(**wrong))


@pytest.mark.parametrize("name", ["apart", "degrees"])
def test_refuses_a_switch_that_is_neither_on_nor_off(name: str) -> None:
    with pytest.raises(ModelError, match=f"{name} is 1: expected true or false"):
        BayesConfig(**{name: 1})  # type: ignore[arg-type]


class TestDegrees:
    def test_become_a_feature_of_mean_0_and_variance_1(self) -> None:
        feature = degree_feature(known([1, 10, 100]))
        assert feature is not None
        assert (feature.mean(), feature.std()) == pytest.approx((0.0, 1.0))
        assert (np.diff(feature) > 0).all()

    @pytest.mark.parametrize("degrees", [None, [4, 4, 4]])
    def test_are_left_out_where_they_say_nothing(self, degrees: list[int] | None) -> None:
        assert degree_feature(known(degrees)) is None

    def test_lead_to_the_hub_that_is_one_of_many_neighbours(self) -> None:
        """Of 300 neighbours of the middle one has 40 leaves, and the value is the number of neighbours."""
        graph = nx.star_graph(300)
        graph.add_edges_from(
            (key, 1000 * key + leaf) for key in range(1, 301) for leaf in range(key % 5)
        )
        graph.add_edges_from((77, 77_100 + leaf) for leaf in range(40))
        found = {}
        with stored(graph) as store:
            for degrees in (True, False):
                history = simulate(
                    BayesStrategy(BayesConfig(degrees=degrees)),
                    Graph(store, VIEW, seed=2, start=(0,)),
                    lambda key: -1.0 if key == 0 else float(graph.degree[key]),
                    budget=40,
                )
                found[degrees] = max(one.value for one in history if one.value is not None)
        assert found[True] == graph.degree[77] > found[False]


def known(degrees: list[int] | None) -> Subgraph:
    nothing = np.empty(0, dtype=np.int64)
    counts = None if degrees is None else np.array(degrees)
    return Subgraph(tuple(range(3)), nothing, nothing, np.empty(0), degrees=counts)
