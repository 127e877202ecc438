"""What is imported later than at the start; `make lint` checks what is imported at all."""

import subprocess
import sys

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


def test_nobody_waits_for_the_model_who_only_asks_where_a_strategy_looks() -> None:
    found = imported_by(
        "from graphbo.search.strategies import STRATEGIES, create_strategy\n"
        "for name in STRATEGIES: create_strategy(name).options"
    )
    assert not {"scipy", "sklearn"} & found
