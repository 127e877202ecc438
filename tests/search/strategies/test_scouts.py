"""Nodes from anywhere, measured where what is known of them promises more."""

from collections.abc import Iterator
from typing import cast

import networkx as nx
import numpy as np
import pytest

from graphbo.errors import ModelError
from graphbo.search.graph import Graph
from graphbo.search.regions import MovingRules
from graphbo.search.strategies.bayes import BayesConfig, BayesStrategy
from graphbo.stores import GraphStore, open_store
from graphbo.types import NodeKey, Observation
from tests.search.strategies.support import VIEW, SpyingStore, simulate, situation

NODES = 600
INCOME = np.random.default_rng(1).permutation(NODES).astype(float)
GRAPH = nx.random_regular_graph(4, NODES, seed=1)

#: Small ego-networks, so that most of the graph is elsewhere.
WITH_INCOME = BayesConfig(features=("income",), size=20)


@pytest.fixture(scope="module")
def people() -> Iterator[GraphStore]:
    with open_store("sqlite::memory:") as store:
        store.create_key(VIEW)
        rows = [(node, {"income": INCOME[node], "shoe": node % 7}) for node in GRAPH]
        store.write_nodes(VIEW, rows)
        store.write_relationships(VIEW, [(a, b, {}) for a, b in GRAPH.edges])
        yield store


def door(store: GraphStore) -> Graph:
    return Graph(store, VIEW, seed=0)


def wealth(key: NodeKey) -> float:
    return float(INCOME[int(key)])


def phases(history: list[Observation]) -> list[str]:
    return [one.phase for one in history]


@pytest.fixture(scope="module")
def history(people: GraphStore) -> list[Observation]:
    return simulate(BayesStrategy(WITH_INCOME), door(people), wealth, budget=24)


def test_a_property_that_is_the_answer_leads_there(history: list[Observation]) -> None:
    best = max(one.value or 0.0 for one in history[:15])
    assert best >= np.quantile(INCOME, 0.99)
    assert "scout" in phases(history)[10:15]


def test_a_process_that_resumes_finds_the_same(
    people: GraphStore, history: list[Observation]
) -> None:
    for told in (10, 12, 17, 23):
        again = BayesStrategy(WITH_INCOME).propose(situation(history[:told]), door(people))
        chosen, before = again.candidates[0], history[told]
        assert (chosen.key, again.phase) == (before.key, before.phase)
        assert chosen.mean == pytest.approx(before.mean)


def test_minimizing_goes_the_other_way(people: GraphStore) -> None:
    found = simulate(BayesStrategy(WITH_INCOME), door(people), wealth, budget=15, maximize=False)
    assert min(one.value or 0.0 for one in found) <= np.quantile(INCOME, 0.01)


@pytest.mark.parametrize(
    "config",
    [
        BayesConfig(features=("income",), size=20, scouts=0),
        BayesConfig(size=20),
        BayesConfig(features=("shoe",), size=20),
    ],
    ids=["none", "nothing is known", "what is known is of no use"],
)
def test_are_not_sent_without_reason(people: GraphStore, config: BayesConfig) -> None:
    found = simulate(BayesStrategy(config), door(people), wealth, budget=18)
    assert "scout" not in phases(found)


def test_a_graph_that_is_being_revealed_has_no_anywhere(people: GraphStore) -> None:
    graph = Graph(people, VIEW, seed=0, start=(0,), reveal="ego")
    found = simulate(BayesStrategy(WITH_INCOME), graph, wealth, budget=18)
    assert "scout" not in phases(found)
    assert "model" in phases(found)


def test_a_step_asks_the_database_twice(people: GraphStore) -> None:
    """For the region, and for scouts: what is known of what was measured came with them."""
    spy = SpyingStore(people)
    simulate(BayesStrategy(WITH_INCOME), door(cast(GraphStore, spy)), wealth, budget=20)
    # The beginning, the scales, what is known of the first ten, and two for each step.
    assert len(spy.calls) <= 3 + 2 * 10


def test_what_was_deleted_is_forgotten(people: GraphStore, history: list[Observation]) -> None:
    gone = Observation(step=-1, seq=0, key=10**6, value=50.0, source="warm")
    proposal = BayesStrategy(WITH_INCOME).propose(situation([gone, *history[:12]]), door(people))
    assert proposal.candidates


def told(step: int, value: float, phase: str = "scout") -> Observation:
    return Observation(step=step, seq=step, key=step, value=value, phase=phase)  # type: ignore[arg-type]


def test_fruitless_ones_are_counted_until_one_is_better() -> None:
    rules = MovingRules(True, failures_to_move=15, failures_to_redraw=5)
    begun = [told(1, 5.0, "initial"), told(2, 4.0), told(3, 3.0), told(4, 1.0, "model")]
    region = rules.fold(begun)
    assert (region.fruitless, region.scouted, region.failures) == (2, 3, 3)
    region = rules.fold([*begun, told(5, 6.0)])
    assert (region.fruitless, region.scouted, region.failures) == (0, 5, 0)
    assert region.centre is not None
    assert region.centre.step == 5


def test_a_region_that_is_used_up_leaves_scouts_alone() -> None:
    rules = MovingRules(True, failures_to_move=2, failures_to_redraw=5)
    region = rules.fold([told(1, 9.0, "initial"), told(2, 8.0), told(3, 1.0, "model")])
    assert region.restart == 1
    assert region.centre is not None
    assert region.centre.step == 2
    assert (region.scouted, region.fruitless) == (2, 1)


class TestPrior:
    def test_guides_every_other_node_to_begin_with(self, people: GraphStore) -> None:
        config = BayesConfig(prior="income", size=20)
        found = simulate(BayesStrategy(config), door(people), wealth, budget=10)
        assert phases(found) == ["initial", "prior"] * 5
        believed = [one.value or 0.0 for one in found if one.phase == "prior"]
        assert min(believed) > np.quantile(INCOME, 0.95)

    @pytest.mark.parametrize("sign", [1, -1])
    def test_is_believed_until_observations_speak_against_it(
        self, people: GraphStore, sign: int
    ) -> None:
        config = BayesConfig(prior="income", size=20)
        found = simulate(
            BayesStrategy(config), door(people), lambda key: sign * wealth(key), budget=20
        )
        best = max(one.value or -NODES for one in found)
        assert best >= np.quantile(sign * INCOME, 0.99)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "income"}, "features is 'income': expected the names of properties"),
        ({"features": [3]}, "a feature is '3'"),
        ({"scouts": -1}, "scouts is -1: expected at least 0"),
        ({"prior": 3}, "prior is 3"),
    ],
    ids=["text", "number", "scouts", "prior"],
)
def test_options_are_checked(options: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        BayesConfig(**options)  # type: ignore[arg-type]
