"""Each pair of nodes once, with the last of its properties, however long the list of edges is."""

import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from graphbo.errors import SourceError
from graphbo.loading.base import EdgeRecord
from graphbo.types import NodeKey, Property

__all__ = ["merged", "without_repeats"]

_Merged: TypeAlias = dict[tuple[NodeKey, NodeKey], Mapping[str, Property]]


def merged(edges: Iterable[EdgeRecord]) -> list[EdgeRecord]:
    """Each pair once. A repetition adds to its properties, and the last value of each counts."""
    result: _Merged = {}
    for source, target, properties in edges:
        earlier = result.get((source, target))
        result[source, target] = {**earlier, **properties} if earlier else properties
    return [(*pair, properties) for pair, properties in result.items()]


def without_repeats(
    edges: Iterable[EdgeRecord], count: int, size: int, progress: Callable[[int], None]
) -> Iterator[list[EdgeRecord]]:
    """The ``count`` edges in lists of about ``size``, no pair in more than one place.

    They are sorted into temporary files by a hash of the pair, so that all repetitions of a pair meet
    in one of them, and only one of them is in memory at a time. The hash is the same in every
    process: the same edges come out in the same order.

    Raises:
        SourceError: there is no room for the files.
    """
    try:
        with TemporaryDirectory(prefix="graphbo-") as folder:
            files = [Path(folder, str(number)) for number in range(math.ceil(count / size))]
            for done, part in enumerate(_lists(edges, size), start=1):
                _distribute(part, files)
                progress(min(done * size, count))
            for file in files:
                if file.exists():
                    yield merged(_read(file))
    except OSError as error:
        raise SourceError(f"sorting the edges needs a temporary file: {error}") from None


def _lists(edges: Iterable[EdgeRecord], size: int) -> Iterator[list[EdgeRecord]]:
    part: list[EdgeRecord] = []
    for edge in edges:
        part.append(edge)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def _distribute(edges: list[EdgeRecord], files: list[Path]) -> None:
    """Append each edge to the file of its pair."""
    shares: dict[int, list[EdgeRecord]] = {}
    for edge in edges:
        number = zlib.crc32(f"{edge[0]!r} {edge[1]!r}".encode()) % len(files)
        shares.setdefault(number, []).append(edge)
    # Opened anew each time: there may be more files than a process may have open.
    for number, share in shares.items():
        with files[number].open("a", encoding="ascii") as file:
            file.write(json.dumps(share) + "\n")


def _read(file: Path) -> Iterator[EdgeRecord]:
    with file.open(encoding="ascii") as lines:
        for line in lines:
            edges: list[EdgeRecord] = json.loads(line)
            yield from edges
