"""The part of the graph around a search, to be drawn: its nodes, its relationships, and where they go."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from graphbo.runs import Run
from graphbo.runs.captions import labels_of
from graphbo.runs.registry import runs_in
from graphbo.search.strategies.model import Belief
from graphbo.seeing.layout import layout
from graphbo.types import Ego, FloatArray, IntArray, NodeKey, Observation, Subgraph

__all__ = ["MOST_EDGES", "MOST_NODES", "Map", "Placing", "map_of"]

#: More than this nobody can tell apart, and a browser should not have to draw.
MOST_NODES, MOST_CONNECTORS, MOST_EDGES = 1500, 500, 6000
#: Around each measured node: enough to see what it lies beside.
MOST_AROUND, PURPOSE = 9, 6
#: So many edges of each node are drawn where edges are paths.
STRONGEST = 4


@dataclass(frozen=True, eq=False)
class Map:
    """What is drawn of a graph.

    Attributes:
        keys: the candidate of each row; connectors have the rows after them.
        places: where each of them goes, within a unit square around 0, connectors last.
        edges: the rows of the two ends of each edge that is drawn.
        properties: of each candidate, without what runs wrote.
        whole: whether these are all the candidates that the graph has.
        nodes: how many candidates the graph has; None if the search may not know.
        around: whether neighbours of the measured nodes are among them.
        more_edges: how many edges between these nodes are not drawn.
        more_measured: how many measured nodes are not drawn.
        connectors: how many connectors are drawn.
        hubs: how many connectors with too many neighbours were skipped.
        labels: which of the view's labels each candidate has, where there are several.
    """

    keys: tuple[NodeKey, ...]
    places: FloatArray
    edges: IntArray
    properties: tuple[Mapping[str, object], ...]
    whole: bool
    nodes: int | None
    around: bool = True
    more_edges: int = 0
    more_measured: int = 0
    connectors: int = 0
    hubs: int = 0
    labels: Mapping[NodeKey, Sequence[str]] = field(default_factory=dict)


#: Where to draw nodes and connectors, by name, given the rows of the ends of edges.
Placing: TypeAlias = Callable[[Sequence[NodeKey], IntArray], FloatArray]


def _anew(keys: Sequence[NodeKey], edges: IntArray) -> FloatArray:
    return layout(len(keys), edges)


def map_of(run: Run, belief: Belief | None, placing: Placing = _anew) -> Map | None:
    """The measured nodes of a run, what is beside them and the current region; None if there is nothing yet.

    Whoever draws again and again brings a ``placing`` that remembers where nodes were. Which nodes a run was told of
    earlier is not recorded. Where the graph is small, all of it is drawn; else a few neighbours of each measured node.
    In a graph that is unknown at first, nothing is drawn that the run may not know.

    Raises:
        StoreError: the database does not answer.
    """
    measured = _chosen(run)
    wanted = [*measured, *(one.key for one in run.pending if one.key not in measured)]
    if not wanted:
        return None
    region = () if belief is None else belief.subgraph.keys
    nodes = None if run.graph.unknown else run.store.count_nodes(run.view)
    whole = nodes is not None and nodes <= MOST_NODES
    subgraph = _subgraph(run, wanted, region, whole)
    told = {one.key for one in run.history}
    subgraph = _with_few_connectors(subgraph)
    edges = _edges(subgraph)
    # Whatever many share a connector with is everybody's neighbour by paths, if a faint one.
    near = _strongest(subgraph, edges) if run.view.paths or run.view.hop else edges
    drawn = _drawn_edges(subgraph, near, told)
    return Map(
        keys=subgraph.keys,
        places=placing([*subgraph.keys, *subgraph.connectors], near),
        edges=drawn,
        properties=_properties(run, subgraph.keys),
        whole=nodes == len(subgraph),
        nodes=nodes,
        around=_around(wanted, region) > 1,
        more_edges=len(edges) - len(drawn),
        more_measured=len(told.difference(subgraph.keys)),
        connectors=len(subgraph.connectors),
        hubs=len(subgraph.hubs),
        labels=labels_of(run.store, run.view, list(subgraph.keys)),
    )


def _chosen(run: Run) -> list[NodeKey]:
    """The measured nodes to draw: all, or the best and the latest of too many."""
    sign = 1.0 if run.record.maximize else -1.0

    def merit(one: Observation) -> float:
        return -np.inf if one.value is None else sign * one.value

    history = list({one.key: one for one in run.history}.values())
    most = MOST_NODES * 2 // 3
    if len(history) > most:
        best = sorted(history, key=merit, reverse=True)[: most // 2]
        history = list({one.key: one for one in (*best, *history[-most // 2 :])}.values())
    return [one.key for one in history]


def _subgraph(
    run: Run, wanted: list[NodeKey], region: tuple[NodeKey, ...], whole: bool
) -> Subgraph:
    """The nodes and the relationships among them, in one question."""
    inside = set(wanted)
    rest = [key for key in region if key not in inside][: MOST_NODES - len(wanted)]
    around = _around(wanted, region)
    sizes = dict.fromkeys([*wanted, *rest], 1)
    evaluated = [one.key for one in run.history if one.value is not None]
    through = evaluated if run.settings.reveal == "evaluated" else None
    # What is around a node that has no value is not known yet in an unknown graph.
    known = set(evaluated) if run.graph.unknown else inside
    for key in wanted:
        if key in known:
            sizes[key] = around
    if whole:
        sizes[wanted[0]] = MOST_NODES
    return run.store.ego_networks(
        run.view,
        [Ego(key, size) for key, size in sizes.items()],
        (run.record.seed, 0, PURPOSE),
        wanted if around > 1 else (),
        through,
    )


def _around(wanted: list[NodeKey], region: tuple[NodeKey, ...]) -> int:
    """How many nodes of its own each measured node brings along, itself included."""
    room = MOST_NODES - len(wanted) - len(set(region).difference(wanted))
    return max(1, min(MOST_AROUND, 1 + room // len(wanted)))


def _edges(subgraph: Subgraph) -> IntArray:
    """Each pair of neighbours once, without loops."""
    ends = np.stack([subgraph.sources, subgraph.targets], axis=1)
    ends = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    return np.unique(ends, axis=0) if len(ends) else ends.reshape(0, 2)


def _with_few_connectors(subgraph: Subgraph) -> Subgraph:
    """The subgraph without connectors that lead from one node to none other, and with at most as many as are drawn."""
    first = len(subgraph)
    ends = _edges(subgraph)
    ways = np.bincount(ends.ravel(), minlength=first + len(subgraph.connectors))[first:]
    wanted = np.argsort(-ways, kind="stable")[:MOST_CONNECTORS]
    kept = np.sort(wanted[ways[wanted] > 1])
    if len(kept) == len(subgraph.connectors):
        return subgraph
    row_of = np.full(first + len(subgraph.connectors), -1, dtype=np.int64)
    row_of[:first] = np.arange(first)
    row_of[first + kept] = first + np.arange(len(kept))
    sources, targets = row_of[subgraph.sources], row_of[subgraph.targets]
    inside = (sources >= 0) & (targets >= 0)
    return replace(
        subgraph,
        sources=sources[inside],
        targets=targets[inside],
        weights=subgraph.weights[inside],
        connectors=tuple(subgraph.connectors[row] for row in kept),
    )


def _strongest(subgraph: Subgraph, edges: IntArray) -> IntArray:
    """Of the edges, those that are among the strongest of one of their ends."""
    weights = subgraph.adjacency[edges[:, 0], edges[:, 1]]
    taken = np.zeros(len(subgraph) + len(subgraph.connectors), dtype=np.int64)
    kept = []
    for place in np.argsort(-weights, kind="stable"):
        first, second = edges[place]
        if min(taken[first], taken[second]) < STRONGEST:
            taken[[first, second]] += 1
            kept.append(place)
    return edges[np.sort(np.array(kept, dtype=np.int64))]


def _drawn_edges(subgraph: Subgraph, edges: IntArray, told: set[NodeKey]) -> IntArray:
    """Of too many: first those between measured nodes, then those of measured nodes, then any."""
    if len(edges) <= MOST_EDGES:
        return edges
    measured = np.zeros(len(subgraph) + len(subgraph.connectors), dtype=np.int64)
    measured[: len(subgraph)] = [key in told for key in subgraph.keys]
    rank = measured[edges].sum(axis=1) + np.random.default_rng(0).random(len(edges))
    return edges[np.sort(np.argsort(-rank)[:MOST_EDGES])]


def _properties(run: Run, keys: tuple[NodeKey, ...]) -> tuple[Mapping[str, object], ...]:
    ours = runs_in(run.store).written()
    found = run.store.properties(run.view, keys)
    return tuple(
        {name: value for name, value in found[key].items() if name not in ours} for key in keys
    )
