"""Runs in a database: the rules of asking and telling, the same for every store.

A store contributes a ``Ledger``: one write transaction at a time that holds the run's lock. What may happen in it is
decided here.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from graphbo.errors import (
    InvalidName,
    NoSuchNode,
    NoSuchRun,
    NotAsked,
    PrefixTaken,
    RunExists,
    ValueConflict,
)
from graphbo.stores.assemble import show_key
from graphbo.stores.faults import reach
from graphbo.types import Candidate, NodeKey, Observation, Pending, Proposal, View, check_name

__all__ = [
    "AskAnswer",
    "Ledger",
    "News",
    "RunBook",
    "RunRecord",
    "RunState",
    "Situation",
    "Told",
    "region_properties",
    "written_labels",
    "written_properties",
]

SCHEMA = 1

# Who holds a lock, for people who look at it.
_BY_HAND, _WARM, _RELEASE, _ANNOTATION = "by hand", "warm start", "release", "annotation"
_NO_NEWS = 2**62

RunState: TypeAlias = Literal["running", "stopped", "finished"]

#: What became of a request: a new node; the answer to a request that was repeated; somebody's abandoned node; or
#: nothing, because the budget is used up, the run has ended, or every candidate is taken.
AskOutcome: TypeAlias = Literal["new", "repeated", "taken over", "budget", "ended", "taken"]

#: What became of a value: recorded; known already; kept beside the one that was told first; or changed.
TellOutcome: TypeAlias = Literal["recorded", "repeated", "late", "amended"]

Properties: TypeAlias = dict[str, Any]
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class RunRecord:
    """A run as the database has it.

    Attributes:
        steps: how many nodes were asked for.
        seq: how many values, failures and known values were told.
        told, failed, warm: of these, how many are which; ``told`` and ``failed`` count towards the budget.
        pending: how many nodes are being measured.
        amended: how often a value was changed afterwards.
    """

    name: str
    maximize: bool
    view: View
    config: Mapping[str, Any]
    seed: int
    prefix: str
    labelled: bool = True
    budget: int | None = None
    state: RunState = "running"
    schema: int = SCHEMA
    steps: int = 0
    seq: int = 0
    told: int = 0
    failed: int = 0
    warm: int = 0
    amended: int = 0
    best_step: int | None = None
    best_value: float | None = None
    pending: int = 0
    started_at: str = ""
    updated_at: str = ""

    @property
    def evaluations(self) -> int:
        """What has been used of the budget."""
        return self.told + self.failed

    @property
    def left(self) -> float:
        """How many nodes may still be asked for."""
        return math.inf if self.budget is None else self.budget - self.evaluations - self.pending

    def beats(self, value: float, other: float | None) -> bool:
        """Whether a value is better than another."""
        return other is None or (value > other if self.maximize else value < other)


@dataclass(frozen=True)
class News:
    """A run and what happened in it."""

    record: RunRecord
    observations: tuple[Observation, ...] = ()
    pending: tuple[Pending, ...] = ()


@dataclass(frozen=True)
class AskAnswer:
    """What a request got; ``news`` is how things stood when it was decided."""

    outcome: AskOutcome
    pending: Pending | None
    news: News


@dataclass(frozen=True)
class Told:
    """What became of a value; ``news`` includes it."""

    outcome: TellOutcome
    observation: Observation
    news: News


@dataclass(frozen=True)
class Situation:
    """What a locked run looks like: all that asking and telling depend on.

    Attributes:
        run: the run's properties.
        pending: properties of what is being measured, with ``key`` and ``left`` (milliseconds of lease, or None).
        free: the first candidate that nobody has, by its position.
        told: properties of what was told for the step or the node in question, with ``key``.
        news: properties of what was told since, with ``key``.
    """

    run: Properties
    pending: list[Properties]
    free: int | None = None
    told: list[Properties] | None = None
    news: list[Properties] | None = None


@dataclass(frozen=True)
class Mark:
    """What people see on a node.

    Attributes:
        node: its properties; those that are None are removed.
        add, remove: its labels.
    """

    key: NodeKey
    node: Properties
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class Ledger(Protocol):
    """One write transaction. ``look`` takes the run's lock and is called first; then at most a few of the others."""

    def look(
        self,
        view: View,
        *,
        token: str,
        candidates: Sequence[NodeKey] = (),
        step: int | None = None,
        key: NodeKey | None = None,
        since: int,
    ) -> Situation | None:
        """Lock the run and look at it; None if there is none."""

    def ask(
        self,
        view: View,
        key: NodeKey,
        pending: Properties,
        lease: float | None,
        counters: Properties,
    ) -> None:
        """Hand a node out."""

    def take_over(self, step: int, worker: str, token: str, lease: float | None) -> None:
        """Hand out what somebody stopped measuring."""

    def observe(
        self,
        step: int,
        observed: Properties,
        node: Properties,
        labels: Sequence[str],
        counters: Properties,
    ) -> None:
        """Turn what is pending into what is observed."""

    def fail(self, step: int, failed: Properties, counters: Properties) -> None:
        """Turn what is pending into what has failed."""

    def release(self, step: int) -> None:
        """Take back what was handed out."""

    def amend(
        self, step: int, observed: Properties, node: Properties, counters: Properties
    ) -> None:
        """Change what was observed."""

    def mark_best(self, old: int | None, new: int, label: str) -> None:
        """Move the label of the best node."""

    def known(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, bool]:
        """For each of these nodes that exists, whether the run has anything for it."""

    def warm(
        self,
        view: View,
        rows: Sequence[tuple[NodeKey, Properties, Properties]],
        labels: Sequence[str],
        counters: Properties,
    ) -> None:
        """Record (key, what is observed, node properties) for values that were known before."""

    def annotate(self, view: View, marks: Sequence[Mark]) -> None:
        """Write what people see on these nodes, in one batch."""

    def mark_region(
        self,
        view: View,
        rows: Sequence[tuple[NodeKey, Properties]],
        nothing: Properties,
        labels: Sequence[str],
    ) -> None:
        """Write (key, node properties) and labels in one batch, in place of those that an earlier call wrote."""


