"""The runs of a store: create, ask, tell, look, clean."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from graphbo.errors import (
    GraphboError,
    InvalidName,
    NameInUse,
    NoSuchRun,
    PrefixTaken,
    ReportRefused,
    RunError,
    RunExists,
)
from graphbo.runs.annotating import decide_marks, decide_prefix, decide_region, unmark
from graphbo.runs.asking import Request, decide_ask
from graphbo.runs.encoding import (
    as_news,
    as_observation,
    as_record,
    as_record_or_reason,
    run_properties,
)
from graphbo.runs.faults import reach
from graphbo.runs.records import (
    AskAnswer,
    News,
    RunRecord,
    RunState,
    Told,
    UnreadableRun,
)
from graphbo.runs.telling import (
    Report,
    decide_known,
    decide_retry,
    decide_tell,
    find_pending,
    not_asked,
    stamped,
)
from graphbo.runs.written_names import all_properties, written_labels
from graphbo.stores import GraphStore
from graphbo.stores.checks import refuse_several
from graphbo.stores.log import (
    ChangeRun,
    DeleteRun,
    Found,
    Free,
    Ledger,
    Look,
    Properties,
    Release,
    RunLog,
    Situation,
    Write,
)
from graphbo.stores.subgraphs import show_key
from graphbo.types import Candidate, NodeKey, Observation, Pending, Proposal, View, check_name

__all__ = ["Cleaned", "RunBook", "runs_in"]

# Who holds a lock, for people who look at it.
_BY_HAND, _WARM, _RELEASE, _RETRY = "by hand", "warm start", "release", "retry"
_ANNOTATION, _FINISH, _PREFIX, _CLEAN = "annotation", "finish", "another prefix", "clean"
_NO_NEWS = 2**62

#: How nodes are called by whoever needs no view: by internal ids, whatever graph a run is of, and whether or not its
#: record can still be read.
_ANY_VIEW = View(("GraphboRun",), ("GRAPHBO_OBSERVED",))

#: Most nodes that are listed at once of what an earlier clean has left.
MOST_STRAYS = 100_000

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Cleaned:
    """What was removed with a run."""

    observations: int
    pending: int
    properties: list[str]
    labels: list[str]


def runs_in(store: GraphStore) -> "RunBook":
    """The runs of a database."""
    return RunBook(store.log)


class RunBook:
    """The runs of a store: create, ask, tell, look, clean."""

    def __init__(self, rows: RunLog) -> None:
        self._rows = rows

    # Runs

    def create(self, record: RunRecord) -> RunRecord:
        """Start a run. Without a prefix of its own it gets the first free one of graphbo, graphbo2, ….

        Raises:
            RunExists, PrefixTaken: its name or its prefix is taken.
            NameInUse: nodes have something of their own under names of that prefix.
            InvalidName: its name or its prefix cannot be used.
        """
        check_name(record.name, "run name")
        while True:
            prefix = self.choose_prefix(record.view, record.prefix)
            if self._rows.create_run(run_properties(replace(record, prefix=prefix))):
                return self.get(record.name)
            # Somebody else was quicker to take the name, or the prefix.
            if self._rows.list_runs(record.name):
                raise RunExists(
                    f"there is a run {record.name!r} already: resume it, or choose another --name"
                )

    def choose_prefix(self, view: View, wanted: str = "") -> str:
        """A prefix whose names nobody uses on the nodes of a view, as far as can be told at a glance.

        Args:
            view: of the run that is to write them.
            wanted: the prefix to use; without it the first free one of graphbo, graphbo2, ….

        Raises:
            PrefixTaken: another run has it.
            NameInUse: nodes have something of their own under one of its names.
            InvalidName: it cannot be used.
        """
        taken = {str(run.get("prefix", "")).casefold(): run for run, _ in self._rows.list_runs()}
        if not wanted:
            numbered = (f"graphbo{number}" for number in itertools.count(2))
            free = (one for one in itertools.chain(["graphbo"], numbered) if one not in taken)
            return next(one for one in free if not self._in_use(view, one))
        for name in (*all_properties(wanted), *written_labels(wanted).values()):
            check_name(name, "write prefix")
        if not wanted.isidentifier():
            raise InvalidName(
                f"the write prefix {ascii(wanted)[:60]} is not a word: use letters and digits"
            )
        if wanted.casefold() in taken:
            other = taken[wanted.casefold()]
            raise PrefixTaken(
                f"the run {other.get('name')!r} has the prefix {other.get('prefix')!r}, whose labels are the same: use "
                f"--write-prefix {self.choose_prefix(view)}, or remove that run with `graphbo clean`"
            )
        names = self._in_use(view, wanted)
        if names:
            raise NameInUse(
                f"nodes of {view} have {_list(names)} of their own, which a run of the prefix {wanted!r} would "
                f"overwrite: use --write-prefix {self.choose_prefix(view)}"
            )
        return wanted

    def _in_use(self, view: View, prefix: str) -> list[str]:
        """The names of a prefix that somebody uses.

        Raises:
            NameInUse: somebody uses a relationship type of runs, which another prefix would not help against.
        """
        properties, labels = all_properties(prefix), list(written_labels(prefix).values())
        used = self._rows.names_in_use(view, properties, labels)
        types = [name for name in used if name not in properties and name not in labels]
        if types:
            raise NameInUse(
                f"there are relationships of the type {_list(types)} that no run has written: graphbo keeps its record "
                "under this name; rename them first"
            )
        # Not every node has its key.
        return sorted({*used, *({view.key} & {*properties})})  # type: ignore[arg-type]

    def occurs(self, view: View, name: str) -> bool:
        """Whether a node of a view has a property of that name, as far as a sample of them shows."""
        return name in self._rows.names_in_use(view, [name], [])

    def get(self, name: str) -> RunRecord:
        """The run of that name.

        Raises:
            NoSuchRun: there is none.
            RunDamaged, RunTooNew: it cannot be read.
        """
        found = self._rows.list_runs(name)
        if not found:
            raise self._no_such_run(name)
        return as_record(*found[0])

    def find(self, name: str) -> RunRecord | None:
        """The run of that name, if there is one.

        Raises:
            RunDamaged, RunTooNew: it cannot be read.
        """
        found = self._rows.list_runs(name)
        return as_record(*found[0]) if found else None

    def all(self) -> list[RunRecord]:
        """All runs that can be read, oldest first."""
        return [one for one in self.listed() if isinstance(one, RunRecord)]

    def listed(self) -> list[RunRecord | UnreadableRun]:
        """All runs, oldest first, also those that cannot be read."""
        return [as_record_or_reason(run, pending) for run, pending in self._rows.list_runs()]

    def written(self) -> frozenset[str]:
        """The names of the node properties that any run writes: what people and objectives should not see as data."""
        prefixes = [run.get("prefix") for run, _ in self._rows.list_runs()]
        return frozenset(name for prefix in prefixes if prefix for name in all_properties(prefix))

    def news(self, name: str, view: View, since: int = 0) -> News:
        """How a run stands, with what was told since.

        Raises:
            NoSuchRun: there is none.
            RunDamaged, RunTooNew: it cannot be read.
        """
        situation = self._rows.read_news(name, view, since)
        if situation is None:
            raise self._no_such_run(name)
        return as_news(situation)

    def retried(self, name: str, view: View) -> list[Observation]:
        """The failures of a run that were given back for another try, in the order in which they were told."""
        found = self._rows.read_retried(name, view)
        return sorted((as_observation(one) for one in found), key=lambda one: one.seq)

    def set_state(self, name: str, state: RunState) -> None:
        """Stop or continue a run.

        Raises:
            NoSuchRun: there is none.
        """
        self._set(name, {"state": state})

    def set_budget(self, name: str, budget: int | None) -> None:
        """Change how many evaluations a run may use.

        Raises:
            NoSuchRun: there is none.
        """
        self._set(name, {"budget": budget})

    def _set(self, name: str, properties: Properties) -> None:
        if not self._rows.set_run(name, properties):
            raise self._no_such_run(name)

    def finish(self, name: str, view: View, *, whatever_is_left: bool = False) -> RunRecord:
        """Mark a run as finished if it is: nobody has stopped it or raised its budget, and nothing is pending.

        Args:
            name: the run.
            view: its view.
            whatever_is_left: whether it is over with a part of its budget left.

        Raises:
            NoSuchRun: there is none.
        """

        def work(ledger: Ledger, situation: Situation) -> RunRecord:
            record = as_news(situation).record
            over = whatever_is_left or record.left <= 0
            if record.state != "running" or record.pending or not over:
                return record
            ledger.write(ChangeRun({"state": "finished"}))
            return replace(record, state="finished")

        return self._transact(name, Look(view, _FINISH, _NO_NEWS), work)

    # Asking

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
        believed: News | None = None,
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
            believed: how the run probably stands. It saves time if it is true, and changes nothing if it is not.

        Raises:
            NoSuchRun: there is none.
            NameInUse: the node has something of its own where the run would write.
            KeyNotUnique: several nodes have the key.
        """
        request = Request(proposal, token, worker, lease, adopt)

        def work(ledger: Ledger, situation: Situation) -> AskAnswer:
            answer, writes = decide_ask(request, as_news(situation), situation.free)
            _write(ledger, writes)
            reach("ask.before_commit")
            return answer

        guess = None
        if believed is not None and proposal.candidates:
            guess = _only(decide_ask(request, believed, Free(0, ()))[1])
        keys = [candidate.key for candidate in proposal.candidates]
        # Where there is a lease, a power cut that loses the request has ended the worker as well.
        answer = self._transact(
            name, Look(view, token, since, keys), work, durable=lease is None, guess=guess
        )
        if answer.outcome == "in use":
            raise self.name_in_use(answer.news.record, answer.in_use, answer.key)
        reach("ask.after_commit")
        return answer

    def name_in_use(
        self, record: RunRecord, names: Sequence[str], key: NodeKey | None = None
    ) -> NameInUse:
        """What is said when a node has something of its own where a run would write."""
        which = "a node" if key is None else f"the node {show_key(key)}"
        return NameInUse(
            f"{which} has {_list(names)} of its own, where the run {record.name!r} would write: the node is as it was; "
            f"go on with --write-prefix {self.choose_prefix(record.view)}"
        )

    def release(
        self, name: str, view: View, *, step: int | None = None, key: NodeKey | None = None
    ) -> Pending:
        """Take back a node that was handed out: it may be asked for again.

        Raises:
            NoSuchRun: there is none.
            NotAsked: nobody asked for that step or node.
        """

        def work(ledger: Ledger, situation: Situation) -> Pending:
            news = as_news(situation)
            found = find_pending(news, step, key)
            if found is None:
                raise not_asked(news, step, key)
            ledger.write(Release(found.step))
            return found

        return self._transact(name, Look(view, _RELEASE, _NO_NEWS), work)

    def renew(self, name: str, tokens: Sequence[str], lease: float) -> list[int]:
        """Extend the leases of a worker's nodes; the steps that it still holds."""
        return self._rows.renew(name, tokens, lease)

    def leave(self, name: str, tokens: Sequence[str]) -> None:
        """Leave a worker's nodes to others at once. That it was interrupted does not count as a try."""
        self._rows.renew(name, tokens, -1e-3, tries=-1)

    # Telling

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
        note: str | None = None,
        since: int = 0,
        believed: News | None = None,
    ) -> Told:
        """Record what was measured at a step, or at a node: a value, or an error.

        The first value told for a step wins. A worker, who gives its token, may come late: what it says is kept beside
        the first value, or the failure. A person may not contradict a value without ``amend``, and may replace a
        failure.

        ``since`` and ``believed`` are as for ``ask``.

        Raises:
            NoSuchRun: there is none.
            NotAsked: nobody asked for that step or node.
            ValueConflict: another value was told before.
        """
        report = Report(step, key, value, error, attempts, token, amend, note)

        def work(ledger: Ledger, situation: Situation) -> Told:
            news = as_news(situation)
            told, writes = decide_tell(report, news, situation.told, _held(report, situation))
            at = _write(ledger, writes)
            reach("tell.before_commit")
            return stamped(told, at) if told.outcome == "recorded" else told

        guess = None
        if believed is not None and find_pending(believed, step, key) is not None:
            guess = _only(decide_tell(report, believed)[1])
        # Which value is the best after one was changed depends on all of them.
        known = 0 if amend else since
        look = Look(view, token or _BY_HAND, known, step=step, key=key)
        told = self._transact(name, look, work, guess=guess)
        reach("tell.after_commit")
        return told

    def tell_all(self, name: str, view: View, reports: Sequence[Report]) -> list[Told]:
        """Record all of these reports, or none.

        Raises:
            NoSuchRun: there is none.
            ReportRefused: one of them cannot be recorded.
        """

        def work(ledger: Ledger, situation: Situation) -> list[Told]:
            told = []
            for position, report in enumerate(reports):
                # Which value is the best after one was changed depends on all of them.
                since = 0 if report.amend else _NO_NEWS
                look = Look(view, _BY_HAND, since, step=report.step, key=report.key)
                situation = ledger.look(look) or situation
                try:
                    one, writes = decide_tell(
                        report, as_news(situation), situation.told, _held(report, situation)
                    )
                except GraphboError as error:
                    raise ReportRefused(position, str(error)) from None
                _write(ledger, writes)
                told.append(one)
            return told

        return self._transact(name, Look(view, _BY_HAND, _NO_NEWS), work, grows=True)

    def tell_known(self, name: str, view: View, values: Mapping[NodeKey, float]) -> int:
        """Record values that were known beforehand, at no cost; nodes that the run knows are left alone.

        Returns:
            How many were new.

        Raises:
            NoSuchRun: there is none.
            NoSuchNode: a key that matches no node.
            KeyNotUnique: a key that matches several.
            NameInUse: a node has something of its own where the run would write: none is recorded.
        """

        def work(ledger: Ledger, situation: Situation) -> tuple[int, tuple[str, ...], RunRecord]:
            nodes = ledger.nodes(list(values))
            for key in nodes:
                refuse_several(key, nodes[key])
            record = as_news(situation).record
            count, names, writes = decide_known(values, nodes, record, view)
            _write(ledger, writes)
            return count, names, record

        count, names, record = self._transact(name, Look(view, _WARM, _NO_NEWS), work, grows=True)
        if names:
            raise self.name_in_use(record, names)
        return count

    def retry(
        self, name: str, view: View, keys: Sequence[NodeKey] | None = None
    ) -> tuple[Observation, ...]:
        """Give failures back for another try: their nodes may be asked for again. All of them without ``keys``.

        They count no more, neither as failures nor towards the budget, but their record stays.

        Raises:
            NoSuchRun: there is none.
            NotAsked: a node has not failed.
        """

        def work(ledger: Ledger, situation: Situation) -> tuple[Observation, ...]:
            given_back, writes = decide_retry(as_news(situation), keys)
            _write(ledger, writes)
            return given_back

        return self._transact(name, Look(view, _RETRY, 0), work, grows=True)

    # What people see on nodes

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
            NameInUse: a node has something of its own where the run would write: nothing is written.
        """

        def work(ledger: Ledger, situation: Situation) -> tuple[News, tuple[str, ...]]:
            news, touched = as_news(situation), ledger.touched()
            names, writes = decide_marks(news.record, touched)
            if region is not None and not names:
                nodes = ledger.nodes([one.key for one in region])
                names, marks = decide_region(news.record, region, nodes, touched)
                writes = (*writes, *marks)
            if not names:
                _write(ledger, writes)
            return news, names

        news, names = self._transact(name, Look(view, _ANNOTATION, 0), work, grows=True)
        if names:
            raise self.name_in_use(news.record, names)
        return news

    def set_prefix(self, name: str, prefix: str) -> None:
        """Let a run write under another prefix, and move there what it has written.

        Raises:
            NoSuchRun: there is none.
            PrefixTaken, NameInUse, InvalidName: that prefix cannot be used.
        """
        record = self.get(name)
        self.choose_prefix(record.view, prefix)

        def work(ledger: Ledger, situation: Situation) -> tuple[RunRecord, tuple[str, ...]]:
            now = as_news(situation).record
            names, writes = decide_prefix(now, ledger.touched(), prefix)
            _write(ledger, writes)
            return now, names

        record, names = self._transact(name, Look(record.view, _PREFIX, _NO_NEWS), work, grows=True)
        if names:
            raise self.name_in_use(record, names)

    def clean(self, name: str) -> Cleaned:
        """Remove every trace of a run from the database, also of one whose record cannot be read.

        Raises:
            NoSuchRun: there is none.
        """

        def work(ledger: Ledger, situation: Situation) -> Cleaned:
            touched = ledger.touched()
            prefix = situation.run.get("prefix")
            labelled = bool(situation.run.get("labelled"))
            # A record that has lost its prefix does not say what was written.
            marks = [unmark(touched, prefix, labelled=labelled)] if prefix else []
            _write(ledger, (*marks, DeleteRun()))
            kinds = [node.kind for node in touched]
            return Cleaned(
                observations=kinds.count("observed") + kinds.count("failed"),
                pending=kinds.count("pending"),
                properties=all_properties(prefix) if prefix else [],
                labels=list(written_labels(prefix).values()) if prefix and labelled else [],
            )

        try:
            return self._transact(name, Look(_ANY_VIEW, _CLEAN, _NO_NEWS), work, grows=True)
        finally:
            # Also if there is no such run: whoever cleaned it may have been killed before it came to this.
            self._rows.drop_schema()

    def strays(self, prefix: str, *, scan: bool = False) -> list[Found]:
        """Nodes that still carry what a run of that prefix wrote, though there is no such run any more.

        Args:
            prefix: of the names.
            scan: whether every node may be looked at: otherwise only those with one of the labels are found.

        Raises:
            RunError: there is a run of that prefix.
        """
        labels = list(written_labels(self._unowned(prefix)).values())
        return self._rows.strays(all_properties(prefix), labels, scan, MOST_STRAYS)

    def remove_strays(self, prefix: str, strays: Iterable[Found]) -> None:
        """Take the names of a prefix off these nodes.

        Raises:
            RunError: there is a run of that prefix.
        """
        labels = list(written_labels(self._unowned(prefix)).values())
        self._rows.remove_strays([node.id for node in strays], all_properties(prefix), labels)

    def _unowned(self, prefix: str) -> str:
        for run, _ in self._rows.list_runs():
            if str(run.get("prefix", "")).casefold() == prefix.casefold():
                raise RunError(
                    f"the prefix {prefix!r} belongs to the run {run.get('name')!r}: remove that with `graphbo clean`"
                )
        return prefix

    # Transactions

    def _transact(
        self,
        name: str,
        look: Look,
        work: Callable[[Ledger, Situation], Answer],
        *,
        durable: bool = True,
        grows: bool = False,
        guess: Write | None = None,
    ) -> Answer:
        answer = self._rows.transact(
            name, look, work, survives_power_cut=durable, grows=grows, guess=guess
        )
        if answer is None:
            raise self._no_such_run(name)
        return answer

    def _no_such_run(self, name: str) -> NoSuchRun:
        names = [str(run.get("name")) for run, _ in self._rows.list_runs()]
        known = f"there are {', '.join(map(repr, names[:8]))}" if names else "there is none yet"
        return NoSuchRun(f"there is no run {ascii(name)[:80]} in this database: {known}")


def _list(names: Iterable[str]) -> str:
    return " and ".join(show_key(name) for name in sorted(names))


def _held(report: Report, situation: Situation) -> Sequence[str]:
    """The names that the node has of which something is told."""
    for one in (*situation.pending, *situation.told):
        if one["step"] == report.step or (report.key is not None and one["key"] == report.key):
            held: Sequence[str] = one.get("held") or ()
            return held
    return ()


def _write(ledger: Ledger, writes: Sequence[Write]) -> str:
    """Write all; when the last of it was written."""
    at = ""
    for write in writes:
        at = ledger.write(write)
    return at


def _only(writes: Sequence[Write]) -> Write | None:
    return writes[0] if len(writes) == 1 else None
