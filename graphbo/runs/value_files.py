"""Values in a CSV file, with the columns ``node``, ``value`` and ``note``, or others that somebody names.

A worker that cannot tell what it measured keeps it in such a file, to be told later. People write others with a
spreadsheet. A line without a value is a failure, and its note says why. ``preview`` says what each line would do.
"""

import csv
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from graphbo.errors import EvaluationFailed, GraphboError, NoSuchNode, Remedy, RunError
from graphbo.objectives.number import as_number, decimal_hint
from graphbo.runs.node_names import keys_in
from graphbo.runs.records import Told
from graphbo.runs.run import Run
from graphbo.runs.telling import Report, Reports
from graphbo.stores.subgraphs import show_key
from graphbo.types import NodeKey
from graphbo.types.text import cut, spellings

__all__ = [
    "Columns",
    "Effect",
    "Measured",
    "What",
    "as_cell",
    "effect_of",
    "keep_untold",
    "preview",
    "read_values",
    "reports_of",
    "values_in",
]

COLUMNS = ("node", "value", "note")
#: Most bytes of a file that are read: a hundred thousand values take less.
LARGEST_FILE = 20_000_000
#: What may be between columns, and the line with which some spreadsheets say so.
SEPARATORS = (";", "\t", ",")
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?\n', re.IGNORECASE)
_UNFIT = re.compile(r"[^\w.-]")
#: What spreadsheets would take for a formula; an apostrophe before it says that it is none.
FORMULA = re.compile(r"[=+\-@\t\r]")


@dataclass(frozen=True)
class Columns:
    """What the columns of a file are called; capitals do not matter, and other columns are left alone."""

    node: str = "node"
    value: str = "value"
    note: str = "note"


@dataclass(frozen=True)
class Measured:
    """A line of such a file.

    Attributes:
        line: its number, from 1.
        node: the key as it is written.
        value: None for a failure.
        note: of a failure, why there is no value.
        problem: why the line cannot be read; empty if it can.
    """

    line: int
    node: str
    value: float | None
    note: str = ""
    problem: str = ""


