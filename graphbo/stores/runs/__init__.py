"""Runs in a database: the rules of asking and telling, the same for every store.

A store contributes transactions that hold a run's lock (``ledger``). What may happen in them is decided in ``asking``,
``telling`` and ``annotating``, about values (``records``) that the database has as properties (``properties``).
``book`` is what the others use.
"""

from graphbo.stores.runs.book import RunBook
from graphbo.stores.runs.records import (
    AskAnswer,
    AskOutcome,
    News,
    RunRecord,
    RunState,
    TellOutcome,
    Told,
    region_properties,
    written_labels,
    written_properties,
)

__all__ = [
    "AskAnswer",
    "AskOutcome",
    "News",
    "RunBook",
    "RunRecord",
    "RunState",
    "TellOutcome",
    "Told",
    "region_properties",
    "written_labels",
    "written_properties",
]
