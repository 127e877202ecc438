"""A run: ask which node to measure next, tell what was measured."""

import logging
import math
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from graphbo.errors import (
    GraphboError,
    InvalidObjective,
    NoSuchRun,
    RunError,
    RunExists,
    StoreUnavailable,
)
from graphbo.objectives.thread import NoAnswer, call_in_thread
from graphbo.runs.answers import Asked, Best, Clock, best_of
from graphbo.runs.book import runs_in
from graphbo.runs.card import card
from graphbo.runs.faults import reach
from graphbo.runs.leases import check_lease
from graphbo.runs.records import AskAnswer, News, RunRecord, Told
from graphbo.runs.retrying import patiently
from graphbo.runs.settings import RunSettings, refuse_difference
from graphbo.runs.worker_names import HELD, is_abandoned, worker_name
from graphbo.search.graph import Graph
from graphbo.search.strategies import Strategy, create_strategy
from graphbo.search.strategies.answer import Believing, answer
from graphbo.stores import GraphStore, open_store, ready_view
from graphbo.types import NodeKey, Observation, Pending, Proposal, View

if TYPE_CHECKING:
    from graphbo.search.strategies.model import Belief

__all__ = ["Run"]

#: How often a proposal is made anew when others were quicker to take all of its nodes.
PROPOSALS = 5
#: How long the database has to hear that a worker ends.
FAREWELL_SECONDS = 5.0

_NOTHING = Proposal((), "initial")

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)


