"""One search on one problem, and what it was worth after each evaluation."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from graphbo.bench.methods import Answering, Method, Prototype, Search, StrategyMethod
from graphbo.bench.tasks.base import Problem
from graphbo.bench.tasks.connected import write_connectors
from graphbo.errors import BenchError
from graphbo.objectives import from_callable
from graphbo.runs import Run, RunSettings
from graphbo.runs.registry import runs_in
from graphbo.runs.worker import Progress, work
from graphbo.search.graph import Graph
from graphbo.stores import GraphStore, open_store
from graphbo.types import FloatArray, IntArray, View

__all__ = ["Curves", "loaded", "search"]

#: What nodes and edges are called.
NAMES = ("Node", "LINK")

VIEW = View((NAMES[0],), (NAMES[1],), key="id")

#: How nodes come to be proposed where there is a model.
MODELLED = ("model", "scout")

#: Tells what a prototype draws from what problems draw, which are 0 and 1; [seed, 0] is the same as the bare seed.
OF_PROTOTYPES = 2


@dataclass(frozen=True, eq=False)
class Curves:
    """A search, evaluation by evaluation.

    Attributes:
        regret: what the node that it would answer with falls short of the optimum, both without noise.
        observed_regret: the paper's: what the best measurement so far falls short of the best that there is. The
            same as ``regret`` without noise.
        milliseconds: of one processor, to propose the node: whatever else the machine does.
        revealed: how many nodes of the graph it had looked at.
    """

    regret: FloatArray
    observed_regret: FloatArray
    milliseconds: FloatArray
    revealed: IntArray


def loaded(problem: Problem) -> GraphStore:
    """A store in memory with the problem's graph, and what is known of nodes. Values stay outside."""
    store = open_store("sqlite::memory:")
    store.create_key(VIEW)
    store.write_nodes(VIEW, [(node, problem.known_of(node)) for node in range(problem.n)])
    store.write_relationships(VIEW, [(a, b, {}) for a, b in problem.edges.tolist()])
    write_connectors(store, problem, *NAMES)
    return store


def search(
    method: Method,
    problem: Problem,
    store: GraphStore,
    *,
    seed: int,
    budget: int,
    view: View = VIEW,
    check: Callable[[], None] = lambda: None,
) -> Curves:
    """Let a method search.

    Args:
        method: what searches.
        problem: what is searched.
        store: with the problem's graph, as from ``loaded``.
        view: what is the graph there.
        seed: of all that the method does by chance.
        budget: how many evaluations; as many as there are nodes, if they are fewer.
        check: called before each evaluation; may raise something to end it.

    Raises:
        GraphboError: the method cannot do it.
    """
    if isinstance(method, StrategyMethod):
        return _by_strategy(method, problem, store, seed, min(budget, problem.n), view, check)
    if isinstance(method, Prototype):
        return _by_prototype(method, problem, seed, min(budget, problem.n), check)
    raise BenchError(f"{method.label} is neither a strategy nor a prototype")


def _by_strategy(
    method: StrategyMethod,
    problem: Problem,
    store: GraphStore,
    seed: int,
    budget: int,
    view: View,
    check: Callable[[], None],
) -> Curves:
    """A run like any other, which nobody finds in the store afterwards."""
    measured = problem.noisy
    # Not the noise: no method is told how much there is.
    settings = RunSettings(
        strategy=method.strategy,
        options=dict(method.options),
        seed=seed,
        budget=budget,
        labelled=False,
    )
    run = Run.create(store, view, "search", settings)
    if problem.hides_degrees:
        run.graph = Graph(store, run.view, seed=seed, degrees=False)
    watch = _Watch(run, problem, check)
    try:
        ending = work(run, from_callable(lambda node: float(measured[node])), watch=watch)
        if ending.reason != "budget":
            raise BenchError(
                f"no node was proposed at step {len(run.history) + 1}, and not all have been measured"
            )
        watch.note_answer(noisy=bool(problem.noise))
    finally:
        runs_in(store).clean(run.name)
    nodes = np.array([one.key for one in run.history], dtype=np.int64)
    took = 1e3 * np.diff([0.0, *watch.took])
    return _curves(problem, nodes, np.array(watch.answers), took, np.array(watch.revealed))