def keep_untold(run: str, key: NodeKey, value: float | None, note: str | None) -> Path:
    """Add a value that could not be told to the file of its run, in the current directory.

    Returns:
        The file.

    Raises:
        OSError: it cannot be written.
    """
    path = Path(f"graphbo-{_UNFIT.sub('_', run)}-untold.csv")
    with path.open("a", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            lines.writerow(COLUMNS)
        lines.writerow([as_cell(key), "" if value is None else repr(value), as_cell(note or "")])
        file.flush()
        os.fsync(file.fileno())
    return path


def read_values(
    path: Path, columns: Columns | None = None, *, strict: bool = True
) -> list[Measured]:
    """The values in a file; see ``values_in``.

    Raises:
        RunError: it is no such file, or a line of it is wrong.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror or error}") from None
    return values_in(data, str(path), columns, strict=strict)


def values_in(
    data: bytes, name: str, columns: Columns | None = None, *, strict: bool = True
) -> list[Measured]:
    """The values in the bytes of a CSV file, separated by commas, semicolons or tabs.

    Args:
        data: all of it.
        name: what the file is called, for messages.
        columns: what its columns are called.
        strict: whether a line that is wrong is an error; without it, the line says itself what is wrong with it.

    Raises:
        RunError: it is no such file, or a line of it is wrong.
    """
    rows = _rows(data, name)
    places = _places(name, next(rows, (1, [])), columns or Columns())
    found: list[Measured] = []
    lines: dict[str, int] = {}
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        one = _measured(line, cells, places)
        if one.node in lines and not one.problem:
            problem = f"{one.node!r} is in line {lines[one.node]} already: keep one of them"
            one = replace(one, problem=problem)
        if one.problem and strict:
            raise RunError(f"{name}, line {line}: {one.problem}")
        lines.setdefault(one.node, line)
        found.append(one)
    if not found:
        raise RunError(f"{name} has no values: expected a line for each after the first")
    return found


def _rows(data: bytes, name: str) -> Iterator[tuple[int, list[str]]]:
    if len(data) > LARGEST_FILE:
        raise RunError(f"{name} is larger than {LARGEST_FILE // 10**6} MB: a value takes a line")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RunError(f"{name} is not in UTF-8: save it as CSV in UTF-8") from None
    said = _SEPARATOR_LINE.match(text)
    text, skipped = (text[said.end() :], 1) if said else (text, 0)
    header = text.partition("\n")[0]
    separator = said[1] if said else next((one for one in SEPARATORS if one in header), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for cells in reader:
            yield reader.line_num + skipped, cells
    except csv.Error as error:
        raise RunError(f"{name}, line {reader.line_num + skipped}: {error}") from None


def _places(name: str, header: tuple[int, list[str]], columns: Columns) -> Mapping[str, int]:
    """In which place of a row which column is; None of the note's need be there."""
    line, cells = header
    names = [cell.strip().casefold() for cell in cells]
    places = {}
    for what in COLUMNS:
        wanted = getattr(columns, what)
        count = names.count(wanted.strip().casefold())
        if count > 1:
            raise RunError(f"{name}, line {line}: {count} columns are called {wanted!r}: keep one")
        if count:
            places[what] = names.index(wanted.strip().casefold())
        elif what != "note" or wanted != Columns.note:
            there = ", ".join(cell.strip() for cell in cells if cell.strip())
            raise RunError(
                f"{name}, line {line}: no column is called {wanted!r}, of {cut(there, 80) or 'none'}",
                Remedy.NAME_COLUMN,
                what=what,
            )
    return places | {"all": len(cells)}


def _measured(line: int, cells: list[str], places: Mapping[str, int]) -> Measured:
    node, value, note = (_cell(cells, places[what]) if what in places else "" for what in COLUMNS)
    problem, number = "", None
    if len(cells) > places["all"]:
        problem = (
            f"{len(cells)} cells, but {places['all']} columns: write numbers with a point, like 0.25, and put "
            'text with a separator in it into "quotes"'
        )
    elif not node:
        problem = "there is no node"
    elif not value and not note:
        problem = "there is neither a value nor a note that says why"
    elif value:
        try:
            number = as_number(value)
        except EvaluationFailed as error:
            problem = f"{error}{decimal_hint(value)}"
    return Measured(line, node, number, note, problem)


def as_cell(value: object) -> object:
    """A value for a cell, so that no spreadsheet takes text for a formula and runs it."""
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def _cell(cells: list[str], place: int) -> str:
    """A cell as it was meant: an apostrophe only keeps spreadsheets from seeing a formula."""
    cell = cells[place].strip() if place < len(cells) else ""
    return cell[1:] if cell[:1] == "'" and FORMULA.match(cell[1:]) else cell


# What the lines of a file would do


#: What becomes of a line: a value is recorded, also in place of another or of a failure; a failure is; nothing happens,
#: as the run has it already; or it is refused.
What: TypeAlias = Literal["record", "amend", "mend", "fail", "nothing", "refuse"]


@dataclass(frozen=True)
class Effect:
    """What a line of a file would do.

    Attributes:
        key: the node; None if there is no such node.
        step: at which step; None for a known value, and where it is refused.
        text: the same in words.
        error: why it is refused.
    """

    measured: Measured
    what: What
    text: str
    key: NodeKey | None = None
    step: int | None = None
    error: GraphboError | None = None


def reports_of(
    run: Run, measured: Sequence[Measured], *, amend: bool = False
) -> list[Report | GraphboError]:
    """What there is to report of each line, or why there is nothing."""
    keys = keys_in(run, (one.node for one in measured if not one.problem))
    return [_report(run, one, keys.get(one.node), amend=amend) for one in measured]


def _report(run: Run, one: Measured, key: NodeKey | None, *, amend: bool) -> Report | GraphboError:
    if one.problem:
        return RunError(one.problem)
    if key is None:
        return NoSuchNode(
            f"no node of {run.view} has the key {show_key(spellings(one.node)[0])}",
            Remedy.CHECK_KEY,
        )
    if one.value is None:
        return Report(None, key=key, error=one.note)
    return Report(one.value, key=key, amend=amend, note=one.note or None)


def preview(
    run: Run, measured: Sequence[Measured], *, amend: bool = False, known: bool = False
) -> list[Effect]:
    """What each line would do if they were told now, in this order. Nothing is written, nor is the run locked.

    Args:
        run: to be told.
        measured: the lines of a file.
        amend: whether values that were told before are replaced.
        known: whether these are known values.

    Raises:
        StoreError: the database does not answer.
    """
    run.refresh()
    reports = reports_of(run, measured, amend=amend)
    if known:
        there = {*(one.key for one in run.history), *(one.key for one in run.pending)}
        return [
            _of_known(one, report, there) for one, report in zip(measured, reports, strict=True)
        ]
    sound = [one for one in reports if isinstance(one, Report)]
    outcomes = iter(run.foresee(Reports(sound)))
    before = {one.step: one.value for one in run.history}
    effects = []
    for one, report in zip(measured, reports, strict=True):
        outcome = next(outcomes) if isinstance(report, Report) else report
        effects.append(effect_of(one, outcome, before))
        if isinstance(outcome, Told):
            before[outcome.observation.step] = outcome.observation.value
    return effects


def effect_of(
    one: Measured, outcome: Told | GraphboError, before: Mapping[int, float | None]
) -> Effect:
    """What becomes of a line, given what a run says to it and the values that it had at each step."""
    if isinstance(outcome, GraphboError):
        return Effect(one, "refuse", str(outcome), error=outcome)
    told = outcome.observation
    where = f"step {told.step}"
    what: What = "record"
    text = f"is recorded at {where}"
    if outcome.outcome == "repeated":
        what, text = "nothing", f"was told before, at {where}"
    elif told.value is None:
        what, text = "fail", f"has failed, at {where}"
    elif told.step in before:
        old = before[told.step]
        what = "mend" if old is None else "amend"
        text = f"replaces {'a failure' if old is None else repr(old)}, at {where}"
    return Effect(one, what, text, told.key, told.step)


def _of_known(one: Measured, report: Report | GraphboError, there: set[NodeKey]) -> Effect:
    if isinstance(report, GraphboError):
        return Effect(one, "refuse", str(report), error=report)
    if one.value is None:
        return Effect(one, "nothing", "has no value to know", report.key)
    if report.key in there:
        return Effect(one, "nothing", "is in the run already", report.key)
    return Effect(one, "record", "is a known value", report.key)
