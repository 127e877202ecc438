"""What is known of nodes beforehand, wherever they are: the scales of the features, and those of what was measured.

It is read from the database, in trips that are made anyhow where possible, and kept: a process that resumes a run reads
it again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from graphbo.errors import NoSuchNode
from graphbo.search.features import Features
from graphbo.search.graph import Graph
from graphbo.search.strategies.base import Purpose
from graphbo.types import Ego, FloatArray, NodeKey, Sample, Subgraph

__all__ = ["KnownNodes"]

#: So many nodes are remembered at most, beside those that were measured.
MOST_KEPT = 4_000

#: The scales come from so many nodes.
SAMPLE = 500


class KnownNodes:
    """What a run knows of nodes before they are measured.

    Args:
        names: the properties that are features.
        degrees: whether degrees are features as well.
    """

    def __init__(self, names: Sequence[str], *, degrees: bool = True) -> None:
        self.names = tuple(names)
        self._degrees = degrees
        self._scales: tuple[Graph, Features] | None = None
        #: None for nodes that are gone.
        self._columns: dict[NodeKey, Mapping[str, FloatArray] | None] = {}

    def scales(self, graph: Graph, subgraph: Subgraph | None = None) -> Features:
        """The features' scales, of a sample of the whole graph; in an unknown one, of what is being looked at.

        Raises:
            StoreError: the database does not answer.
        """
        if graph.unknown and subgraph is not None:
            return Features.of(self.names, subgraph)
        if self._scales is None or self._scales[0] is not graph:
            sample = graph.sample(SAMPLE, (0, Purpose.SCALES), (), self.names)
            found = Features.of(self.names, sample)
            self._scales = graph, found if self._degrees else replace(found, degree=None)
            self._columns = {}
        return self._scales[1]

    def keep(
        self, scales: Features, found: Subgraph | Sample, rows: Sequence[int]
    ) -> dict[str, FloatArray]:
        """The features of some nodes that were found; they are kept for when these have been measured."""
        columns = scales.columns(
            None if found.degrees is None else found.degrees[list(rows)],
            {name: tuple(values[row] for row in rows) for name, values in found.properties.items()},
        )
        for place, row in enumerate(rows):
            own = {name: column[place] for name, column in columns.items()}
            self._columns.pop(found.keys[row], None)  # the last ones last
            self._columns[found.keys[row]] = own
        return columns

    def of(
        self, keys: Sequence[NodeKey], scales: Features, graph: Graph
    ) -> tuple[list[NodeKey], dict[str, FloatArray]]:
        """The features of nodes, without those that are gone; what was not kept is read now.

        Raises:
            StoreError: the database does not answer.
        """
        missing = [key for key in keys if key not in self._columns]
        if missing:
            self._read(missing, scales, graph)
        wanted = {key: self._columns[key] for key in keys}
        if len(self._columns) > MOST_KEPT:
            # What was found long ago and is not measured yet hardly will be.
            found_last = list(self._columns.items())[-MOST_KEPT // 2 :]
            self._columns = wanted | dict(found_last)
        there = [key for key in keys if wanted[key] is not None]
        found = [wanted[key] or {} for key in there]
        return there, {name: np.array([own[name] for own in found]) for name in scales.names}

    def _read(self, keys: Sequence[NodeKey], scales: Features, graph: Graph) -> None:
        """An ego-network of one node is the node alone."""
        try:
            egos = [Ego(key, 1) for key in keys]
            found = graph.ego_networks(egos, (0, Purpose.KNOWN), (), (), self.names)
        except NoSuchNode:
            # Somebody deleted what was measured: that ends no run.
            if len(keys) == 1:
                self._columns[keys[0]] = None
                return
            for key in keys:
                self._read([key], scales, graph)
            return
        self.keep(scales, found, range(len(found)))
