"""What is imported later than at the start; `make lint` checks what is imported at all."""

import subprocess
import sys
from pathlib import Path

import networkx as nx

from graphbo.loading import GraphSource
from graphbo.loading.load import load
from graphbo.runs import Run, RunSettings
from graphbo.search.model import KERNEL_NAMES
from graphbo.search.strategies.base import OWN_KERNELS
from graphbo.stores import open_store
from graphbo.types import View

#: Each takes a second or so to import.
SLOW = {"matplotlib", "networkx", "pandas", "scipy", "sklearn"}


def imported_by(program: str) -> set[str]:
    """The modules that a process has imported after it has done this."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{program}\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_commands_do_not_wait_for_what_they_may_not_need() -> None:
    modules = "graphbo.cli.run, graphbo.cli.by_hand, graphbo.cli.runs, graphbo.cli.doctor"
    assert not SLOW & imported_by(f"import {modules}")


def test_nobody_waits_for_scikit_learn_who_asks_with_the_default_model(tmp_path: Path) -> None:
    # What asks has more values than nodes are drawn at random to begin with.
    address = f"sqlite:{tmp_path / 'graph.db'}"
    graph = nx.path_graph([f"n{n}" for n in range(40)])
    view = View(("Node",), ("LINK",), key="id")
    with open_store(address, create=True) as store:
        load(store, view, GraphSource("path", lambda: graph))
        run = Run.open_or_create(store, view, "begun", RunSettings())
        for value in range(12):
            pending = run.ask().pending
            assert pending is not None
            run.tell(value, step=pending.step)
    found = imported_by(
        "import contextlib, io\n"
        "from graphbo.cli import graphbo\n"
        "with contextlib.redirect_stdout(io.StringIO()) as out:\n"
        f"    graphbo.main(['ask', 'begun', '--uri', {address!r}], standalone_mode=False)\n"
        "assert 'expect' in out.getvalue().lower(), out.getvalue()"
    )
    assert "numpy" in found
    assert not {"matplotlib", "networkx", "pandas", "scipy.stats", "sklearn"} & found


def test_help_does_not_wait_for_what_the_command_needs() -> None:
    found = imported_by(
        "import contextlib, io\n"
        "from graphbo.cli import graphbo\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    for command in 'ask', 'run', 'tell', 'status':\n"
        "        graphbo.main([command, '--help'], standalone_mode=False)"
    )
    assert not SLOW & found


def test_the_kernels_that_are_listed_are_those_that_there_are() -> None:
    assert OWN_KERNELS == KERNEL_NAMES


def test_nobody_waits_for_the_model_who_only_asks_where_a_strategy_looks() -> None:
    found = imported_by(
        "from graphbo.search.strategies import STRATEGIES, create_strategy\n"
        "for name in STRATEGIES: create_strategy(name).options"
    )
    assert not {"scipy", "sklearn"} & found


def test_python_users_do_not_wait_for_what_their_search_may_not_need() -> None:
    found = imported_by(
        "import graphbo, scipy.sparse as sparse\n"
        "ring = sparse.csr_array(([1] * 20, (range(20), [*range(1, 20), 0])), (20, 20))\n"
        "assert graphbo.optimize(float, ring, budget=14, progress=False).history[-1].mean is not None"
    )
    assert not {"matplotlib", "networkx", "pandas", "rich", "sklearn"} & found
