"""A SQLite file with a graph in it: its schema, its transactions, and SQLite's errors as ours."""

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from graphbo.errors import InvalidAddress, ReadOnlyDatabase, Remedy, StoreError, StoreUnavailable
from graphbo.stores.sqlite.schema import APPLICATION_ID, SCHEMA, SCHEMA_VERSION, UPGRADES
from graphbo.stores.subgraphs import way_weight

__all__ = ["SqliteFile", "in_list", "to_json"]

BUSY_TIMEOUT_SECONDS = 60.0

# One encoder for all: json.dumps with options makes a new one for each value.
to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def in_list(parameter: str) -> str:
    """A list parameter: SQLite takes lists as JSON, which keeps integers and strings apart."""
    return f"(SELECT value FROM json_each(:{parameter}))"


class SqliteFile:
    """An open file, or a database in memory.

    WAL and FULL synchronisation: several processes share a file, and a commit is on disk.

    Raises:
        StoreUnavailable: there is no such file, or it cannot be opened.
        InvalidAddress: it is another kind of file.
    """

    def __init__(self, path: str, *, create: bool = False) -> None:
        self.path = path
        in_memory = path == ":memory:"
        # A process may go to another directory while the file is open.
        self._file = None if in_memory else Path(path).absolute()
        with self.errors():
            if self._file and not create and not self._file.exists():
                raise StoreUnavailable(
                    f"there is no database file {path.partition('?')[0]}", Remedy.LOAD_FIRST
                )
            self.connection = self._connect()
        try:
            with self.errors():
                self._identity = self._file and _identity(self._file)
                self._prepare(create=create or in_memory)
        except BaseException:
            self.connection.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        connection = _open(self.path)
        try:
            connection.execute("PRAGMA application_id").fetchone()
        except sqlite3.Error as error:
            connection.close()
            if self._file is None or not _for_want_of_permission(error, self._file):
                raise
            return self._connect_read_only(self._file)
        return connection

    def _connect_read_only(self, file: Path) -> sqlite3.Connection:
        """Where nothing can be written, SQLite cannot share a file with others: it is opened as one that never changes.

        Raises:
            ReadOnlyDatabase: some of what was written is not in the file itself yet.
        """
        log = file.with_name(f"{file.name}-wal")
        if log.exists() and log.stat().st_size:
            raise ReadOnlyDatabase(
                f"{self.path} may not be written, and what was written last is in {log.name} still: "
                "copy both to a directory that may be written, and use the copy"
            )
        return _open(f"file:{quote(str(file))}?mode=ro&immutable=1", uri=True)

    def _prepare(self, *, create: bool) -> None:
        run = self.connection.execute
        (application,) = run("PRAGMA application_id").fetchone()
        (tables,) = run("SELECT count(*) FROM sqlite_schema").fetchone()
        if application != APPLICATION_ID:
            if tables or not create:
                raise InvalidAddress(f"{self.path} is not a graphbo database", Remedy.NAME_FILE)
            self._create()
        (version,) = run("PRAGMA user_version").fetchone()
        if version in UPGRADES:
            version = self._upgrade(version)
        if version != SCHEMA_VERSION:
            raise InvalidAddress(
                f"{self.path} was written by another version of graphbo (schema {version}, this one reads "
                f"{SCHEMA_VERSION}): use that version, or load the graph into a new file"
            )
        run("PRAGMA synchronous = FULL")
        # SQLite's own JSON paths cannot spell every name.
        self.connection.create_function("property", 2, _property, deterministic=True)
        self.connection.create_function("way_weight", 2, way_weight, deterministic=True)

    def _create(self) -> None:
        if self._file:
            self.connection.execute("PRAGMA journal_mode = WAL")
        with self.transaction() as execute:
            # Another process may have been quicker while this one waited for the lock.
            if execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID:
                return
            # Statements one by one: executescript would end the transaction first.
            for piece in _statements(SCHEMA):
                execute(piece)
            execute(f"PRAGMA application_id = {APPLICATION_ID}")
            execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _upgrade(self, version: int) -> int:
        """Make a file of an earlier version one of this; its version then."""
        try:
            with self.transaction() as execute:
                # Read again: another process may have been quicker while this one waited for the lock.
                (version,) = execute("PRAGMA user_version").fetchone()
                while version in UPGRADES:
                    for piece in _statements(UPGRADES[version]):
                        execute(piece)
                    version += 1
                execute(f"PRAGMA user_version = {version}")
        except ReadOnlyDatabase:
            raise ReadOnlyDatabase(
                f"{self.path} was written by an earlier version of graphbo (schema {version}) and may not be "
                "written, so it cannot be brought up to date: copy it to where it may, and use the copy"
            ) from None
        return int(version)

    @property
    def address(self) -> str:
        """``sqlite:`` and the file."""
        return f"sqlite:{self.path}"

    def close(self) -> None:
        """Close it."""
        self.connection.close()

    def all(self, sql: str, **parameters: object) -> list[dict[str, Any]]:
        """The rows that a query answers with."""
        with self.errors():
            cursor = self.connection.execute(sql, parameters)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def tuples(self, sql: str, **parameters: object) -> list[tuple[Any, ...]]:
        """The same without the names of the columns, for thousands of rows."""
        with self.errors():
            return self.connection.execute(sql, parameters).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """A write transaction that holds the file's write lock from its start."""
        with self.errors():
            try:
                self.connection.execute("BEGIN IMMEDIATE")
                self._refuse_another_file()
                yield self.connection.execute
                self.connection.execute("COMMIT")
            except BaseException:
                # Ctrl-C may come at any moment, and a full disk with the COMMIT.
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    def _refuse_another_file(self) -> None:
        """Whatever is written to a file that was deleted is lost when it is closed, and nobody would notice.

        Raises:
            StoreError: the path leads to another file by now, or to none.
        """
        now = self._file and _identity(self._file)
        if now != self._identity:
            happened = "replaced" if now else "deleted"
            raise StoreError(
                f"{self.path} was {happened} while it was open, and nothing is written any more: "
                "put the file back, or start again with what is there now"
            )

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turns what SQLite raises into errors of ours."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeEncodeError, OverflowError) as error:
            raise _translate(error, self.path) from None


