import pickle
import warnings
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.stats import multivariate_t
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, WhiteKernel
from sklearn.model_selection import cross_val_score
from threadpoolctl import threadpool_info, threadpool_limits

from graphbo.errors import ModelError
from graphbo.search.kernels import (
    KERNELS,
    Diffusion,
    DiffusionARD,
    Matern,
    Polynomial,
    SpectralKernel,
    SumInverse,
    Trend,
)
from graphbo.search.model import (
    KERNEL_NAMES,
    GaussianPrior,
    MapOptimizer,
    SpectralGaussianProcess,
    Standardisation,
    starting_points,
    weak_prior,
)
from graphbo.search.model.likelihood import Likelihood
from graphbo.search.model.named import STEEPNESSES
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray, IntArray

Theta = FloatArray


def spectrum_of(graph: "nx.Graph[int]") -> Spectrum:
    return Spectrum.from_adjacency(nx.to_numpy_array(graph))


GRID = spectrum_of(nx.grid_2d_graph(6, 7))
SCALE_FREE = spectrum_of(nx.barabasi_albert_graph(60, 2, seed=4))
TWO_PARTS = spectrum_of(nx.disjoint_union(nx.path_graph(20), nx.star_graph(14)))


def smooth_data(
    spectrum: Spectrum, count: int, noise: float = 0.1, seed: int = 0
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Observed rows, their noisy values, and the smooth function behind them."""
    generator = np.random.default_rng(seed)
    truth = spectrum.eigenvectors[:, :6] @ generator.normal(size=6)
    truth /= truth.std()
    rows = generator.permutation(len(spectrum))[:count]
    return rows, truth[rows] + noise * generator.normal(size=count), truth


# --- kernel="auto" ---------------------------------------------------------------------------


def automatic_posterior(
    adjacency: FloatArray, rows: IntArray, y: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The model's definition, written down once more: mean, scale and evidence per noise level.

    With the unhalved Laplacian, bisection, plain inverses, and the evidence as the density of a
    multivariate t distribution, which is what a normal with an inverse-gamma variance is.
    """
    degrees = adjacency.sum(axis=1)
    root = np.array([1 / np.sqrt(d) if d > 0 else 0.0 for d in degrees])
    matrix = np.diag((degrees > 0).astype(float)) - root[:, None] * adjacency * root
    values, vectors = np.linalg.eigh(matrix)
    zero = values < 1e-8
    weights = np.ones(len(values))
    if not zero.all():
        gaps = values[~zero] - values[~zero].min()
        low, high = 1e-3, 1e6
        for _ in range(60):
            time = np.sqrt(low * high)
            if np.exp(-time * gaps).sum() > max(0.1 * len(gaps), 1.02):
                low = time
            else:
                high = time
        weights[zero], weights[~zero] = 30.0, np.exp(-time * gaps)
    prior = (vectors * weights) @ vectors.T * (len(weights) / weights.sum()) + 1.0
    means, variances, evidence = [], [], []
    for nugget in (1e-3, 5e-2, 5e-1):
        observed = prior[np.ix_(rows, rows)] + (nugget + 1e-6) * np.eye(len(rows))
        gain = prior[:, rows] @ np.linalg.inv(observed)
        spread = np.diag(prior) - np.einsum("ij,ij->i", gain, prior[:, rows])
        shape, scale = 2 + len(rows) / 2, 2 + y @ np.linalg.solve(observed, y) / 2
        means.append(gain @ y)
        variances.append(scale / shape * (np.maximum(spread, 1e-9) + nugget))
        density = multivariate_t(np.zeros(len(rows)), observed, df=4)
        evidence.append(density.logpdf(y))
    logs = np.array(evidence)
    shares = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    mean = shares @ np.array(means)
    variance = shares @ (np.array(variances) + np.array(means) ** 2) - mean**2
    return mean, np.sqrt(variance), logs


AUTOMATIC = {
    "scale-free": nx.barabasi_albert_graph(60, 3, seed=1),
    "small world": nx.watts_strogatz_graph(50, 6, 0.1, seed=1),
    "path": nx.path_graph(40),
    "star": nx.star_graph(20),
    "clique": nx.complete_graph(10),
    "no edge": nx.empty_graph(12),
    "two parts": nx.disjoint_union(nx.path_graph(20), nx.barabasi_albert_graph(30, 1, seed=2)),
}


@pytest.mark.parametrize("graph", AUTOMATIC)
def test_the_automatic_model_is_what_was_measured(graph: str) -> None:
    adjacency = np.asarray(nx.to_numpy_array(AUTOMATIC[graph]))
    spectrum = Spectrum.from_adjacency(adjacency)
    rows, y, _ = smooth_data(spectrum, len(spectrum) // 2, noise=0.3)
    y = (y - y.mean()) / y.std()
    model = SpectralGaussianProcess(spectrum=spectrum).fit(rows, y)
    mean, std, evidence = automatic_posterior(adjacency, rows, y)
    posterior = model.posterior()
    assert np.allclose(posterior.mean, mean, rtol=0, atol=1e-8)
    assert np.allclose(posterior.std, std, rtol=0, atol=1e-8)
    expected = np.log(np.mean(np.exp(evidence - evidence.max()))) + evidence.max()
    assert model.log_marginal_likelihood() == pytest.approx(expected, abs=1e-8)


def test_the_automatic_likelihood_is_one_of_the_noise_level() -> None:
    rows, y, _ = smooth_data(SCALE_FREE, 25)
    model = SpectralGaussianProcess(spectrum=SCALE_FREE).fit(rows, y)
    nuggets = np.log([1e-3, 5e-2, 5e-1])
    each = [model.log_marginal_likelihood([nugget]) for nugget in nuggets]
    _, _, expected = automatic_posterior(SCALE_FREE.adjacency, rows, model.y_train_)
    assert np.allclose(each, expected, rtol=0, atol=1e-8)
    value, gradient = model.log_marginal_likelihood([-1.3], eval_gradient=True)
    up, down = (model.log_marginal_likelihood([-1.3 + s]) for s in (1e-5, -1e-5))
    assert value == model.log_marginal_likelihood([-1.3])
    assert gradient == pytest.approx([(up - down) / 2e-5], abs=1e-5)
    assert model.kernel_.theta == pytest.approx([nuggets[int(np.argmax(each))]])


def test_the_automatic_model_finds_the_noise_there_is() -> None:
    found = []
    for noise in (0.0, 1.5):
        rows, y, truth = smooth_data(GRID, 30, noise)
        model = SpectralGaussianProcess(spectrum=GRID).fit(rows, y)
        found.append(model.kernel_.k2.noise_level)
        hidden = np.setdiff1d(np.arange(len(GRID)), rows)
        assert noise or model.score(hidden, truth[hidden]) > 0.7
    assert found == pytest.approx([1e-3, 5e-1])


@pytest.mark.parametrize("kernel", ["auto", "diffusion", "diffusion-ard", "sum-inverse"])
def test_a_feature_that_matters_is_learned(kernel: str) -> None:
    generator = np.random.default_rng(3)
    feature = generator.normal(size=len(GRID))
    rows = generator.permutation(len(GRID))[:15]
    truth = 3.0 * feature
    hidden = np.setdiff1d(np.arange(len(GRID)), rows)
    scores = [
        SpectralGaussianProcess(kernel, spectrum=GRID, feature=known)
        .fit(rows, truth[rows])
        .score(hidden, truth[hidden])
        for known in (feature, None)
    ]
    assert scores[0] > 0.9
    assert scores[1] < 0.3


def test_a_feature_that_says_nothing_is_not_believed() -> None:
    rows, y, truth = smooth_data(GRID, 30)
    feature = np.random.default_rng(9).normal(size=len(GRID))
    plain = SpectralGaussianProcess(spectrum=GRID).fit(rows, y)
    model = SpectralGaussianProcess(spectrum=GRID, feature=feature).fit(rows, y)
    hidden = np.setdiff1d(np.arange(len(GRID)), rows)
    assert np.exp(model.kernel_.theta)[0] == pytest.approx(min(STEEPNESSES))
    assert model.score(hidden, truth[hidden]) > plain.score(hidden, truth[hidden]) - 0.05


@pytest.mark.parametrize("feature", [np.zeros(3), np.full(len(GRID), np.nan)])
def test_a_feature_needs_a_number_for_every_row(feature: FloatArray) -> None:
    with pytest.raises(ModelError, match="feature"):
        SpectralGaussianProcess(spectrum=GRID, feature=feature).fit([0], [1.0])


# --- the likelihood, its gradient and predictions against scikit-learn's own --------------------


def kernels_to_compare(spectrum: Spectrum) -> dict[str, Kernel]:
    other = spectrum_of(nx.cycle_graph(len(spectrum)))
    named = {
        name: ConstantKernel(1.3) * build(spectrum) + WhiteKernel(0.05)
        for name, build in KERNELS.items()
    }
    diffusion, matern = Diffusion(spectrum, 8.0), Matern(spectrum, 0.2, nu_bounds=(0.1, 9.0))
    return named | {
        "fitted ν": 1.2 * matern + WhiteKernel(0.1),
        "the formula's zero mode": 1.2 * Diffusion(spectrum, 8, zero_weight=None)
        + WhiteKernel(0.1),
        "nothing but itself": Diffusion(spectrum, 4.0),
        "constant added": WhiteKernel(0.3) + diffusion + ConstantKernel(0.7),
        "nested factors": (diffusion * 2.0 + 0.5 + WhiteKernel(0.2)) * 3.0,
        "two of one spectrum": 0.5 * diffusion + 2.0 * Polynomial(spectrum) + WhiteKernel(0.2),
        "two spectra": diffusion + SumInverse(other) + WhiteKernel(0.2),
        "fixed parts": ConstantKernel(2.0, "fixed") * diffusion + WhiteKernel(0.2, "fixed"),
        "fixed beta": 1.5 * Diffusion(spectrum, 3.0, "fixed") + WhiteKernel(0.2),
        "a trend": diffusion
        + 0.8 * Trend(np.linspace(-1.5, 1.5, len(spectrum)))
        + WhiteKernel(0.2),
        "two trends": (diffusion + Trend(np.arange(len(spectrum)) / 9.0)) * 1.5
        + ConstantKernel(0.5)
        + 0.3 * Trend(np.cos(np.arange(len(spectrum))))
        + WhiteKernel(0.2),
        "a product of two": diffusion * matern + WhiteKernel(0.2),
        "a power": diffusion**2 + WhiteKernel(0.2),
        "not of a graph": RBF(3.0) + WhiteKernel(0.2),
    }


COMPARED = sorted(kernels_to_compare(GRID))


@pytest.mark.parametrize("spectrum", [GRID, SCALE_FREE, TWO_PARTS], ids=["grid", "ba", "two"])
@pytest.mark.parametrize("name", COMPARED)
def test_likelihood_gradient_and_predictions_equal_the_generic_ones(
    name: str, spectrum: Spectrum
) -> None:
    kernel = kernels_to_compare(spectrum)[name]
    rows, y, _ = smooth_data(spectrum, 20)
    known = np.linspace(0.01, 0.2, 20)
    model = SpectralGaussianProcess(kernel, optimizer=None).fit(rows, y, noise=known)
    reference = GaussianProcessRegressor(kernel, alpha=model.noise_, optimizer=None)
    reference.fit(rows[:, None], model.y_train_)
    generator = np.random.default_rng(1)
    for _ in range(3):
        theta = kernel.theta + 0.5 * generator.normal(size=kernel.n_dims)
        value, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
        expected, slopes = reference.log_marginal_likelihood(theta, eval_gradient=True)
        assert value == pytest.approx(expected, abs=1e-8)
        assert np.allclose(gradient, slopes, rtol=0, atol=1e-8)
        assert model.log_marginal_likelihood(theta) == value
    assert model.log_marginal_likelihood() == pytest.approx(
        reference.log_marginal_likelihood(), abs=1e-8
    )
    everywhere = np.arange(len(spectrum))[:, None]
    scaled = model.standardisation_
    mean, std = reference.predict(everywhere, return_std=True)
    _, covariance = reference.predict(everywhere, return_cov=True)
    found_mean, found_std = model.predict(everywhere, return_std=True)
    assert np.allclose(found_mean, scaled.original(mean), rtol=0, atol=1e-8)
    assert np.allclose(found_std, std * scaled.scale, rtol=0, atol=1e-7)
    assert np.array_equal(model.predict(everywhere), found_mean)
    _, found_covariance = model.predict(everywhere, return_cov=True)
    assert np.allclose(found_covariance, covariance * scaled.scale**2, rtol=0, atol=1e-8)


def test_thetas_that_differ_in_their_noise_alone_are_not_mixed_up() -> None:
    """They share products: each gives what a model gives that was asked nothing before, to the last digit."""
    kernel = 1.3 * Diffusion(GRID, 4.0) + WhiteKernel(0.05)
    rows, y, _ = smooth_data(GRID, 20)

    def model() -> SpectralGaussianProcess:
        return SpectralGaussianProcess(kernel, optimizer=None).fit(rows, y)

    asked = model()
    smooth, noise = kernel.theta[:2], kernel.theta[2]
    for theta in ([*smooth, noise], [*smooth, noise + 1], [*(smooth + 1), noise], [*smooth, noise]):
        assert asked.log_marginal_likelihood(theta) == model().log_marginal_likelihood(theta)


@pytest.mark.parametrize("name", COMPARED)
def test_gradients_equal_finite_differences(name: str) -> None:
    kernel = kernels_to_compare(GRID)[name]
    rows, y, _ = smooth_data(GRID, 20)
    model = SpectralGaussianProcess(kernel, optimizer=None).fit(rows, y, noise=0.01)
    theta = kernel.theta + 0.2
    _, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    for index, found in enumerate(gradient):
        shift = 1e-5 * np.eye(len(theta))[index]
        up, down = (model.log_marginal_likelihood(theta + s) for s in (shift, -shift))
        assert found == pytest.approx((up - down) / 2e-5, abs=1e-5)


class Fortran(RBF):  # type: ignore[misc]
    """A kernel of the user's own that returns its matrices column by column."""

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        result = super().__call__(X, Y, eval_gradient)
        return result if eval_gradient else np.asfortranarray(result)


def test_the_layout_of_a_kernels_matrix_does_not_matter() -> None:
    rows, y, _ = smooth_data(GRID, 12)
    values = [
        SpectralGaussianProcess(kernel(2.0), optimizer=None)
        .fit(rows, y, noise=0.3)
        .log_marginal_likelihood()
        for kernel in (RBF, Fortran)
    ]
    assert values[0] == pytest.approx(values[1])


@pytest.mark.parametrize("name", [*KERNELS, "two of one spectrum", "constant added"])
def test_the_expected_curvature_is_that_of_fisher(name: str) -> None:
    kernel = kernels_to_compare(SCALE_FREE)[name]
    rows, y, _ = smooth_data(SCALE_FREE, 20)
    model = SpectralGaussianProcess(kernel, optimizer=None).fit(rows, y)
    information = model._likelihood.information
    assert information is not None
    covariance, gradient = kernel(rows[:, None], eval_gradient=True)
    inverse = np.linalg.inv(covariance + np.diag(model.noise_))
    scores = np.einsum("ij,jkp->ikp", inverse, gradient)
    expected = 0.5 * np.einsum("ijp,jiq->pq", scores, scores)
    assert np.allclose(information(kernel.theta), expected, rtol=0, atol=1e-8)


def test_a_fit_never_builds_a_matrix_per_hyperparameter(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **options: Any) -> None:
        raise AssertionError("the generic path was taken")

    monkeypatch.setattr(SpectralKernel, "_covariance_gradient", refuse)
    rows, y, _ = smooth_data(GRID, 20)
    for name in KERNEL_NAMES:
        SpectralGaussianProcess(name, spectrum=GRID).fit(rows, y)


def test_blas_has_one_thread_while_fitting_and_its_own_afterwards() -> None:
    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    seen = []

    def look(objective: Any, theta: Theta, bounds: Any) -> tuple[Theta, float]:
        seen.append(threads())
        return theta, float(objective(theta)[0])

    rows, y, _ = smooth_data(GRID, 20)
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        SpectralGaussianProcess("diffusion", spectrum=GRID, optimizer=look).fit(rows, y)
        assert threads() == before
    assert seen == [{1}]


# --- hyperparameters ------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
def test_the_hyperparameters_maximise_likelihood_times_prior(name: str) -> None:
    rows, y, _ = smooth_data(SCALE_FREE, 30, noise=0.3)
    model = SpectralGaussianProcess(name, spectrum=SCALE_FREE).fit(rows, y)
    initial = SpectralGaussianProcess(name, spectrum=SCALE_FREE)._initial_kernel()
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
        generator.normal(size=7), generator.uniform(0.5, 2, size=7), (slice(2, 6),), 0.8
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
    assert prior(at + together)[0] == pytest.approx(-0.5 / 0.8**2)
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
        model = SpectralGaussianProcess("sum-inverse", spectrum=GRID, optimizer=None).fit(rows, y)
        kernel, likelihood = model.kernel_, model._likelihood
        prior, groups = weak_prior(kernel), starting_points(kernel)
        costs = [
            MapOptimizer(prior, starts, information=likelihood.information)(
                likelihood.cost, kernel.theta, kernel.bounds
            )[1]
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


def test_the_optimiser_also_serves_scikit_learns_own_regressor() -> None:
    rows, y, _ = smooth_data(SCALE_FREE, 20, noise=0.3)
    model = SpectralGaussianProcess("matern", spectrum=SCALE_FREE).fit(rows, y)
    kernel = SpectralGaussianProcess("matern", spectrum=SCALE_FREE)._initial_kernel()
    optimizer = MapOptimizer(weak_prior(kernel), starting_points(kernel))
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


# --- values, units and noise ----------------------------------------------------------------


@pytest.mark.parametrize("name", KERNEL_NAMES)
@pytest.mark.parametrize(("factor", "offset"), [(1e12, 0.0), (1e-12, 0.0), (3.0, 1e6), (-2.0, 5.0)])
def test_predictions_are_in_the_users_units(name: str, factor: float, offset: float) -> None:
    rows, y, _ = smooth_data(SCALE_FREE, 20)
    plain = SpectralGaussianProcess(name, spectrum=SCALE_FREE).fit(rows, y).posterior()
    model = SpectralGaussianProcess(name, spectrum=SCALE_FREE).fit(rows, factor * y + offset)
    scaled = model.posterior()
    tolerance = 1e-5 * abs(factor)
    assert np.allclose(scaled.mean, factor * plain.mean + offset, rtol=0, atol=tolerance)
    assert np.allclose(scaled.std, abs(factor) * plain.std, rtol=0, atol=tolerance)


def test_values_are_standardised_by_the_whole_run() -> None:
    rows, y, _ = smooth_data(GRID, 10)
    everything = np.concatenate([y, [40.0, -35.0]])
    model = SpectralGaussianProcess(spectrum=GRID).fit(rows, y, reference=everything)
    assert model.standardisation_.location == pytest.approx(everything.mean())
    assert model.standardisation_.scale == pytest.approx(everything.std())
    assert np.allclose(model.y_train_, (y - everything.mean()) / everything.std())


def test_standardisation_can_be_turned_off() -> None:
    rows, y, _ = smooth_data(GRID, 10)
    model = SpectralGaussianProcess(spectrum=GRID, normalize_y=False).fit(rows, y)
    assert np.array_equal(model.y_train_, y)


@pytest.mark.parametrize(
    ("values", "location", "scale"),
    [
        ([1.0, 3.0], 2.0, 1.0),
        ([5.0], 5.0, 5.0),
        ([-4.0, -4.0, -4.0], -4.0, 4.0),
        ([0.0, 0.0], 0.0, 1.0),
        ([1e-300, 3e-300], 2e-300, 1e-300),
        ([1e300, -1e300], 0.0, 1e300),
        ([0.1 + 0.2, 0.3, 0.1 + 0.2], 0.3, 0.3),
    ],
)
def test_location_and_scale(values: list[float], location: float, scale: float) -> None:
    found = Standardisation.of(values)
    assert found.location == pytest.approx(location, abs=1e-9 * scale)
    assert found.scale == pytest.approx(scale)
    back = found.original(found.standard(np.array(values)))
    assert np.allclose(back, values, rtol=1e-12, atol=1e-12 * scale)


def test_an_observation_that_is_known_to_be_noisy_is_not_believed() -> None:
    rows, y, truth = smooth_data(GRID, 30, noise=0.0)
    y = y.copy()
    y[0] += 8.0
    noise = np.zeros(30)
    noise[0] = 1e4
    for name in KERNEL_NAMES:
        doubting = SpectralGaussianProcess(name, spectrum=GRID).fit(rows, y, noise=noise)
        trusting = SpectralGaussianProcess(name, spectrum=GRID).fit(rows, y)
        wrong = [abs(model.predict(rows[:1])[0] - truth[rows[0]]) for model in (doubting, trusting)]
        assert wrong[0] < 1.5
        assert wrong[0] < wrong[1]


SHAPES = {
    "star": nx.star_graph(12),
    "path": nx.path_graph(13),
    "clique": nx.complete_graph(9),
    "no edge": nx.empty_graph(8),
    "one node": nx.empty_graph(1),
    "two nodes": nx.path_graph(2),
    "an isolated node": nx.disjoint_union(nx.path_graph(8), nx.empty_graph(1)),
}

VALUES: dict[str, Callable[[int], FloatArray]] = {
    "constant": lambda count: np.full(count, 3.3),
    "all zero": np.zeros,
    "constant and huge": lambda count: np.full(count, -1e12),
    "constant and tiny": lambda count: np.full(count, 1e-12),
    "huge": lambda count: 1e12 * np.cos(np.arange(count)),
    "tiny": lambda count: 1e-12 * np.cos(np.arange(count)),
    "far from zero": lambda count: 1e12 + np.cos(np.arange(count)),
    "one outlier": lambda count: np.eye(1, count)[0] * 1e9,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_degenerate_graphs_and_values_are_ordinary(name: str, shape: str) -> None:
    """No warning either: warnings are errors in this suite."""
    spectrum = spectrum_of(SHAPES[shape])
    some = np.arange(0, len(spectrum), 2)
    for rows in (some[:1], some, np.concatenate([some, some])):  # one, several, duplicates
        for make_values in VALUES.values():
            y = make_values(len(rows))
            model = SpectralGaussianProcess(name, spectrum=spectrum).fit(rows, y)
            posterior = model.posterior()
            assert np.isfinite(posterior.mean).all()
            assert np.isfinite(posterior.std).all()
            assert (posterior.std > 0).all()
            assert np.isfinite(model.log_marginal_likelihood())
            largest = np.abs(y).max() or 1.0
            assert np.abs(posterior.mean).max() < 10 * largest
            draws = model.sample_y(np.arange(len(spectrum)), 2)
            assert np.isfinite(draws).all()


def test_duplicates_that_disagree_are_averaged() -> None:
    for name in KERNEL_NAMES:
        model = SpectralGaussianProcess(name, spectrum=GRID).fit([3, 3, 30, 30], [0, 2, 5, 7])
        assert 0 < model.predict([3])[0] < model.predict([30])[0] < 7


# --- the rest of a scikit-learn regressor ------------------------------------------------------


@pytest.mark.parametrize("name", ["auto", "diffusion"])
def test_samples_have_the_moments_that_are_predicted(name: str) -> None:
    rows, y, _ = smooth_data(GRID, 12)
    model = SpectralGaussianProcess(name, spectrum=GRID).fit(rows, 1e6 * y)
    nodes = np.arange(0, 42, 5)
    mean, covariance = model.predict(nodes, return_cov=True)
    _, std = model.predict(nodes, return_std=True)
    assert np.allclose(np.sqrt(np.diag(covariance)), std)
    assert np.linalg.eigvalsh(covariance / covariance.max())[0] > 0
    draws = model.sample_y(nodes, 20_000, random_state=np.random.default_rng(0))
    assert draws.shape == (len(nodes), 20_000)
    assert np.abs(draws.mean(axis=1) - mean).max() < 0.05 * std.max()
    assert np.abs(np.cov(draws) - covariance).max() < 0.05 * covariance.max()
    assert np.array_equal(model.sample_y(nodes, 3, 7), model.sample_y(nodes, 3, 7))


def test_before_any_observation_it_predicts_the_prior() -> None:
    for name in KERNEL_NAMES:
        model = SpectralGaussianProcess(name, spectrum=GRID)
        mean, std = model.predict([0, 1, 2], return_std=True)
        _, covariance = model.predict([0, 1, 2], return_cov=True)
        assert not mean.any()
        assert not model.predict([0, 1, 2]).any()
        assert np.allclose(std**2, np.diag(covariance))
        assert model.posterior().std.shape == (42,)


@pytest.mark.parametrize("name", ["auto", "sum-inverse"])
def test_it_can_be_cloned_pickled_scored_and_cross_validated(name: str) -> None:
    rows, y, _ = smooth_data(GRID, 30)
    model = SpectralGaussianProcess(name, spectrum=GRID, alpha=1e-5)
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    model.fit(rows[:, None], y)
    again = pickle.loads(pickle.dumps(model))
    assert np.allclose(again.predict(rows), model.predict(rows[:, None]))
    assert model.score(rows, y) > 0.7
    assert cross_val_score(copied, rows[:, None], y, cv=3).mean() > 0.1
    model.set_params(kernel="diffusion").fit(rows, y)
    assert model.kernel_.n_dims == 3


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_believing_is_observing_the_expectation(name: str) -> None:
    rows, y, _ = smooth_data(GRID, 15)
    model = SpectralGaussianProcess(name, spectrum=GRID).fit(rows, y)
    hidden = np.setdiff1d(np.arange(len(GRID)), rows)
    before = model.posterior()
    after = model.believing(hidden[:3]).posterior()
    unchanged = model.posterior()
    assert np.array_equal(unchanged.mean, before.mean)
    assert (after.std[hidden[:3]] < before.std[hidden[:3]]).all()
    assert np.abs(after.mean - before.mean).max() < 0.1
    assert np.array_equal(model.believing([]).posterior().mean, before.mean)


def test_the_posterior_covers_every_row_of_the_subgraph() -> None:
    rows, y, _ = smooth_data(GRID, 15)
    for model in (
        SpectralGaussianProcess(spectrum=GRID),
        SpectralGaussianProcess(DiffusionARD(GRID) + WhiteKernel()),
    ):
        model.fit(rows, y)
        assert len(model.posterior()) == len(GRID)
        assert len(model.posterior([4, 2])) == 2
        assert np.array_equal(model.posterior([4, 2]).mean, model.predict([4, 2]))


def test_what_cannot_be_fitted_is_refused_clearly() -> None:
    model = SpectralGaussianProcess(spectrum=GRID)
    wrong: list[tuple[str, Any, Any, dict[str, Any]]] = [
        ("2 values at 1 rows", [0], [1.0, 2.0], {}),
        ("NaN", [0], [np.nan], {}),
        ("NaN", [0, 1], [1.0, np.inf], {}),
        ("shape", [], [], {}),
        ("whole number from 0 to 41", [42], [1.0], {}),
        ("whole number", [0.5], [1.0], {}),
        ("shape", [[0, 1]], [1.0], {}),
        ("3 noise variances", [0, 1], [1.0, 2.0], {"noise": [1, 2, 3]}),
        ("from -1", [0, 1], [1.0, 2.0], {"noise": -1}),
        ("values have shape", [0, 1], [1.0, 2.0], {"reference": []}),
    ]
    for complaint, X, y, options in wrong:
        with pytest.raises(ModelError, match=complaint):
            model.fit(X, y, **options)
    with pytest.raises(ModelError, match="needs a spectrum"):
        SpectralGaussianProcess("diffusion").fit([0], [1.0])
    with pytest.raises(ModelError, match="2 hyperparameters: the kernel has 3"):
        SpectralGaussianProcess("diffusion", spectrum=GRID).fit([0], [1.0], start=[0, 0])
    singular = SpectralGaussianProcess(Diffusion(GRID, 5.0), alpha=0.0, optimizer=None)
    with pytest.raises(ModelError, match="positive definite"):
        singular.fit([0, 0], [1.0, 1.0])
    with pytest.raises(ValueError, match="'kernel' parameter"):
        SpectralGaussianProcess("difusion", spectrum=GRID).fit([0], [1.0])


def test_what_cannot_be_asked_is_refused_clearly() -> None:
    model = SpectralGaussianProcess(spectrum=GRID)
    with pytest.raises(ModelError, match="call fit first"):
        model.log_marginal_likelihood()
    with pytest.raises(ModelError, match="call fit first"):
        model.believing([0])
    model.fit([0, 5], [1.0, 2.0])
    with pytest.raises(ModelError, match="at most one"):
        model.predict([0], return_std=True, return_cov=True)
    with pytest.raises(ModelError, match="needs a theta"):
        model.log_marginal_likelihood(eval_gradient=True)
    with pytest.raises(ModelError, match="no subgraph"):
        SpectralGaussianProcess(RBF() + WhiteKernel()).fit([0, 5], [1.0, 2.0]).posterior()
