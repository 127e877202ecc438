"""How much the default strategy finds, against the baselines, the paper's algorithm and any other search.

    python benchmarks/search.py
    python benchmarks/search.py --seeds 10 --task ba-betweenness --strategy bayes --strategy bayes:refresh=5
    python benchmarks/search.py --prototype FILE

Every seed is a graph of its own, and every strategy meets the same graphs. Regret is what the best node so far falls
short of the optimum, relative to the distance from the median to it: 0 is found, 1 is no better than a typical node.
Differences are to the first strategy, paired by seed, with their standard error. A prototype is a file with a function
``run(n, edges, values, seed, T, times=…, info=…)`` that returns the regret after each evaluation.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import laplacian
from scipy.sparse.linalg import spsolve

from graphbo.ego import Graph
from graphbo.stores import GraphStore, open_store
from graphbo.strategies import STRATEGIES, Option, Strategy, create_strategy
from graphbo.types import FloatArray, IntArray, Observation, Proposal, View

VIEW = View(("Node",), ("LINK",), key="id")


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph on the nodes 0 … n-1 and the value of each."""

    edges: IntArray
    values: FloatArray

    @property
    def n(self) -> int:
        """How many nodes."""
        return len(self.values)

    def shuffled(self, rng: np.random.Generator) -> "Problem":
        """The same with other numbers: in generated graphs they tell age and degree."""
        order = rng.permutation(self.n)
        values = np.empty(self.n)
        values[order] = self.values
        return Problem(order[self.edges], values)

    def normalised(self, regret: FloatArray) -> FloatArray:
        """Regret relative to the distance from the median to the optimum."""
        return regret / float(self.values.max() - np.median(self.values))


# ---------------------------------------------------------------------------------------------
# Objectives


def adjacency(graph: "nx.Graph[int]") -> Any:
    """The sparse, symmetric 0/1 matrix of a graph on 0 … n-1."""
    return csr_array(nx.to_scipy_sparse_array(graph, nodelist=range(len(graph)))).astype(float)


def betweenness(graph: "nx.Graph[int]") -> FloatArray:
    """On how many shortest paths each node lies: Brandes' algorithm, from all sources at once."""
    links, nodes = adjacency(graph), len(graph)
    paths = np.eye(nodes)
    hops = np.where(paths > 0, 0, -1)
    front, furthest = paths, 0
    while front.any():
        furthest += 1
        front = (links @ front) * (hops < 0)
        hops[front > 0] = furthest
        paths = paths + front
    through = np.zeros((nodes, nodes))
    for hop in range(furthest - 1, 0, -1):
        share = np.where(hops == hop, (1 + through) / np.maximum(paths, 1), 0)
        through += np.where(hops == hop - 1, paths * (links @ share), 0)
    np.fill_diagonal(through, 0)
    return np.asarray(through.sum(axis=1))


def eigenvector(graph: "nx.Graph[int]") -> FloatArray:
    """Eigenvector centrality."""
    found = nx.eigenvector_centrality_numpy(graph)
    return np.array([found[node] for node in range(len(graph))])


def ackley(side: int, rng: np.random.Generator) -> FloatArray:
    """The standard Ackley function, turned round, with its optimum somewhere on a square grid."""
    x, y = np.divmod(np.arange(side * side), side)
    shift = rng.uniform(-3, 3, size=2)
    a, b = 10 * x / (side - 1) - 5 - shift[0], 10 * y / (side - 1) - 5 - shift[1]
    bowl = -20 * np.exp(-0.2 * np.sqrt((a * a + b * b) / 2))
    waves = -np.exp((np.cos(2 * np.pi * a) + np.cos(2 * np.pi * b)) / 2)
    return np.asarray(-(bowl + waves + np.e + 20))


def smooth(graph: "nx.Graph[int]", rng: np.random.Generator) -> FloatArray:
    """Noise that has diffused over the graph."""
    matrix: Any = laplacian(adjacency(graph), normed=True)
    system = csc_array(eye_array(len(graph)) + 20 * matrix)
    return np.asarray(spsolve(system, rng.normal(size=len(graph))))


