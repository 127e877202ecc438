"""Property graphs as tables: nodes of several labels and the edges between them, with headers in Neo4j's notation."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Final, Generic, NamedTuple, Self, TypeVar

from graphbo.errors import InvalidName, SourceError
from graphbo.loading.base import Bad, OnRead, Survey, show
from graphbo.loading.edgelist import Lines, Row, quoted_row, split_lines, split_plain
from graphbo.loading.files import SourceFile
from graphbo.loading.headers import ARRAY_SEPARATOR, Role, read_header
from graphbo.loading.ids import Ids, Known
from graphbo.loading.records import EXAMPLES
from graphbo.loading.values import check_id, is_integer
from graphbo.types import NodeKey, Property, check_name
from graphbo.types.text import cut

__all__ = ["EdgeRow", "Kind", "NodeRow", "TableSpec", "Tables", "TablesSurvey"]

#: How many ids are put into the index at a time.
_ROWS: Final = 10_000


@dataclass(frozen=True)
class TableSpec:
    """A table as a person names it: ``Person=people.csv`` or ``people.csv``.

    Attributes:
        names: labels of its nodes, or the type of its edges, beside those of its columns.
        files: the first one begins with the header; the others go on where it ends.
    """

    names: tuple[str, ...]
    files: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "TableSpec":
        """Read ``[NAME[:NAME]…=]FILE[,FILE]…``; what is the name of a file is one."""
        if Path(text).exists():
            return cls((), (text,))
        names, equals, files = text.rpartition("=")
        found = tuple(name for name in names.split(":") if name) if equals else ()
        return cls(found, (files,) if Path(files).exists() else tuple(files.split(",")))


class Kind(NamedTuple):
    """How nodes are known in the database: by a label and a key property."""

    label: str
    key: str


class NodeRow(NamedTuple):
    """A node as it is written."""

    kind: Kind
    labels: tuple[str, ...]
    key: NodeKey
    properties: Mapping[str, Property]


class EdgeRow(NamedTuple):
    """A relationship as it is written."""

    type: str
    source: Kind
    target: Kind
    start: NodeKey
    end: NodeKey
    properties: Mapping[str, Property]


@dataclass(frozen=True)
class TablesSurvey(Survey):
    """What the first pass over tables found.

    Attributes:
        repeated: how many edges are equal in everything to another one.
        as_text: columns whose values are kept as text.
        kinds: how the nodes are known, in the order of the tables.
        labels: all labels of nodes.
        types: all types of relationships.
        connections: which kinds each type connects.
    """

    repeated: int = 0
    as_text: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    labels: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    connections: tuple[tuple[str, Kind, Kind], ...] = ()


class _NodeRecord(NamedTuple):
    file: int
    line: int
    id: str
    labels: tuple[str, ...]
    properties: Mapping[str, Property]


class _EdgeRecord(NamedTuple):
    file: int
    line: int
    start: str
    end: str
    type: str
    properties: Mapping[str, Property]


_Record = TypeVar("_Record", _NodeRecord, _EdgeRecord)


class _Progress:
    """Adds up how far the files are that are read one after the other."""

    def __init__(self, files: Iterable[SourceFile], tell: OnRead | None) -> None:
        self._total = sum(file.size for file in files)
        self._before = 0
        self._tell = tell

    def of(self, file: SourceFile) -> OnRead | None:
        """What to call with the progress of a file."""
        tell, before = self._tell, self._before
        self._before += file.size
        if tell is None:
            return None
        return lambda done, _: tell(min(before + done, self._total), self._total)


class Table(ABC, Generic[_Record]):
    """A table, opened and its header read.

    Raises:
        SourceError: it cannot be read, or its header is not one.
    """

    def __init__(self, spec: TableSpec, names: tuple[str, ...]) -> None:
        self.files = [SourceFile(path) for path in spec.files]
        self.name = self.files[0].name
        self.names = spec.names or names
        for name in self.names:
            check_name(name, "name in front of a table")
        first = next(_lines(self.files[0], None), None)
        if first is None or first[2]:
            raise SourceError(f"{self.name} has no header: {first[2] if first else 'it is empty'}")
        self.separator = _separator(first[1], self.name)
        _, cells, error = next(_rows(self.files[0], self.separator, None))
        if error:
            raise SourceError(f"{self.name}, line 1: {error}")
        try:
            self.header = read_header(cells)
        except SourceError as wrong:
            raise SourceError(f"{self.name}, line 1: {wrong}") from None
        self.shown = ", ".join(show(cell) for cell in cells[:10])

    def rows(self, progress: "_Progress | None") -> Iterator[tuple[int, Row]]:
        """The rows below the header, each with the number of its file."""
        for number, file in enumerate(self.files):
            tell = None if progress is None else progress.of(file)
            rows = _rows(file, self.separator, tell)
            for row in islice(rows, 1, None) if number == 0 else rows:
                yield number, row

    def place(self, file: int, line: int) -> str:
        """Where something is, for a message."""
        return f"{self.files[file].name}, line {line}"

    @abstractmethod
    def record(self, file: int, line: int, fields: list[str]) -> _Record:
        """What a row says.

        Raises:
            ValueError: it is malformed, and why.
        """

    def records(self, progress: "_Progress | None" = None) -> Iterator[_Record | Bad]:
        """What the rows say."""
        for file, (line, fields, error) in self.rows(progress):
            if error:
                yield Bad(self.place(file, line), error)
                continue
            try:
                self.refuse_width(fields)
                yield self.record(file, line, fields)
            except ValueError as wrong:
                yield Bad(self.place(file, line), str(wrong))

    def properties(self, fields: Sequence[str]) -> dict[str, Property]:
        """The properties in a row; an empty field is none.

        Raises:
            ValueError: a value that is none of its type.
        """
        return {
            one.name: one.read(fields[place])
            for place, one in self.header.properties
            if fields[place]
        }

    def refuse_width(self, fields: Sequence[str]) -> None:
        """A row has as many fields as the header.

        Raises:
            ValueError: it has not.
        """
        width = len(self.header.columns)
        if len(fields) < width or any(fields[width:]):
            raise ValueError(
                f"{len(fields)} field{'s' * (len(fields) != 1)} where the header has {width}"
            )


class NodeTable(Table[_NodeRecord]):
    """A table of nodes."""

    def __init__(self, spec: TableSpec, names: tuple[str, ...], key: str) -> None:
        super().__init__(spec, names)
        place = self.header.the(Role.ID)
        if place is None and self.header.is_edges:
            raise SourceError(
                f"{self.name} is a table of edges, not of nodes: its header has {self.shown}"
            )
        if place is None:
            raise SourceError(
                f"{self.name} has no column with ids (such as {show('id:ID')}): its header has {self.shown}"
            )
        if self.header.is_edges:
            raise SourceError(
                f"{self.name} has columns of nodes and of edges: its header has {self.shown}"
            )
        column = self.header.columns[place]
        options = dict(column.options)
        if "label" in options:
            self.names = tuple(dict.fromkeys((options["label"], *self.names)))
        self.group = column.group
        self.key = column.name or key
        self.text_ids = options.get("id-type") == "string"
        if any(one.name == self.key for _, one in self.header.properties):
            raise SourceError(f"{self.name} has a property {show(self.key)} beside its ids")
        self._id = place
        self._labels_at = self.header.the(Role.LABEL)
        if not self.names and self._labels_at is None:
            raise SourceError(
                f"{self.name} has no column :LABEL: give the label with the table, as in LABEL={self.name}"
            )
        #: Labels by the field that names them: there are few, and many nodes.
        self._known: dict[str, tuple[str, ...]] = {"": self.names}

    def record(self, file: int, line: int, fields: list[str]) -> _NodeRecord:
        """A node."""
        own = "" if self._labels_at is None else fields[self._labels_at]
        labels = self._known.get(own)
        if labels is None:
            labels = self._known[own] = self._labels(own)
        if not labels:
            raise ValueError("the node has no label")
        return _NodeRecord(file, line, check_id(fields[self._id]), labels, self.properties(fields))

    def _labels(self, text: str) -> tuple[str, ...]:
        names = [part for part in text.split(ARRAY_SEPARATOR) if part]
        return tuple(dict.fromkeys((*self.names, *(_name(part, "label") for part in names))))


class EdgeTable(Table[_EdgeRecord]):
    """A table of edges."""

    def __init__(self, spec: TableSpec, names: tuple[str, ...]) -> None:
        super().__init__(spec, names)
        if self.header.is_nodes:
            raise SourceError(
                f"{self.name} is a table of nodes, not of edges: its header has {self.shown}"
            )
        self._start, self._end = self._required(Role.START), self._required(Role.END)
        self._type = self.header.the(Role.TYPE)
        columns = self.header.columns
        self.groups = columns[self._start].group, columns[self._end].group
        if len(self.names) > 1:
            raise SourceError(f"{self.name}: edges have one type, not {len(self.names)}")
        if not self.names and self._type is None:
            raise SourceError(
                f"{self.name} has no column :TYPE: give the type with the table, as in TYPE={self.name}"
            )
        #: Types by the field that names them.
        self._known: dict[str, str] = {"": self.names[0] if self.names else ""}

    def _required(self, role: Role) -> int:
        place = self.header.the(role)
        if place is None:
            raise SourceError(
                f"{self.name} has no column :{role.value}: its header has {self.shown}"
            )
        return place

    def record(self, file: int, line: int, fields: list[str]) -> _EdgeRecord:
        """An edge."""
        own = "" if self._type is None else fields[self._type]
        kind = self._known.get(own)
        if kind is None:
            kind = self._known[own] = _name(own, "relationship type")
        if not kind:
            raise ValueError("the edge has no type")
        ends = check_id(fields[self._start]), check_id(fields[self._end])
        return _EdgeRecord(file, line, *ends, kind, self.properties(fields))


class Tables:
    """Tables of nodes and of edges that belong together. To be closed: what it knows of ids is in a temporary file.

    Args:
        nodes: the tables of nodes.
        edges: the tables of edges.
        labels: of the nodes in tables that name none.
        type: of the edges in tables that name none.
        key: the property for ids whose column has no name.

    Raises:
        SourceError: one cannot be read, or is none.
    """

    def __init__(
        self,
        nodes: Sequence[TableSpec],
        edges: Sequence[TableSpec],
        *,
        labels: tuple[str, ...] = (),
        type: str | None = None,  # noqa: A002 - as everywhere
        key: str = "id",
    ) -> None:
        self._nodes = [NodeTable(spec, labels, key) for spec in nodes]
        self._edges = [EdgeTable(spec, (type,) if type else ()) for spec in edges]
        if not nodes:
            raise SourceError(
                "edges without nodes: give the table of nodes that their ids are of, too"
            )
        self._spaces = {
            name: i for i, name in enumerate(dict.fromkeys(t.group for t in self._nodes))
        }
        for table in self._edges:
            for group in table.groups:
                if group not in self._spaces:
                    named = ", ".join(show(name) for name in self._spaces if name) or "no groups"
                    raise SourceError(
                        f"{table.name}: no table of nodes has the group {show(group)}: they have {named}"
                    )
        # Every file has a number of its own, which with a line says where a node is.
        self._places = [(table, i) for table in self._nodes for i in range(len(table.files))]
        self._shapes: dict[tuple[int, tuple[str, ...]], int] = {}
        self._kinds: list[Kind] = []
        self._integers: dict[Kind, bool] = {}
        self._all: list[NodeTable | EdgeTable] = [*self._nodes, *self._edges]
        self._survey: TablesSurvey | None = None
        self._stack = ExitStack()
        self._ids = self._stack.enter_context(Ids.temporary())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def name(self) -> str:
        """The names of the files."""
        return cut(", ".join(table.name for table in self._all), 200)

    def survey(self, progress: OnRead | None = None) -> TablesSurvey:
        """Read everything once; later calls answer from memory.

        Raises:
            SourceError: a table cannot be read, or two groups would become one.
        """
        if self._survey is None:
            self._survey = self._take_survey(progress)
        return self._survey

    def nodes(self) -> Iterator[NodeRow]:
        """The nodes, in the order of the tables.

        Raises:
            SourceError: a table cannot be read any more, or changed.
        """
        check = bool(self.survey().bad)
        for number, table in enumerate(self._nodes):
            first = self._places.index((table, 0))
            space = self._spaces[table.group]
            for record in table.records():
                if isinstance(record, Bad):
                    continue
                if check and self._ids.place(space, record.id) != (
                    first + record.file,
                    record.line,
                ):
                    continue  # a second node with the id
                kind = self._kinds[self._shapes[number, record.labels]]
                key = self._key(kind, record.id)
                yield NodeRow(kind, record.labels, key, record.properties)

    def edges(self) -> Iterator[EdgeRow]:
        """The edges, in the order of the tables; equal ones as often as they are there.

        Raises:
            SourceError: a table cannot be read any more, or changed.
        """
        self.survey()
        for table in self._edges:
            ends = [self._spaces[group] for group in table.groups]
            for record in table.records():
                if isinstance(record, Bad):
                    continue
                source = self._kind(ends[0], record.start)
                target = self._kind(ends[1], record.end)
                if source is not None and target is not None:
                    yield EdgeRow(
                        record.type,
                        source,
                        target,
                        self._key(source, record.start),
                        self._key(target, record.end),
                        record.properties,
                    )

    def _kind(self, space: int, key: str) -> Kind | None:
        shape = self._ids.shape(space, key)
        return None if shape is None else self._kinds[shape]

    def _key(self, kind: Kind, text: str) -> NodeKey:
        return int(text) if self._integers[kind] else text

    def _take_survey(self, tell: OnRead | None) -> TablesSurvey:
        progress = _Progress((file for table in self._all for file in table.files), tell)
        bad = _Bads()
        nodes, plain = self._survey_nodes(progress, bad)
        self._name_kinds(plain)
        edges, repeated, connections = self._survey_edges(progress, bad)
        if not nodes:
            raise SourceError(f"{self.name}: there is no node{bad.first}")
        labels = dict.fromkeys(label for _, names in self._shapes for label in names)
        return TablesSurvey(
            nodes=nodes,
            edges=edges,
            bad=bad.count,
            examples=tuple(bad.examples),
            unit="line",
            directed=True,
            repeated=repeated,
            as_text=tuple(
                dict.fromkeys(
                    f"{one.name}:{one.type} of {table.name}"
                    for table in self._all
                    for _, one in table.header.properties
                    if one.as_text
                )
            ),
            kinds=tuple(dict.fromkeys(self._kinds)),
            labels=tuple(labels),
            types=tuple(dict.fromkeys(one[0] for one in connections)),
            connections=connections,
        )

    def _survey_nodes(self, progress: _Progress, bad: "_Bads") -> tuple[int, dict[int, bool]]:
        """How many nodes there are, and whether the ids of each shape all look like integers."""
        nodes = 0
        plain: dict[int, bool] = {}
        for number, table in enumerate(self._nodes):
            space = self._spaces[table.group]
            before = self._places.index((table, 0))
            records = table.records(progress)
            while part := list(islice(records, _ROWS)):
                known = []
                for record in part:
                    if isinstance(record, Bad):
                        bad.add(record)
                    else:
                        shape = self._shapes.setdefault((number, record.labels), len(self._shapes))
                        integer = not table.text_ids and is_integer(record.id)
                        plain[shape] = plain.get(shape, True) and integer
                        place = before + record.file, record.line
                        known.append(Known(space, record.id, shape, place))
                twice = self._ids.add(known)
                nodes += len(known) - len(twice)
                for one, earlier in twice:
                    group = f" of the group {show(table.group)}" if table.group else ""
                    why = f"the id {show(one.id)}{group} was there before: {self._place(*earlier)}"
                    bad.add(Bad(self._place(*one.place), why))
        return nodes, plain

    def _place(self, file: int, line: int) -> str:
        table, number = self._places[file]
        return table.place(number, line)

    def _name_kinds(self, plain: Mapping[int, bool]) -> None:
        """A kind for each shape: the key of its table, and the first label that all nodes of the table have.

        Raises:
            SourceError: ids of two groups would be those of one kind.
        """
        common: dict[int, list[str]] = {}
        for number, labels in self._shapes:
            common[number] = [x for x in common.get(number, labels) if x in labels]
        self._kinds = [
            Kind((common[number] or labels)[0], self._nodes[number].key)
            for number, labels in self._shapes
        ]
        groups: dict[Kind, set[str]] = {}
        for shape, (number, _) in enumerate(self._shapes):
            kind = self._kinds[shape]
            self._integers[kind] = self._integers.get(kind, True) and plain[shape]
            groups.setdefault(kind, set()).add(self._nodes[number].group)
        if all(len(found) == 1 for found in groups.values()):
            return
        numbers = {kind: number for number, kind in enumerate(groups)}
        pairs = [(shape, numbers[kind]) for shape, kind in enumerate(self._kinds)]
        shared = self._ids.shared(pairs)
        if shared is not None:
            (kind, found), *_ = [item for item in groups.items() if len(item[1]) > 1]
            raise SourceError(
                f"the groups {', '.join(show(name) for name in sorted(found))} share the id {show(shared)}, and"
                f" their nodes both become :{kind.label} with the key {kind.key!r}: name their ids differently"
            )

    def _survey_edges(
        self, progress: _Progress, bad: "_Bads"
    ) -> tuple[int, int, tuple[tuple[str, Kind, Kind], ...]]:
        """How many edges there are, how many of them repeat another one, and what they connect."""
        edges = repeated = 0
        connections: dict[tuple[str, Kind, Kind], None] = {}
        for table in self._edges:
            ends = [self._spaces[group] for group in table.groups]
            for record in table.records(progress):
                if isinstance(record, Bad):
                    bad.add(record)
                    continue
                kinds = []
                for space, group, key in zip(
                    ends, table.groups, (record.start, record.end), strict=True
                ):
                    kind = self._kind(space, key)
                    if kind is None:
                        of = f" of the group {show(group)}" if group else ""
                        why = f"no node has the id {show(key)}{of}"
                        bad.add(Bad(table.place(record.file, record.line), why))
                        break
                    kinds.append(kind)
                else:
                    edges += 1
                    connections[record.type, kinds[0], kinds[1]] = None
                    repeated += not self._ids.is_new(_digest(ends, record))
        return edges, repeated, tuple(connections)


def _digest(spaces: Sequence[int], record: _EdgeRecord) -> bytes:
    whole = (*spaces, record.start, record.end, record.type, sorted(record.properties.items()))
    return hashlib.blake2b(json.dumps(whole).encode(), digest_size=16).digest()


class _Bads:
    """Counts what is malformed, and keeps the first few."""

    def __init__(self) -> None:
        self.count = 0
        self.examples: list[Bad] = []

    def add(self, one: Bad) -> None:
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(one)

    @property
    def first(self) -> str:
        """The first one, in parentheses."""
        return f" ({self.examples[0]})" if self.examples else ""


def _name(text: str, what: str) -> str:
    """A label or a type out of a field.

    Raises:
        ValueError: it cannot be one.
    """
    try:
        return check_name(text, what)
    except InvalidName as error:
        raise ValueError(str(error)) from None


def _lines(file: SourceFile, tell: OnRead | None) -> Iterator[tuple[int, str, str]]:
    """The lines that are not empty."""
    return (line for line in split_lines(file.chunks(tell)) if line[2] or line[1].strip())


def _rows(file: SourceFile, separator: str, tell: OnRead | None) -> Iterator[Row]:
    lines = Lines(_lines(file, tell))
    for line in lines:
        number, text, error = line
        text = text.strip("\r\n ")
        if error:
            yield number, [], error
        elif '"' in text:
            yield quoted_row(line, lines, separator)
        else:
            yield number, split_plain(text, separator), ""


def _separator(header: str, name: str) -> str:
    """Commas or tabs."""
    if "\t" in header:
        return "\t"
    if ";" in header and "," not in header:
        raise SourceError(
            f"{name} is separated by semicolons, which separate the values of a list: expected commas or tabs"
        )
    return ","
