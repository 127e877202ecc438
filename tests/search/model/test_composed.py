from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, WhiteKernel

from graphbo.search.kernels import (
    KERNELS,
    Diffusion,
    Matern,
    Polynomial,
    SpectralKernel,
    SumInverse,
    Trend,
)
from graphbo.search.model import KERNEL_NAMES, SpectralGaussianProcess
from graphbo.search.model.composed import (
    Likelihood,
)
from graphbo.search.spectrum import Spectrum
from tests.search.model.support import GRID, SCALE_FREE, TWO_PARTS, smooth_data, spectrum_of


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
        "two spectra": 0.8 * diffusion + 1.1 * SumInverse(other) + WhiteKernel(0.2),
        "noise in front": WhiteKernel(0.2) + 1.3 * diffusion,
        "a trend alone": 0.8 * Trend(np.linspace(-1.5, 1.5, len(spectrum))) + WhiteKernel(0.2),
        "fixed parts": ConstantKernel(2.0, "fixed") * diffusion + WhiteKernel(0.2, "fixed"),
        "fixed beta": 1.5 * Diffusion(spectrum, 3.0, "fixed") + WhiteKernel(0.2),
        "a trend": 1.3 * diffusion
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


@pytest.mark.parametrize(
    "name", [*KERNELS, "two of one spectrum", "two spectra", "a trend", "fixed parts"]
)
def test_the_expected_curvature_is_that_of_fisher(name: str) -> None:
    kernel = kernels_to_compare(SCALE_FREE)[name]
    rows, y, _ = smooth_data(SCALE_FREE, 20)
    noise = np.linspace(0.01, 0.2, 20)
    information = Likelihood(kernel, rows[:, None].astype(float), y, noise).information
    assert information is not None
    covariance, gradient = kernel(rows[:, None], eval_gradient=True)
    inverse = np.linalg.inv(covariance + np.diag(noise))
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
