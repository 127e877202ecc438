"""``graphbo.Search``: a graph and a run on it, to hold, to ask, to tell, to go on with and to look at."""

import logging
import pickle
import secrets
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import replace
from itertools import takewhile
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, SupportsFloat

from graphbo.api import checks
from graphbo.api.opened import Opened, database_view, open_graph
from graphbo.api.plots import Plots
from graphbo.api.remarks import Remarks
from graphbo.api.result import Result, summary, table_of
from graphbo.errors import InvalidObjective, InvalidView, NotAsked, RunError, RunMismatch
from graphbo.objectives import Node, Objective, from_callable
from graphbo.runs import Best, Run, RunSettings, Why
from graphbo.runs.card import card
from graphbo.runs.executors import Pool, pool_of
from graphbo.runs.records import RunRecord
from graphbo.runs.registry import runs_in
from graphbo.runs.worker import LEASE_SECONDS, Ending, Limits, Names, Progress, Watch, work
from graphbo.search.features import AUTO
from graphbo.search.graph import Reveal
from graphbo.search.strategies import KernelOption, Strategy
from graphbo.seeing.run_facts import RunFacts, facts_of
from graphbo.stores import GraphStore, open_store
from graphbo.types import Direction, NodeKey, Observation, Pending
from graphbo.types.text import cut, plural
from graphbo.types.view import WeightMeaning
from graphbo.types.view_texts import ViewTexts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KEPT_NAME", "Search", "check_objective"]

DEFAULT_BUDGET = 100
#: What the search of a storage is called that was given no other name.
KEPT_NAME = "search"

log = logging.getLogger(__name__)


