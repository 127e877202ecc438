import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel

from graphbo.search.kernels import (
    KERNELS,
    Diffusion,
    Matern,
    SumInverse,
)
from graphbo.search.model import SpectralGaussianProcess
from graphbo.search.model.composed import (
    Likelihood,
    best_theta,
    starting_points,
    weak_prior,
    with_amplitude_and_noise,
)
from graphbo.search.model.composed.prior import GaussianPrior
from graphbo.types import FloatArray
from tests.search.model.support import GRID, SCALE_FREE, smooth_data, spectrum_of

Theta = FloatArray


@pytest.mark.parametrize("name", KERNELS)
def test_the_hyperparameters_maximise_likelihood_times_prior(name: str) -> None:
    rows, y, _ = smooth_data(SCALE_FREE, 30, noise=0.3)
    model = SpectralGaussianProcess(name, spectrum=SCALE_FREE).fit(rows, y)
    initial = with_amplitude_and_noise(KERNELS[name](SCALE_FREE))
    prior = weak_prior(initial)

    def log_posterior(theta: Theta) -> float:
        return float(model.log_marginal_likelihood(theta)) + prior(theta)[0]

    best = model.kernel_.theta
    reached = log_posterior(best)
    assert reached > log_posterior(initial.theta)
    generator = np.random.default_rng(0)
    for size in (0.1, 0.5, 2.0):
        for _ in range(20):
            step = size * generator.normal(size=len(best)) * prior.scale
            bounds = model.kernel_.bounds
            assert log_posterior(np.clip(best + step, *bounds.T)) < reached + 0.02
    # What is reported is the likelihood alone.
    assert model.log_marginal_likelihood() == pytest.approx(model.log_marginal_likelihood(best))


def test_without_a_prior_it_is_maximum_likelihood() -> None:
    rows, y, _ = smooth_data(SCALE_FREE, 30, noise=0.3)
    free = SpectralGaussianProcess("diffusion", spectrum=SCALE_FREE, prior=None).fit(rows, y)
    plain = SpectralGaussianProcess(
        "diffusion", spectrum=SCALE_FREE, optimizer="fmin_l_bfgs_b"
    ).fit(rows, y)
    _, gradient = free.log_marginal_likelihood(free.kernel_.theta, eval_gradient=True)
    assert np.abs(gradient).max() < 1e-2
    assert plain.log_marginal_likelihood() == pytest.approx(free.log_marginal_likelihood(), abs=0.1)
    shrunk = SpectralGaussianProcess("diffusion", spectrum=SCALE_FREE).fit(rows, y)
    assert shrunk.log_marginal_likelihood() < free.log_marginal_likelihood()


def test_a_prior_of_the_users_own_is_obeyed() -> None:
    rows, y, _ = smooth_data(SCALE_FREE, 30, noise=0.3)
    wanted = np.log([2.0, 5.0, 0.01])

    def prior(theta: Theta) -> tuple[float, Theta]:
        apart = theta - wanted
        return -5e5 * float(apart @ apart), -1e6 * apart

    model = SpectralGaussianProcess("diffusion", spectrum=SCALE_FREE, prior=prior).fit(rows, y)
    assert np.allclose(model.kernel_.theta, wanted, atol=1e-3)


def test_ard_shrinks_towards_a_shared_value() -> None:
    rows, y, _ = smooth_data(SCALE_FREE, 30, noise=0.5)

    def spread(prior: str | None) -> float:
        model = SpectralGaussianProcess("diffusion-ard", spectrum=SCALE_FREE, prior=prior)  # type: ignore[arg-type]
        theta = model.fit(rows, y).kernel_.theta
        assert len(theta) == len(SCALE_FREE) + 2
        return float(np.std(theta[2:-1]))

    assert spread("weak") < 0.3
    assert spread(None) > 3 * spread("weak")


def test_the_prior_has_the_gradient_and_the_curvature_it_says() -> None:
    generator = np.random.default_rng(0)
    prior = GaussianPrior(
        generator.normal(size=7), generator.uniform(0.5, 2, size=7), (slice(2, 6),)
    )
    theta = generator.normal(size=7)
    _, gradient = prior(theta)
    for index, shift in enumerate(1e-5 * np.eye(7)):
        up, down = prior(theta + shift), prior(theta - shift)
        assert gradient[index] == pytest.approx((up[0] - down[0]) / 2e-5, abs=1e-8)
        assert np.allclose(-(up[1] - down[1]) / 2e-5, prior.curvature[index], atol=1e-8)
    # Shifting the shared elements together costs what the average's scale says.
    together, apart = np.zeros(7), np.zeros(7)
    together[2:6] = 1.0
    apart[2:6] = [1, -1, 1, -1]
    at = prior.mean
    assert prior(at + together)[0] == pytest.approx(-0.5)
    assert prior(at + apart)[0] < -0.5


