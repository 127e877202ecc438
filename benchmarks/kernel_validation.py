"""Which kernels learn a smooth function on a graph, and which know how well they did.

    python benchmarks/kernel_validation.py

writes ``docs/experiments/kernel-validation.csv`` and ``.png`` in about a minute; the page beside them
says what they show. The function is the second eigenvector of the Laplacian, observed at a quarter of 200
nodes, without noise and with σ = 0.05, on three kinds of graph and in ten trials each.
"""

import argparse
import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from scipy.stats import norm, spearmanr

from graphbo.search.kernels import SpectralKernel
from graphbo.search.model import SpectralGaussianProcess, leaves
from graphbo.search.spectrum import Spectrum
from graphbo.types import FloatArray, IntArray

NODES, OBSERVED, TRIALS = 200, 50, 10
SIGMAS = (0.0, 0.05)

GRAPHS: dict[str, Callable[[int], "nx.Graph[Any]"]] = {
    "Barabási–Albert (m = 1)": lambda seed: nx.barabasi_albert_graph(NODES, 1, seed=seed),
    "Watts–Strogatz (k = 10, p = 0.1)": lambda seed: nx.connected_watts_strogatz_graph(
        NODES, 10, 0.1, seed=seed
    ),
    "grid (10 × 20)": lambda _: nx.grid_2d_graph(10, 20),
}

#: What is compared, in the order of the figure: name, arguments of the model, colour.
MODELS: dict[str, tuple[dict[str, Any], str]] = {
    "auto": ({"kernel": "auto"}, "#111111"),
    "diffusion": ({"kernel": "diffusion"}, "#0072B2"),
    "Matérn": ({"kernel": "matern"}, "#56B4E9"),
    "polynomial": ({"kernel": "polynomial"}, "#009E73"),
    "sum-inverse": ({"kernel": "sum-inverse"}, "#E69F00"),
    "diffusion-ARD": ({"kernel": "diffusion-ard"}, "#CC79A7"),
    "diffusion-ARD, no prior": ({"kernel": "diffusion-ard", "prior": None}, "#D55E00"),
}

#: Modes that weigh less than this, relative to the heaviest, do not count as part of the curve.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class Trial:
    """What one model made of one data set.

    Attributes:
        rho: Spearman's correlation of the mean with the noiseless function, where it was not observed.
        nlpd: the mean negative log density of the hidden (noisy) values.
        coverage: the share of them within the central 90 % interval.
        wiggle: how much log r⁻¹ moves up and down over the spectrum, relative to its range: 1 if it only
            falls.
        curve: r⁻¹ at each eigenvalue above 0, relative to the first.
    """

    rho: float
    nlpd: float
    coverage: float
    wiggle: float
    curve: FloatArray


Results = dict[tuple[str, float, str], list[Trial]]


def second_eigenvector(spectrum: Spectrum) -> FloatArray:
    """The function to learn, with entries of size 1 on average.

    As a unit vector it would have entries of 1/√n; the noise is scaled alike.
    """
    function: FloatArray = spectrum.eigenvectors[:, 1] * np.sqrt(len(spectrum))
    return function


def learned_curve(model: SpectralGaussianProcess, spectrum: Spectrum) -> FloatArray:
    """The kernel's r⁻¹ at the non-zero eigenvalues, relative to the first of them."""
    kernel = next(leaf for leaf in leaves(model.kernel_) if isinstance(leaf, SpectralKernel))
    weights = kernel.weights()[spectrum.zeros :]
    relative: FloatArray = weights / weights[0]
    return relative


def wiggle(curve: FloatArray) -> float:
    """The total variation of the logarithm, relative to its range."""
    logs = np.log(np.maximum(curve / curve.max(), NEGLIGIBLE))
    return float(np.abs(np.diff(logs)).sum() / np.ptp(logs))


def judge(arguments: dict[str, Any], spectrum: Spectrum, rows: IntArray, y: FloatArray) -> Trial:
    """Fit a model to the values of y at these rows, and look at the others."""
    model = SpectralGaussianProcess(spectrum=spectrum, **arguments).fit(rows, y[rows])
    hidden = np.setdiff1d(np.arange(len(spectrum)), rows)
    posterior = model.posterior(hidden)
    truth = second_eigenvector(spectrum)[hidden]
    z = (y[hidden] - posterior.mean) / posterior.std
    curve = learned_curve(model, spectrum)
    return Trial(
        rho=float(spearmanr(posterior.mean, truth).statistic),
        nlpd=float(np.mean(-norm.logpdf(z) + np.log(posterior.std))),
        coverage=float(np.mean(np.abs(z) < norm.ppf(0.95))),
        wiggle=wiggle(curve),
        curve=curve,
    )


