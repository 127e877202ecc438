import networkx as nx
import numpy as np
import pytest
from scipy.stats import multivariate_t

from graphbo.search.model import SpectralGaussianProcess
from graphbo.search.model.auto import FLAT
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray, IntArray
from tests.search.model.support import GRID, SCALE_FREE, smooth_data


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


@pytest.mark.parametrize("count", [1, 5])
def test_features_that_say_nothing_are_not_believed(count: int) -> None:
    rows, y, truth = smooth_data(GRID, 30)
    features = list(np.random.default_rng(9).normal(size=(count, len(GRID))))
    plain = SpectralGaussianProcess(spectrum=GRID).fit(rows, y)
    model = SpectralGaussianProcess(spectrum=GRID, features=features).fit(rows, y)
    hidden = np.setdiff1d(np.arange(len(GRID)), rows)
    assert np.exp(model.kernel_.theta)[:-1] == pytest.approx(FLAT)
    assert model.score(hidden, truth[hidden]) > plain.score(hidden, truth[hidden]) - 0.05


def test_of_many_features_those_that_matter_are_found() -> None:
    generator = np.random.default_rng(4)
    noise = [generator.normal(size=len(GRID)) for _ in range(3)]
    one, several = generator.normal(size=len(GRID)), generator.normal(size=(len(GRID), 3))
    truth = 2 * one + several @ [1.0, 0.0, -2.0]
    rows = generator.permutation(len(GRID))[:40]
    model = SpectralGaussianProcess(
        spectrum=GRID, features=[noise[0], one, noise[1], several, noise[2]]
    ).fit(rows, truth[rows])

    assert [log > -1 for log in model.kernel_.theta[:-1]] == [False, True, False, True, False]
    assert model.score(np.arange(len(GRID)), truth) > 0.9
    parts = model.parts(np.arange(len(GRID)))
    assert parts.mean == pytest.approx(model.predict(np.arange(len(GRID))))
    assert np.corrcoef(parts.features[1], one)[0, 1] > 0.99
    value, gradient = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    for place in range(6):
        moved = model.kernel_.theta.copy()
        moved[place] += 1e-5
        up = model.log_marginal_likelihood(moved)
        assert gradient[place] == pytest.approx((up - value) / 1e-5, abs=1e-3)
