"""The connection to a Neo4j: transactions with the driver's retries, and the driver's errors as ours."""

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
    StoreError,
    StoreUnavailable,
)
from graphbo.stores.address import Address, without_secrets
from graphbo.stores.cypher import statement

__all__ = ["Neo4jConnection", "Rows", "rows_of"]

#: An idle connection is checked before use after this many seconds: objectives may take hours.
LIVENESS_CHECK_TIMEOUT = 30.0

Answer = TypeVar("Answer")
Rows = list[dict[str, Any]]


def rows_of(result: neo4j.Result) -> Rows:
    """The rows that a statement answers with."""
    columns = result.keys()
    return [dict(zip(columns, row, strict=True)) for row in result.values()]


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
        text = statement("home_database").text()
        with self.errors(), self._driver.session() as session:
            record = session.run(text).single(strict=True)
        return str(record["name"])

    def read(
        self,
        text: str,
        parameters: Mapping[str, object],
        work: Callable[[neo4j.Result], Answer],
    ) -> Answer:
        """A read transaction of one statement, on any member of a cluster: a trip for it, and one to end it."""
        return self._single(text, parameters, neo4j.RoutingControl.READ, work)

    def write(
        self,
        text: str,
        parameters: Mapping[str, object],
        work: Callable[[neo4j.Result], Answer],
    ) -> Answer:
        """A write transaction of one statement: a trip for it, and one to commit, once ``work`` has seen its result.

        Nothing is committed if ``work`` raises.
        """
        return self._single(text, parameters, neo4j.RoutingControl.WRITE, work)

    def _single(
        self,
        text: str,
        parameters: Mapping[str, object],
        routing: neo4j.RoutingControl,
        work: Callable[[neo4j.Result], Answer],
    ) -> Answer:
        # Of all that the driver offers, only this sends the statement along with the beginning of its transaction.
        with self.errors():
            return self._driver.execute_query(
                text,
                dict(parameters),
                database_=self.database,
                routing_=routing,
                bookmark_manager_=None,
                result_transformer_=work,
            )

    def write_several(self, work: Callable[[neo4j.ManagedTransaction], Answer]) -> Answer:
        """A write transaction of several statements: a trip to begin, one for each, and one to commit."""
        with self.session() as session:
            return session.execute_write(work)

    @contextmanager
    def session(self) -> Iterator[neo4j.Session]:
        """A session, for what is no ordinary transaction."""
        with self.errors(), self._driver.session(database=self.database) as session:
            yield session

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turns what the driver raises into errors of ours, with this address in them and no password."""
        try:
            yield
        except (exceptions.DriverError, exceptions.Neo4jError, ValueError, OSError) as error:
            raise _translate(error, self._address) from None


def _first_line(error: Exception, address: Address) -> str:
    text = without_secrets(getattr(error, "message", None) or str(error), address.secrets)
    return text.strip().splitlines()[0] if text.strip() else type(error).__name__


def _translate(error: Exception, address: Address) -> Exception:
    where = address.public
    if isinstance(error, exceptions.AuthError):
        return AuthenticationFailed(
            f"{where} refuses the user {address.username or '(none)'!r} or their password: "
            "set NEO4J_USERNAME and NEO4J_PASSWORD, or give a file with --credentials"
        )
    if isinstance(error, (exceptions.ServiceUnavailable, exceptions.SessionExpired, OSError)):
        return StoreUnavailable(
            f"no Neo4j answers at {where}: check the address and that the server runs "
            f"(`graphbo neo4j up` starts one here)"
        )
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
            f"{address.public} has no database {address.database!r}: "
            "name another with --database or NEO4J_DATABASE"
        )
    if code.endswith(("WriteOnReadOnlyAccessDatabase", "Forbidden", "ReadOnlyDatabase")):
        return ReadOnlyDatabase(
            f"{address.public} does not let the user {address.username or '(none)'!r} write: "
            "use a database or a user that may"
        )
    if code.endswith(("ConstraintCreationFailed", "ConstraintValidationFailed")):
        return KeyNotUnique(f"{address.public}: {_first_line(error, address)}")
    if error.is_retryable():
        # As while a database recovers after a power cut, for longer than the driver cares to wait.
        return StoreUnavailable(
            f"{address.public} cannot answer now: {_first_line(error, address)}"
        )
    return StoreError(f"{address.public}: {_first_line(error, address)}")