def run() -> tuple[Results, dict[str, FloatArray]]:
    """Every trial of every model, and the eigenvalues of each kind of graph's first trial."""
    results: Results = {}
    eigenvalues: dict[str, FloatArray] = {}
    for place, (graph, build) in enumerate(GRAPHS.items()):
        for trial in range(TRIALS):
            generator = np.random.default_rng([place, trial])
            spectrum = Spectrum.from_adjacency(nx.to_numpy_array(build(trial)))
            eigenvalues.setdefault(graph, spectrum.eigenvalues[spectrum.zeros :])
            rows = generator.permutation(NODES)[:OBSERVED]
            noise = generator.normal(size=NODES) * np.sqrt(NODES)
            for sigma in SIGMAS:
                y = second_eigenvector(spectrum) + sigma * noise
                for name, (arguments, _) in MODELS.items():
                    outcome = judge(arguments, spectrum, rows, y)
                    results.setdefault((graph, sigma, name), []).append(outcome)
    return results, eigenvalues


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """The mean over the trials and its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


MEASURES = ("rho", "nlpd", "coverage", "wiggle")


def summary(results: Results) -> Iterator[dict[str, str]]:
    """The table, row by row."""
    for (graph, sigma, name), trials in results.items():
        row = {"graph": graph, "sigma": f"{sigma:g}", "kernel": name}
        for measure in MEASURES:
            mean, error = mean_and_error([getattr(trial, measure) for trial in trials])
            row |= {measure: f"{mean:.3f}", f"{measure} error": f"{error:.3f}"}
        yield row


def draw_measure(axes: Axes, results: Results, graph: str, measure: str) -> None:
    """One measure of every model on one kind of graph: hollow without noise, filled with it."""
    for height, (name, (_, colour)) in enumerate(MODELS.items()):
        for sigma, offset in zip(SIGMAS, (-0.17, 0.17), strict=True):
            values = [getattr(trial, measure) for trial in results[graph, sigma, name]]
            mean, error = mean_and_error(values)
            axes.errorbar(
                mean,
                height + offset,
                xerr=error,
                fmt="o",
                color=colour,
                markerfacecolor="white" if sigma == 0 else colour,
                markersize=5.5,
                elinewidth=1.2,
            )
    axes.set_ylim(len(MODELS) - 0.5, -0.5)
    axes.set_yticks(range(len(MODELS)), list(MODELS))
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)


def draw_curves(
    axes: Axes, results: Results, graph: str, sigma: float, eigenvalues: FloatArray
) -> None:
    """What every model learned about the spectrum, in the first trial."""
    for name, (_, colour) in MODELS.items():
        curve = results[graph, sigma, name][0].curve
        wild = name.endswith("no prior")
        axes.plot(
            eigenvalues,
            np.maximum(curve, 1e-30),
            color=colour,
            linewidth=0.8 if wild else 1.5,
            alpha=0.75 if wild else 1.0,
            zorder=1 if wild else 2,
            label=name,
        )
    axes.set_yscale("log")
    axes.set_ylim(1e-6, 3)
    axes.set_xscale("log")
    axes.set_xlim(0.9 * eigenvalues[0], 1.02)
    axes.set_xlabel("λ")


TITLES = {
    "rho": "Spearman's ρ with the truth",
    "nlpd": "negative log density",
    "coverage": "coverage of the 90 % interval",
}


def draw(results: Results, eigenvalues: dict[str, FloatArray], path: Path) -> None:
    """The figure: a row per kind of graph."""
    mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, grid = plt.subplots(
        len(GRAPHS), 5, figsize=(15, 9.2), width_ratios=[1, 1, 1, 1.15, 1.15], layout="constrained"
    )
    for row, graph in zip(grid, GRAPHS, strict=True):
        for axes, measure in zip(row, TITLES, strict=False):
            draw_measure(axes, results, graph, measure)
            if axes is not row[0]:
                axes.tick_params(labelleft=False)
        row[0].set_ylabel(graph.replace(" (", "\n("), fontsize=11, fontweight="bold")
        row[0].set_xlim(0.15, 1.04)
        row[1].set_xscale("symlog", linthresh=3, linscale=1.2)
        row[1].set_xlim(-6, 5e4)
        row[1].set_xticks([-3, 0, 3, 100, 1e4], ["−3", "0", "3", "100", "10 000"])
        row[0].axvline(1.0, color="#bbbbbb", linewidth=1, zorder=0)
        row[2].axvline(0.9, color="#bbbbbb", linewidth=1, zorder=0)
        row[2].set_xlim(-0.04, 1.04)
        for axes, sigma in zip(row[3:], SIGMAS, strict=True):
            draw_curves(axes, results, graph, sigma, eigenvalues[graph])
            axes.tick_params(labelleft=axes is row[3])
    for axes, title in zip(grid[0], TITLES.values(), strict=False):
        axes.set_title(title)
    for axes, sigma in zip(grid[0][3:], SIGMAS, strict=True):
        axes.set_title(f"learned r⁻¹(λ) / r⁻¹(λ₁), σ = {sigma:g}")
    hollow, filled = (
        Line2D([], [], marker="o", linestyle="", color="#555555", markerfacecolor=face)
        for face in ("white", "#555555")
    )
    lines, names = grid[0][3].get_legend_handles_labels()
    figure.legend(
        [hollow, filled, *lines],
        ["σ = 0", "σ = 0.05", *names],
        loc="outside lower center",
        ncols=9,
        frameon=False,
    )
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    """Run every trial, print the table and write both files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = Path(__file__).parent.parent / "docs" / "experiments"
    parser.add_argument("--output", type=Path, default=default, help="the directory to write to")
    output: Path = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    mpl.use("Agg")
    results, eigenvalues = run()
    rows = list(summary(results))
    with (output / "kernel-validation.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print(
            "  ".join(f"{row[key]:>7s}" for key in MEASURES),
            row["sigma"],
            row["graph"],
            row["kernel"],
        )
    draw(results, eigenvalues, output / "kernel-validation.png")


if __name__ == "__main__":
    main()
