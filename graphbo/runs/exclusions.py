"""Nodes that are left alone: excluded from what is proposed, though part of the graph and of the model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphbo.errors import NoSuchNode, Remedy, RunError
from graphbo.runs.asking import release
from graphbo.runs.encoding import as_news, without_nothing
from graphbo.runs.form import number_in
from graphbo.runs.records import SCHEMA
from graphbo.runs.transaction import Transaction
from graphbo.stores import GraphStore
from graphbo.stores.checks import refuse_no_nodes, refuse_several
from graphbo.stores.log import (
    NO_NEWS,
    Exclude,
    Found,
    Include,
    Lookup,
    Properties,
    Revise,
    Snapshot,
    Write,
)
from graphbo.stores.subgraphs import show_key
from graphbo.types import NodeKey, Pending, View
from graphbo.types.conditions import both
from graphbo.types.notation import read_condition

__all__ = ["ExcludeNodes", "Excluded", "IncludeNodes", "candidates_where"]

#: Whoever leaves out more is better served by a view without them: all who work on a run read what it leaves alone.
MOST_AT_ONCE = 10_000


def candidates_where(store: GraphStore, view: View, filter_: str) -> list[NodeKey]:
    """The candidates of a view that fulfil a filter now, sorted.

    Raises:
        InvalidView: the filter cannot be read.
        EmptyView: no candidate fulfils it.
        RunError: too many do.
    """
    wanted = both(view.candidates_where, read_condition(filter_))
    narrowed = replace(view, candidates_where=wanted)
    refuse_no_nodes(store, narrowed)
    found = store.random_keys(narrowed, MOST_AT_ONCE + 1, (0,))
    if len(found) > MOST_AT_ONCE:
        raise RunError(
            f"more than {MOST_AT_ONCE:,} nodes fulfil {filter_}", Remedy.NARROW_CANDIDATES
        )
    return sorted(found, key=lambda key: (isinstance(key, str), key))


@dataclass(frozen=True)
class Excluded:
    """What became of nodes that were to be excluded.

    Attributes:
        keys: those that were not excluded before.
        released: requests that were taken back: nobody measures these nodes any more.
        awaited: requests whose workers are at it: what they tell is still recorded.
    """

    keys: tuple[NodeKey, ...]
    released: tuple[Pending, ...] = ()
    awaited: tuple[Pending, ...] = ()


@dataclass(frozen=True)
class ExcludeNodes(Transaction[Excluded]):
    """These nodes are not proposed any more.

    One that waits for somebody to measure it by hand is released. One that a worker evaluates stays with it, since that
    is paid for, and nobody takes it over. What was told stays, and is part of the model.

    Attributes:
        by: who wants that.
        reason: why.
    """

    keys: Sequence[NodeKey]
    by: str
    reason: str | None = None
    grows = True

    def lookup(self, view: View, since: int) -> Lookup:
        """The nodes."""
        del since
        return Lookup(view, "exclude", NO_NEWS, nodes=list(self.keys))

    def decide(self, found: Snapshot) -> tuple[Excluded, Sequence[Write]]:
        """Exclude those that are not excluded yet, all of them or none.

        Raises:
            NoSuchNode: a key that matches no node.
            KeyNotUnique: a key that matches several.
        """
        news = as_news(found)
        new = [(key, node) for key, node in _nodes(self.keys, found) if not node.excluded]
        if not new:
            return Excluded(()), ()
        why = without_nothing({"run": news.record.name, "by": self.by, "reason": self.reason})
        rows: list[Properties] = [{"id": node.id, "properties": why} for _, node in new]
        counters: Properties = {"amended": news.record.amended + 1, "schema": SCHEMA}
        keys = tuple(key for key, _ in new)
        asked = [one for one in news.pending if one.key in keys]
        released = tuple(one for one in asked if _may_be_released(one))
        awaited = tuple(replace(one, excluded=True) for one in asked if one not in released)
        return Excluded(keys, released, awaited), (
            Exclude(rows, counters),
            *(release(news, one) for one in released),
            *(Revise(one.step, {"excluded": True}) for one in awaited),
        )


def _may_be_released(pending: Pending) -> bool:
    """Whether nothing is lost by it: nobody evaluates the node now, and nobody has answered."""
    idle = pending.lease_left is None or pending.lease_left < 0
    return idle and number_in(pending.answer) is None


@dataclass(frozen=True)
class IncludeNodes(Transaction[tuple[NodeKey, ...]]):
    """These nodes are proposed again; the answer is which."""

    keys: Sequence[NodeKey]
    grows = True

    def lookup(self, view: View, since: int) -> Lookup:
        """The nodes."""
        del since
        return Lookup(view, "include", NO_NEWS, nodes=list(self.keys))

    def decide(self, found: Snapshot) -> tuple[tuple[NodeKey, ...], Sequence[Write]]:
        """Include them, all of them or none.

        Raises:
            RunError: one is not excluded.
            NoSuchNode: a key that matches no node.
            KeyNotUnique: a key that matches several.
        """
        news = as_news(found)
        nodes = list(_nodes(self.keys, found))
        for key, node in nodes:
            if not node.excluded:
                raise RunError(
                    f"{show_key(key)} is not excluded from the run {news.record.name!r}: nothing was changed"
                )
        keys = tuple(key for key, _ in nodes)
        if not keys:
            return (), ()
        asked = (one for one in news.pending if one.key in keys)
        return keys, (
            Include([node.id for _, node in nodes], {"amended": news.record.amended + 1}),
            *(Revise(one.step, {"excluded": None}) for one in asked),
        )


def _nodes(keys: Sequence[NodeKey], found: Snapshot) -> list[tuple[NodeKey, Found]]:
    """The node of each key, once."""
    nodes = []
    for key in dict.fromkeys(keys):
        if not found.nodes.get(key):
            raise NoSuchNode(f"no node has the key {show_key(key)}: nothing was changed")
        refuse_several(key, found.nodes[key])
        nodes.append((key, found.nodes[key][0]))
    return nodes
