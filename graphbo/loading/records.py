"""What the file formats share: raw records, and a source made of a scan over a file."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple, Protocol, TypeAlias

from graphbo.errors import SourceError
from graphbo.loading.base import Bad, EdgeRecord, NodeRecord, Note, OnRead, Survey
from graphbo.loading.files import SourceFile
from graphbo.loading.values import is_integer
from graphbo.types import NodeKey, Property

__all__ = ["FileSource", "RawEdge", "RawNode", "RawRecord", "Scan"]

#: How many malformed records are kept to be shown.
EXAMPLES: Final = 5


class RawNode(NamedTuple):
    """A node whose id is as the file has it."""

    key: NodeKey
    properties: Mapping[str, Property]


class RawEdge(NamedTuple):
    """An edge whose ends are as the file has them."""

    source: NodeKey
    target: NodeKey
    properties: Mapping[str, Property]


RawRecord: TypeAlias = RawNode | RawEdge | Bad


class Scan(Protocol):
    """One pass over a file: its records, and beside them what the pass learns about the whole."""

    @property
    def comments(self) -> int:
        """Comment lines so far."""

    @property
    def directed(self) -> bool | None:
        """Whether the file says that edges have a direction."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a person should know."""

    def __iter__(self) -> Iterator[RawRecord]: ...


class FileSource:
    """A source that scans a file, once for the survey and again for the records.

    Args:
        file: where the bytes come from.
        scan: begins a pass over the file.
        unit: what a record is called in messages.
        typed_ids: whether the format tells numbers from text. Otherwise ids are integers if all of
            them look it.
    """

    def __init__(
        self,
        file: SourceFile,
        scan: Callable[[OnRead | None], Scan],
        unit: str,
        typed_ids: bool = False,
    ) -> None:
        self._file = file
        self._scan = scan
        self._unit = unit
        self._typed_ids = typed_ids
        self._survey: Survey | None = None
        self._integers = False

    @property
    def name(self) -> str:
        """The path as it was given."""
        return self._file.name

    def survey(self, progress: OnRead | None = None) -> Survey:
        """Read the file once: count, collect what is malformed, find out what the ids are.

        Raises:
            SourceError: the file cannot be read, or has neither a node nor an edge.
        """
        if self._survey is None:
            self._survey = self._take_survey(progress)
        return self._survey

    def nodes(self) -> Iterator[NodeRecord]:
        """The nodes, in the order of the file.

        Raises:
            SourceError: the file cannot be read any more, or changed.
        """
        left = self.survey().nodes
        if not left:
            return  # an edge list: spare the pass
        key = self._key()
        for record in self._scan(None):
            if isinstance(record, RawNode):
                yield key(record.key), record.properties
                left -= 1
                if not left:
                    return  # most files have their nodes first: spare the rest

    def edges(self) -> Iterator[EdgeRecord]:
        """The edges, in the order of the file.

        Raises:
            SourceError: the file cannot be read any more, or changed.
        """
        self.survey()
        key = self._key()
        for record in self._scan(None):
            if isinstance(record, RawEdge):
                yield key(record.source), key(record.target), record.properties

    def _key(self) -> Callable[[NodeKey], NodeKey]:
        return int if self._integers else _unchanged

    def _take_survey(self, progress: OnRead | None) -> Survey:
        nodes = edges = bad = 0
        examples: list[Bad] = []
        integers = not self._typed_ids
        with_properties = False
        scan = self._scan(progress)
        for record in scan:
            if isinstance(record, RawEdge):
                edges += 1
                with_properties = with_properties or bool(record.properties)
                integers = integers and _integer(record.source) and _integer(record.target)
            elif isinstance(record, RawNode):
                nodes += 1
                integers = integers and _integer(record.key)
            else:
                bad += 1
                if bad <= EXAMPLES:
                    examples.append(record)
        if not nodes and not edges:
            raise SourceError(self._no_graph(bad, examples))
        self._integers = integers
        return Survey(
            nodes=nodes,
            edges=edges,
            bad=bad,
            examples=tuple(examples),
            unit=self._unit,
            edge_properties=with_properties,
            comments=scan.comments,
            directed=scan.directed,
            notes=scan.notes,
        )

    def _no_graph(self, bad: int, examples: list[Bad]) -> str:
        if not bad:
            return f"{self.name} holds no edge"
        what = f"none of its {bad:,} {self._unit}s is an edge ({examples[0]})"
        return f"{self.name} is not a graph: {what}"


def _integer(key: NodeKey) -> bool:
    return isinstance(key, str) and is_integer(key)


def _unchanged(key: NodeKey) -> NodeKey:
    return key
