"""The connection to a Neo4j: transactions with limits and retries, and the driver's errors as ours."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import neo4j
from neo4j import exceptions

from graphbo import __version__
from graphbo.errors import (
    AuthenticationFailed,
    DatabaseNotFound,
    InvalidAddress,
    KeyNotUnique,
    ReadOnlyDatabase,
    Remedy,
    StoreError,
    StoreUnavailable,
    TimedOut,
)
from graphbo.stores.address import Address, without_secrets
from graphbo.stores.neo4j.statements import statement
from graphbo.stores.retrying import RetryTimer

__all__ = [
    "BULK_SECONDS",
    "READ_SECONDS",
    "SCAN_SECONDS",
    "STEP_SECONDS",
    "IndexInTheWay",
    "Neo4jConnection",
    "Rows",
    "rows_of",
]

#: An idle connection is checked before use after this many seconds: objectives may take hours.
LIVENESS_CHECK_TIMEOUT = 30.0

# How long a transaction may take. The server ends it then and frees its locks, which a client that has vanished (a
# network that is gone, a process that is stopped) would keep from everybody else.

#: Asking and telling, which take milliseconds; all else is waiting for somebody's lock.
STEP_SECONDS = 20.0
#: A piece of the graph.
READ_SECONDS = 60.0
#: A batch of nodes or relationships, or all that a run has written.
BULK_SECONDS = 600.0
#: What grows with the graph: looking at all nodes of a label, making a constraint, deleting.
SCAN_SECONDS = 3600.0

#: How long a write that was ended before it got its locks is tried again. Whoever holds them is ended after the same
#: time, if they have vanished: the next attempt finds them free.
LOCK_PATIENCE_SECONDS = 60.0

#: What servers call a transaction that they ended because of its limit, or of that for waiting for a lock.
TIMED_OUT = (
    "TransactionTimedOut",
    "TransactionTimedOutClientConfiguration",
    "LockClientStopped",
    "LockAcquisitionTimeout",
)

Answer = TypeVar("Answer")
Rows = list[dict[str, Any]]


def rows_of(result: neo4j.Result) -> Rows:
    """The rows that a statement answers with."""
    columns = result.keys()
    return [dict(zip(columns, row, strict=True)) for row in result.values()]


class IndexInTheWay(StoreError):
    """A constraint cannot be made because there is an index of its name."""


class Neo4jConnection:
    """A database on a server.

    Raises:
        InvalidAddress: the address cannot be used.
        StoreError: the server cannot be reached, or does not let us in.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        with self.errors():
            self._driver = neo4j.GraphDatabase.driver(
                address.uri,
                auth=(address.username, address.password or "") if address.username else None,
                user_agent=f"graphbo/{__version__}",
                liveness_check_timeout=LIVENESS_CHECK_TIMEOUT,
                # id() is deprecated and there is nothing else as fast; a property that no node has yet is no mistake.
                notifications_min_severity="OFF",
            )
        try:
            with self.errors():
                self._driver.verify_connectivity()
            self.database = address.database or self._home_database()
        except BaseException:
            self._driver.close()
            raise

    def close(self) -> None:
        """Close the driver."""
        self._driver.close()

    def _home_database(self) -> str:
        query = neo4j.Query(statement("home_database").text(), timeout=STEP_SECONDS)
        with self.errors(STEP_SECONDS), self._driver.session() as session:
            record = session.run(query).single(strict=True)
        return str(record["name"])

    def read(
        self,
        text: str,
        parameters: Mapping[str, object],
        work: Callable[[neo4j.Result], Answer],
        *,
        seconds: float | None = None,
    ) -> Answer:
        """A read transaction of one statement, on any member of a cluster: a trip for it, and one to end it.

        Args:
            text: the statement.
            parameters: its parameters.
            work: what is made of its result.
            seconds: its limit; that of a piece of the graph without it.
        """
        limit = READ_SECONDS if seconds is None else seconds
        return self._single(text, parameters, neo4j.RoutingControl.READ, work, limit)

    def write(
        self,
        text: str,
        parameters: Mapping[str, object],
        work: Callable[[neo4j.Result], Answer],
        *,
        seconds: float | None = None,
    ) -> Answer:
        """A write transaction of one statement: a trip for it, and one to commit, once ``work`` has seen its result.

        Nothing is committed if ``work`` raises.

        Args:
            text: the statement.
            parameters: its parameters.
            work: what is made of its result.
            seconds: its limit; that of asking and telling without it.
        """
        limit = STEP_SECONDS if seconds is None else seconds
        timer = RetryTimer(LOCK_PATIENCE_SECONDS, pausing=False)
        while True:
            try:
                return self._single(text, parameters, neo4j.RoutingControl.WRITE, work, limit)
            except TimedOut:
                timer.wait()

    def _single(
        self,
        text: str,
        parameters: Mapping[str, object],
        routing: neo4j.RoutingControl,
        work: Callable[[neo4j.Result], Answer],
        seconds: float,
    ) -> Answer:
        # Of all that the driver offers, only this sends the statement along with the beginning of its transaction.
        with self.errors(seconds):
            return self._driver.execute_query(
                neo4j.Query(text, timeout=seconds),
                dict(parameters),
                database_=self.database,
                routing_=routing,
                bookmark_manager_=None,
                result_transformer_=work,
            )

    def write_several(
        self,
        work: Callable[[neo4j.ManagedTransaction], Answer],
        *,
        seconds: float | None = None,
    ) -> Answer:
        """A write transaction of several statements: a trip to begin, one for each, and one to commit.

        Args:
            work: runs them.
            seconds: the limit for all of it; that of asking and telling without it.
        """
        limit = STEP_SECONDS if seconds is None else seconds
        limited = neo4j.unit_of_work(timeout=limit)(work)
        timer = RetryTimer(LOCK_PATIENCE_SECONDS, pausing=False)
        while True:
            try:
                with self.session(limit) as session:
                    return session.execute_write(limited)
            except TimedOut:
                timer.wait()

    @contextmanager
    def session(self, seconds: float) -> Iterator[neo4j.Session]:
        """A session, for what is no ordinary transaction; who uses it sets the limit, ``seconds``, of what it does."""
        with self.errors(seconds), self._driver.session(database=self.database) as session:
            yield session

    @contextmanager
    def errors(self, seconds: float = 0.0) -> Iterator[None]:
        """Turns what the driver raises into errors of ours, with this address in them and no password.

        Args:
            seconds: the limit of the transaction, if there is one.
        """
        try:
            yield
        except exceptions.Neo4jError as error:
            if (error.code or "").endswith(TIMED_OUT):
                raise TimedOut(
                    f"{self._address.uri} did not answer within {seconds:g} s: another transaction may hold a lock"
                ) from None
            raise _translate(error, self._address) from None
        except OverflowError:
            raise StoreError(
                f"{self._address.uri}: a whole number beyond 64 bits fits into no database"
            ) from None
        except (exceptions.DriverError, ValueError, OSError) as error:
            raise _translate(error, self._address) from None


