"""Connections to the database, each with a thread of its own: a store is used by one thread at a time."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

from graphbo.errors import GraphboError, StoreError, StoreUnavailable, TimedOut
from graphbo.stores import Address, GraphStore, open_store

__all__ = ["Connections"]

Answer = TypeVar("Answer")

#: So many questions are asked at once; the others wait.
MOST = 8

#: After these, the next question begins with a connection that works.
_BROKEN = (StoreError, StoreUnavailable, TimedOut)

_Work = tuple[Callable[[GraphStore], Any], "Future[Any]"]


class Connections:
    """Threads that ask the database. They are started as they are needed, and keep their connections.

    Args:
        address: of the database.
        most: how many there are at most.
    """

    def __init__(self, address: Address, most: int = MOST) -> None:
        self._address = address
        self._most = most
        self._wanted: SimpleQueue[_Work | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._busy = 0

    async def ask(self, question: Callable[[GraphStore], Answer]) -> Answer:
        """What a function of a store answers, which is called in a thread that has one.

        Raises:
            GraphboError: what the function raises, or that the database cannot be opened.
        """
        return await asyncio.wrap_future(self.submit(question))

    def submit(self, question: Callable[[GraphStore], Answer]) -> "Future[Answer]":
        """The same for those who can wait."""
        future: Future[Answer] = Future()
        with self._lock:
            self._busy += 1
            if self._busy > len(self._threads) < self._most:
                thread = threading.Thread(target=self._work, daemon=True)
                self._threads.append(thread)
                thread.start()
        self._wanted.put((question, future))
        return future

    def close(self) -> None:
        """Finish what was asked, and close every connection."""
        with self._lock:
            threads, self._threads = self._threads, []
        for _ in threads:
            self._wanted.put(None)
        for thread in threads:
            thread.join()

    def _work(self) -> None:
        store: GraphStore | None = None
        while (wanted := self._wanted.get()) is not None:
            question, future = wanted
            if not future.set_running_or_notify_cancel():
                self._done()  # nobody waits for it any more, and nothing has happened
                continue
            try:
                if store is None:
                    store = open_store(self._address)
                answer = question(store)
            except BaseException as error:  # noqa: BLE001 - whoever asked gets it
                if type(error) in _BROKEN:
                    _close(store)
                    store = None
                self._done()
                future.set_exception(error)
            else:
                self._done()
                future.set_result(answer)
        _close(store)

    def _done(self) -> None:
        with self._lock:
            self._busy -= 1


def _close(store: GraphStore | None) -> None:
    if store is not None:
        with contextlib.suppress(GraphboError):
            store.close()
