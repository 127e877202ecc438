"""The time by which leases end in a SQLite file: that of the machine's start, which nobody sets.

All who share a file are on one machine. Its clock on the wall may be set forward while they work, and every lease would
have run out.
"""

import time
from functools import cache
from pathlib import Path
from typing import Any

from graphbo.stores.log import Properties

__all__ = ["leased", "with_time_left"]

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@cache
def _boot() -> str | None:
    """Which start of the machine this is; None where it does not tell, and the clock on the wall has to do."""
    try:
        return _BOOT_ID.read_text().strip() if hasattr(time, "CLOCK_BOOTTIME") else None
    except OSError:
        return None


def _milliseconds(boot: str | None) -> float:
    return 1e3 * (time.time() if boot is None else time.clock_gettime(time.CLOCK_BOOTTIME))


def leased(pending: Properties, seconds: float | None) -> Properties:
    """A request whose lease ends so many seconds from now, or never."""
    boot = _boot()
    until = None if seconds is None else _milliseconds(boot) + 1e3 * seconds
    return pending | {"leaseUntil": until, "boot": boot}


def with_time_left(properties: Properties) -> Properties:
    """The same with the milliseconds that are ``left`` of its lease, in place of when it ends."""
    until: Any = properties.pop("leaseUntil", None)
    boot = properties.pop("boot", None)
    if until is None:
        return properties | {"left": None}
    if boot is not None and boot != _boot():
        # Whoever held it went down with the machine.
        return properties | {"left": -1.0}
    return properties | {"left": until - _milliseconds(boot)}