def _first_line(error: Exception, address: Address) -> str:
    text = without_secrets(getattr(error, "message", None) or str(error), address.secrets)
    return text.strip().splitlines()[0] if text.strip() else type(error).__name__


def _translate(error: Exception, address: Address) -> Exception:
    where = address.public
    if isinstance(error, exceptions.AuthError):
        return AuthenticationFailed(
            f"{where} refuses the user {address.username or '(none)'!r} or their password",
            Remedy.GIVE_CREDENTIALS,
        )
    if isinstance(error, (exceptions.ServiceUnavailable, exceptions.SessionExpired, OSError)):
        return StoreUnavailable(f"no Neo4j answers at {where}", Remedy.CHECK_SERVER)
    if isinstance(error, (exceptions.ConfigurationError, ValueError)):
        return InvalidAddress(
            f"{where} cannot be used as an address: {_first_line(error, address)}"
        )
    if isinstance(error, exceptions.Neo4jError):
        return _translate_code(error, address)
    return StoreError(f"{where}: {_first_line(error, address)}")


def _translate_code(error: exceptions.Neo4jError, address: Address) -> StoreError:
    code = error.code or ""
    if code.endswith(("DatabaseNotFound", "HomeDatabaseNotFound")):
        return DatabaseNotFound(
            f"{address.public} has no database {address.database!r}", Remedy.NAME_DATABASE
        )
    if code.endswith(("WriteOnReadOnlyAccessDatabase", "Forbidden", "ReadOnlyDatabase")):
        return ReadOnlyDatabase(
            f"{address.public} does not let the user {address.username or '(none)'!r} write: "
            "use a database or a user that may"
        )
    if code.endswith(("ConstraintCreationFailed", "ConstraintValidationFailed")):
        return KeyNotUnique(f"{address.public}: {_first_line(error, address)}")
    if code.endswith("IndexWithNameAlreadyExists"):
        return IndexInTheWay(f"{address.public}: {_first_line(error, address)}")
    if error.is_retryable():
        # As while a database recovers after a power cut, for longer than the driver cares to wait.
        return StoreUnavailable(
            f"{address.public} cannot answer now: {_first_line(error, address)}"
        )
    return StoreError(f"{address.public}: {_first_line(error, address)}")
