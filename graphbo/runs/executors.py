"""Where nodes are evaluated: here, in threads or processes of this machine, or on a Dask cluster."""

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlsplit

from graphbo.errors import GraphboError, RunError
from graphbo.stores.address import public_uri

__all__ = ["Pool", "Workplace", "open_executor", "pool_of"]

#: How long a Dask scheduler has to answer.
CONNECT_SECONDS = 10.0

#: Has the system send a signal when the thread that started a process has ended.
PR_SET_PDEATHSIG = 1

EXPECTED = "expected dask://HOST:PORT"

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


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


def pool_of(executor: object, workers: int | None) -> AbstractContextManager[Pool]:
    """What Python users mean by an executor, and by a number of workers.

    Args:
        executor: ``"threads"``, ``"processes"``, ``dask://HOST:PORT``, a Dask client, or an executor. Without it
            several workers are threads.
        workers: how many evaluations at once. A cluster knows itself how many it can do.

    Raises:
        RunError: it is nothing that evaluates, or nobody says how many evaluations at once.
        GraphboError: there is no such place.
    """
    if executor is None:
        return nullcontext(Pool(None, 1)) if workers in (None, 1) else _threads(workers or 1)
    if isinstance(executor, str) and executor not in ("threads", "processes"):
        return open_executor(executor, workers)
    if type(executor).__module__.partition(".")[0] == "distributed" and hasattr(
        executor, "get_executor"
    ):
        return _of_client(executor, workers)
    if not isinstance(executor, (str, Executor)):
        raise RunError(
            f"the executor is {type(executor).__name__}: expected 'threads', 'processes', 'dask://HOST:PORT', a Dask "
            "client or an executor of concurrent.futures"
        )
    if workers is None:
        size = getattr(executor, "_max_workers", None) or 4
        raise RunError(
            f"an executor was given, and not how many nodes to evaluate at once: add workers={size}"
        )
    if isinstance(executor, Executor):
        return nullcontext(Pool(executor, workers))
    return _threads(workers) if executor == "threads" else _pool_of_processes(workers)


@contextmanager
def _pool_of_processes(workers: int) -> Iterator[Pool]:
    with _processes(workers) as executor:
        try:
            executor.submit(int).result()
        except BrokenExecutor:
            # They import the program anew, and one that starts processes while it is imported ends them.
            raise RunError(
                "no process can be started: put what the program does below if __name__ == '__main__', or use "
                "executor='threads'"
            ) from None
        yield Pool(executor, workers)


@contextmanager
def _threads(workers: int) -> Iterator[Pool]:
    executor = Threads(workers)
    try:
        yield Pool(executor, workers)
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


class Threads(Executor):
    """Threads that keep nobody waiting: what they still do when all is over, they do for nobody.

    Those of ``concurrent.futures`` would keep the interpreter from ending until the last evaluation did.
    """

    def __init__(self, workers: int) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._workers = workers
        for number in range(workers):
            name = f"graphbo-evaluation-{number + 1}"
            threading.Thread(target=self._work, name=name, daemon=True).start()

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        """Have a thread call it as soon as one is free."""
        future: Future[object] = Future()

        def call() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - the future's reader raises it
                future.set_exception(error)
            else:
                future.set_result(result)

        self._calls.put(call)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Let the threads end when they have done what there is; nobody waits for them."""
        for _ in range(self._workers):
            self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()


class Workplace:
    """Where calls are made: an executor, or the caller's thread. A pool of processes that breaks is replaced."""

    def __init__(self, executor: Executor | None = None) -> None:
        self._executor = executor or InThisThread()
        self._own = contextlib.ExitStack()

    def __enter__(self) -> "Workplace":
        return self

    def __exit__(self, *error: Any) -> None:
        self._own.__exit__(*error)

    def submit(
        self,
        function: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> "Future[Result]":
        """Make a call some time soon.

        Raises:
            RunError: the executor is broken, and no pool of processes.
        """
        try:
            return self._executor.submit(function, *args, **kwargs)
        except (BrokenExecutor, OSError) as error:
            # A pool that breaks at this moment may have closed what the new process was to be given.
            pool = _like(self._pool(error))
            self._own.enter_context(_ended_at_once(pool))
            self._executor = pool
            return pool.submit(function, *args, **kwargs)

    def alone(
        self,
        error: BrokenExecutor,
        function: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Make a call that another may have broken: now, in a process that nobody else can end.

        Raises:
            BrokenExecutor: it ended the process.
            RunError: there are no processes.
        """
        pool = _like(self._pool(error), workers=1)
        with _ended_at_once(pool):
            return pool.submit(function, *args, **kwargs).result()

    def _pool(self, error: BrokenExecutor | OSError) -> ProcessPoolExecutor:
        if not isinstance(self._executor, ProcessPoolExecutor):
            raise RunError(f"the executor is broken and evaluates nothing any more: {error}")
        return self._executor


class InThisThread(Executor):
    """Calls at once, here: one worker needs no pool."""

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        """Call the function now; Ctrl-C is not kept for later."""
        future: Future[object] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - the future's reader raises it
            future.set_exception(error)
        return future


# This machine


@contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    """Processes that are started afresh: a fork would share the connections of this one."""
    executor = ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_begin_process
    )
    with _ended_at_once(executor):
        yield executor


def _like(pool: ProcessPoolExecutor, workers: int | None = None) -> ProcessPoolExecutor:
    """A pool that is made like another. There is no public way to ask one how it was made."""
    return ProcessPoolExecutor(
        workers or pool._max_workers,  # type: ignore[attr-defined]
        mp_context=pool._mp_context,
        initializer=pool._initializer,
        initargs=pool._initargs,
    )


@contextmanager
def _ended_at_once(pool: ProcessPoolExecutor) -> Iterator[None]:
    """Wait for its processes in the end; but after an error nobody wants what they do, and it may take hours."""
    try:
        yield
    except BaseException:
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        raise
    if pool._broken:
        # A process that was started while it broke would be waited for, and waits itself for something to do.
        for process in list((pool._processes or {}).values()):
            process.terminate()
    pool.shutdown()


def _begin_process() -> None:
    """What a process of a pool does first.

    Ctrl-C reaches every process of a terminal; one traceback for each would hide what the first one says. And whatever
    ends the process that made the pool ends this one: nobody will tell what comes of its evaluation.
    """
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if sys.platform == "linux":
        # An objective that holds the interpreter keeps the thread from running.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


# A Dask cluster


@contextmanager
def _dask(address: str, workers: int | None) -> Iterator[Pool]:
    scheduler = _scheduler(address)
    client = _connect(scheduler, address)
    try:
        with _of_client(client, workers, public_uri(address)) as pool:
            yield pool
    finally:
        client.close()


@contextmanager
def _of_client(client: Any, workers: int | None, address: str | None = None) -> Iterator[Pool]:
    threads = sum(client.nthreads().values())
    if not threads:
        where = f" at {address}" if address else ""
        raise GraphboError(f"the Dask cluster{where} has no worker: start some")
    # Equal calls are not one call: an objective may be noisy.
    with client.get_executor(pure=False) as executor:
        yield Pool(executor, workers or threads)


def _scheduler(address: str) -> str:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise GraphboError(
            f"the executor {public_uri(address)[:80]!a} is no address: {EXPECTED}"
        ) from None
    if parts.scheme != "dask" or not host or port is None:
        raise GraphboError(
            f"the executor {public_uri(address)[:80]!a} is of no known kind: {EXPECTED}"
        )
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
        raise GraphboError(
            f"no Dask scheduler answers at {public_uri(address)}: check host and port"
        ) from None
