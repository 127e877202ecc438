"""Graphs in memory, a store that remembers what it was asked, and the loop that a run is."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import networkx as nx

from graphbo.search.graph import Graph
from graphbo.search.strategies import Situation, Situations, Strategy
from graphbo.stores import GraphStore, open_store
from graphbo.types import Candidate, NodeKey, Observation, Pending, Proposal, Sample, Subgraph, View

VIEW = View(("N",), ("R",), key="id")

Values = Mapping[NodeKey, float]
#: What a measurement gives; None when it fails.
Measure = Callable[[NodeKey], float | None]


@contextmanager
def stored(graph: "nx.Graph[Any]") -> Iterator[GraphStore]:
    """A store in memory that holds a graph."""
    with open_store("sqlite::memory:") as store:
        store.create_key(VIEW)
        store.write_nodes(VIEW, [(node, {}) for node in graph])
        store.write_relationships(VIEW, [(a, b, {}) for a, b in graph.edges])
        yield store


def situation(
    history: Sequence[Observation],
    pending: Sequence[Pending] = (),
    *,
    step: int | None = None,
    seed: int = 0,
    maximize: bool = True,
) -> Situation:
    """The situation of a process that has just read a run; the next step, unless another is named."""
    step = len(history) + len(pending) + 1 if step is None else step
    return Situations().of(history, pending, seed=seed, step=step, maximize=maximize)


def observe(
    proposal: Proposal,
    measure: Measure,
    *,
    step: int,
    seq: int | None = None,
    candidate: Candidate | None = None,
) -> Observation:
    """The first candidate (or another one), measured."""
    chosen = candidate or proposal.candidates[0]
    value = measure(chosen.key)
    return Observation(
        step=step,
        seq=step if seq is None else seq,
        key=chosen.key,
        value=value,
        mean=chosen.mean,
        std=chosen.std,
        acquisition=chosen.acquisition,
        restart=proposal.restart,
        phase=proposal.phase,
        modelled=proposal.modelled,
        theta=proposal.theta,
        error=None if value is not None else "it failed",
    )


def simulate(
    strategy: Strategy,
    graph: Graph,
    measure: Measure,
    *,
    budget: int,
    seed: int = 0,
    maximize: bool = True,
    history: Iterable[Observation] = (),
) -> list[Observation]:
    """A run by one worker, until the budget or the graph is used up."""
    told, situations = list(history), Situations()
    for step in range(1, budget + 1):
        now = situations.of(told, seed=seed, step=step, maximize=maximize)
        proposal = strategy.propose(now, graph)
        if not proposal.candidates:
            break
        told.append(observe(proposal, measure, step=step, seq=len(told) + 1))
    return told


def in_parallel(
    strategy: Strategy,
    graph: Graph,
    measure: Measure,
    *,
    budget: int,
    workers: int,
    seed: int = 0,
    finish: Callable[[Sequence[Pending]], int] = lambda _: 0,
) -> list[Observation]:
    """A run by several workers; ``finish`` says which of the pending ones is told next."""
    told: list[Observation] = []
    pending: list[Pending] = []
    situations = Situations()
    step = 0
    while True:
        while len(pending) < workers and step < budget:
            now = situations.of(told, pending, seed=seed, step=step + 1, maximize=True)
            proposal = strategy.propose(now, graph)
            if not proposal.candidates:
                break
            step += 1
            pending.append(Pending(step, proposal.candidates[0], proposal, "worker", str(step)))
        if not pending:
            return told
        done = pending.pop(finish(pending))
        told.append(
            observe(
                done.proposal, measure, step=done.step, seq=len(told) + 1, candidate=done.candidate
            )
        )


class SpyingStore:
    """Passes everything on to a store and remembers what was asked and answered."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self.calls: list[str] = []
        self.egos: list[Subgraph] = []

    def random_keys(self, *args: Any) -> list[NodeKey]:
        self.calls.append("random_keys")
        return self._store.random_keys(*args)

    def random_nodes(self, *args: Any) -> Sample:
        self.calls.append("random_nodes")
        return self._store.random_nodes(*args)

    def ego_networks(self, *args: Any) -> Subgraph:
        self.calls.append("ego_networks")
        found = self._store.ego_networks(*args)
        self.egos.append(found)
        return found

    def neighbours(self, *args: Any) -> list[NodeKey]:
        self.calls.append("neighbours")
        return self._store.neighbours(*args)
