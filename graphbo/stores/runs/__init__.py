"""Runs in a database: the rules of asking and telling, the same for every store.

A store contributes transactions that hold a run's lock (``ledger``). What may happen in them is decided in ``asking``,
``telling`` and ``annotating``, about values (``records``) that the database has as properties (``properties``). Whose
the properties and labels of nodes are is decided in ``names``. ``book`` is what the others use.
"""

from graphbo.stores.runs.book import Cleaned, RunBook
from graphbo.stores.runs.ledger import Found
from graphbo.stores.runs.names import region_properties, written_labels, written_properties
from graphbo.stores.runs.records import (
    AskAnswer,
    AskOutcome,
    News,
    RunRecord,
    RunState,
    TellOutcome,
    Told,
    UnreadableRun,
)
from graphbo.stores.runs.telling import Report

__all__ = [
    "AskAnswer",
    "AskOutcome",
    "Cleaned",
    "Found",
    "News",
    "Report",
    "RunBook",
    "RunRecord",
    "RunState",
    "TellOutcome",
    "Told",
    "UnreadableRun",
    "region_properties",
    "written_labels",
    "written_properties",
]
