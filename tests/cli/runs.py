"""A small graph with a hidden score at each node, and what tests of runs ask about it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import graphbo.cli
from graphbo.types import View
from tests.backends import Backend, environment_for
from tests.cli.commands import COMMAND, Answer

__all__ = [
    "OPTIONS",
    "SIZE",
    "VIEW",
    "InProcess",
    "end_group",
    "history",
    "in_this_process",
    "load",
    "started",
    "wait_for_lines",
    "wait_until",
    "write_objective",
]

VIEW = View(("N",), ("R",), key="id")
SIZE = 60
#: What every run here is started with.
OPTIONS = ("--label", "N", "--rel", "R")
#: What says which database is meant.
PLACES = {"--uri", "--credentials"}

#: Runs a command in this process, where no interpreter has to be started: for the many ways to fail.
InProcess = Callable[..., Answer]


def score(node: int) -> float:
    """Largest at node 42."""
    return 10.0 - abs(node - 42) / 10


def load(backend: Backend) -> Backend:
    """Fill a database with the graph."""
    with backend.open() as store:
        store.create_key(VIEW)
        store.write_nodes(
            VIEW, [(node, {"score": score(node), "name": f"node {node}"}) for node in range(SIZE)]
        )
        edges = nx.connected_watts_strogatz_graph(SIZE, 4, 0.1, seed=1).edges()
        store.write_relationships(VIEW, [(a, b, {}) for a, b in edges])
    return backend


def history(here: InProcess, name: str) -> list[dict[str, Any]]:
    """What a run was told, without the times."""
    answer = here("history", name, "--json")
    assert answer.code == 0, answer
    return [{what: one[what] for what in one if what != "at"} for one in answer.json]


def write_objective(directory: Path, first: str = "pass") -> str:
    """An objective in a file, which does something first; its spec."""
    (directory / "measuring.py").write_text(
        "import os, time\n\ncalls = []\n\n\ndef score(key):\n"
        f"    calls.append(key)\n    {first}\n    return 10.0 - abs(key - 42) / 10\n"
    )
    sys.modules.pop("measuring", None)
    return "python:measuring:score"


@contextmanager
def started(
    backend: Backend, directory: Path, *arguments: object
) -> Iterator["subprocess.Popen[str]"]:
    """A command that is left running, as the first of its own process group; nothing of it stays."""
    process = subprocess.Popen(
        [str(COMMAND), *map(str, arguments), "--uri", backend.uri],
        cwd=directory,
        env=environment_for(backend) | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            end_group(process, signal.SIGKILL)


def wait_for_lines(process: "subprocess.Popen[str]", count: int) -> list[str]:
    """Wait until a run has said that so many evaluations are done."""
    assert process.stderr is not None
    found: list[str] = []
    while len(found) < count:
        line = process.stderr.readline()
        assert line, f"it ended early: {found}"
        if "  best " in line:
            found.append(line)
    return found


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for something that another process does."""
    give_up = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < give_up, "it did not happen"
        time.sleep(0.02)


def end_group(process: "subprocess.Popen[str]", number: signal.Signals) -> tuple[str, str]:
    """Send a signal to a command and all that it started; what it still said."""
    os.killpg(process.pid, number)
    return process.communicate(timeout=60)


def in_this_process(
    backend: Backend,
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    place: bool = True,
) -> InProcess:
    """What runs ``graphbo ARGUMENTS`` here; unless ``place`` is off, with the backend's --uri."""
    monkeypatch.chdir(directory)
    for name, value in environment_for(backend).items():
        monkeypatch.setenv(name, value)
    for name in [name for name in os.environ if name.startswith("NEO4J_")]:
        if name not in backend.environment:
            monkeypatch.delenv(name)

    def run(*arguments: object, environment: Mapping[str, str] | None = None) -> Answer:
        words = [*map(str, arguments)]
        uri = ["--uri", backend.uri] if place and not PLACES.intersection(words) else []
        capsys.readouterr()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["graphbo", *words, *uri])
            for name, value in (environment or {}).items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as ended:
                graphbo.cli.main()
        out, err = capsys.readouterr()
        return Answer(int(ended.value.code or 0), out, err)

    return run
