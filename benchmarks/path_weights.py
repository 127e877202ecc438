"""What a way through a connector should weigh: formulas compared, by what the model predicts and by what searches find.

    python benchmarks/path_weights.py                                    # seeds 100 to 119: ten minutes on two cores
    python benchmarks/path_weights.py --only predictions                 # one minute
    python benchmarks/path_weights.py -o docs/experiments/connected      # writes tables/weights*.md there

The tasks are those of ``graphbo bench connected``, through paths, on the embedded store. A connector that *a*
relationships lead to and *b* lead on from gets its weight by each of the formulas in turn; graphbo's own is the first.
All meet the same problems.

Predictions: of the ego-network of a random candidate, 200 nodes, the model is told the values of 40 at random. Printed
are the rank correlation of what it expects of the others with what they are worth, and how far the ten that it expects
most of are above average, in standard deviations; beside them a projection, on which any two with a common connector
are linked. Searches: the mean normalised regret after half and after all of the evaluations. Both have standard
errors, and the difference to the first formula, paired by problem.
"""

import argparse
import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from graphbo.bench.analysis import mean_of, moments
from graphbo.bench.methods import parse_method
from graphbo.bench.search import NAMES, loaded, search
from graphbo.bench.tasks import parse_task
from graphbo.bench.tasks.base import Problem
from graphbo.search.model import SpectralGaussianProcess
from graphbo.search.spectrum import Spectrum
from graphbo.stores.subgraphs import way_weight
from graphbo.types import FloatArray, IntArray, Subgraph

TASKS = ("machines", "visits", "papers")
BUDGET = 100
#: Of predictions: the nodes of an ego-network, how many of them are known, how many are looked at, how often.
SIZE, KNOWN, TOP, TIMES = 200, 40, 10, 2
PROJECTION = "projection"
#: Expectations that differ by less are all the same.
SMALLEST = 1e-9

#: What a way weighs for leading through a connector, by the numbers of relationships on either side of it.
FORMULAS: dict[str, Callable[[int, int], float]] = {
    "1 / √(ab)": way_weight,
    "1 / ∜(ab)": lambda a, b: (a * b) ** -0.25 if a and b else 0.0,
    "1 / ab": lambda a, b: 1.0 / (a * b) if a and b else 0.0,
    "1": lambda a, b: 1.0 if a and b else 0.0,
}


@dataclass(frozen=True)
class Searched:
    """The normalised regret of one search, after half and after all evaluations."""

    formula: str
    task: str
    seed: int
    regrets: tuple[float, float]


def searched(job: tuple[str, str, int, str]) -> Searched:
    """One search with one formula."""
    formula, name, seed, method = job
    task = parse_task(name)
    problem = task.problem(seed)
    weigh = FORMULAS[formula]
    with (
        threadpool_limits(1),
        mock.patch("graphbo.stores.sqlite.file.way_weight", weigh),
        mock.patch("graphbo.stores.sqlite.walk.way_weight", weigh),
        loaded(problem) as store,
    ):
        found = search(
            parse_method(method), problem, store, seed=seed, budget=BUDGET, view=task.view(*NAMES)
        )
    half, whole = (float(found.regret[at - 1] / problem.spread) for at in moments(BUDGET))
    return Searched(formula, name, seed, (half, whole))


@dataclass(frozen=True)
class Predicted:
    """How good the predictions with one formula are: rank correlation, and worth of those that most is expected of."""

    formula: str
    task: str
    problem: tuple[int, int]
    quality: tuple[float, float]


def predicted(job: tuple[str, int]) -> list[Predicted]:
    """The predictions on a problem with each formula."""
    name, seed = job
    problem = parse_task(name).problem(seed)
    rng = np.random.default_rng(seed)
    linked = _weights(problem, FORMULAS["1"])
    weights = {formula: _weights(problem, weigh) for formula, weigh in FORMULAS.items()}
    weights[PROJECTION] = (linked > 0).astype(float)
    found = []
    for time in range(TIMES):
        rows = np.empty(0, dtype=np.int64)
        while len(rows) < SIZE // 2:  # some have hardly anybody around them
            rows = _around(linked, int(rng.integers(len(linked))), rng)
        known = rng.choice(len(rows), KNOWN, replace=False)
        rest = np.setdiff1d(np.arange(len(rows)), known)
        values = problem.values[rows]
        for formula, weight in weights.items():
            inside = weight[np.ix_(rows, rows)]
            a, b = np.nonzero(np.triu(inside))
            subgraph = Subgraph(
                keys=tuple(rows.tolist()),
                sources=a,
                targets=b,
                weights=inside[a, b],
                egos=(tuple(range(len(rows))),),
            )
            model = SpectralGaussianProcess(spectrum=Spectrum.of(subgraph))
            with threadpool_limits(1):
                expected = model.fit(known.tolist(), values[known]).posterior().mean[rest]
            worth = (values[rest] - values[rest].mean()) / values[rest].std()
            flat = float(np.ptp(expected)) < SMALLEST
            correlation = 0.0 if flat else float(spearmanr(expected, worth)[0])
            best = float(worth[np.argsort(-expected)[:TOP]].mean())
            found.append(Predicted(formula, name, (seed, time), (correlation, best)))
    return found


