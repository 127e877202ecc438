"""Values in a CSV file, with the columns ``node``, ``value`` and ``note``.

A worker that cannot tell what it measured keeps it in such a file, to be told later. People write others with a
spreadsheet. A line without a value is a failure, and its note says why.
"""

import csv
import io
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from graphbo.errors import EvaluationFailed, RunError
from graphbo.objectives.number import as_number, decimal_hint
from graphbo.types import NodeKey

__all__ = ["Measured", "keep_untold", "read_values"]

COLUMNS = ("node", "value", "note")
#: Most bytes of a file that are read: a hundred thousand values take less.
LARGEST_FILE = 20_000_000
_EXPECTED = f"expected a first line of {','.join(COLUMNS)}"
_UNFIT = re.compile(r"[^\w.-]")


@dataclass(frozen=True)
class Measured:
    """A line of such a file.

    Attributes:
        line: its number, from 1.
        node: the key as it is written.
        value: None for a failure.
        note: of a failure, why there is no value.
    """

    line: int
    node: str
    value: float | None
    note: str = ""


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
        lines.writerow([key, "" if value is None else repr(value), note or ""])
        file.flush()
        os.fsync(file.fileno())
    return path


def read_values(path: Path) -> list[Measured]:
    """The values in a file, separated by commas or semicolons.

    Raises:
        RunError: it is no such file, or a line of it is wrong.
    """
    rows = _rows(path)
    columns = _columns(path, next(rows, (1, []))[1])
    found: list[Measured] = []
    lines: dict[str, int] = {}
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        one = _measured(f"{path}, line {line}", line, cells, columns)
        if one.node in lines:
            raise RunError(
                f"{path}, line {line}: {one.node!r} is in line {lines[one.node]} already: keep one of them"
            )
        lines[one.node] = line
        found.append(one)
    if not found:
        raise RunError(f"{path} has no values: expected a line for each after the first")
    return found


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise RunError(
                f"{path} is larger than {LARGEST_FILE // 10**6} MB: a value takes a line"
            )
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise RunError(f"{path} is not in UTF-8: save it as CSV in UTF-8") from None
    separator = ";" if ";" in text.partition("\n")[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise RunError(f"{path}, line {reader.line_num}: {error}") from None


def _columns(path: Path, header: list[str]) -> Mapping[str, int]:
    names = [name.strip().lower() for name in header]
    unknown = [name for name in names if name not in COLUMNS]
    if unknown or len(set(names)) < len(names) or not {"node", "value"} <= set(names):
        raise RunError(
            f"{path}, line 1: {','.join(header)[:80]!r} names other columns: {_EXPECTED}"
        )
    return {name: place for place, name in enumerate(names)}


def _measured(where: str, line: int, cells: list[str], columns: Mapping[str, int]) -> Measured:
    if len(cells) > len(columns):
        raise RunError(
            f"{where}: {len(cells)} cells, but {len(columns)} columns: write numbers with a point, like 0.25, and put "
            'text with a separator in it into "quotes"'
        )
    node, value, note = (
        cells[columns[name]].strip() if columns.get(name, len(cells)) < len(cells) else ""
        for name in COLUMNS
    )
    if not node:
        raise RunError(f"{where}: there is no node")
    if not value and not note:
        raise RunError(f"{where}: there is neither a value nor a note that says why")
    return Measured(line, node, _number(where, value) if value else None, note)


def _number(where: str, text: str) -> float:
    try:
        return as_number(text)
    except EvaluationFailed as error:
        raise RunError(f"{where}: {error}{decimal_hint(text)}") from None