class Search:
    """A graph, and a run on it that looks for its best node.

    Everything that is known lives in a database: in memory, in the ``storage``, or where the graph is. So nothing that
    ends a cell or a program, be it Ctrl-C or an exception, takes anything of it away::

        search = graphbo.Search(graph, storage="sqlite:searches.db")
        search.optimize(measure, budget=50)
        search.best

    Nodes are the user's own objects wherever they go in or come out.

    Args:
        graph: a networkx graph; a matrix of weights, sparse or not, whose nodes are its row numbers; a table of edges
            in pandas, with the columns ``source`` and ``target``; or a database, by its address or as an open store.
        storage: the address of a database that keeps a graph in Python and the search on it, as in
            ``sqlite:searches.db``; it is made if it is not there. Its nodes have to be texts, whole numbers or tuples
            of them. Without it, a graph in Python is kept as long as the search is.
        name: of the search. One of that name is gone on with, if it is on the same graph. Without it ``search`` in a
            storage, a new one everywhere else.
        seed: of all that is drawn; None for 0, or as the search was started.
        maximize: whether large values are wanted; None for yes, or as the search was started.

    The others are those of :func:`graphbo.optimize`.

    Raises:
        RunMismatch: the search of that name is on another graph, or was started in another way.
        GraphboError: the graph, the storage or the options cannot be used.
    """

    def __init__(
        self,
        graph: Any,
        *,
        storage: Any = None,
        name: str | None = None,
        label: str | Sequence[str] = (),
        relationship: str | Sequence[str] | Mapping[str, float] = (),
        key: str | None = None,
        weight: str | None = None,
        direction: Direction = "both",
        candidates: str | Sequence[str] = (),
        paths: str | Sequence[str] = (),
        hop: str | None = None,
        where: str | None = None,
        candidates_where: str | None = None,
        hub_limit: int | None = None,
        default_weight: float | None = None,
        weight_as: WeightMeaning = "similarity",
        kernel: "KernelOption | None" = None,
        strategy: str | Strategy | None = None,
        options: Mapping[str, Any] | None = None,
        seed: int | None = None,
        maximize: bool | None = None,
        noise: float | None = None,
        features: str | Sequence[str] = (),
        prior: str | None = None,
        known: Mapping[Any, SupportsFloat] | None = None,
        start: Sequence[Any] = (),
        reveal: Reveal | None = None,
        caption: str | None = None,
        cost: str | None = None,
    ) -> None:
        checks.refuse_wrong_kinds(name=name, maximize=maximize, known=known, start=start)
        _refuse_goal(direction)
        texts = ViewTexts(
            labels=_tuple(label),
            relationships=_factors(relationship),
            direction=direction,
            weight=weight,
            key=key,
            candidates=_tuple(candidates),
            where=where,
            candidates_where=candidates_where,
            paths=_tuple(paths),
            hop=hop,
            hub_limit=hub_limit,
            default_weight=default_weight,
            weight_as=weight_as,
        )
        chosen = dict(options or {})
        if kernel is not None:
            chosen["kernel"] = kernel
        names = AUTO if features == AUTO else list(_tuple(features))
        if names:
            chosen["features"] = names
        if prior is not None:
            chosen["prior"] = prior
        given = {
            "strategy": strategy,
            "seed": seed,
            "maximize": maximize,
            "noise": noise,
            "reveal": reveal,
            "caption": caption,
            "cost": cost,
        }
        # What is wrong with these must not leave a file behind.
        _settings(None, given, chosen, ()).create_strategy()
        read = [name for name in (prior, cost) if name]
        self._opened = open_graph(graph, texts, storage, names, read)
        self._stopping = False
        self._run: Run | None = None
        if self._opened.owned:
            self._finalizer = weakref.finalize(self, _close, self._opened.store)
        try:
            self._begin(name, texts, given, chosen, start)
            if hop is not None:
                self.run.agree_to_hop()
            if known:
                self.tell_known(known)
        except BaseException:
            self.close()
            raise

    def _begin(
        self,
        name: str | None,
        texts: ViewTexts,
        given: Mapping[str, Any],
        options: Mapping[str, Any],
        start: Sequence[Any],
    ) -> None:
        opened = self._opened
        name = name or (KEPT_NAME if opened.kept else f"run-{secrets.token_hex(4)}")
        record = runs_in(opened.store).find(name)
        _refuse_other_graph(opened, record)
        inward = tuple(opened.names.inward(node) for node in start)
        settings = _settings(record, given, options, inward)
        view = opened.view
        if view is None:
            view = texts.view(record.view) if record else database_view(texts, whole=True)
            assert view is not None  # noqa: S101 - for the type checker
        self._run = Run.open_or_create(opened.store, view, name, settings)
        self._settings = settings

    # What it is

    @property
    def run(self) -> Run:
        """The run, whose nodes are called by their keys in the database.

        Raises:
            RunError: it was in memory, and was closed.
        """
        if self._run is None:
            access = self._opened.store.access
            if access is None:
                raise RunError("this search was in memory and was closed: give it a storage")
            store = open_store(access)
            self._opened = replace(self._opened, store=store)
            self._finalizer = weakref.finalize(self, _close, store)
            self._run = Run.open(store, self._name, settings=self._settings)
        return self._run

    @property
    def name(self) -> str:
        """What it is called in its database."""
        return self._name if self._run is None else self._run.name

    @property
    def is_open(self) -> bool:
        """Whether there is something to go on with: all but what was in memory can be opened again."""
        return self._run is not None or self._opened.store.access is not None

    def close(self) -> None:
        """Close the database, if it was opened here. What is not in memory is opened again when it is needed."""
        if self._run is not None:
            self._name = self._run.name
        if self._opened.owned:
            self._run = None
            self._finalizer()

    def rest(self) -> None:
        """Close the database as long as nothing is wanted of it; what is in memory stays."""
        if self._run is None or self._opened.store.access is not None:
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self.is_open:
            return f"Search({self.name!r}, closed)"
        where = "" if self._opened.store.access is None else f", {self._opened.store.address}"
        known = summary(self.history, self._quick_best())
        return f"Search({self.name!r} on {self._opened.summary}, {known}{where})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        best = self._quick_best()
        return card(
            f"Search {self.name}",
            self.history,
            maximize=self.run.record.maximize,
            best=None if best is None else (best.key, best.value, best.step),
            note=plural(self.run.record.evaluations, "evaluation"),
        )

    # Asking and telling

    def ask(self) -> Any:
        """The node to measure next; None if nothing is left to ask for.

        It is kept for whoever asked until it is told: another process gets another one. Asking goes on beyond the
        budget that ``optimize`` had.
        """
        asked = self.run.ask()
        if asked.why_not == "budget":
            record = self.run.record
            self.run.go_on(record.evaluations + record.pending + 1)
            asked = self.run.ask()
        if asked.pending is None:
            log.info("there is nothing to ask for: %s", asked.why_not)
            return None
        return self._outward(asked.pending.key)

    def tell(
        self,
        node: Any,
        value: SupportsFloat | None,
        *,
        error: str | None = None,
        amend: bool = False,
        note: str | None = None,
    ) -> None:
        """Record the value of a node that was asked for, or with None that it has none.

        Args:
            node: which was asked for.
            value: what was measured there.
            error: why there is no value.
            amend: whether to replace a value that was told before.
            note: what else there is to say.

        Raises:
            NotAsked: nobody asked for that node; values of others are told with ``tell_known``.
            ValueConflict: another value was told before.
            RunError: the value is no finite number.
        """
        number = None if value is None else _number(value, node)
        if number is None and error is None:
            error = "no value"
        try:
            self.run.tell(
                number, key=self._inward(node), error=error if number is None else None,
                amend=amend, note=note,
            )  # fmt: skip
        except NotAsked:
            raise NotAsked(
                f"nobody asked for {node!r}: ask first, or record it with tell_known({{{node!r}: {value!r}}}), which "
                "costs no budget"
            ) from None

    def tell_known(self, values: Mapping[Any, SupportsFloat]) -> int:
        """Record values that are known already: they cost no budget. Nodes that have one are left alone.

        Returns:
            How many were new.
        """
        return self.run.tell_known(
            {self._inward(node): _number(value, node) for node, value in values.items()}
        )

    def release(self, node: Any) -> None:
        """Give back a node that was asked for: it costs nothing, and may be asked for again.

        Raises:
            NotAsked: nobody asked for it.
        """
        self.run.release(key=self._inward(node))

    def retry(self, nodes: Sequence[Any] | None = None) -> int:
        """Have failures evaluated again: those of these nodes, or all of them; how many."""
        keys = None if nodes is None else [self._inward(node) for node in nodes]
        return len(self.run.retry(keys))

    def retract(self, node: Any, *, reason: str | None = None) -> None:
        """Take back a value that was told for the wrong node: it counts no more, and the node may be asked for again.

        Raises:
            NotAsked: nothing was told there.
        """
        self.run.retract(key=self._inward(node), reason=reason)

    def exclude(self, *nodes: Any, reason: str | None = None) -> None:
        """Never propose these nodes again, until they are included; they stay part of the graph and of the model."""
        self.run.exclude([self._inward(node) for node in nodes], reason=reason)

    def include(self, *nodes: Any) -> None:
        """Propose these nodes again, which were excluded.

        Raises:
            RunError: one is not excluded.
        """
        self.run.include([self._inward(node) for node in nodes])

    @property
    def excluded(self) -> tuple[Any, ...]:
        """The nodes that are not proposed."""
        self._load()
        return tuple(self._outward(one.key) for one in self.run.excluded)

    def ask_many(self, count: int) -> list[Any]:
        """The next nodes to measure: each proposal knows of those before it. Fewer if no more are left."""
        checks.refuse_wrong_numbers(count=count)
        found = (self.ask() for _ in range(count))
        return list(takewhile(lambda node: node is not None, found))

    def refresh(self) -> None:
        """Read what others told meanwhile."""
        self.run.refresh()

    @property
    def pending(self) -> tuple[Any, ...]:
        """The nodes that were asked for and are not told yet."""
        self._load()
        return tuple(self._outward(one.key) for one in self.run.pending)

    # Working

    def optimize(
        self,
        objective: Callable[..., object] | Objective,
        *,
        budget: int | None = None,
        budget_cost: float | None = None,
        time: float | None = None,
        batch_size: int | None = None,
        workers: int | None = None,
        executor: Any = None,
        timeout: float | None = None,
        retries: int = 0,
        patience: int | None = None,
        max_failures: int | None = None,
        failures_in_a_row: int | None = 10,
        lease: float = LEASE_SECONDS,
        stop: "Callable[[Search], object] | None" = None,
        watch: Watch | None = None,
        progress: bool = True,
    ) -> Result:
        """Evaluate nodes until the budget is used up, or something else ends it.

        Whatever ends it, Ctrl-C, an exception of a callback or an objective that keeps failing, leaves the search
        whole: the same call goes on with it.

        Args:
            objective: called with a node, or with a node and its properties if it takes two arguments.
            budget: how many evaluations at most in all, those before included; 100 without it, or no limit where
                there is a budget_cost.
            budget_cost: how much they may cost at most in all, in a search that has a cost.
            time: seconds after which nothing more is asked for.
            batch_size: ask for so many nodes at once, and for the next when all of them are told.
            workers: how many nodes to evaluate at once. A cluster knows that itself.
            executor: where: ``"threads"``, which is what several workers are without it; ``"processes"``, for what can
                be sent to them; a Dask client; or an executor of ``concurrent.futures``.
            timeout: seconds for each evaluation.
            retries: further attempts at an evaluation that failed.
            patience: stop after so many evaluations without an improvement.
            max_failures: give up after so many failed evaluations.
            failures_in_a_row: give up after so many failed evaluations with none that succeeded between; None to go on.
            lease: seconds after which others who work on the run may take a node over if this process is gone.
            stop: called with the search after each evaluation; something true ends it.
            watch: called with everything that happens.
            progress: whether to show on a terminal and in a notebook how far it is.

        Raises:
            ObjectiveBroken: too many evaluations failed, or all of them.
            GraphboError: the objective or an option cannot be used.
        """
        checks.refuse_wrong_numbers(
            budget=budget,
            time=time,
            batch_size=batch_size,
            workers=workers,
            patience=patience,
            max_failures=max_failures,
            failures_in_a_row=failures_in_a_row,
        )
        checks.refuse_wrong_budget_cost(budget_cost, self.run.record.config.get("cost"))
        checks.refuse_no_callbacks(stop=stop, watch=watch)
        limits = Limits(time, patience, max_failures, failures_in_a_row, lambda: self._stopping)
        measured = check_objective(
            objective, timeout=timeout, retries=retries, here=executor is None
        )
        if self._opened.names.keys and measured.needs_neo4j:
            raise InvalidObjective(f"{measured.name} asks a database, and the graph is in Python")
        if executor == "processes" or isinstance(executor, ProcessPoolExecutor):
            _refuse_unsendable(measured)
        self._stopping = False
        with ExitStack() as open_things:
            pool = open_things.enter_context(pool_of(executor, workers))
            measured = self._ready(measured, pool)
            self.run.refresh()
            self._go_on(budget, budget_cost)
            remarks = Remarks()
            open_things.callback(remarks.conclude)
            watches: list[Watch] = [remarks, *([self._outward_watch(watch)] if watch else [])]
            if progress:
                watches.insert(0, open_things.enter_context(self._displayed()))
            if stop is not None:
                watches.append(self._stopper(stop))
            ending = work(
                self.run,
                measured,
                limits=limits,
                executor=pool.executor,
                parallel=batch_size or pool.size,
                batch=batch_size is not None,
                lease=lease,
                watch=_all(watches),
                names=self._names(measured),
            )
        self._explain(ending)
        return self.result(ending.reason)

    def _go_on(self, budget: int | None, budget_cost: float | None) -> None:
        record = self.run.record
        if budget is None and budget_cost is None and record.budget_cost is None:
            budget = DEFAULT_BUDGET
        self.run.go_on(None if budget is None else int(budget), budget_cost)

    def _explain(self, ending: Ending) -> None:
        """Say what somebody would wonder about who expected more evaluations."""
        record, waiting = self.run.record, self.pending
        if record.budget and ending == Ending("budget", 0) and not waiting:
            log.warning(
                "nothing was evaluated: the budget of %d includes the %s before",
                record.budget,
                plural(record.evaluations, "evaluation"),
            )
        elif ending.reason in ("budget", "exhausted") and waiting:
            log.warning(
                "asked for and not told yet, so kept for whoever measures them, also of the budget: %s; tell them, or "
                "release them",
                cut(", ".join(map(repr, waiting)), 120),
            )

    def stop(self) -> None:
        """End ``optimize`` after what is being evaluated; for callbacks."""
        self._stopping = True

    def result(self, ending: str = "") -> Result:
        """What was found so far."""
        return Result(
            name=self.name,
            best=self.best,
            history=self.history,
            maximize=self.run.record.maximize,
            ending=ending,
            revealed=self.run.graph.revealed,
            settings=self.run.settings,
            search=self,
        )

    # What is known

    @property
    def best(self) -> Best | None:
        """The answer so far; None if nothing was measured."""
        best = self.run.best()
        return best and replace(best, key=self._outward(best.key))

    @property
    def history(self) -> tuple[Observation, ...]:
        """Everything that was told, in that order."""
        self._load()
        return tuple(replace(one, key=self._outward(one.key)) for one in self.run.history)

    def to_dataframe(self) -> "pd.DataFrame":
        """The history as a table, with the best value so far.

        Raises:
            GraphboError: pandas is not installed.
        """
        return table_of(self.history, maximize=self.run.record.maximize)

    def why(self, node: Any = None) -> Why:
        """Why a node is to be measured, or was: what is expected of it, and which parts that is the sum of.

        Args:
            node: which; without it the one that was asked for last, or else the one that would be proposed now.

        Raises:
            RunError: no node is named, and there is nothing left to propose.
        """
        found = self.run.why(None if node is None else self._inward(node))
        parts = (
            one if one.key is None else replace(one, key=self._outward(one.key))
            for one in found.parts
        )
        return replace(found, key=self._outward(found.key), parts=tuple(parts))

    @property
    def plot(self) -> Plots:
        """Figures, as in ``plot.map()`` and ``plot.convergence()``."""
        return Plots(self)

    def facts(
        self, *, optimum: float | None = None, graph: bool = True, caption: str | None = None
    ) -> RunFacts:
        """What reports and plots are made from; see :func:`graphbo.seeing.facts_of`."""
        facts = facts_of(
            self.run, optimum=optimum, graph=graph, caption=caption, outward=self._outward
        )
        # Nobody can do again in a terminal what was done in the memory of a process.
        return facts if self._opened.store.access is not None else replace(facts, address="")

    # Between the user's nodes and the database's keys

    def _inward(self, node: Any) -> NodeKey:
        return self._opened.names.inward(node)

    def _outward(self, key: NodeKey) -> Any:
        return self._opened.names.outward(key)

    def _outward_watch(self, watch: Watch) -> Watch:
        def watching(progress: Progress) -> None:
            asked, told = progress.asked, progress.told
            if asked is not None:
                asked = _with_node(asked, self._outward(asked.key))
            if told is not None:
                observation = told.observation
                named = replace(observation, key=self._outward(observation.key))
                told = replace(told, observation=named)
            watch(replace(progress, asked=asked, told=told))

        return watching if self._opened.names.keys else watch

    def _displayed(self) -> AbstractContextManager[Watch]:
        from graphbo.api.display import displayed  # noqa: PLC0415 - rich, where somebody looks

        return displayed(self.run.record, self._quick_best(), self._outward)

    def _stopper(self, stop: "Callable[[Search], object]") -> Watch:
        def watching(progress: Progress) -> None:
            if progress.told is not None and stop(self):
                self._stopping = True

        return watching

    def _names(self, objective: Objective) -> Names | None:
        names = self._opened.names
        if not names.keys:
            return None

        def node(key: NodeKey) -> Node:
            found = names.outward(key)
            return Node(found, names.attributes_of(found) if objective.needs_properties else {})

        return Names(node, names.outward)

    def _ready(self, objective: Objective, pool: Pool) -> Objective:
        """The objective where it is evaluated."""
        store = self.run.store
        if pool.executor is None:
            return objective.bind(store)
        # Others open connections of their own; an open one cannot be sent to them.
        return objective if store.access is None else objective.bind(store.access)

    def _load(self) -> None:
        """Read the history when it is first wanted."""
        if self.run.record.seq and not self.run.history:
            self.run.refresh()

    def _quick_best(self) -> Best | None:
        """The best value, without asking the model what it believes of it."""
        best = self.run.best(noisy=False)
        return best and replace(best, key=self._outward(best.key))


