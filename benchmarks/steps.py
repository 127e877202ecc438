"""What a step of a run costs beside its model, with an objective that costs nothing.

    python benchmarks/steps.py                      # SQLite, and a Neo4j that is started for the occasion: 2 minutes
    python benchmarks/steps.py --stores neo4j --uri bolt://localhost:7687

The graph is a Barabási–Albert graph; the model graph is two ego-networks of 100 nodes. 90 steps after the random ones
are measured, beside a unit after each of them (a ``RETURN 1``, or the disk keeping four pages, which every step on
SQLite waits for once), apart for those whose model graph is that of the step before
and those for which the database was asked for another. A second run with the same seed goes over a wire that counts
trips. Times are medians in milliseconds; the disk is that of the temporary directory.

Two more go to a server that is 30 ms away: as they are, and with nothing written in the statement that takes the lock
and looks (``graphbo.stores.neo4j.at_once``), which shows what that saves of a whole step.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import networkx as nx
from rich.console import Console
from rich.table import Table

from benchmarks._wire import Wire, wire_to
from benchmarks.stores import neo4j_at
from graphbo.objectives import from_callable
from graphbo.runs import Run, RunSettings
from graphbo.runs.registry import runs_in
from graphbo.runs.worker import Progress, work
from graphbo.stores import Address, EdgeRow, GraphStore, open_store
from graphbo.stores.neo4j.at_once import AtOnce
from graphbo.types import View

VIEW = View(("BenchNode",), ("BENCH_LINK",), key="id")
INITIAL, STEPS, SIZE = 10, 90, 100
OPTIONS = {"initial": INITIAL, "size": SIZE}
BATCH = 20_000
#: How long a trip to a far server takes, in seconds.
FAR = 0.03

#: Goals: milliseconds beside the model; else how many times as long as ``RETURN 1``, and how many trips.
SQLITE_MS = 6.0
NEO4J = {"kept": (8, 8), "redrawn": (14, 12)}


@dataclass(frozen=True)
class Step:
    """Where the time of a step went, in seconds."""

    redrawn: bool
    total: float
    model: float
    graph: float
    run: float
    trips: int
    unit: float

    @property
    def kind(self) -> str:
        """Whether the model graph of the step before was used again."""
        return "redrawn" if self.redrawn else "kept"

    @property
    def beside(self) -> float:
        """What it cost beside the model."""
        return self.total - self.model

    @property
    def rest(self) -> float:
        """Neither model nor database."""
        return self.beside - self.graph - self.run


class Meter:
    """Watches a run and notes what each step cost, and the unit after it."""

    def __init__(self, run: Run, unit: Callable[[], object], wire: Wire | None) -> None:
        self._run = run
        self._unit = unit
        self._wire = wire or Wire("")
        self.steps: list[Step] = []
        self._begin()

    def _begin(self) -> None:
        self._wire.reset()
        self._clock = self._run.clock.copy()
        self._graph = self._run.graph.database_seconds
        self._calls = self._run.graph.database_calls
        self._started = time.perf_counter()

    def watch(self, progress: Progress) -> None:
        """A step ends when its value is told."""
        if progress.told is None:
            return
        total = time.perf_counter() - self._started
        trips = self._wire.trips
        spent = self._run.clock.minus(self._clock)
        graph = self._run.graph.database_seconds - self._graph
        started = time.perf_counter()
        self._unit()
        self.steps.append(
            Step(
                redrawn=self._run.graph.database_calls > self._calls,
                total=total,
                model=spent.model,
                graph=graph,
                run=spent.database - graph,
                trips=trips,
                unit=time.perf_counter() - started,
            )
        )
        self._begin()


def load(store: GraphStore, nodes: int) -> dict[int, float]:
    """Write the graph; what is sought is a node with many neighbours."""
    graph = nx.barabasi_albert_graph(nodes, 3, seed=0)
    store.create_key(VIEW)
    edges: list[EdgeRow] = [(int(a), int(b), {}) for a, b in graph.edges()]
    for start in range(0, len(edges), BATCH):
        store.write_relationships(VIEW, edges[start : start + BATCH])
    return {int(node): float(degree) for node, degree in graph.degree()}


def measure(
    address: Address,
    values: dict[int, float],
    unit: Callable[[], object] | None = None,
    wire: Wire | None = None,
) -> list[Step]:
    """The steps of a run that the model chose."""
    settings = RunSettings(options=OPTIONS, budget=INITIAL + STEPS)
    with open_store(address) as store:
        run = Run.create(store, VIEW, "benchmark", settings)
        meter = Meter(run, unit or store.ping, wire)
        try:
            work(run, from_callable(values.__getitem__), watch=meter.watch)
        finally:
            runs_in(store).clean("benchmark")
    return meter.steps[INITIAL:]


@contextmanager
def disk(directory: Path) -> Iterator[Callable[[], None]]:
    """What makes the disk keep as much as a commit appends."""
    with (directory / "pages").open("ab", buffering=0) as file:

        def keep() -> None:
            file.write(bytes(4 * 4096))
            os.fsync(file.fileno())

        yield keep


def milliseconds(seconds: Sequence[float]) -> float:
    """The median."""
    return 1e3 * statistics.median(seconds)


def describe(steps: Sequence[Step]) -> list[str]:
    """The columns that every store has."""
    columns = [
        [step.total for step in steps],
        [step.model for step in steps],
        [step.run for step in steps],
        [step.graph for step in steps],
        [step.rest for step in steps],
        [step.beside for step in steps],
    ]
    return [f"{len(steps)}", *(f"{milliseconds(column):.2f}" for column in columns)]


def verdict(found: float, goal: float, unit: str) -> str:
    """Whether a goal is met, and by how much."""
    return f"{found:.1f} of {goal:g}{unit} {'✓' if found <= goal else '✗ MISSED'}"


def by_kind(steps: Sequence[Step]) -> Iterator[tuple[str, list[Step]]]:
    """Steps whose model graph was kept, and those for which it was redrawn."""
    for kind in ("kept", "redrawn"):
        found = [step for step in steps if step.kind == kind]
        if found:
            yield kind, found


def benchmark_sqlite(nodes: int, table: Table) -> None:
    """Add the rows of the embedded store."""
    with tempfile.TemporaryDirectory() as directory:
        address = Address(f"sqlite:{directory}/graph.db")
        with open_store(address, create=True) as store:
            values = load(store, nodes)
        with disk(Path(directory)) as keep:
            measure(address, values, keep)
            steps = measure(address, values, keep)
    for kind, found in [*by_kind(steps), ("all", steps)]:
        beside = milliseconds([step.beside for step in found])
        table.add_row(
            "sqlite",
            kind,
            *describe(found),
            f"{milliseconds([step.unit for step in found]):.2f} (fsync)",
            "",
            verdict(beside, SQLITE_MS, " ms"),
        )


def benchmark_neo4j(address: Address, nodes: int, table: Table) -> None:
    """Add the rows of Neo4j: times on a direct connection, trips over a wire."""
    with cleared(address) as store:
        values = load(store, nodes)
        for _ in range(2):  # Java compiles what it sees often
            measure(address, values)
        steps = measure(address, values)
        with wire_to(address.uri, 0.0) as wire:
            far = Address(wire.uri, address.username, address.password, address.database)
            trips = dict(by_kind(measure(far, values, wire=wire)))
    for kind, found in by_kind(steps):
        beside = milliseconds([step.beside for step in found])
        ping = milliseconds([step.unit for step in found])
        times, most = NEO4J[kind]
        counted = [step.trips for step in trips[kind]]
        table.add_row(
            "neo4j",
            kind,
            *describe(found),
            f"{ping:.2f} (RETURN 1)",
            f"{statistics.median(counted):g}, at most {max(counted)}",
            f"{verdict(beside / ping, times, ' ×')}\n{verdict(max(counted), most, ' trips')}",
        )


def benchmark_far(address: Address, nodes: int, table: Table) -> None:
    """Add what writing at once saves where the server is far."""
    with cleared(address) as store:
        values = load(store, nodes)
        measure(address, values)
        with wire_to(address.uri, FAR) as wire:
            far = Address(wire.uri, address.username, address.password, address.database)
            at_once = measure(far, values, wire=wire)
            with mock.patch.object(AtOnce, "fits", return_value=False):
                one_by_one = measure(far, values, wire=wire)
    for kind, found in [*by_kind(at_once), ("all", at_once)]:
        steps = [one for one in one_by_one if kind in ("all", one.kind)]
        with_it, without = (milliseconds([step.total for step in some]) for some in (found, steps))
        trips, more = (statistics.median(step.trips for step in some) for some in (found, steps))
        table.add_row(
            kind,
            f"{with_it:.0f}",
            f"{trips:g}",
            f"{without:.0f}",
            f"{more:g}",
            f"{1 - with_it / without:.0%}",
        )


@contextmanager
def cleared(address: Address) -> Iterator[GraphStore]:
    """A store without the benchmark's graph, before and after."""
    with open_store(address) as store:
        if runs_in(store).find("benchmark"):
            runs_in(store).clean("benchmark")
        store.delete_graph(VIEW)
        try:
            yield store
        finally:
            store.delete_graph(VIEW)


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--stores", choices=["sqlite", "neo4j", "both"], default="both")
    parser.add_argument("--uri", help="a Neo4j to write to, credentials in the environment")
    options = parser.parse_args()
    table = Table(title=f"a step of a run on {options.nodes:,} nodes, median milliseconds")
    for column in (
        "store", "model graph", "steps", "total", "model", "ask+tell", "graph", "rest", "total − model",
        "unit", "trips", "goal: total − model",
    ):  # fmt: skip
        table.add_column(column, justify="left" if column in ("store", "goal") else "right")
    if options.stores != "neo4j":
        benchmark_sqlite(options.nodes, table)
    far = Table(title=f"a whole step at {1e3 * FAR:g} ms a trip, median milliseconds")
    for column in ("model graph", "at once", "trips", "one by one", "trips", "saved"):
        far.add_column(column, justify="right")
    if options.stores != "sqlite":
        with neo4j_at(options.uri) as address:
            benchmark_neo4j(address, options.nodes, table)
            benchmark_far(address, options.nodes, far)
    console = Console(width=170)
    console.print(table)
    if far.row_count:
        console.print(far)


if __name__ == "__main__":
    main()
