"""What the stores cost, at several sizes of the graph: latencies and client memory should not grow with it.

    python benchmarks/stores.py                                   # both stores, 10³, 10⁵ and 10⁶ nodes: 15 minutes
    python benchmarks/stores.py --sizes 1000 --sizes 100000       # one minute

Every graph is a ring in which each node is linked to its 3 followers, a tenth of the links led elsewhere (so that an
ego-network looks the same at every size), and beside it a star: a hub with 100,000 leaves. Neo4j is started in a
temporary directory, or reached by --uri; then its database must be empty. Times are medians in milliseconds.
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks._wire import wire_to
from graphbo.stores import Address, EdgeRow, GraphStore, address_from, open_store
from graphbo.stores.neo4j.server import LocalServer
from graphbo.types import Ego, View

VIEW = View(("BenchNode",), ("BENCH_LINK",), key="id")
HUB, LEAVES = -1, 100_000
NEIGHBOURS, REWIRED = 3, 0.1
EGO = 100
BATCH = 20_000
WARM_UP, REPEATS = 40, 60
FAR = 0.030


def links(nodes: int) -> Iterator[EdgeRow]:
    """The ring with shortcuts; node ids are spread so that neighbours are not loaded together."""
    rng = random.Random(0)
    for node in range(nodes):
        for step in range(1, NEIGHBOURS + 1):
            other = rng.randrange(nodes) if rng.random() < REWIRED else (node + step) % nodes
            if other != node:
                yield node, other, {}


def star() -> Iterator[EdgeRow]:
    """The hub and its leaves."""
    return ((HUB, -2 - leaf, {}) for leaf in range(LEAVES))


def load(store: GraphStore, rows: Iterator[EdgeRow]) -> int:
    """Write all relationships; how many."""
    count = 0
    while batch := list(islice(rows, BATCH)):
        store.write_relationships(VIEW, batch)
        count += len(batch)
    return count


def median(
    action: Callable[[int], object], warm_up: int = WARM_UP, repeats: int = REPEATS
) -> float:
    """Median milliseconds of an action that is given a new number each time."""
    times = []
    for number in range(warm_up + repeats):
        start = time.perf_counter()
        action(number)
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times[warm_up:])


def fixed_degree_centres(store: GraphStore, nodes: int, count: int) -> list[int]:
    """Nodes with exactly the degree that a node has where nothing was rewired."""
    rng = random.Random(1)
    found: list[int] = []
    while len(found) < count:
        some = store.ego_networks(VIEW, [Ego(rng.randrange(nodes), 1) for _ in range(200)], [0])
        assert some.degrees is not None
        ordinary = some.degrees == 2 * NEIGHBOURS
        found += [int(key) for key, wanted in zip(some.keys, ordinary, strict=True) if wanted]
    return found[:count]


def measure(address: Address, nodes: int) -> dict[str, float]:
    """All latencies of one store that holds a graph, and this process's memory."""
    with open_store(address) as store:
        centres = fixed_degree_centres(store, nodes, WARM_UP + REPEATS)
        result = {
            "ping": median(lambda _: store.ping()),
            "random": median(lambda i: store.random_keys(VIEW, 1, [i])),
            "ego": median(lambda i: store.ego_networks(VIEW, [Ego(centres[i], EGO)], [i])),
            "two": median(
                lambda i: store.ego_networks(
                    VIEW, [Ego(centres[i], EGO), Ego(centres[-i], EGO)], [i]
                )
            ),
            "hub": median(lambda i: store.ego_networks(VIEW, [Ego(HUB, EGO)], [i]), 3, 9),
            "write": median(lambda i: store.write_nodes(VIEW, [(centres[i], {"benchmark": i})])),
        }
    result["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return result


def measure_in_child(address: Address, nodes: int) -> dict[str, float]:
    """In a process of its own, whose memory holds what a client needs and nothing of the loader."""
    environment = os.environ | {
        "NEO4J_USERNAME": address.username or "",
        "NEO4J_PASSWORD": address.password or "",
        "NEO4J_DATABASE": address.database or "",
    }
    command = [sys.executable, __file__, "--measure", str(nodes), "--uri", address.uri]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return {name: float(value) for name, value in json.loads(result.stdout).items()}


def measure_far(address: Address, nodes: int) -> dict[str, float]:
    """An ego-network through a wire of 30 ms: how long, and how many trips."""
    with wire_to(address.uri, FAR) as wire:
        near = Address(wire.uri, address.username, address.password, address.database)
        with open_store(near) as store:
            centres = fixed_degree_centres(store, nodes, 12)
            median(lambda i: store.ego_networks(VIEW, [Ego(centres[i], EGO)], [i]), 0, 2)
            wire.reset()
            took = median(
                lambda i: store.ego_networks(VIEW, [Ego(centres[2 + i], EGO)], [i]), 0, 10
            )
            trips = wire.trips / 10
            wire.reset()
            store.ego_networks(VIEW, [Ego(HUB, EGO)], [1])
            return {"ego": took, "trips": trips, "hub_bytes": wire.bytes_to_client}


@contextmanager
def neo4j_at(uri: str | None) -> Iterator[Address]:
    """The server at an address, or one that is started for the occasion."""
    if uri:
        yield address_from(uri)
        return
    with tempfile.TemporaryDirectory() as directory:
        local = LocalServer(Path(directory))
        server = local.start()
        try:
            yield Address(server.uri, server.username, server.password, server.database)
        finally:
            local.stop()


def benchmark(address: Address, sizes: list[int], name: str, table: Table, far: Table) -> None:
    """Add a row for each size to the tables."""
    for nodes in sizes:
        with open_store(address, create=True) as store:
            if store.count_nodes(VIEW):
                store.delete_graph(VIEW)
            store.create_key(VIEW)
            load(store, star())
            start = time.perf_counter()
            written = load(store, links(nodes))
            rate = written / (time.perf_counter() - start)
        if address.is_neo4j and nodes == sizes[0]:
            # A server that has just started compiles what it runs often: its first measurement is thrown away.
            measure_in_child(address, nodes)
        found = measure_in_child(address, nodes)
        table.add_row(
            name, f"{nodes:,}", f"{rate:,.0f}", f"{found['ping']:.2f}", f"{found['random']:.2f}",
            f"{found['ego']:.2f}", f"{found['two']:.2f}", f"{found['hub']:.0f}", f"{found['write']:.2f}",
            f"{found['memory']:.0f}",
        )  # fmt: skip
        if address.is_neo4j:
            slow = measure_far(address, nodes)
            far.add_row(
                f"{nodes:,}",
                f"{slow['ego']:.0f}",
                f"{slow['trips']:.1f}",
                f"{slow['hub_bytes']:,.0f}",
            )
        # The whole table comes at the end, which is a long time to wait for the first row.
        figures = " ".join(f"{what}={value:.2f}" for what, value in found.items())
        Console(stderr=True).print(f"{name} {nodes:,}: load={rate:.0f} {figures}", style="dim")


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, action="append")
    parser.add_argument("--stores", choices=["sqlite", "neo4j", "both"], default="both")
    parser.add_argument(
        "--uri", help="a Neo4j with an empty database, credentials in the environment"
    )
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(address_from(options.uri), options.measure)))
        return
    sizes = options.sizes or [1_000, 100_000, 1_000_000]
    table = Table(
        title=f"milliseconds, ego-networks of {EGO}; relationships per second; MB of the client"
    )
    for column in (
        "store",
        "nodes",
        "load/s",
        "RETURN 1",
        "random",
        "ego",
        "two egos",
        "hub",
        "write",
        "MB",
    ):
        table.add_column(column, justify="left" if column == "store" else "right")
    far = Table(title=f"Neo4j through a wire of {1e3 * FAR:.0f} ms")
    for column in ("nodes", "ego ms", "trips", "bytes for a 10⁵ hub"):
        far.add_column(column, justify="right")
    if options.stores != "neo4j":
        with tempfile.TemporaryDirectory() as directory:
            benchmark(Address(f"sqlite:{directory}/graph.db"), sizes, "sqlite", table, far)
    if options.stores != "sqlite":
        with neo4j_at(options.uri) as address:
            benchmark(address, sizes, "neo4j", table, far)
    console = Console(width=120)
    console.print(table)
    if far.row_count:
        console.print(far)


if __name__ == "__main__":
    main()
