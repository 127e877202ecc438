"""Figures for papers and notebooks, with matplotlib and without any state of it.

Each function takes a run, a result or facts that were collected before, and returns a figure of its own. What needs
the graph or the model (``search_map``, ``kernel``) needs a run: a result has the history only.
"""

import warnings
from collections.abc import Callable
from io import BytesIO
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from graphbo.errors import RunError
from graphbo.seeing.map import Map
from graphbo.seeing.run_facts import RunFacts, RunLike, facts_of
from graphbo.types import FloatArray
from graphbo.types.text import plural

__all__ = ["PLOTS", "calibration", "convergence", "image_of", "kernel", "region", "search_map"]

INK, SOFT, RULE, ACCENT, COOL, PALE = (
    "#1d1c1a",
    "#5d5a55",
    "#e3e0da",
    "#bb3f0a",
    "#3d4fb5",
    "#f6d9c8",
)
#: The report's colours: the better, the warmer.
RAMP = LinearSegmentedColormap.from_list(
    "graphbo", ["#3f51b8", "#7b4db9", "#b9479c", "#e1556c", "#f2893e", "#f9bb3c"]
)
#: Beyond this matplotlib's own arithmetic overflows, so that values are drawn in units of it.
LARGEST_DRAWN = 1e290
SIZE, SQUARE, WIDE = (6.4, 3.6), (4.6, 4.2), (7.6, 5.4)
DPI = 150


def convergence(run: RunLike, *, optimum: float | None = None) -> Figure:
    """The best value so far, and every measurement; with an optimum, how far they are from it (the regret).

    Raises:
        RunError: there is no value yet.
    """
    facts = facts_of(run, optimum=optimum, graph=False)
    valued = [row for row, one in enumerate(facts.history) if one.value is not None]
    if not valued:
        raise RunError(f"the run {facts.name!r} has no value yet: there is nothing to draw")

    def height(value: float | None) -> float:
        if value is None:
            return np.nan
        return (value if facts.optimum is None else facts.regret_of(value)) / unit

    unit = _unit(facts)
    figure, axes = _figure(SIZE)
    at = np.array(facts.evaluations)
    values = [height(facts.history[row].value) for row in valued]
    axes.plot(at[valued], values, "o", color=SOFT, alpha=0.4, markersize=3.5, markeredgewidth=0)
    best = np.array([height(value) for value in facts.best_so_far])
    axes.step(at, best, where="post", color=ACCENT, linewidth=1.8, label="best so far")
    failed = [row for row, one in enumerate(facts.history) if one.failed]
    if failed:
        low = min(values)
        axes.plot(at[failed], [low] * len(failed), "x", color=ACCENT, markersize=4, label="failed")
        axes.legend(frameon=False, fontsize=9, loc="center right")
    _label(axes, "evaluations", _in_units("value" if facts.optimum is None else "regret", unit))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def search_map(run: RunLike, *, optimum: float | None = None) -> Figure:
    """The graph around the search: measured nodes coloured by their value, the best one ringed and named.

    Raises:
        RunError: it is a result, which has no graph; or nothing was measured yet.
    """
    facts = facts_of(run, optimum=optimum)
    drawn = facts.map
    if facts.view is None:
        raise RunError("a result has no graph to draw: give its run, Run.open(store, name)")
    if drawn is None:
        raise RunError(f"nothing of the run {facts.name!r} was measured yet: there is no map")
    figure, axes = _figure(WIDE)
    axes.axis("off")
    axes.set_aspect(0.8)  # a little wider than high, as the figure is
    places = drawn.places
    axes.add_collection(
        LineCollection(list(places[drawn.edges]), colors="#d8d5cf", linewidths=0.4, zorder=1)
    )
    first = len(drawn.keys)
    axes.scatter(places[:first, 0], places[:first, 1], s=2, color="#b9b5ae", linewidths=0, zorder=2)
    if drawn.connectors:
        axes.scatter(
            places[first:, 0],
            places[first:, 1],
            s=9,
            marker="s",
            color="#8a8780",
            linewidths=0,
            zorder=2,
            label="connectors, never measured",
        )
        axes.legend(frameon=False, fontsize=8, loc="lower left", labelcolor=SOFT)
    _draw_measured(figure, axes, facts, drawn)
    return figure


