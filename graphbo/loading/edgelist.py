"""Edge lists: one edge per line, as CSV, TSV or separated by spaces."""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, TypeAlias

from graphbo.errors import Remedy, SourceError
from graphbo.loading.base import NO_PROPERTIES, Bad, Note, OnRead, Reading, show
from graphbo.loading.files import SourceFile
from graphbo.loading.records import FileSource, RawEdge, RawRecord
from graphbo.loading.values import check_id, is_integer, weight
from graphbo.types import Property

__all__ = [
    "EdgeListScan",
    "Lines",
    "Row",
    "open_edge_list",
    "quoted_row",
    "split_lines",
    "split_plain",
]

#: A line beyond this is no edge. It bounds what one line can cost.
LONGEST_LINE: Final = 1 << 20

#: A quoted field that is still open after this many characters was never meant to be one.
LONGEST_QUOTE: Final = 1 << 16

#: How many rows are looked at to find the separator and the header.
SAMPLE: Final = 20

#: Separators, the one that speaks first when a line has several before the others. After them
#: comes "", which stands for runs of spaces and tabs.
_SEPARATORS: Final = {".csv": ",;\t", ".tsv": "\t", ".tab": "\t"}
_ANY_SEPARATOR: Final = "\t,;"

#: A field in quotes, for finding what is outside of them.
_QUOTED: Final = re.compile(r'(?:^|(?<=[,;\t ]))"(?:[^"]|"")*"', re.MULTILINE)

#: Names of the columns with the two ends, in lower case.
_ENDS: Final = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("start", "end"),
    (":start_id", ":end_id"),
    ("source_id", "target_id"),
    ("from_id", "to_id"),
    ("fromnodeid", "tonodeid"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("u", "v"),
)


#: What the column with the ids of a table of nodes is called, in lower case.
_ID_NAMES: Final = ("id", "key", "name", "node", "node_id", "nodeid", "uuid")

#: Columns that only a table of nodes has, in Neo4j's notation.
_OF_NODES: Final = re.compile(r":(?:ID|LABEL)(?:\(.*\))?(?:\{.*\})?$", re.IGNORECASE)

#: The end of an edge in Neo4j's notation, with the group of its id.
_GROUP: Final = re.compile(r":(?:START|END)_ID(\(.*\))?$", re.IGNORECASE)
_END: Final = re.compile(r"^.*(:(?:start|end)_id)(?:\(.*\))?$")


def open_edge_list(file: SourceFile, reading: Reading) -> FileSource:
    """The edge list in ``file``."""
    return FileSource(file, lambda progress: EdgeListScan(file, reading, progress), unit="line")


# Plain tuples, for there are two per edge and named ones take ten times as long to make.

#: The number of a line, its text with the line end, and why it cannot be read (or "").
Line: TypeAlias = tuple[int, str, str]

#: The number of a line, its fields, and why it has none (or "").
Row: TypeAlias = tuple[int, list[str], str]


@dataclass(frozen=True)
class Columns:
    """Where in a row the two ends and the weight are, and how many fields a row may have."""

    source: int
    target: int
    weight: int | None
    width: int


