"""The answer under noise."""

import numpy as np
import pytest

from graphbo.acquisition import Ranking
from graphbo.strategies.answer import best_believed
from graphbo.strategies.model import Belief
from graphbo.types import Observation, Posterior, Subgraph


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
        (),
        0,
    )


HISTORY = [observed(1, 10, 4.0), observed(2, 11, 6.0), observed(3, 12, 2.0)]


def test_is_the_node_with_the_best_posterior_mean() -> None:
    found = best_believed(HISTORY, belief({10: 4.5, 11: 4.2, 12: 3.5}, (1, 2, 3)), maximize=True)

    assert found is not None
    assert (found[0].key, found[1]) == (10, 4.5)


def test_may_be_the_smallest() -> None:
    found = best_believed(HISTORY, belief({10: 3.0, 11: 4.2, 12: 3.5}, (1, 2, 3)), maximize=False)

    assert found is not None
    assert found[0].key == 10


@pytest.mark.parametrize(("value", "answer"), [(7.0, 11), (20.0, 99)])
def test_a_node_elsewhere_is_believed_as_far_as_those_that_the_model_knows(
    value: float, answer: int
) -> None:
    """The model believes half of each difference: 7 elsewhere is worth less than 6 here, 20 is worth more."""
    history = [*HISTORY, observed(4, 99, value)]
    found = best_believed(history, belief({10: 5.0, 11: 6.0, 12: 4.0}, (1, 2, 3)), maximize=True)

    assert found is not None
    assert found[0].key == answer
    mean = np.mean([4.0, 6.0, 2.0, value])
    assert found[1] == (6.0 if answer == 11 else pytest.approx(mean + (value - mean) / 2))


def test_without_noise_it_is_the_best_value_wherever_it_is() -> None:
    history = [*HISTORY, observed(4, 99, 6.5)]
    found = best_believed(history, belief({10: 4.0, 11: 6.0, 12: 2.0}, (1, 2, 3)), maximize=True)

    assert found is not None
    assert (found[0].key, found[1]) == (99, 6.5)


def test_a_node_in_the_region_that_the_model_was_not_fitted_to_is_elsewhere() -> None:
    """After a restart the paper's model leaves out what was measured before."""
    history = [*HISTORY, observed(4, 13, 9.0)]
    known = belief({10: 4.0, 11: 6.0, 12: 2.0, 13: -5.0}, (1, 2, 3))
    found = best_believed(history, known, maximize=True)

    assert found is not None
    assert found[0].key == 13


def test_failures_are_no_answer() -> None:
    known = belief({10: 4.0}, ())

    assert best_believed([observed(1, 10, None)], known, maximize=True) is None