def _draw_measured(figure: Figure, axes: Axes, facts: RunFacts, drawn: Map) -> None:
    row_of = {key: row for row, key in enumerate(drawn.keys)}
    shown = [one for one in facts.history if one.key in row_of]
    failed = [row_of[one.key] for one in shown if one.value is None]
    gone = drawn.places[failed]
    axes.scatter(gone[:, 0], gone[:, 1], s=18, marker="x", color=ACCENT, linewidths=1, zorder=3)
    valued = [one for one in shown if one.value is not None]
    if valued:
        unit = _unit(facts)
        places = drawn.places[[row_of[one.key] for one in valued]]
        dots = axes.scatter(
            places[:, 0],
            places[:, 1],
            c=np.array([one.value for one in valued], dtype=np.float64) / unit,
            cmap=RAMP if facts.maximize else RAMP.reversed(),
            s=24,
            edgecolors="white",
            linewidths=0.6,
            zorder=4,
        )
        bar = figure.colorbar(dots, ax=axes, shrink=0.5, aspect=18, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=8, color=SOFT, labelcolor=SOFT)
        bar.set_label(_in_units("value", unit), color=SOFT, fontsize=9)
    if facts.best is not None and facts.best.key in row_of:
        _draw_best(axes, drawn.places[row_of[facts.best.key]], facts.named(facts.best.key, 30))


def _draw_best(axes: Axes, place: FloatArray, name: str) -> None:
    x, y = float(place[0]), float(place[1])
    axes.scatter(x, y, s=110, facecolors="none", edgecolors=INK, linewidths=1.6, zorder=5)
    axes.annotate(
        name,
        (x, y),
        xytext=(9, 7),
        textcoords="offset points",
        color=INK,
        fontsize=9,
        fontweight="bold",
        zorder=6,
        parse_math=False,  # a key may have dollar signs
        bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "alpha": 0.8, "linewidth": 0},
    )


def kernel(run: RunLike, *, optimum: float | None = None) -> Figure:
    """The learned r⁻¹(λ) over the spectrum of the current region; the zero modes, which are weighed apart, are marked.

    Raises:
        RunError: it is a result; the strategy has no model; or it has no value yet.
    """
    facts = facts_of(run, optimum=optimum)
    if facts.view is None:
        raise RunError("a result has no model to draw: give its run, Run.open(store, name)")
    learned = facts.kernel
    if learned is None:
        raise RunError(
            f"there is no model in the run {facts.name!r} (strategy {facts.settings.strategy_name}, "
            f"{plural(facts.used, 'evaluation')}): there is no kernel to draw"
        )
    figure, axes = _figure(SIZE)
    zeros, at, weights = learned.zeros, learned.eigenvalues, learned.weights
    axes.semilogy(at[zeros:], weights[zeros:], "o-", color=COOL, markersize=2.6, linewidth=1.4)
    axes.semilogy(at[:zeros], weights[:zeros], "o", color=ACCENT, markersize=5, label="constant")
    axes.legend(frameon=False, fontsize=9, loc="upper right")
    axes.set_ylim(bottom=max(float(weights.min()) / 2, float(weights.max()) * 1e-9))
    _label(axes, "eigenvalue λ", "weight r⁻¹(λ)")
    return figure


