import pickle
import warnings
from collections.abc import Callable
from typing import ClassVar

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import expm, inv
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel

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
    effective_beta,
)
from graphbo.search.spectrum import Spectrum, laplacian
from graphbo.types import FloatArray


def adjacency(graph: "nx.Graph[int]") -> FloatArray:
    return np.asarray(nx.to_numpy_array(graph), dtype=np.float64)


PATH = adjacency(nx.path_graph(5))
STAR = adjacency(nx.star_graph(5))
CYCLE = adjacency(nx.cycle_graph(6))
WEIGHTED = np.array([[0, 2, 0, 0.5], [2, 0, 3, 0], [0, 3, 0, 1], [0.5, 0, 1, 0]])
TWO_PARTS = adjacency(nx.disjoint_union(nx.path_graph(4), nx.complete_graph(3)))
GRAPHS = {
    "path": PATH,
    "star": STAR,
    "cycle": CYCLE,
    "weighted": WEIGHTED,
    "two parts": TWO_PARTS,
}

COEFFICIENTS = np.array([0.7, 2.0, 5.0])


def make(
    name: str, spectrum: Spectrum, zero_weight: float | None = 30.0, fitted_nu: bool = True
) -> SpectralKernel:
    """A kernel with hyperparameters away from any default."""
    count = len(spectrum)
    if name == "diffusion":
        return Diffusion(spectrum, 3.0, zero_weight=zero_weight)
    if name == "diffusion-ard":
        return DiffusionARD(spectrum, np.linspace(1.0, 4.0, count), zero_weight=zero_weight)
    if name == "matern":
        bounds = (0.1, 100.0) if fitted_nu else "fixed"
        return Matern(spectrum, 0.4, nu=3.0, nu_bounds=bounds, zero_weight=zero_weight)  # type: ignore[arg-type]
    kernels = {"polynomial": Polynomial, "sum-inverse": SumInverse}
    return kernels[name](spectrum, COEFFICIENTS, order=3, epsilon=1e-2, zero_weight=zero_weight)


def dense(name: str, matrix: FloatArray) -> FloatArray:
    """The same kernel's function of the Laplacian, without any eigenvalue."""
    unit = np.eye(len(matrix))
    powers = [np.linalg.matrix_power(matrix, power) for power in range(3)]
    if name == "diffusion":
        return np.asarray(expm(-3.0 * matrix))
    if name == "matern":
        base = np.asarray(inv(0.4 * 3.0 * unit + matrix))
        return base @ base @ base
    terms = [beta * power for beta, power in zip(COEFFICIENTS, powers, strict=True)]
    if name == "polynomial":
        return np.asarray(inv(sum(terms) + 1e-2 * unit))
    return np.asarray(sum(inv(term + 1e-2 * unit) for term in terms))


CLOSED = ["diffusion", "matern", "polynomial", "sum-inverse"]


def rows(spectrum: Spectrum) -> FloatArray:
    return np.arange(len(spectrum))[:, None].astype(np.float64)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", CLOSED)
