"""How long a fit and a prediction of every node take, per kernel, beside scikit-learn's regressor.

    python benchmarks/surrogate.py            # the whole table, some minutes
    python benchmarks/surrogate.py --quick    # without scikit-learn, and only where there is a goal

Times are in units of one ``numpy.linalg.eigh`` of a 100 × 100 symmetric matrix, which is timed before
every fit and as often. Each number is the median of 50, or of as many as fit into ten seconds. BLAS has
one thread throughout, the unit and scikit-learn included, and times are that thread's: so other
programs on the machine do not count. The eigenpairs of the subgraph are not part of it: a search
computes them once per subgraph.

scikit-learn gets the same kernel object, the same prior and the same starts; it climbs by L-BFGS, for
which its generic gradient is made. ``auto`` has no counterpart there.
"""

import argparse
import time
import warnings
from collections.abc import Callable

import networkx as nx
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from threadpoolctl import threadpool_limits

from graphbo.search.model import KERNEL_NAMES, SpectralGaussianProcess
from graphbo.search.model.composed import (
    MULTIMODAL_UP_TO,
    best_theta,
    starting_points,
    weak_prior,
)
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray, IntArray

SIZES = [(100, 10), (100, 50), (100, 100), (300, 100), (1000, 100)]

#: What must hold at 100 nodes and 50 observations, in units.
GOALS = {"auto": 4.0, "diffusion": 6.0, "sum-inverse": 6.0, "diffusion-ard": 16.0}

#: By how much DiffusionARD must beat scikit-learn at 100 nodes and 100 observations.
ARD_GOAL = 20.0

REPETITIONS, LONGEST = 50, 10.0


def problem(nodes: int, observations: int) -> tuple[Spectrum, IntArray, FloatArray]:
    """A smooth function with some noise on a scale-free graph."""
    generator = np.random.default_rng(0)
    graph = nx.barabasi_albert_graph(nodes, 3, seed=1)
    spectrum = Spectrum.from_adjacency(nx.to_numpy_array(graph))
    prior = SpectralGaussianProcess("diffusion", spectrum=spectrum)
    values = prior.sample_y(np.arange(nodes), random_state=1)[:, 0]
    rows = generator.permutation(nodes)[:observations]
    return spectrum, rows, values[rows] + 0.1 * generator.normal(size=observations)


def reference_matrix() -> FloatArray:
    """The symmetric matrix whose decomposition is the unit of time."""
    half = np.random.default_rng(0).normal(size=(100, 100))
    return half + half.T


def seconds(task: Callable[[], object]) -> float:
    """How long a task takes."""
    start = time.thread_time()
    task()
    return time.thread_time() - start


def units(task: Callable[[], object]) -> tuple[float, float]:
    """The median time of a task, in units and in milliseconds."""
    matrix = reference_matrix()
    first = seconds(task)  # imports and caches count, but only where they are little
    own = [first] if first > LONGEST / 2 else []
    unit = [seconds(lambda: np.linalg.eigh(matrix)) for _ in own]
    while len(own) < REPETITIONS and sum(own) < LONGEST and first <= LONGEST / 2:
        unit.append(seconds(lambda: np.linalg.eigh(matrix)))
        own.append(seconds(task))
    return float(np.median(own) / np.median(unit)), float(np.median(own) * 1e3)


def ours(name: str, spectrum: Spectrum, rows: IntArray, y: FloatArray) -> Callable[[], object]:
    """A fit and a prediction by graphbo."""
    return lambda: SpectralGaussianProcess(name, spectrum=spectrum).fit(rows, y).posterior()


def theirs(name: str, spectrum: Spectrum, rows: IntArray, y: FloatArray) -> Callable[[], object]:
    """The same by scikit-learn's regressor and its generic gradient."""
    kernel = SpectralGaussianProcess(name, spectrum=spectrum, optimizer=None).fit(rows, y).kernel_
    everywhere = np.arange(len(spectrum))[:, None]
    groups, prior = starting_points(kernel), weak_prior(kernel)
    starts = groups if len(rows) <= MULTIMODAL_UP_TO else groups[:1]

    def task() -> None:
        regressor = GaussianProcessRegressor(
            kernel,
            alpha=1e-6,
            optimizer=lambda objective, _, bounds: best_theta(objective, starts, bounds, prior),
            normalize_y=True,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an optimum near a bound
            regressor.fit(rows[:, None], y).predict(everywhere, return_std=True)

    return task


def verdict(name: str, size: tuple[int, int], own: float, ratio: float | None) -> str:
    """Whether the goal for this line is reached, if there is one."""
    if size == (100, 50) and name in GOALS:
        return f"goal {GOALS[name]:g}: {'reached' if own <= GOALS[name] else 'MISSED'}"
    if size == (100, 100) and name == "diffusion-ard" and ratio is not None:
        return f"goal {ARD_GOAL:g}×: {'reached' if ratio >= ARD_GOAL else 'MISSED'}"
    return ""


def table(quick: bool) -> None:
    """Time everything and print it, line by line."""
    matrix = reference_matrix()
    unit = np.median([seconds(lambda: np.linalg.eigh(matrix)) for _ in range(REPETITIONS)])
    print(f"one unit is about {unit * 1e3:.2f} ms here\n")
    print("nodes  observed  kernel         graphbo         scikit-learn      faster")
    for size in [(100, 50)] if quick else SIZES:
        data = problem(*size)
        for name in KERNEL_NAMES:
            own, milliseconds = units(ours(name, *data))
            line = f"{size[0]:5d}  {size[1]:8d}  {name:13s} {own:6.1f} ({milliseconds:5.1f} ms)"
            ratio = None
            if not quick and name != "auto":
                other, milliseconds = units(theirs(name, *data))
                ratio = other / own
                line += f"  {other:7.1f} ({milliseconds:6.0f} ms)  {ratio:5.1f}×"
            print(f"{line}  {verdict(name, size, own, ratio)}".rstrip(), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only (100, 50), and only graphbo")
    with threadpool_limits(1, user_api="blas"):
        table(parser.parse_args().quick)


if __name__ == "__main__":
    main()
