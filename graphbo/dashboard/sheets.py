"""Spreadsheets: values that were written into one are brought in, and what is known of a run is taken out."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

from graphbo.dashboard.looking import shown_of
from graphbo.dashboard.watching import Watching
from graphbo.stores import GraphStore

__all__ = ["Sheet", "looked_at", "taken_out", "told"]

COLUMNS = ("step", "node", "value", "note", "error", "expected", "std", "told")


@dataclass(frozen=True)
class Sheet:
    """A file, and how it is to be read."""

    data: bytes
    options: Mapping[str, str]


def looked_at(store: GraphStore, sheet: Sheet) -> str:
    """What each line would do."""
    raise NotImplementedError


def told(store: GraphStore, sheet: Sheet) -> str:
    """Record it."""
    raise NotImplementedError


def taken_out(store: GraphStore, watching: Watching, name: str) -> str:
    """All that was told, with the properties of the nodes."""
    run = watching.of(name).refreshed(store, name)
    keys = list(dict.fromkeys(one.key for one in run.history))
    shown = shown_of(store, run, keys, [])
    names = sorted({name for found in shown.properties.values() for name in found})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([*COLUMNS, *names])
    for one in run.history:
        found = shown.properties.get(one.key, {})
        facts = [one.step, one.key, one.value, one.note, one.error, one.mean, one.std, one.at]
        writer.writerow([*facts, *(found.get(name) for name in names)])
    return "\ufeff" + text.getvalue()
