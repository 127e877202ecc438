"""Figures of a comparison: every method has the same colour and line in all of them."""

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from graphbo.bench.analysis import Mean, Measure, Table, moments
from graphbo.bench.tasks import parse_task
from graphbo.errors import TaskError
from graphbo.types import FloatArray

__all__ = ["draw_costs", "draw_curves", "draw_differences", "draw_ranks", "draw_summary", "short"]

GREY = "#888888"

LineStyle: TypeAlias = Literal["-", "--", ":", "-."]

#: Colours that people who see few of them can tell apart (Okabe and Ito), and lines for print. The default stands out.
LOOKS: dict[str, tuple[str, LineStyle]] = {
    "bayes": ("#D55E00", "-"),
    "paper:kernel=diffusion": ("#0072B2", "-"),
    "paper:kernel=diffusion-ard": ("#56B4E9", "-"),
    "paper:kernel=polynomial": ("#009E73", "-"),
    "paper:kernel=sum-inverse": ("#CC79A7", "-"),
    "paper": ("#CC79A7", "-"),
    "whole-graph": ("#0072B2", "--"),
    "local": ("#222222", "--"),
    "random": (GREY, ":"),
    "bfs": (GREY, "--"),
    "dfs": (GREY, "-."),
    "prototype": ("#E69F00", "--"),
}
LINES: tuple[LineStyle, ...] = ("-", "--", ":", "-.")
OTHERS = ("#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#222222", GREY)

STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.grid": True,
    "grid.color": "#e8e8e8",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "savefig.dpi": 100,
}

SHADES = 256
#: The first evaluations are off the scale where they would leave no room for the others.
SETTLED = 5
COLUMNS = 4
LONGEST_TITLE = 34


def short(method: str) -> str:
    """A method as figures call it."""
    name, _, options = method.partition(":")
    if name == "paper" and options.startswith("kernel=") and "," not in options:
        return f"paper, {options.removeprefix('kernel=')}"
    return f"{name}, {options.replace(',', ', ')}" if options else name


def _look(method: str, methods: Sequence[str]) -> tuple[str, LineStyle]:
    if method in LOOKS:
        return LOOKS[method]
    unknown = [one for one in methods if one not in LOOKS]
    again, row = divmod(unknown.index(method), len(OTHERS))
    return OTHERS[row], LINES[again % len(LINES)]


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    # Bands have thousands of shades: a palette takes a third of the space, and nobody sees the difference.
    with Image.open(buffer) as image:
        colours = image.convert("RGB").quantize(
            SHADES, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
        )
        colours.save(path, optimize=True)


def _legend(figure: Figure, methods: Sequence[str]) -> None:
    lines = []
    for method in methods:
        colour, line = _look(method, methods)
        lines.append(Line2D([], [], color=colour, linestyle=line, linewidth=_width(method)))
    columns = min(len(methods), 5)
    names = [short(method) for method in methods]
    figure.legend(lines, names, loc="outside lower center", ncols=columns)


def _width(method: str) -> float:
    return 2.2 if method == "bayes" else 1.3