def epidemic(graph: "nx.Graph[int]", rng: np.random.Generator) -> FloatArray:
    """(1 − τ/T)² for people who fell ill at τ of T in an epidemic from one of them, 0 for the others."""
    links, people, infect, recover = adjacency(graph), len(graph), 0.1, 0.015
    ill = np.zeros(people, dtype=bool)
    ill[rng.integers(people)] = True
    immune = np.zeros(people, dtype=bool)
    when = np.where(ill, 0, -1)
    day = 0
    while ill.any() and day < 200:
        day += 1
        safe = (1 - infect) ** (links @ ill.astype(float))
        new = ~ill & ~immune & (rng.random(people) > safe)
        well = ill & (rng.random(people) < recover)
        ill, immune = (ill | new) & ~well, immune | well
        when[new] = day
    last = max(int(when.max()), 1)
    return np.where(when < 0, 0.0, (1 - when / last) ** 2)


# ---------------------------------------------------------------------------------------------
# Tasks


def _task(
    build: Callable[[int], "nx.Graph[int]"],
    objective: Callable[["nx.Graph[int]", np.random.Generator], FloatArray],
) -> Callable[[int], Problem]:
    def make(seed: int) -> Problem:
        graph = build(seed)
        rng = np.random.default_rng([seed, 0])
        edges = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
        return Problem(edges, objective(graph, rng)).shuffled(rng)

    return make


def _ba(seed: int) -> "nx.Graph[int]":
    return nx.barabasi_albert_graph(1000, 3, seed=seed)


def _ws(seed: int) -> "nx.Graph[int]":
    ring: nx.Graph[int] = nx.watts_strogatz_graph(1000, 10, 0.1, seed=seed)
    return ring


def _grid(seed: int) -> "nx.Graph[int]":
    del seed
    grid: nx.Graph[int] = nx.convert_node_labels_to_integers(nx.grid_2d_graph(50, 50))
    return grid


def _blocks(seed: int) -> "nx.Graph[int]":
    inside, between = 0.08, 0.002
    odds = np.full((10, 10), between) + (inside - between) * np.eye(10)
    return nx.stochastic_block_model([100] * 10, odds.tolist(), seed=seed)


def _contacts(seed: int) -> "nx.Graph[int]":
    return nx.relaxed_caveman_graph(80, 9, 0.25, seed=seed)


#: From a name to what makes the problem of a seed.
TASKS: dict[str, Callable[[int], Problem]] = {
    "ba-betweenness": _task(_ba, lambda graph, _: betweenness(graph)),
    "ba-eigenvector": _task(_ba, lambda graph, _: eigenvector(graph)),
    "ws-betweenness": _task(_ws, lambda graph, _: betweenness(graph)),
    "ws-eigenvector": _task(_ws, lambda graph, _: eigenvector(graph)),
    "grid-ackley": _task(_grid, lambda _, rng: ackley(50, rng)),
    "blocks-smooth": _task(_blocks, smooth),
    "patient-zero": _task(_contacts, epidemic),
}


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
            history.append(observed(step, proposal, problem.values))
        found = np.maximum.accumulate([observation.value or 0.0 for observation in history])
        return Outcome(problem.values.max() - found, 1e3 * float(np.median(took)), graph.revealed)

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
            problem.n, problem.edges, problem.values, seed, T=budget, times=times, info=info
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
    tasks: Sequence[str], searchers: dict[str, Searcher], seeds: Sequence[int], budget: int
) -> dict[tuple[str, str], list[Outcome]]:
    """Every search on every problem; regrets are normalised."""
    outcomes: dict[tuple[str, str], list[Outcome]] = {}
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("searching", total=len(tasks) * len(searchers) * len(seeds))
        for task in tasks:
            for seed in seeds:
                problem = TASKS[task](seed)
                with loaded(problem) as store:
                    for name, search in searchers.items():
                        found = search(problem, store, seed, budget)
                        normal = Outcome(
                            problem.normalised(found.regret), found.milliseconds, found.revealed
                        )
                        outcomes.setdefault((task, name), []).append(normal)
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
    parser.add_argument("--task", action="append", choices=list(TASKS))
    parser.add_argument(
        "--strategy",
        action="append",
        metavar="NAME[:OPTION=VALUE,…]",
        help="the first is the reference",
    )
    parser.add_argument("--prototype", metavar="FILE", help="a search to compare with")
    chosen = parser.parse_args()
    tasks = chosen.task or list(TASKS)
    searchers = {spec: parse(spec) for spec in chosen.strategy or STRATEGIES}
    if chosen.prototype:
        searchers["prototype"] = prototype_searcher(chosen.prototype)
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
    outcomes = compare(tasks, searchers, seeds, chosen.budget)
    Console(width=130).print(table(outcomes, tasks, chosen.budget))


if __name__ == "__main__":
    main()
