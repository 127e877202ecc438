"""What an expected value is the sum of: it adds up, whatever the model, and says what it says."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from graphbo.search.kernels import KERNELS, Diffusion
from graphbo.search.model import SpectralGaussianProcess
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray
from tests.search.model.support import GRID, SCALE_FREE, TWO_PARTS, smooth_data, spectrum_of

SPECTRA = {
    "grid": GRID,
    "scale-free": SCALE_FREE,
    "two parts": TWO_PARTS,
    "no edge": spectrum_of(nx.empty_graph(12)),
    "star": spectrum_of(nx.star_graph(9)),
}


def degrees_in(spectrum: Spectrum) -> FloatArray:
    degrees = np.log1p(spectrum.adjacency.sum(axis=1))
    return np.asarray(degrees - degrees.mean())


@given(
    graph=st.sampled_from(sorted(SPECTRA)),
    kernel=st.sampled_from(["auto", *KERNELS.own]),
    trend=st.booleans(),
    count=st.integers(1, 9),
    location=st.sampled_from([0.0, -3.0, 1e6]),
    scale=st.sampled_from([1e-3, 1.0, 1e4]),
    noise=st.sampled_from([None, 0.1]),
    believed=st.integers(0, 2),
    seed=st.integers(0, 5),
)
def test_the_parts_add_up_to_the_mean(
    graph: str,
    kernel: str,
    trend: bool,
    count: int,
    location: float,
    scale: float,
    noise: float | None,
    believed: int,
    seed: int,
) -> None:
    spectrum = SPECTRA[graph]
    generator = np.random.default_rng(seed)
    rows = generator.permutation(len(spectrum))
    values = location + scale * generator.normal(size=count)
    model = SpectralGaussianProcess(
        kernel,
        spectrum=spectrum,
        features=[degrees_in(spectrum)] if trend else [],
        optimizer=None,
    ).fit(rows[:count], values, noise=None if noise is None else (noise * scale) ** 2)
    model = model.believing(rows[count : count + believed].tolist())
    everywhere = np.arange(len(spectrum))
    parts = model.parts(everywhere)
    size = max(abs(location), scale)
    assert np.allclose(parts.mean, model.predict(everywhere), rtol=0, atol=1e-9 * size)
    assert parts.observations.shape == (len(model.X_train_), len(spectrum))
    assert parts.features.shape == (int(trend), len(spectrum))


def test_they_add_up_for_a_kernel_that_nobody_knows() -> None:
    kernel: Any = RBF(3.0) + WhiteKernel(0.1)
    model = SpectralGaussianProcess(kernel, optimizer=None).fit([1, 4, 9], [1.0, 2.0, 0.5])
    parts = model.parts([2, 3])
    assert parts.mean == pytest.approx(model.predict([2, 3]))
    assert not parts.features.size
    # All that is left is the mean of the values.
    assert parts.level == pytest.approx(np.full(2, 3.5 / 3))


def test_a_high_neighbour_speaks_for_a_node_and_a_low_one_against_it() -> None:
    path = spectrum_of(nx.path_graph(30))
    model = SpectralGaussianProcess(spectrum=path).fit([5, 15, 25], [9.0, 5.0, 1.0])
    parts = model.parts([6, 24])
    assert parts.observations[0, 0] > 0.5
    assert parts.observations[2, 1] < -0.5
    # Who is far away says less, and is not taken for a neighbour.
    assert abs(parts.observations[2, 0]) < 0.5 * parts.observations[0, 0]
    assert parts.weights[0, 0] > 0 > parts.weights[2, 0]


def test_what_follows_the_feature_is_the_features_part() -> None:
    feature = np.random.default_rng(3).normal(size=len(GRID))
    rows = np.random.default_rng(4).permutation(len(GRID))[:25]
    values = 10 + 4 * feature[rows]
    model = SpectralGaussianProcess(spectrum=GRID, features=[feature]).fit(rows, values)
    parts = model.parts(np.arange(len(GRID)))
    assert np.corrcoef(parts.features[0], feature)[0, 1] == pytest.approx(1)
    assert parts.features[0].std() == pytest.approx(4 * feature.std(), rel=0.1)
    assert np.abs(parts.observations.sum(axis=0)).mean() < 0.5


def test_the_level_is_that_of_each_part_of_the_graph() -> None:
    rows, _, _ = smooth_data(TWO_PARTS, 20)
    values = np.where(rows < 20, 10.0, 2.0)
    model = SpectralGaussianProcess(Diffusion.scaled, spectrum=TWO_PARTS, optimizer=None)
    level = model.fit(rows, values).parts(np.arange(len(TWO_PARTS))).level
    assert level[:20].mean() > level[20:].mean() + 2
