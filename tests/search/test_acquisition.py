import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from graphbo.errors import ModelError
from graphbo.search.acquisition import (
    ACQUISITIONS,
    DEFAULT_ACQUISITION,
    expected_improvement,
    log_expected_improvement,
    rank,
    upper_confidence_bound,
)
from graphbo.types import FloatArray, Posterior


def one(value: float) -> FloatArray:
    return np.array([value])


@pytest.mark.parametrize(
    ("mean", "std", "incumbent"),
    [(0.0, 1.0, 0.0), (1.0, 2.0, 3.0), (-1.0, 0.5, 1.0), (5.0, 1.0, 0.0), (0.0, 3.0, 0.2)],
)
def test_expected_improvement_is_the_integral_it_stands_for(
    mean: float, std: float, incumbent: float
) -> None:
    expected, _ = quad(
        lambda value: (value - incumbent) * norm.pdf(value, mean, std), incumbent, mean + 12 * std
    )
    assert expected_improvement(one(mean), one(std), incumbent)[0] == pytest.approx(expected)
    assert log_expected_improvement(one(mean), one(std), incumbent)[0] == pytest.approx(
        math.log(expected)
    )


def log_h(z: float) -> float:
    """log(φ(z) + zΦ(z)) by its continued fraction, good for z far below zero."""
    x, fraction = -z, 0.0
    for step in range(4000, 1, -1):
        fraction = step / (x + fraction)
    # Mills' ratio is 1/(x + 1/(x + 2/(x + …))); 1 − x·ratio follows without cancellation.
    first = 1.0 / (x + fraction)
    return -0.5 * z * z - 0.5 * math.log(2 * math.pi) + math.log(first / (x + first))


@pytest.mark.parametrize("z", [-2.0, -5.0, -20.0, -100.0, -299.0, -301.0, -1e4, -1e8])
def test_the_logarithm_is_right_where_the_improvement_itself_underflows(z: float) -> None:
    found = log_expected_improvement(one(z), one(1.0), 0.0)[0]
    assert found == pytest.approx(log_h(z), rel=1e-12, abs=1e-9)


def test_the_logarithm_has_no_jumps_and_never_falls() -> None:
    z = np.concatenate([-np.geomspace(1e10, 1e-3, 4000), np.geomspace(1e-3, 1e10, 4000)])
    values = log_expected_improvement(z, np.ones(len(z)), 0.0)
    assert np.isfinite(values).all()
    assert (np.diff(values) > 0).all()
    for seam in (-1.0, -300.0):
        around = log_expected_improvement(seam + np.array([-1e-9, 1e-9]), np.ones(2), 0.0)
        # The slope is about |z|, so this is what a smooth function does.
        assert np.diff(around)[0] < 4e-9 * max(1.0, -seam)


def test_certain_nodes_are_worth_their_own_gain() -> None:
    mean, std = np.array([3.0, 1.0, 0.5]), np.zeros(3)
    assert expected_improvement(mean, std, 1.0).tolist() == [2.0, 0.0, 0.0]
    assert log_expected_improvement(mean, std, 1.0)[1] == -math.inf


@pytest.mark.parametrize("name", ACQUISITIONS)
@pytest.mark.parametrize("scale", [1e12, 1e-12, 1e-300])
def test_extreme_units_give_no_warning_and_no_nan(name: str, scale: float) -> None:
    mean = scale * np.array([-1.0, 0.0, 1.0, 1e3])
    std = scale * np.array([1e-9, 1.0, 1e9, 1e-280])
    for rule in (ACQUISITIONS[name].value, ACQUISITIONS[name].score):
        assert not np.isnan(rule(mean, std, scale)).any()


def test_the_bound_is_the_mean_and_two_deviations() -> None:
    assert upper_confidence_bound(one(1.0), one(0.5), 7.0).tolist() == [2.0]


def test_expected_improvement_is_the_default() -> None:
    assert DEFAULT_ACQUISITION == "ei"
    assert set(ACQUISITIONS) == {"ei", "log-ei", "ucb"}


def ranked(
    mean: FloatArray, std: FloatArray, incumbent: float, name: str, maximize: bool = True
) -> list[int]:
    posterior = Posterior(mean, std)
    found = rank(
        posterior,
        np.arange(len(mean)),
        incumbent,
        np.random.default_rng(0),
        acquisition=name,
        maximize=maximize,
    )
    return [int(row) for row in found.rows]


finite = st.floats(-100, 100)
posteriors = st.lists(
    st.tuples(finite, st.floats(0.01, 10)), min_size=1, max_size=12, unique_by=lambda pair: pair
)