class RunRows(Protocol):
    """What a store does for runs beside the ledger."""

    def transact(
        self, run: str, work: Callable[[Ledger], Answer], *, survives_power_cut: bool = True
    ) -> Answer:
        """Run ``work`` in one write transaction, again if the database asks for it.

        What need not survive a power cut may be lost in one, unless something later was kept.
        """

    def create_run(self, properties: Properties) -> bool:
        """Create the schema and the run; False if its name or its prefix is taken."""

    def list_runs(self, name: str | None = None) -> list[tuple[Properties, int]]:
        """Properties of all runs, or of one, and how many nodes each has pending."""

    def read_news(self, run: str, view: View, since: int) -> Situation | None:
        """The run, its pending nodes and what was told since, without a lock, from where it is written."""

    def renew(self, run: str, tokens: Sequence[str], lease: float) -> list[int]:
        """Extend leases; the steps that were still there."""

    def set_run(self, run: str, properties: Properties) -> None:
        """Change properties of the run."""

    def clean_run(self, run: str, view: View, node: Properties, labels: Sequence[str]) -> None:
        """Remove every trace of the run, and the schema with the last one."""


def written_properties(prefix: str) -> dict[str, str]:
    """What each belief is called as a node property."""
    names = ("value", "step", "mean", "std", "acquisition")
    return {name: f"{prefix}{name.capitalize()}" for name in names}


def region_properties(prefix: str) -> dict[str, str]:
    """What each belief of now is called on the nodes of the region; that of then has another name.

    None of the names ends like one of ``written_properties``: two prefixes never give the same name.
    """
    return {name: f"{prefix}{name.capitalize()}Now" for name in ("mean", "std", "acquisition")}


def _all_properties(prefix: str) -> list[str]:
    return [*written_properties(prefix).values(), *region_properties(prefix).values()]


def written_labels(prefix: str) -> dict[str, str]:
    """The labels of nodes that are observed, the best, being measured, or in the region."""
    return {
        name: f"{prefix[:1].upper()}{prefix[1:]}{name.capitalize()}"
        for name in ("observed", "best", "pending", "region")
    }