class Run:
    """A run in a database.

    ``Run.create`` starts one, ``Run.open`` goes on with one, ``Run.open_or_create`` does what fits.

    Args:
        store: where it lives. Not closed by the run.
        record: as the database has it.
        worker: who this is; see ``worker_name``.
    """

    def __init__(self, store: GraphStore, record: RunRecord, worker: str | None = None) -> None:
        self._store = store
        self._record = record
        self._history: list[Observation] = []
        self._steps: dict[int, int] = {}
        self._pending: tuple[Pending, ...] = ()
        self._loaded = False
        self.worker = worker or worker_name()
        self.settings = RunSettings.of(record)
        self.strategy: Strategy = create_strategy(self.settings.strategy, self.settings.options)
        self.graph = Graph(
            store,
            record.view,
            seed=record.seed,
            start=self.settings.start,
            reveal=self.settings.reveal,
        )
        self._written: frozenset[str] | None = None
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
        """
        settings = settings or RunSettings()
        view = ready_view(store, view)
        if settings.start:
            store.properties(view, settings.start)
        _refuse_unknown_property(store, view, settings.objective)
        # What cannot be worked on must not leave a run behind.
        Graph(store, view, seed=settings.seed, start=settings.start, reveal=settings.reveal)
        return cls(store, runs_in(store).create(settings.record(name, view)), worker)

    @classmethod
    def open(cls, store: GraphStore, name: str, worker: str | None = None) -> "Run":
        """Go on with a run.

        Raises:
            NoSuchRun: there is none of that name.
        """
        return cls(store, runs_in(store).get(name), worker)

    @classmethod
    def open_or_create(
        cls,
        store: GraphStore,
        view: View,
        name: str,
        settings: RunSettings,
        worker: str | None = None,
    ) -> "Run":
        """Go on with the run of that name, or start it.

        The budget and the prefix may differ: they are changed to those given. A run that had finished or was stopped
        goes on.

        Raises:
            RunMismatch: it was started with other options.
            PrefixTaken, NameInUse: the prefix cannot be used.
        """
        record = runs_in(store).find(name)
        if record is None:
            try:
                return cls.create(store, view, name, settings, worker)
            except RunExists:  # several workers start at the same moment, and another was quicker
                record = runs_in(store).get(name)
        refuse_difference(record, store.resolve(view), settings)
        if settings.budget is not None and settings.budget != record.budget:
            runs_in(store).set_budget(name, settings.budget)
        if settings.prefix and settings.prefix != record.prefix:
            runs_in(store).set_prefix(name, settings.prefix)
        if record.state != "running":
            runs_in(store).set_state(name, "running")
        return cls.open(store, name, worker)

    @property
    def name(self) -> str:
        """What it is called."""
        return self._record.name

    @property
    def view(self) -> View:
        """The graph that it works on."""
        return self._record.view

    @property
    def store(self) -> GraphStore:
        """Where it lives."""
        return self._store

    @property
    def record(self) -> RunRecord:
        """The run as it was when the database was last asked."""
        return self._record

    @property
    def history(self) -> tuple[Observation, ...]:
        """What was told, in that order, as far as it is known here; ``refresh`` reads what is newer."""
        return tuple(self._history)

    @property
    def pending(self) -> tuple[Pending, ...]:
        """What is being measured, as far as it is known here."""
        return self._pending

    def refresh(self) -> None:
        """Read what happened since the database was last asked."""
        since = self._record.seq if self._loaded else 0
        self._absorb(
            self._ask_store(lambda: runs_in(self._store).news(self.name, self.view, since))
        )

    def _absorb(self, news: News) -> None:
        amended = self._loaded and news.record.amended != self._record.amended
        last = self._history[-1].seq if self._history else 0
        self._record, self._pending = news.record, news.pending
        self._history += [self._shared(one) for one in news.observations if one.seq > last]
        self._loaded = True
        # Somebody changed a value, or more was told than was heard of here: what is in memory will not do.
        if amended or len(self._history) != news.record.in_history:
            self._history = []
            self._absorb_all()

    def _absorb_all(self) -> None:
        news = self._ask_store(lambda: runs_in(self._store).news(self.name, self.view, 0))
        self._record, self._pending = news.record, news.pending
        self._history = [self._shared(one) for one in news.observations]

    def _shared(self, observation: Observation) -> Observation:
        """The observation with one object for each step that its model knew: a hundred others know the same ones."""
        steps = (self._steps.setdefault(step, step) for step in observation.modelled)
        return replace(observation, modelled=tuple(steps))

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
        token = token or secrets.token_hex(8)
        if not self._loaded:
            self.refresh()
        # Before it is there: another thread of this process could take it for one that nobody works on.
        HELD.add(token)
        asked: Asked | None = None
        try:
            asked = self._ask(token, lease)
        finally:
            if asked is None or asked.pending is None:
                HELD.discard(token)
        reach("ask.answered")
        return asked

    def _ask(self, token: str, lease: float | None) -> Asked:
        abandoned = [one.token for one in self._pending if is_abandoned(one)]
        if abandoned:
            answer = self._hand_out(_NOTHING, token, lease, abandoned)
            if answer.pending is not None:
                return Asked(answer.pending)
        for _ in range(PROPOSALS):
            if self._record.left <= 0 or self._record.state != "running":
                self.refresh()
                if self._record.left <= 0 or self._record.state != "running":
                    return Asked(None, self._why_not())
            proposal = self._propose()
            answer = self._hand_out(proposal, token, lease, ())
            if answer.pending is not None:
                return Asked(answer.pending)
            if answer.outcome != "taken":
                return Asked(None, self._why_not())
            if not proposal.candidates:
                return Asked(None, "waiting" if self._pending else "exhausted")
        return Asked(None, "waiting")

    def _why_not(self) -> str:
        # Somebody else may have finished the run: it is the budget all the same.
        return "budget" if self._record.left <= 0 and self._record.state != "stopped" else "ended"

    def _propose(self) -> Proposal:
        self.fits += 1
        start, database = time.perf_counter(), self.graph.database_seconds
        began = time.thread_time()
        proposal = self._patiently(
            lambda: self.strategy.propose(
                self._history,
                self._pending,
                self.graph,
                seed=self._record.seed,
                step=self._record.steps + 1,
                maximize=self._record.maximize,
            )
        )
        in_database = self.graph.database_seconds - database
        self.clock.database += in_database
        self.clock.model += time.perf_counter() - start - in_database
        self.clock.proposals += time.thread_time() - began
        return proposal

    def _hand_out(
        self, proposal: Proposal, token: str, lease: float | None, adopt: Sequence[str]
    ) -> AskAnswer:
        answer = self._ask_store(
            lambda: runs_in(self._store).ask(
                self.name,
                self.view,
                proposal,
                token=token,
                worker=self.worker,
                lease=lease,
                since=self._record.seq,
                adopt=adopt,
                believed=self._believed(),
            )
        )
        self._absorb(answer.news)
        if answer.pending is not None:
            others = tuple(one for one in self._pending if one.step != answer.pending.step)
            self._pending = (*others, answer.pending)
            steps = max(self._record.steps, answer.pending.step)
            self._record = replace(self._record, steps=steps, pending=len(self._pending))
        return answer

    def _believed(self) -> News | None:
        """How the run stands unless somebody else works on it, too: then what is known here is mostly old."""
        if any(one.worker != self.worker for one in self._pending):
            return None
        return News(self._record, (), self._pending)

    def give_up(self, tokens: Iterable[str]) -> None:
        """Stop working on nodes without telling anything: whoever asks next takes them over.

        If the database cannot be told soon, others find out by themselves: when the leases have run out.
        """
        given_up = list(tokens)
        HELD.difference_update(given_up)
        if not given_up:
            return
        try:
            self._ask_in_a_hurry(lambda store: runs_in(store).leave(self.name, given_up))
        except GraphboError as error:
            log.warning("what was being evaluated stays leased for a while: %s", error)

    def _ask_in_a_hurry(self, question: Callable[[GraphStore], Answer]) -> Answer:
        """Ask a database that may not answer, where drivers wait for long and whoever ends does not."""
        access = self._store.access
        if access is None:
            return question(self._store)

        def ask() -> Answer:
            with open_store(access) as store:
                return question(store)

        try:
            return call_in_thread(ask, FAREWELL_SECONDS)
        except NoAnswer:
            raise StoreUnavailable(
                f"{self._store.address} did not answer within {FAREWELL_SECONDS:g} s"
            ) from None

    def tell(
        self,
        value: float | None,
        *,
        step: int | None = None,
        key: NodeKey | None = None,
        token: str | None = None,
        error: str | None = None,
        attempts: int = 1,
        amend: bool = False,
        hurry: bool = False,
    ) -> Told:
        """Record what was measured, at a step or at a node; no value means that it failed.

        In a ``hurry``, a database that does not answer is not waited for.

        Raises:
            NotAsked: nobody asked for that step or node; see ``tell_known``.
            ValueConflict: another value was told before.
            RunError: the value is not a finite number.
        """
        if value is not None and not math.isfinite(value):
            raise RunError(f"the value is {value}: expected a finite number")
        if not self._loaded:
            self.refresh()

        def question(store: GraphStore) -> Told:
            return runs_in(store).tell(
                self.name,
                self.view,
                value=None if value is None else float(value),
                step=step,
                key=key,
                token=token,
                error=error,
                attempts=attempts,
                amend=amend,
                since=self._record.seq,
                believed=self._believed(),
            )

        told = (
            self._ask_in_a_hurry(question)
            if hurry
            else self._ask_store(lambda: question(self._store))
        )
        HELD.difference_update(
            one.token for one in self._pending if one.step == told.observation.step
        )
        self._absorb(told.news)
        reach("tell.answered")
        return told

    def tell_known(self, values: Mapping[NodeKey, float]) -> int:
        """Record values that are known already: they cost no budget. Nodes that have one are left alone.

        Returns:
            How many were new.

        Raises:
            NoSuchNode: a key that matches no node; then nothing is recorded.
            RunError: a value is not a finite number.
        """
        for key, value in values.items():
            if not math.isfinite(value):
                raise RunError(f"the value of {key!r} is {value}: expected a finite number")
        count = self._ask_store(
            lambda: runs_in(self._store).tell_known(self.name, self.view, values)
        )
        self.refresh()
        return count

    def release(self, *, step: int | None = None, key: NodeKey | None = None) -> Pending:
        """Give back a node that was asked for.

        Raises:
            NotAsked: nobody asked for it.
        """
        released = runs_in(self._store).release(self.name, self.view, step=step, key=key)
        self.refresh()
        return released

    def finish(self, *, whatever_is_left: bool = False) -> None:
        """Mark the run as finished if its budget is used up, or whatever is left of it.

        Nothing changes if somebody has stopped the run, raised its budget or asked for a node meanwhile.
        """
        self._ask_store(
            lambda: runs_in(self._store).finish(
                self.name, self.view, whatever_is_left=whatever_is_left
            )
        )
        self.refresh()

    def properties(self, key: NodeKey) -> dict[str, object]:
        """The properties of a node, without those that runs wrote."""
        if self._written is None:
            # Once: a run that is started later hides nothing that this one has to know.
            self._written = self._ask_store(runs_in(self._store).written)
        found = self._ask_store(lambda: self._store.properties(self.view, [key]))[key]
        return {name: value for name, value in found.items() if name not in self._written}

    def best(self, told: int | None = None, *, noisy: bool | None = None) -> Best | None:
        """The answer so far: the best value, or, where measurements are noisy, the best posterior mean.

        Args:
            told: as it was after so many observations; now without it.
            noisy: whether measurements are; without it, whether the run was started with a noise.
        """
        if not self._loaded:
            self.refresh()
        best = best_of(self._history[:told], maximize=self._record.maximize)
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
        if not self._loaded:
            self.refresh()
        return self._patiently(
            lambda: strategy.believe(
                self._history[:told],
                self._pending if told is None else (),
                self.graph,
                seed=self._record.seed,
                step=(self._record.steps if told is None else told) + 1,
                maximize=self._record.maximize,
            )
        )

    def _best_believed(self, told: int | None) -> Best | None:
        """The measured node with the best posterior mean, if the strategy has a model."""
        strategy = self.strategy
        belief = self.belief(told)
        if not isinstance(strategy, Believing) or belief is None:
            return None
        maximize = self._record.maximize
        found = self._patiently(
            lambda: answer(strategy, self._history[:told], belief, self.graph, maximize=maximize)
        )
        if not found:
            return None
        best, mean = found
        return Best(best.key, float(best.value or 0.0), best.step, mean)

    def _repr_html_(self) -> str:
        """What a notebook shows: the run as far as it is known here."""
        if not self._loaded:
            self.refresh()
        return card(
            f"Run {self.name}",
            self._history,
            maximize=self._record.maximize,
            note=f"{self._record.state}, {self._record.evaluations:,} evaluations",
        )

    def _ask_store(self, question: Callable[[], Answer]) -> Answer:
        start = time.perf_counter()
        try:
            return self._patiently(question)
        except NoSuchRun:
            if not self._loaded:
                raise
            raise NoSuchRun(
                f"the run {self.name!r} is gone: somebody removed it from the database while it was worked on"
            ) from None
        finally:
            self.clock.database += time.perf_counter() - start

    def _patiently(self, question: Callable[[], Answer]) -> Answer:
        """Wait for a database that has gone away, but not for one that was never there."""
        return patiently(question) if self._loaded else question()


def _refuse_unknown_property(store: GraphStore, view: View, objective: str | None) -> None:
    """Check that a property that is to be measured occurs: a mistyped one would cost the first evaluations."""
    kind, _, name = (objective or "").partition(":")
    if kind == "property" and not runs_in(store).occurs(view, name):
        raise InvalidObjective(
            f"no node of {view} has a property {name!r}, as far as a sample shows: check its spelling"
        )
