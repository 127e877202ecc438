"""What a step costs at the end of a long run, what memory it takes, and how long resuming does.

    python benchmarks/long_run.py                                 # SQLite, 3,000 evaluations: some minutes
    python benchmarks/long_run.py --evaluations 500 --nodes 10000 # a quick look
    python benchmarks/long_run.py --uri bolt://localhost:7687     # on a Neo4j, credentials in the environment

The objective costs nothing. The last hundred steps are taken in turn with the first hundred of the model in another run
with the same seed: whatever else the machine does meanwhile slows both, so that their ratio is fair where the times of
the blocks are not. Times are means in milliseconds: by the clock, and of this process's CPU, which leaves out waiting
for the disk or a server. Memory is what the system says this process has; the graph is loaded by another one.
"""

import argparse
import gc
import math
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.steps import VIEW
from benchmarks.stores import neo4j_at
from graphbo.loading import open_source
from graphbo.loading.load import load
from graphbo.runs import Run, RunSettings
from graphbo.runs.registry import runs_in
from graphbo.stores import Address, GraphStore, open_store
from graphbo.types import NodeKey

INITIAL, MEASURED, BLOCK = 10, 100, 500
LONG, SHORT = "benchmark-long", "benchmark-short"

#: Goals: the last steps beside the first, megabytes that are added meanwhile, seconds until a resumed run proposes.
RATIO, MEGABYTES, SECONDS = 1.3, 20.0, 1.0


@dataclass(frozen=True)
class Took:
    """What something took, in seconds."""

    wall: float
    cpu: float


@contextmanager
def timed(took: list[Took]) -> Iterator[None]:
    """Note how long the block takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    took.append(Took(time.perf_counter() - wall, time.process_time() - cpu))


def value(key: NodeKey) -> float:
    """Hills of several widths, since nodes of near numbers are near in the graph."""
    number = int(key)
    return math.sin(number / 97) + math.sin(number / 1009) + 0.5 * math.sin(number / 16.3)


def megabytes() -> float:
    """What this process has in memory."""
    gc.collect()
    resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return resident * os.sysconf("SC_PAGE_SIZE") / 1e6


def write_graph(address: Address, spec: str) -> None:
    """Load the graph, in a process of its own."""
    with open_store(address, create=address.uri.startswith("sqlite:")) as store:
        load(store, VIEW, open_source(spec))


def start(store: GraphStore, name: str) -> Run:
    """A new run, the same but for its name."""
    if runs_in(store).find(name):
        runs_in(store).clean(name)
    return Run.create(store, VIEW, name, RunSettings(options={"initial": INITIAL}))


def step(run: Run) -> None:
    """Ask, evaluate, tell."""
    asked = run.ask(lease=60)
    assert asked.pending is not None
    run.tell(value(asked.pending.key), step=asked.pending.step, token=asked.pending.token)


def row(name: str, took: Sequence[Took]) -> list[str]:
    """A line of the table."""
    wall, cpu = (
        1e3 * statistics.mean(getattr(one, name) for one in took) for name in ("wall", "cpu")
    )
    return [name, f"{wall:.1f}", f"{cpu:.1f}", f"{megabytes():.0f}"]


def verdict(found: float, goal: float, unit: str) -> str:
    """Whether a goal is met."""
    return f"{found:.2f}{unit}, goal at most {goal:g} {'✓' if found <= goal else '✗ MISSED'}"


def resume(address: Address) -> Took:
    """What it takes to open the run with nothing in memory, read its history and propose a node."""
    with open_store(address) as store:
        took: list[Took] = []
        with timed(took):
            run = Run.open(store, LONG)
            run.refresh()
            asked = run.ask(lease=60)
        assert asked.pending is not None
        run.release(step=asked.pending.step)
    return took[0]


def benchmark(address: Address, evaluations: int, console: Console) -> None:
    """Run, resume, and print the table."""
    table = Table(title=f"a step of a run of {evaluations:,} evaluations, on {address.uri}")
    for column in ("steps", "ms", "CPU ms", "MB"):
        table.add_column(column, justify="right")
    with open_store(address) as store:
        run = start(store, LONG)
        took: list[Took] = []
        memory = 0.0
        for done in range(1, evaluations - MEASURED + 1):
            with timed(took):
                step(run)
            if done == INITIAL:
                took.clear()  # they were drawn at random
            if done == INITIAL + MEASURED or done % BLOCK == 0:
                table.add_row(*row(f"to {done:,}", took))
                memory = memory or megabytes()
                took.clear()
        grown = megabytes() - memory
        other = start(store, SHORT)
        for _ in range(INITIAL):
            step(other)
        first: list[Took] = []
        last: list[Took] = []
        for _ in range(MEASURED):
            with timed(first):
                step(other)
            with timed(last):
                step(run)
        table.add_section()
        table.add_row(*row(f"{INITIAL + 1:,} to {INITIAL + MEASURED:,}, in turn with", first))
        table.add_row(*row(f"the last {MEASURED}", last))
    ratio = sum(one.wall for one in last) / sum(one.wall for one in first)
    in_cpu = sum(one.cpu for one in last) / sum(one.cpu for one in first)
    console.print(table)
    console.print(f"last / first: {verdict(ratio, RATIO, '')} (CPU {in_cpu:.2f})")
    console.print(
        f"memory since step {INITIAL + MEASURED}: {verdict(grown, MEGABYTES, ' MB more')}"
    )
    resumed = resume(address)
    console.print(f"resumed in {verdict(resumed.wall, SECONDS, ' s')} (CPU {resumed.cpu:.2f})")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--evaluations", type=int, default=3_000)
    parser.add_argument(
        "--graph", default="ws:n=<n>,k=6,p=0.01,seed=0", help="a generator; <n> is --nodes"
    )
    parser.add_argument("--uri", help="a Neo4j to write to, credentials in the environment")
    options = parser.parse_args()
    console = Console(width=120)
    spec = options.graph.replace("<n>", str(options.nodes))
    if options.uri:
        with neo4j_at(options.uri) as address:
            loaded_and_measured(address, spec, options.evaluations, console)
    else:
        with tempfile.TemporaryDirectory() as directory:
            address = Address(f"sqlite:{directory}/graph.db")
            loaded_and_measured(address, spec, options.evaluations, console)


def loaded_and_measured(address: Address, spec: str, evaluations: int, console: Console) -> None:
    """Load the graph, measure, and leave nothing behind."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pool.apply(write_graph, (address, spec))
    try:
        benchmark(address, evaluations, console)
    finally:
        with open_store(address) as store:
            for name in (LONG, SHORT):
                if runs_in(store).find(name):
                    runs_in(store).clean(name)
            store.delete_graph(VIEW)


if __name__ == "__main__":
    main()
