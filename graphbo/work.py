"""Working on a run: ask, evaluate, tell, until the budget is used up. Several workers may share a run.

A worker holds a lease on each node that it evaluates and renews it from a thread of its own, so that an evaluation
may take as long as it likes; a worker that dies stops renewing, and another takes its node over.
"""

import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field

from graphbo.errors import GraphboError, RunError, StoreUnavailable
from graphbo.objectives import Evaluation, Node, Objective, evaluate
from graphbo.run import Run
from graphbo.stores import GraphStore
from graphbo.stores.faults import reach
from graphbo.stores.runs import Told
from graphbo.types import Pending

__all__ = ["LEASE_SECONDS", "Ending", "Limits", "Progress", "Watch", "work"]

#: A worker's node may be taken over when it has not renewed its lease for so long. It renews every third of that.
LEASE_SECONDS = 60.0
#: How long a worker waits for others before it asks again.
WAIT_SECONDS = 0.5

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Limits:
    """When to stop, beside the run's budget of evaluations.

    Attributes:
        seconds: of wall time, in this process; what is being evaluated then is still awaited.
        patience: evaluations since the best value was found.
        failures: evaluations that failed; reaching it stops the run.
    """

    seconds: float | None = None
    patience: int | None = None
    failures: int | None = None


@dataclass(frozen=True)
class Ending:
    """Why work ended: ``budget``, ``exhausted``, ``ended``, ``time``, ``patience`` or ``failures``."""

    reason: str
    evaluations: int


@dataclass(frozen=True)
class Progress:
    """What just happened, for whoever watches: something was asked for, or something was told."""

    run: Run
    asked: Pending | None = None
    told: Told | None = None
    evaluation: Evaluation | None = None


Watch = Callable[[Progress], None]


@dataclass
class _InFlight:
    """What this worker is evaluating.

    It holds a lease on a node from asking to telling, which is longer than there is a future for it.
    """

    futures: dict[Future[Evaluation], Pending] = field(default_factory=dict)
    held: dict[str, Pending] = field(default_factory=dict)


def work(
    run: Run,
    objective: Objective,
    *,
    limits: Limits | None = None,
    executor: Executor | None = None,
    parallel: int = 1,
    batch: bool = False,
    lease: float = LEASE_SECONDS,
    renewing: Callable[[], GraphStore] | None = None,
    watch: Watch | None = None,
) -> Ending:
    """Evaluate nodes until there is a reason to stop.

    Args:
        run: what to work on.
        objective: what to evaluate, bound to a database if it needs one.
        limits: when to stop, beside the budget.
        executor: where to evaluate; in this thread without one.
        parallel: how many nodes are evaluated at once.
        batch: whether the next nodes are asked for only when all of them are told.
        lease: seconds after which others may take a node over if this process is gone.
        renewing: opens a connection for the thread that renews leases; without it, leases are not renewed.
        watch: told of everything that happens.

    Raises:
        RunError: too many evaluations failed.
        StoreError: the database does not answer any more.
    """
    worker = _Worker(run, objective, limits or Limits(), executor or InThisThread(), watch)
    with _renewal(run, worker.in_flight, lease, renewing):
        return worker.work(parallel, batch, lease)


class InThisThread(Executor):
    """Evaluates at once, here: one worker needs no pool."""

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        """Call the function now; Ctrl-C is not kept for later."""
        future: Future[object] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - the future's reader raises it
            future.set_exception(error)
        return future