@given(posteriors, finite, st.sampled_from(sorted(ACQUISITIONS)))
def test_a_ranking_is_in_the_order_of_the_values(
    pairs: list[tuple[float, float]], incumbent: float, name: str
) -> None:
    mean, std = np.array(pairs).T
    generator = np.random.default_rng(1)
    found = rank(Posterior(mean, std), range(len(mean)), incumbent, generator, acquisition=name)
    assert sorted(found.rows) == list(range(len(mean)))
    scores = ACQUISITIONS[name].score(mean, std, incumbent)[found.rows]
    assert (np.diff(scores) <= 2e-9).all()
    assert np.array_equal(found.values, ACQUISITIONS[name].value(mean, std, incumbent)[found.rows])


@given(posteriors, finite, st.sampled_from(sorted(ACQUISITIONS)))
def test_minimising_is_maximising_the_negative(
    pairs: list[tuple[float, float]], incumbent: float, name: str
) -> None:
    mean, std = np.array(pairs).T
    assert ranked(mean, std, incumbent, name) == ranked(-mean, std, -incumbent, name, False)


@pytest.mark.parametrize("name", ACQUISITIONS)
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_the_order_does_not_depend_on_the_units(name: str, unit: float) -> None:
    generator = np.random.default_rng(3)
    mean, std = generator.normal(size=30), generator.uniform(0.1, 2, size=30)
    plain = ranked(mean, std, 1.0, name)
    assert ranked(unit * mean, unit * std, unit, name) == plain
    assert ranked(mean + 1e5, std, 1e5 + 1.0, name) == plain


def test_nodes_that_promise_nothing_at_all_are_still_ranked() -> None:
    mean = np.array([-60.0, -40.0, -50.0])
    assert not expected_improvement(mean, np.ones(3), 0.0).any()
    assert ranked(mean, np.ones(3), 0.0, "ei") == [1, 2, 0]


@pytest.mark.parametrize("name", ACQUISITIONS)
@pytest.mark.parametrize("jitter", [0.0, 1e-13])
def test_ties_are_broken_at_random_and_not_by_row(name: str, jitter: float) -> None:
    mean = np.full(6, 2.0) + jitter * np.arange(6)
    posterior = Posterior(mean, np.ones(6))
    firsts = [
        rank(posterior, np.arange(6), 3.0, np.random.default_rng(seed), acquisition=name).rows[0]
        for seed in range(300)
    ]
    counts = np.bincount(firsts, minlength=6)
    assert counts.min() > 25
    assert counts.max() < 80


def test_the_same_generator_gives_the_same_order() -> None:
    posterior = Posterior(np.zeros(20), np.ones(20))
    orders = [
        rank(posterior, np.arange(20), 0.0, np.random.default_rng(5)).rows.tolist()
        for _ in range(2)
    ]
    assert orders[0] == orders[1]
    assert orders[0] != sorted(orders[0])


def test_only_candidates_are_ranked() -> None:
    posterior = Posterior(np.array([9.0, 1.0, 2.0, 3.0]), np.ones(4))
    found = rank(posterior, [1, 3], 0.0, np.random.default_rng(0))
    assert found.rows.tolist() == [3, 1]
    assert len(rank(posterior, [], 0.0, np.random.default_rng(0))) == 0


def test_what_cannot_be_ranked_is_refused_clearly() -> None:
    posterior = Posterior(np.zeros(3), np.ones(3))
    with pytest.raises(ModelError, match="choose from ei, log-ei, ucb"):
        rank(posterior, [0], 0.0, np.random.default_rng(0), acquisition="pi")
    with pytest.raises(ModelError, match="rows 0 to 2"):
        rank(posterior, [3], 0.0, np.random.default_rng(0))
    with pytest.raises(ModelError, match="one of each per row"):
        Posterior(np.zeros(3), np.zeros(2))


def test_a_discount_changes_the_order_and_not_what_is_expected() -> None:
    posterior = Posterior(np.array([1.0, 2.0, 3.0]), np.ones(3))
    costs = np.array([1.0, 10.0, 1000.0])

    def ranked(alpha: float) -> list[int]:
        discount = alpha * np.log(costs)
        found = rank(posterior, [0, 1, 2], 2.0, np.random.default_rng(0), discount=discount)
        order = np.argsort(found.rows)
        expected = expected_improvement(posterior.mean, posterior.std, 2.0)
        np.testing.assert_allclose(found.values[order], expected)
        return [int(row) for row in found.rows]

    assert ranked(0.0) == [2, 1, 0]
    assert ranked(1.0) == [0, 1, 2]
    with pytest.raises(ModelError, match="ucb cannot be had per cost"):
        rank(posterior, [0], 2.0, np.random.default_rng(0), acquisition="ucb", discount=np.zeros(3))