class RunBook:
    """The runs of a store: create, ask, tell, look, clean."""

    def __init__(self, rows: RunRows) -> None:
        self._rows = rows

    def create(self, record: RunRecord) -> RunRecord:
        """Start a run. Without a prefix of its own it gets the first free one of graphbo, graphbo2, ….

        Raises:
            RunExists, PrefixTaken: its name or its prefix is taken.
            InvalidName: its name or its prefix cannot be used.
        """
        check_name(record.name, "run name")
        wanted = [record.prefix] if record.prefix else _free_prefixes()
        for prefix in wanted:
            for name in (*_all_properties(prefix), *written_labels(prefix).values()):
                check_name(name, "write prefix")
            if not prefix.isidentifier():
                raise InvalidName(
                    f"the write prefix {ascii(prefix)[:60]} is not a word: use letters and digits"
                )
            if self._rows.create_run(_run_properties(replace(record, prefix=prefix))):
                return self.get(record.name)
            if self._rows.list_runs(record.name):
                raise RunExists(
                    f"there is a run {record.name!r} already: resume it, or choose another --name"
                )
        owners = [
            run["name"] for run, _ in self._rows.list_runs() if run["prefix"] == record.prefix
        ]
        raise PrefixTaken(
            f"the run {owners[0] if owners else '?'!r} writes properties of the prefix {record.prefix!r}: choose "
            "another --write-prefix, or remove that run with `graphbo clean`"
        )

    def get(self, name: str) -> RunRecord:
        """The run of that name.

        Raises:
            NoSuchRun: there is none.
        """
        found = self._rows.list_runs(name)
        if not found:
            raise self._no_such_run(name)
        return _record(*found[0])

    def find(self, name: str) -> RunRecord | None:
        """The run of that name, if there is one."""
        found = self._rows.list_runs(name)
        return _record(*found[0]) if found else None

    def all(self) -> list[RunRecord]:
        """All runs, oldest first."""
        return [_record(run, pending) for run, pending in self._rows.list_runs()]

    def written(self) -> frozenset[str]:
        """The names of the node properties that any run writes: what people and objectives should not see as data."""
        runs = self._rows.list_runs()
        return frozenset(name for run, _ in runs for name in _all_properties(run["prefix"]))

    def news(self, name: str, view: View, since: int = 0) -> News:
        """How a run stands, with what was told since.

        Raises:
            NoSuchRun: there is none.
        """
        situation = self._rows.read_news(name, view, since)
        if situation is None:
            raise self._no_such_run(name)
        return _news(situation)

    def ask(
        self,
        name: str,
        view: View,
        proposal: Proposal,
        *,
        token: str,
        worker: str,
        lease: float | None,
        since: int = 0,
        adopt: Sequence[str] = (),
    ) -> AskAnswer:
        """Hand out the first free candidate of a proposal, or what somebody stopped measuring.

        Args:
            name: the run.
            view: its view.
            proposal: the candidates, best first.
            token: names this request; asking again with it gives the same answer.
            worker: who asks.
            lease: seconds until others may take the node over; None for as long as it takes.
            since: the seq up to which the caller knows the history.
            adopt: tokens of requests whose workers are known to be dead.

        Raises:
            NoSuchRun: there is none.
        """

        def work(ledger: Ledger) -> AskAnswer | None:
            keys = [candidate.key for candidate in proposal.candidates]
            situation = ledger.look(view, token=token, candidates=keys, since=since)
            if situation is None:
                return None
            answer = _decide_ask(ledger, situation, view, proposal, token, worker, lease, adopt)
            reach("ask.before_commit")
            return answer

        # Where there is a lease, a power cut that loses the request has ended the worker as well.
        answer = self._rows.transact(name, work, survives_power_cut=lease is None)
        reach("ask.after_commit")
        if answer is None:
            raise self._no_such_run(name)
        return answer

    def tell(
        self,
        name: str,
        view: View,
        *,
        value: float | None,
        step: int | None = None,
        key: NodeKey | None = None,
        token: str | None = None,
        error: str | None = None,
        attempts: int = 1,
        amend: bool = False,
        since: int = 0,
    ) -> Told:
        """Record what was measured at a step, or at a node: a value, or an error.

        The first value told for a step wins. A worker, who gives its token, may come late: what it says is kept beside
        the first value. A person may not contradict it without ``amend``.

        Raises:
            NoSuchRun: there is none.
            NotAsked: nobody asked for that step or node.
            ValueConflict: another value was told before.
        """

        def work(ledger: Ledger) -> Told | None:
            # Which value is the best after one was changed depends on all of them.
            known = 0 if amend else since
            situation = ledger.look(view, token=token or _BY_HAND, step=step, key=key, since=known)
            if situation is None:
                return None
            report = _Report(value, error, attempts, token, amend)
            answer = _decide_tell(ledger, situation, report, step, key)
            reach("tell.before_commit")
            return answer

        answer = self._rows.transact(name, work)
        reach("tell.after_commit")
        if answer is None:
            raise self._no_such_run(name)
        return answer

    def tell_known(self, name: str, view: View, values: Mapping[NodeKey, float]) -> int:
        """Record values that were known beforehand, at no cost; nodes that the run knows are left alone.

        Returns:
            How many were new.

        Raises:
            NoSuchRun: there is none.
            NoSuchNode: a key that matches no node.
        """

        def work(ledger: Ledger) -> int | None:
            situation = ledger.look(view, token=_WARM, since=_NO_NEWS)
            return None if situation is None else _record_known(ledger, situation, view, values)

        count = self._rows.transact(name, work)
        if count is None:
            raise self._no_such_run(name)
        return count

    def release(
        self, name: str, view: View, *, step: int | None = None, key: NodeKey | None = None
    ) -> Pending:
        """Take back a node that was handed out: it may be asked for again.

        Raises:
            NoSuchRun: there is none.
            NotAsked: nobody asked for that step or node.
        """

        def work(ledger: Ledger) -> Pending | None:
            situation = ledger.look(view, token=_RELEASE, since=_NO_NEWS)
            if situation is None:
                return None
            found = _find_pending(situation, step, key)
            if found is None:
                raise _not_asked(situation, step, key)
            ledger.release(found["step"])
            return _pending(found)

        released = self._rows.transact(name, work)
        if released is None:
            raise self._no_such_run(name)
        return released

    def renew(self, name: str, tokens: Sequence[str], lease: float) -> list[int]:
        """Extend the leases of a worker's nodes; the steps that it still holds."""
        return self._rows.renew(name, tokens, lease)

    def set_state(self, name: str, state: RunState) -> None:
        """Stop, finish or continue a run."""
        self.get(name)
        self._rows.set_run(name, {"state": state})

    def set_budget(self, name: str, budget: int | None) -> None:
        """Change how many evaluations a run may use."""
        self.get(name)
        self._rows.set_run(name, {"budget": budget})

    def annotate(self, name: str, view: View, region: Sequence[Candidate] | None = None) -> News:
        """Write the properties and labels of a run's nodes again, from its record.

        Args:
            name: the run.
            view: its view.
            region: the nodes of the current region with what is believed of them now: written as well, in place of
                what was there before.

        Returns:
            What is marked.

        Raises:
            NoSuchRun: there is none.
        """

        def work(ledger: Ledger) -> News | None:
            situation = ledger.look(view, token=_ANNOTATION, since=0)
            if situation is None:
                return None
            news = _news(situation)
            ledger.annotate(view, _marks(news))
            if region is not None:
                _mark_region(ledger, news.record, view, region)
            return news

        news = self._rows.transact(name, work)
        if news is None:
            raise self._no_such_run(name)
        return news

    def clean(self, name: str) -> RunRecord:
        """Remove every trace of a run from the database.

        Raises:
            NoSuchRun: there is none.
        """
        record = self.get(name)
        nothing: Properties = dict.fromkeys(_all_properties(record.prefix))
        labels = list(written_labels(record.prefix).values()) if record.labelled else []
        self._rows.clean_run(name, record.view, nothing, labels)
        return record

    def _no_such_run(self, name: str) -> NoSuchRun:
        names = [run["name"] for run, _ in self._rows.list_runs()]
        known = f"there are {', '.join(map(repr, names[:8]))}" if names else "there is none yet"
        return NoSuchRun(f"there is no run {ascii(name)[:80]} in this database: {known}")


