"""Working on a run: ask, evaluate, tell, until the budget is used up. Several workers may share a run.

A worker holds a lease on each node that it evaluates, which another process renews for it, so that an evaluation may
take as long as it likes; a worker that dies takes that process with it, and another worker takes its node over.
"""

import contextlib
import logging
import math
import secrets
import shlex
import time
from collections.abc import Callable, Sequence
from concurrent.futures import (
    ALL_COMPLETED,
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    wait,
)
from dataclasses import dataclass
from types import TracebackType

from graphbo.errors import (
    GraphboError,
    NoSuchRun,
    NotAsked,
    ObjectiveBroken,
    Remedy,
    RunError,
    StoreError,
    StoreUnavailable,
)
from graphbo.objectives import Evaluation, Node, Objective, evaluate
from graphbo.runs import Run
from graphbo.runs.asking import MOST_TRIES
from graphbo.runs.executors import Workplace
from graphbo.runs.leases import Leases
from graphbo.runs.records import RunRecord, Told
from graphbo.runs.registry import runs_in
from graphbo.runs.telling import Report
from graphbo.runs.value_files import keep_untold
from graphbo.types import NodeKey, Observation, Pending
from graphbo.types.text import number, plural

__all__ = [
    "LEASE_SECONDS",
    "Ending",
    "Limits",
    "Names",
    "Progress",
    "Watch",
    "all_failed",
    "broken_objective",
    "last_failure",
    "work",
]

#: A worker's node may be taken over when it has not renewed its lease for so long. It renews every third of that.
LEASE_SECONDS = 60.0
#: How long a worker waits for others before it asks again.
WAIT_SECONDS = 0.5
#: How long what others evaluate is waited for when work ends with an error.
GRACE_SECONDS = 2.0
#: After so many evaluations in a row that ended their process, it is not the nodes' fault.
MOST_DEATHS = 3
#: How often an objective that asks the database is evaluated anew because the database had gone away.
MOST_INTERRUPTIONS = 5

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Limits:
    """When to stop, beside the run's budget of evaluations.

    Attributes:
        seconds: of wall time, in this process; what is being evaluated then is still awaited.
        patience: evaluations since the best value was found.
        failures: evaluations that failed since this worker began; reaching it ends its work.
        failures_in_a_row: evaluations of this worker that failed, with none that succeeded between; reaching it ends
            its work, since the objective is probably broken. None to go on all the same.
        stop: asked before each node is asked for: whether to stop.
    """

    seconds: float | None = None
    patience: int | None = None
    failures: int | None = None
    failures_in_a_row: int | None = 10
    stop: Callable[[], bool] | None = None


@dataclass(frozen=True)
class Names:
    """What whoever evaluates calls nodes, where that is not their keys.

    Attributes:
        node: what is evaluated for a key.
        name: what a key is called in messages.
    """

    node: Callable[[NodeKey], Node]
    name: Callable[[NodeKey], object]


@dataclass(frozen=True)
class Ending:
    """Why work ended.

    ``budget``, ``unaffordable``, ``exhausted``, ``ended``, ``time``, ``patience``, ``stop`` or ``failures``.
    """

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


def work(
    run: Run,
    objective: Objective,
    *,
    limits: Limits | None = None,
    executor: Executor | None = None,
    parallel: int = 1,
    batch: bool = False,
    lease: float = LEASE_SECONDS,
    watch: Watch | None = None,
    names: Names | None = None,
) -> Ending:
    """Evaluate nodes until there is a reason to stop.

    A worker that finds the budget used up waits for the others: if one of them dies, its node is taken over.
    Whatever ends the work before that, Ctrl-C included, leaves what was being evaluated for the next one who works on
    the run.

    Args:
        run: what to work on.
        objective: what to evaluate, bound to a database if it needs one.
        limits: when to stop, beside the budget.
        executor: where to evaluate; in this thread without one.
        parallel: how many nodes are evaluated at once.
        batch: whether the next nodes are asked for only when all of them are told.
        lease: seconds after which others may take a node over if this process is gone.
        watch: told of everything that happens.
        names: what the objective is called with, and what nodes are called in messages; else their keys.

    Raises:
        ObjectiveBroken: too many evaluations failed, or all of them, or processes that evaluate keep dying.
        RunError: nothing is to be evaluated.
        StoreError: the database does not answer any more.
    """
    if parallel < 1:
        raise RunError(f"{parallel} nodes are to be evaluated at once: expected at least 1")
    leases = Leases(run.name, lease, run.store.access)
    with Workplace(executor) as place:
        worker = _Worker(run, objective, limits or Limits(), place, leases, watch, names)
        # What is given up in the end must not be renewed any more.
        with worker, leases:
            return worker.work(parallel, batch, lease)


