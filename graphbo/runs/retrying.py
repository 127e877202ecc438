"""Waiting for a database that went away."""

import time
from collections.abc import Callable
from typing import TypeVar

from graphbo.errors import StoreUnavailable

__all__ = ["patiently"]

#: How long a database that went away is waited for, and how long between two tries at most.
RECONNECT_SECONDS, LONGEST_PAUSE = 300.0, 5.0

Answer = TypeVar("Answer")


def patiently(question: Callable[[], Answer]) -> Answer:
    """Ask again for a while when the database has gone away: every question may be repeated.

    Raises:
        StoreUnavailable: it stays away.
    """
    give_up = time.monotonic() + RECONNECT_SECONDS
    pause = 0.1
    while True:
        try:
            return question()
        except StoreUnavailable:
            if time.monotonic() > give_up:
                raise
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
