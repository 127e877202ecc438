"""A run: ask which node to measure next, tell what was measured."""

import copy
import logging
import math
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from graphbo.errors import (
    GraphboError,
    InvalidObjective,
    NameInUse,
    NoSuchRun,
    Remedy,
    RunError,
    RunExists,
    StoreUnavailable,
)
from graphbo.objectives.thread import NoAnswer, call_in_thread
from graphbo.runs.answers import Asked, AskedMany, Best, Clock, best_of
from graphbo.runs.asking import ReleaseNode, Request
from graphbo.runs.captions import Captions, caption_remark
from graphbo.runs.card import card
from graphbo.runs.collecting import CollectAnswers, Collected
from graphbo.runs.correcting import NoteDown, RetractValue
from graphbo.runs.costs import LOOKED_AT, costs_then, priced, refuse_wrong_costs
from graphbo.runs.encoding import as_news, as_set_aside, is_count
from graphbo.runs.exclusions import Excluded, ExcludeNodes, IncludeNodes, candidates_where
from graphbo.runs.explaining import Explain
from graphbo.runs.form import is_unread
from graphbo.runs.hops import agree_to_hop, refuse_foreign_hop
from graphbo.runs.inquiry import (
    NOBODY,
    Inquiry,
    Known,
    answer_inquiry,
    inquiry_about,
    known_before,
)
from graphbo.runs.known_values import KnownValues
from graphbo.runs.leases import check_lease
from graphbo.runs.local_copy import LocalCopy
from graphbo.runs.marks import Annotation, PrefixChange
from graphbo.runs.records import AskAnswer, Exclusion, News, RunRecord, SetAside, Told
from graphbo.runs.registry import runs_in
from graphbo.runs.settings import RunSettings, as_begun, refuse_difference
from graphbo.runs.telling import Finish, Report, Reports, RetryFailures, counted
from graphbo.runs.transaction import Transaction
from graphbo.runs.usable_features import UsableFeatures, usable_features
from graphbo.runs.why import Why
from graphbo.runs.worker_names import is_abandoned, worker_name
from graphbo.search.costs import Costs
from graphbo.search.graph import Graph
from graphbo.search.strategies import Believing, Purpose, Situation, Situations, Strategy
from graphbo.search.strategies.answer import answer
from graphbo.stores import GraphStore, open_store, ready_view
from graphbo.stores.log import NO_NEWS
from graphbo.stores.retrying import RetryTimer
from graphbo.stores.subgraphs import show_key
from graphbo.types import Candidate, NodeKey, Observation, Pending, Proposal, View
from graphbo.types.text import number, plural

if TYPE_CHECKING:
    from graphbo.search.strategies.model import Belief

__all__ = ["Run"]

#: How long a database that went away is waited for.
RECONNECT_SECONDS = 300.0
#: How often a proposal is made anew when others were quicker to take all of its nodes.
PROPOSALS = 5
#: How long the database has to hear that a worker ends.
FAREWELL_SECONDS = 5.0

_NOTHING = Proposal((), "initial")

Answer = TypeVar("Answer")
P = ParamSpec("P")

log = logging.getLogger(__name__)