def draw_curves(
    table: Table, path: Path, *, measure: Measure = "regret", log: bool = False
) -> None:
    """Regret against evaluations, a panel per task, with a band of one standard error."""
    count = len(table.tasks)
    rows = math.ceil(count / COLUMNS)
    columns = math.ceil(count / rows)
    with rc_context(STYLE):
        figure = Figure(figsize=(3.0 * columns + 0.4, 2.3 * rows + 0.7), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, task in zip(grid, table.tasks, strict=False):
            _draw_task(axes, table, task, measure, log)
        for axes in grid[count:]:
            axes.set_visible(False)
        for axes in grid[::columns]:
            axes.set_ylabel("regret" if measure != "normalised" else "normalised regret")
        for axes in grid[max(count - columns, 0) : count]:
            axes.set_xlabel("evaluations")
        _legend(figure, table.methods)
        _save(figure, path)


def _draw_task(axes: Axes, table: Table, task: str, measure: Measure, log: bool) -> None:
    axes.set_title(_title(task))
    highest = 0.0
    for method in table.methods:
        values = table.matrix(task, method, measure)
        if not len(values):
            continue
        mean = values.mean(axis=0)
        error = values.std(axis=0, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else 0 * mean
        _draw_band(axes, method, table.methods, mean, error, log)
        highest = max(highest, float((mean + error)[min(SETTLED, len(mean)) - 1]))
    if log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, 1.1 * highest or 1.0)
    axes.set_xlim(1, table.budget)


def _draw_band(
    axes: Axes, method: str, methods: Sequence[str], mean: FloatArray, error: FloatArray, log: bool
) -> None:
    colour, line = _look(method, methods)
    low, high = mean - error, mean + error
    if log:
        # Nothing left to find is off the scale: the line ends there.
        mean = np.where(mean > 0, mean, np.nan)
        low = np.where(low > 0, low, mean / 3)
    steps = np.arange(1, len(mean) + 1)
    alpha = 0.06 if line in (":", "-.") or colour == GREY else 0.14
    axes.fill_between(steps, low, high, color=colour, alpha=alpha, linewidth=0)
    axes.plot(steps, mean, color=colour, linestyle=line, linewidth=_width(method))


def _title(task: str) -> str:
    """A spec in two lines, where one is too long."""
    name, _, rest = task.partition(":")
    shown = f"{name}: {rest.replace(',', ', ')}" if rest else name
    if len(shown) <= LONGEST_TITLE:
        return shown
    words = shown.split(" ")
    first = ""
    while words and len(f"{first} {words[0]}") <= LONGEST_TITLE:
        first = f"{first} {words.pop(0)}".strip()
    return f"{first}\n{' '.join(words)}"


def draw_ranks(table: Table, path: Path) -> None:
    """Mean rank against evaluations, over all problems."""
    with rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        axes = figure.subplots()
        for method, (mean, error) in table.mean_ranks().items():
            _draw_band(axes, method, table.methods, mean, error, log=False)
        axes.set_xlim(1, table.budget)
        axes.invert_yaxis()
        axes.set_xlabel("evaluations")
        axes.set_ylabel("mean rank (1 is best)")
        axes.set_title(f"{len(table.tasks)} tasks, {len(table.problems())} problems")
        _legend(figure, table.methods)
        _save(figure, path)


def draw_summary(table: Table, path: Path) -> None:
    """Mean normalised regret over all tasks, after half of the evaluations and after all."""
    with rc_context(STYLE):
        figure = Figure(figsize=(7.2, 0.34 * len(table.methods) + 1.2), layout="constrained")
        axes = figure.subplots()
        for row, method in enumerate(table.methods):
            for moment, face in zip(moments(table.budget), ("white", None), strict=True):
                mean = table.overall(method, moment)
                if mean is not None:
                    _dot(axes, mean, row, _look(method, table.methods)[0], face)
        _name_rows(axes, table.methods)
        axes.set_xlim(left=0)
        half, full = moments(table.budget)
        axes.set_xlabel(f"mean normalised regret after {half} (hollow) and {full} evaluations")
        _save(figure, path)


def draw_differences(table: Table, path: Path) -> None:
    """What each method's regret differs by from the first's, on the same problems, over all tasks."""
    reference, *others = table.methods
    with rc_context(STYLE):
        figure = Figure(figsize=(7.2, 0.34 * len(others) + 1.2), layout="constrained")
        axes = figure.subplots()
        axes.axvline(0, color="#888888", linewidth=1)
        for row, method in enumerate(others):
            for moment, face in zip(moments(table.budget), ("white", None), strict=True):
                mean = table.overall_difference(method, reference, moment)
                if mean is not None:
                    _dot(axes, mean, row, "#0072B2", face)
        _name_rows(axes, others)
        half, full = moments(table.budget)
        axes.set_xlabel(
            f"normalised regret minus that of {short(reference)}, after {half} (hollow) and {full} evaluations"
        )
        _save(figure, path)


def _dot(axes: Axes, mean: Mean, row: int, colour: str, face: str | None) -> None:
    error = 0.0 if np.isnan(mean.error) else mean.error
    axes.errorbar(
        mean.value,
        row + (0.12 if face is None else -0.12),
        xerr=error,
        fmt="o",
        color=colour,
        markerfacecolor=face or colour,
        markersize=6,
        elinewidth=1.4,
    )


def _name_rows(axes: Axes, methods: Sequence[str]) -> None:
    axes.set_yticks(range(len(methods)), [short(method) for method in methods])
    axes.set_ylim(len(methods) - 0.5, -0.5)


def draw_costs(table: Table, path: Path) -> None:
    """The time to propose a node: against the size of the graph if tasks differ in it, else by method."""
    sizes = {task: size for task in table.tasks if (size := _size(task))}
    with rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.0), layout="constrained")
        axes = figure.subplots()
        if len(set(sizes.values())) == len(table.tasks) > 1:
            _draw_growth(axes, table, sizes)
            _legend(figure, table.methods)
        else:
            _draw_times(axes, table)
        _save(figure, path)


def _size(task: str) -> int | None:
    """The parameter n of a task, where it has one."""
    try:
        return getattr(parse_task(task), "n", None)
    except TaskError:
        return None


def _draw_growth(axes: Axes, table: Table, sizes: dict[str, int]) -> None:
    for method in table.methods:
        tasks = sorted((t for t in sizes if table.seeds(t, method)), key=lambda task: sizes[task])
        colour, line = _look(method, table.methods)
        axes.plot(
            [sizes[task] for task in tasks],
            [table.mean_milliseconds(method, task) for task in tasks],
            color=colour,
            linestyle=line,
            marker="o",
            linewidth=_width(method),
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("nodes")
    axes.set_ylabel("milliseconds per step, mean")


def _draw_times(axes: Axes, table: Table) -> None:
    """A small dot for the median of each task, a large one for that of all."""
    for row, method in enumerate(table.methods):
        colour = _look(method, table.methods)[0]
        times = [table.milliseconds(method, task) for task in table.tasks]
        axes.plot(times, [row] * len(times), ".", color=colour, alpha=0.5)
        axes.plot(table.milliseconds(method), row, "o", color=colour, markersize=8)
    _name_rows(axes, table.methods)
    axes.set_xscale("log")
    axes.set_xlabel("milliseconds per step, median; small: of each task")
