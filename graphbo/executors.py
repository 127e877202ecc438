"""Where nodes are evaluated when there are several at once: processes of this machine, or a Dask cluster."""

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from graphbo.errors import GraphboError

__all__ = ["Pool", "open_executor"]

#: How long a Dask scheduler has to answer.
CONNECT_SECONDS = 10.0

EXPECTED = "expected dask://HOST:PORT"


@dataclass(frozen=True)
class Pool:
    """An executor, and how many evaluations it does at once; None for the caller's own thread."""

    executor: Executor | None
    size: int


@contextmanager
def open_executor(address: str | None = None, workers: int | None = None) -> Iterator[Pool]:
    """Where to evaluate.

    Args:
        address: ``dask://HOST:PORT`` of a scheduler; this machine without it.
        workers: how many evaluations at once. Without it, one here, and on a cluster as many as it has threads.

    Raises:
        GraphboError: there is no such place.
    """
    if address is not None:
        with _dask(address, workers) as pool:
            yield pool
    elif workers is None or workers == 1:
        yield Pool(None, 1)
    else:
        with _processes(workers) as executor:
            yield Pool(executor, workers)


# This machine


@contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    """Processes that are started afresh: a fork would share the connections of this one."""
    executor = ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_end_on_interrupt
    )
    try:
        yield executor
    except BaseException:
        # Nobody waits for what they are doing, and it may take hours.
        before = set(multiprocessing.active_children())
        executor.shutdown(wait=False, cancel_futures=True)
        for process in before:
            process.terminate()
        raise
    executor.shutdown()


def _end_on_interrupt() -> None:
    """Ctrl-C reaches every process of a terminal; one traceback for each would hide what the first one says."""
    with contextlib.suppress(
        ValueError
    ):  # not the main thread: then it is somebody else's business
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))


# A Dask cluster


@contextmanager
def _dask(address: str, workers: int | None) -> Iterator[Pool]:
    scheduler = _scheduler(address)
    client = _connect(scheduler, address)
    try:
        threads = sum(client.nthreads().values())
        if not threads:
            raise GraphboError(f"the Dask cluster at {address} has no worker: start some")
        # Equal calls are not one call: an objective may be noisy.
        with client.get_executor(pure=False) as executor:
            yield Pool(executor, workers or threads)
    finally:
        client.close()


def _scheduler(address: str) -> str:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise GraphboError(f"the executor {address[:80]!a} is no address: {EXPECTED}") from None
    if parts.scheme != "dask" or not host or port is None:
        raise GraphboError(f"the executor {address[:80]!a} is of no known kind: {EXPECTED}")
    return f"tcp://{parts.netloc.rpartition('@')[2]}"


def _connect(scheduler: str, address: str) -> Any:
    try:
        import distributed  # noqa: PLC0415 - an extra
    except ImportError:
        raise GraphboError(
            "evaluating on a Dask cluster needs an extra: pip install 'graphbo[dask]'"
        ) from None
    try:
        client: Any = distributed.Client
        return client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError):
        raise GraphboError(f"no Dask scheduler answers at {address}: check host and port") from None
