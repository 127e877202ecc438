"""Databases that hold graphs, behind one contract."""

from pathlib import Path

from graphbo.errors import EmptyView, KeyNotUnique
from graphbo.stores.address import Address, address_from
from graphbo.stores.base import (
    EdgeRow,
    GraphStore,
    KeyReport,
    NodeRow,
    StoreInfo,
    WriteCounts,
)
from graphbo.types import View

__all__ = [
    "Address",
    "EdgeRow",
    "GraphStore",
    "KeyReport",
    "NodeRow",
    "StoreInfo",
    "WriteCounts",
    "address_from",
    "open_store",
    "ready_view",
]


def open_store(
    uri: str | Address | None = None,
    *,
    credentials: Path | None = None,
    database: str | None = None,
    create: bool = False,
) -> GraphStore:
    """Connect to the database at ``uri``.

    Args:
        uri: ``neo4j://…``, ``bolt://…`` (each also ``+s`` and ``+ssc``), ``sqlite:FILE``, ``sqlite::memory:``, or an
            address. Without it, ``NEO4J_URI``, else ``graphbo.db`` in the current directory.
        credentials: a file as Neo4j Aura hands it out.
        database: the database on that server; the user's home database without it.
        create: whether a missing SQLite file is created.

    Raises:
        InvalidAddress: the URI or the credentials file cannot be used.
        StoreError: the database cannot be reached or does not let us in.
    """
    address = uri if isinstance(uri, Address) else address_from(uri, credentials, database)
    if address.is_neo4j:
        # The driver takes a third of a second to import, which the embedded store need not pay.
        from graphbo.stores.neo4j import Neo4jStore  # noqa: PLC0415

        return Neo4jStore(address)
    from graphbo.stores.sqlite import SqliteStore  # noqa: PLC0415

    return SqliteStore(address.path, create=create)


def ready_view(store: GraphStore, view: View) -> View:
    """The view with its key found, if it can be worked on; checks only, nothing is created.

    Raises:
        EmptyView: it matches no node.
        KeyNotUnique: no constraint makes its key unique.
    """
    view = store.resolve(view)
    if store.count_nodes(view) == 0:
        labels, _ = store.names()
        known = f"choose --label among {', '.join(labels[:8])}" if labels else "check --label"
        raise EmptyView(
            f"no node has the label {' or '.join(view.labels)!r} in {store.address}: "
            f"{known}, or load a graph with `graphbo load`"
        )
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
            f"no uniqueness constraint on {view.key!r} of {' and '.join(view.labels)} ({found}): create one "
            f"with `graphbo cypher create_key`, or choose another property with --key"
        )
    return view
