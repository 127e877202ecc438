"""The answer under noise."""

from dataclasses import replace
from typing import cast

import networkx as nx
import numpy as np
import pytest

from graphbo.search.acquisition import Ranking
from graphbo.search.graph import Graph
from graphbo.search.model.fitted import Fitted
from graphbo.search.strategies import Believing, create_strategy
from graphbo.search.strategies.answer import MOST_LOOKS, answer, best_believed
from graphbo.search.strategies.folded_history import values_of
from graphbo.search.strategies.model import Belief
from graphbo.types import NodeKey, Observation, Posterior, Subgraph
from tests.search.strategies.support import VIEW, situation, stored


def observed(step: int, key: int, value: float | None) -> Observation:
    return Observation(step=step, seq=step, key=key, value=value)


def belief(means: dict[int, float], modelled: tuple[int, ...]) -> Belief:
    nothing = np.empty(0, dtype=np.int64)
    mean = np.array(list(means.values()))
    return Belief(
        Subgraph(tuple(means), nothing, nothing, np.empty(0)),
        Posterior(mean, np.ones(len(mean))),
        Ranking(nothing, np.empty(0)),
        modelled,
        cast("Fitted", None),  # nobody asks
        0,
    )


HISTORY = [observed(1, 10, 4.0), observed(2, 11, 6.0), observed(3, 12, 2.0)]


def test_is_the_node_with_the_best_posterior_mean() -> None:
    found = best_believed(HISTORY, [belief({10: 4.5, 11: 4.2, 12: 3.5}, (1, 2, 3))], maximize=True)

    assert found is not None
    assert (found[0].key, found[1]) == (10, 4.5)


def test_may_be_the_smallest() -> None:
    found = best_believed(HISTORY, [belief({10: 3.0, 11: 4.2, 12: 3.5}, (1, 2, 3))], maximize=False)

    assert found is not None
    assert found[0].key == 10


@pytest.mark.parametrize(("value", "answer"), [(7.0, 11), (20.0, 99)])
def test_a_node_elsewhere_is_believed_as_far_as_those_that_the_model_knows(
    value: float, answer: int
) -> None:
    """The model believes half of each difference: 7 elsewhere is worth less than 6 here, 20 is worth more."""
    history = [*HISTORY, observed(4, 99, value)]
    found = best_believed(history, [belief({10: 5.0, 11: 6.0, 12: 4.0}, (1, 2, 3))], maximize=True)

    assert found is not None
    assert found[0].key == answer
    mean = np.mean([4.0, 6.0, 2.0, value])
    assert found[1] == (6.0 if answer == 11 else pytest.approx(mean + (value - mean) / 2))


def test_without_noise_it_is_the_best_value_wherever_it_is() -> None:
    history = [*HISTORY, observed(4, 99, 6.5)]
    found = best_believed(history, [belief({10: 4.0, 11: 6.0, 12: 2.0}, (1, 2, 3))], maximize=True)

    assert found is not None
    assert (found[0].key, found[1]) == (99, 6.5)


def test_a_node_in_the_region_that_the_model_was_not_fitted_to_is_elsewhere() -> None:
    """After a restart the paper's model leaves out what was measured before."""
    history = [*HISTORY, observed(4, 13, 9.0)]
    known = belief({10: 4.0, 11: 6.0, 12: 2.0, 13: -5.0}, (1, 2, 3))
    found = best_believed(history, [known], maximize=True)

    assert found is not None
    assert found[0].key == 13


def test_failures_are_no_answer() -> None:
    known = belief({10: 4.0}, ())

    assert best_believed([observed(1, 10, None)], [known], maximize=True) is None


class Judge:
    """Stands for a strategy whose model has been asked about some nodes."""

    def __init__(self, beliefs: dict[int, Belief]) -> None:
        self.beliefs = beliefs
        self.asked: list[NodeKey] = []

    def believe(self, *_: object, **__: object) -> Belief | None:
        return None

    def believe_around(self, key: NodeKey, *_: object, **__: object) -> Belief:
        self.asked.append(key)
        return self.beliefs[int(str(key))]


