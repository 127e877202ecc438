"""What a way through a connector should weigh: formulas compared, by what searches through paths find.

    python benchmarks/path_weights.py                                    # seeds 100 to 119: ten minutes on two cores
    python benchmarks/path_weights.py --first-seed 0 --seeds 10
    python benchmarks/path_weights.py -o docs/experiments/connected      # writes tables/weights.md there

The tasks are those of ``graphbo bench connected``, through paths, on the embedded store. A connector that *a*
relationships lead to and *b* lead on from gets its weight by each of the formulas in turn; graphbo's own is the first.
All meet the same problems. Printed is the mean normalised regret after half and after all of the evaluations with its
standard error, and the difference to the first formula, paired by problem.
"""

import argparse
import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from threadpoolctl import threadpool_limits

from graphbo.bench.analysis import mean_of, moments
from graphbo.bench.methods import parse_method
from graphbo.bench.search import NAMES, loaded, search
from graphbo.bench.tasks import parse_task
from graphbo.stores.subgraphs import way_weight

TASKS = ("machines", "visits", "papers")
BUDGET = 100

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


def table(found: Sequence[Searched], tasks: Sequence[str], formulas: Sequence[str]) -> str:
    """Markdown: a row per formula, for each task and for all of them."""
    first = formulas[0]
    regrets = {(one.formula, one.task, one.seed): one.regrets for one in found}
    half, whole = moments(BUDGET)
    lines = [
        f"| task | weight | regret at {half} | regret at {whole} | Δ at {half} | Δ at {whole} |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row, among in [*((f"`{task}`", (task,)) for task in tasks), ("all", tuple(tasks))]:
        problems = sorted({(one.task, one.seed) for one in found if one.task in among})
        for formula in formulas:
            cells = []
            for other in (None, first):
                for at in range(2):
                    mean = mean_of(
                        regrets[formula, *problem][at]
                        - (regrets[other, *problem][at] if other else 0.0)
                        for problem in problems
                    )
                    sign = "+" if other else ""
                    cells.append(f"{mean.value:{sign}.3f} ± {mean.error:.3f}")
            if formula == first:
                cells[2:] = ["", ""]
            lines.append(f"| {row} | {formula} | {' | '.join(cells)} |")
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
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    jobs = [
        (formula, task, seed, options.method)
        for seed in seeds
        for task in options.tasks
        for formula in options.formulas
    ]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        text = table(list(pool.imap_unordered(searched, jobs)), options.tasks, options.formulas)
    print(text)
    if options.output is not None:
        tables = options.output / "tables"
        tables.mkdir(parents=True, exist_ok=True)
        (tables / "weights.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
