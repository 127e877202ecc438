"""Graphs, and smooth functions on them."""

import networkx as nx
import numpy as np

from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray, IntArray


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
