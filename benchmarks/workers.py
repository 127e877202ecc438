"""How much faster several workers are than one: 20 evaluations of 0.15 s, with pools that are warm.

    python benchmarks/workers.py          # half a minute

One worker takes 3 s, and what asking and telling take beside; four would take 0.75 s. Each pool has evaluated something
before it is timed: processes that were just started are still importing. Of each, the best of some tries: what else the
machine does is nobody's business here.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import networkx as nx
from rich.console import Console
from rich.table import Table

from graphbo import Search

SECONDS, EVALUATIONS, AT_ONCE = 0.15, 20, 4
#: The goal: so many times as fast.
GOAL = 3.0
GRAPH: Any = nx.barabasi_albert_graph(1_000, 3, seed=1)


def measure(node: int) -> float:
    """An evaluation."""
    time.sleep(SECONDS)
    return float(GRAPH.degree(node))


@contextmanager
def _nothing() -> Iterator[dict[str, Any]]:
    yield {}


@contextmanager
def _threads() -> Iterator[dict[str, Any]]:
    yield {"workers": AT_ONCE}


@contextmanager
def _processes() -> Iterator[dict[str, Any]]:
    with ProcessPoolExecutor(AT_ONCE) as pool:
        yield {"executor": pool, "workers": AT_ONCE}


@contextmanager
def _dask() -> Iterator[dict[str, Any]]:
    distributed: Any = import_module("distributed")  # an extra
    with (
        distributed.LocalCluster(
            n_workers=AT_ONCE, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield {"executor": client}


POOLS: dict[str, Callable[[], Any]] = {
    "one worker": _nothing,
    "threads": _threads,
    "processes": _processes,
    "Dask": _dask,
}


def main() -> None:
    """Time each of them, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=4, help="how often each is timed (default: 4)")
    times = parser.parse_args().times
    table = Table("where", "seconds", "times as fast", "goal")
    alone = 0.0
    for name, pool in POOLS.items():
        with pool() as options:
            _seconds(options, EVALUATIONS)
            seconds = min(_seconds(options, EVALUATIONS) for _ in range(times))
        alone = alone or seconds
        faster = "" if name == "one worker" else f"{alone / seconds:.2f}"
        table.add_row(name, f"{seconds:.2f}", faster, faster and f"{GOAL:g}")
    Console().print(table)


def _seconds(options: dict[str, Any], budget: int) -> float:
    with Search(GRAPH) as search:
        began = time.perf_counter()
        search.optimize(measure, budget=budget, progress=False, **options)
        return time.perf_counter() - began


if __name__ == "__main__":
    main()
