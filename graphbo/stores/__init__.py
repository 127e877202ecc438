"""Databases that hold graphs, behind one contract.

::

    contract      GraphStore: what a database with a graph in it does
    log           RunLog: what it does for runs, in transactions that hold a run's lock
    neo4j, sqlite the two databases; neither knows of the other
    address       where a database is, and who may use it
    checks        whether a view of it can be worked on
    outlook       how many neighbours candidates have, and what would give them some
    near_names    what names that are nearly right may have meant
    row_checks    what is written is looked at first
    subgraphs     from what it answers to a Subgraph
    retrying      how long a database that does not answer is asked again
    seeded_order  a pseudo-random order that every database computes for itself
    sampling      random nodes without looking at every node
"""

from os import PathLike
from pathlib import Path

from graphbo.stores.address import Address, address_from
from graphbo.stores.checks import ready_view, shared_key
from graphbo.stores.contract import (
    EdgeRow,
    GraphStore,
    KeyReport,
    NodeRow,
    StoreInfo,
    Surrounding,
    WriteCounts,
)

__all__ = [
    "Address",
    "EdgeRow",
    "GraphStore",
    "KeyReport",
    "NodeRow",
    "StoreInfo",
    "Surrounding",
    "WriteCounts",
    "address_from",
    "open_store",
    "ready_view",
    "shared_key",
]


def open_store(
    uri: str | PathLike[str] | Address | None = None,
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
        from graphbo.stores.neo4j.store import Neo4jStore  # noqa: PLC0415

        return Neo4jStore(address)
    from graphbo.stores.sqlite.store import SqliteStore  # noqa: PLC0415

    return SqliteStore(address.path, create=create)
