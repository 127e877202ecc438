"""Where graphs come from before they are in a database: files, generators and tasks.

A source is named by a spec: ``SCHEME:REST`` for the schemes in ``SCHEMES``, a path otherwise. ``./ba:x`` is a file
even though ``ba`` is a scheme. From the bottom up::

    base        what every source promises, and the values it hands out
    values      ids, weights and properties, as every store can hold them
    files       opening a file, and saying what else it is when it is no graph
    records     what the file formats share
    edgelist, graphml, nodelink  a file format each
    generators  graphs out of nothing
    tasks       the graphs of tasks, with their values
    headers     the first line of a table, in Neo4j's notation
    ids         the ids of tables, on disk
    tables      nodes of several labels and the edges between them
    repeats     each pair of nodes once, sorted on disk
    load        a source into a store, in batches
    property_graph  tables into a store
"""

from collections.abc import Callable
from typing import TypeAlias

from graphbo.errors import SourceError
from graphbo.loading.base import (
    Bad,
    EdgeRecord,
    NodeRecord,
    Note,
    OnRead,
    Reading,
    Source,
    Survey,
    show,
)
from graphbo.loading.edgelist import open_edge_list
from graphbo.loading.files import SourceFile
from graphbo.loading.generators import GENERATORS, GraphSource, open_generator
from graphbo.loading.graphml import open_graphml
from graphbo.loading.nodelink import open_node_link

__all__ = [
    "SCHEMES",
    "Bad",
    "EdgeRecord",
    "GraphSource",
    "NodeRecord",
    "Note",
    "OnRead",
    "Opener",
    "Reading",
    "Source",
    "Survey",
    "open_source",
]

#: Makes a source from a whole spec, ``scheme:`` included.
Opener: TypeAlias = Callable[[str, Reading], Source]


def _open_task(spec: str, reading: Reading) -> Source:
    from graphbo.loading.tasks import open_task  # noqa: PLC0415 - SciPy takes longer than most files

    return open_task(spec, reading)


#: What makes a source, by the scheme of its spec. A new kind of source is one more entry.
SCHEMES: dict[str, Opener] = {**dict.fromkeys(GENERATORS, open_generator), "task": _open_task}


def open_source(spec: str, reading: Reading | None = None) -> Source:
    """The source that ``spec`` names. A file is looked into, but not read through yet.

    Raises:
        SourceError: a file that cannot be read or is no graph, or a generator with wrong
            parameters.
    """
    reading = reading or Reading()
    opener = SCHEMES.get(spec.partition(":")[0]) if ":" in spec else None
    if opener is not None:
        _refuse_header(spec, reading)
        return opener(spec, reading)
    return _open_file(spec, reading)


def _open_file(path: str, reading: Reading) -> Source:
    try:
        file = SourceFile(path)
    except SourceError as error:
        if ":" in path and str(error).startswith("there is no file"):
            # Not all of it is repeated: an address may hold a password.
            raise SourceError(
                f"there is no such file, and {show(path.partition(':')[0])} is none of {', '.join(SCHEMES)}"
            ) from None
        raise
    if not (file.is_graphml or file.is_json):
        return open_edge_list(file, reading)
    _refuse_header(path, reading)
    return open_graphml(file, reading) if file.is_graphml else open_node_link(file, reading)


def _refuse_header(spec: str, reading: Reading) -> None:
    if reading.header is not None:
        raise SourceError(f"{show(spec, 200)} is not an edge list: it has no header to speak of")