def test_noise_is_fitted_and_not_capped() -> None:
    large = spectrum_of(nx.grid_2d_graph(12, 12))
    for noise in (0.05, 0.5, 1.0):
        rows, y, _ = smooth_data(large, 120, noise)
        model = SpectralGaussianProcess("diffusion", spectrum=large).fit(rows, y)
        found = np.sqrt(model.kernel_.k2.noise_level) * model.standardisation_.scale
        assert 0.6 * noise < found < 1.5 * noise


def test_several_starts_find_what_one_misses() -> None:
    gains = []
    for seed in range(12):
        rows, y, _ = smooth_data(GRID, 20, noise=0.3, seed=seed)
        y = (y - y.mean()) / y.std()
        kernel = with_amplitude_and_noise(SumInverse.scaled(GRID))
        likelihood = Likelihood(kernel, rows[:, None].astype(float), y, np.full(20, 1e-6))
        prior, groups = weak_prior(kernel), starting_points(kernel)
        costs = [
            best_theta(likelihood.cost, starts, kernel.bounds, prior, likelihood.information)[1]
            for starts in (groups[1:], groups)
        ]
        gains.append(costs[0] - costs[1])
    assert min(gains) > -0.05
    assert max(gains) > 0.5


def test_a_warm_start_takes_fewer_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    original = Likelihood.cost

    def counted(self: Likelihood, theta: Theta, eval_gradient: bool = True) -> Any:
        calls.append(theta)
        return original(self, theta, eval_gradient)

    monkeypatch.setattr(Likelihood, "cost", counted)
    rows, y, _ = smooth_data(SCALE_FREE, 30, noise=0.3)
    cold = SpectralGaussianProcess("sum-inverse", spectrum=SCALE_FREE).fit(rows, y)
    cold_calls = len(calls)
    calls.clear()
    warm = SpectralGaussianProcess("sum-inverse", spectrum=SCALE_FREE)
    warm.fit(rows, y, start=cold.kernel_.theta)
    assert len(calls) <= 3 < cold_calls
    assert np.allclose(warm.kernel_.theta, cold.kernel_.theta, atol=0.2)


def test_random_restarts_come_from_the_seed() -> None:
    rows, y, _ = smooth_data(SCALE_FREE, 15, noise=0.3)

    def fitted(seed: int) -> Theta:
        model = SpectralGaussianProcess(
            "sum-inverse", spectrum=SCALE_FREE, n_restarts_optimizer=2, random_state=seed
        )
        return np.asarray(model.fit(rows, y).kernel_.theta)

    assert np.array_equal(fitted(3), fitted(3))


def test_the_search_also_serves_scikit_learns_own_regressor() -> None:
    rows, y, _ = smooth_data(SCALE_FREE, 20, noise=0.3)
    model = SpectralGaussianProcess("matern", spectrum=SCALE_FREE).fit(rows, y)
    kernel = with_amplitude_and_noise(Matern.scaled(SCALE_FREE))
    prior, starts = weak_prior(kernel), starting_points(kernel)

    def optimizer(objective: Any, theta: Theta, bounds: FloatArray) -> tuple[Theta, float]:
        return best_theta(objective, starts, bounds, prior)

    regressor = GaussianProcessRegressor(kernel, alpha=1e-6, optimizer=optimizer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of an optimum near a bound
        regressor.fit(rows[:, None], model.y_train_)
    assert np.allclose(regressor.kernel_.theta, model.kernel_.theta, atol=0.3)


def test_no_optimiser_keeps_the_hyperparameters() -> None:
    rows, y, _ = smooth_data(GRID, 10)
    kernel = 2.0 * Diffusion(GRID, 3.0) + WhiteKernel(0.1)
    model = SpectralGaussianProcess(kernel, optimizer=None).fit(rows, y)
    assert model.kernel_.theta == pytest.approx(kernel.theta)
    started = SpectralGaussianProcess(kernel, optimizer=None).fit(rows, y, start=[0.1, 0.2, 0.3])
    assert started.kernel_.theta == pytest.approx([0.1, 0.2, 0.3])
