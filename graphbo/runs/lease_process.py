"""The program that renews a worker's leases, in a process of its own: an objective may hold the worker's interpreter.

It is started as a file, because importing the package takes a second: it has to be there before an evaluation begins,
and most evaluations end before anything is to be renewed. Standard input says what is leased: first comes a line of
JSON, then ``+token`` for what is asked for and ``-token`` for what is told. When it is closed, the worker is gone, and
so is this.
"""

import os
import sys
import threading
import time
from typing import Any

__all__: list[str] = []

#: However short a lease is, the database gets a rest between two renewals.
SHORTEST_PAUSE = 0.05


class Renewer:
    """What is leased, and since when; renews all of it when a third of a lease has passed for any of it."""

    def __init__(self, worker: int, lease: float, order: bytes) -> None:
        self._worker = worker
        self._lease = lease
        self._order = order
        self._held: dict[str, float] = {}
        self._changed = threading.Condition()
        self._store: Any = None

    def note(self, line: str) -> None:
        """Something was asked for, or told."""
        with self._changed:
            if line.startswith("+"):
                self._held[line[1:]] = time.monotonic()
            else:
                self._held.pop(line[1:], None)
            self._changed.notify()

    def renew_for_ever(self) -> None:
        """Wait and renew."""
        while True:
            tokens = self._due()
            if os.getppid() != self._worker:
                os._exit(0)  # something that it started holds the other end open
            self._renew(tokens)

    def _due(self) -> list[str]:
        with self._changed:
            while (left := self._seconds_left()) is None or left > 0:
                self._changed.wait(left)
            self._held = dict.fromkeys(self._held, time.monotonic())
            return list(self._held)

    def _seconds_left(self) -> float | None:
        if not self._held:
            return None
        pause = max(self._lease / 3, SHORTEST_PAUSE)
        return min(self._held.values()) + pause - time.monotonic()

    def _renew(self, tokens: list[str]) -> None:
        import json  # noqa: PLC0415 - see above

        order = json.loads(self._order)
        sys.path[:] = order["path"]
        from graphbo.errors import GraphboError  # noqa: PLC0415 - see above
        from graphbo.stores import Address, open_store  # noqa: PLC0415 - see above

        try:
            self._store = self._store or open_store(Address(**order["address"]))
            self._store.log.renew(order["run"], tokens, self._lease)
        except GraphboError as error:
            # The next try comes soon; if the lease runs out before, whoever takes over does no harm.
            sys.stderr.write(f"the lease could not be renewed: {error}\n")


def main() -> None:
    """Renew until standard input is closed."""
    link = sys.stdin.buffer
    renewer = Renewer(int(sys.argv[1]), float(sys.argv[2]), link.readline())
    threading.Thread(target=renewer.renew_for_ever, daemon=True).start()
    for line in link:
        renewer.note(line.decode().strip())
    os._exit(0)  # in the middle of a renewal, too: the database may keep it waiting for long


if __name__ == "__main__":
    main()
