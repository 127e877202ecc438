"""Node-link JSON, as networkx and many a web page write it, read as it streams by."""

import json
import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Any, Final

import ijson

from graphbo.errors import SourceError
from graphbo.loading.base import Bad, Note, OnRead, Reading, show
from graphbo.loading.files import SourceFile
from graphbo.loading.records import FileSource, RawEdge, RawNode, RawRecord
from graphbo.loading.values import INT64, check_id, properties, weight
from graphbo.types import NodeKey

__all__ = ["NodeLinkScan", "open_node_link"]

#: What one node or edge may hold; it bounds what it can cost.
LARGEST_ITEM: Final = 100_000
DEEPEST_ITEM: Final = 100


def open_node_link(file: SourceFile, reading: Reading) -> FileSource:
    """The graph in a node-link JSON file."""
    return FileSource(
        file,
        lambda progress: NodeLinkScan(file, reading, progress),
        unit="record",
        typed_ids=True,
    )


class NodeLinkScan:
    """One pass over a node-link file: an object with "nodes" and with "links" or "edges"."""

    comments = 0
    notes: tuple[Note, ...] = ()

    def __init__(self, file: SourceFile, reading: Reading, progress: OnRead | None) -> None:
        self._file = file
        self._reading = reading
        self._progress = progress
        self.directed: bool | None = None
        self._multigraph = False
        self._node_types: set[type] = set()
        self._end_types: set[type] = set()

    def __iter__(self) -> Iterator[RawRecord]:
        count = dict.fromkeys(("nodes", "links", "edges"), 0)
        for section, value in _sections(self._events(), self._file.name):
            match section:
                case "directed":
                    self.directed = value is True
                case "multigraph":
                    self._multigraph = value is True
                case "nodes" | "links" | "edges":
                    yield self._record(section, count[section], value)
                    count[section] += 1
        self._refuse_positions()

    def _events(self) -> Iterator[tuple[str, Any]]:
        stream = _Stream(self._checked_chunks())
        try:
            yield from ijson.basic_parse(stream)
        except ijson.JSONError as error:
            raise SourceError(self._locate(error, stream.taken)) from None

    def _checked_chunks(self) -> Iterator[bytes]:
        check = _SurrogateCheck(self._file.name)
        for chunk in self._file.chunks(self._progress):
            check.feed(chunk)
            yield chunk
        check.finish()

    def _locate(self, error: Exception, chunk: int) -> str:
        """Where the JSON breaks: the parser does not say, so it gets the chunk byte by byte."""
        stream = _CarefulStream(self._file.chunks(), chunk)
        with suppress(ijson.JSONError):
            deque(ijson.basic_parse(stream), maxlen=0)
        return (
            f"{self._file.name}, line {stream.line}, byte {stream.position:,}:"
            f" not JSON: {_reason(error)}"
        )

    def _record(self, section: str, index: int, value: object) -> RawRecord:
        if not isinstance(value, dict):
            return Bad(f"{section}[{index:,}]", "not an object")
        try:
            return self._node(value) if section == "nodes" else self._edge(value)
        except ValueError as error:
            return Bad(f"{section}[{index:,}]", str(error))

    def _node(self, item: dict[str, object]) -> RawNode:
        key = _identity(item, "id")
        self._node_types.add(type(key))
        rest = {name: value for name, value in item.items() if name != "id"}
        return RawNode(key, properties(rest, key, self._reading.key))

    def _edge(self, item: dict[str, object]) -> RawEdge:
        source, target = _identity(item, "source"), _identity(item, "target")
        self._end_types |= {type(source), type(target)}
        structure = {"source", "target"} | ({"key"} if self._multigraph else set())
        rest = {name: value for name, value in item.items() if name not in structure}
        name = self._reading.weight
        weighted = {} if name is None else {name: weight(rest.pop(name, None))}
        return RawEdge(source, target, properties(rest) | weighted)

    def _refuse_positions(self) -> None:
        """Old files have the positions of nodes in their links, which would become nodes too."""
        if self._node_types == {str} and self._end_types == {int}:
            raise SourceError(
                f"{self._file.name}: the links name nodes by number, but the nodes' ids are texts:"
                " write the ids into the links"
            )


def _identity(item: dict[str, object], name: str) -> NodeKey:
    """An id: a string or an integer as it is, a list (networkx has tuples) as its JSON text."""
    value = item.get(name)
    match value:
        case bool() | None | float() | Decimal() | dict():
            what = "missing" if value is None else f"{show(value)}, not a string or an integer"
            raise ValueError(f"its {name} is {what}")
        case int():
            if value not in INT64:
                raise ValueError(f"its {name} {value} has more than 64 bits")
            return value
        case str():
            return check_id(value)
        case _:
            return check_id(json.dumps(value, ensure_ascii=False, default=float))


def _reason(error: Exception) -> str:
    """The parser's reason without its drawing of the place; bytes if the text was not UTF-8."""
    (reason, *_) = error.args
    text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    return text.partition("\n")[0].rpartition(": ")[2].rstrip(".")


