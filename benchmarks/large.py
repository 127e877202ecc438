"""The most central node of graphs with a million nodes, as a user would look for it: the graph in a database.

    python benchmarks/large.py                                   # SQLite, 1,000,000 nodes: leave it alone for a while
    python benchmarks/large.py --nodes 20000 --seeds 1           # a quick look
    python benchmarks/large.py --uri bolt://localhost:7687       # on a Neo4j, where the graphs stay; NEO4J_PASSWORD
    python benchmarks/large.py -o docs/experiments/large         # keeps results.csv and tables there

Each graph is loaded once by ``graphbo load``. Each search is a ``graphbo run`` in a process of its own that knows the
graph through the database alone; its memory is the most that the system saw it use. Regret is relative to the distance
from the median to the optimum; the mean of the seeds, and its standard error.
"""

import argparse
import csv
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from graphbo.bench.tasks.instances import Instance, parse_instance
from graphbo.runs import Run
from graphbo.stores import open_store
from graphbo.types import View

METHODS = ("bayes", "paper", "local", "random", "bfs", "dfs")
BASELINES = METHODS[2:]
AFTER = (50, 100, 200, 300)
TASKS = tuple(
    f"centrality:graph={graph},n=<n>,measure={measure}"
    for measure in ("eigenvector", "betweenness")  # the quick ones first: what is done is kept
    for graph in ("ba", "ws")
)


@dataclass(frozen=True)
class Search:
    """What a search found, and what it took.

    Attributes:
        regrets: normalised, after each of ``AFTER``.
        megabytes: the most memory that its process had.
        revealed: how many nodes it had looked at.
    """

    task: str
    method: str
    seed: int
    regrets: tuple[float, ...]
    megabytes: float
    revealed: int


def _yardstick(spec: str) -> tuple[float, float]:
    """The optimum of a problem and its distance from the median."""
    problem = parse_instance(spec).problem()
    return problem.optimum, problem.spread


