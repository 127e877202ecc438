"""GraphML: XML with typed attributes, read as it streams by."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from graphbo.errors import SourceError
from graphbo.loading.base import Bad, Note, OnRead, Reading, show
from graphbo.loading.files import SourceFile
from graphbo.loading.records import FileSource, RawEdge, RawNode, RawRecord
from graphbo.loading.values import check_id, number, properties, weight

__all__ = ["GraphMLScan", "open_graphml"]

#: The longest value of one attribute; it bounds what one element can cost.
LONGEST_VALUE: Final = 1 << 20

#: GraphML's default for keys that do not say whose they are.
_ALL: Final = "all"


def open_graphml(file: SourceFile, reading: Reading) -> FileSource:
    """The graph in a GraphML file."""
    return FileSource(file, lambda progress: GraphMLScan(file, reading, progress), unit="record")


@dataclass
class _Key:
    """A declared attribute: its name, whose it is, how its text is read, and its default."""

    name: str
    owner: str
    kind: str
    default: str | None = None


@dataclass
class _Element:
    """The node or edge whose end tag has not come yet."""

    tag: str
    line: int
    attributes: Mapping[str, str]
    values: dict[str, str] = field(default_factory=dict)
    trouble: str = ""


class GraphMLScan:
    """One pass over a GraphML file.

    Declared entities are refused, for they can expand without end or name other files. A nested
    graph's nodes and edges count as the outer one's, whose ids they share.
    """

    comments = 0
    notes: tuple[Note, ...] = ()

    def __init__(self, file: SourceFile, reading: Reading, progress: OnRead | None) -> None:
        self._file = file
        self._reading = reading
        self._progress = progress
        self.directed: bool | None = None
        self._keys: dict[str, _Key] = {}
        self._foreign: set[str] = set()
        self._namespace = ""
        self._path: list[str] = []
        self._graphs = 0
        self._open: list[_Element] = []
        self._declared: _Key | None = None
        self._data: str | None = None
        self._text: list[str] | None = None
        self._length = 0
        self._done: list[RawRecord] = []
        self._parser = self._new_parser()

    def __iter__(self) -> Iterator[RawRecord]:
        for chunk in self._file.chunks(self._progress):
            self._feed(chunk, final=False)
            yield from self._done
            self._done.clear()
        self._feed(b"", final=True)
        yield from self._done

    def _new_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._refuse_entity
        parser.ExternalEntityRefHandler = self._refuse_entity
        parser.SkippedEntityHandler = self._refuse_entity
        return parser

    def _feed(self, chunk: bytes, final: bool) -> None:
        try:
            self._parser.Parse(chunk, final)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise SourceError(
                f"{self._file.name}, line {error.lineno}, column {error.offset + 1}:"
                f" not XML: {reason}"
            ) from None
        except (LookupError, ValueError) as error:  # an encoding that Python or expat does not know
            raise SourceError(f"{self._file.name} cannot be decoded: {error}") from None

    def _refuse_entity(self, *_: object) -> int:
        raise SourceError(
            f"{self._file.name}, line {self._parser.CurrentLineNumber}: XML entities are not read,"
            " for they can name other files or grow without end"
        )

    # What the parser calls

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = self._tag(name)
        self._path.append(tag)
        begin = self._BEGINNINGS.get(tag)
        if begin is not None:
            begin(self, attributes)

    def _end(self, _: str) -> None:
        finish = self._ENDINGS.get(self._path.pop())
        if finish is not None:
            finish(self)

    def _tag(self, name: str) -> str:
        """The name without its namespace; nothing for what is in another namespace than GraphML."""
        namespace, _, tag = name.rpartition(" ")
        if not self._path:
            if tag != "graphml":
                raise SourceError(f"{self._file.name} is XML, but <{tag}> is not <graphml>")
            self._namespace = namespace
        return tag if namespace == self._namespace else ""

    def _characters(self, text: str) -> None:
        if self._text is None:
            return
        self._length += len(text)
        if self._length <= LONGEST_VALUE:
            self._text.append(text)
        elif self._open:
            self._open[-1].trouble = f"an attribute has more than {LONGEST_VALUE:,} characters"

    # Elements

    def _begin_graph(self, attributes: dict[str, str]) -> None:
        if self._path.count("graph") > 1:
            return
        self._graphs += 1
        if self._graphs > 1:
            raise SourceError(
                f"{self._file.name}, line {self._parser.CurrentLineNumber}: a second graph begins:"
                " one per file is expected"
            )
        known = {"directed": True, "undirected": False}
        self.directed = known.get(attributes.get("edgedefault", ""))

    def _begin_key(self, attributes: dict[str, str]) -> None:
        # Drawing programs declare keys for their own data, which has no value but nested elements.
        identity = attributes.get("id", "")
        if any(name.rpartition(" ")[2] == "yfiles.type" for name in attributes):
            self._foreign.add(identity)
            return
        self._declared = self._keys[identity] = _Key(
            name=attributes.get("attr.name", identity),
            owner=attributes.get("for", _ALL),
            kind=attributes.get("attr.type", "string"),
        )

    def _begin_element(self, attributes: dict[str, str]) -> None:
        line = self._parser.CurrentLineNumber
        self._open.append(_Element(self._path[-1], line, attributes))

    def _begin_data(self, attributes: dict[str, str]) -> None:
        if self._open and self._path[-2] == self._open[-1].tag:
            self._data = attributes.get("key", "")
            self._begin_text(attributes)

    def _begin_text(self, _: dict[str, str]) -> None:
        self._text = []
        self._length = 0

    def _taken_text(self) -> str:
        text = "".join(self._text or ())
        self._text = None
        return text

    def _end_default(self) -> None:
        text = self._taken_text()
        if self._declared is not None:
            self._declared.default = text

    def _end_key(self) -> None:
        self._declared = None

    def _end_data(self) -> None:
        if self._data is None:
            return
        text = self._taken_text()
        element = self._open[-1]
        if self._data in self._keys:
            element.values[self._data] = text
        elif self._data not in self._foreign:
            element.trouble = f"the key {show(self._data)} of its data is not declared"
        self._data = None

    def _end_element(self) -> None:
        element = self._open.pop()
        where = f"line {element.line}"
        if element.trouble:
            self._done.append(Bad(where, element.trouble))
            return
        try:
            self._done.append(self._CONVERSIONS[element.tag](self, element))
        except ValueError as error:
            self._done.append(Bad(where, str(error)))

    # Records

    def _node(self, element: _Element) -> RawRecord:
        identity = check_id(_required(element, "id"))
        values = self._values(element)
        return RawNode(identity, properties(values, identity, self._reading.key))

    def _edge(self, element: _Element) -> RawRecord:
        source = check_id(_required(element, "source"))
        target = check_id(_required(element, "target"))
        values = self._values(element)
        name = self._reading.weight
        weighted = {} if name is None else {name: weight(values.pop(name, None))}
        return RawEdge(source, target, properties(values) | weighted)

    def _hyperedge(self, _: _Element) -> RawRecord:
        raise ValueError("a hyperedge has more than two ends")

    def _values(self, element: _Element) -> dict[str, object]:
        """The attributes of an element by name, with defaults for those that it does not have."""
        values: dict[str, object] = {}
        mine = {name: key for name, key in self._keys.items() if key.owner in (element.tag, _ALL)}
        for key in mine.values():
            if key.default is not None:
                values[key.name] = _typed(key.default, key)
        for identity, text in element.values.items():
            key = self._keys[identity]
            values[key.name] = _typed(text, key)
        return values

    _BEGINNINGS: Final[dict[str, Callable[["GraphMLScan", dict[str, str]], None]]] = {
        "graph": _begin_graph,
        "key": _begin_key,
        "default": _begin_text,
        "node": _begin_element,
        "edge": _begin_element,
        "hyperedge": _begin_element,
        "data": _begin_data,
    }
    _ENDINGS: Final[dict[str, Callable[["GraphMLScan"], None]]] = {
        "key": _end_key,
        "default": _end_default,
        "node": _end_element,
        "edge": _end_element,
        "hyperedge": _end_element,
        "data": _end_data,
    }
    _CONVERSIONS: Final[dict[str, Callable[["GraphMLScan", _Element], RawRecord]]] = {
        "node": _node,
        "edge": _edge,
        "hyperedge": _hyperedge,
    }


def _required(element: _Element, name: str) -> str:
    try:
        return element.attributes[name]
    except KeyError:
        raise ValueError(f"<{element.tag}> has no {name}") from None


def _typed(text: str, key: _Key) -> object:
    """The value of an attribute as its declaration types it; an unknown type is text."""
    try:
        return _TYPES.get(key.kind, str)(text)
    except ValueError:
        raise ValueError(f"its {show(key.name)} is {show(text)}, not {key.kind}") from None


def _integer(text: str) -> int:
    if "_" in text:  # int() would accept 1_000
        raise ValueError(text)
    return int(text)


def _boolean(text: str) -> bool:
    try:
        return {"true": True, "1": True, "false": False, "0": False}[text.strip().lower()]
    except KeyError:
        raise ValueError(text) from None


_TYPES: Final[dict[str, Callable[[str], object]]] = {
    "boolean": _boolean,
    "int": _integer,
    "long": _integer,
    "float": number,
    "double": number,
}
