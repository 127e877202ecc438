"""Keeping what a worker evaluates its own: leases are renewed from a thread, however long an evaluation takes."""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Set

from graphbo.errors import GraphboError, RunError
from graphbo.stores import GraphStore

__all__ = ["check_lease", "renewed"]

#: Thirty years: no clock computes with much more.
LONGEST_LEASE = 1e9

#: How long to wait for a last renewal before leaving it behind.
FAREWELL_SECONDS = 5.0

log = logging.getLogger(__name__)


def check_lease(lease: float) -> None:
    """Refuse a lease that nobody can hold.

    Raises:
        RunError: it is negative, or there is no end to it.
    """
    if not 0 <= lease <= LONGEST_LEASE:
        raise RunError(f"the lease is {lease:g} s: expected 0 to {LONGEST_LEASE:g}")


@contextlib.contextmanager
def renewed(
    run: str, tokens: Set[str], lease: float, opening: Callable[[], GraphStore] | None
) -> Iterator[None]:
    """Renew leases every third of their length, with a connection of its own.

    Args:
        run: its name.
        tokens: of what is leased at the moment; the caller adds and removes.
        lease: its length in seconds.
        opening: opens the connection; without it nothing is renewed.

    Raises:
        RunError: the lease cannot be held.
    """
    check_lease(lease)
    if opening is None:
        yield
        return
    stop = threading.Event()
    thread = threading.Thread(target=_renew, args=(run, tokens, lease, opening, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        # A database that is away would keep it for long; it ends with this process at the latest.
        thread.join(FAREWELL_SECONDS)


def _renew(
    run: str,
    tokens: Set[str],
    lease: float,
    opening: Callable[[], GraphStore],
    stop: threading.Event,
) -> None:
    with contextlib.ExitStack() as opened:
        store: GraphStore | None = None
        while not stop.wait(lease / 3):
            leased = list(tokens)
            if not leased:
                continue
            try:
                # Opened when it is first needed: most evaluations are shorter than a third of a lease.
                store = store or opened.enter_context(opening())
                store.runs.renew(run, leased, lease)
            except GraphboError as error:
                # The next try comes soon; if the lease runs out before, whoever takes over does no harm.
                log.warning("the lease could not be renewed: %s", error)