def _free_prefixes() -> list[str]:
    return ["graphbo", *(f"graphbo{number}" for number in range(2, 1000))]


# Asking


def _decide_ask(
    ledger: Ledger,
    situation: Situation,
    view: View,
    proposal: Proposal,
    token: str,
    worker: str,
    lease: float | None,
    adopt: Sequence[str],
) -> AskAnswer:
    news = _news(situation)
    for mine in situation.pending:
        if mine["token"] == token:
            return AskAnswer("repeated", _pending(mine), news)
    if news.record.state != "running":
        return AskAnswer("ended", None, news)
    for other in situation.pending:
        # Who asks is alive: what it holds is late, not abandoned.
        expired = other["left"] is not None and other["left"] < 0 and other["worker"] != worker
        if expired or other["token"] in adopt:
            ledger.take_over(other["step"], worker, token, lease)
            taken = other | {"worker": worker, "token": token, "left": _milliseconds(lease)}
            return AskAnswer("taken over", _pending(taken), news)
    if news.record.left <= 0:
        return AskAnswer("budget", None, news)
    if situation.free is None:
        return AskAnswer("taken", None, news)
    return AskAnswer(
        "new", _hand_out(ledger, news, view, proposal, situation.free, token, worker, lease), news
    )


def _hand_out(
    ledger: Ledger,
    news: News,
    view: View,
    proposal: Proposal,
    position: int,
    token: str,
    worker: str,
    lease: float | None,
) -> Pending:
    candidate = proposal.candidates[position]
    step = news.record.steps + 1
    pending = Pending(step, candidate, proposal, worker, token, lease)
    properties = _belief_properties(candidate, proposal) | {
        "run": news.record.name,
        "step": step,
        "worker": worker,
        "token": token,
    }
    if news.record.labelled:
        # Kept with the request: whatever ends it takes the label off, in the same statement.
        properties["label"] = written_labels(news.record.prefix)["pending"]
    ledger.ask(view, candidate.key, properties, lease, {"steps": step})
    return pending


