"""Whether a view of a database can be worked on: looked at before anything is written."""

from collections.abc import Sequence

from graphbo.errors import EmptyView, KeyNotUnique, Remedy, StoreError
from graphbo.stores.contract import GraphStore
from graphbo.stores.log import Found
from graphbo.stores.subgraphs import show_key
from graphbo.types import Ego, NodeKey, View

__all__ = ["ready_view", "refuse_several", "shared_key"]

#: A database whose disk has less room than this is not begun with, in bytes.
LEAST_ROOM = 50_000_000
#: How many nodes are looked at before a run begins: their keys, and the relationships around some of them.
SAMPLE, SAMPLED_EGOS = 100, (5, 30)


def ready_view(store: GraphStore, view: View) -> View:
    """The view with its key found, if it can be worked on; checks only, nothing is created.

    What takes a look at every node is looked for on a sample.

    Raises:
        EmptyView: it matches no node, or no relationship.
        KeyNotUnique: no constraint makes its key unique, or two of its labels share keys.
        InvalidWeight: a relationship has no weight.
        StoreError: there is no room for what a run writes.
    """
    view = store.resolve(view)
    _refuse_no_nodes(store, view)
    _refuse_shared_key(store, view)
    _refuse_no_relationships(store, view)
    if view.weight is not None:
        centres, size = SAMPLED_EGOS
        egos = [Ego(key, size) for key in store.random_keys(view, centres, [0])]
        store.ego_networks(view, egos, [0])
    room = store.room()
    if room is not None and room < LEAST_ROOM:
        raise StoreError(
            f"the disk of {store.address} has {room / 1e6:.0f} MB left: make room for at least "
            f"{LEAST_ROOM / 1e6:.0f} MB"
        )
    return view


def shared_key(store: GraphStore, view: View) -> tuple[NodeKey, list[Found]] | None:
    """A key that belongs to several nodes of a view, if a sample of its nodes has one, and these nodes."""
    if view.key is None or len(view.labels) < 2:
        return None
    nodes = store.nodes_with_keys(view, store.random_keys(view, SAMPLE, [0]))
    return next(((key, found) for key, found in nodes.items() if len(found) > 1), None)


def _refuse_no_nodes(store: GraphStore, view: View) -> None:
    if store.count_nodes(view) == 0:
        labels, _ = store.names()
        raise EmptyView(
            f"no node has the label {' or '.join(view.labels)!r} in {store.address}",
            Remedy.CHOOSE_LABEL if labels else Remedy.CHECK_LABEL,
            labels=", ".join(labels[:8]),
        )


def _refuse_no_relationships(store: GraphStore, view: View) -> None:
    if store.count_relationships(view):
        return
    _, types = store.names()
    # A graph may be without relationships; a type that nobody has heard of is a mistake.
    if not set(view.relationships).intersection(types):
        raise EmptyView(
            f"no relationship has the type {' or '.join(view.relationships)!r} in {store.address}",
            Remedy.CHOOSE_RELATIONSHIP if types else Remedy.CHECK_RELATIONSHIP,
            types=", ".join(types[:8]),
        )


def _refuse_shared_key(store: GraphStore, view: View) -> None:
    report = store.check_key(view)
    if view.key is not None and not report.constrained:
        found = (
            f"{report.duplicates:,} of its values belong to several nodes"
            if report.duplicates
            else f"{report.missing:,} nodes do not have it"
            if report.missing
            else "its values are unique so far"
        )
        raise KeyNotUnique(
            f"no uniqueness constraint on {view.key!r} of {' and '.join(view.labels)} ({found})",
            Remedy.CREATE_KEY,
        )
    shared = shared_key(store, view)
    if shared is not None:
        refuse_several(*shared)


def refuse_several(key: NodeKey, nodes: Sequence[Found]) -> None:
    """Check that a key belongs to one node only.

    Raises:
        KeyNotUnique: it belongs to several.
    """
    if len(nodes) > 1:
        both = " and ".join(f"(:{':'.join(node.labels)}) {node.id}" for node in nodes[:2])
        raise KeyNotUnique(
            f"the key {show_key(key)} belongs to several nodes of the view, {both}: choose one label, or a key that "
            "no two of the labels share"
        )
