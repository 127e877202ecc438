"""What is imported later than at the start; `make lint` checks what is imported at all."""

import subprocess
import sys

#: Each takes a second or so to import.
SLOW = {"matplotlib", "networkx", "pandas", "scipy", "sklearn"}


def test_commands_do_not_wait_for_what_they_may_not_need() -> None:
    modules = "graphbo.cli.run, graphbo.cli.by_hand, graphbo.cli.runs, graphbo.cli.doctor"
    program = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not SLOW.intersection(done.stdout.split())