# Telling


@dataclass(frozen=True)
class _Report:
    value: float | None
    error: str | None
    attempts: int
    token: str | None
    amend: bool


def _decide_tell(
    ledger: Ledger, situation: Situation, report: _Report, step: int | None, key: NodeKey | None
) -> Told:
    found = _find_pending(situation, step, key)
    if found is None:
        return _tell_again(ledger, situation, report, step, key)
    news = _news(situation)
    record = news.record
    seq = record.seq + 1
    told = {name: found[name] for name in found if name in _BELIEFS} | {
        "run": record.name,
        "step": found["step"],
        "seq": seq,
    }
    if report.value is None:
        told |= {"error": report.error or "failed", "attempts": report.attempts}
        counters: Properties = {"seq": seq, "failed": record.failed + 1}
        ledger.fail(found["step"], told, counters)
    else:
        told |= {"value": report.value, "source": "run"}
        counters = {"seq": seq, "told": record.told + 1} | _best_counters(
            record, report.value, found["step"]
        )
        _observe(ledger, record, found["step"], told, counters)
    observation = _observation(told | {"key": found["key"]})
    return Told("recorded", observation, _after(news, observation, counters, found["step"]))


def _observe(
    ledger: Ledger, record: RunRecord, step: int, told: Properties, counters: Properties
) -> None:
    labels = written_labels(record.prefix) if record.labelled else {}
    observed = [labels["observed"]] if labels else []
    ledger.observe(step, told, _node_properties(record.prefix, told), observed, counters)
    if labels and "bestStep" in counters:
        ledger.mark_best(record.best_step, step, labels["best"])


def _best_counters(record: RunRecord, value: float, step: int) -> Properties:
    return {"bestStep": step, "bestValue": value} if record.beats(value, record.best_value) else {}


def _after(news: News, observation: Observation, counters: Properties, step: int) -> News:
    """How things stand once an observation is recorded."""
    changes = {_RECORD_NAMES[name]: value for name, value in counters.items()}
    pending = tuple(one for one in news.pending if one.step != step)
    record = replace(news.record, **changes, pending=len(pending))
    return News(record, (*news.observations, observation), pending)


def _tell_again(
    ledger: Ledger, situation: Situation, report: _Report, step: int | None, key: NodeKey | None
) -> Told:
    """A step that has its value, or its failure, already."""
    if not situation.told:
        raise _not_asked(situation, step, key)
    before, news = situation.told[0], _news(situation)
    observation = _observation(before)
    same = before.get("value") == report.value
    if same or (report.value is None and report.token is not None):
        return Told("repeated", observation, news)
    if report.token is not None:
        late = {"late": [*before.get("late", []), report.value]}
        if "value" in before:
            ledger.amend(before["step"], late, {}, {})
        return Told("late", observation, news)
    if not report.amend or "value" not in before or report.value is None:
        raise _conflict(before, report)
    return _amend(ledger, news, before, report.value)


def _conflict(before: Properties, report: _Report) -> ValueConflict:
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


