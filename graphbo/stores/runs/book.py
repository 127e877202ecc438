"""The runs of a store: create, ask, tell, look, clean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from graphbo.errors import InvalidName, NoSuchRun, PrefixTaken, RunExists
from graphbo.stores.faults import reach
from graphbo.stores.runs.annotating import marks_of, region_of
from graphbo.stores.runs.asking import Request, decide_ask
from graphbo.stores.runs.ledger import (
    Ledger,
    Look,
    Properties,
    Release,
    RunRows,
    Situation,
    Write,
)
from graphbo.stores.runs.properties import as_news, as_record, run_properties
from graphbo.stores.runs.records import (
    AskAnswer,
    News,
    RunRecord,
    RunState,
    Told,
    all_properties,
    written_labels,
)
from graphbo.stores.runs.telling import (
    Report,
    decide_known,
    decide_tell,
    find_pending,
    not_asked,
    stamped,
)
from graphbo.types import Candidate, NodeKey, Pending, Proposal, View, check_name

__all__ = ["RunBook"]

# Who holds a lock, for people who look at it.
_BY_HAND, _WARM, _RELEASE, _ANNOTATION = "by hand", "warm start", "release", "annotation"
_NO_NEWS = 2**62

Answer = TypeVar("Answer")


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
            for name in (*all_properties(prefix), *written_labels(prefix).values()):
                check_name(name, "write prefix")
            if not prefix.isidentifier():
                raise InvalidName(
                    f"the write prefix {ascii(prefix)[:60]} is not a word: use letters and digits"
                )
            if self._rows.create_run(run_properties(replace(record, prefix=prefix))):
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
        return as_record(*found[0])

    def find(self, name: str) -> RunRecord | None:
        """The run of that name, if there is one."""
        found = self._rows.list_runs(name)
        return as_record(*found[0]) if found else None

    def all(self) -> list[RunRecord]:
        """All runs, oldest first."""
        return [as_record(run, pending) for run, pending in self._rows.list_runs()]

    def written(self) -> frozenset[str]:
        """The names of the node properties that any run writes: what people and objectives should not see as data."""
        runs = self._rows.list_runs()
        return frozenset(name for run, _ in runs for name in all_properties(run["prefix"]))

    def news(self, name: str, view: View, since: int = 0) -> News:
        """How a run stands, with what was told since.

        Raises:
            NoSuchRun: there is none.
        """
        situation = self._rows.read_news(name, view, since)
        if situation is None:
            raise self._no_such_run(name)
        return as_news(situation)

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
        """
        request = Request(proposal, token, worker, lease, adopt)

        def work(ledger: Ledger, situation: Situation) -> AskAnswer:
            answer, writes = decide_ask(request, as_news(situation), situation.free)
            _write(ledger, writes)
            reach("ask.before_commit")
            return answer

        guess = None
        if believed is not None and proposal.candidates:
            guess = _only(decide_ask(request, believed, 0)[1])
        keys = [candidate.key for candidate in proposal.candidates]
        # Where there is a lease, a power cut that loses the request has ended the worker as well.
        answer = self._transact(
            name, Look(view, token, since, keys), work, durable=lease is None, guess=guess
        )
        reach("ask.after_commit")
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
        believed: News | None = None,
    ) -> Told:
        """Record what was measured at a step, or at a node: a value, or an error.

        The first value told for a step wins. A worker, who gives its token, may come late: what it says is kept beside
        the first value, or the failure. A person may not contradict it without ``amend``.

        ``since`` and ``believed`` are as for ``ask``.

        Raises:
            NoSuchRun: there is none.
            NotAsked: nobody asked for that step or node.
            ValueConflict: another value was told before.
        """
        report = Report(step, key, value, error, attempts, token, amend)

        def work(ledger: Ledger, situation: Situation) -> Told:
            told, writes = decide_tell(report, as_news(situation), situation.told)
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

    def tell_known(self, name: str, view: View, values: Mapping[NodeKey, float]) -> int:
        """Record values that were known beforehand, at no cost; nodes that the run knows are left alone.

        Returns:
            How many were new.

        Raises:
            NoSuchRun: there is none.
            NoSuchNode: a key that matches no node.
        """

        def work(ledger: Ledger, situation: Situation) -> int:
            known = ledger.known(list(values))
            count, writes = decide_known(values, known, as_news(situation).record, view)
            _write(ledger, writes)
            return count

        return self._transact(name, Look(view, _WARM, _NO_NEWS), work)

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
        """End the leases of a worker's nodes."""
        self._rows.renew(name, tokens, -1.0)

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

        def work(ledger: Ledger, situation: Situation) -> News:
            news = as_news(situation)
            ledger.write(marks_of(news))
            if region is not None:
                ledger.write(region_of(news.record, region))
            return news

        return self._transact(name, Look(view, _ANNOTATION, 0), work)

    def clean(self, name: str) -> RunRecord:
        """Remove every trace of a run from the database.

        Raises:
            NoSuchRun: there is none.
        """
        record = self.get(name)
        nothing: Properties = dict.fromkeys(all_properties(record.prefix))
        labels = list(written_labels(record.prefix).values()) if record.labelled else []
        self._rows.clean_run(name, record.view, nothing, labels)
        return record

    def _transact(
        self,
        name: str,
        look: Look,
        work: Callable[[Ledger, Situation], Answer],
        *,
        durable: bool = True,
        guess: Write | None = None,
    ) -> Answer:
        answer = self._rows.transact(name, look, work, survives_power_cut=durable, guess=guess)
        if answer is None:
            raise self._no_such_run(name)
        return answer

    def _no_such_run(self, name: str) -> NoSuchRun:
        names = [run["name"] for run, _ in self._rows.list_runs()]
        known = f"there are {', '.join(map(repr, names[:8]))}" if names else "there is none yet"
        return NoSuchRun(f"there is no run {ascii(name)[:80]} in this database: {known}")


def _free_prefixes() -> list[str]:
    return ["graphbo", *(f"graphbo{number}" for number in range(2, 1000))]


def _write(ledger: Ledger, writes: Sequence[Write]) -> str:
    """Write all; when the last of it was written."""
    at = ""
    for write in writes:
        at = ledger.write(write)
    return at


def _only(writes: Sequence[Write]) -> Write | None:
    return writes[0] if len(writes) == 1 else None
