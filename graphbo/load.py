"""Putting a graph into a database: a source is read twice, and written in batches."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeAlias

from graphbo.errors import InvalidView, SourceError
from graphbo.sources import EdgeRecord, NodeRecord, Source, Survey
from graphbo.stores import GraphStore, WriteCounts
from graphbo.types import NodeKey, Property, View

__all__ = ["BATCH", "LoadReport", "Stage", "Watch", "inspect", "load"]

#: Records per transaction: enough that its round trip does not matter, few enough for any client's
#: memory.
BATCH: Final = 20_000

Stage: TypeAlias = Literal["read", "delete", "nodes", "relationships"]

#: Called now and then with what is being done, how far it is, and how far it will go.
Watch: TypeAlias = Callable[[Stage, int, int], None]


@dataclass(frozen=True)
class LoadReport:
    """What a load did.

    Attributes:
        survey: what the source holds.
        counts: what changed in the database.
        self_loops: how many edges were left out because they lead from a node to itself.
        nodes, relationships: how many the database has now.
        replaced: whether the old graph was deleted first.
        seconds: how long writing took.
    """

    survey: Survey
    counts: WriteCounts
    self_loops: int
    nodes: int
    relationships: int
    replaced: bool
    seconds: float

    @property
    def changed(self) -> bool:
        """Whether the database differs from before."""
        return self.replaced or self.counts != WriteCounts()

    @property
    def rate(self) -> float:
        """Records written per second."""
        return (self.survey.nodes + self.survey.edges) / max(self.seconds, 1e-9)


def inspect(source: Source, *, skip_bad: bool = False, watch: Watch | None = None) -> Survey:
    """Read a source through, and find out whether it may be loaded. Touches no database.

    Raises:
        SourceError: it is no graph, or has malformed records that may not be skipped.
    """
    survey = source.survey(
        None if watch is None else lambda done, total: watch("read", done, total)
    )
    if survey.bad and not skip_bad:
        many = survey.bad > 1
        raise SourceError(
            f"{source.name}: {survey.bad:,} malformed {survey.unit}{'s' if many else ''}"
            f" ({'the first, ' if many else ''}{survey.examples[0]}):"
            f" nothing was loaded; correct {'them' if many else 'it'} or add --skip-bad"
        )
    return survey


def load(
    store: GraphStore,
    view: View,
    source: Source,
    *,
    directed: bool = False,
    replace: bool = False,
    skip_bad: bool = False,
    batch: int = BATCH,
    watch: Watch | None = None,
) -> LoadReport:
    """Write the graph of ``source`` into ``store``, as the nodes and relationships of ``view``.

    Nothing is written before the source was read through once. Each batch is a transaction. A load
    that is interrupted leaves whole batches behind, and the same load again completes it.

    Args:
        store: where to.
        view: the label, relationship type, key and weight to write.
        source: where from.
        directed: whether (a, b) and (b, a) are two relationships. Otherwise they are one, from the
            smaller key to the larger one.
        replace: whether the nodes of the view are deleted first.
        skip_bad: whether malformed records are left out instead of the whole source being refused.
        batch: how many records go into a transaction.
        watch: is told about the progress.

    Raises:
        InvalidView: the view has no key, or several labels or relationship types.
        SourceError: the source is no graph, has malformed records, or changed while it was read.
        StoreError: the database does not take it.
    """
    _check_view(view)
    survey = inspect(source, skip_bad=skip_bad, watch=watch)
    tell = watch or _silent
    begin = time.perf_counter()
    if replace:
        tell("delete", 0, 1)
        store.delete_graph(view)
    store.create_key(view)
    edges = _Edges(source.edges(), directed)
    counts = _write_nodes(store, view, source.nodes(), survey.nodes, batch, tell)
    counts += _write_edges(store, view, edges, survey.edges, batch, tell)
    return LoadReport(
        survey=survey,
        counts=counts,
        self_loops=edges.self_loops,
        nodes=store.count_nodes(view),
        relationships=store.count_relationships(view),
        replaced=replace,
        seconds=time.perf_counter() - begin,
    )


def _check_view(view: View) -> None:
    if view.key is None:
        raise InvalidView("a loaded graph needs a key: add --key id")
    if len(view.labels) > 1 or len(view.relationships) > 1:
        raise InvalidView("a graph is loaded with one --label and one --rel: leave out the others")


def _silent(_stage: Stage, _done: int, _total: int) -> None:
    pass


def _write_nodes(
    store: GraphStore,
    view: View,
    records: Iterable[NodeRecord],
    total: int,
    batch: int,
    watch: Watch,
) -> WriteCounts:
    counts = WriteCounts()
    done = 0
    iterator = iter(records)
    while part := list(islice(iterator, batch)):
        counts += store.write_nodes(view, list(_last_nodes(part).items()))
        done += len(part)
        watch("nodes", done, total)
    return counts


def _write_edges(
    store: GraphStore, view: View, edges: "_Edges", total: int, batch: int, watch: Watch
) -> WriteCounts:
    counts = WriteCounts()
    iterator = iter(edges)
    while part := list(islice(iterator, batch)):
        merged = _last_edges(part)
        counts += store.write_relationships(view, [(*ends, rest) for ends, rest in merged.items()])
        watch("relationships", edges.seen, total)
    return counts


class _Edges:
    """The edges as they are written: no self-loops and, if undirected, from the smaller key to the larger."""

    def __init__(self, records: Iterator[EdgeRecord], directed: bool) -> None:
        self._records = records
        self._directed = directed
        self.seen = 0
        self.self_loops = 0

    def __iter__(self) -> Iterator[EdgeRecord]:
        for record in self._records:
            self.seen += 1
            source, target, properties = record
            if source == target:
                self.self_loops += 1
            elif self._directed or _in_order(source, target):
                yield record
            else:
                yield target, source, properties


def _in_order(source: NodeKey, target: NodeKey) -> bool:
    """Whether ``source`` comes first: integers by value, then texts by their characters."""
    if isinstance(source, int):
        return isinstance(target, str) or source < target
    return isinstance(target, str) and source < target


def _last_nodes(records: list[NodeRecord]) -> dict[NodeKey, Mapping[str, Property]]:
    """Each node of a batch once. Repetitions add to its properties, the last value of each wins."""
    merged: dict[NodeKey, Mapping[str, Property]] = {}
    for key, properties in records:
        earlier = merged.get(key)
        merged[key] = {**earlier, **properties} if earlier else properties
    return merged


def _last_edges(
    records: list[EdgeRecord],
) -> dict[tuple[NodeKey, NodeKey], Mapping[str, Property]]:
    """Each pair of a batch once, like ``_last_nodes``."""
    merged: dict[tuple[NodeKey, NodeKey], Mapping[str, Property]] = {}
    for source, target, properties in records:
        earlier = merged.get((source, target))
        merged[source, target] = {**earlier, **properties} if earlier else properties
    return merged
