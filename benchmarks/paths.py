"""What a step of a run costs through paths and connectors, at several sizes of the graph: it should not grow with it.

    python benchmarks/paths.py                                     # SQLite, 10³ and 10⁵ people: 2 minutes
    python benchmarks/paths.py --sizes 1000 --sizes 1000000        # 10 minutes
    python benchmarks/paths.py --stores neo4j --uri bolt://localhost:7687

People visit places, three each, most of them near their home, and all of them one station, which is a hub. One view
takes places for what paths lead through, the other for connectors. 60 steps after the random ones are measured, with an
objective that costs nothing. Times are medians in milliseconds; the goal is for a whole step, and what it takes beside
the model is told apart.
"""

import argparse
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from rich.console import Console
from rich.table import Table

from benchmarks.steps import BATCH, INITIAL, SIZE, Meter, Step, milliseconds, verdict
from benchmarks.stores import neo4j_at
from graphbo.objectives import from_callable
from graphbo.runs import Run, RunSettings
from graphbo.runs.registry import runs_in
from graphbo.runs.worker import work
from graphbo.stores import Address, EdgeRow, GraphStore, open_store
from graphbo.types import NodeKey, View
from graphbo.types.notation import read_path

PEOPLE = View(("BenchPerson",), ("BENCH_VISITS",), key="id")
PLACES = View(("BenchPlace",), ("BENCH_VISITS",), key="id")
SHARED = "(:BenchPerson)-[:BENCH_VISITS]->(:BenchPlace)<-[:BENCH_VISITS]-(:BenchPerson)"
VIEWS = {
    "path": View(("BenchPerson",), paths=(read_path(SHARED),), key="id", hub_limit=100),
    "connectors": View(
        ("BenchPlace",), ("BENCH_VISITS",), key="id", candidates=("BenchPerson",), hub_limit=100
    ),
}
STEPS, EACH, PER_PLACE, ELSEWHERE = 60, 3, 4, 0.1
STATION = -1
#: Goal: how many times as long a step may take on the largest graph as on the smallest.
GROWTH = 1.5


def visits(people: int) -> Iterator[EdgeRow]:
    """Who visits what."""
    rng = random.Random(0)
    places = people // PER_PLACE
    for person in range(people):
        yield person, STATION, {}
        for near in range(EACH):
            place = person // PER_PLACE + near
            yield (
                person,
                (rng.randrange(places) if rng.random() < ELSEWHERE else place % places),
                {},
            )


def load(store: GraphStore, people: int) -> None:
    """Write the graph."""
    store.create_key(PEOPLE)
    store.create_key(PLACES)
    rows = visits(people)
    while batch := list(islice(rows, BATCH)):
        store.write_relationships(PEOPLE, batch, target=PLACES)


def value(person: NodeKey) -> float:
    """What is sought is the middle of the town."""
    return -abs(float(person) - 500.0)


def measure(address: Address, view: View) -> list[Step]:
    """The steps of a run that the model chose."""
    settings = RunSettings(options={"initial": INITIAL, "size": SIZE}, budget=INITIAL + STEPS)
    with open_store(address) as store:
        run = Run.create(store, view, "benchmark", settings)
        meter = Meter(run, store.ping, None)
        try:
            work(run, from_callable(value), watch=meter.watch)
        finally:
            runs_in(store).clean("benchmark")
    return meter.steps[INITIAL:]


@contextmanager
def cleared(address: Address) -> Iterator[GraphStore]:
    """A store without the benchmark's graph, before and after."""
    with open_store(address, create=True) as store:
        try:
            for view in (PEOPLE, PLACES):
                store.delete_graph(view)
            yield store
        finally:
            for view in (PEOPLE, PLACES):
                store.delete_graph(view)


def benchmark(name: str, address: Address, sizes: list[int], table: Table) -> None:
    """Add the rows of one store."""
    first: dict[str, tuple[float, float]] = {}
    for size in sizes:
        with cleared(address) as store:
            load(store, size)
            for kind, view in VIEWS.items():
                measure(address, view)
                steps = measure(address, view)
                total = milliseconds([step.total for step in steps])
                beside = milliseconds([step.beside for step in steps])
                graph = milliseconds([step.graph for step in steps if step.redrawn] or [0.0])
                whole, rest = first.setdefault(kind, (total, beside))
                table.add_row(
                    name,
                    kind,
                    f"{size:,}",
                    f"{total:.1f}",
                    f"{beside:.1f}",
                    f"{graph:.1f}",
                    f"{beside / rest:.2f}",
                    verdict(total / whole, GROWTH, " ×"),
                )


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, action="append")
    parser.add_argument("--stores", choices=["sqlite", "neo4j", "both"], default="sqlite")
    parser.add_argument("--uri", help="a Neo4j to write to, credentials in the environment")
    options = parser.parse_args()
    sizes = options.sizes or [1_000, 100_000]
    table = Table(title="a step of a run through places, median milliseconds")
    for column in (
        "store", "places are", "people", "total", "total − model", "graph, redrawn", "of the smallest: total − model",
        "goal: total",
    ):  # fmt: skip
        table.add_column(column, justify="left" if column in ("store", "places are") else "right")
    if options.stores != "neo4j":
        with tempfile.TemporaryDirectory() as directory:
            benchmark("sqlite", Address(f"sqlite:{directory}/graph.db"), sizes, table)
    if options.stores != "sqlite":
        with neo4j_at(options.uri) as address:
            benchmark("neo4j", address, sizes, table)
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