# The structure of the file


def _sections(events: Iterator[tuple[str, Any]], name: str) -> Iterator[tuple[str, object]]:
    """The members of the outermost object: each item of the lists of a graph, and each plain value.

    Raises:
        SourceError: the JSON is no object, or a list of the graph is none.
    """
    if next(events, None) != ("start_map", None):
        raise SourceError(f'{name} is JSON, but not an object with "nodes" and "links"')
    listed = False
    for event, section in events:
        if event == "end_map":
            continue
        kind, value = next(events)
        if section in ("nodes", "links", "edges"):
            if kind != "start_array":
                raise SourceError(f"{name}: {show(section)} is not a list")
            listed = True
            yield from _items(section, events, name)
        elif kind in ("start_map", "start_array"):
            _pass_over(events)
        else:
            yield section, value
    if not listed:
        raise SourceError(f'{name} is JSON, but has neither "nodes" nor "links" nor "edges"')


def _items(
    section: str, events: Iterator[tuple[str, Any]], name: str
) -> Iterator[tuple[str, object]]:
    for event, value in events:
        if event == "end_array":
            return
        yield section, _build(event, value, events, name)


def _pass_over(events: Iterator[tuple[str, Any]]) -> None:
    depth = 1
    for event, _ in events:
        depth += (event in ("start_map", "start_array")) - (event in ("end_map", "end_array"))
        if not depth:
            return


def _build(event: str, value: object, events: Iterator[tuple[str, Any]], name: str) -> object:
    """The value that begins with ``event``."""
    builder = ijson.ObjectBuilder()
    builder.event(event, value)
    depth = int(event in ("start_map", "start_array"))
    size = 0
    while depth:
        event, value = next(events)
        size += 1
        if size > LARGEST_ITEM or depth > DEEPEST_ITEM:
            raise SourceError(
                f"{name}: a node or an edge has more than {LARGEST_ITEM:,} values"
                f" or {DEEPEST_ITEM} levels"
            )
        depth += (event in ("start_map", "start_array")) - (event in ("end_map", "end_array"))
        builder.event(event, value)
    return builder.value


# The bytes of the file


class _Stream:
    """What the JSON parser reads from: chunks as they come, whatever size it asks for."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self.taken = 0

    def read(self, size: int) -> bytes:
        """The next chunk; nothing when the parser only wants to see which type comes."""
        if not size:
            return b""
        self.taken += 1
        return next(self._chunks, b"")


class _CarefulStream:
    """Hands out chunk number ``careful`` one byte at a time, and counts bytes and lines."""

    def __init__(self, chunks: Iterator[bytes], careful: int) -> None:
        self._pieces = _pieces(chunks, careful)
        self.position = 0
        self.line = 1

    def read(self, size: int) -> bytes:
        """The next piece."""
        if not size:
            return b""
        piece = next(self._pieces, b"")
        self.position += len(piece)
        self.line += piece.count(b"\n")
        return piece


def _pieces(chunks: Iterator[bytes], careful: int) -> Iterator[bytes]:
    for number, chunk in enumerate(chunks, start=1):
        if number < careful:
            yield chunk
        else:
            yield from (chunk[at : at + 1] for at in range(len(chunk)))


class _SurrogateCheck:
    """Refuses escapes of half a surrogate pair, for which the parser would put a question mark.

    Two ids that differ would become the same.
    """

    _ESCAPE = re.compile(
        rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
        rb"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
        re.DOTALL,
    )
    _LONGEST: Final = len(rb"\ud83d\ude00")

    def __init__(self, name: str) -> None:
        self._name = name
        self._rest = b""
        self._offset = 0

    def feed(self, chunk: bytes) -> None:
        """Look at the next bytes.

        Raises:
            SourceError: half a surrogate pair.
        """
        text = self._rest + chunk
        # What comes after the cut is looked at again with the next chunk, for an escape may be cut
        # in two there. A cut after a backslash would lose whether that one is itself escaped.
        cut = max(0, len(text) - self._LONGEST)
        while cut and text[cut - 1 : cut] == b"\\":
            cut -= 1
        cut = self._find(text, cut)
        self._rest = text[cut:]
        self._offset += cut

    def finish(self) -> None:
        """There are no more bytes.

        Raises:
            SourceError: half a surrogate pair.
        """
        self._find(self._rest, len(self._rest))

    def _find(self, text: bytes, cut: int) -> int:
        """Look at all that begins before the cut; returns where the last of it ends."""
        if rb"\ud" not in text and rb"\uD" not in text:
            return cut
        end = cut
        for match in self._ESCAPE.finditer(text):
            if match.start() >= cut:
                break
            end = max(cut, match.end())
            if match["half"]:
                at = self._offset + match.start() + 1
                raise SourceError(f"{self._name}, byte {at:,}: half a surrogate pair")
        return end
