"""One search on one problem, and what it was worth after each evaluation."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphbo.bench.methods import Method, Prototype, StrategyMethod
from graphbo.bench.tasks.base import Problem
from graphbo.errors import BenchError
from graphbo.search.graph import Graph
from graphbo.search.strategies import Believing, Situation, Situations, Strategy
from graphbo.search.strategies.answer import answer
from graphbo.stores import GraphStore, open_store
from graphbo.types import FloatArray, IntArray, Observation, Proposal, View

__all__ = ["Curves", "loaded", "search"]

VIEW = View(("Node",), ("LINK",), key="id")


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
        return _by_prototype(method, problem, seed, min(budget, problem.n))
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
    situations = Situations()
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
        situation = situations.of(history, seed=seed, step=step, maximize=True)
        proposal = strategy.propose(situation, graph)
        seconds = time.thread_time() - began
        if problem.noise and history:
            answers.append(_answer(strategy, proposal, situation, graph))
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


def _answer(strategy: Strategy, proposal: Proposal, situation: Situation, graph: Graph) -> int:
    """The node that a run would name now: by the belief that has just proposed, where there is one."""
    if proposal.phase == "model" and isinstance(strategy, Believing):
        found = answer(strategy, situation, strategy.believe(situation, graph), graph)
        if found:
            return int(found[0].key)
    return int(max(situation.told.history, key=lambda one: (one.value, -one.step)).key)


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


def _by_prototype(method: Prototype, problem: Problem, seed: int, budget: int) -> Curves:
    """A prototype gets the measurements as its values: the same noise as everybody else, frozen.

    It returns what its best measurement falls short of; which node that was follows, since noisy values differ.
    """
    times: list[float] = []
    info: dict[str, int] = {}
    measured = problem.noisy
    found = method.load()(
        problem.n, problem.edges, measured, seed, T=budget, noise=None, times=times, info=info
    )
    observed = _filled(np.asarray(found, dtype=np.float64), budget)
    if problem.noise:
        best = measured.max() - observed
        answer = np.abs(measured[:, None] - best[None, :]).argmin(axis=0)
        regret = problem.optimum - problem.values[answer]
    else:
        regret = observed
    return Curves(
        regret,
        observed,
        np.full(budget, 1e3 * float(np.median(times)) if times else np.nan),
        np.full(budget, info.get("revealed", 0)),
    )


def _filled(curve: FloatArray, length: int) -> FloatArray:
    """As long as it has to be, by its last value."""
    more = np.full(max(length - len(curve), 0), curve[-1])
    return np.asarray(np.concatenate([curve, more])[:length])
