"""Opening a file that is said to hold a graph, and saying what else it is when it does not."""

import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from graphbo.errors import SourceError
from graphbo.loading.base import OnRead, show

__all__ = ["SourceFile"]

CHUNK: Final = 1 << 16
HEAD: Final = 1 << 13

_BOM: Final = b"\xef\xbb\xbf"
_GZIP: Final = b"\x1f\x8b"

#: Suffixes that leave no doubt about the format.
_NAMED: Final = (
    *(".graphml", ".xml", ".json"),
    *(".csv", ".tsv", ".tab", ".txt", ".edges", ".edgelist", ".el"),
)

#: How files begin that people mistake for graphs, and what those files are.
_OTHERS: Final = {
    b"\xff\xfe": "is UTF-16 text: save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text: save it as UTF-8",
    b"PK\x03\x04": "is a ZIP archive (or a spreadsheet): unpack it first",
    b"%PDF": "is a PDF document, not a graph",
    b"BZh": "is compressed with bzip2: unpack it, or use gzip",
    b"\xfd7zXZ": "is compressed with xz: unpack it, or use gzip",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd: unpack it, or use gzip",
    b"SQLite format 3\0": "is a SQLite database, not a graph file",
    b"PAR1": "is a Parquet file: export it as CSV",
}


class SourceFile:
    """A regular file, packed with gzip or not, that is read from the beginning several times.

    Raises:
        SourceError: there is no such file, it may not be read, or it cannot hold a graph.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.name = path if path.isprintable() else show(path, 200)
        with self._explained():
            status = self.path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise SourceError(f"{self.name} {_kind(status.st_mode)}")
            with self.path.open("rb") as file:
                self.packed = file.read(2) == _GZIP
        self._fingerprint = _fingerprint(status)
        self.size = status.st_size
        self.head = next(self.chunks(size=HEAD), b"")
        self._refuse_others()

    @property
    def suffix(self) -> str:
        """The end of its name that tells the format: ``.csv`` for ``graph.CSV.gz``."""
        name = self.path.name.lower().removesuffix(".gz")
        return os.path.splitext(name)[1]  # noqa: PTH122 - a name, not a path

    def chunks(self, progress: OnRead | None = None, size: int = CHUNK) -> Iterator[bytes]:
        """The unpacked bytes, without a byte order mark.

        Raises:
            SourceError: the file cannot be read, is damaged, or changed since it was first opened.
        """
        with self._explained(), self.path.open("rb") as raw:
            self._check_unchanged(raw)
            stream = gzip.GzipFile(fileobj=raw) if self.packed else raw
            chunk = stream.read(size).removeprefix(_BOM)
            while chunk:
                if progress is not None:
                    progress(raw.tell(), self.size)
                yield chunk
                chunk = stream.read(size)
            self._check_unchanged(raw)

    def _check_unchanged(self, raw: BinaryIO) -> None:
        if _fingerprint(os.fstat(raw.fileno())) != self._fingerprint:
            raise SourceError(f"{self.name} changed while it was read: load it again")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what opening, reading and unpacking raise into one line."""
        try:
            yield
        except FileNotFoundError:
            raise SourceError(f"there is no file {self.name}") from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            reason = "ends too early" if isinstance(error, EOFError) else "is damaged"
            raise SourceError(f"{self.name}: the gzip file {reason}: fetch it again") from None
        except OSError as error:
            raise SourceError(f"{self.name} cannot be read: {error.strerror or error}") from None
        except ValueError as error:  # a NUL in the path
            raise SourceError(f"{self.name} cannot be read: {error}") from None

    def _refuse_others(self) -> None:
        if not self.head.strip():
            raise SourceError(f"{self.name} is empty")
        start = self.head.lstrip().lower()
        if start.startswith((b"<!doctype html", b"<html")):
            raise SourceError(f"{self.name} is a web page, not a graph: look at it in a browser")
        # In XML, bytes mean what its first line says. Any text may begin with the letters of a
        # magic number.
        if self.is_graphml or (_is_text(self.head) and b"\0" not in self.head):
            return
        for magic, what in _OTHERS.items():
            if self.head.startswith(magic):
                raise SourceError(f"{self.name} {what}")
        if b"\0" in self.head and not _is_text(self.head):
            raise SourceError(f"{self.name} is a binary file, not a graph")

    @property
    def is_graphml(self) -> bool:
        """Whether its name says XML, or its first bytes do and its name says nothing."""
        return self._is((".graphml", ".xml"), (b"<?xml", b"<graphml", b"<!"))

    @property
    def is_json(self) -> bool:
        """Whether its name says JSON, or its first bytes do and its name says nothing."""
        return self._is((".json",), (b'{"', b"{}"))

    def _is(self, suffixes: tuple[str, ...], starts: tuple[bytes, ...]) -> bool:
        if self.suffix in suffixes:
            return True
        # The first id of an edge list may begin with a brace.
        start = b"".join(self.head[:200].split())
        return self.suffix not in _NAMED and start.startswith(starts)


def _fingerprint(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "is a directory: name a file in it"
    return "cannot be read twice, as loading needs: save it to a file first"


def _is_text(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4  # the last character may be cut in two
    return True
