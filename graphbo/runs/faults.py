"""Places where a process can be made to die, so that tests can show what survives."""

import os
import signal

__all__ = ["reach"]

#: ``NAME`` or ``NAME:COUNT``: die when the point is reached for the COUNT-th time.
VARIABLE = "GRAPHBO_DIE_AT"

_reached: dict[str, int] = {}


def reach(point: str) -> None:
    """Pass a named point; dies there, without any tidying up, if the environment says so."""
    wanted, _, count = os.environ.get(VARIABLE, "").partition(":")
    if wanted != point:
        return
    _reached[point] = _reached.get(point, 0) + 1
    if _reached[point] >= int(count or 1):
        os.kill(os.getpid(), signal.SIGKILL)
