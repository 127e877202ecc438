"""Putting a graph into a database: a source is read twice, and written in batches."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, Protocol, TypeAlias

from graphbo.errors import InvalidView, Remedy, RunError, SourceError
from graphbo.loading import EdgeRecord, NodeRecord, OnRead, Source, Survey
from graphbo.loading.repeats import merged, without_repeats
from graphbo.runs.registry import runs_in
from graphbo.stores import GraphStore, WriteCounts
from graphbo.types import NodeKey, Property, View

__all__ = ["BATCH", "LoadReport", "OnLoad", "Stage", "inspect", "load", "refuse_to_lose_runs"]

#: Records per transaction: enough that its round trip does not matter, few enough for any client's
#: memory.
BATCH: Final = 20_000

Stage: TypeAlias = Literal["read", "delete", "nodes", "sort", "relationships"]

#: Called now and then with what is being done, how far it is, and how far it will go.
OnLoad: TypeAlias = Callable[[Stage, int, int], None]


@dataclass(frozen=True)
class LoadReport:
    """What a load did.

    Attributes:
        survey: what the source holds.
        counts: what changed in the database.
        self_loops: how many edges were left out because they lead from a node to itself. Their nodes
            were not.
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


def refuse_to_lose_runs(store: GraphStore, view: View) -> None:
    """Observations are kept at the nodes: deleting the nodes would lose them."""
    runs = [run.name for run in runs_in(store).all() if set(run.view.labels) & set(view.labels)]
    if runs:
        raise RunError(
            f"the run {runs[0]!r} has its observations at the nodes that would be deleted",
            Remedy.REMOVE_RUN_OF_NODES,
            run=runs[0],
        )


class Surveyed(Protocol):
    """Whatever can be read through before it is loaded: a source, or several tables."""

    @property
    def name(self) -> str:
        """What to call it in a message."""

    def survey(self, progress: OnRead | None = None) -> Survey:
        """Read everything once."""


def inspect(source: Surveyed, *, skip_bad: bool = False, watch: OnLoad | None = None) -> Survey:
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
            f" ({'the first, ' if many else ''}{survey.examples[0]})",
            Remedy.SKIP_BAD,
            them="them" if many else "it",
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
    watch: OnLoad | None = None,
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
        RunError: the nodes to be replaced hold the observations of a run.
    """
    _check_view(view)
    survey = inspect(source, skip_bad=skip_bad, watch=watch)
    tell = watch or _silent
    begin = time.perf_counter()
    if replace:
        refuse_to_lose_runs(store, view)
        tell("delete", 0, 1)
        store.delete_graph(view)
    store.create_key(view)
    alone = _Alone(store, view, batch)
    edges = _Edges(source.edges(), directed, alone)
    counts = _write_nodes(store, view, source.nodes(), survey.nodes, batch, tell)
    counts += _write_edges(store, view, _batches(edges, survey, batch, tell), survey.edges, tell)
    alone.finish()
    return LoadReport(
        survey=survey,
        counts=counts + alone.counts,
        self_loops=edges.self_loops,
        nodes=store.count_nodes(view),
        relationships=store.count_relationships(view),
        replaced=replace,
        seconds=time.perf_counter() - begin,
    )


def _check_view(view: View) -> None:
    if view.key is None:
        raise InvalidView("a loaded graph needs a key property", Remedy.NAME_KEY)
    if len(view.labels) > 1 or len(view.relationships) > 1:
        raise InvalidView(
            "a graph is loaded with one label and one relationship type: leave out the others"
        )


def _silent(_stage: Stage, _done: int, _total: int) -> None:
    pass


def _write_nodes(
    store: GraphStore,
    view: View,
    records: Iterable[NodeRecord],
    total: int,
    batch: int,
    watch: OnLoad,
) -> WriteCounts:
    counts = WriteCounts()
    done = 0
    iterator = iter(records)
    while part := list(islice(iterator, batch)):
        watch("nodes", done, total)
        counts += store.write_nodes(view, list(_last_nodes(part).items()))
        done += len(part)
    if total:
        watch("nodes", total, total)
    return counts


def _write_edges(
    store: GraphStore, view: View, parts: Iterable[list[EdgeRecord]], total: int, watch: OnLoad
) -> WriteCounts:
    counts = WriteCounts()
    done = 0
    for part in parts:
        watch("relationships", done, total)
        counts += store.write_relationships(view, part)
        done += len(part)
    if total:
        watch("relationships", total, total)
    return counts


def _batches(
    edges: "_Edges", survey: Survey, batch: int, watch: OnLoad
) -> Iterator[list[EdgeRecord]]:
    """The edges in batches; a pair with properties is in one of them only.

    Otherwise a pair whose second weight comes in a later batch would be changed twice by each load.
    """
    if survey.edge_properties and survey.edges > batch:
        yield from without_repeats(
            edges, survey.edges, batch, lambda done: watch("sort", done, survey.edges)
        )
        return
    iterator = iter(edges)
    while part := list(islice(iterator, batch)):
        yield merged(part)


class _Edges:
    """The edges as they are written: no self-loops and, if undirected, from the smaller key to the larger.

    A node that has nothing but a self-loop is a node all the same: such ends go to ``alone``.
    """

    def __init__(self, records: Iterator[EdgeRecord], directed: bool, alone: "_Alone") -> None:
        self._records = records
        self._directed = directed
        self._alone = alone
        self.self_loops = 0

    def __iter__(self) -> Iterator[EdgeRecord]:
        for record in self._records:
            source, target, properties = record
            if source == target:
                self.self_loops += 1
                self._alone.add(source)
            elif self._directed or _in_order(source, target):
                yield record
            else:
                yield target, source, properties


class _Alone:
    """Writes nodes that come one by one, a batch at a time."""

    def __init__(self, store: GraphStore, view: View, batch: int) -> None:
        self._store = store
        self._view = view
        self._batch = batch
        self._keys: dict[NodeKey, None] = {}
        self.counts = WriteCounts()

    def add(self, key: NodeKey) -> None:
        self._keys[key] = None
        if len(self._keys) >= self._batch:
            self.finish()

    def finish(self) -> None:
        if self._keys:
            self.counts += self._store.write_nodes(self._view, [(key, {}) for key in self._keys])
            self._keys.clear()


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