def check_objective(
    objective: Callable[..., object] | Objective,
    *,
    timeout: float | None = None,
    retries: int = 0,
    here: bool = True,
) -> Objective:
    """What is to be evaluated, looked at before anything is written.

    Args:
        objective: a function, or an objective.
        timeout: of a function; an objective has its own.
        retries: of a function, too.
        here: whether it is evaluated on this machine: a cluster may reach what this machine does not.

    Raises:
        InvalidObjective: it cannot be called with a node, or there is nothing to ask.
    """
    if not isinstance(objective, Objective):
        return from_callable(objective, timeout=timeout, retries=retries)
    if (timeout, retries) != (None, 0) and (timeout, retries) != (
        objective.timeout,
        objective.retries,
    ):
        raise InvalidObjective(
            f"{objective.name} is an objective, which has its own timeout and retries: make it with them"
        )
    if here:
        objective.check()
    return objective


def _close(store: GraphStore) -> None:
    """Whatever thread a search ends in."""
    with suppress(Exception):
        store.close()


def _with_node(pending: Pending, node: Any) -> Pending:
    return replace(pending, candidate=replace(pending.candidate, key=node))


def _all(watches: Sequence[Watch]) -> Watch:
    def watching(progress: Progress) -> None:
        for watch in watches:
            watch(progress)

    return watching


