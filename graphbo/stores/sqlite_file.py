"""A SQLite file with a graph in it: its schema, its transactions, and SQLite's errors as ours."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphbo.errors import InvalidAddress, ReadOnlyDatabase, StoreError, StoreUnavailable
from graphbo.stores.sqlite_schema import APPLICATION_ID, SCHEMA, SCHEMA_VERSION, UPGRADES

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
        if not in_memory and not create and not Path(path).exists():
            raise StoreUnavailable(
                f"there is no database file {path}: load a graph first (`graphbo load --help`), "
                "or name another with --uri sqlite:FILE"
            )
        with self.errors():
            self.connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None
            )
        try:
            with self.errors():
                self._prepare(in_memory=in_memory, create=create or in_memory)
        except BaseException:
            self.connection.close()
            raise

    def _prepare(self, *, in_memory: bool, create: bool) -> None:
        run = self.connection.execute
        (application,) = run("PRAGMA application_id").fetchone()
        (tables,) = run("SELECT count(*) FROM sqlite_schema").fetchone()
        if application != APPLICATION_ID:
            if tables or not create:
                raise InvalidAddress(
                    f"{self.path} is not a graphbo database: name another file with --uri sqlite:FILE"
                )
            self._create(in_memory=in_memory)
        (version,) = run("PRAGMA user_version").fetchone()
        if version in UPGRADES:
            version = self._upgrade()
        if version != SCHEMA_VERSION:
            raise InvalidAddress(
                f"{self.path} was written by another version of graphbo (schema {version}, this one reads "
                f"{SCHEMA_VERSION}): use that version, or load the graph into a new file"
            )
        run("PRAGMA synchronous = FULL")
        # SQLite's own JSON paths cannot spell every name.
        self.connection.create_function("property", 2, _property, deterministic=True)

    def _create(self, *, in_memory: bool) -> None:
        if not in_memory:
            self.connection.execute("PRAGMA journal_mode = WAL")
        with self.transaction() as run:
            # Another process may have been quicker while this one waited for the lock.
            if run("PRAGMA application_id").fetchone()[0] == APPLICATION_ID:
                return
            # Statements one by one: executescript would end the transaction first.
            for piece in _statements(SCHEMA):
                run(piece)
            run(f"PRAGMA application_id = {APPLICATION_ID}")
            run(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _upgrade(self) -> int:
        """Make a file of an earlier version one of this; its version then."""
        with self.transaction() as run:
            # Read here: another process may have been quicker while this one waited for the lock.
            (version,) = run("PRAGMA user_version").fetchone()
            while version in UPGRADES:
                for piece in _statements(UPGRADES[version]):
                    run(piece)
                version += 1
            run(f"PRAGMA user_version = {version}")
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
                yield self.connection.execute
                self.connection.execute("COMMIT")
            except BaseException:
                # Ctrl-C may come at any moment, and a full disk with the COMMIT.
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turns what SQLite raises into errors of ours."""
        try:
            yield
        except (sqlite3.Error, UnicodeEncodeError, OverflowError) as error:
            raise _translate(error, self.path) from None


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


def _translate(error: Exception, path: str) -> StoreError | InvalidAddress:
    text = str(error)
    if "readonly" in text:
        return ReadOnlyDatabase(f"sqlite:{path} may not be written: check the file's permissions")
    if "not a database" in text or "malformed" in text:
        return InvalidAddress(
            f"{path} is not a graphbo database: name another file with --uri sqlite:FILE"
        )
    if "unable to open" in text:
        return StoreUnavailable(f"{path} cannot be opened: check the path and its permissions")
    if "locked" in text:
        return StoreUnavailable(f"sqlite:{path} is locked by another process: try again")
    return StoreError(f"sqlite:{path}: {text}")