class EdgeListScan:
    """One pass over an edge list."""

    directed: bool | None = None

    def __init__(self, file: SourceFile, reading: Reading, progress: OnRead | None) -> None:
        self._file = file
        self._reading = reading
        self._progress = progress
        self.comments = 0
        self.notes: tuple[Note, ...] = ()

    def __iter__(self) -> Iterator[RawRecord]:
        lines = Lines(split_lines(self._file.chunks(self._progress)))
        separator = find_separator(lines.peek(SAMPLE), self._file.suffix)
        rows = self._rows(lines, separator)
        sample = list(islice(rows, SAMPLE + 1))
        good = [fields for _, fields, error in sample if not error]
        if good:
            self._refuse_nodes(good)
        header = find_header(good, self._reading)
        columns = self._columns(good, header)
        skip = header
        for number, fields, error in chain(sample, rows):
            if error:
                yield Bad(f"line {number}", error)
            elif skip:
                skip = False
            else:
                yield self._edge(number, fields, columns)

    def _refuse_nodes(self, rows: Sequence[list[str]]) -> None:
        """A table of nodes would become edges from each node to its first property."""
        first, others = rows[0], rows[1:]
        shown = ", ".join(show(name) for name in first[:10])
        if self._reading.header is False:
            return
        if any(_OF_NODES.search(name) for name in first):
            raise SourceError(
                f"{self._file.name} is a table of nodes, not of edges: its header has {shown}",
                Remedy.LOAD_TABLES,
            )
        groups = [found[1] for found in map(_GROUP.search, first) if found]
        if len(set(groups)) > 1:
            raise SourceError(
                f"{self._file.name} has ends of two groups of ids: its header has {shown}",
                Remedy.LOAD_TABLES,
            )
        like_nodes = first[0].lower() in _ID_NAMES and not any(first[0] in row for row in others)
        if like_nodes and _named_ends(first) is None and self._reading.header is None:
            raise SourceError(
                f"{self._file.name} looks like a table of nodes: its header has {shown}, and no two ends such as"
                " 'source' and 'target'",
                Remedy.SAY_HEADER,
            )

    def _rows(self, lines: "Lines", separator: str) -> Iterator[Row]:
        for line in lines:
            number, text, error = line
            text = text.strip("\r\n ")
            if error:
                yield number, [], error
            elif not text or text.isspace():
                continue
            elif text[0] in "#%":
                self.comments += 1
            elif '"' in text:
                yield quoted_row(line, lines, separator)
            else:
                yield number, split_plain(text, separator), ""

    def _columns(self, good: Sequence[list[str]], header: bool) -> Columns:
        if not good:
            return Columns(0, 1, 2, 3)  # every line is malformed, so it does not matter
        first = good[0]
        source, target = (header and _named_ends(first)) or (0, 1)
        ((width, _),) = Counter(map(len, good)).most_common(1)
        column = None
        if self._reading.weight is not None:
            column = self._weight_column(first) if header else 2
        self.notes = tuple(self._notes(header, width))
        return Columns(source, target, column, max(width, 2 if column is None else column + 1))

    def _notes(self, header: bool, width: int) -> Iterator[Note]:
        if header and self._reading.header is None:
            yield Note.HEADER
        if width > 2 and self._reading.weight is None:
            yield Note.ENDS_ONLY

    def _weight_column(self, names: list[str]) -> int:
        """The column that the header gives the name of the weight."""
        wanted = self._reading.weight or ""
        if wanted in names:
            return names.index(wanted)
        lower = [name.lower() for name in names]
        if wanted.lower() in lower:
            return lower.index(wanted.lower())
        listed = ", ".join(show(name) for name in names[:10])
        raise SourceError(
            f"{self._file.name} has no column {show(wanted)} for the weight:"
            f" its header has {listed}"
        )

    def _edge(self, number: int, fields: list[str], columns: Columns) -> RawRecord:
        try:
            if len(fields) != columns.width:
                _check_width(fields, columns)
            source = check_id(fields[columns.source])
            target = check_id(fields[columns.target])
            if columns.weight is None:
                return RawEdge(source, target, NO_PROPERTIES)
            return RawEdge(source, target, self._weighted(fields, columns.weight))
        except ValueError as error:
            return Bad(f"line {number}", str(error))

    def _weighted(self, fields: list[str], column: int) -> Mapping[str, Property]:
        name = self._reading.weight or ""
        return {name: weight(fields[column] if column < len(fields) else None)}


def _check_width(fields: list[str], columns: Columns) -> None:
    """Too few fields lack an end; too many come from a stray separator, or list neighbours."""
    if len(fields) <= max(columns.source, columns.target):
        raise ValueError(f"{_count(fields)} where an edge needs two ends: {show(' '.join(fields))}")
    if len(fields) > columns.width and any(fields[columns.width :]):
        raise ValueError(f"{_count(fields)} where {columns.width} are expected")


def _count(fields: list[str]) -> str:
    return "1 field" if len(fields) == 1 else f"{len(fields)} fields"


# Lines