GRAPH = cast("Graph", None)  # a Judge does not look


def test_a_lucky_measurement_elsewhere_is_judged_by_its_surroundings() -> None:
    history = [*HISTORY, observed(4, 99, 9.0)]
    here = belief({10: 4.0, 11: 6.0, 12: 2.0}, (1, 2, 3))
    judge = Judge({99: belief({99: 3.0}, (4,))})
    found = answer(judge, situation(history), here, GRAPH)

    assert judge.asked == [99]
    assert found is not None
    assert (found[0].key, found[1]) == (11, 6.0)


def test_a_good_node_is_not_forgotten_by_a_region_that_knows_little() -> None:
    """After a restart the model has seen few nodes, far apart, and believes hardly any difference."""
    history = [*HISTORY, observed(4, 99, 9.0)]
    here = belief({12: 5.0, 10: 5.1}, (1, 3))
    judge = Judge({99: belief({99: 8.0, 11: 6.0}, (2, 4))})
    found = answer(judge, situation(history), here, GRAPH)

    assert found is not None
    assert (found[0].key, found[1]) == (99, 8.0)


def test_nobody_asks_about_a_node_that_cannot_be_the_best() -> None:
    history = [*HISTORY, observed(4, 99, 5.0)]
    here = belief({10: 4.0, 11: 6.0, 12: 2.0}, (1, 2, 3))
    judge = Judge({})

    assert answer(judge, situation(history), here, GRAPH) == (HISTORY[1], 6.0)
    assert judge.asked == []


def test_the_smallest_is_judged_the_same_way() -> None:
    history = [*HISTORY, observed(4, 99, -9.0)]
    here = belief({10: 4.0, 11: 6.0, 12: 2.0}, (1, 2, 3))
    judge = Judge({99: belief({99: 3.0}, (4,))})
    found = answer(judge, situation(history, maximize=False), here, GRAPH)

    assert judge.asked == [99]
    assert found is not None
    assert found[0].key == 12


def test_without_a_region_the_best_node_s_own_is_asked() -> None:
    judge = Judge({11: belief({10: 4.4, 11: 4.2, 12: 3.0}, (1, 2, 3))})

    assert answer(judge, situation(HISTORY), None, GRAPH) == (HISTORY[0], 4.4)


def test_it_does_not_ask_for_ever() -> None:
    history = [observed(step, step, float(step)) for step in range(1, 30)]
    judge = Judge({key: belief({key: 0.0}, (key,)) for key in range(30)})
    answer(judge, situation(history), None, GRAPH)

    assert len(judge.asked) == MOST_LOOKS


@pytest.mark.parametrize("name", ["bayes", "paper"])
def test_strategies_with_a_model_judge_by_all_that_was_measured_there(name: str) -> None:
    ring = nx.cycle_graph(300)
    history = [replace(observed(n, n, float(n)), restart=n % 2) for n in range(1, 12)]
    strategy = create_strategy(name)
    assert isinstance(strategy, Believing)
    with stored(ring) as store:
        graph = Graph(store, VIEW, seed=0)
        found = strategy.believe_around(5, situation(history), graph)

    assert found is not None
    assert found.modelled == tuple(range(1, 12))


@pytest.mark.parametrize("unit", [1e290, 1e-310])
def test_units_do_not_matter(unit: float) -> None:
    measured = {10: 4.0, 11: 6.0, 12: 2.0, 99: 20.0}
    history = [observed(step, key, unit * measured[key]) for step, key in enumerate(measured, 1)]
    means = {10: 5.0 * unit, 11: 6.0 * unit, 12: 4.0 * unit}
    found = best_believed(history, [belief(means, (1, 2, 3))], maximize=True)

    assert found is not None
    # The mean of all is 8, and half of the 12 above it is believed.
    assert found[0].key == 99
    assert found[1] / unit == pytest.approx(14.0)


def test_what_is_too_large_to_compute_with_is_as_large_as_can_be() -> None:
    values = values_of([observed(1, 1, 1.7e308), observed(2, 2, -1.7e308), observed(3, 3, 2.0)])

    assert list(values) == [1e300, -1e300, 2.0]
