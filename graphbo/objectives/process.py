"""Programs that graphbo starts for an evaluation, and their ends."""

import contextlib
import os
import signal
import subprocess

__all__ = ["describe_exit", "kill_group"]

#: Seconds for the system to take away a process that was killed.
REAP_SECONDS = 5.0


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """End a process that leads a group of its own, with everything that it started in it.

    Its number is valid until somebody waits for it, so this never hits another program's group.
    """
    if process.returncode is not None:
        return
    # macOS refuses to signal a group whose last member has just ended.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(REAP_SECONDS)


def describe_exit(code: int | None) -> str:
    """An exit code in words."""
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