def _amend(ledger: Ledger, news: News, before: Properties, value: float) -> Told:
    amended = _observation(before | {"value": value})
    record = news.record
    others = tuple(one for one in news.observations if one.step != amended.step)
    best = _best((*others, amended), record)
    counters: Properties = {
        "amended": record.amended + 1,
        "bestStep": best.step,
        "bestValue": best.value,
    }
    node = _node_properties(record.prefix, before | {"value": value})
    ledger.amend(amended.step, {"value": value}, node, counters)
    if record.labelled and best.step != record.best_step:
        ledger.mark_best(record.best_step, best.step, written_labels(record.prefix)["best"])
    changes = {_RECORD_NAMES[name]: item for name, item in counters.items()}
    observations = tuple(sorted((*others, amended), key=lambda one: one.seq))
    return Told("amended", amended, News(replace(record, **changes), observations, news.pending))


def _best(observations: Sequence[Observation], record: RunRecord) -> Observation:
    """The best of some observations, at least one of which has a value; the earliest of equals."""
    best: Observation | None = None
    for one in sorted(observations, key=lambda one: one.seq):
        if one.value is not None and record.beats(one.value, best.value if best else None):
            best = one
    assert best is not None  # noqa: S101 - a value was just amended
    return best


def _record_known(
    ledger: Ledger, situation: Situation, view: View, values: Mapping[NodeKey, float]
) -> int:
    record = _news(situation).record
    known = ledger.known(view, list(values))
    missing = [key for key in values if key not in known]
    if missing:
        raise NoSuchNode(
            f"no node of {view} has the key {show_key(missing[0])}: no value was recorded"
        )
    labels = written_labels(record.prefix) if record.labelled else {}
    rows, best = [], record
    for number, key in enumerate((key for key in values if not known[key]), start=1):
        step, value = -(record.warm + number), values[key]
        told = {
            "run": record.name,
            "step": step,
            "seq": record.seq + number,
            "value": value,
            "source": "warm",
        }
        rows.append((key, told, _node_properties(record.prefix, told)))
        if best.beats(value, best.best_value):
            best = replace(best, best_step=step, best_value=value)
    if not rows:
        return 0
    counters = {"seq": record.seq + len(rows), "warm": record.warm + len(rows)}
    if best.best_step != record.best_step:
        counters |= {"bestStep": best.best_step, "bestValue": best.best_value}  # type: ignore[dict-item]
    ledger.warm(view, rows, [labels["observed"]] if labels else [], counters)
    if labels and best.best_step is not None and best.best_step != record.best_step:
        ledger.mark_best(record.best_step, best.best_step, labels["best"])
    return len(rows)


# Annotating


def _marks(news: News) -> list[Mark]:
    """What people should see on every node that the run has touched."""
    record = news.record
    labels = written_labels(record.prefix) if record.labelled else {}

    def mark(key: NodeKey, told: Properties, *wanted: str) -> Mark:
        names = written_properties(record.prefix)
        return Mark(
            key,
            {names[name]: told.get(name) for name in names},
            tuple(label for what, label in labels.items() if what in wanted),
            tuple(labels[what] for what in _TOLD_LABELS if what in labels and what not in wanted),
        )

    marks = [mark(one.key, {}, "pending") for one in news.pending]
    for one in news.observations:
        best = ("best",) if one.step == record.best_step else ()
        told = () if one.failed else ("observed", *best)
        marks.append(mark(one.key, {} if one.failed else asdict(one), *told))
    return marks


#: Those that follow from the record; the region is the model's.
_TOLD_LABELS = ("observed", "best", "pending")


def _mark_region(
    ledger: Ledger, record: RunRecord, view: View, region: Sequence[Candidate]
) -> None:
    names = region_properties(record.prefix)
    rows = [
        (
            one.key,
            _without_nothing({names[what]: _finite(getattr(one, what)) for what in names}),
        )
        for one in region
    ]
    labels = [written_labels(record.prefix)["region"]] if record.labelled else []
    ledger.mark_region(view, rows, dict.fromkeys(names.values()), labels)


def _find_pending(situation: Situation, step: int | None, key: NodeKey | None) -> Properties | None:
    for one in situation.pending:
        if one["step"] == step or (key is not None and one["key"] == key):
            return one
    return None


def _not_asked(situation: Situation, step: int | None, key: NodeKey | None) -> NotAsked:
    what = f"step {step}" if step is not None else show_key(key)
    waiting = ", ".join(f"{one['step']} ({show_key(one['key'])})" for one in situation.pending[:5])
    return NotAsked(
        f"nobody asked for {what}: "
        + (
            f"pending are {waiting}"
            if waiting
            else "nothing is pending; ask first with `graphbo ask`"
        )
    )


