"""What a cost should do to the choice of a node: the plain improvement, that per cost, and one in between.

    nice python benchmarks/costs.py                                 # seeds 100 to 109: an hour on two cores
    nice python benchmarks/costs.py --first-seed 0
    python benchmarks/costs.py -o docs/experiments/costs            # writes tables/costs.md there

Tasks of ``graphbo bench`` get costs, with a mean of 1 and a budget that pays for 50 nodes of that cost:

- ``random``: log-normal, whatever the node (a tenth of the nodes cost less than 0.17, a tenth more than 2.2);
- ``smooth``: like those of the neighbours, as travel is;
- ``with value``: the better the node, the dearer it is, by rank, up to 20 times.

What goes off the logarithm of the expected improvement is α log cost. ``ei`` has α = 0 throughout and looks at costs
only to know what it can pay for, ``per cost`` has α = 1, ``cooled`` is what graphbo does: α falls from 1 to 0 as the
budget is used. All meet the same problems, without scouts: what is compared is the region's choice. Printed is the mean
normalised regret after half and after all of the budget with its standard error, how many nodes were measured, and the
difference to ``ei``, paired by problem.
"""

import argparse
import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from threadpoolctl import threadpool_limits

from graphbo.bench.analysis import mean_of
from graphbo.bench.search import NAMES, loaded
from graphbo.bench.tasks import parse_task
from graphbo.bench.tasks.base import Problem
from graphbo.objectives import from_callable
from graphbo.runs import Run, RunSettings
from graphbo.runs.costs import costs_then
from graphbo.runs.worker import work
from graphbo.types import FloatArray

TASKS = (
    "centrality:graph=ba,n=1000,m=3,measure=betweenness",
    "centrality:graph=ws,n=2000,k=10,p=0.1,measure=eigenvector",
    "grid:function=ackley",
    "grid:function=rosenbrock",
    "teams:skills=2,alpha=1,threshold=0.3",
)
BUDGET = 50.0
#: The largest cost that follows from a value, in units of the smallest.
RANGE = 20.0

#: α at a step, given what graphbo would have.
POLICIES: dict[str, Callable[[float], float]] = {
    "ei": lambda _: 0.0,
    "per cost": lambda _: 1.0,
    "cooled": lambda alpha: alpha,
}


def random_costs(problem: Problem, rng: np.random.Generator) -> FloatArray:
    """Log-normal."""
    costs: FloatArray = np.exp(rng.normal(size=problem.n))
    return costs


def smooth_costs(problem: Problem, rng: np.random.Generator) -> FloatArray:
    """Like those of the neighbours: noise that was averaged along the edges several times."""
    noise = rng.normal(size=problem.n)
    sources, targets = problem.edges.T
    degrees = np.bincount(problem.edges.ravel(), minlength=problem.n)
    for _ in range(4):
        total = np.bincount(sources, noise[targets], problem.n)
        total += np.bincount(targets, noise[sources], problem.n)
        noise = (noise + total) / (1 + degrees)
    costs: FloatArray = np.exp((noise - noise.mean()) / noise.std())
    return costs


def costs_with_value(problem: Problem, rng: np.random.Generator) -> FloatArray:
    """By the rank of the value, and a little at random."""
    ranks = np.argsort(np.argsort(problem.values)) / (problem.n - 1)
    costs: FloatArray = RANGE**ranks * np.exp(0.3 * rng.normal(size=problem.n))
    return costs


COSTS: dict[str, Callable[[Problem, np.random.Generator], FloatArray]] = {
    "random": random_costs,
    "smooth": smooth_costs,
    "with value": costs_with_value,
}


@dataclass(frozen=True)
class Searched:
    """One search: its normalised regret after half and after all of the budget, and the nodes it measured."""

    policy: str
    task: str
    costs: str
    seed: int
    regrets: tuple[float, float]
    nodes: int


def searched(job: tuple[str, str, str, int]) -> Searched:
    """One search by one policy."""
    policy, name, kind, seed = job
    task = parse_task(name)
    problem = task.problem(seed)
    costs = COSTS[kind](problem, np.random.default_rng([seed, 7]))
    costs /= costs.mean()

    def changed(*args: Any) -> Any:
        found = costs_then(*args)
        return found and replace(found, exponent=POLICIES[policy](found.exponent))

    with (
        threadpool_limits(1),
        mock.patch("graphbo.runs.run.costs_then", changed),
        loaded(problem) as store,
    ):
        view = task.view(*NAMES)
        store.write_nodes(view, [(node, {"cost": float(costs[node])}) for node in range(problem.n)])
        settings = RunSettings(
            seed=seed, cost="cost", budget_cost=BUDGET, labelled=False, options={"scouts": 0}
        )
        run = Run.create(store, view, "search", settings)
        work(run, from_callable(lambda node: float(problem.noisy[node])))
    nodes = np.array([one.key for one in run.history], dtype=np.int64)
    spent = np.cumsum(costs[nodes])
    regret = np.minimum.accumulate(problem.optimum - problem.values[nodes]) / problem.spread
    half = float(regret[max(int((spent <= BUDGET / 2).sum()), 1) - 1])
    return Searched(policy, name, kind, seed, (half, float(regret[-1])), len(nodes))


def table(found: Sequence[Searched]) -> str:
    """Markdown: a row per policy, for each kind of costs, each task, and all of them."""
    by = {(one.policy, one.task, one.costs, one.seed): one for one in found}
    kinds = {one.costs: None for one in found}
    groups = [(f"costs {kind}", [one for one in found if one.costs == kind]) for kind in kinds]
    groups += [
        (f"`{task}`", [one for one in found if one.task == task])
        for task in {one.task: None for one in found}
    ]
    lines = [
        "| | chosen by | nodes | regret at half | regret at all | Δ at half | Δ at all |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row, among in [*groups, ("all", list(found))]:
        problems = sorted({(one.task, one.costs, one.seed) for one in among})
        for policy in POLICIES:
            here = [by[policy, *problem] for problem in problems]
            nodes = sum(one.nodes for one in here) / len(here)
            cells = [f"{nodes:.0f}"]
            for other in (None, "ei"):
                for at in range(2):
                    mean = mean_of(
                        one.regrets[at] - (by[other, *problem].regrets[at] if other else 0.0)
                        for one, problem in zip(here, problems, strict=True)
                    )
                    sign = "+" if other else ""
                    cells.append(f"{mean.value:{sign}.3f} ± {mean.error:.3f}")
            if policy == "ei":
                cells[3:] = ["", ""]
            lines.append(f"| {row} | {policy} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the searches and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", nargs="+", default=list(TASKS))
    parser.add_argument("--costs", nargs="+", choices=COSTS, default=list(COSTS))
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("-o", "--output", type=Path, help="a directory of results to add it to")
    options = parser.parse_args()
    jobs = [
        (policy, task, kind, seed)
        for seed in range(options.first_seed, options.first_seed + options.seeds)
        for task in options.tasks
        for kind in options.costs
        for policy in POLICIES
    ]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        text = table(sorted(pool.imap_unordered(searched, jobs), key=lambda one: one.seed))
    print(text)
    if options.output is not None:
        tables = options.output / "tables"
        tables.mkdir(parents=True, exist_ok=True)
        (tables / "costs.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