class _Worker:
    def __init__(
        self,
        run: Run,
        objective: Objective,
        limits: Limits,
        place: Workplace,
        leases: Leases,
        watch: Watch | None,
        names: Names | None,
    ) -> None:
        self._run = run
        self._names = names or Names(self._node_of_database, lambda key: key)
        self._objective = objective
        self._limits = limits
        self._place = place
        # From asking to telling, which is longer than there is a future.
        self._leases = leases
        self._watch = watch or (lambda _: None)
        self._started = time.monotonic()
        self._failed_before = run.record.failed
        self._evaluations = 0
        self._deaths = 0
        self._failed_in_a_row = 0
        self._last_failure: Observation | None = None
        self._region = max((one.restart for one in run.history), default=0)
        self._detail = ""
        #: What was evaluated and has not been told, by token, and why nothing can be told any more.
        self._untold: dict[str, tuple[Pending, Evaluation]] = {}
        self._mute: GraphboError | None = None
        self._futures: dict[Future[Evaluation], Pending] = {}

    def __enter__(self) -> "_Worker":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave what is not finished to others: nobody will tell what comes of it. What is finished is not lost."""
        if isinstance(error, GraphboError):
            self._await_the_others()
        for future, pending in self._futures.items():
            if not future.cancel() and future.done() and future.exception() is None:
                self._untold[pending.token] = (pending, future.result())
        for pending, evaluation in list(self._untold.values()):
            self._tell_or_keep(pending, evaluation)
        self._run.leave(self._leases.held)

    def _await_the_others(self) -> None:
        """What is evaluated beside one that cannot be told is paid for: what comes of it is kept, if somebody waits.

        Where somebody removed the run, what is finished by now will do.
        """
        gone_for_good = isinstance(self._mute, StoreError)
        if gone_for_good and not all(future.done() for future in self._futures):
            log.warning(
                "%d more are being evaluated: waiting for them, to keep what they give; Ctrl-C leaves them",
                len(self._futures),
            )
        with contextlib.suppress(KeyboardInterrupt):
            wait(self._futures, None if gone_for_good else GRACE_SECONDS)

    def work(self, parallel: int, batch: bool, lease: float) -> Ending:
        futures = self._futures
        while True:
            reason = self._fill(parallel, lease)
            if not futures:
                if not self._others_may_leave_something(reason):
                    return self._end(reason)
                time.sleep(WAIT_SECONDS)
                self._run.refresh()
                continue
            done, _ = wait(futures, return_when=ALL_COMPLETED if batch else FIRST_COMPLETED)
            # In the order of asking, so that a batch is told in the same order every time.
            for future in sorted(done, key=lambda one: futures[one].step):
                self._conclude(future)

    def _fill(self, parallel: int, lease: float) -> str:
        """Ask until as many nodes are being evaluated as may be; why that stopped."""
        while len(self._futures) < parallel:
            reason = self._limit_reached()
            if reason:
                return reason
            token = secrets.token_hex(8)
            self._leases.hold(token)
            asked = self._run.ask(lease=lease, token=token)
            if asked.pending is None:
                self._leases.drop(token)
                return asked.why_not
            self._watch(Progress(self._run, asked=asked.pending))
            self._futures[self._submit(asked.pending)] = asked.pending
        return ""

    def _others_may_leave_something(self, reason: str) -> bool:
        """Whether to wait for what others evaluate: they may die, or tell something that opens the way to more.

        What was asked for by hand may take days, and nobody can tell whether they are dead.
        """
        pending = self._run.pending
        if reason == "waiting" and not pending:
            return True
        return reason in ("waiting", "budget", "unaffordable") and any(
            one.lease_left is not None for one in pending
        )

    def _node(self, pending: Pending) -> Node:
        return self._names.node(pending.key)

    def _node_of_database(self, key: NodeKey) -> Node:
        return Node(key, self._run.properties(key) if self._objective.needs_properties else {})

    def _name(self, pending: Pending) -> object:
        return self._names.name(pending.key)

    def _submit(self, pending: Pending) -> "Future[Evaluation]":
        return self._place.submit(evaluate, self._objective, self._node(pending))

    def _conclude(self, future: "Future[Evaluation]") -> None:
        pending = self._futures.pop(future)
        evaluation = self._evaluation(pending, future)
        self._untold[pending.token] = (pending, evaluation)
        self._tell(pending, evaluation)
        self._leases.drop(pending.token)
        if self._deaths >= MOST_DEATHS:
            raise ObjectiveBroken(
                f"{self._deaths} evaluations in a row ended the process that they ran in, the last one that of "
                f"{self._name(pending)!r}: mend the objective and run again"
            )

    def _evaluation(self, pending: Pending, future: "Future[Evaluation]") -> Evaluation:
        """What an evaluation gave, whatever became of the place where it happened."""
        for _ in range(MOST_INTERRUPTIONS):
            try:
                evaluation = future.result()
            except BrokenExecutor as error:
                return self._after_a_death(pending, error)
            except StoreUnavailable:
                # The objective asks the database, which has gone away: nothing is known about the node.
                self._run.refresh()
                future = self._submit(pending)
            except GraphboError:
                raise
            except Exception as error:  # noqa: BLE001 - executors raise what they like when a worker is lost
                return Evaluation(None, f"{type(error).__name__}: {error}"[:500], 1, 0.0)
            else:
                self._deaths = 0
                return evaluation
        return future.result()

    def _after_a_death(self, pending: Pending, error: BrokenExecutor) -> Evaluation:
        """Find out whether it was this node that ended the process, or another that was evaluated beside it."""
        if pending.tries < MOST_TRIES:
            try:
                evaluation = self._place.alone(
                    error, evaluate, self._objective, self._node(pending)
                )
            except BrokenExecutor:
                pass
            else:
                self._deaths = 0
                return evaluation
        self._deaths += 1
        return Evaluation(None, "the process that evaluated it died", 2, 0.0)

    def _tell(self, pending: Pending, evaluation: Evaluation) -> None:
        self._run.clock.objective += evaluation.seconds
        try:
            told = self._report(pending, evaluation)
        except NotAsked as error:
            # Somebody released it meanwhile, and may have asked for it again: it is theirs now.
            log.warning("node %r was released while it was evaluated", self._name(pending))
            self._keep(pending, evaluation, error)
            self._run.refresh()
            return
        except GraphboError as error:
            self._mute = error
            raise
        self._evaluations += 1
        if evaluation.value is None:
            self._failed_in_a_row += 1
            self._last_failure, self._detail = told.observation, evaluation.detail
        else:
            self._failed_in_a_row = 0
        self._note(told.observation)
        self._watch(Progress(self._run, told=told, evaluation=evaluation))
        if told.in_use:
            # The value is safe. The nodes to come may have something of their own there as well.
            raise runs_in(self._run.store).name_in_use(self._run.record, told.in_use, pending.key)

    def _note(self, one: Observation) -> None:
        """What a careful colleague would write down."""
        record, name = self._run.record, self._names.name(one.key)
        if one.value is None:
            log.info("evaluation %d: %r failed: %s", record.evaluations, name, one.error)
        elif record.best_step == one.step:
            log.info(
                "evaluation %d: %r has %.6g, the best so far", record.evaluations, name, one.value
            )
        if one.restart > self._region:
            self._region = one.restart
            log.info(
                "evaluation %d: the region was used up, and another begins", record.evaluations
            )

    def _report(self, pending: Pending, evaluation: Evaluation, *, hurry: bool = False) -> Told:
        report = Report(
            evaluation.value,
            step=pending.step,
            error=evaluation.error,
            attempts=evaluation.attempts,
            token=pending.token,
        )
        told = self._run.report(report, hurry=hurry)
        del self._untold[pending.token]
        return told

    def _tell_or_keep(self, pending: Pending, evaluation: Evaluation) -> None:
        """In the end: tell what is known if that can be done at once."""
        try:
            if self._mute is None:
                self._report(pending, evaluation, hurry=True)
                self._leases.drop(pending.token)
        except GraphboError as error:
            self._mute = error
        finally:
            if pending.token in self._untold:
                self._keep(pending, evaluation, self._mute or "interrupted")

    def _keep(self, pending: Pending, evaluation: Evaluation, why: object) -> None:
        """What was measured may have cost much: it goes where it can be found, and told."""
        self._untold.pop(pending.token, None)
        name, value = self._run.name, evaluation.value
        found = f"failed with {evaluation.error}" if value is None else f"has the value {value!r}"
        log.error("not recorded (%s): node %r %s", why, self._name(pending), found)
        try:
            path = keep_untold(name, pending.key, value, evaluation.error)
        except OSError as error:
            log.warning("nor could it be kept in a file (%s): note it down", error)
            return
        remedy = Remedy.TELL_ANOTHER_RUN if isinstance(why, NoSuchRun) else Remedy.TELL_LATER
        facts = {"run": shlex.quote(name), "file": shlex.quote(str(path))}
        log.warning("it is kept in %s", path, extra={"remedy": remedy, "facts": facts})

    def _limit_reached(self) -> str:
        limits = self._limits
        if limits.seconds is not None and time.monotonic() - self._started >= limits.seconds:
            return "time"
        if limits.failures is not None and self._failures >= limits.failures > 0:
            return "failures"
        if self._failed_in_a_row >= (limits.failures_in_a_row or math.inf):
            return "broken"
        if limits.patience is not None and _since_best(self._run) >= limits.patience:
            return "patience"
        if limits.stop is not None and limits.stop():
            return "stop"
        return ""

    @property
    def _failures(self) -> int:
        """Since this worker began: an objective that was mended gets another chance."""
        return self._run.record.failed - self._failed_before

    def _end(self, reason: str) -> Ending:
        if reason == "failures":
            raise self._broken(
                f"{plural(self._failures, 'evaluation')} failed", Remedy.MEND_OR_ALLOW
            )
        if reason == "broken":
            raise self._broken(f"{plural(self._failed_in_a_row, 'evaluation')} in a row failed")
        if reason == "waiting":
            # All that is left was asked for by hand.
            reason = "exhausted"
        if reason in ("budget", "exhausted", "unaffordable", "patience"):
            self._run.finish(whatever_is_left=reason != "budget")
        record = self._run.record
        log.info(
            "the run %r: ended by %s after %d evaluations, %d of which failed; the best value is %s",
            self._run.name,
            reason,
            record.evaluations,
            record.failed,
            number(record.best_value),
        )
        if reason != "ended" and all_failed(record):
            raise self._broken("not one evaluation gave a value")
        return Ending(reason, self._evaluations)

    def _broken(self, what: str, remedy: Remedy = Remedy.MEND) -> ObjectiveBroken:
        last = self._last_failure or last_failure(self._run.history)
        error = broken_objective(what, last, remedy, self._names.name(last.key))
        if self._detail:
            error.add_note(self._detail)
        return error


def all_failed(record: RunRecord) -> bool:
    """Whether a run has nothing to show but failures."""
    return record.failed > 0 and record.best_value is None


def last_failure(history: Sequence[Observation]) -> Observation:
    """What failed last, where something did."""
    return next(one for one in reversed(history) if one.failed)


def broken_objective(
    what: str, last: Observation, remedy: Remedy = Remedy.MEND, name: object = None
) -> ObjectiveBroken:
    """The error that says what is wrong with an objective."""
    called = last.key if name is None else name
    return ObjectiveBroken(f"{what}; the last one, at {called!r}, ended with: {last.error}", remedy)


def _since_best(run: Run) -> int:
    """Evaluations since the best value was told."""
    count = 0
    for one in reversed(run.history):
        if one.source == "run":
            if one.step == run.record.best_step:
                break
            count += 1
    return count
