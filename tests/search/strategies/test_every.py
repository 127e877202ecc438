"""What holds for every strategy."""

import random
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import networkx as nx
import numpy as np
import pytest

from graphbo.errors import ModelError
from graphbo.search.graph import Graph, Reveal
from graphbo.search.strategies import DEFAULT_STRATEGY, STRATEGIES, create_strategy
from graphbo.stores import GraphStore
from graphbo.types import NodeKey, Observation, Pending
from tests.search.strategies.support import (
    VIEW,
    Measure,
    SpyingStore,
    in_parallel,
    simulate,
    situation,
    stored,
)

pytestmark = pytest.mark.parametrize("name", STRATEGIES)

AnyGraph: TypeAlias = "nx.Graph[Any]"

#: Graphs on which something has an end before the budget does.
SMALL: dict[str, AnyGraph] = {
    "one node": nx.empty_graph(1),
    "fewer than are drawn at first": nx.path_graph(6),
    "no relationships": nx.empty_graph(25),
    "small components": nx.disjoint_union_all([nx.cycle_graph(7) for _ in range(6)]),
    "a star and isolated nodes": nx.disjoint_union(nx.star_graph(20), nx.empty_graph(10)),
    "complete": nx.complete_graph(30),
}


def small(strategy: str) -> dict[str, Any]:
    """Options that make regions end soon."""
    if strategy == "bayes":
        return {"initial": 4, "size": 10, "patience": 3}
    if strategy == "paper":
        return {"initial": 4, "size": 10, "smallest": 3, "failure_tolerance": 2}
    return {}


def landscape(graph: AnyGraph, seed: int = 0) -> dict[NodeKey, float]:
    """Values that differ little between neighbours."""
    rng = np.random.default_rng(seed)
    values = dict(zip(graph, rng.normal(size=len(graph)).tolist(), strict=True))
    for _ in range(3):
        values = {
            node: float(np.mean([values[node], *(values[other] for other in graph[node])]))
            for node in graph
        }
    return values


def keys(history: Sequence[Observation]) -> list[NodeKey]:
    return [observation.key for observation in history]


@pytest.mark.parametrize("which", SMALL)
def test_measures_each_node_once_and_then_ends(name: str, which: str) -> None:
    graph = SMALL[which]
    with stored(graph) as store:
        strategy = create_strategy(name, small(name))
        door = Graph(store, VIEW, seed=1)
        history = simulate(strategy, door, landscape(graph).__getitem__, budget=100, seed=1)
    assert sorted(cast(list[int], keys(history))) == sorted(graph)


@pytest.mark.parametrize("which", ["complete", "small components"])
def test_ends_well_with_the_defaults(name: str, which: str) -> None:
    graph = SMALL[which]
    with stored(graph) as store:
        door = Graph(store, VIEW, seed=1)
        history = simulate(create_strategy(name), door, lambda _: 1.0, budget=100, seed=1)
    assert sorted(cast(list[int], keys(history))) == sorted(graph)


@pytest.mark.parametrize("maximize", [True, False])
def test_another_process_would_propose_the_same(name: str, maximize: bool) -> None:
    """A strategy and a graph that have seen the whole run, and new ones at every step."""
    graph = nx.barabasi_albert_graph(120, 2, seed=3)
    values = landscape(graph)
    with stored(graph) as store:
        old, door = create_strategy(name, small(name)), Graph(store, VIEW, seed=5)
        history = simulate(old, door, values.__getitem__, budget=50, seed=5, maximize=maximize)
        if name in ("bayes", "paper"):
            assert history[-1].restart > 0  # there was something to fold
        for told in range(0, len(history), 3):
            fresh = create_strategy(name, small(name)).propose(
                situation(history[:told], step=told + 1, seed=5, maximize=maximize),
                Graph(store, VIEW, seed=5),
            )
            done = history[told]
            first = fresh.candidates[0]
            assert (first.key, first.mean, first.std) == (done.key, done.mean, done.std)
            assert (fresh.phase, fresh.restart) == (done.phase, done.restart)
            assert (fresh.modelled, fresh.theta) == (done.modelled, done.theta)