def test_the_formula_is_a_function_of_the_laplacian(name: str, graph: str) -> None:
    spectrum = Spectrum.from_adjacency(GRAPHS[graph])
    expected = dense(name, laplacian(GRAPHS[graph]))
    expected *= len(expected) / np.trace(expected)
    kernel = make(name, spectrum, zero_weight=None)
    assert np.allclose(kernel(rows(spectrum)), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("graph", ["path", "star", "cycle", "weighted"])
@pytest.mark.parametrize("name", CLOSED)
def test_the_zero_mode_weighs_what_it_is_told_to(name: str, graph: str) -> None:
    matrix = laplacian(GRAPHS[graph])
    zero = np.sqrt(GRAPHS[graph].sum(axis=0))
    zero /= np.linalg.norm(zero)
    expected = dense(name, matrix)
    projector = np.outer(zero, zero)
    # Without the zero mode, the largest eigenvalue left is the smoothest other mode's weight.
    expected -= float(zero @ expected @ zero) * projector
    expected += 30.0 * np.linalg.eigvalsh(expected)[-1] * projector
    expected *= len(expected) / np.trace(expected)
    spectrum = Spectrum.from_adjacency(GRAPHS[graph])
    assert np.allclose(make(name, spectrum)(rows(spectrum)), expected, rtol=0, atol=1e-10)


def test_the_sum_of_inverses_no_longer_drowns_in_its_zero_mode() -> None:
    spectrum = Spectrum.from_adjacency(adjacency(nx.barabasi_albert_graph(60, 3, seed=1)))
    drowned = SumInverse(spectrum, zero_weight=None).weights()
    assert drowned[0] / drowned.sum() > 0.999
    bounded = SumInverse(spectrum).weights()
    assert bounded[0] == pytest.approx(30 * bounded[1])


def test_ard_with_equal_betas_is_the_diffusion_kernel() -> None:
    spectrum = Spectrum.from_adjacency(STAR)
    one, many = Diffusion(spectrum, 2.5), DiffusionARD(spectrum, 2.5)
    assert np.allclose(one(rows(spectrum)), many(rows(spectrum)), rtol=0, atol=1e-14)
    assert many.n_dims == len(spectrum)


def test_ard_weighs_every_mode_by_its_own_beta() -> None:
    spectrum = Spectrum.from_adjacency(PATH)
    betas = np.array([9.0, 1.0, 4.0, 2.0, 0.5])
    weights = DiffusionARD(spectrum, betas, zero_weight=None).weights()
    expected = np.exp(-betas * spectrum.eigenvalues)
    assert np.allclose(weights, expected * 5 / expected.sum())


def test_the_matern_kernel_tends_to_diffusion() -> None:
    # (βν + λ)^-ν ∝ (1 + λ/(βν))^-ν → exp(−λ/β).
    spectrum = Spectrum.from_adjacency(CYCLE)
    smooth = Matern(spectrum, 0.5, nu=1e7, zero_weight=None)
    limit = Diffusion(spectrum, 2.0, zero_weight=None)
    assert np.allclose(smooth(rows(spectrum)), limit(rows(spectrum)), atol=1e-6)


@pytest.mark.parametrize("lengthscale", [0.5, 2.0])
@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, np.inf])
@pytest.mark.slow
def test_matern_and_diffusion_agree_with_geometric_kernels(nu: float, lengthscale: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about backends that are not installed
        from geometric_kernels.kernels import MaternGeometricKernel  # noqa: PLC0415
        from geometric_kernels.spaces import Graph  # noqa: PLC0415

        graph = adjacency(nx.barabasi_albert_graph(12, 2, seed=3))
        space = Graph(graph, normalize_laplacian=True)
        reference = MaternGeometricKernel(space, num=len(graph))
        parameters = {"nu": np.array([nu]), "lengthscale": np.array([lengthscale])}
        nodes = np.arange(len(graph))[:, None]
        expected = np.asarray(reference.K(parameters, nodes, nodes))
    spectrum = Spectrum.from_adjacency(graph)
    # Theirs is a function of 2λ: (2ν/κ² + 2λ)^-ν and exp(−κ²λ).
    kernel: SpectralKernel = (
        Diffusion(spectrum, lengthscale**2, zero_weight=None)
        if np.isinf(nu)
        else Matern(spectrum, lengthscale**-2, nu=nu, zero_weight=None)
    )
    assert np.allclose(kernel(nodes), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("zero_weight", [30.0, None])
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", KERNELS)
def test_gradients_equal_finite_differences(
    name: str, graph: str, zero_weight: float | None
) -> None:
    spectrum = Spectrum.from_adjacency(GRAPHS[graph])
    kernel = make(name, spectrum, zero_weight)
    _, gradient = kernel(rows(spectrum), eval_gradient=True)
    theta, step = kernel.theta, 1e-5
    assert gradient.shape == (len(spectrum), len(spectrum), len(theta))
    for index in range(len(theta)):
        shift = np.zeros(len(theta))
        shift[index] = step
        up = kernel.clone_with_theta(theta + shift)(rows(spectrum))
        down = kernel.clone_with_theta(theta - shift)(rows(spectrum))
        assert np.allclose(gradient[:, :, index], (up - down) / (2 * step), rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", KERNELS)
def test_pulling_back_is_the_transpose_of_the_gradient(name: str) -> None:
    spectrum = Spectrum.from_adjacency(WEIGHTED)
    kernel = make(name, spectrum)
    slopes = np.array([0.3, -1.0, 2.0, 0.7])
    weights, pullback = kernel.weights_and_pullback(kernel.theta)
    assert np.allclose(weights, kernel.weights(), rtol=1e-14)
    for index, found in enumerate(pullback(slopes)):
        shift = 1e-5 * np.eye(kernel.n_dims)[index]
        up, down = kernel.weights(kernel.theta + shift), kernel.weights(kernel.theta - shift)
        assert found == pytest.approx(slopes @ (up - down) / 2e-5, abs=1e-8)
    both = pullback(np.stack([slopes, 2 * slopes]))
    assert np.allclose(both, [pullback(slopes), 2 * pullback(slopes)])


weights_of_edges = st.integers(1, 9).flatmap(
    lambda n: arrays(np.float64, (n, n), elements=st.sampled_from([0.0, 0.0, 0.2, 1.0, 9.0]))
)


@given(
    half=weights_of_edges,
    name=st.sampled_from(sorted(KERNELS)),
    shift=st.floats(-12, 12),
    zero_weight=st.sampled_from([30.0, 1.0, None]),
)
def test_covariances_are_positive_and_average_one(
    half: FloatArray, name: str, shift: float, zero_weight: float | None
) -> None:
    spectrum = Spectrum.from_adjacency(np.maximum(half, half.T))
    kernel = make(name, spectrum, zero_weight, fitted_nu=False)
    kernel = kernel.clone_with_theta(kernel.theta + shift)
    covariance = kernel(rows(spectrum))
    assert np.isfinite(covariance).all()
    assert np.linalg.eigvalsh(covariance)[0] > -1e-9
    assert np.trace(covariance) == pytest.approx(len(spectrum))
    assert np.allclose(kernel.diag(rows(spectrum)), np.diag(covariance))


@pytest.mark.parametrize("name", KERNELS)
def test_it_is_an_ordinary_kernel_of_scikit_learn(name: str) -> None:
    spectrum = Spectrum.from_adjacency(STAR)
    kernel = make(name, spectrum)
    copied = clone(kernel)
    assert copied == kernel
    assert copied.spectrum is spectrum
    assert kernel.bounds.shape == (kernel.n_dims, 2)
    assert (kernel.bounds[:, 0] <= kernel.theta).all()
    assert (kernel.theta <= kernel.bounds[:, 1]).all()
    theta = kernel.theta + 0.25
    copied.theta = theta
    assert np.allclose(copied.theta, theta)
    assert copied != kernel
    assert sum(spec.n_elements for spec in kernel.hyperparameters) == kernel.n_dims
    assert not kernel.is_stationary()
    assert len(repr(kernel)) < 100
    nodes = rows(spectrum)
    assert np.allclose(kernel(nodes, nodes[:2]), kernel(nodes)[:, :2])
    assert np.allclose(pickle.loads(pickle.dumps(kernel))(nodes), kernel(nodes))


@pytest.mark.parametrize("name", KERNELS)
def test_sums_and_products_work_and_differentiate(name: str) -> None:
    spectrum = Spectrum.from_adjacency(CYCLE)
    nodes = rows(spectrum)
    kernel = 2.0 * make(name, spectrum) * Diffusion(spectrum) + make(name, spectrum) ** 2 + 0.5
    plain = make(name, spectrum)(nodes)
    expected = 2 * plain * Diffusion(spectrum)(nodes) + plain**2 + 0.5
    covariance, gradient = kernel(nodes, eval_gradient=True)
    assert np.allclose(covariance, expected)
    assert gradient.shape == (6, 6, kernel.n_dims)
    shift = np.zeros(kernel.n_dims)
    shift[-2] = 1e-5
    up, down = (kernel.clone_with_theta(kernel.theta + s)(nodes) for s in (shift, -shift))
    assert np.allclose(gradient[:, :, -2], (up - down) / 2e-5, atol=1e-7)


@pytest.mark.parametrize("name", KERNELS)
def test_a_user_can_put_it_into_their_own_regressor(name: str) -> None:
    spectrum = Spectrum.from_adjacency(adjacency(nx.grid_2d_graph(5, 6)))
    truth = spectrum.eigenvectors[:, 1] * 5
    observed = np.arange(0, 30, 2)[:, None]
    kernel = ConstantKernel() * KERNELS[name](spectrum) + WhiteKernel(1e-2)
    regressor = GaussianProcessRegressor(kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # an optimum at a bound is fine here
        regressor.fit(observed, truth[observed[:, 0]])
    hidden = np.arange(1, 30, 2)
    assert regressor.score(hidden[:, None], truth[hidden]) > 0.8


def test_fixed_hyperparameters_are_not_in_theta() -> None:
    spectrum = Spectrum.from_adjacency(PATH)
    assert Matern(spectrum).n_dims == 1
    assert Matern(spectrum, nu_bounds=(0.5, 5.0)).n_dims == 2
    fixed = Diffusion(spectrum, 2.0, "fixed")
    assert fixed.theta.shape == (0,)
    covariance, gradient = fixed(rows(spectrum), eval_gradient=True)
    assert gradient.shape == (5, 5, 0)
    assert np.allclose(covariance, Diffusion(spectrum, 2.0)(rows(spectrum)))


def test_the_polynomials_take_their_order_from_the_diameter() -> None:
    assert Polynomial(Spectrum.from_adjacency(PATH)).n_dims == 4
    assert SumInverse(Spectrum.from_adjacency(STAR)).n_dims == 2
    long = Spectrum.from_adjacency(adjacency(nx.path_graph(30)))
    assert Polynomial(long).n_dims == 5
    assert Polynomial(long, order=3).n_dims == 3


@pytest.mark.parametrize("graph", [nx.empty_graph(1), nx.empty_graph(4)])
@pytest.mark.parametrize("name", KERNELS)
def test_without_edges_every_node_is_on_its_own(graph: "nx.Graph[int]", name: str) -> None:
    spectrum = Spectrum.from_adjacency(adjacency(graph))
    kernel = KERNELS[name](spectrum)
    covariance, gradient = kernel(rows(spectrum), eval_gradient=True)
    assert np.array_equal(covariance, np.eye(len(spectrum)))
    assert gradient.shape == (len(spectrum), len(spectrum), kernel.n_dims)
    assert not gradient.any()


@pytest.mark.parametrize("graph", [nx.path_graph(80), nx.barabasi_albert_graph(80, 4, seed=2)])
@pytest.mark.parametrize("fraction", [0.1, 0.3])
def test_the_effective_beta_uses_that_share_of_the_modes(
    graph: "nx.Graph[int]", fraction: float
) -> None:
    spectrum = Spectrum.from_adjacency(adjacency(graph))
    gaps = spectrum.eigenvalues[1:] - spectrum.eigenvalues[1]
    assert np.exp(-effective_beta(spectrum, fraction) * gaps).sum() == pytest.approx(79 * fraction)


def test_there_is_an_effective_beta_even_where_none_can_be_right() -> None:
    for graph in (nx.empty_graph(3), nx.path_graph(2), nx.complete_graph(6), nx.star_graph(9)):
        beta = effective_beta(Spectrum.from_adjacency(adjacency(graph)))
        assert np.isfinite(beta)
        assert beta > 0


@pytest.mark.parametrize("fraction", [0.1, 0.4])
def test_scaled_kernels_start_with_that_share(fraction: float) -> None:
    spectrum = Spectrum.from_adjacency(adjacency(nx.barabasi_albert_graph(80, 2, seed=2)))
    for kernel in (Diffusion, DiffusionARD):
        weights = kernel.scaled(spectrum, fraction).weights()[1:]
        assert weights.sum() / weights[0] == pytest.approx(fraction * 79)


@pytest.mark.parametrize("bad", [[5], [-1], [0.5], [[0, 1]], [np.nan]])
def test_what_is_not_a_row_is_refused(bad: object) -> None:
    kernel = Diffusion(Spectrum.from_adjacency(PATH))
    with pytest.raises(ModelError):
        kernel(bad)  # type: ignore[call-overload]


def test_a_gradient_between_different_inputs_is_refused() -> None:
    kernel = Diffusion(Spectrum.from_adjacency(PATH))
    with pytest.raises(ModelError, match="leave out Y"):
        kernel([0], [1], eval_gradient=True)


def test_a_theta_of_the_wrong_length_is_refused() -> None:
    kernel = Diffusion(Spectrum.from_adjacency(PATH))
    with pytest.raises(ModelError, match="3 elements: expected 1"):
        kernel.theta = np.zeros(3)


class TestTrend:
    feature: ClassVar[FloatArray] = np.array([-1.0, 0.5, 2.0])

    def test_is_the_product_of_features(self) -> None:
        kernel, given = Trend(self.feature), np.array([[2], [0]])
        assert kernel(given).tolist() == [[4.0, -2.0], [-2.0, 1.0]]
        assert kernel(given, np.array([[1]])).tolist() == [[1.0], [-0.5]]
        assert kernel.diag(given).tolist() == [4.0, 1.0]

    def test_has_nothing_to_fit_and_can_be_copied(self) -> None:
        kernel = Trend(self.feature)
        _, gradient = kernel(np.array([[0], [1]]), eval_gradient=True)
        assert gradient.shape == (2, 2, 0)
        assert kernel.theta.size == 0
        assert clone(kernel)(np.array([[1]])).item() == 0.25

    def test_refuses_what_is_no_row(self) -> None:
        with pytest.raises(ModelError, match="0 to 2"):
            Trend(self.feature)(np.array([[3]]))


class Step(SpectralKernel):
    """What a newcomer writes: a kernel that cuts the spectrum off smoothly at β."""

    names = ("beta",)

    def __init__(
        self,
        spectrum: Spectrum,
        beta: float = 0.5,
        beta_bounds: tuple[float, float] = (0.01, 10.0),
        zero_weight: float | None = 30.0,
    ) -> None:
        self.spectrum = spectrum
        self.beta = beta
        self.beta_bounds = beta_bounds
        self.zero_weight = zero_weight

    def log_inverse(
        self, eigenvalues: FloatArray, *, beta: float
    ) -> tuple[FloatArray, dict[str, FloatArray]]:
        square = (eigenvalues / beta) ** 2
        return -square, {"beta": 2 * square[None, :]}


def test_a_new_kernel_is_one_small_class() -> None:
    spectrum = Spectrum.from_adjacency(CYCLE)
    kernel = Step(spectrum)
    _, gradient = kernel(rows(spectrum), eval_gradient=True)
    builder: Callable[[float], SpectralKernel] = lambda beta: Step(spectrum, beta)  # noqa: E731
    up, down = (builder(0.5 * np.exp(s))(rows(spectrum)) for s in (1e-5, -1e-5))
    assert np.allclose(gradient[:, :, 0], (up - down) / 2e-5, atol=1e-8)
    assert clone(kernel) == kernel
