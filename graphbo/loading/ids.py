"""The ids of tables of nodes, on disk: which are there, which twice, and what kind of node has which."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from graphbo.errors import SourceError

__all__ = ["Ids", "Known", "Place"]

#: The table and the line of a node.
Place: TypeAlias = tuple[int, int]

_SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000; PRAGMA temp_store = FILE;
CREATE TABLE node (
  space INTEGER, id TEXT, shape INTEGER, source INTEGER, line INTEGER, PRIMARY KEY (space, id)
) WITHOUT ROWID;
CREATE TABLE edge (digest BLOB PRIMARY KEY) WITHOUT ROWID;
BEGIN;
"""


@dataclass(frozen=True)
class Known:
    """A node that a table has.

    Attributes:
        space: the group of its id, as a number.
        id: its id.
        shape: which labels it has, as a number.
        place: where it is.
    """

    space: int
    id: str
    shape: int
    place: Place


class Ids:
    """An index of ids in a temporary file, so that memory does not grow with them.

    Raises:
        SourceError: there is no room for the file.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @classmethod
    @contextmanager
    def temporary(cls) -> Iterator["Ids"]:
        """An empty index, gone in the end."""
        with TemporaryDirectory(prefix="graphbo-", ignore_cleanup_errors=True) as folder:
            database = sqlite3.connect(Path(folder, "ids"), isolation_level=None)
            try:
                database.executescript(_SCHEMA)
                yield cls(database)
            except sqlite3.OperationalError as error:
                raise SourceError(f"checking the ids needs a temporary file: {error}") from None
            finally:
                database.close()

    def add(self, nodes: Sequence[Known]) -> list[tuple[Known, Place]]:
        """Add nodes; those whose id was there before, each with the place of the one that has it."""
        added = self._database.executemany(
            "INSERT OR IGNORE INTO node VALUES (?, ?, ?, ?, ?)",
            [(one.space, one.id, one.shape, *one.place) for one in nodes],
        ).rowcount
        if added == len(nodes):
            return []
        first = self._first_places((one.space, one.id) for one in nodes)
        pairs = zip(nodes, first, strict=True)
        return [(one, place) for one, place in pairs if place != one.place]

    def _first_places(self, ids: Iterable[tuple[int, str]]) -> list[Place]:
        found = "SELECT source, line FROM node WHERE space = ? AND id = ?"
        return [self._database.execute(found, one).fetchone() for one in ids]

    def shape(self, space: int, key: str) -> int | None:
        """The shape of the node with this id; None if there is none."""
        row = self._database.execute(
            "SELECT shape FROM node WHERE space = ? AND id = ?", (space, key)
        ).fetchone()
        return None if row is None else int(row[0])

    def place(self, space: int, key: str) -> Place:
        """Where the node with this id is."""
        (place,) = self._first_places([(space, key)])
        return place

    def is_new(self, digest: bytes) -> bool:
        """Whether no edge had this digest before."""
        added = self._database.execute("INSERT OR IGNORE INTO edge VALUES (?)", (digest,))
        return added.rowcount == 1

    def shared(self, kinds: Sequence[tuple[int, int]]) -> str | None:
        """An id that two nodes of one kind have, in different spaces.

        Args:
            kinds: pairs of a shape and its kind.
        """
        self._database.execute("CREATE TEMP TABLE kind (shape INTEGER PRIMARY KEY, kind INTEGER)")
        self._database.executemany("INSERT INTO kind VALUES (?, ?)", kinds)
        row = self._database.execute(
            "SELECT id FROM node JOIN kind USING (shape) GROUP BY kind, id HAVING count(*) > 1 LIMIT 1"
        ).fetchone()
        self._database.execute("DROP TABLE kind")
        return None if row is None else str(row[0])