# Between the database's properties and our values

_BELIEFS = ("mean", "std", "acquisition", "restart", "phase", "modelled", "theta")

_RECORD_NAMES = {
    "steps": "steps",
    "seq": "seq",
    "told": "told",
    "failed": "failed",
    "warm": "warm",
    "amended": "amended",
    "bestStep": "best_step",
    "bestValue": "best_value",
}


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1e3 * seconds


def _finite(value: float | None) -> float | None:
    """Beliefs that are not finite are left out: not every database can hold them."""
    return value if value is not None and math.isfinite(value) else None


def _without_nothing(properties: Properties) -> Properties:
    return {name: value for name, value in properties.items() if value is not None}


def _belief_properties(candidate: Candidate, proposal: Proposal) -> Properties:
    return _without_nothing(
        {
            "mean": _finite(candidate.mean),
            "std": _finite(candidate.std),
            "acquisition": _finite(candidate.acquisition),
            "restart": proposal.restart,
            "phase": proposal.phase,
            "modelled": list(proposal.modelled),
            "theta": list(proposal.theta),
        }
    )


def _node_properties(prefix: str, told: Properties) -> Properties:
    names = written_properties(prefix)
    return _without_nothing({names[name]: told.get(name) for name in names})


def _run_properties(record: RunRecord) -> Properties:
    return _without_nothing(
        {
            "name": record.name,
            "direction": "maximize" if record.maximize else "minimize",
            "state": record.state,
            "view": json.dumps(asdict(record.view), ensure_ascii=False),
            "config": json.dumps(dict(record.config), ensure_ascii=False),
            "seed": record.seed,
            "schema": record.schema,
            "prefix": record.prefix,
            "labelled": record.labelled,
            "budget": record.budget,
            **{name: getattr(record, field) for name, field in _RECORD_NAMES.items()},
        }
    )


def _record(run: Properties, pending: int) -> RunRecord:
    view = json.loads(run["view"])
    return RunRecord(
        name=run["name"],
        maximize=run["direction"] == "maximize",
        view=View(**view | {name: tuple(view[name]) for name in ("labels", "relationships")}),
        config=json.loads(run["config"]),
        seed=run["seed"],
        prefix=run["prefix"],
        labelled=run["labelled"],
        budget=run.get("budget"),
        state=run["state"],
        schema=run["schema"],
        **{field: run.get(name) for name, field in _RECORD_NAMES.items()},  # type: ignore[arg-type]
        pending=pending,
        started_at=str(run.get("startedAt", "")),
        updated_at=str(run.get("updatedAt", "")),
    )


def _news(situation: Situation) -> News:
    return News(
        record=_record(situation.run, len(situation.pending)),
        observations=tuple(_observation(one) for one in situation.news or ()),
        pending=tuple(_pending(one) for one in situation.pending),
    )


def _proposal(properties: Properties, candidate: Candidate) -> Proposal:
    return Proposal(
        candidates=(candidate,),
        phase=properties.get("phase", "initial"),
        restart=properties.get("restart", 0),
        modelled=tuple(properties.get("modelled", ())),
        theta=tuple(properties.get("theta", ())),
    )


def _pending(properties: Properties) -> Pending:
    candidate = Candidate(
        properties["key"],
        properties.get("mean"),
        properties.get("std"),
        properties.get("acquisition"),
    )
    left = properties.get("left")
    return Pending(
        step=properties["step"],
        candidate=candidate,
        proposal=_proposal(properties, candidate),
        worker=properties["worker"],
        token=properties["token"],
        lease_left=None if left is None else left / 1e3,
        at=str(properties.get("at", "")),
    )


def _observation(properties: Properties) -> Observation:
    return Observation(
        step=properties["step"],
        seq=properties["seq"],
        key=properties["key"],
        value=properties.get("value"),
        mean=properties.get("mean"),
        std=properties.get("std"),
        acquisition=properties.get("acquisition"),
        restart=properties.get("restart", 0),
        phase=properties.get("phase", "initial"),
        modelled=tuple(properties.get("modelled", ())),
        theta=tuple(properties.get("theta", ())),
        source=properties.get("source", "run"),
        at=str(properties.get("at", "")),
        error=properties.get("error"),
    )
