"""How much the default strategy finds, against the baselines, the paper's algorithm and any other search.

    python benchmarks/search.py
    python benchmarks/search.py --seeds 10 --task centrality:m=2 --strategy bayes --strategy bayes:refresh=5
    python benchmarks/search.py --prototype FILE

Every seed is a graph of its own, and every strategy meets the same graphs. Regret is what the best node so far falls
short of the optimum, without noise and relative to the distance from the median to it: 0 is found, 1 is no better
than a typical node. Tasks are those of ``graphbo tasks``.
Differences are to the first strategy, paired by seed, with their standard error. A prototype is a file with a function
``run(n, edges, values, seed, T, noise=…, times=…, info=…)`` that returns the regret after each evaluation.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from graphbo.ego import Graph
from graphbo.stores import GraphStore, open_store
from graphbo.strategies import STRATEGIES, Option, Strategy, create_strategy
from graphbo.tasks import Problem, Task, parse_task
from graphbo.types import FloatArray, Observation, Proposal, View

VIEW = View(("Node",), ("LINK",), key="id")


#: What is compared without --task.
TASKS = (
    "centrality",
    "centrality:measure=eigenvector",
    "centrality:graph=ws",
    "centrality:graph=ws,measure=eigenvector",
    "grid",
    "patient-zero:graph=caveman,n=720",
    "teams",
)


# ---------------------------------------------------------------------------------------------
# Runs


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one search did: its regret after each evaluation, milliseconds per step, and how much it saw."""

    regret: FloatArray
    milliseconds: float
    revealed: int


#: From a problem, a seed and a budget to the outcome.
Searcher = Callable[[Problem, GraphStore, int, int], Outcome]


def loaded(problem: Problem) -> GraphStore:
    """A store in memory with the problem's graph."""
    store = open_store("sqlite::memory:")
    store.create_key(VIEW)
    store.write_nodes(VIEW, [(node, {}) for node in range(problem.n)])
    store.write_relationships(VIEW, [(a, b, {}) for a, b in problem.edges.tolist()])
    return store


def observed(step: int, proposal: Proposal, values: FloatArray) -> Observation:
    """The first candidate, measured."""
    chosen = proposal.candidates[0]
    return Observation(
        step=step,
        seq=step,
        key=chosen.key,
        value=float(values[int(chosen.key)]),
        restart=proposal.restart,
        phase=proposal.phase,
        modelled=proposal.modelled,
    )


def searcher(make: Callable[[], Strategy]) -> Searcher:
    """Runs one of graphbo's strategies."""

    def search(problem: Problem, store: GraphStore, seed: int, budget: int) -> Outcome:
        strategy, graph = make(), Graph(store, VIEW, seed=seed)
        history: list[Observation] = []
        took = []
        for step in range(1, min(budget, problem.n) + 1):
            began = time.perf_counter()
            proposal = strategy.propose(history, (), graph, seed=seed, step=step, maximize=True)
            took.append(time.perf_counter() - began)
            history.append(observed(step, proposal, problem.noisy))
        regret = problem.optimum - problem.values[[int(one.key) for one in history]]
        best = np.minimum.accumulate(regret)
        return Outcome(best, 1e3 * float(np.median(took)), graph.revealed)

    return search


