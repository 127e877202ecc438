"""Putting tables into a database: nodes of several kinds, and what connects them."""

import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

from graphbo.errors import SourceError
from graphbo.loading.load import BATCH, OnLoad, inspect, refuse_to_lose_runs
from graphbo.loading.tables import EdgeRow, Kind, NodeRow, Tables, TablesSurvey
from graphbo.stores import GraphStore, WriteCounts
from graphbo.types import View

__all__ = ["TablesReport", "load_tables"]

#: A view needs some type, also where only nodes are written.
_ANY_TYPE: Final = "RELATED"

_Row = TypeVar("_Row")
_Same = TypeVar("_Same", bound=Hashable)


@dataclass(frozen=True)
class TablesReport:
    """What a load of tables did.

    Attributes:
        survey: what the tables hold.
        counts: what changed in the database.
        replaced: whether the old nodes were deleted first.
        seconds: how long writing took.
    """

    survey: TablesSurvey
    counts: WriteCounts
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


def load_tables(
    store: GraphStore,
    tables: Tables,
    *,
    replace: bool = False,
    skip_bad: bool = False,
    batch: int = BATCH,
    watch: OnLoad | None = None,
) -> TablesReport:
    """Write the nodes and the relationships of ``tables`` into ``store``.

    Nothing is written before all tables were read through once. Each batch is a transaction. A load that is interrupted
    leaves whole batches behind, and the same load again completes it: nodes are known by label and key, relationships
    by their ends, their type and all of their properties.

    Args:
        store: where to.
        tables: where from.
        replace: whether all nodes with one of the labels are deleted first.
        skip_bad: whether malformed rows are left out instead of everything being refused.
        batch: how many records go into a transaction.
        watch: is told about the progress.

    Raises:
        SourceError: the tables are no graph, have malformed rows, or changed while they were read.
        StoreError: the database does not take it.
        RunError: the nodes to be replaced hold the observations of a run.
    """
    inspect(tables, skip_bad=skip_bad, watch=watch)
    survey = tables.survey()
    tell = watch or _silent
    begin = time.perf_counter()
    if replace:
        every = View(survey.labels, survey.types or (_ANY_TYPE,))
        refuse_to_lose_runs(store, every)
        tell("delete", 0, 1)
        store.delete_graph(every)
    for kind in survey.kinds:
        store.create_key(_view(kind))

    def write_nodes(same: tuple[Kind, tuple[str, ...]], rows: list[NodeRow]) -> WriteCounts:
        kind, labels = same
        return store.write_nodes(_view(kind), [(row.key, row.properties) for row in rows], labels)

    def write_edges(same: tuple[str, Kind, Kind], rows: list[EdgeRow]) -> WriteCounts:
        type, source, target = same  # noqa: A001 - as everywhere
        return store.write_relationships(
            _view(source, type),
            [(row.start, row.end, row.properties) for row in rows],
            target=_view(target, type),
            parallel=True,
        )

    counts = WriteCounts()
    done = 0
    nodes = _alike(tables.nodes(), lambda row: (row.kind, row.labels), batch)
    for same, node_rows in nodes:
        tell("nodes", done, survey.nodes)
        counts += write_nodes(same, node_rows)
        done += len(node_rows)
    _refuse_change(tables, done, survey.nodes)
    tell("nodes", done, survey.nodes)
    done = 0
    edges = _alike(tables.edges(), lambda row: (row.type, row.source, row.target), batch)
    for ends, edge_rows in edges:
        tell("relationships", done, survey.edges)
        counts += write_edges(ends, edge_rows)
        done += len(edge_rows)
    _refuse_change(tables, done, survey.edges)
    tell("relationships", done, survey.edges)
    return TablesReport(survey, counts, replace, time.perf_counter() - begin)


def _view(kind: Kind, type: str = _ANY_TYPE) -> View:  # noqa: A002 - as everywhere
    return View((kind.label,), (type,), key=kind.key)


def _refuse_change(tables: Tables, found: int, expected: int) -> None:
    if found != expected:
        raise SourceError(f"{tables.name} changed while it was read: load it again")


def _silent(_stage: object, _done: int, _total: int) -> None:
    pass


def _alike(
    rows: Iterable[_Row], same: Callable[[_Row], _Same], size: int
) -> Iterator[tuple[_Same, list[_Row]]]:
    """Rows that can be written together, in lists of at most ``size``; no more than that wait at any time."""
    waiting: dict[_Same, list[_Row]] = {}
    count = 0
    for row in rows:
        waiting.setdefault(same(row), []).append(row)
        count += 1
        if count == size:
            # The longest list goes first: rows that come rarely wait for more of their kind.
            what = max(waiting, key=lambda one: len(waiting[one]))
            part = waiting.pop(what)
            count -= len(part)
            yield what, part
    yield from waiting.items()