def _open(database: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(database, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None, uri=uri)


def _identity(file: Path) -> tuple[int, int] | None:
    """What tells a file from another one of the same name; None if there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _for_want_of_permission(error: sqlite3.Error, file: Path) -> bool:
    """Whether a file could be read if it needed no other files beside it, which cannot be made."""
    refused = error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
    return refused and os.access(file, os.R_OK) and not os.access(file.parent, os.W_OK)


def _property(properties: str, name: str) -> str:
    """One of a node's or relationship's properties, as JSON."""
    return to_json(json.loads(properties).get(name))


def _statements(script: str) -> Iterator[str]:
    text = ""
    for line in script.splitlines():
        text += line + "\n"
        if sqlite3.complete_statement(text):
            yield text
            text = ""


#: What SQLite says, what that is, and what a user is told.
FAULTS: Sequence[tuple[str, type[StoreError | InvalidAddress], str, Remedy | None]] = (
    (
        "readonly",
        ReadOnlyDatabase,
        "sqlite:{path} may not be written: check the file's permissions",
        None,
    ),
    (
        "malformed",
        StoreError,
        "{path} is damaged ({text}): restore a backup, or save what can be read with "
        "`sqlite3 {path} .recover | sqlite3 saved.db`",
        None,
    ),
    ("not a database", InvalidAddress, "{path} is not a graphbo database", Remedy.NAME_FILE),
    (
        "unable to open",
        StoreUnavailable,
        "{path} cannot be opened: check the path and its permissions",
        None,
    ),
    ("locked", StoreUnavailable, "sqlite:{path} is locked by another process: try again", None),
)


def _translate(error: Exception, path: str) -> StoreError | InvalidAddress:
    if isinstance(error, OSError):
        return StoreUnavailable(f"{path} cannot be opened: {error.strerror}")
    if isinstance(error, OverflowError):
        return StoreError(f"sqlite:{path}: a whole number beyond 64 bits fits into no database")
    for words, kind, message, remedy in FAULTS:
        if words in str(error):
            return kind(message.format(path=path, text=error), remedy)
    return StoreError(f"sqlite:{path}: {error}")