class Lines:
    """Lines with the possibility to look ahead and to give some back."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._waiting: deque[Line] = deque()

    def __iter__(self) -> Iterator[Line]:
        return self

    def __next__(self) -> Line:
        return self._waiting.popleft() if self._waiting else next(self._lines)

    def give_back(self, lines: Sequence[Line]) -> None:
        """The next lines to come are these."""
        self._waiting.extendleft(reversed(lines))

    def peek(self, count: int) -> list[str]:
        """The text of the next ``count`` lines that may be rows; none is lost."""
        seen: list[Line] = []
        found: list[str] = []
        for line in self:
            seen.append(line)
            text = line[1].strip()
            if text and text[0] not in "#%":
                found.append(text)
            # A bound on comments too: a file of nothing else must not end up in memory.
            if len(found) == count or len(seen) == 10_000:
                break
        self.give_back(seen)
        return found


def split_lines(chunks: Iterable[bytes]) -> Iterator[Line]:
    """Lines ended by LF, CRLF or CR; an error instead of what is too long or not UTF-8 text."""
    number = 1
    rest = b""
    too_long = False
    for chunk in chunks:
        pieces = (rest + chunk).splitlines(keepends=True)
        # The last one may go on in the next chunk, and so may a CRLF.
        rest = pieces.pop()
        for piece in pieces:
            yield _too_long(number) if too_long else _decoded(number, piece)
            number += 1
            too_long = False
        if len(rest) > LONGEST_LINE:
            too_long, rest = True, rest[-1:]
    if rest:
        yield _too_long(number) if too_long else _decoded(number, rest)


def _too_long(number: int) -> Line:
    return number, "", f"longer than {LONGEST_LINE:,} bytes"


def _decoded(number: int, piece: bytes) -> Line:
    try:
        text = piece.decode()
    except UnicodeDecodeError:
        return number, "", "not UTF-8 text"
    if "\0" in text:
        return number, "", "contains a NUL character"
    return number, text, ""


# Fields


def find_separator(lines: Sequence[str], suffix: str) -> str:
    """The separator that speaks first of those that many lines have outside quotes.

    Many is more than half as many as have the most frequent one, for lines may be malformed. In a
    ``.csv`` or ``.tsv`` file, spaces separate only if nothing else does.
    """
    bare = _QUOTED.sub("", "\n".join(lines)).split("\n")
    named = _SEPARATORS.get(suffix, "")
    counts = {each: sum(each in line for line in bare) for each in named or _ANY_SEPARATOR}
    if not named or not any(counts.values()):
        counts[""] = sum(" " in line or "\t" in line for line in bare)
    most = max(counts.values())
    return next(each for each, count in counts.items() if 2 * count > most or not most)


def split_plain(text: str, separator: str) -> list[str]:
    """The fields of a line without quotes. Space around a field is not part of it."""
    if separator:
        fields = text.split(separator)
        return [field.strip(" \t") for field in fields] if " " in text or "\t" in text else fields
    return [field for field in text.replace("\t", " ").split(" ") if field]


class _OpenQuoteError(Exception):
    """A quoted field goes on beyond the text."""


def split_quoted(text: str, separator: str) -> list[str]:
    """The fields of a line in which some are in double quotes. A quote inside one is doubled.

    A quote that does not begin a field is a character like any other.

    Raises:
        ValueError: something follows a closing quote.
        _OpenQuoteError: the last quote is not closed.
    """
    blank = " " if separator == "\t" else " \t"
    ends = re.compile(f"[{separator or ' ' + chr(9)}]")
    text = text.strip(blank)
    fields = []
    at = 0
    while True:
        at = _skip(text, at, blank)
        if text.startswith('"', at):
            field, at = _quoted_field(text, at + 1)
            after = _skip(text, at, blank)
            _check_after_quote(text, at if not separator else after, ends)
            at = after
        else:
            found = ends.search(text, at)
            end = found.start() if found else len(text)
            field, at = text[at:end].strip(" \t"), end
        fields.append(field)
        if at >= len(text):
            return fields
        at += 1 if separator else 0


def _skip(text: str, at: int, blank: str) -> int:
    while at < len(text) and text[at] in blank:
        at += 1
    return at


def _quoted_field(text: str, at: int) -> tuple[str, int]:
    """The field whose opening quote is before ``at``, and the position after its closing one."""
    parts = []
    while True:
        end = text.find('"', at)
        if end < 0:
            raise _OpenQuoteError
        parts.append(text[at:end])
        if not text.startswith('"', end + 1):
            return '"'.join(parts), end + 1
        at = end + 2


def _check_after_quote(text: str, at: int, ends: re.Pattern[str]) -> None:
    if at < len(text) and not ends.match(text, at):
        raise ValueError(f"{show(text[at : at + 10])} follows a closing quote")


def quoted_row(line: Line, lines: Lines, separator: str) -> Row:
    """The row that begins on ``line``; as long as a quote is open, it goes on on the next one."""
    taken: list[Line] = []
    number, text, _ = line
    while True:
        try:
            return number, split_quoted(text.rstrip("\r\n"), separator), ""
        except ValueError as error:
            reason = str(error)
        except _OpenQuoteError:
            more = _up_to_quote(lines, LONGEST_QUOTE - len(text))
            taken += more
            text += "".join(each for _, each, _ in more)
            if more and '"' in more[-1][1]:
                continue
            reason = "a quote is not closed"
        # Only this line is lost: those that were taken for its continuation are rows of their own.
        lines.give_back(taken)
        return number, [], reason


def _up_to_quote(lines: Iterable[Line], limit: int) -> list[Line]:
    """The next lines up to and with one that has a quote, as long as they fit."""
    taken: list[Line] = []
    for line in lines if limit > 0 else ():
        taken.append(line)
        _, text, error = line
        limit -= len(text)
        if error or limit < 0 or '"' in text:
            break
    return taken


# Columns


def find_header(rows: Sequence[list[str]], reading: Reading) -> bool:
    """Whether the first row names the columns.

    It does if it has the name of the weight, or the usual names of two ends (and these are no nodes
    of the rows that follow), or text for both ends where all the other rows have integers.
    """
    if reading.header is not None or not rows:
        return bool(reading.header)
    first, others = rows[0], rows[1:]
    if reading.weight is not None and reading.weight in first[2:]:
        return True
    ends = first[:2]
    if _named_ends(first) and not any(end in row[:2] for row in others for end in ends):
        return True
    return bool(others) and _are_integers(others) and not any(is_integer(end) for end in ends)


def _are_integers(rows: Iterable[list[str]]) -> bool:
    return all(len(row) > 1 and is_integer(row[0]) and is_integer(row[1]) for row in rows)


def _named_ends(header: Sequence[str]) -> tuple[int, int] | None:
    """The columns that have the usual names of two ends."""
    names = [_END.sub(r"\1", name.lower()) for name in header]
    for source, target in _ENDS:
        if source in names and target in names:
            return names.index(source), names.index(target)
    return None