def prototype_searcher(path: str) -> Searcher:
    """Runs the search in a file."""
    spec = importlib.util.spec_from_file_location("prototype", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def search(problem: Problem, store: GraphStore, seed: int, budget: int) -> Outcome:
        del store
        times: list[float] = []
        info: dict[str, int] = {}
        regret = module.run(
            *(problem.n, problem.edges, problem.values, seed),
            T=budget,
            noise=problem.noise or None,
            times=times,
            info=info,
        )
        return Outcome(np.asarray(regret), 1e3 * float(np.median(times)), info.get("revealed", 0))

    return search


def parse(spec: str) -> Searcher:
    """A strategy by its name, with options after a colon: ``bayes:refresh=5,kernel=matern``."""
    name, _, rest = spec.partition(":")
    options = dict(_option(part) for part in rest.split(",") if part)
    create_strategy(name, options)  # a wrong one is refused before anything runs
    return searcher(lambda: create_strategy(name, options))


def _option(text: str) -> tuple[str, Option]:
    name, _, value = text.partition("=")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


# ---------------------------------------------------------------------------------------------
# Tables


def compare(
    tasks: Sequence[Task], searchers: dict[str, Searcher], seeds: Sequence[int], budget: int
) -> dict[tuple[str, str], list[Outcome]]:
    """Every search on every problem; regrets are normalised."""
    outcomes: dict[tuple[str, str], list[Outcome]] = {}
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("searching", total=len(tasks) * len(searchers) * len(seeds))
        for task in tasks:
            for seed in seeds:
                problem = task.problem(seed)
                with loaded(problem) as store:
                    for name, search in searchers.items():
                        found = search(problem, store, seed, budget)
                        normal = Outcome(
                            found.regret / problem.spread, found.milliseconds, found.revealed
                        )
                        outcomes.setdefault((task.spec, name), []).append(normal)
                        progress.advance(bar)
    return outcomes


def at(outcomes: Sequence[Outcome], evaluations: int) -> FloatArray:
    """The regret of each run after so many evaluations."""
    return np.array([o.regret[min(evaluations, len(o.regret)) - 1] for o in outcomes])


def difference(mine: FloatArray, reference: FloatArray) -> str:
    """The mean of paired differences, and its standard error."""
    apart = mine - reference
    error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else float("nan")
    return f"{apart.mean():+.3f} ± {error:.3f}"


def row(mine: Sequence[Outcome], reference: Sequence[Outcome], half: int, full: int) -> list[str]:
    """One search on one task, or on several."""
    area, reference_area = (np.array([o.regret.mean() for o in set_]) for set_ in (mine, reference))
    return [
        f"{at(mine, half).mean():.3f}",
        f"{at(mine, full).mean():.3f}",
        f"{area.mean():.3f}",
        difference(at(mine, half), at(reference, half)),
        difference(at(mine, full), at(reference, full)),
        difference(area, reference_area),
        f"{np.median([outcome.milliseconds for outcome in mine]):.1f}",
        f"{np.mean([outcome.revealed for outcome in mine]):.0f}",
    ]


def table(
    outcomes: dict[tuple[str, str], list[Outcome]], tasks: Sequence[str], budget: int
) -> Table:
    """All tasks, and all of them together."""
    half, names = budget // 2, list(dict.fromkeys(name for _, name in outcomes))
    result = Table(title=f"normalised regret after {half} and {budget} evaluations, and on average")
    for column in ("task", "strategy"):
        result.add_column(column)
    for column in (
        f"at {half}",
        f"at {budget}",
        "area",
        f"Δ {half}",
        f"Δ {budget}",
        "Δ area",
        "ms",
        "seen",
    ):
        result.add_column(column, justify="right")
    for task in tasks:
        for name in names:
            mine, reference = outcomes[task, name], outcomes[task, names[0]]
            result.add_row(task, name, *row(mine, reference, half, budget))
        result.add_section()
    for name in names:
        mine = [outcome for task in tasks for outcome in outcomes[task, name]]
        reference = [outcome for task in tasks for outcome in outcomes[task, names[0]]]
        result.add_row("all", name, *row(mine, reference, half, budget))
    return result


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument(
        "--task", action="append", metavar="SPEC", help="one of `graphbo tasks`; may be repeated"
    )
    parser.add_argument("--data-dir", type=Path, help="with the data sets of tasks")
    parser.add_argument(
        "--strategy",
        action="append",
        metavar="NAME[:OPTION=VALUE,…]",
        help="the first is the reference",
    )
    parser.add_argument("--prototype", metavar="FILE", help="a search to compare with")
    chosen = parser.parse_args()
    tasks = [parse_task(spec, chosen.data_dir) for spec in chosen.task or TASKS]
    searchers = {spec: parse(spec) for spec in chosen.strategy or STRATEGIES}
    if chosen.prototype:
        searchers["prototype"] = prototype_searcher(chosen.prototype)
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
    outcomes = compare(tasks, searchers, seeds, chosen.budget)
    Console(width=130).print(table(outcomes, [task.spec for task in tasks], chosen.budget))


if __name__ == "__main__":
    main()