def test_a_strategy_that_served_another_run_proposes_the_same(name: str) -> None:
    graph = nx.barabasi_albert_graph(60, 1, seed=3)
    values = landscape(graph)
    used = create_strategy(name, small(name))
    with stored(graph) as store, stored(nx.path_graph(60)) as other:
        door = Graph(store, VIEW, seed=5)
        history = simulate(used, door, values.__getitem__, budget=30, seed=5)
        simulate(used, Graph(other, VIEW, seed=5), values.__getitem__, budget=12, seed=5)
        for told in (25, 5, 15):
            fresh = create_strategy(name, small(name))
            proposals = [
                strategy.propose(situation(history[:told], step=told + 1, seed=5), door)
                for strategy in (used, fresh)
            ]
            assert proposals[0] == proposals[1]


def test_the_order_of_telling_counts_not_that_of_the_list(name: str) -> None:
    graph = nx.barabasi_albert_graph(60, 2, seed=3)
    with stored(graph) as store:
        door = Graph(store, VIEW, seed=0)
        history = simulate(create_strategy(name), door, landscape(graph).__getitem__, budget=20)
        mixed = random.Random(0).sample(history, len(history))
        proposals = [
            create_strategy(name).propose(situation(told, step=21), door)
            for told in (history, mixed)
        ]
    assert proposals[0] == proposals[1]


def test_seeds_differ(name: str) -> None:
    graph = nx.barabasi_albert_graph(200, 2, seed=3)
    with stored(graph) as store:
        runs = [
            keys(
                simulate(
                    create_strategy(name),
                    Graph(store, VIEW, seed=seed),
                    landscape(graph).__getitem__,
                    budget=15,
                    seed=seed,
                )
            )
            for seed in (0, 0, 1)
        ]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def oldest(pending: Sequence[Pending]) -> int:
    return 0


def newest(pending: Sequence[Pending]) -> int:
    return len(pending) - 1


@pytest.mark.parametrize("finish", [oldest, newest])
@pytest.mark.parametrize("workers", [2, 9])
@pytest.mark.slow
def test_workers_share_the_nodes(name: str, workers: int, finish: Any) -> None:
    graph = nx.barabasi_albert_graph(70, 2, seed=3)
    with stored(graph) as store:
        history = in_parallel(
            create_strategy(name, small(name)),
            Graph(store, VIEW, seed=2),
            landscape(graph).__getitem__,
            budget=100,
            workers=workers,
            seed=2,
            finish=finish,
        )
    assert sorted(cast(list[int], keys(history))) == sorted(graph)


def test_others_who_ask_at_the_same_moment_find_a_free_node(name: str) -> None:
    graph = nx.barabasi_albert_graph(300, 8, seed=3)
    with stored(graph) as store:
        door, strategy = Graph(store, VIEW, seed=0), create_strategy(name)
        history = simulate(strategy, door, landscape(graph).__getitem__, budget=15)
        proposal = strategy.propose(situation(history, step=16), door)
    free = {candidate.key for candidate in proposal.candidates}
    assert len(free) == len(proposal.candidates)
    assert len(free) >= 3
    assert not free & set(keys(history))


def test_survives_failures(name: str) -> None:
    graph = nx.barabasi_albert_graph(40, 2, seed=3)
    values = landscape(graph)

    def measure(key: NodeKey) -> float | None:
        return None if cast(int, key) % 3 == 0 else values[key]

    with stored(graph) as store:
        door = Graph(store, VIEW, seed=0)
        history = simulate(create_strategy(name, small(name)), door, measure, budget=100)
    assert sorted(cast(list[int], keys(history))) == sorted(graph)


def test_survives_failures_only(name: str) -> None:
    with stored(nx.path_graph(20)) as store:
        door = Graph(store, VIEW, seed=0)
        history = simulate(create_strategy(name), door, lambda _: None, budget=100)
    assert len(history) == 20


def test_knows_values_told_before_the_first_question(name: str) -> None:
    graph = nx.barabasi_albert_graph(80, 2, seed=3)
    values = landscape(graph)
    warm = [
        Observation(step=-1 - node, seq=node + 1, key=node, value=values[node], source="warm")
        for node in range(12)
    ]
    with stored(graph) as store:
        door = Graph(store, VIEW, seed=0)
        strategy = create_strategy(name, small(name))
        history = simulate(strategy, door, values.__getitem__, budget=30, history=warm)
    assert len(set(keys(history))) == len(history) == 42
    if name in ("bayes", "paper"):
        assert history[12].phase == "model"