class _Worker:
    def __init__(
        self,
        run: Run,
        objective: Objective,
        limits: Limits,
        executor: Executor,
        watch: Watch | None,
    ) -> None:
        self._run = run
        self._objective = objective
        self._limits = limits
        self._executor = executor
        self._watch = watch or (lambda _: None)
        self._started = time.monotonic()
        self._evaluations = 0
        self.in_flight = _InFlight()

    def work(self, parallel: int, batch: bool, lease: float) -> Ending:
        futures = self.in_flight.futures
        while True:
            reason = self._fill(parallel, lease)
            if not futures:
                if reason == "waiting":
                    time.sleep(WAIT_SECONDS)
                    self._run.refresh()
                    continue
                return self._end(reason)
            done, _ = wait(futures, return_when=ALL_COMPLETED if batch else FIRST_COMPLETED)
            # In the order of asking, so that a batch is told in the same order every time.
            for future in sorted(done, key=lambda one: futures[one].step):
                pending = futures.pop(future)
                self._tell(pending, future)
                del self.in_flight.held[pending.token]

    def _fill(self, parallel: int, lease: float) -> str:
        """Ask until as many nodes are being evaluated as may be; why that stopped."""
        while len(self.in_flight.futures) < parallel:
            reason = self._limit_reached()
            if reason:
                return reason
            asked = self._run.ask(lease=lease, token=secrets.token_hex(8))
            if asked.pending is None:
                return asked.why_not
            self.in_flight.held[asked.pending.token] = asked.pending
            self._watch(Progress(self._run, asked=asked.pending))
            self._submit(asked.pending)
        return ""

    def _submit(self, pending: Pending) -> None:
        properties = self._run.properties(pending.key) if self._objective.needs_properties else {}
        future = self._executor.submit(evaluate, self._objective, Node(pending.key, properties))
        self.in_flight.futures[future] = pending

    def _tell(self, pending: Pending, future: "Future[Evaluation]") -> None:
        evaluation = _result(future)
        reach("objective.done")
        self._run.clock.objective += evaluation.seconds
        told = self._run.tell(
            evaluation.value,
            step=pending.step,
            token=pending.token,
            error=evaluation.error,
            attempts=evaluation.attempts,
        )
        self._evaluations += 1
        self._watch(Progress(self._run, told=told, evaluation=evaluation))

    def _limit_reached(self) -> str:
        limits, record = self._limits, self._run.record
        if limits.seconds is not None and time.monotonic() - self._started >= limits.seconds:
            return "time"
        if limits.failures is not None and record.failed >= limits.failures > 0:
            return "failures"
        if limits.patience is not None and _since_best(self._run) >= limits.patience:
            return "patience"
        return ""

    def _end(self, reason: str) -> Ending:
        if reason == "failures":
            last = next(one for one in reversed(self._run.history) if one.failed)
            raise RunError(
                f"{self._run.record.failed} evaluations failed, the last one ({last.key!r}) with: {last.error}; mend "
                "the objective and run again, or raise --max-failures"
            )
        if reason in ("budget", "exhausted", "patience") and not self._run.pending:
            self._run.finish()
        return Ending(reason, self._evaluations)


def _result(future: "Future[Evaluation]") -> Evaluation:
    """What an evaluation gave; a worker process that died is a failure like any other."""
    try:
        return future.result()
    except GraphboError:
        raise
    except Exception as error:  # noqa: BLE001 - executors raise what they like when a worker is lost
        return Evaluation(None, f"{type(error).__name__}: {error}"[:500], 1, 0.0)


def _since_best(run: Run) -> int:
    """Evaluations since the best value was told."""
    best = run.record.best_step
    measured = [one for one in run.history if one.source == "run"]
    for count, one in enumerate(reversed(measured)):
        if one.step == best:
            return count
    return len(measured)


@contextlib.contextmanager
def _renewal(
    run: Run, in_flight: _InFlight, lease: float, renewing: Callable[[], GraphStore] | None
) -> Iterator[None]:
    """A thread that renews the leases of what is being evaluated, with a connection of its own."""
    if renewing is None:
        yield
        return
    stop = threading.Event()
    thread = threading.Thread(
        target=_renew, args=(run.name, in_flight, lease, renewing, stop), daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _renew(
    name: str,
    in_flight: _InFlight,
    lease: float,
    renewing: Callable[[], GraphStore],
    stop: threading.Event,
) -> None:
    store: GraphStore | None = None
    while not stop.wait(lease / 3):
        tokens = list(in_flight.held)
        if not tokens:
            continue
        try:
            # Opened when it is first needed: most evaluations are shorter than a third of a lease.
            store = store or renewing()
            store.runs.renew(name, tokens, lease)
        except StoreUnavailable as error:
            # The next try comes soon; if the lease runs out before, whoever takes over does no harm.
            log.warning("the lease could not be renewed: %s", error)
    if store is not None:
        store.close()
