"""How long commands take that do next to nothing: what people wait for is Python, and what is imported.

    python benchmarks/start.py            # half a minute on an idle machine

``ask`` proposes a node after 20 values, with the model, on an embedded store of 2,000 nodes; it is released each time,
so that the next one does as much. ``ask, waiting`` names the node that was asked for already. A machine that has other
things to do takes longer than the processor's seconds.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import networkx as nx
from rich.console import Console
from rich.table import Table

from graphbo.loading import GraphSource
from graphbo.loading.load import load
from graphbo.runs import Run, RunSettings
from graphbo.stores import open_store
from graphbo.types import View

VIEW = View(("Node",), ("LINK",), key="id")
NODES, VALUES, NAME = 2_000, 20, "start"
#: Goals: seconds, warm.
GOALS = {"--help": 0.3, "ask": 1.0}


def main() -> None:
    """Time each of them, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=7, help="how often each is timed (default: 7)")
    times = parser.parse_args().times
    table = Table("graphbo …", "seconds", "at best", "of the processor", "goal")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "graph.db"
        run = _begun(path)
        ask = ["ask", NAME, "--uri", f"sqlite:{path}"]
        for title, words, giving_back in (
            ("--help", ["--help"], False),
            ("ask --help", ["ask", "--help"], False),
            ("ask", ask, True),
            ("ask, waiting", ask, False),
            ("status", ["status", NAME, "--uri", f"sqlite:{path}"], False),
        ):
            _once(words)
            found = []
            for _ in range(times):
                if giving_back:
                    run.refresh()
                    for pending in run.pending:
                        run.release(step=pending.step)
                found.append(_once(words))
            wall, processor = zip(*found, strict=True)
            goal = GOALS.get(title)
            table.add_row(
                title,
                f"{statistics.median(wall):.2f}",
                f"{min(wall):.2f}",
                f"{statistics.median(processor):.2f}",
                "" if goal is None else f"{goal:g}",
            )
        run.store.close()
    Console().print(table)


def _begun(path: Path) -> Run:
    """A run with some values, on a graph of its own."""
    graph = nx.barabasi_albert_graph(NODES, 3, seed=1)
    store = open_store(f"sqlite:{path}", create=True)
    load(store, VIEW, GraphSource("graph", lambda: graph))
    run = Run.open_or_create(store, VIEW, NAME, RunSettings())
    for _ in range(VALUES):
        pending = run.ask().pending
        assert pending is not None
        run.tell(float(graph.degree(pending.key)), step=pending.step)
    return run


def _once(words: list[str]) -> tuple[float, float]:
    """Seconds of a command, and of the processor."""
    before, began = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "graphbo", *words], check=True, capture_output=True)
    seconds, after = time.perf_counter() - began, os.times()
    used = (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )
    return seconds, used


if __name__ == "__main__":
    main()
