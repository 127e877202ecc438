"""The rules of telling: what becomes of a value, and which node is the best. Pure: they say what to write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphbo.errors import NoSuchNode, NotAsked, ValueConflict
from graphbo.stores.assemble import show_key
from graphbo.stores.runs.ledger import (
    Amend,
    Fail,
    KeepLate,
    MoveBest,
    Observe,
    Properties,
    Warm,
    Write,
)
from graphbo.stores.runs.properties import (
    RECORD_NAMES,
    as_observation,
    belief_properties,
    node_properties,
)
from graphbo.stores.runs.records import News, RunRecord, Told, written_labels
from graphbo.types import NodeKey, Observation, Pending, View

__all__ = ["Report", "decide_known", "decide_tell", "find_pending", "not_asked", "stamped"]


@dataclass(frozen=True)
class Report:
    """Somebody tells what was measured, at a step or at a node.

    Attributes:
        value: what it was; None if it failed.
        error, attempts: of a failure.
        token: of the request that a worker answers; people have none.
        amend: whether a value that was told before is replaced.
    """

    step: int | None
    key: NodeKey | None
    value: float | None
    error: str | None = None
    attempts: int = 1
    token: str | None = None
    amend: bool = False


def decide_tell(
    report: Report, news: News, told_before: Sequence[Properties] = ()
) -> tuple[Told, Sequence[Write]]:
    """What becomes of a report, and what to write for it.

    Raises:
        NotAsked: nobody asked for that step or node.
        ValueConflict: a person contradicts what was told before.
    """
    pending = find_pending(news, report.step, report.key)
    if pending is not None:
        return _conclude(report, news, pending)
    if not told_before:
        raise not_asked(news, report.step, report.key)
    return _tell_again(report, news, told_before[0])


def find_pending(news: News, step: int | None, key: NodeKey | None) -> Pending | None:
    """What is being measured at a step, or at a node."""
    for one in news.pending:
        if one.step == step or (key is not None and one.key == key):
            return one
    return None


def not_asked(news: News, step: int | None, key: NodeKey | None) -> NotAsked:
    """The error that says what was asked for instead."""
    what = f"step {step}" if step is not None else show_key(key)
    waiting = ", ".join(f"{one.step} ({show_key(one.key)})" for one in news.pending[:5])
    return NotAsked(
        f"nobody asked for {what}: "
        + (
            f"pending are {waiting}"
            if waiting
            else "nothing is pending; ask first with `graphbo ask`"
        )
    )


# The first report of a step


def _conclude(report: Report, news: News, pending: Pending) -> tuple[Told, Sequence[Write]]:
    record = news.record
    told = belief_properties(pending.candidate, pending.proposal) | {
        "run": record.name,
        "step": pending.step,
        "seq": record.seq + 1,
    }
    write = (
        _failure(report, record, told)
        if report.value is None
        else _observation(report.value, record, told)
    )
    observation = as_observation(write.properties | {"key": pending.key})
    return Told("recorded", observation, _after(news, observation, write.counters)), (write,)


def stamped(told: Told, at: str) -> Told:
    """What was just recorded, with the time that the database gave it."""
    observation = replace(told.observation, at=at)
    before = told.news.observations[:-1]
    return replace(
        told, observation=observation, news=replace(told.news, observations=(*before, observation))
    )


def _failure(report: Report, record: RunRecord, told: Properties) -> Fail:
    why = {"error": report.error or "failed", "attempts": report.attempts}
    return Fail(told["step"], told | why, {"seq": told["seq"], "failed": record.failed + 1})


def _observation(value: float, record: RunRecord, told: Properties) -> Observe:
    told = told | {"value": value, "source": "run"}
    better = record.beats(value, record.best_value)
    labels = written_labels(record.prefix) if record.labelled else {}
    return Observe(
        told["step"],
        told,
        node_properties(record.prefix, told),
        [labels["observed"]] if labels else [],
        {"seq": told["seq"], "told": record.told + 1}
        | ({"bestStep": told["step"], "bestValue": value} if better else {}),
        [labels["best"]] if labels and better else [],
        record.best_step if better else None,
    )


def _after(news: News, observation: Observation, counters: Properties) -> News:
    """How things stand once an observation is recorded."""
    pending = tuple(one for one in news.pending if one.step != observation.step)
    record = replace(_counted(news.record, counters), pending=len(pending))
    return News(record, (*news.observations, observation), pending)


def _counted(record: RunRecord, counters: Properties) -> RunRecord:
    return replace(record, **{RECORD_NAMES[name]: value for name, value in counters.items()})


# Another report of a step that has its value, or its failure, already


def _tell_again(report: Report, news: News, before: Properties) -> tuple[Told, Sequence[Write]]:
    observation = as_observation(before)
    if report.value == before.get("value"):
        return Told("repeated", observation, news), ()
    if report.token is not None:
        return _tell_late(report, news, before)
    if not report.amend or "value" not in before or report.value is None:
        raise _conflict(before, report)
    return _amend(report.value, news, before)


def _tell_late(report: Report, news: News, before: Properties) -> tuple[Told, Sequence[Write]]:
    """A worker that was given up has come back: the first report stays, a value is kept beside it."""
    observation = as_observation(before)
    if report.value is None:
        return Told("repeated", observation, news), ()
    kept = before.get("late", [])
    # The same again is a repeated request.
    new = () if report.value in kept else (KeepLate(before["step"], [*kept, report.value]),)
    return Told("late", observation, news), new


def _conflict(before: Properties, report: Report) -> ValueConflict:
    where = f"step {before['step']} ({show_key(before['key'])})"
    if "value" not in before:
        return ValueConflict(
            f"{where} has failed already ({before.get('error')}): a failure is not replaced"
        )
    advice = (
        "a value is not replaced by a failure"
        if report.value is None
        else "add --amend to replace it"
    )
    return ValueConflict(f"{where} has the value {before['value']} already: {advice}")


def _amend(value: float, news: News, before: Properties) -> tuple[Told, Sequence[Write]]:
    """``news`` holds the whole history: which value is the best after one was changed depends on all of them."""
    record = news.record
    amended = as_observation(before | {"value": value})
    others = tuple(one for one in news.observations if one.step != amended.step)
    best = _best((*others, amended), record)
    counters: Properties = {
        "amended": record.amended + 1,
        "bestStep": best.step,
        "bestValue": best.value,
    }
    node = node_properties(record.prefix, before | {"value": value})
    writes = (
        Amend(amended.step, {"value": value}, node, counters),
        *_move_best(record, best.step),
    )
    observations = tuple(sorted((*others, amended), key=lambda one: one.seq))
    return (
        Told("amended", amended, News(_counted(record, counters), observations, news.pending)),
        writes,
    )


def _best(observations: Sequence[Observation], record: RunRecord) -> Observation:
    """The best of some observations, at least one of which has a value; the earliest of equals."""
    best: Observation | None = None
    for one in sorted(observations, key=lambda one: one.seq):
        if one.value is not None and record.beats(one.value, best.value if best else None):
            best = one
    assert best is not None  # noqa: S101 - a value was just amended
    return best


def _move_best(record: RunRecord, step: int | None) -> Sequence[Write]:
    if not record.labelled or step is None or step == record.best_step:
        return ()
    return (MoveBest(record.best_step, step, written_labels(record.prefix)["best"]),)


# Values that were known before


def decide_known(
    values: Mapping[NodeKey, float], known: Mapping[NodeKey, bool], record: RunRecord, view: View
) -> tuple[int, Sequence[Write]]:
    """How many of these values are new, and what to write for them.

    Args:
        values: by node.
        known: of those of the nodes that exist, whether the run has anything for them.
        record: the run.
        view: its view.

    Raises:
        NoSuchNode: a key that matches no node.
    """
    missing = [key for key in values if key not in known]
    if missing:
        raise NoSuchNode(
            f"no node of {view} has the key {show_key(missing[0])}: no value was recorded"
        )
    rows, best = [], record
    for number, key in enumerate((key for key in values if not known[key]), start=1):
        told = {
            "run": record.name,
            "step": -(record.warm + number),
            "seq": record.seq + number,
            "value": values[key],
            "source": "warm",
        }
        node = node_properties(record.prefix, told)
        rows.append({"key": key, "properties": told, "node": node})
        if best.beats(values[key], best.best_value):
            best = replace(best, best_step=-(record.warm + number), best_value=values[key])
    if not rows:
        return 0, ()
    counters: Properties = {"seq": record.seq + len(rows), "warm": record.warm + len(rows)}
    if best.best_step != record.best_step:
        counters |= {"bestStep": best.best_step, "bestValue": best.best_value}
    labels = [written_labels(record.prefix)["observed"]] if record.labelled else []
    return len(rows), (Warm(rows, labels, counters), *_move_best(record, best.best_step))