class Run:
    """A run in a database.

    ``Run.create`` starts one, ``Run.open`` goes on with one, ``Run.open_or_create`` does what fits.

    Args:
        store: where it lives. Not closed by the run.
        record: as the database has it.
        worker: who this is; see ``worker_name``.
        settings: with what it was started, where a strategy or a kernel of one's own is among it: the database has
            only their names.
    """

    def __init__(
        self,
        store: GraphStore,
        record: RunRecord,
        worker: str | None = None,
        settings: RunSettings | None = None,
    ) -> None:
        self._store = store
        self._copy = LocalCopy(record)
        self._given = settings
        self._situations = Situations()
        self.worker = worker or worker_name()
        #: The tokens of what is worked on by whoever holds this object.
        self._held: set[str] = set()
        self._patient = True
        self._agreed = False
        #: What a look at the nodes' properties showed, where this object has started the run with features.
        self.usable: UsableFeatures | None = None
        self.clock = Clock()
        self.fits = 0

    @classmethod
    def create(
        cls,
        store: GraphStore,
        view: View,
        name: str,
        settings: RunSettings | None = None,
        worker: str | None = None,
    ) -> "Run":
        """Start a run.

        Raises:
            RunExists, PrefixTaken: its name or prefix is taken.
            NameInUse: nodes have something of their own where it would write.
            EmptyView, KeyNotUnique, InvalidWeight: the view cannot be worked on.
            NoSuchNode: a start node is not there.
            InvalidView: the graph is unknown at first and no start node is named.
            InvalidObjective: it is a property that no node has.
            InvalidCost: a node of a sample does not say what it costs.
        """
        settings = settings or RunSettings()
        view = ready_view(store, view)
        if settings.start:
            store.properties(view, settings.start)
        _refuse_unknown_property(store, view, settings.objective)
        if settings.caption is not None:
            remark = caption_remark(store, view, settings.caption)
            if remark is not None:
                log.warning("%s", remark)
        settings, found = _with_features(store, view, settings)
        refuse_wrong_costs(store, view, settings)
        # What cannot be worked on must not leave a run behind.
        Graph(store, view, seed=settings.seed, start=settings.start, reveal=settings.reveal)
        run = cls(store, runs_in(store).create(settings.record(name, view)), worker, settings)
        run.usable = found
        run.agree_to_hop()
        log.info(
            "the run %r begins in %s: %s on %s, strategy %s, seed %d",
            name,
            store.address,
            "maximize" if settings.maximize else "minimize",
            view,
            settings.strategy_name,
            settings.seed,
        )
        return run

    @classmethod
    def open(
        cls,
        store: GraphStore,
        name: str,
        worker: str | None = None,
        settings: RunSettings | None = None,
    ) -> "Run":
        """Go on with a run.

        Raises:
            NoSuchRun: there is none of that name.
        """
        return cls(store, runs_in(store).get(name), worker, settings)

    @classmethod
    def open_or_create(
        cls,
        store: GraphStore,
        view: View,
        name: str,
        settings: RunSettings,
        worker: str | None = None,
    ) -> "Run":
        """Go on with the run of that name, or start it. See ``create`` and ``resume``."""
        record = runs_in(store).find(name)
        if record is None:
            try:
                return cls.create(store, view, name, settings, worker)
            except RunExists:  # several workers start at the same moment, and another was quicker
                record = runs_in(store).get(name)
        return cls.resume(store, record, view, settings, worker)

    @classmethod
    def resume(
        cls,
        store: GraphStore,
        record: RunRecord,
        view: View,
        settings: RunSettings,
        worker: str | None = None,
    ) -> "Run":
        """Go on with a run that was just read, if these are the settings that it was started with.

        The budgets and the prefix may differ: they are changed to those given. A run that had finished or was stopped
        goes on.

        Raises:
            RunMismatch: it was started with other options.
            PrefixTaken, NameInUse: the prefix cannot be used.
        """
        settings = as_begun(record, settings)
        refuse_difference(record, store.resolve(view), settings)
        run = cls(store, record, worker, settings)
        run.change_prefix(settings.prefix)
        run.go_on(settings.budget, settings.budget_cost)
        log.info("the run %r goes on after %s", run.name, plural(record.evaluations, "evaluation"))
        return run

    def go_on(self, budget: int | None = None, budget_cost: float | None = None) -> None:
        """Take up a run that had finished or was stopped, with another budget if one is given.

        Raises:
            NoSuchRun: it is gone.
            RunError: a budget is no whole number.
        """
        if budget is not None and not is_count(budget):
            raise RunError(f"the budget is {budget!r}: expected a whole number")
        record = self.record
        changes: dict[str, Any] = {}
        if budget and budget != record.budget:
            changes["budget"] = budget
        if budget_cost and budget_cost != record.budget_cost:
            changes["budgetCost"] = float(budget_cost)
        # A finished run whose budget is used up is over all the same.
        left = counted(record, changes).left
        if record.state == "stopped" or (record.state == "finished" and left > 0):
            changes["state"] = "running"
        if changes:
            runs_in(self._store).change(record.name, **changes)
            self._copy.record = counted(self.record, changes)

    def through(self, store: GraphStore) -> "Run":
        """The same run through another connection, which may belong to another thread.

        It begins with what is known here. The database is not waited for if it goes away.
        """
        found = copy.copy(self)
        found._store = store
        found._patient = False
        found._copy = self._copy.copied()
        found._situations = Situations()
        found._held = set()
        # They belong to the connection, and keep what saves them time.
        for name in ("graph", "strategy"):
            vars(found).pop(name, None)
        return found

    @property
    def name(self) -> str:
        """What it is called."""
        return self.record.name

    @property
    def view(self) -> View:
        """The graph that it works on."""
        return self.record.view

    @property
    def store(self) -> GraphStore:
        """Where it lives."""
        return self._store

    @property
    def record(self) -> RunRecord:
        """The run as it was when the database was last asked."""
        return self._copy.record

    @property
    def history(self) -> tuple[Observation, ...]:
        """What was told, in that order, as far as it is known here; ``refresh`` reads what is newer."""
        return tuple(self._copy.history)

    @property
    def pending(self) -> tuple[Pending, ...]:
        """What is being measured, as far as it is known here."""
        return self._copy.pending

    @property
    def excluded(self) -> tuple[Exclusion, ...]:
        """The nodes that are not proposed, as far as it is known here, the oldest exclusion first."""
        return self._copy.excluded

    @cached_property
    def settings(self) -> RunSettings:
        """What it was started with.

        Raises:
            RunDamaged: the record has settings that nobody knows.
            ModelError: it has a strategy or a kernel of somebody's own, which this object was not given.
        """
        return RunSettings.of(self.record, self._given)

    @cached_property
    def strategy(self) -> Strategy:
        """What proposes its nodes. Whoever only tells does without: a model takes a second to import."""
        return self.settings.create_strategy()

    def agree_to_hop(self) -> None:
        """Let the statement that gives the view its edges be run: here, and on this machine from now on."""
        self._agreed = True
        agree_to_hop(self._store, self.view)

    @cached_property
    def graph(self) -> Graph:
        """The graph, as far as the run may know it.

        Raises:
            RunError: its edges come from a statement that nobody here has agreed to.
        """
        if not self._agreed:
            refuse_foreign_hop(self._store, self.record)
        settings = self.settings
        return Graph(
            self._store,
            self.view,
            seed=settings.seed,
            start=settings.start,
            reveal=settings.reveal,
        )

    @cached_property
    def _written(self) -> frozenset[str]:
        """The properties that runs write. What a later run writes hides nothing that this one has to know."""
        return self._ask_store(runs_in(self._store).written)

    # What is known

    def refresh(self) -> None:
        """Read what happened since the database was last asked."""
        self._absorb(self._read_news(self.record.seq if self._copy.loaded else 0))

    def _load(self) -> None:
        if not self._copy.loaded:
            self.refresh()

    def _read_news(self, since: int = 0) -> News:
        found = self._ask_store(self._store.log.read_news, self.name, self.view, since)
        if found is None:
            raise self._gone()
        return as_news(found)

    def _absorb(self, news: News) -> None:
        self._copy.absorb(news, self._read_news)

    def retried(self) -> list[Observation]:
        """The failures that were retried, in the order in which they were told."""
        return [one.observation for one in self.set_aside() if not one.retracted]

    def retracted(self) -> list[SetAside]:
        """The values that were retracted, in the order in which they were told."""
        return [one for one in self.set_aside() if one.retracted]

    def set_aside(self) -> list[SetAside]:
        """What is on record and counts no more: failures that were retried, and values that were retracted."""
        found = self._ask_store(self._store.log.read_retried, self.name, self.view)
        return sorted(map(as_set_aside, found), key=lambda one: one.observation.seq)

    def properties(self, key: NodeKey) -> dict[str, object]:
        """The properties of a node, without those that runs wrote."""
        return self.properties_of([key])[key]

    def properties_of(self, keys: Sequence[NodeKey]) -> dict[NodeKey, dict[str, object]]:
        """The same of several nodes, in one question."""
        found = self._ask_store(self._store.properties, self.view, keys) if keys else {}
        return {
            key: {name: value for name, value in of_one.items() if name not in self._written}
            for key, of_one in found.items()
        }

    # Asking

    def ask(self, *, lease: float | None = None, token: str | None = None) -> Asked:
        """Which node to measure next. It is kept for the caller until it is told or released.

        Args:
            lease: seconds after which others may take it over; None for as long as it takes.
            token: names the request; asking again with it gives the same answer.

        Raises:
            RunError: the lease cannot be held.
            StoreError: the database does not answer.
        """
        if lease is not None:
            check_lease(lease)
        self._load()
        self._collect_what_is_seen()
        request = Request(_NOTHING, token or secrets.token_hex(8), self.worker, lease)
        abandoned = [
            one.token for one in self.pending if is_abandoned(one, self._held, self.worker)
        ]
        if abandoned:
            taken, _ = self.transact(replace(request, adopt=abandoned))
            if self._handed_out(taken, request):
                return Asked(taken.pending)
        for _ in range(PROPOSALS):
            if self._is_over():
                self.refresh()
                if self._is_over():
                    return Asked(None, self._why_not())
            asked = self._request(request)
            if asked is not None:
                return asked
        return Asked(None, "waiting")

    def _request(self, request: Request) -> Asked | None:
        """Propose nodes and ask for one; None if others were quicker to take all of them."""
        proposal, known = self._propose(), self.record.amended
        request = replace(request, proposal=self._affordable(proposal))
        if proposal.candidates and not request.proposal.candidates:
            return Asked(None, "unaffordable")
        found, _ = self.transact(request)
        if self._handed_out(found, request):
            return Asked(found.pending)
        if found.outcome != "taken":
            return Asked(None, self._why_not())
        # Unless somebody has given nodes back, or included some, there is none.
        if not request.proposal.candidates and self.record.amended == known:
            return Asked(None, "waiting" if self.pending else "exhausted")
        return None

    def ask_many(
        self, count: int, *, lease: float | None = None, token: str | None = None
    ) -> AskedMany:
        """The next nodes to measure, one after the other: each proposal knows of those before it.

        Args:
            count: how many.
            lease: see ``ask``.
            token: see ``ask``.

        Raises:
            RunError: the lease cannot be held, or the number is none.
            StoreError: the database does not answer.
        """
        if count < 1:
            raise RunError(f"{count} nodes are asked for: expected at least 1")
        found: list[Pending] = []
        for place in range(count):
            asked = self.ask(lease=lease, token=None if token is None else f"{token}.{place}")
            if asked.pending is None:
                return AskedMany(tuple(found), asked.why_not)
            found.append(asked.pending)
        return AskedMany(tuple(found))

    def ask_for(
        self, key: NodeKey, *, lease: float | None = None, token: str | None = None
    ) -> Pending:
        """Have this node measured next, whatever the strategy would propose. It costs budget as any other does.

        Raises:
            RunError: it is excluded or measured, somebody else measures it, or the run is over.
            NoSuchNode: a key that matches no node.
        """
        if lease is not None:
            check_lease(lease)
        self._load()
        self._ask_store(self._store.properties, self.view, [key])
        situation = self._situation()
        proposal = Proposal((Candidate(key),), "chosen", situation.last_restart)
        if situation.costs is not None:
            proposal = priced(proposal, replace(situation.costs, left=math.inf), self.properties_of)
        token = token or secrets.token_hex(8)
        request = Request(proposal, token, self.worker, lease, chosen=True)
        found, _ = self.transact(request)
        if self._handed_out(found, request) and found.pending is not None:
            return found.pending
        self.refresh()
        raise RunError(*self._why_not_that(proposal.candidates[0]))

    def _why_not_that(self, wanted: Candidate) -> tuple[str, Remedy | None]:
        """Why a node that somebody wants was not handed out, and what to do about it."""
        key, name = wanted.key, show_key(wanted.key)
        if any(one.key == key for one in self.pending):
            return f"{name} is pending already", None
        told = next((one for one in self.history if one.key == key), None)
        if told is not None and told.failed:
            return f"{name} has failed", Remedy.RETRY
        if told is not None:
            return f"{name} has the value {told.value} already", None
        if key in self._copy.excluded_keys:
            return f"{name} is excluded from the run {self.name!r}", Remedy.INCLUDE_FIRST
        left = self.record.left_to_spend
        if self._why_not() == "budget":
            why = f"the budget of the run {self.name!r} is used up"
        elif (wanted.cost or 0.0) > left:
            why = f"{name} costs {number(wanted.cost)}, and {number(left)} is left to spend"
        else:
            why = f"the run {self.name!r} is {self.record.state}"
        return why, None

    def _handed_out(self, found: AskAnswer, request: Request) -> bool:
        """Note what a request got; whether that is a node."""
        self._absorb(found.news)
        if found.outcome == "in use":
            raise self._name_in_use(found.in_use, found.key)
        if found.pending is None:
            return False
        self._copy.hand_out(found.pending)
        self._held.add(request.token)
        return True

    def _is_over(self) -> bool:
        return self.record.left <= 0 or self.record.state != "running"

    def _why_not(self) -> str:
        # Somebody else may have finished the run: it is the budget all the same.
        return "budget" if self.record.left <= 0 and self.record.state != "stopped" else "ended"

    def _propose(self) -> Proposal:
        self.fits += 1
        start, database = time.perf_counter(), self.graph.database_seconds
        began = time.thread_time()
        proposal = self._patiently(self.strategy.propose, self._situation(), self.graph)
        in_database = self.graph.database_seconds - database
        self.clock.database += in_database
        self.clock.model += time.perf_counter() - start - in_database
        self.clock.proposals += time.thread_time() - began
        return proposal

    def _affordable(self, proposal: Proposal) -> Proposal:
        """What can be paid for: of the proposal or, where nothing of it can, of nodes from anywhere."""
        if self.settings.cost is None or not proposal.candidates:
            return proposal
        situation = self._situation()
        costs = cast(Costs, situation.costs)
        found = priced(proposal, costs, self.properties_of)
        if found.candidates:
            return found
        draw = (situation.step, Purpose.COSTS)
        others = self._patiently(
            self.graph.random, LOOKED_AT, draw, situation.taken, situation.evaluated
        )
        drawn = Proposal(tuple(map(Candidate, others)), "restart", situation.last_restart)
        return priced(drawn, costs, self.properties_of)

    def _situation(self, told: int | None = None) -> Situation:
        """What a strategy knows now, or knew after so many observations."""
        history, record = self._copy.history, self.record
        if told is None or told == len(history):
            pending = self.pending if told is None else ()
            return self._situations.of(
                history,
                pending,
                seed=record.seed,
                step=(record.steps if told is None else told) + 1,
                maximize=record.maximize,
                excluded=self._copy.excluded_keys,
                costs=costs_then(record, None, pending),
            )
        # Not among those of the run, which would begin anew after this one.
        return Situations().of(
            history[:told],
            seed=record.seed,
            step=told + 1,
            maximize=record.maximize,
            costs=costs_then(record, history[:told], ()),
        )

    def release(self, *, step: int | None = None, key: NodeKey | None = None) -> Pending:
        """Give back a node that was asked for: it costs nothing, and may be asked for again.

        Raises:
            NotAsked: nobody asked for it.
        """
        released, _ = self.transact(ReleaseNode(step, key))
        self.refresh()
        return released

    # What is left alone

    def exclude(
        self,
        keys: Iterable[NodeKey] = (),
        *,
        where: str | None = None,
        reason: str | None = None,
        by: str | None = None,
    ) -> Excluded:
        """Never propose these nodes again, until they are included; they stay part of the graph and of the model.

        Workers of a run that is under way keep to it from their next node on. A node that waits to be measured by hand
        is released; what a worker evaluates now is still recorded.

        Args:
            keys: the nodes. Nothing happens to those that are excluded already.
            where: a filter; all candidates that fulfil it now are meant as well.
            reason: why, for others who read it.
            by: who wants that; this worker without it.

        Raises:
            NoSuchNode: a key that matches no node: then none is excluded.
            KeyNotUnique: a key that matches several.
            EmptyView: no candidate fulfils the filter.
        """
        wanted = self._meant(keys, where)
        done, _ = self.transact(ExcludeNodes(wanted, by or self.worker, reason or None))
        self.refresh()
        return done

    def include(
        self, keys: Iterable[NodeKey] = (), *, where: str | None = None
    ) -> tuple[NodeKey, ...]:
        """Propose these nodes again, which were excluded.

        Args:
            keys: the nodes.
            where: a filter; of the candidates that fulfil it now, those that are excluded are meant as well.

        Raises:
            RunError: one is not excluded: then none is included.
            NoSuchNode: a key that matches no node.
        """
        self._load()
        known = self._copy.excluded_keys
        fulfil = [] if where is None else self._meant((), where)
        wanted = [*keys, *(key for key in fulfil if key in known)]
        included, _ = self.transact(IncludeNodes(wanted))
        self.refresh()
        return included

    def _meant(self, keys: Iterable[NodeKey], where: str | None) -> list[NodeKey]:
        named = list(keys)
        if where is not None:
            named += self._ask_store(candidates_where, self._store, self.view, where)
        return named

    def leave(self, tokens: Iterable[str]) -> None:
        """Stop working on nodes without telling anything: whoever asks next takes them over.

        If the database cannot be told soon, others find out by themselves: when the leases have run out.
        """
        left = list(tokens)
        self._held.difference_update(left)
        if not left:
            return
        try:
            # That a worker was interrupted does not count as a try.
            self._in_a_hurry(lambda run: run.store.log.renew(self.name, left, -1e-3, tries=-1))
        except GraphboError as error:
            log.warning("what was being evaluated stays leased for a while: %s", error)

    # Telling

    def tell(
        self,
        value: float | None,
        *,
        step: int | None = None,
        key: NodeKey | None = None,
        token: str | None = None,
        error: str | None = None,
        amend: bool = False,
        note: str | None = None,
    ) -> Told:
        """Record what was measured, at a step or at a node; no value means that it failed.

        Whoever gives the token of the request may come late; see :class:`Report`.

        Raises:
            NotAsked: nobody asked for that step or node; see ``tell_known``.
            ValueConflict: another value was told before.
            RunError: the value is not a finite number.
        """
        number = None if value is None else float(value)
        report = Report(number, step, key, error=error, token=token, amend=amend, note=note)
        return self.report(report)

    def report(self, report: Report, *, hurry: bool = False) -> Told:
        """The same of a report. In a ``hurry``, a database that does not answer is not waited for.

        Raises:
            NotAsked, ValueConflict: see ``tell``.
        """
        self._load()
        told, at = (
            self._in_a_hurry(lambda run: run.transact(report)) if hurry else self.transact(report)
        )
        if told.outcome == "recorded":
            told = told.stamped(at)
        step = told.observation.step
        self._held.difference_update(one.token for one in self.pending if one.step == step)
        self._absorb(told.news)
        return told

    def report_all(self, reports: Sequence[Report]) -> list[Told]:
        """Record all of these reports, or none.

        Raises:
            ReportRefused: one of them cannot be recorded.
        """
        told, _ = self.transact(Reports(reports))
        self.refresh()
        return told

    def foresee(self, reports: Reports) -> list[Told | GraphboError]:
        """What would become of each of these reports if they were told now, by what the run was when it was read.

        Nothing is written, nor is the run locked.
        """
        found = self._ask_store(self._store.log.read_news, self.name, self.view, 0)
        if found is None:
            raise self._gone()
        outcomes = reports.each(replace(found, told=found.news))
        return [one if isinstance(one, GraphboError) else one[0] for one in outcomes]

    def tell_known(self, values: Mapping[NodeKey, float]) -> int:
        """Record values that are known already: they cost no budget. Nodes that have one are left alone.

        Returns:
            How many were new.

        Raises:
            NoSuchNode: a key that matches no node; then nothing is recorded.
            KeyNotUnique: a key that matches several.
            NameInUse: a node has something of its own where the run would write: none is recorded.
            RunError: a value is not a finite number.
        """
        known, _ = self.transact(KnownValues(values))
        if known.in_use:
            raise self._name_in_use(known.in_use)
        self.refresh()
        return known.new

    def retry(self, keys: Sequence[NodeKey] | None = None) -> tuple[Observation, ...]:
        """Give failures back for another try: their nodes may be asked for again. All of them without ``keys``.

        They count no more, neither as failures nor towards the budget, but their record stays.

        Raises:
            NotAsked: a node has not failed.
        """
        given_back, _ = self.transact(RetryFailures(keys))
        self.refresh()
        return given_back

    def retract(
        self,
        *,
        step: int | None = None,
        key: NodeKey | None = None,
        reason: str | None = None,
    ) -> Observation:
        """Take back a value that was told for the wrong node: it counts no more, and the node may be asked for again.

        It costs no budget any more. What was retracted stays on record: see ``retracted``.

        Raises:
            NotAsked: nothing was told there.
            RunError: there is no value but a failure: see ``retry``.
        """
        retracted, _ = self.transact(RetractValue(step, key, reason or None))
        self.refresh()
        return retracted

    def note(
        self, text: str | None, *, step: int | None = None, key: NodeKey | None = None
    ) -> None:
        """Note something about a node that is pending or was told, in place of what was noted before.

        Raises:
            NotAsked: the run has nothing to do with it.
        """
        self.transact(NoteDown(text, step, key))
        self.refresh()

    def collect(self) -> Collected:
        """Tell the answers that people have set on pending nodes in the database, and take them off again.

        That is the property whose name is the run's prefix and ``Answer``: a number, or text that begins with
        ``failed``. What cannot be told stays, and ``…AnswerError`` beside it says why.
        """
        self.refresh()
        return self._collect_what_is_seen()

    def _collect_what_is_seen(self) -> Collected:
        """The same, if any answer was there when the database was last asked."""
        if not any(map(is_unread, self.pending)):
            return Collected((), (), News(self.record, (), self.pending))
        collected, _ = self.transact(CollectAnswers())
        self.refresh()
        for one in collected.refused:
            log.warning("the answer at %s is refused: %s", show_key(one.pending.key), one.reason)
        return collected

    def finish(self, *, whatever_is_left: bool = False) -> None:
        """Mark the run as finished if its budget is used up, or whatever is left of it.

        Nothing changes if somebody has stopped the run, raised its budget or asked for a node meanwhile. Whoever tells
        the last value need not do this.
        """
        self.transact(Finish(whatever_is_left))
        self.refresh()

    # What people see on nodes

    def explain(self, steps: Iterable[int] | None = None) -> int:
        """Write on nodes why they are, or were, to be measured, in words; nodes are called by their captions.

        What was written before stays: why somebody was asked for a node does not change. Known values and failures
        are not explained.

        Args:
            steps: which; all of them without it.

        Returns:
            On how many it was not there before.
        """
        self._load()
        meant = None if steps is None else set(steps)
        told = [one for one in self._copy.history if one.source == "run" and not one.failed]
        known = [(one.step, one.key) for one in told]
        known += [(one.step, one.key) for one in self.pending if one.why is None]
        wanted = {step: key for step, key in known if meant is None or step in meant}
        if not wanted:
            return 0
        whys = {step: self.why(key) for step, key in wanted.items()}
        captions = Captions(self._store, self.view, self.record.config.get("caption"))
        captions.read(one.key for why in whys.values() for one in why.parts if one.key is not None)
        texts = {
            step: why.text(lambda key: captions.of(key) or str(key)) for step, why in whys.items()
        }
        written, _ = self.transact(Explain(texts))
        self.refresh()
        return len(written)

    def annotate(
        self,
        region: Sequence[Candidate] | None = None,
        whys: Mapping[NodeKey, str] | None = None,
    ) -> News:
        """Write the properties and labels of the run's nodes again, from its record.

        Args:
            region: the nodes of the current region with what is believed of them now: written as well, in place of
                what was there before.
            whys: in words what speaks for and against those of them that are not measured.

        Returns:
            What is marked.

        Raises:
            NameInUse: a node has something of its own where the run would write: nothing is written.
        """
        marked, _ = self.transact(Annotation(region, whys or {}))
        if marked.in_use:
            raise self._name_in_use(marked.in_use)
        return marked.news

    def change_prefix(self, prefix: str) -> None:
        """Write under another prefix from now on, and move there what was written; nothing to do for the same one.

        Raises:
            PrefixTaken, NameInUse, InvalidName: that prefix cannot be used.
        """
        if prefix in ("", self.record.prefix):
            return
        runs_in(self._store).choose_prefix(self.view, prefix)
        marked, _ = self.transact(PrefixChange(prefix))
        if marked.in_use:
            raise self._name_in_use(marked.in_use)
        self._copy.record = replace(self.record, prefix=prefix)

    # The answer

    def best(self, told: int | None = None, *, noisy: bool | None = None) -> Best | None:
        """The answer so far: the best value, or, where measurements are noisy, the best posterior mean.

        Args:
            told: as it was after so many observations; now without it.
            noisy: whether measurements are; without it, whether the run was started with a noise.
        """
        self._load()
        best = best_of(self._copy.history[:told], maximize=self.record.maximize)
        if best is None or best.value is None:
            return None
        if self.settings.noise if noisy is None else noisy:
            return self._best_believed(told) or Best(best.key, best.value, best.step)
        return Best(best.key, best.value, best.step)

    def belief(self, told: int | None = None) -> "Belief | None":
        """What the model makes of the region that it looks at; None without a model or a value, and between regions.

        Args:
            told: as it was after so many observations; now without it.

        Raises:
            StoreError: the database does not answer.
        """
        strategy = self.strategy
        if not isinstance(strategy, Believing):
            return None
        self._load()
        return self._patiently(strategy.believe, self._situation(told), self.graph)

    def _best_believed(self, told: int | None) -> Best | None:
        """The measured node with the best posterior mean, if the strategy has a model."""
        strategy = self.strategy
        belief = self.belief(told)
        if not isinstance(strategy, Believing) or belief is None:
            return None
        found = self._patiently(answer, strategy, self._situation(told), belief, self.graph)
        if not found:
            return None
        best, mean = found
        return Best(best.key, float(best.value or 0.0), best.step, mean)

    def why(self, key: NodeKey | None = None) -> Why:
        """Why a node is to be measured, or was: what is expected of it, and which parts that is the sum of.

        What is being measured, or would be proposed, is explained by what is known now; what was measured, by what was
        known before it. Any other node of the graph can be asked about as well.

        Args:
            key: the node; without it the one that was asked for last, or else the one that would be proposed now.

        Raises:
            RunError: no node is named, nothing is being measured, and there is nothing left to propose.
            NoSuchNode: there is no such node.
            StoreError: the database does not answer.
        """
        self._load()
        inquiry = self._inquiry(key)
        return self._patiently(answer_inquiry, inquiry, self.strategy, self.graph)

    def _inquiry(self, key: NodeKey | None) -> Inquiry:
        waiting = sorted(self.pending, key=lambda one: one.step)
        if key is None:
            asked: Pending | Observation | None = waiting[-1] if waiting else self._next()
        else:
            told = [one for one in self._copy.history if one.key == key]
            asked = next((one for one in waiting if one.key == key), told[0] if told else None)
        if asked is None:
            left_alone = key in self._copy.excluded_keys
            return Inquiry(
                cast(NodeKey, key), "excluded" if left_alone else "open", self._situation()
            )
        known = known_before(asked, self._copy.history, waiting)
        return inquiry_about(asked, self._situation_of(known), self.settings.start)

    def _next(self) -> Pending:
        """What would be handed out now."""
        proposed = self._propose()
        proposal = self._affordable(proposed)
        if not proposed.candidates:
            raise RunError(f"every node that the run {self.name!r} may look at has been measured")
        if not proposal.candidates:
            raise RunError(f"what is left of the budget of the run {self.name!r} pays for no node")
        return Pending(self.record.steps + 1, proposal.candidates[0], proposal, NOBODY, "")

    def _situation_of(self, known: Known) -> Situation:
        """What a strategy knew at a step."""
        # One of the past is not among those of the run, which would begin anew after it.
        situations = self._situations if known.now else Situations()
        return situations.of(
            known.told,
            known.pending,
            seed=self.record.seed,
            step=known.step,
            maximize=self.record.maximize,
            excluded=self._copy.excluded_keys if known.now else frozenset(),
            costs=costs_then(self.record, None if known.now else known.told, known.pending),
        )

    def __repr__(self) -> str:
        record = self.record
        return (
            f"Run({self.name!r}, {plural(record.evaluations, 'evaluation')}, best {number(record.best_value)}, "
            f"{record.state}, {self._store.address})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the run as far as it is known here."""
        self._load()
        return card(
            f"Run {self.name}",
            self.history,
            maximize=self.record.maximize,
            note=f"{self.record.state}, {plural(self.record.evaluations, 'evaluation')}",
        )

    # The database

    def transact(self, wanted: Transaction[Answer]) -> tuple[Answer, str]:
        """Have something done to the run; the answer, and when it was written."""
        known = self._copy
        believed = known.unless_shared(self.worker)
        with self.clock.asking_database():
            done = self._patiently(
                self._store.log.transact,
                self.name,
                wanted.lookup(self.view, known.record.seq if known.loaded else NO_NEWS),
                wanted.decide,
                guess=None if believed is None else wanted.guess(believed),
                survives_power_cut=wanted.survives_power_cut,
                grows=wanted.grows,
            )
        if done is None:
            raise self._gone()
        return done

    def _ask_store(
        self, question: Callable[P, Answer], *args: P.args, **kwargs: P.kwargs
    ) -> Answer:
        with self.clock.asking_database():
            return self._patiently(question, *args, **kwargs)

    def _patiently(
        self, question: Callable[P, Answer], *args: P.args, **kwargs: P.kwargs
    ) -> Answer:
        """Wait for a database that has gone away, but not for one that was never there."""
        timer = RetryTimer(RECONNECT_SECONDS if self._copy.loaded and self._patient else 0.0)
        while True:
            try:
                return question(*args, **kwargs)
            except StoreUnavailable:
                timer.wait()

    def _in_a_hurry(self, question: "Callable[[Run], Answer]") -> Answer:
        """Ask a database that may not answer, where drivers wait for long and whoever ends does not."""
        access = self._store.access
        if access is None:
            return question(self)

        def ask() -> Answer:
            hurried = copy.copy(self)
            hurried._patient = False
            with open_store(access) as hurried._store:
                return question(hurried)

        try:
            return call_in_thread(ask, FAREWELL_SECONDS)
        except NoAnswer:
            raise StoreUnavailable(
                f"{self._store.address} did not answer within {FAREWELL_SECONDS:g} s"
            ) from None

    def _gone(self) -> NoSuchRun:
        if not self._copy.loaded:
            return runs_in(self._store).no_such_run(self.name)
        return NoSuchRun(
            f"the run {self.name!r} is gone: somebody removed it from the database while it was worked on"
        )

    def _name_in_use(self, names: Iterable[str], key: NodeKey | None = None) -> NameInUse:
        return runs_in(self._store).name_in_use(self.record, names, key)


def _refuse_unknown_property(store: GraphStore, view: View, objective: str | None) -> None:
    """Check that a property that is to be measured occurs: a mistyped one would cost the first evaluations."""
    kind, _, name = (objective or "").partition(":")
    if kind == "property" and not runs_in(store).occurs(view, name):
        raise InvalidObjective(
            f"no node of {view} has a property {name!r}, as far as a sample shows: check its spelling"
        )


def _with_features(
    store: GraphStore, view: View, settings: RunSettings
) -> tuple[RunSettings, UsableFeatures | None]:
    """The settings with the names of their features: ``auto`` becomes those that a sample of the nodes shows to be fit.

    Raises:
        ModelError: one that was named cannot be used.
    """
    named, prior = settings.options.get("features"), settings.options.get("prior")
    if not named and not prior:
        return settings, None
    kind, _, measured = (settings.objective or "").partition(":")
    without = {*runs_in(store).written(), *([measured] if kind == "property" else [])}
    found = usable_features(store, view, named or (), without, prior=str(prior or ""))
    options = {**settings.options, "features": list(found.names)}
    return replace(settings, options=options), found
