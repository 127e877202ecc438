"""All that a run was told, as a table: for programs, and for spreadsheets in any language."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from graphbo.runs.captions import Captions
from graphbo.runs.run import Run
from graphbo.runs.value_files import as_cell
from graphbo.types import NodeKey, Observation

__all__ = ["Decimal", "HistoryTable", "as_csv", "history_table"]

#: Columns of every history, in this order; those of the nodes' properties follow.
COLUMNS = (
    *("step", "seq", "key", "value", "best", "mean", "std", "acquisition", "restart", "phase"),
    *("source", "at", "error", "note", "retried", "retracted"),
)
#: What a column of a property is called that is called like another one.
OF_NODE = "node."

#: What a spreadsheet expects between the digits of a number. Where it is a comma, columns are separated by semicolons.
Decimal: TypeAlias = Literal["point", "comma"]


@dataclass(frozen=True)
class HistoryTable:
    """What a run was told, in the order of telling, with what was retried or retracted.

    Attributes:
        observations: a row for each.
        rows: what is known of it, by column.
        columns: their names; the nodes' properties come last.
    """

    observations: Sequence[Observation]
    rows: Sequence[Mapping[str, Any]]
    columns: Sequence[str]


def history_table(run: Run, captions: Captions, *, properties: bool = False) -> HistoryTable:
    """All that was ever told.

    Args:
        run: as far as it is known here.
        captions: of the nodes; a column of its own, if they have any.
        properties: whether the nodes' properties are wanted, without those that runs wrote.

    Raises:
        StoreError: the database does not answer.
    """
    aside = {one.observation.step: one for one in run.set_aside()}
    told = sorted(
        (*run.history, *(one.observation for one in aside.values())), key=lambda one: one.seq
    )
    captions.read(one.key for one in told)
    of_nodes = _properties(run, [one.key for one in told]) if properties else {}
    names = sorted({name for found in of_nodes.values() for name in found} - {run.view.key or ""})
    columns = {
        name: f"{OF_NODE}{name}" if name in {*COLUMNS, "cost", "caption"} else name
        for name in names
    }
    best: float | None = None
    rows = []
    for one in told:
        gone = aside.get(one.step)
        if one.value is not None and gone is None and run.record.beats(one.value, best):
            best = one.value
        row = asdict(one) | {"modelled": list(one.modelled), "theta": list(one.theta)}
        row |= {
            "best": best,
            "retried": gone is not None and not gone.retracted,
            "retracted": (gone.reason or "yes") if gone is not None and gone.retracted else None,
        }
        if captions.name is not None:
            row["caption"] = captions.of(one.key)
        if one.cost is None:
            del row["cost"]
        found = of_nodes.get(one.key, {})
        rows.append(row | {columns[name]: found.get(name) for name in names})
    shown = ["cost"] if "cost" in run.record.config else []
    shown += [] if captions.name is None else ["caption"]
    return HistoryTable(told, rows, [*COLUMNS, *shown, *columns.values()])


def _properties(run: Run, keys: Sequence[NodeKey]) -> Mapping[NodeKey, Mapping[str, object]]:
    """Of the nodes that are still there."""
    wanted = list(dict.fromkeys(keys))
    there = run.store.nodes_with_keys(run.view, wanted)
    return run.properties_of([key for key in wanted if key in there])


def as_csv(table: HistoryTable, decimal: Decimal | None = None) -> str:
    """The table as CSV: for programs or, with a ``decimal``, for a spreadsheet.

    Text that a spreadsheet would take for a formula begins with an apostrophe, which ``value_files`` takes off again.
    """
    text = io.StringIO()
    separator = ";" if decimal == "comma" else ","
    if decimal is not None:
        # Without it, spreadsheets take text for that of the machine's language.
        text.write("\ufeff")
    writer = csv.writer(
        text, delimiter=separator, lineterminator="\n" if decimal is None else "\r\n"
    )
    writer.writerow(map(as_cell, table.columns))
    for row in table.rows:
        writer.writerow(_written(row.get(column), decimal) for column in table.columns)
    return text.getvalue()


def _written(value: object, decimal: Decimal | None) -> object:
    if isinstance(value, float) and decimal == "comma":
        return repr(value).replace(".", ",")
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return as_cell(value)
