"""What a first ``ask`` waits for Neo4j, which plans every statement anew for each view.

    python benchmarks/first_ask.py                           # a fresh server that is started for the occasion: a minute
    python benchmarks/first_ask.py --against ../before       # and another, for another working copy of graphbo
    python benchmarks/first_ask.py --version 5.26.16

Each of several labels has a small graph of its own. Values of a few nodes are known, so that the first node that is
asked for is chosen by the model. Shown are the seconds that each part waited for the server, the first view on a server
that has planned nothing yet, and the median of the others; then the ratio, where there is something to compare with.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from rich.console import Console
from rich.table import Table

from graphbo.runs import Run, RunSettings
from graphbo.stores import Address, EdgeRow, address_from, open_store
from graphbo.stores.checks import ready_view
from graphbo.stores.neo4j.connection import Neo4jConnection
from graphbo.stores.neo4j.server import LocalServer
from graphbo.types import View

VIEWS, NODES, KNOWN = 6, 1_200, 12
PARTS = ("check", "create", "known", "ask", "graph")


def view_of(number: int) -> View:
    """A view with a label that no other has."""
    return View((f"First{number}",), ("FIRST_LINK",), key="id")


def load(address: Address) -> None:
    """A ring with shortcuts for each label."""
    with open_store(address) as store:
        for number in range(VIEWS):
            store.create_key(view_of(number))
        edges: list[EdgeRow] = []
        for node in range(NODES):
            edges += [
                (node, (node + step * step * 7) % NODES, {}) for step in (1, 2, node % 97 + 3)
            ]
        for number in range(VIEWS):
            store.write_relationships(view_of(number), [one for one in edges if one[0] != one[1]])


class Waited:
    """How long this process has waited for the server."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch all that goes over connections meanwhile."""
        with (
            mock.patch.object(Neo4jConnection, "_single", self._timed(Neo4jConnection._single)),
            mock.patch.object(
                Neo4jConnection, "write_several", self._timed(Neo4jConnection.write_several)
            ),
        ):
            yield

    def _timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - began

        return timed

    def taken(self) -> float:
        """What was waited since this was last asked."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds


def measure(address: Address) -> list[dict[str, float]]:
    """The seconds of each part, for each view."""
    waited, found = Waited(), []
    with open_store(address) as store, waited.watching():
        for number in range(VIEWS):
            parts = {}
            view = ready_view(store, view_of(number))
            parts["check"] = waited.taken()
            run = Run.create(store, view, f"first {number}", RunSettings(budget=100))
            parts["create"] = waited.taken()
            run.tell_known({97 * node % NODES: float(node) for node in range(KNOWN)})
            parts["known"] = waited.taken()
            assert run.ask().pending is not None
            parts["ask"] = waited.taken()
            parts["graph"] = run.graph.database_seconds
            found.append(parts)
    return found


def measure_with(tree: Path, version: str | None) -> list[dict[str, float]]:
    """On a fresh server, with the graphbo of a working copy."""
    with tempfile.TemporaryDirectory() as directory:
        local = LocalServer(Path(directory), version=version)
        server = local.start()
        try:
            load(Address(server.uri, server.username, server.password, server.database))
            # What loading has compiled and planned would help whoever asks.
            local.stop()
            server = local.start()
            environment = os.environ | {
                "PYTHONPATH": str(tree),
                "NEO4J_USERNAME": server.username,
                "NEO4J_PASSWORD": server.password,
                "NEO4J_DATABASE": server.database,
            }
            result = subprocess.run(
                [sys.executable, str(Path(__file__).resolve()), "--measure", server.uri],
                env=environment, capture_output=True, text=True, check=True,
            )  # fmt: skip
        finally:
            local.stop()
    return [dict(one) for one in json.loads(result.stdout)]


def rows(found: list[dict[str, float]]) -> dict[str, list[float]]:
    """The first view, and the median of the others: each part, and all that a first ask waits for."""
    first, *others = found
    later = {part: statistics.median(one[part] for one in others) for part in PARTS}
    return {
        name: [*(one[part] for part in PARTS), sum(one[part] for part in PARTS[:-1])]
        for name, one in (("first view", first), ("new view", later))
    }


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", type=Path, help="a working copy of graphbo to compare with")
    parser.add_argument("--version", help="of Neo4j")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(address_from(options.measure))))
        return
    table = Table(title="seconds that a first ask waits for the server")
    for column in ("graphbo", "view", *PARTS[:-1], "ask: graph", "all"):
        table.add_column(column, justify="left" if column in ("graphbo", "view") else "right")
    here = Path(__file__).resolve().parents[1]
    trees = [tree.resolve() for tree in (options.against, here) if tree is not None]
    answers = {tree: rows(measure_with(tree, options.version)) for tree in trees}
    for tree, answer in answers.items():
        for name, seconds in answer.items():
            shown = "here" if tree == here else "before"
            table.add_row(shown, name, *(f"{one:.2f}" for one in seconds))
    if len(trees) > 1:
        before, after = (answers[tree] for tree in trees)
        for name, seconds in after.items():
            ratios = (new / old for new, old in zip(seconds, before[name], strict=True))
            table.add_row("ratio", name, *(f"{one:.2f}" for one in ratios))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
