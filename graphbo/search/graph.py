"""Algorithm 2 as strategies see it: ego-networks, neighbours and random nodes, and nothing else of the graph.

:class:`Graph` is their only door to the database. It decides what may be looked at where the graph is unknown
at first, keeps what it was told as long as the question stays the same, and counts what that cost.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, TypeVar, cast, get_args

from graphbo.errors import InvalidView
from graphbo.search.features import DEGREE
from graphbo.stores import GraphStore
from graphbo.types import Ego, NodeKey, Sample, Subgraph, View

__all__ = ["Graph", "Reveal"]

#: How much of the graph may be used: all of it; ego-networks around evaluated nodes; or the neighbours of evaluated
#: nodes only, as in contact tracing.
Reveal: TypeAlias = Literal["all", "ego", "evaluated"]

#: How many answers are kept. A worker alternates between a region and the next one at most.
ANSWERS_KEPT = 4

T = TypeVar("T")


class Graph:
    """The part of a graph that a run may know, on demand.

    In an unknown graph (``reveal`` is not ``"all"``) a run begins at ``start`` and learns of other nodes only through
    nodes that it has evaluated. What it knows follows from which those are and not from what this process has seen, so
    that a process that resumes the run knows the same.

    Args:
        store: the database; used by the thread that calls.
        view: which nodes and relationships are the graph.
        seed: of the run. Equal seeds and draws give equal answers.
        start: the nodes to begin with, in this order.
        reveal: how much of the graph may be used.
        degrees: whether the degrees of nodes may be known, where the whole graph is.

    Raises:
        InvalidView: there is no such ``reveal``, or the graph is unknown and has no start.
    """

    def __init__(
        self,
        store: GraphStore,
        view: View,
        *,
        seed: int,
        start: tuple[NodeKey, ...] = (),
        reveal: Reveal = "all",
        degrees: bool = True,
    ) -> None:
        if reveal not in get_args(Reveal):
            known = ", ".join(get_args(Reveal))
            raise InvalidView(f"reveal is {reveal!r}: expected one of {known}")
        if reveal != "all" and not start:
            raise InvalidView(
                f"an unknown graph (reveal {reveal!r}) has to be entered somewhere: name a start node"
            )
        self._store = store
        self._view = view
        self._seed = seed
        self._start = tuple(dict.fromkeys(start))
        self._reveal = reveal
        # How many neighbours a node has is known only where they all are.
        self._degrees = degrees and reveal == "all"
        self._seen: set[NodeKey] = set()
        self._hubs: set[str] = set()
        self._answers: OrderedDict[Hashable, object] = OrderedDict()
        self._calls = 0
        self._seconds = 0.0

    @property
    def unknown(self) -> bool:
        """Whether only what was revealed may be used."""
        return self._reveal != "all"

    @property
    def revealed(self) -> int:
        """How many different nodes this process has been told of."""
        return len(self._seen)

    @property
    def hubs(self) -> int:
        """How many different connectors were skipped as they have too many neighbours."""
        return len(self._hubs)

    @property
    def database_calls(self) -> int:
        """How many questions the database was asked."""
        return self._calls

    @property
    def database_seconds(self) -> float:
        """How long the answers took, in all."""
        return self._seconds

    def ego_networks(
        self,
        egos: Sequence[Ego],
        draw: Sequence[int],
        first: Collection[NodeKey],
        evaluated: Collection[NodeKey],
        read: Sequence[str] = (),
    ) -> Subgraph:
        """The ego-networks around nodes, as one subgraph; the same object while the question is the same.

        Args:
            egos: the centres and how many nodes to take around each. In an unknown graph, evaluated nodes.
            draw: numbers that tell this random choice from others of the run.
            first: nodes to prefer in a hop that does not fit.
            evaluated: the nodes that have been evaluated. Where only their neighbours are known, the ego-networks are
                made of them and their neighbours, and of the relationships that touch one of them.
            read: the properties that the answer has of each candidate.

        Raises:
            InvalidView: a centre is not known yet.
            StoreError: a centre is not in the graph, or the database does not answer.
        """
        self._refuse_unknown([ego.centre for ego in egos], evaluated)
        through = frozenset(evaluated) if self._reveal == "evaluated" else None
        question = ("ego", tuple(egos), tuple(draw), frozenset(first), through, tuple(read))

        def ask() -> Subgraph:
            found = self._timed(
                lambda: self._store.ego_networks(
                    self._view, egos, self._drawn(draw), first, through, read
                )
            )
            return found if self._degrees else replace(found, degrees=None)

        found = self._answer(question, ask)
        self._seen.update(found.keys)
        self._hubs.update(found.hubs)
        return found

    def random(
        self,
        count: int,
        draw: Sequence[int],
        exclude: Collection[NodeKey],
        evaluated: Collection[NodeKey],
    ) -> list[NodeKey]:
        """Up to ``count`` nodes that are not excluded: start nodes first, then others at random.

        In a known graph they are uniform among all its nodes, in an unknown one among the neighbours of
        evaluated nodes. There are fewer only when there are no more.

        Args:
            count: how many.
            draw: numbers that tell this random choice from others of the run.
            exclude: nodes that are not wanted.
            evaluated: the nodes that have been evaluated.

        Raises:
            StoreError: a node is not in the graph, or the database does not answer.
        """
        # Elsewhere what was evaluated changes nothing, and the answer can be kept.
        known = frozenset(evaluated) if self.unknown else None
        question = ("random", count, tuple(draw), frozenset(exclude), known)

        def ask() -> tuple[NodeKey, ...]:
            begin = [key for key in self._start if key not in exclude][:count]
            rest = self._others(count - len(begin), draw, [*exclude, *self._start], evaluated)
            return (*begin, *rest)

        found = self._answer(question, ask)
        self._seen.update(found)
        return list(found)

    def sample(
        self,
        count: int,
        draw: Sequence[int],
        exclude: Collection[NodeKey],
        read: Sequence[str] = (),
    ) -> Sample:
        """Up to ``count`` nodes from anywhere, with their degrees and properties: what one question finds.

        Args:
            count: how many.
            draw: numbers that tell this random choice from others of the run.
            exclude: nodes that are not wanted.
            read: the properties that the answer has of each.

        Raises:
            InvalidView: the graph is unknown.
            StoreError: the database does not answer.
        """
        if self.unknown:
            raise InvalidView("nodes from anywhere are not known in a graph that is being revealed")
        question = ("sample", count, tuple(draw), frozenset(exclude), tuple(read))

        def ask() -> Sample:
            found = self._timed(
                lambda: self._store.random_nodes(
                    self._view, count, self._drawn(draw), exclude, read
                )
            )
            return found if self._degrees else replace(found, degrees=None)

        found = self._answer(question, ask)
        self._seen.update(found.keys)
        return found

    def known_of(self, key: NodeKey, names: Sequence[str]) -> dict[str, object]:
        """What a node has of some features, as people know it: properties, and its degree.

        Raises:
            StoreError: the node is not in the graph, or the database does not answer.
        """
        found = self.ego_networks([Ego(key, 1)], (0,), (), [key], tuple(names))
        known = {name: values[0] for name, values in found.properties.items()}
        if found.degrees is not None and known.get(DEGREE) is None:
            known[DEGREE] = int(found.degrees[0])
        return known

    def neighbours(
        self,
        keys: Sequence[NodeKey],
        draw: Sequence[int],
        exclude: Collection[NodeKey],
        evaluated: Collection[NodeKey],
        limit: int | None = None,
    ) -> list[NodeKey]:
        """Nodes one hop from any of ``keys``, neither among them nor excluded, in random order.

        Args:
            keys: where to look from. In an unknown graph, evaluated nodes.
            draw: numbers that tell this random choice from others of the run.
            exclude: nodes that are not wanted.
            evaluated: the nodes that have been evaluated.
            limit: how many at most.

        Raises:
            InvalidView: the graph is unknown, and a node has not been evaluated.
            StoreError: a node is not in the graph, or the database does not answer.
        """
        self._refuse_unknown(keys, evaluated)
        found = self._neighbours(keys, draw, exclude, limit)
        self._seen.update(found)
        return found

    def _others(
        self,
        count: int,
        draw: Sequence[int],
        exclude: Iterable[NodeKey],
        evaluated: Collection[NodeKey],
    ) -> list[NodeKey]:
        if count <= 0:
            return []
        if not self.unknown:
            return self._timed(
                lambda: self._store.random_keys(self._view, count, self._drawn(draw), exclude)
            )
        return self._neighbours(list(evaluated), draw, exclude, count) if evaluated else []

    def _neighbours(
        self,
        keys: Sequence[NodeKey],
        draw: Sequence[int],
        exclude: Iterable[NodeKey],
        limit: int | None,
    ) -> list[NodeKey]:
        return self._timed(
            lambda: self._store.neighbours(self._view, keys, self._drawn(draw), exclude, limit)
        )

    def _refuse_unknown(self, keys: Iterable[NodeKey], evaluated: Collection[NodeKey]) -> None:
        if not self.unknown:
            return
        for key in keys:
            if key not in evaluated:
                raise InvalidView(
                    f"the node {key!r} has not been evaluated, so what is around it is unknown"
                )

    def _drawn(self, draw: Sequence[int]) -> tuple[int, ...]:
        return (self._seed, *draw)

    def _answer(self, question: Hashable, ask: Callable[[], T]) -> T:
        """What was answered before, or what the database answers now."""
        if question in self._answers:
            self._answers.move_to_end(question)
            return cast(T, self._answers[question])
        found = ask()
        self._answers[question] = found
        if len(self._answers) > ANSWERS_KEPT:
            self._answers.popitem(last=False)
        return found

    def _timed(self, ask: Callable[[], T]) -> T:
        began = time.perf_counter()
        try:
            return ask()
        finally:
            self._calls += 1
            self._seconds += time.perf_counter() - began
