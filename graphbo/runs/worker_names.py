"""Who works on a run, and who has stopped without saying so."""

import os
import secrets
import socket
from collections.abc import Collection
from pathlib import Path

from graphbo.types import Pending

__all__ = ["is_abandoned", "worker_name"]

_PROC = Path("/proc")
_ENDED = (b"Z", b"X")


def worker_name() -> str:
    """Who this process is, for everybody who shares a run with it.

    Host and process id, and something unique. Containers may share both, so where the system tells, the unique part
    also says which processes these numbers belong to, and when this one began.
    """
    origin, started = _origin(), _started(os.getpid())
    known = "" if origin is None or started is None else f".{origin}.{started}"
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}{known}"


def is_abandoned(pending: Pending, held: Collection[str] = (), worker: str = "") -> bool:
    """Whether nobody works on a node any more: its lease has run out, or its process is known to be gone.

    Args:
        pending: the node.
        held: the tokens of what whoever asks this works on.
        worker: who asks: what has this name and is not held was given up.
    """
    if pending.lease_left is None or pending.token in held:
        return False
    return pending.lease_left < 0 or pending.worker == worker or _is_gone(pending.worker)


def _is_gone(worker: str) -> bool:
    """Whether a worker was a process that this one can see, and is gone; the lease decides about all others."""
    place, _, unique = worker.rpartition(":")
    host, _, process = place.rpartition(":")
    _, _, identity = unique.partition(".")
    origin, _, started = identity.partition(".")
    if host != socket.gethostname() or not process.isdecimal() or not started.isdecimal():
        return False
    if origin != _origin():
        return False
    return not _runs(int(process), started)


def _runs(process: int, started: str) -> bool:
    """Whether the process that began then still runs; one whose parent has not noticed its end does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is there, and somebody else's
        pass
    fields = _stat(process)
    # Systems may hide the processes of other users: then nothing is known but that there is one of that number.
    return fields is None or (fields[0] not in _ENDED and fields[19].decode() == started)


def _origin() -> str | None:
    """Which processes the numbers of processes stand for here; None where that cannot be told.

    That is a start of the system and a namespace in it. The number of a namespace is given again only when no process
    of the older one is left.
    """
    try:
        if (_PROC / "self").readlink().name != str(os.getpid()):
            return None  # the /proc of another namespace
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        namespace = (_PROC / "self/ns/pid").stat().st_ino
    except OSError:
        return None
    return f"{boot}-{namespace}"


def _started(process: int) -> str | None:
    """When a process began, in ticks of the system's clock since it was started."""
    fields = _stat(process)
    return None if fields is None else fields[19].decode()


def _stat(process: int) -> list[bytes] | None:
    """What the system says of a process, from its state on: its name comes before, and may hold anything."""
    try:
        return (_PROC / str(process) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
