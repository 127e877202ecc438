"""``graphbo load``, ``clean`` and ``annotate``, killed at random moments: the same command again completes them."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from graphbo.runs import RunSettings
from graphbo.types import View
from tests.backends import Neo4jBackend, SqliteBackend
from tests.faults.checker import Findings
from tests.faults.databases import (
    drop_constraints,
    marks,
    strays,
    unmark,
    users_data,
)
from tests.faults.kinds.base import Attempt, Kind, Limits, Try
from tests.faults.processes import KILLED
from tests.faults.site import Answer, Site

__all__ = ["ANNOTATE", "CLEAN", "LOAD"]

_LOADED = View(("Loaded",), ("LEADS_TO",), weight="weight", key="id")
#: One transaction for the nodes and one for the relationships, each long enough to be hit.
_NODES, _EDGES = 2_000, 4_000
_EVALUATIONS = 12


class _Killing:
    """Starts a command, kills it at a random moment of its life, and runs it again.

    Args:
        site: where.
        rng: chooses the moment.
        seconds: how long the command takes.
    """

    def __init__(self, site: Site, rng: Random, seconds: float) -> None:
        self._site = site
        self._moment = rng.uniform(0.1, 1.1) * seconds
        self.killed = 0

    def __call__(self, *arguments: object) -> Answer:
        """What the second try says; the first may have come to its end before."""
        process, _ = self._site.start(*arguments)
        time.sleep(self._moment)
        process.kill()
        self.killed = int(process.code == KILLED)
        return self._site.run(*arguments)


def _seconds(action: Callable[[], object]) -> float:
    """How long it takes when everything is imported."""
    times = []
    for _ in range(2):
        began = time.monotonic()
        action()
        times.append(time.monotonic() - began)
    return min(times)


# load


@contextmanager
def _loads(site: Site) -> Iterator[Try]:
    graph = site.directory / "graph.json"
    _write_graph(graph)
    words = ["load", graph, "--label", *_LOADED.labels, "--rel", *_LOADED.relationships]
    words += ["--weight", str(_LOADED.weight)]

    def load_anew() -> None:
        _unload(site)
        site.run(*words)

    seconds = _seconds(load_anew)
    reference = users_data(site.backend)

    def attempt(rng: Random, limits: Limits) -> Attempt:
        replaces = rng.random() < 0.5
        if not replaces:
            _unload(site)
        killing = _Killing(site, rng, seconds)
        answer = killing(*words, *(["--replace"] if replaces else []))
        found = Findings(strays=strays(site.backend))
        if answer.code != 0:
            found.other.append(f"loading again ended with {answer.code}: {answer.message}")
        elif users_data(site.backend) != reference:
            found.other.append("what is loaded is not what a load without a fault gives")
        return Attempt(killing.killed, found)

    yield attempt


def _write_graph(path: Path) -> None:
    nodes = [{"id": i, "name": f"node {i}"} for i in range(_NODES)]
    links = [
        {"source": i % _NODES, "target": (i * i + 7 * i + 1) % _NODES, "weight": i % 10 + 1}
        for i in range(_EDGES)
    ]
    path.write_text(json.dumps({"nodes": nodes, "links": links}))


def _unload(site: Site) -> None:
    """Back to before the first load: no such file, or no such nodes and nothing that makes their keys unique."""
    backend = site.backend
    if isinstance(backend, SqliteBackend):
        for suffix in ("", "-wal", "-shm"):
            Path(f"{backend.path}{suffix}").unlink(missing_ok=True)
        return
    assert isinstance(backend, Neo4jBackend)
    backend.run("MATCH (n:Loaded) DETACH DELETE n")
    drop_constraints(backend, *_LOADED.labels)


# clean


@contextmanager
def _cleans(site: Site) -> Iterator[Try]:
    settings = RunSettings(strategy="random", budget=100)
    names = [site.create_run(settings, _EVALUATIONS) for _ in range(2)]
    seconds = _seconds(lambda: site.run("clean", names.pop(), "--yes"))

    def attempt(rng: Random, limits: Limits) -> Attempt:
        name = site.create_run(settings, _EVALUATIONS)
        killing = _Killing(site, rng, seconds)
        answer = killing("clean", name, "--yes")
        found = site.after_clean()
        if answer.code != 0 and f"there is no run {name!r}" not in answer.message:
            found.other.append(f"cleaning again ended with {answer.code}: {answer.message}")
        return Attempt(killing.killed, found)

    yield attempt


# annotate


@contextmanager
def _annotates(site: Site) -> Iterator[Try]:
    settings = RunSettings(strategy="bayes", options={"initial": 5}, budget=100)
    seconds = 0.0

    def attempt(rng: Random, limits: Limits) -> Attempt:
        nonlocal seconds
        name = site.create_run(settings, _EVALUATIONS)
        words = ("annotate", name, "--posterior")
        seconds = seconds or _seconds(lambda: site.run(*words))
        site.run(*words)
        reference = marks(site.backend)
        unmark(site.backend)
        killing = _Killing(site, rng, seconds)
        answer = killing(*words)
        found = Findings()
        if answer.code != 0:
            found.other.append(f"annotating again ended with {answer.code}: {answer.message}")
        elif marks(site.backend) != reference:
            found.other.append("the marks are not what an annotation without a fault gives")
        found.add(site.clean(name))
        return Attempt(killing.killed, found)

    yield attempt


LOAD = Kind("`graphbo load` killed", {"sqlite": 40, "neo4j": 20}, _loads)
CLEAN = Kind("`graphbo clean` killed", {"sqlite": 100, "neo4j": 60}, _cleans)
ANNOTATE = Kind("`graphbo annotate` killed", {"sqlite": 40, "neo4j": 20}, _annotates)
