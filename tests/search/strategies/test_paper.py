"""The paper's algorithm: what its trust region does to what is proposed."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

import networkx as nx
import pytest

from graphbo.errors import ModelError
from graphbo.search.graph import Graph
from graphbo.search.strategies.paper import PaperConfig, PaperStrategy
from graphbo.stores import GraphStore
from graphbo.types import NodeKey, Observation, Pending
from tests.search.strategies.support import VIEW, SpyingStore, observe, simulate, situation, stored

GRAPH: "nx.Graph[int]" = nx.watts_strogatz_graph(400, 6, 0.05, seed=1)


@pytest.fixture
def spy() -> Iterator[SpyingStore]:
    with stored(GRAPH) as store:
        yield SpyingStore(store)


def door(spy: SpyingStore) -> Graph:
    return Graph(cast(GraphStore, spy), VIEW, seed=0)


def flat(key: NodeKey) -> float:
    """Nothing to climb: every proposal is a failure."""
    return 0.0


def wave(key: NodeKey) -> float:
    """Something to learn."""
    return math.sin(int(str(key)) / 40)


def test_shrinks_and_begins_afresh_within_a_hundred_evaluations(spy: SpyingStore) -> None:
    history = simulate(PaperStrategy(), door(spy), flat, budget=100)
    sizes = [len(subgraph) for subgraph in spy.egos]
    assert sizes[:6] == [100, 67, 45, 30, 20, 13]
    counts = Counter((observation.restart, observation.phase) for observation in history)
    assert (counts[0, "initial"], counts[1, "restart"], counts[2, "restart"]) == (10, 10, 10)
    # Thirty failures, or a few less where a small region has no node left before.
    assert 25 <= counts[0, "model"] <= 30
    assert 25 <= counts[1, "model"] <= 30


def test_is_drawn_anew_only_when_size_or_centre_change(spy: SpyingStore) -> None:
    simulate(PaperStrategy(), door(spy), flat, budget=35)
    assert spy.calls.count("ego_networks") == 5  # one for every five failures
    assert spy.calls.count("random_keys") == 1


def test_grows_with_success(spy: SpyingStore) -> None:
    values = iter(range(1000))
    simulate(PaperStrategy(), door(spy), lambda _: float(next(values)), budget=20)
    assert [len(subgraph) for subgraph in spy.egos] == [100] * 3 + [150] * 3 + [225] * 3 + [338]


def test_the_order_of_its_kernels_is_an_option(spy: SpyingStore) -> None:
    thetas = {}
    for order in (2, 4):
        strategy = PaperStrategy(PaperConfig(order=order))
        thetas[order] = len(simulate(strategy, door(spy), wave, budget=12)[-1].theta)
    assert thetas[4] == thetas[2] + 2


def test_is_not_pulled_back_after_a_restart(spy: SpyingStore) -> None:
    """Even the best value of the run is neither modelled nor the centre once the region was given up."""
    graph, strategy = door(spy), PaperStrategy(PaperConfig(failure_tolerance=2))
    history = simulate(strategy, graph, lambda key: 100.0 * (key == 7), budget=40)
    given_up = [observation for observation in history if observation.restart == 0]
    since = [observation for observation in history if observation.restart == 1]
    assert since[-1].modelled
    for observation in since:
        assert {o.step for o in given_up}.isdisjoint(observation.modelled)
    last = spy.egos[-1]
    assert last.keys[0] in {observation.key for observation in since}


def test_the_best_node_of_the_restart_is_the_centre(spy: SpyingStore) -> None:
    heights = {key: float(key) for key in GRAPH}
    history = simulate(PaperStrategy(), door(spy), lambda key: heights[cast(int, key)], budget=10)
    belief = PaperStrategy().believe(situation(history, step=11), door(spy))
    assert belief is not None
    assert belief.subgraph.keys[0] == max(cast(int, observation.key) for observation in history)


def test_believes_nothing_before_it_has_seen_anything(spy: SpyingStore) -> None:
    assert PaperStrategy().believe(situation([], step=1), door(spy)) is None


def test_a_region_with_nothing_left_is_given_up(spy: SpyingStore) -> None:
    with stored(nx.disjoint_union_all([nx.complete_graph(12)] * 4)) as store:
        config = PaperConfig(initial=2, size=12)
        history = simulate(PaperStrategy(config), Graph(store, VIEW, seed=0), flat, budget=100)
    assert len(history) == 48
    assert history[-1].restart >= 2


def test_restart_nodes_that_are_pending_are_counted(spy: SpyingStore) -> None:
    strategy, graph = PaperStrategy(), door(spy)
    history: list[Observation] = simulate(strategy, graph, flat, budget=1)
    pending: list[Pending] = []
    for step in range(2, 12):
        proposal = strategy.propose(situation(history, pending, step=step), graph)
        pending.append(Pending(step, proposal.candidates[0], proposal, "w", str(step)))
    assert [one.proposal.phase for one in pending] == ["initial"] * 9 + ["model"]
    assert observe(pending[-1].proposal, flat, step=11).modelled == (1,)


@pytest.mark.parametrize(
    "wrong",
    [
        {"initial": 0},
        {"size": 10},
        {"smallest": 0},
        {"largest": 50},
        {"growth": 0.9},
        {"failure_tolerance": 0},
    ],
)
def test_refuses_what_cannot_work(wrong: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="expected"):
        PaperConfig(**wrong)


def test_refuses_unknown_names() -> None:
    with pytest.raises(ModelError, match="kernel is 'cosine': choose from auto, "):
        PaperStrategy(PaperConfig(kernel="cosine"))
