"""Waiting for a call no longer than one wants to, where it cannot be stopped."""

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["NoAnswer", "call_in_thread"]

T = TypeVar("T")


class NoAnswer(Exception):
    """The time is over."""


def call_in_thread(call: Callable[[], T], timeout: float) -> T:
    """The result of ``call``, or what it raises, if that comes in time.

    Python cannot stop a thread: one that is late goes on until it ends by itself, and nobody listens. It does not
    keep the interpreter from ending.

    Raises:
        NoAnswer: it is not there after ``timeout`` seconds.
    """
    answers: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put((call(), None))
        except BaseException as error:  # noqa: BLE001 - raised again where somebody waits for it
            answers.put((None, error))

    threading.Thread(target=work, name="graphbo-objective", daemon=True).start()
    try:
        result, error = answers.get(timeout=timeout)
    except queue.Empty:
        raise NoAnswer from None
    if error is not None:
        raise error
    return result  # type: ignore[return-value]  # what call() returned, None included
