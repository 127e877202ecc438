"""Runs what is missing of a comparison, in several processes, and remembers each cell as soon as it is done."""

import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait as wait_for
from os import _exit
from typing import Any, TypeAlias

from threadpoolctl import threadpool_limits

from graphbo.bench.cells import Cell, Finished, Journal
from graphbo.bench.search import NAMES, loaded, search
from graphbo.bench.tasks.base import Problem, Task
from graphbo.errors import BenchError, Remedy, TaskError
from graphbo.stores import GraphStore
from graphbo.types import View

__all__ = ["Event", "Skipped", "Unit", "run_cells", "units_of"]

#: Seconds between two looks at what the processes have reported.
LOOK = 0.2


@dataclass(frozen=True)
class Unit:
    """What is done in one piece: every missing method on one problem, which is made once."""

    task: Task
    seed: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Skipped:
    """A task whose data is not there."""

    task: str
    reason: str


#: What happens: a cell with its result, or a task that cannot be run here.
Event: TypeAlias = "tuple[Cell, Finished] | Skipped"


class _Stopped(BaseException):
    """Somebody wants it to end."""


def units_of(
    cells: Sequence[Cell], tasks: Mapping[str, Task], done: Mapping[str, Finished]
) -> list[Unit]:
    """The cells that are missing, each once, by problem.

    Seeds come before tasks, so that all tasks have been met when a tenth of the work is done: estimates need that,
    and so does anybody who stops it half-way.
    """
    missing: dict[tuple[int, str], dict[str, Cell]] = {}
    for cell in sorted(cells, key=lambda one: one.seed):
        if cell.key not in done:
            missing.setdefault((cell.seed, cell.task), {}).setdefault(cell.key, cell)
    return [
        Unit(tasks[task], seed, tuple(group.values())) for (seed, task), group in missing.items()
    ]


def run_cells(
    units: Sequence[Unit], journal: Journal, *, jobs: int = 1
) -> Generator[Event, None, None]:
    """Run them, and tell of each when it has been written down.

    Args:
        units: what to run.
        journal: where finished cells are remembered.
        jobs: how many processes; 1 is this one.

    Raises:
        BenchError: a process died, or the journal cannot be written.
    """

    def keep(event: Event) -> Event:
        if not isinstance(event, Skipped):
            journal.append(event[1])
        return event

    yield from _here(units, keep) if jobs == 1 else _in_processes(units, jobs, keep)


# One unit


def _run_unit(unit: Unit, check: Callable[[], None] = lambda: None) -> Iterator[Event]:
    try:
        check()
        problem = unit.task.problem(unit.seed)
    except TaskError as error:
        yield Skipped(unit.task.spec, str(error))
        return
    except Exception as error:  # noqa: BLE001 - whatever a task does, the others go on
        for cell in unit.cells:
            yield cell, Finished.failed(cell, error, traceback.format_exc())
        return
    with loaded(problem) as store:
        for cell in unit.cells:
            yield cell, _run_cell(cell, problem, store, unit.task.view(*NAMES), check)


def _run_cell(
    cell: Cell, problem: Problem, store: GraphStore, view: View, check: Callable[[], None]
) -> Finished:
    began = time.perf_counter()
    try:
        curves = search(
            cell.method,
            problem,
            store,
            seed=cell.seed,
            budget=cell.budget,
            view=view,
            check=check,
        )
    except Exception as error:  # noqa: BLE001 - whatever a method does, the others go on
        return Finished.failed(cell, error, traceback.format_exc())
    return Finished.of(cell, problem, curves, time.perf_counter() - began)


# In this process


def _here(units: Sequence[Unit], keep: Callable[[Event], Event]) -> Iterator[Event]:
    with threadpool_limits(1):
        for unit in units:
            for event in _run_unit(unit):
                yield keep(event)


# In several

#: What a worker process has got: where to report, and whether it shall stop.
_reports: Any = None
_stop: Any = None


def _prepare(reports: Any, stop: Any) -> None:
    """Make a process a worker."""
    global _reports, _stop
    _reports, _stop = reports, stop
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import graphbo.search.strategies.model  # noqa: F401, PLC0415 - all BLAS libraries are here before they are limited

    threadpool_limits(1)


def _end_with_parent() -> None:
    """Nobody waits for a worker whose parent was killed."""
    parent = parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        _exit(1)


def _check() -> None:
    if _stop.is_set():
        raise _Stopped


def _work(unit: Unit) -> None:
    with suppress(_Stopped):
        for event in _run_unit(unit, _check):
            _reports.put(event)


def _in_processes(
    units: Sequence[Unit], jobs: int, keep: Callable[[Event], Event]
) -> Iterator[Event]:
    context = get_context("spawn")
    # Unlike a Queue it has written what was put into it when put returns.
    reports, stop = context.SimpleQueue(), context.Event()
    with ProcessPoolExecutor(
        min(jobs, max(len(units), 1)),
        mp_context=context,
        initializer=_prepare,
        initargs=(reports, stop),
    ) as pool:
        with _deaf():
            waiting = {pool.submit(_work, unit) for unit in units}
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=LOOK, return_when=FIRST_COMPLETED)
                for event in _reported(reports):
                    yield keep(event)
                _refuse_death(done)
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            # Who reports has to be listened to until the end. What was cancelled is done, but wait does not tell.
            while waiting := {future for future in waiting if not future.done()}:
                wait(waiting, timeout=LOOK, return_when=FIRST_COMPLETED)
                _keep_all(reports, keep)
            _keep_all(reports, keep)


def _keep_all(reports: Any, keep: Callable[[Event], Event]) -> None:
    for event in _reported(reports):
        keep(event)


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started now do not hear Ctrl-C, which reaches all of a terminal: this one tells them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _reported(reports: Any) -> Iterator[Event]:
    while not reports.empty():
        yield reports.get()


def _refuse_death(done: set[Future[None]]) -> None:
    for future in done:
        try:
            future.result()
        except BrokenProcessPool:
            raise BenchError(
                "a process of the comparison died, perhaps for want of memory",
                Remedy.USE_FEWER_PROCESSES,
            ) from None
