"""The rules of telling: what becomes of a value, and which node is the best. Pure: they say what to write."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from graphbo.errors import NoSuchNode, NotAsked, ValueConflict
from graphbo.runs.encoding import (
    RECORD_NAMES,
    as_observation,
    belief_properties,
    node_properties,
    without_nothing,
)
from graphbo.runs.records import News, RunRecord, Told
from graphbo.runs.written_names import in_use, names_of, written_labels
from graphbo.stores.log import (
    Amend,
    Fail,
    Found,
    MoveBest,
    Observe,
    Properties,
    Retry,
    Revise,
    Warm,
    Write,
)
from graphbo.stores.subgraphs import show_key
from graphbo.types import NodeKey, Observation, Pending, View

__all__ = [
    "Report",
    "conclude",
    "decide_known",
    "decide_retry",
    "decide_tell",
    "find_pending",
    "not_asked",
    "stamped",
]


@dataclass(frozen=True)
class Report:
    """Somebody tells what was measured, at a step or at a node.

    Attributes:
        value: what it was; None if it failed.
        error, attempts: of a failure.
        token: of the request that a worker answers; people have none.
        amend: whether a value that was told before is replaced.
        note: what else there is to say about it.
    """

    step: int | None
    key: NodeKey | None
    value: float | None
    error: str | None = None
    attempts: int = 1
    token: str | None = None
    amend: bool = False
    note: str | None = None


def decide_tell(
    report: Report,
    news: News,
    told_before: Sequence[Properties] = (),
    held: Collection[str] = (),
) -> tuple[Told, Sequence[Write]]:
    """What becomes of a report, and what to write for it.

    Args:
        report: what somebody tells.
        news: how the run stands.
        told_before: what was told for the step or the node.
        held: the names of the properties and labels that the node has.

    Raises:
        NotAsked: nobody asked for that step or node.
        ValueConflict: a person contradicts what was told before.
    """
    pending = find_pending(news, report.step, report.key)
    if pending is not None:
        told, write = conclude(report, news, pending, held)
        return told, (write,)
    if not told_before:
        raise not_asked(news, report.step, report.key)
    return _tell_again(report, news, told_before[0], held)


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


def conclude(
    report: Report, news: News, pending: Pending, held: Collection[str] = ()
) -> tuple[Told, Fail | Observe]:
    """What becomes of the first report of a step. ``held`` are the names that its node has."""
    record = news.record
    told = belief_properties(pending.candidate, pending.proposal) | {
        "run": record.name,
        "step": pending.step,
        "seq": record.seq + 1,
    }
    told |= without_nothing({"note": report.note})
    if report.value is None:
        write: Fail | Observe = _failure(report, record, told)
        names: tuple[str, ...] = ()
    else:
        # The label of what is pending is the run's own.
        names = in_use(_names_to_write(record), held)
        counters = {"seq": told["seq"], "told": record.told + 1}
        write = _observation(told | {"value": report.value}, record, counters, names)
    observation = as_observation(write.properties | {"key": pending.key})
    return Told("recorded", observation, _after(news, observation, write.counters), names), write


def _names_to_write(record: RunRecord) -> set[str]:
    return names_of(record) - {written_labels(record.prefix)["pending"]}


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
    record = replace(_counted(news.record, counters), pending=len(pending))
    return News(record, (*news.observations, observation), pending)


def _counted(record: RunRecord, counters: Properties) -> RunRecord:
    return replace(record, **{RECORD_NAMES[name]: value for name, value in counters.items()})


# Another report of a step that has its value, or its failure, already


def _tell_again(
    report: Report, news: News, before: Properties, held: Collection[str]
) -> tuple[Told, Sequence[Write]]:
    observation = as_observation(before)
    if report.value == before.get("value"):
        return Told("repeated", observation, news), ()
    if report.token is not None:
        return _tell_late(report, news, before)
    if report.value is not None and "value" not in before:
        return _mend(report, report.value, news, before, held)
    if not report.amend or report.value is None:
        raise _conflict(before, report)
    return _amend(report, report.value, news, before)


def _mend(
    report: Report, value: float, news: News, before: Properties, held: Collection[str]
) -> tuple[Told, Sequence[Write]]:
    """A value in place of a failure, which stays beside it: the step has its error and its value."""
    record = news.record
    names = in_use(_names_to_write(record), held)
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
    after = News(_counted(record, write.counters), observations, news.pending)
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
    advice = (
        "a value is not replaced by a failure"
        if report.value is None
        else "add --amend to replace it"
    )
    return ValueConflict(f"{where} has the value {before['value']} already: {advice}")


def _amend(
    report: Report, value: float, news: News, before: Properties
) -> tuple[Told, Sequence[Write]]:
    """``news`` holds the whole history: which value is the best after one was changed depends on all of them."""
    record = news.record
    changed: Properties = {"value": value} | without_nothing({"note": report.note})
    amended = as_observation(before | changed)
    observations = _replaced(news.observations, amended)
    best = _best(observations, record)
    counters: Properties = {
        "amended": record.amended + 1,
        "bestStep": best.step,
        "bestValue": best.value,
    }
    # What the run did not write on the node when it was measured, it does not write now.
    node = {} if before.get("unwritten") else node_properties(record.prefix, before | changed)
    writes = (
        Amend(amended.step, changed, node, counters),
        *_move_best(record, best.step, unwritten=best.unwritten),
    )
    after = News(_counted(record, counters), observations, news.pending)
    return Told("amended", amended, after), writes


def _best(observations: Sequence[Observation], record: RunRecord) -> Observation:
    """The best of some observations, at least one of which has a value; the earliest of equals."""
    best: Observation | None = None
    for one in sorted(observations, key=lambda one: one.seq):
        if one.value is not None and record.beats(one.value, best.value if best else None):
            best = one
    assert best is not None  # noqa: S101 - a value was just amended
    return best


def _move_best(record: RunRecord, step: int | None, *, unwritten: bool = False) -> Sequence[Write]:
    if not record.labelled or unwritten or step is None or step == record.best_step:
        return ()
    return (MoveBest(record.best_step, step, written_labels(record.prefix)["best"]),)


# Values that were known before


def decide_known(
    values: Mapping[NodeKey, float],
    nodes: Mapping[NodeKey, Sequence[Found]],
    record: RunRecord,
    view: View,
) -> tuple[int, tuple[str, ...], Sequence[Write]]:
    """How many of these values are new, what is in the way of writing them, and what to write.

    Args:
        values: by node.
        nodes: those that have these keys, one for each.
        record: the run.
        view: its view.

    Raises:
        NoSuchNode: a key that matches no node.
    """
    missing = [key for key in values if key not in nodes]
    if missing:
        raise NoSuchNode(
            f"no node of {view} has the key {show_key(missing[0])}: no value was recorded"
        )
    new = {key: nodes[key][0] for key in values if not nodes[key][0].in_run}
    rows, best = [], record
    for number, (key, node) in enumerate(new.items(), start=1):
        names = in_use(_names_to_write(record), node.held)
        if names:
            return 0, names, ()
        told = {
            "run": record.name,
            "step": -(record.warm + number),
            "seq": record.seq + number,
            "value": values[key],
            "source": "warm",
        }
        rows.append(
            {
                "id": node.id,
                "properties": told,
                "node": node_properties(record.prefix, told),
            }
        )
        if best.beats(values[key], best.best_value):
            best = replace(best, best_step=-(record.warm + number), best_value=values[key])
    if not rows:
        return 0, (), ()
    counters: Properties = {"seq": record.seq + len(rows), "warm": record.warm + len(rows)}
    if best.best_step != record.best_step:
        counters |= {"bestStep": best.best_step, "bestValue": best.best_value}
    labels = [written_labels(record.prefix)["observed"]] if record.labelled else []
    return len(rows), (), (Warm(rows, labels, counters), *_move_best(record, best.best_step))


# Failures that are given back


def decide_retry(
    news: News, keys: Sequence[NodeKey] | None
) -> tuple[tuple[Observation, ...], Sequence[Write]]:
    """Which failures are given back for another try, and what to write; ``news`` holds the whole history.

    They count neither towards the budget nor as failures any more. Their record stays.

    Raises:
        NotAsked: a node has not failed.
    """
    record = news.record
    failed = {one.key: one for one in news.observations if one.failed}
    for key in keys or ():
        if key not in failed:
            known = ", ".join(show_key(one) for one in list(failed)[:5]) or "none"
            raise NotAsked(
                f"{show_key(key)} has not failed in the run {record.name!r}: these have: {known}"
            )
    given_back = tuple(one for one in failed.values() if keys is None or one.key in keys)
    if not given_back:
        return (), ()
    counters: Properties = {
        "failed": record.failed - len(given_back),
        "amended": record.amended + 1,
        # There is something left to do.
        "state": "stopped" if record.state == "finished" else record.state,
    }
    return given_back, (Retry([one.step for one in given_back], counters),)
