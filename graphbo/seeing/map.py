"""The part of the graph around a search, to be drawn: its nodes, its relationships, and where they go."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from graphbo.runs import Run
from graphbo.runs.registry import runs_in
from graphbo.search.strategies.model import Belief
from graphbo.seeing.layout import layout
from graphbo.types import Ego, FloatArray, IntArray, NodeKey, Observation, Subgraph

__all__ = ["MOST_EDGES", "MOST_NODES", "Map", "map_of"]

#: More than this nobody can tell apart, and a browser should not have to draw.
MOST_NODES, MOST_EDGES = 1500, 6000
#: Around each measured node: enough to see what it lies beside.
MOST_AROUND, PURPOSE = 9, 6


@dataclass(frozen=True, eq=False)
class Map:
    """What is drawn of a graph.

    Attributes:
        keys: the node of each row.
        places: where each of them goes, within a unit square around 0.
        edges: the rows of the two ends of each edge that is drawn.
        properties: of each node, without what runs wrote.
        whole: whether these are all the nodes that the graph has.
        nodes: how many nodes the graph has; None if the search may not know.
        around: whether neighbours of the measured nodes are among them.
        more_edges: how many edges between these nodes are not drawn.
        more_measured: how many measured nodes are not drawn.
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


def map_of(run: Run, belief: Belief | None) -> Map | None:
    """The measured nodes of a run, what is beside them and the current region; None if there is nothing yet.

    Which nodes a run was told of earlier is not recorded. Where the graph is small, all of it is drawn; else a few
    neighbours of each measured node. In a graph that is unknown at first, nothing is drawn that the run may not know.

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
    edges = _edges(subgraph)
    drawn = _drawn_edges(subgraph, edges, told)
    return Map(
        keys=subgraph.keys,
        places=layout(len(subgraph), edges),
        edges=drawn,
        properties=_properties(run, subgraph.keys),
        whole=nodes == len(subgraph),
        nodes=nodes,
        around=_around(wanted, region) > 1,
        more_edges=len(edges) - len(drawn),
        more_measured=len(told.difference(subgraph.keys)),
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


def _drawn_edges(subgraph: Subgraph, edges: IntArray, told: set[NodeKey]) -> IntArray:
    """Of too many: first those between measured nodes, then those of measured nodes, then any."""
    if len(edges) <= MOST_EDGES:
        return edges
    measured = np.array([key in told for key in subgraph.keys])
    rank = measured[edges].sum(axis=1) + np.random.default_rng(0).random(len(edges))
    return edges[np.sort(np.argsort(-rank)[:MOST_EDGES])]


def _properties(run: Run, keys: tuple[NodeKey, ...]) -> tuple[Mapping[str, object], ...]:
    ours = runs_in(run.store).written()
    found = run.store.properties(run.view, keys)
    return tuple(
        {name: value for name, value in found[key].items() if name not in ours} for key in keys
    )
