"""What every source of a graph promises, and the values it hands out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeAlias

from graphbo.types import NodeKey, Property
from graphbo.types.text import cut

__all__ = [
    "NO_PROPERTIES",
    "Bad",
    "EdgeRecord",
    "NodeRecord",
    "Note",
    "OnRead",
    "Reading",
    "Source",
    "Survey",
    "show",
]

#: A node as a store takes it: its key and its properties.
NodeRecord: TypeAlias = tuple[NodeKey, Mapping[str, Property]]

#: An edge as a store takes it: its two ends, in the direction of the source, and its properties.
EdgeRecord: TypeAlias = tuple[NodeKey, NodeKey, Mapping[str, Property]]

#: Called now and then during a survey with how much of how much was read.
OnRead: TypeAlias = Callable[[int, int], None]

#: Shared by the millions of edges that have none.
NO_PROPERTIES: Final[Mapping[str, Property]] = {}


class Bad(NamedTuple):
    """A malformed piece of a source: where it is ("line 17") and what is wrong with it."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


class Note(StrEnum):
    """What a person should know of a source before they load it."""

    HEADER = "the first line was read as a header"
    ENDS_ONLY = "only the two ends were read"


@dataclass(frozen=True)
class Reading:
    """How to read a source.

    Attributes:
        weight: the edge attribute or column with the weight; every edge must then have one.
        key: the node property that will hold the ids, so that an attribute cannot contradict it.
        header: whether the first row of an edge list names the columns; found out when None.
        data_dir: where the data sets of tasks are; where ``GRAPHBO_DATA`` says when None.
    """

    weight: str | None = None
    key: str | None = None
    header: bool | None = None
    data_dir: Path | None = None


@dataclass(frozen=True)
class Survey:
    """What the first pass over a source found.

    Attributes:
        nodes: how many node records there are; none in an edge list, whose edges imply their nodes.
        edges: how many edge records there are, repeated ones and self-loops included.
        bad: how many malformed records there are.
        examples: the first few of them.
        unit: what a record is called: "line" or "record".
        edge_properties: whether an edge has properties, the weight included.
        comments: how many comment lines were passed over.
        directed: whether the source says that its edges have a direction; None if it does not say.
        notes: what a person should know before they load it.
    """

    nodes: int
    edges: int
    bad: int = 0
    examples: tuple[Bad, ...] = ()
    unit: str = "record"
    edge_properties: bool = True
    comments: int = 0
    directed: bool | None = None
    notes: tuple[Note, ...] = ()


class Source(Protocol):
    """A graph that can be read, as often as needed, without being held in memory.

    Implementations guarantee:

    **Two passes.** ``survey`` reads everything once and says what is there; ``nodes`` and ``edges``
    read it again. They leave out what the survey called malformed, and yield exactly as many
    records as it counted.

    **Same again.** The order and the values are the same each time. Whoever changes the file in
    between gets a ``SourceError``, not another graph.

    **Types.** Keys are non-empty strings or 64-bit integers. Properties are values that every store
    can hold. With ``Reading.weight`` every edge has that property, a finite float ≥ 0.

    **Errors.** What cannot be read as a graph raises ``SourceError`` with one line of text, and
    nothing else is raised.
    """

    @property
    def name(self) -> str:
        """What to call the source in a message."""

    def survey(self, progress: OnRead | None = None) -> Survey:
        """Read everything once; later calls answer from memory.

        Raises:
            SourceError: it cannot be read, or there is no graph in it.
        """

    def nodes(self) -> Iterator[NodeRecord]:
        """The nodes that have a record of their own.

        Raises:
            SourceError: it cannot be read any more, or changed since the survey.
        """

    def edges(self) -> Iterator[EdgeRecord]:
        """The edges; an end that is no node of ``nodes`` is a node without properties.

        Raises:
            SourceError: it cannot be read any more, or changed since the survey.
        """


def show(value: object, limit: int = 40) -> str:
    """``value`` on one line for a message, without control characters, cut to about ``limit``."""
    return repr(cut(str(value), limit))