def region(run: RunLike, *, optimum: float | None = None) -> Figure:
    """The region's size, or how many measured nodes are in it, with misses in a row and moves.

    Raises:
        RunError: the strategy has no region, or nothing was measured yet.
    """
    facts = facts_of(run, optimum=optimum, graph=False)
    steps = facts.region
    if not steps:
        why = "nothing was measured yet" if not facts.history else "its strategy has none"
        raise RunError(f"the run {facts.name!r} has no region to draw: {why}")
    figure, axes = _figure(SIZE)
    grows = steps[-1].size is not None
    at = [step.evaluation for step in steps]
    heights = [step.size if grows else step.known for step in steps]
    axes.bar(
        at, [step.failures for step in steps], width=0.8, color=PALE, label="no better, in a row"
    )
    line = np.array([np.nan if height is None else height for height in heights])
    name = "nodes in the region" if grows else "measured nodes in the region"
    axes.plot(at, line, color=ACCENT, linewidth=1.8, label=name)
    moves = [step.evaluation for before, step in pairwise(steps) if step.restart != before.restart]
    for number, move in enumerate(moves):
        label = None if number else "a new region"
        axes.axvline(move, color=SOFT, linewidth=0.9, linestyle=(0, (2, 3)), label=label)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    _label(axes, "evaluations", "nodes")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def calibration(run: RunLike, *, optimum: float | None = None) -> Figure:
    """What the model expected, with 95 % intervals, against what was measured.

    Raises:
        RunError: no node that a model chose was measured yet.
    """
    facts = facts_of(run, optimum=optimum, graph=False)
    found = facts.calibration
    if not found.predictions:
        raise RunError(
            f"the run {facts.name!r} has no predictions to judge: no model chose a node yet"
        )
    figure, axes = _figure(SQUARE)
    unit = _unit(facts)
    mean, std, value = (
        np.array([(one.mean, one.std, one.value) for one in found.predictions]).T / unit
    )
    ends = float(min(mean.min(), value.min())), float(max(mean.max(), value.max()))
    axes.plot(ends, ends, color=SOFT, linewidth=0.9, linestyle=(0, (4, 4)), zorder=1)
    axes.errorbar(
        mean,
        value,
        xerr=1.96 * std,
        fmt="o",
        color=COOL,
        ecolor=(0.24, 0.31, 0.71, 0.22),
        elinewidth=1,
        markersize=3.2,
        zorder=2,
    )
    for last in found.coverages[-1:]:
        axes.set_title(
            f"{last.inside} of {last.count} in their 95 % interval",
            fontsize=9,
            color=SOFT,
            loc="left",
        )
    _label(axes, _in_units("expected", unit), _in_units("measured", unit))
    return figure


#: What each kind of figure is drawn by.
PLOTS: dict[str, Callable[..., Figure]] = {
    "convergence": convergence,
    "map": search_map,
    "kernel": kernel,
    "region": region,
    "calibration": calibration,
}


def image_of(figure: Figure, ending: str) -> bytes:
    """A figure as the content of a file; equal figures give equal bytes.

    Args:
        figure: what to save.
        ending: ``.png``, ``.svg`` or ``.pdf``.
    """
    stamp = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(ending, {})
    target = BytesIO()
    with warnings.catch_warnings():
        # A key may be in a script that the font does not have: then it is drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure.savefig(target, format=ending.removeprefix("."), dpi=DPI, metadata=stamp)
    return target.getvalue()


class Drawing(Figure):
    """A figure that shows itself in a notebook, whatever was imported there before."""

    def _repr_png_(self) -> bytes:
        return image_of(self, ".png")


def _figure(size: tuple[float, float]) -> tuple[Figure, Axes]:
    figure = Drawing(figsize=size, layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(RULE)
    axes.tick_params(which="both", color=RULE, labelcolor=SOFT, labelsize=9)
    axes.grid(axis="y", color="#efece7", linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def _unit(facts: RunFacts) -> float:
    """In what the values of a run are drawn."""
    values = [one.value for one in facts.history if one.value is not None]
    largest = max(map(abs, (*values, facts.optimum or 0.0)))
    return 1.0 if largest <= LARGEST_DRAWN else LARGEST_DRAWN


def _in_units(name: str, unit: float) -> str:
    return name if unit == 1.0 else f"{name} / {unit:g}"


def _label(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x, color=SOFT, fontsize=10)
    axes.set_ylabel(y, color=SOFT, fontsize=10)
