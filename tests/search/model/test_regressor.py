import pickle
import re
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, Kernel, WhiteKernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from threadpoolctl import threadpool_info, threadpool_limits

from graphbo.errors import ModelError
from graphbo.search.kernels import (
    KERNELS,
    Diffusion,
    DiffusionARD,
    Matern,
)
from graphbo.search.model import KERNEL_NAMES, SpectralGaussianProcess
from graphbo.search.model.composed import (
    with_amplitude_and_noise,
)
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray
from tests.search.model.support import GRID, SCALE_FREE, smooth_data, spectrum_of

Theta = FloatArray


@pytest.mark.parametrize("kernel", ["auto", "diffusion", "diffusion-ard", "sum-inverse"])
def test_a_feature_that_matters_is_learned(kernel: str) -> None:
    generator = np.random.default_rng(3)
    feature = generator.normal(size=len(GRID))
    rows = generator.permutation(len(GRID))[:15]
    truth = 3.0 * feature
    hidden = np.setdiff1d(np.arange(len(GRID)), rows)
    scores = [
        SpectralGaussianProcess(kernel, spectrum=GRID, features=[] if known is None else [known])
        .fit(rows, truth[rows])
        .score(hidden, truth[hidden])
        for known in (feature, None)
    ]
    assert scores[0] > 0.9
    assert scores[1] < 0.3


@pytest.mark.parametrize("feature", [np.zeros(3), np.full(len(GRID), np.nan)])
def test_a_feature_needs_a_number_for_every_row(feature: FloatArray) -> None:
    with pytest.raises(ModelError, match="feature"):
        SpectralGaussianProcess(spectrum=GRID, features=[feature]).fit([0], [1.0])


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
    with pytest.raises(ModelError, match="kernel is 'difusion': choose from auto, diffusion, "):
        SpectralGaussianProcess("difusion", spectrum=GRID).fit([0], [1.0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"kernel": None},
        {"spectrum": np.eye(3)},
        {"alpha": -1e-9},
        {"alpha": np.nan},
        {"alpha": "1"},
        {"optimizer": "newton"},
        {"prior": "strong"},
        {"n_restarts_optimizer": 1.5},
        {"n_restarts_optimizer": -1},
        {"normalize_y": "yes"},
    ],
)
def test_a_wrong_parameter_is_named(wrong: dict[str, Any]) -> None:
    model = SpectralGaussianProcess(spectrum=GRID).set_params(**wrong)
    name, value = next(iter(wrong.items()))
    with pytest.raises(ModelError, match=rf"{name} is {re.escape(repr(value))}: expected "):
        model.fit([0], [1.0])


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
    with pytest.raises(ModelError, match="3 elements: the kernel has 1"):
        model.log_marginal_likelihood([0, 0, 0])
    with pytest.raises(ModelError, match="no subgraph"):
        SpectralGaussianProcess(RBF() + WhiteKernel()).fit([0, 5], [1.0, 2.0]).posterior()


def halved(spectrum: Spectrum) -> Kernel:
    return Diffusion(spectrum, Diffusion.scaled(spectrum).beta / 2)


@pytest.mark.parametrize("build", [Diffusion.scaled, Matern, halved, lambda _: RBF(3.0)])
def test_what_gives_a_kernel_is_treated_like_a_named_one(
    build: Callable[[Spectrum], Kernel],
) -> None:
    rows, y, _ = smooth_data(GRID, 20)
    feature = np.random.default_rng(1).normal(size=len(GRID))
    model = SpectralGaussianProcess(build, spectrum=GRID, features=[feature]).fit(rows, y)
    same = SpectralGaussianProcess(with_amplitude_and_noise(build(GRID), [feature])).fit(rows, y)
    assert np.array_equal(model.kernel_.theta, same.kernel_.theta)
    assert np.array_equal(model.predict(rows), same.predict(rows))


def test_a_named_kernel_is_what_its_function_gives() -> None:
    rows, y, _ = smooth_data(GRID, 20)
    for name, build in KERNELS.items():
        named, built = (
            SpectralGaussianProcess(kernel, spectrum=GRID).fit(rows, y).posterior()
            for kernel in (name, build)
        )
        assert np.array_equal(named.mean, built.mean)
        assert np.array_equal(named.std, built.std)


def test_a_grid_search_chooses_among_kernels() -> None:
    rows, y, _ = smooth_data(GRID, 24)
    kernels = ["auto", "matern", Diffusion.scaled, Diffusion, 1.0 * Diffusion(GRID) + WhiteKernel()]
    search = GridSearchCV(SpectralGaussianProcess(spectrum=GRID), {"kernel": kernels}, cv=2)
    search.fit(rows[:, None], y)
    assert search.best_score_ > 0.3
    assert len(search.cv_results_["params"]) == 5


def test_what_gives_no_kernel_is_refused() -> None:
    with pytest.raises(ModelError, match="gave 42: expected a scikit-learn kernel"):
        SpectralGaussianProcess(len, spectrum=GRID).fit([0], [1.0])
    with pytest.raises(ModelError, match="needs a spectrum"):
        SpectralGaussianProcess(Diffusion).fit([0], [1.0])
