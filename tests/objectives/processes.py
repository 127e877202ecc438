"""Looking at processes from outside."""

import subprocess
import time


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody waited for has."""
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout
    return not state.strip() or state.strip().startswith("Z")


def all_gone(pids: list[int], seconds: float = 30.0) -> bool:
    """Whether they have ended, or do so soon."""
    deadline = time.monotonic() + seconds
    while not all(is_gone(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