def _number(value: Any, node: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise RunError(f"the value of {node!r} is {value!r}: expected a number") from None


def _tuple(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _factors(relationship: str | Sequence[str] | Mapping[str, float]) -> Mapping[str, float]:
    if isinstance(relationship, Mapping):
        return relationship
    return dict.fromkeys(_tuple(relationship), 1.0)


def _refuse_goal(direction: object) -> None:
    """Elsewhere the direction of a search is up or down."""
    if isinstance(direction, str) and direction.lower()[:3] in ("min", "max"):
        wanted = direction.lower().startswith("max")
        raise InvalidView(
            f"the direction is {direction!r}: it is that of edges, both, out or in; write maximize={wanted}"
        )
    if direction not in ("both", "out", "in"):
        raise InvalidView(f"the direction is {direction!r}: expected both, out or in")


def _settings(
    record: RunRecord | None,
    given: Mapping[str, Any],
    options: Mapping[str, Any],
    start: tuple[NodeKey, ...],
) -> RunSettings:
    """What was given, and what was not as the run was started, if there is one."""
    named = {name: value for name, value in given.items() if value is not None}
    if record is None:
        return RunSettings(**named, options=options, start=start)
    own = {"strategy": given["strategy"], "options": options}
    if given["strategy"] is None or isinstance(given["strategy"], str):
        before = RunSettings.of(record)
        if given["strategy"] in (None, before.strategy_name):
            own = {"strategy": before.strategy_name, "options": {**before.options, **options}}
    else:
        before = RunSettings.of(record, RunSettings(strategy=given["strategy"]))
    rest = {name: value for name, value in named.items() if name != "strategy"}
    return replace(before, **own, **rest, start=start or before.start)


def _refuse_other_graph(opened: Opened, record: RunRecord | None) -> None:
    if not opened.kept or record is None or opened.view is None:
        return
    if record.view.labels != opened.view.labels:
        raise RunMismatch(
            f"the search {record.name!r} in {opened.store.address} is on another graph than {opened.summary}: give the "
            "graph that it was started with, or another name"
        )


def _refuse_unsendable(objective: Objective) -> None:
    """A function that no other process can have would fail at every node."""
    try:
        payload = pickle.dumps(objective)
    except Exception as error:  # noqa: BLE001 - pickling runs the user's code
        why = f"{type(error).__name__}: {error}"
    else:
        main = sys.modules["__main__"]
        if b"__main__" not in payload or getattr(main, "__file__", None):
            return
        why = "it is known to this session only"
    raise InvalidObjective(
        f"{objective.name} cannot be sent to other processes ({why[:200]}): define it in a module, or use "
        "executor='threads'"
    )
