"""The rules of telling: what becomes of a value, which node is the best, and when a run is finished."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graphbo.errors import (
    GraphboError,
    NotAsked,
    Remedy,
    ReportRefused,
    RunError,
    ValueConflict,
)
from graphbo.runs.encoding import (
    FIELDS,
    as_news,
    as_observation,
    belief_properties,
    node_properties,
    without_nothing,
)
from graphbo.runs.form import number_in, without_request
from graphbo.runs.records import News, RunRecord, Told, total
from graphbo.runs.transaction import Transaction
from graphbo.runs.written_names import (
    answer_properties,
    in_use,
    names_of,
    why_written,
    written_labels,
)
from graphbo.stores.log import (
    NO_NEWS,
    Amend,
    ChangeRun,
    Fail,
    Lookup,
    MoveBest,
    Observe,
    Properties,
    Retry,
    Revise,
    Snapshot,
    Write,
)
from graphbo.stores.subgraphs import show_key
from graphbo.types import NodeKey, Observation, Pending, View, best_of

__all__ = [
    "Change",
    "Finish",
    "Report",
    "Reports",
    "RetryFailures",
    "conclude",
    "counted",
    "find_pending",
    "move_best",
    "names_to_write",
    "not_asked",
    "refuse_nothing_meant",
    "spent",
]


@dataclass(frozen=True)
class Report(Transaction[Told]):
    """Somebody tells what was measured, at a step or at a node.

    The first value told for a step wins. A worker, who gives its token, may come late: what it says is kept beside
    the first value, or the failure. A person may not contradict a value without ``amend``, and may replace a failure.

    Attributes:
        value: what it was; None if it failed.
        error, attempts: of a failure.
        token: of the request that a worker answers; people have none.
        amend: whether a value that was told before is replaced.
        note: what else there is to say about it.
    """

    value: float | None
    step: int | None = None
    key: NodeKey | None = None
    error: str | None = None
    attempts: int = 1
    token: str | None = None
    amend: bool = False
    note: str | None = None

    def __post_init__(self) -> None:
        refuse_nothing_meant(self.step, self.key)
        if self.value is not None and not math.isfinite(self.value):
            raise RunError(f"the value is {self.value}: expected a finite number")

    def lookup(self, view: View, since: int) -> Lookup:
        """What was told there before. Which value is the best after one was changed depends on all of them."""
        return _lookup(view, self.token or "by hand", [self], 0 if self.amend else since)

    def decide(self, found: Snapshot) -> tuple[Told, Sequence[Write]]:
        """Record it.

        Raises:
            NotAsked: nobody asked for that step or node.
            ValueConflict: a person contradicts what was told before.
        """
        return _decide(self, as_news(found), {**_at(found.pending), **_at(found.told)})

    def guess(self, believed: News) -> Write | None:
        """It is recorded, if this is asked for."""
        if find_pending(believed, self.step, self.key) is None:
            return None
        _, writes = _decide(self, believed, {})
        return writes[0] if len(writes) == 1 else None


@dataclass(frozen=True)
class Reports(Transaction[list[Told]]):
    """Several reports, recorded one after the other: all of them, or none."""

    reports: Sequence[Report]
    grows = True

    def lookup(self, view: View, since: int) -> Lookup:
        """What was told there before, of all of them."""
        del since
        whole = any(one.amend for one in self.reports)
        return _lookup(view, "by hand", self.reports, 0 if whole else NO_NEWS)

    def decide(self, found: Snapshot) -> tuple[list[Told], Sequence[Write]]:
        """Record them.

        Raises:
            ReportRefused: one of them cannot be recorded.
        """
        all_told: list[Told] = []
        all_writes: list[Write] = []
        for position, outcome in enumerate(self.each(found)):
            if isinstance(outcome, GraphboError):
                raise ReportRefused(position, outcome.problem, outcome.remedy, **outcome.facts)
            all_told.append(outcome[0])
            all_writes += outcome[1]
        return all_told, all_writes

    def each(self, found: Snapshot) -> Iterator[tuple[Told, Sequence[Write]] | GraphboError]:
        """What becomes of each, given those before it that can be recorded; the error of one that cannot."""
        news, steps = as_news(found), {**_at(found.pending), **_at(found.told)}
        for report in self.reports:
            try:
                told, writes = _decide(report, news, steps)
            except GraphboError as error:
                yield error
                continue
            yield told, writes
            news = told.news
            # Another report of the same node finds this one.
            for write in writes:
                if isinstance(write, Amend):
                    steps[write.step] = steps[write.step] | write.properties
                elif isinstance(write, Observe | Fail):
                    node = {name: steps[write.step].get(name) for name in ("key", "held")}
                    steps[write.step] = write.properties | node


def _lookup(view: View, by: str, reports: Sequence[Report], since: int) -> Lookup:
    steps = [one.step for one in reports if one.step is not None]
    keys = [one.key for one in reports if one.key is not None]
    return Lookup(view, by, since, steps=steps, keys=keys)


def _at(found: Sequence[Properties]) -> dict[int, Properties]:
    return {one["step"]: one for one in found}


def _decide(
    report: Report, news: News, steps: Mapping[int, Properties]
) -> tuple[Told, Sequence[Write]]:
    """What becomes of a report, and what is written for it.

    Args:
        report: what somebody tells.
        news: how the run stands.
        steps: what is pending, and what was told at the step or the node in question, by step, with the names that
            the node holds. A guess does without.
    """
    pending = find_pending(news, report.step, report.key)
    if pending is not None:
        told, write = conclude(report, news, pending, steps.get(pending.step, {}).get("held") or ())
        return told, (write,)
    for before in steps.values():
        if before.get("seq") and _is_meant(report.step, report.key, before["step"], before["key"]):
            return _tell_again(report, news, before)
    raise not_asked(news, report.step, report.key)


def refuse_nothing_meant(step: int | None, key: NodeKey | None) -> None:
    """Check that a step or a node is named.

    Raises:
        RunError: neither is.
    """
    if step is None and key is None:
        raise RunError("neither a step nor a node is named: say which is meant")


def find_pending(news: News, step: int | None, key: NodeKey | None) -> Pending | None:
    """What is pending at a step, or at a node; where both are named, at the node of that step."""
    return next((one for one in news.pending if _is_meant(step, key, one.step, one.key)), None)


def _is_meant(step: int | None, key: NodeKey | None, of_step: int, of_key: NodeKey) -> bool:
    return step in (None, of_step) and key in (None, of_key)


def not_asked(news: News, step: int | None, key: NodeKey | None) -> NotAsked:
    """The error that says what was asked for instead."""
    named = [f"step {step}"] * (step is not None) + [show_key(key)] * (key is not None)
    what = " at ".join(named)
    waiting = ", ".join(f"{one.step} ({show_key(one.key)})" for one in news.pending[:5])
    if not waiting:
        return NotAsked(f"nobody asked for {what}", Remedy.ASK_FIRST)
    return NotAsked(f"nobody asked for {what}: pending are {waiting}")


# The first report of a step


def conclude(
    report: Report, news: News, pending: Pending, held: Collection[str] = ()
) -> tuple[Told, Fail | Observe]:
    """What becomes of the first report of a step. ``held`` are the names that its node has.

    If somebody has set an answer on the node meanwhile, it is in place of a failure, or beside another value, as what
    comes late is.
    """
    record = news.record
    told = belief_properties(pending.candidate, pending.proposal) | {
        "run": record.name,
        "step": pending.step,
        "seq": record.seq + 1,
    }
    told |= without_nothing({"note": report.note or pending.note, "why": pending.why})
    answer, taken_off = number_in(pending.answer), without_request(record.prefix, pending)
    value = answer if report.value is None else report.value
    if value is None:
        write: Fail | Observe = _failure(report, record, told, taken_off)
        write = replace(write, counters=write.counters | spent(record, pending.cost))
        names: tuple[str, ...] = ()
    else:
        # The label of what is pending is the run's own, and so is why it was asked for.
        names = in_use(names_to_write(record), held, why_written(record.prefix, pending.why))
        counters = {"seq": told["seq"], "told": record.told + 1} | spent(record, pending.cost)
        if report.value is None:
            told |= {"error": report.error or "failed"}
        elif answer not in (None, value):
            told |= {"late": [answer]}
        write = _observation(told | {"value": value}, record, counters, names)
        write = replace(write, node=taken_off | write.node)
    observation = as_observation(write.properties | {"key": pending.key})
    after = _after(news, observation, write.counters)
    if _is_over(after.record):
        # Nobody else will notice.
        write = replace(write, counters=write.counters | FINISHED)
        after = replace(after, record=counted(after.record, FINISHED))
    return Told("recorded", observation, after, names), write


def spent(record: RunRecord, *costs: float | None) -> Properties:
    """The counter of a run with costs, once these were spent; what is below zero was given back."""
    if "cost" not in record.config:
        return {}
    return {"spent": total(record.spent, *(cost or 0.0 for cost in costs))}


def names_to_write(record: RunRecord) -> set[str]:
    """The names that a run writes on a node when it is told its value."""
    others = answer_properties(record.prefix).values()
    return names_of(record) - {written_labels(record.prefix)["pending"], *others}


def _failure(report: Report, record: RunRecord, told: Properties, node: Properties) -> Fail:
    why = {"error": report.error or "failed", "attempts": report.attempts}
    counters = {"seq": told["seq"], "failed": record.failed + 1}
    return Fail(told["step"], told | why, counters, node)


def _observation(
    told: Properties, record: RunRecord, counters: Properties, names: Collection[str]
) -> Observe:
    """What is observed; the node is left alone if it has some of the names for something else."""
    told = told | {"source": "run"} | ({"unwritten": True} if names else {})
    value = told["value"]
    better = record.beats(value, record.best_value)
    labels = written_labels(record.prefix) if record.labelled and not names else {}
    return Observe(
        told["step"],
        told,
        {} if names else node_properties(record.prefix, told),
        [labels["observed"]] if labels else [],
        counters | ({"bestStep": told["step"], "bestValue": value} if better else {}),
        [labels["best"]] if labels and better else [],
        record.best_step if better and record.labelled else None,
    )


def _after(news: News, observation: Observation, counters: Properties) -> News:
    """How things stand once an observation is recorded."""
    pending = tuple(one for one in news.pending if one.step != observation.step)
    record = counted(news.record, counters).with_pending(pending)
    return News(record, (*news.observations, observation), pending)


def counted(record: RunRecord, counters: Properties) -> RunRecord:
    """A run with some of its counters changed."""
    return replace(record, **{FIELDS.get(name, name): value for name, value in counters.items()})


# Another report of a step that has its value, or its failure, already


def _tell_again(report: Report, news: News, before: Properties) -> tuple[Told, Sequence[Write]]:
    observation = as_observation(before)
    if report.value == before.get("value"):
        return Told("repeated", observation, news), ()
    if report.token is not None:
        return _tell_late(report, news, before)
    if report.value is not None and "value" not in before:
        return _mend(report, report.value, news, before)
    if not report.amend or report.value is None:
        raise _conflict(before, report)
    return _amend(report, report.value, news, before)


def _mend(
    report: Report, value: float, news: News, before: Properties
) -> tuple[Told, Sequence[Write]]:
    """A value in place of a failure, which stays beside it: the step has its error and its value."""
    record = news.record
    names = in_use(names_to_write(record), before.get("held") or ())
    kept = {name: before[name] for name in before if name not in ("key", "left", "at", "held")}
    counters: Properties = {
        "failed": record.failed - 1,
        "told": record.told + 1,
        "amended": record.amended + 1,
    }
    told = kept | without_nothing({"note": report.note}) | {"value": value}
    write = _observation(told, record, counters, names)
    mended = as_observation(write.properties | {"key": before["key"]})
    observations = _replaced(news.observations, mended)
    after = News(counted(record, write.counters), observations, news.pending)
    return Told("amended", mended, after, names), (write,)


def _replaced(observations: Sequence[Observation], changed: Observation) -> tuple[Observation, ...]:
    others = (one for one in observations if one.step != changed.step)
    return tuple(sorted((*others, changed), key=lambda one: one.seq))


def _tell_late(report: Report, news: News, before: Properties) -> tuple[Told, Sequence[Write]]:
    """A worker that was given up has come back: the first report stays, a value is kept beside it."""
    observation = as_observation(before)
    if report.value is None:
        return Told("repeated", observation, news), ()
    kept = before.get("late", [])
    # The same again is a repeated request.
    if report.value in kept:
        return Told("late", observation, news), ()
    return Told("late", observation, news), (
        Revise(before["step"], {"late": [*kept, report.value]}),
    )


def _conflict(before: Properties, report: Report) -> ValueConflict:
    where = f"step {before['step']} ({show_key(before['key'])})"
    problem = f"{where} has the value {before['value']} already"
    if report.value is None:
        return ValueConflict(f"{problem}: a value is not replaced by a failure")
    return ValueConflict(problem, Remedy.AMEND)


def _amend(
    report: Report, value: float, news: News, before: Properties
) -> tuple[Told, Sequence[Write]]:
    """``news`` holds the whole history: which value is the best after one was changed depends on all of them."""
    record = news.record
    changed: Properties = {"value": value} | without_nothing({"note": report.note})
    amended = as_observation(before | changed)
    observations = _replaced(news.observations, amended)
    best = best_of(observations, maximize=record.maximize)
    assert best is not None  # noqa: S101 - a value was just amended
    counters: Properties = {
        "amended": record.amended + 1,
        "bestStep": best.step,
        "bestValue": best.value,
    }
    # What the run did not write on the node when it was measured, it does not write now.
    node = {} if before.get("unwritten") else node_properties(record.prefix, before | changed)
    writes = (
        Amend(amended.step, changed, node, counters),
        *move_best(record, best.step, unwritten=best.unwritten),
    )
    after = News(counted(record, counters), observations, news.pending)
    return Told("amended", amended, after), writes


def move_best(
    record: RunRecord, step: int | None, *, unwritten: bool = False, gone: int | None = None
) -> Sequence[Write]:
    """The label of the best goes to the node of another step, if there are labels.

    Args:
        record: of the run until now.
        step: of the best from now on.
        unwritten: whether the node shows nothing of what was observed there.
        gone: a step whose node has lost the label already.
    """
    if not record.labelled or unwritten or step is None or step == record.best_step:
        return ()
    old = None if gone == record.best_step else record.best_step
    return (MoveBest(old, step, written_labels(record.prefix)["best"]),)


# Failures that are given back


@dataclass(frozen=True)
class RetryFailures(Transaction[tuple[Observation, ...]]):
    """Failures are given back for another try: their nodes may be asked for again. All of them without ``keys``.

    They count neither towards the budget nor as failures any more. Their record stays.
    """

    keys: Sequence[NodeKey] | None = None
    grows = True

    def lookup(self, view: View, since: int) -> Lookup:
        """The whole history."""
        del since
        return Lookup(view, "retry", 0)

    def decide(self, found: Snapshot) -> tuple[tuple[Observation, ...], Sequence[Write]]:
        """Give them back.

        Raises:
            NotAsked: a node has not failed.
        """
        news = as_news(found)
        record = news.record
        failed = {one.key: one for one in news.observations if one.failed}
        for key in self.keys or ():
            if key not in failed:
                known = ", ".join(show_key(one) for one in list(failed)[:5]) or "none"
                raise NotAsked(
                    f"{show_key(key)} has not failed in the run {record.name!r}: these have: {known}"
                )
        given_back = tuple(
            one for one in failed.values() if self.keys is None or one.key in self.keys
        )
        if not given_back:
            return (), ()
        counters: Properties = spent(record, *(-(one.cost or 0.0) for one in given_back)) | {
            "failed": record.failed - len(given_back),
            "amended": record.amended + 1,
            # There is something left to do.
            "state": "stopped" if record.state == "finished" else record.state,
        }
        return given_back, (Retry([one.step for one in given_back], counters),)


# The end of a run, and other changes of it


#: What changes of a run that is finished.
FINISHED: Properties = {"state": "finished"}


def _is_over(record: RunRecord, *, whatever_is_left: bool = False) -> bool:
    """Whether a run is to be marked as finished: nobody has stopped it or raised its budget, and nothing is pending."""
    used = whatever_is_left or record.left <= 0
    return used and record.state == "running" and not record.pending


@dataclass(frozen=True)
class Finish(Transaction[RunRecord]):
    """A run is finished if it is over, or whatever is left of its budget.

    Telling its last value does so as well. What remains are budgets that were lowered, and searches that end before.
    """

    whatever_is_left: bool = False

    def lookup(self, view: View, since: int) -> Lookup:
        """The run alone."""
        del since
        return Lookup(view, "finish", NO_NEWS)

    def decide(self, found: Snapshot) -> tuple[RunRecord, Sequence[Write]]:
        """Mark it."""
        record = as_news(found).record
        if not _is_over(record, whatever_is_left=self.whatever_is_left):
            return record, ()
        return counted(record, FINISHED), (ChangeRun(FINISHED),)


@dataclass(frozen=True)
class Change(Transaction[None]):
    """Somebody stops a run, lets it go on, or changes its budget."""

    properties: Properties

    def lookup(self, view: View, since: int) -> Lookup:
        """The run alone."""
        del since
        return Lookup(view, "change", NO_NEWS)

    def decide(self, found: Snapshot) -> tuple[None, Sequence[Write]]:
        """Whatever it was before."""
        del found
        return None, (ChangeRun(self.properties),)