class _Watch:
    """Notes what a run answers after each evaluation, and what the next one took and revealed."""

    def __init__(self, run: Run, problem: Problem, check: Callable[[], None]) -> None:
        self._run = run
        self._noisy = bool(problem.noise)
        self._check = check
        self.answers: list[int] = []
        self.took: list[float] = []
        self.revealed: list[int] = []

    def __call__(self, progress: Progress) -> None:
        asked = progress.asked
        if asked is None:
            return
        self._check()
        self.took.append(self._run.clock.proposals)
        if self._run.history:
            # A model that does not propose yet has too little to go by for an answer.
            self.note_answer(noisy=self._noisy and asked.proposal.phase in MODELLED)
        self.revealed.append(self._run.graph.revealed)

    def note_answer(self, *, noisy: bool) -> None:
        """What the run would answer with after all that was told so far."""
        best = self._run.best(told=len(self._run.history), noisy=noisy)
        assert best is not None  # noqa: S101 - every evaluation has a value
        self.answers.append(int(best.key))


def _best_so_far(nodes: IntArray, measured: FloatArray) -> IntArray:
    """The node with the best measurement after each evaluation, the earliest of equals."""
    values = measured[nodes]
    best = np.maximum.accumulate(values)
    new = np.concatenate([[True], values[1:] > best[:-1]])
    return np.asarray(nodes[np.maximum.accumulate(np.where(new, np.arange(len(nodes)), 0))])


def _curves(
    problem: Problem,
    nodes: IntArray,
    answer: IntArray,
    milliseconds: FloatArray,
    revealed: IntArray,
) -> Curves:
    measured = problem.noisy
    return Curves(
        regret=problem.optimum - problem.values[answer],
        observed_regret=measured.max() - np.maximum.accumulate(measured[nodes]),
        milliseconds=milliseconds,
        revealed=revealed,
    )


def _by_prototype(
    method: Prototype, problem: Problem, seed: int, budget: int, check: Callable[[], None]
) -> Curves:
    """It is told what it asked for and nothing else: the graph is all that it gets, so that must not be the answer."""
    if problem.hides_degrees:
        raise BenchError(
            f"the prototype {method.path} gets the whole graph, and this task hides what the graph would tell"
        )
    if problem.connectors:
        raise BenchError(
            f"the prototype {method.path} gets edges between candidates: choose through=projection"
        )
    measured = problem.noisy
    nodes: list[int] = []
    answers: list[int] = []
    took: list[float] = []
    start = method.load()
    began = time.thread_time()
    found = start(problem.n, problem.edges.copy(), _seed_of_prototype(seed))
    _refuse_other(method, found)
    for _ in range(budget):
        node = _asked(method, found.ask(), problem.n, nodes)
        took.append(time.thread_time() - began)
        check()
        nodes.append(node)
        began = time.thread_time()
        found.tell(node, float(measured[node]))
        if problem.noise and isinstance(found, Answering):
            told = time.thread_time()
            answers.append(_named(method, found.best(), nodes))
            began += time.thread_time() - told
    searched = np.array(nodes, dtype=np.int64)
    answer = np.array(answers) if answers else _best_so_far(searched, measured)
    seen = np.full(len(nodes), problem.n)
    return _curves(problem, searched, answer, 1e3 * np.array(took), seen)


def _seed_of_prototype(seed: int) -> int:
    """What a prototype draws from: a problem's own seed would draw the problem's numbers again."""
    return int(np.random.SeedSequence([seed, OF_PROTOTYPES]).generate_state(1)[0])


def _refuse_other(method: Prototype, found: object) -> None:
    if not isinstance(found, Search):
        raise BenchError(
            f"the prototype {method.path} returns a {type(found).__name__}: expected an object with ask() and "
            "tell(node, value)"
        )


def _asked(method: Prototype, node: object, n: int, before: Sequence[int]) -> int:
    """The node, if it may be measured."""
    if not isinstance(node, int | np.integer) or not 0 <= node < n:
        raise BenchError(
            f"the prototype {method.path} asked for {node!r}: expected a node from 0 to {n - 1}"
        )
    if node in before:
        raise BenchError(f"the prototype {method.path} asked for the node {node} a second time")
    return int(node)


def _named(method: Prototype, node: object, measured: Sequence[int]) -> int:
    """The node, if it may be an answer."""
    if not isinstance(node, int | np.integer) or node not in measured:
        raise BenchError(
            f"the prototype {method.path} answers with {node!r}: expected a node that it asked for"
        )
    return int(node)