def yardstick(spec: str) -> tuple[float, float]:
    """The same, in a process that takes the graph with it when it ends."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_yardstick, (spec,))


def graphbo(*arguments: str) -> tuple[str, float]:
    """Run the command; what it printed, and the most memory it had, in megabytes."""
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen([sys.executable, "-m", "graphbo", *arguments], stdout=printed)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"graphbo {' '.join(arguments)} failed")
        printed.seek(0)
        return printed.read(), usage.ru_maxrss / 1024


def _seen_as(view: View) -> tuple[str, ...]:
    """The options that name a view."""
    return ("--label", view.labels[0], "--rel", view.relationships[0], "--key", str(view.key))


def searched(
    uri: str, instance: Instance, method: str, seed: int, scale: tuple[float, float]
) -> Search:
    """One search, from nothing, that leaves nothing behind."""
    optimum, spread = scale
    view, name = instance.view, f"large-{method}-{seed}"
    where = ("--uri", uri)
    how = ("--strategy", method, "--seed", str(seed), "--budget", str(max(AFTER)))
    printed, megabytes = graphbo(
        "run",
        *where,
        *_seen_as(view),
        *how,
        "--objective",
        "property:value",
        "--name",
        name,
        "--json",
    )
    with open_store(uri) as store:
        run = Run.open(store, name)
        run.refresh()
    values = [one.value for one in run.history if one.value is not None]
    best = np.maximum.accumulate(values)
    graphbo("clean", name, *where, "--yes")
    regrets = tuple(float((optimum - best[min(after, len(best)) - 1]) / spread) for after in AFTER)
    revealed = int(json.loads(printed).get("revealed", 0))
    return Search(instance.task.spec, method, seed, regrets, megabytes, revealed)


def searches(
    uri: str, task: str, methods: Sequence[str], seeds: int, console: Console
) -> Iterator[Search]:
    """Load the graph, and search it by every method with every seed."""
    instance = parse_instance(f"{task},seed=0")
    scale = yardstick(instance.spec)
    graphbo("load", f"task:{instance.spec}", "--uri", uri, *_seen_as(instance.view))
    for method in methods:
        for seed in range(seeds):
            found = searched(uri, instance, method, seed, scale)
            shown = " ".join(f"{regret:.3f}" for regret in found.regrets)
            console.print(f"{task} {method} {seed}: {shown}, {found.megabytes:.0f} MB")
            yield found


def table(found: Sequence[Search]) -> str:
    """Per task and method, as Markdown."""
    after = " | ".join(f"after {one}" for one in AFTER)
    lines = [
        f"| task | method | {after} | memory, MB | nodes seen |",
        "| --- | --- |" + " --- |" * (len(AFTER) + 2),
    ]
    groups: dict[tuple[str, str], list[Search]] = {}
    for one in found:
        groups.setdefault((one.task, one.method), []).append(one)
    for (task, method), several in groups.items():
        regrets = np.array([one.regrets for one in several])
        error = regrets.std(axis=0, ddof=1) / np.sqrt(len(regrets)) if len(regrets) > 1 else None
        cells = [
            f"{mean:.3f}" + ("" if error is None else f" ± {error[place]:.3f}")
            for place, mean in enumerate(regrets.mean(axis=0))
        ]
        memory = max(one.megabytes for one in several)
        seen = np.mean([one.revealed for one in several])
        lines.append(
            f"| `{task}` | `{method}` | {' | '.join(cells)} | {memory:.0f} | {seen:,.0f} |"
        )
    return "\n".join(lines) + "\n"


def claims(found: Sequence[Search]) -> str:
    """Whether the methods with a model beat the baselines, graph by graph, as Markdown."""
    last: dict[str, dict[str, dict[int, float]]] = {}
    for one in found:
        last.setdefault(one.task, {}).setdefault(one.method, {})[one.seed] = one.regrets[-1]
    lines = ["| claim |  | numbers |", "| --- | --- | --- |"]
    for task, methods in last.items():
        baselines = [name for name in BASELINES if name in methods]
        for method in (name for name in methods if name not in BASELINES and baselines):
            best = min(baselines, key=lambda name: float(np.mean(list(methods[name].values()))))
            apart = [methods[method][seed] - methods[best][seed] for seed in methods[method]]
            mean = float(np.mean(apart))
            error = float(np.std(apart, ddof=1) / np.sqrt(len(apart))) if len(apart) > 1 else np.inf
            verdict = "– cannot be told"
            if abs(mean) > 2 * error:
                verdict = "✓ holds" if mean < 0 else "✗ does not hold"
            lines.append(
                f"| {task}: {method} beats the best baseline, {best} | {verdict} | "
                f"{mean:+.3f} ± {error:.3f} in normalised regret at {AFTER[-1]} |"
            )
    return "\n".join(lines) + "\n"


def keep(directory: Path, found: Sequence[Search]) -> None:
    """Write every search and the tables into a directory."""
    tables = directory / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    with (directory / "results.csv").open("w", newline="") as file:
        fixed = ("task", "method", "seed", "megabytes", "revealed")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*fixed, *(f"regret_{after}" for after in AFTER)])
        for one in found:
            row = asdict(one)
            numbers = [f"{regret:.6g}" for regret in one.regrets]
            writer.writerow([*(row[name] for name in fixed), *numbers])
    (tables / "searches.md").write_text(table(found))
    (tables / "claims.md").write_text(claims(found))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=3, help="searches of each graph and method")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--uri", help="a database; without it, a SQLite file that is removed")
    parser.add_argument("-o", "--output", type=Path, help="a directory for the results")
    chosen = parser.parse_args()
    console = Console()
    found: list[Search] = []
    with tempfile.TemporaryDirectory() as directory:
        for number, task in enumerate(TASKS):
            file = Path(directory) / f"{number}.db"
            uri = chosen.uri or f"sqlite:{file}"
            spec = task.replace("<n>", str(chosen.nodes))
            found += searches(uri, spec, chosen.methods, chosen.seeds, console)
            file.unlink(missing_ok=True)
            if chosen.output:
                keep(chosen.output, found)
    console.print(f"{table(found)}\n{claims(found)}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
