"""Graphs of real people: small ones that networkx carries, large ones in files that the user downloads.

A data set NAME is the file ``NAME.csv.gz`` in a directory that the user names: a header, then one undirected edge per
line, ``source,target``.
"""

import gzip
import os
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import networkx as nx
import numpy as np

from graphbo.errors import Remedy, TaskError
from graphbo.types import IntArray

__all__ = ["DATA_SETS", "VARIABLE", "DataSet", "Network", "carried", "downloaded", "file_of"]

#: The environment variable that names the directory.
VARIABLE: Final = "GRAPHBO_DATA"


class Network(NamedTuple):
    """Edges between the nodes 0 … n-1, each once, and what the nodes were called."""

    edges: IntArray
    names: Sequence[str]


class DataSet(NamedTuple):
    """A file to be downloaded: what it is called here, and what where it comes from."""

    file: str
    origin: str


#: By the word that users write.
DATA_SETS: Final = {
    "enron": DataSet("enron.csv.gz", "SNAP, email-Enron"),
    "facebook-pages": DataSet(
        "facebook-pages.csv.gz", "SNAP, gemsec-Facebook, pages of athletes (athletes_edges.csv)"
    ),
    "twitch": DataSet("twitch.csv.gz", "SNAP, MUSAE, twitch-social-networks (ENGB)"),
    "contacts": DataSet(
        "copenhagen-contacts.csv.gz", "the Copenhagen Networks Study, Bluetooth contacts"
    ),
}

_CARRIED: Final[dict[str, Callable[[], Any]]] = {
    "karate": nx.karate_club_graph,
    "les-miserables": nx.les_miserables_graph,
    "florentine-families": nx.florentine_families_graph,
    "southern-women": nx.davis_southern_women_graph,
}


def carried(name: str) -> Network:
    """One of the small graphs that come with networkx, without its weights."""
    return _network([(str(a), str(b)) for a, b in _CARRIED[name]().edges])


def downloaded(name: str, directory: Path | None) -> Network:
    """A data set of the user's.

    Raises:
        TaskError: it is not there, or cannot be read.
    """
    return _network(_rows(file_of(name, directory)))


def file_of(name: str, directory: Path | None) -> Path:
    """The file with a data set.

    Args:
        name: one of ``DATA_SETS``.
        directory: where to look; without it, where the environment says.

    Raises:
        TaskError: it is not there.
    """
    data = DATA_SETS[name]
    named = directory or os.environ.get(VARIABLE)
    if not named:
        raise TaskError(
            f"the data set {name} is read from {data.file}",
            Remedy.NAME_DATA,
            variable=VARIABLE,
            origin=data.origin,
        )
    path = Path(named) / data.file
    if not path.exists():
        raise TaskError(
            f"there is no {data.file} in {Path(named)}",
            Remedy.FETCH_DATA,
            variable=VARIABLE,
            origin=data.origin,
        )
    return path


def _rows(path: Path) -> list[tuple[str, str]]:
    try:
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise TaskError(f"{path} cannot be read: {error}") from None
    if not lines or lines[0].replace(" ", "") != "source,target":
        raise TaskError(f"{path} does not begin with the header source,target")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        one, comma, other = line.partition(",")
        if not comma or "," in other or not one or not other:
            raise TaskError(f"{path}, line {number:,}: {line[:60]!r} is no edge: expected two ids")
        rows.append((one, other))
    if not rows:
        raise TaskError(f"{path} holds no edge")
    return rows


def _network(rows: Sequence[tuple[str, str]]) -> Network:
    """The nodes in the order of their appearance; self-loops and repetitions are left out."""
    number: dict[str, int] = {}
    edges: dict[tuple[int, int], None] = {}
    for one, other in rows:
        a, b = (number.setdefault(name, len(number)) for name in (one, other))
        if a != b:
            edges[min(a, b), max(a, b)] = None
    return Network(np.array(list(edges), dtype=np.int64).reshape(-1, 2), list(number))
