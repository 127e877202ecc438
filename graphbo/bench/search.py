"""One search on one problem, and what it was worth after each evaluation."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from graphbo.bench.methods import Answering, Method, Prototype, Search, StrategyMethod
from graphbo.bench.tasks.base import Problem
from graphbo.errors import BenchError
from graphbo.search.graph import Graph
from graphbo.search.strategies import Strategy
from graphbo.search.strategies.answer import Believing, answer
from graphbo.stores import GraphStore, open_store
from graphbo.types import FloatArray, IntArray, Observation, Proposal, View

__all__ = ["Curves", "loaded", "search"]

VIEW = View(("Node",), ("LINK",), key="id")

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
    """A store in memory with the problem's graph. Values and properties stay outside: no method may read them."""
    store = open_store("sqlite::memory:")
    store.create_key(VIEW)
    store.write_nodes(VIEW, [(node, {}) for node in range(problem.n)])
    store.write_relationships(VIEW, [(a, b, {}) for a, b in problem.edges.tolist()])
    return store


def search(
    method: Method,
    problem: Problem,
    store: GraphStore,
    *,
    seed: int,
    budget: int,
    check: Callable[[], None] = lambda: None,
) -> Curves:
    """Let a method search.

    Args:
        method: what searches.
        problem: what is searched.
        store: with the problem's graph, as from ``loaded``.
        seed: of all that the method does by chance.
        budget: how many evaluations; as many as there are nodes, if they are fewer.
        check: called before each evaluation; may raise something to end it.

    Raises:
        GraphboError: the method cannot do it.
    """
    if isinstance(method, StrategyMethod):
        return _by_strategy(method.create(), problem, store, seed, min(budget, problem.n), check)
    if isinstance(method, Prototype):
        return _by_prototype(method, problem, seed, min(budget, problem.n), check)
    raise BenchError(f"{method.label} is neither a strategy nor a prototype")


def _by_strategy(
    strategy: Strategy,
    problem: Problem,
    store: GraphStore,
    seed: int,
    budget: int,
    check: Callable[[], None],
) -> Curves:
    graph = Graph(store, VIEW, seed=seed, degrees=not problem.hides_degrees)
    measured = problem.noisy
    history: list[Observation] = []
    answers: list[int] = []
    took: list[float] = []
    revealed: list[int] = []
    # One proposal more than measurements: what the model made of the last one is part of the answer.
    for step in range(1, budget + 2):
        check()
        if step > budget and not problem.noise:
            break
        began = time.thread_time()
        proposal = strategy.propose(history, (), graph, seed=seed, step=step, maximize=True)
        seconds = time.thread_time() - began
        if problem.noise and history:
            answers.append(_answer(strategy, proposal, history, graph, seed))
        if step > budget:
            break
        took.append(seconds)
        revealed.append(graph.revealed)
        history.append(_observed(step, proposal, measured))
    nodes = np.array([one.key for one in history], dtype=np.int64)
    answer = np.array(answers) if problem.noise else _best_so_far(nodes, measured)
    return _curves(problem, nodes, answer, 1e3 * np.array(took), np.array(revealed))


def _observed(step: int, proposal: Proposal, measured: FloatArray) -> Observation:
    """The first candidate, measured."""
    if not proposal.candidates:
        raise BenchError(f"no node was proposed at step {step}, and not all have been measured")
    chosen = proposal.candidates[0]
    return Observation(
        step=step,
        seq=step,
        key=chosen.key,
        value=float(measured[int(chosen.key)]),
        restart=proposal.restart,
        phase=proposal.phase,
        modelled=proposal.modelled,
    )


def _answer(
    strategy: Strategy, proposal: Proposal, history: list[Observation], graph: Graph, seed: int
) -> int:
    """The node that a run would name now: by the belief that has just proposed, where there is one."""
    if proposal.phase == "model" and isinstance(strategy, Believing):
        step = len(history) + 1
        belief = strategy.believe(history, (), graph, seed=seed, step=step, maximize=True)
        found = answer(strategy, history, belief, graph, maximize=True)
        if found:
            return int(found[0].key)
    return int(max(history, key=lambda one: (one.value, -one.step)).key)


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
