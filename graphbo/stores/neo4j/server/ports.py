"""Ports on the loopback interface: which are free, which to take."""

import contextlib
import socket
from collections.abc import Sequence

from graphbo.errors import Remedy, ServerError

__all__ = ["LOOPBACK", "choose_ports", "is_free"]

LOOPBACK = "127.0.0.1"


def is_free(port: int) -> bool:
    """Whether a server could listen on this port.

    Binding alone does not tell everywhere: some systems let a loopback address be bound beside a
    listener on all addresses, which would then never hear from its clients again.
    """
    with socket.socket() as client:
        client.settimeout(1)
        if client.connect_ex((LOOPBACK, port)) == 0:
            return False
    with socket.socket() as listener:
        # Connections of a server that has just ended linger, and must not make it look taken.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def choose_ports(
    asked: Sequence[int | None], usual: Sequence[int | None], purposes: Sequence[str]
) -> list[int]:
    """Pick one port for each purpose: what was asked for, else the usual one, else any free one.

    Args:
        asked: Ports the user insists on; None where any will do.
        usual: Ports to prefer where any will do; None where there is no such wish.
        purposes: What each of them is for, for messages.

    Raises:
        ServerError: A port that was asked for is taken, or asked for twice.
    """
    for port, purpose in zip(asked, purposes, strict=True):
        if port is not None and not is_free(port):
            raise ServerError(f"port {port} is taken", Remedy.CHOOSE_PORT, purpose=purpose)
    insisted = [port for port in asked if port is not None]
    if len(set(insisted)) < len(insisted):
        raise ServerError(
            f"the ports for {' and '.join(purposes)} must differ, and are both {insisted[0]}"
        )
    taken = set(insisted)
    chosen = []
    with contextlib.ExitStack() as held:
        for port, favourite in zip(asked, usual, strict=True):
            wanted = favourite if port is None else port
            if wanted is None or (port is None and (wanted in taken or not is_free(wanted))):
                wanted = _any_free(held, taken)
            taken.add(wanted)
            chosen.append(wanted)
    return chosen


def _any_free(held: contextlib.ExitStack, taken: set[int]) -> int:
    while True:
        # Held until all are chosen, so that the system does not hand out the same one twice.
        listener = held.enter_context(socket.socket())
        listener.bind((LOOPBACK, 0))
        port = int(listener.getsockname()[1])
        if port not in taken:
            return port