class TestUnknownGraph:
    """Nothing that was not revealed is ever used."""

    START = (17, 42)

    def run(
        self, name: str, graph: AnyGraph, measure: Measure, reveal: Reveal, budget: int = 40
    ) -> tuple[list[Observation], SpyingStore]:
        with stored(graph) as store:
            spy = SpyingStore(store)
            door = Graph(cast(GraphStore, spy), VIEW, seed=4, start=self.START, reveal=reveal)
            strategy = create_strategy(name, small(name))
            return simulate(strategy, door, measure, budget=budget, seed=4), spy

    @pytest.mark.parametrize("reveal", ["ego", "evaluated"])
    def test_begins_at_the_start_and_never_draws_from_the_whole(
        self, name: str, reveal: Reveal
    ) -> None:
        graph = nx.watts_strogatz_graph(200, 4, 0.1, seed=2)
        history, spy = self.run(name, graph, landscape(graph).__getitem__, reveal)
        assert len(history) == 40
        assert history[0].key == self.START[0]
        assert "random_keys" not in spy.calls
        known = set(self.START)
        for observation in history:
            if reveal == "evaluated":
                assert observation.key in known
            known.update(graph[observation.key])

    def test_what_was_not_revealed_could_be_anything(self, name: str) -> None:
        """Contact tracing: without any relationship that no evaluated node has, the run is the same."""
        graph = nx.watts_strogatz_graph(200, 4, 0.1, seed=2)
        values = landscape(graph)
        history, _ = self.run(name, graph, values.__getitem__, "evaluated")
        evaluated = set(keys(history))
        revealed = nx.empty_graph(200)
        revealed.add_edges_from(edge for edge in graph.edges if evaluated & set(edge))
        assert revealed.number_of_edges() < graph.number_of_edges()
        again, _ = self.run(name, revealed, values.__getitem__, "evaluated")
        assert again == history
        # and with other relationships among those who were not evaluated
        others = sorted(set(graph) - evaluated)
        revealed.add_edges_from(zip(others, others[::-1], strict=True))
        again, _ = self.run(name, revealed, values.__getitem__, "evaluated")
        assert again == history

    def test_models_only_what_was_revealed(self, name: str) -> None:
        graph = nx.watts_strogatz_graph(200, 4, 0.1, seed=2)
        history, spy = self.run(name, graph, landscape(graph).__getitem__, "evaluated")
        evaluated = set(keys(history))
        revealed = evaluated.union(*(graph[node] for node in evaluated))
        for subgraph in spy.egos:
            assert revealed.issuperset(subgraph.keys)
            for a, b in zip(subgraph.sources, subgraph.targets, strict=True):
                assert evaluated & {subgraph.keys[a], subgraph.keys[b]}

    @pytest.mark.parametrize("reveal", ["ego", "evaluated"])
    def test_ends_where_nothing_more_can_be_revealed(self, name: str, reveal: Reveal) -> None:
        graph = nx.disjoint_union(nx.cycle_graph(50), nx.cycle_graph(50))
        history, _ = self.run(name, graph, lambda _: 0.0, reveal, budget=200)
        assert sorted(cast(list[int], keys(history))) == list(range(50))

    def test_a_failure_reveals_nothing(self, name: str) -> None:
        graph = nx.watts_strogatz_graph(200, 4, 0.1, seed=2)
        history, _ = self.run(name, graph, lambda _: None, "evaluated")
        assert keys(history) == list(self.START)


class TestByName:
    def test_options_make_it_again(self, name: str) -> None:
        strategy = create_strategy(name, small(name))
        assert strategy.name == name
        assert create_strategy(name, strategy.options).options == strategy.options
        assert create_strategy(name).options.keys() == strategy.options.keys()

    def test_an_unknown_option_is_refused_with_those_that_exist(self, name: str) -> None:
        with pytest.raises(ModelError, match=f"the strategy {name} has no option colour: it has"):
            create_strategy(name, {"colour": "red"})

    def test_an_unknown_name_is_refused_with_those_that_exist(self, name: str) -> None:
        with pytest.raises(
            ModelError, match=f"no strategy is called 'magic': choose from .*{name}"
        ):
            create_strategy("magic")

    def test_there_is_a_default(self, name: str) -> None:
        assert DEFAULT_STRATEGY in STRATEGIES
        assert create_strategy().name == DEFAULT_STRATEGY