def _weights(problem: Problem, weigh: Callable[[int, int], float]) -> FloatArray:
    """What any two candidates have in common."""
    total = np.zeros((len(problem.values), len(problem.values)))
    for one in problem.connectors:
        member = np.zeros((len(total), int(one.links[:, 1].max()) + 1))
        member[one.links[:, 0], one.links[:, 1]] = 1.0
        counts = member.sum(axis=0).astype(int).tolist()
        total += (member * [weigh(count, count) for count in counts]) @ member.T
    np.fill_diagonal(total, 0.0)
    return total


def _around(linked: FloatArray, centre: int, rng: np.random.Generator) -> IntArray:
    """The nodes of an ego-network, hop by hop."""
    selected = [centre]
    frontier = selected
    while frontier and len(selected) < SIZE:
        reached = np.setdiff1d(np.flatnonzero(linked[frontier].sum(axis=0)), selected)
        frontier = rng.permutation(reached)[: SIZE - len(selected)].tolist()
        selected = selected + frontier
    return np.array(selected, dtype=np.int64)


def predictions(found: Sequence[Predicted], tasks: Sequence[str]) -> str:
    """Markdown: a row per formula, for each task and for all of them."""
    qualities = {(one.formula, one.task, one.problem): one.quality for one in found}
    formulas = (*FORMULAS, PROJECTION)
    lines = [
        "| task | weight | rank correlation | worth of the ten | Δ of the correlation | Δ of the worth |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row, among in [*((f"`{task}`", (task,)) for task in tasks), ("all", tuple(tasks))]:
        problems = sorted({(one.task, one.problem) for one in found if one.task in among})
        lines += _rows(row, problems, formulas, lambda formula, one: qualities[formula, *one])
    return "\n".join(lines) + "\n"


def _rows(
    row: str,
    problems: Sequence[Any],
    formulas: Sequence[str],
    numbers: Callable[[str, Any], tuple[float, float]],
) -> list[str]:
    """A row per formula: two means, and their differences to those of the first."""
    first, lines = formulas[0], []
    for formula in formulas:
        cells = []
        for other in (None, first):
            for at in range(2):
                mean = mean_of(
                    numbers(formula, one)[at] - (numbers(other, one)[at] if other else 0.0)
                    for one in problems
                )
                sign = "+" if other else ""
                cells.append(f"{mean.value:{sign}.3f} ± {mean.error:.3f}")
        if formula == first:
            cells[2:] = ["", ""]
        lines.append(f"| {row} | {formula} | {' | '.join(cells)} |")
    return lines


def table(found: Sequence[Searched], tasks: Sequence[str], formulas: Sequence[str]) -> str:
    """Markdown: a row per formula, for each task and for all of them."""
    regrets = {(one.formula, one.task, one.seed): one.regrets for one in found}
    half, whole = moments(BUDGET)
    lines = [
        f"| task | weight | regret at {half} | regret at {whole} | Δ at {half} | Δ at {whole} |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row, among in [*((f"`{task}`", (task,)) for task in tasks), ("all", tuple(tasks))]:
        problems = sorted({(one.task, one.seed) for one in found if one.task in among})
        lines += _rows(row, problems, formulas, lambda formula, one: regrets[formula, *one])
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the searches and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", nargs="+", default=list(TASKS))
    parser.add_argument("--formulas", nargs="+", choices=FORMULAS, default=list(FORMULAS))
    parser.add_argument("--method", default="bayes")
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("-o", "--output", type=Path, help="a directory of results to add it to")
    parser.add_argument("--only", choices=("predictions", "searches"))
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    texts = {}
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        if options.only != "searches":
            jobs = [(task, seed) for seed in seeds for task in options.tasks]
            found = [one for several in pool.imap_unordered(predicted, jobs) for one in several]
            texts["weights-predictions.md"] = predictions(found, options.tasks)
        if options.only != "predictions":
            searches = [
                (formula, task, seed, options.method)
                for seed in seeds
                for task in options.tasks
                for formula in options.formulas
            ]
            done = list(pool.imap_unordered(searched, searches))
            texts["weights.md"] = table(done, options.tasks, options.formulas)
    print("\n".join(texts.values()))
    if options.output is not None:
        tables = options.output / "tables"
        tables.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (tables / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
