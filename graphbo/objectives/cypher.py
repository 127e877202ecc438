"""``cypher:FILE``: a statement that computes the value of a node in the database."""

import atexit
import os
import re
import time
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Self

from graphbo.errors import (
    AuthenticationFailed,
    DatabaseNotFound,
    EvaluationFailed,
    InvalidObjective,
    Remedy,
    StoreError,
    StoreUnavailable,
)
from graphbo.objectives.base import Evaluator, Node
from graphbo.objectives.database import CypherChecker, CypherRunner, Database
from graphbo.objectives.number import as_number, shorten
from graphbo.stores import Address, open_store
from graphbo.types import NodeKey

__all__ = ["CypherEvaluator", "check_file", "open_cypher"]

#: Comments, to see whether a file holds anything else. What looks like one inside a string does no harm to that.
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)

PARAMETER = re.compile(r"\$(key\b|`key`)")


@dataclass(frozen=True)
class CypherEvaluator(Evaluator):
    """Runs a statement with ``$key``.

    The text comes along when it is pickled: where it is evaluated, nobody needs the file.
    """

    file: str
    text: str = field(repr=False)
    runner: CypherRunner | None = None

    needs_properties = False
    needs_neo4j = True

    def bind(self, database: Database) -> Self:
        """The evaluator with a Neo4j to ask. The statement is checked if the database can do that.

        Raises:
            InvalidObjective: it is no Neo4j, or it refuses the statement.
        """
        if isinstance(database, Address):
            if not database.is_neo4j:
                raise _needs_neo4j(self.file, database.public)
            return replace(self, runner=OwnConnection(database, self.file))
        if not isinstance(database, CypherRunner):
            raise _needs_neo4j(self.file, database.address)
        if isinstance(database, CypherChecker):
            self._check(database)
        return replace(self, runner=database)

    def _check(self, database: CypherChecker) -> None:
        try:
            database.check_query(self.text)
        except StoreUnavailable:
            raise
        except StoreError as error:
            raise InvalidObjective(f"cypher:{self.file}: {shorten(str(error))}") from None

    def measure(self, node: Node, timeout: float | None) -> float:
        """The one number that the statement returns.

        Raises:
            EvaluationFailed: it fails, or returns something else.
            InvalidObjective: there is no database to ask.
            StoreUnavailable: the database is gone, which says nothing about the node.
        """
        if self.runner is None:
            raise InvalidObjective(f"cypher:{self.file} was not bound to a database")
        started = time.monotonic()
        try:
            return as_number(self.runner.query_number(self.text, node.key, timeout))
        except (StoreUnavailable, AuthenticationFailed, DatabaseNotFound):
            raise
        except StoreError as error:
            # Servers have several codes for a transaction that was ended, and the user has one question.
            late = timeout is not None and time.monotonic() - started >= timeout
            reason = f"no answer within {timeout:g} s" if late else shorten(str(error))
            raise EvaluationFailed(f"cypher:{self.file}: {reason}") from None
        except EvaluationFailed as error:
            raise EvaluationFailed(f"cypher:{self.file}: {error}") from None


@dataclass(frozen=True)
class OwnConnection:
    """A runner that can be pickled: each process opens one connection, with the first evaluation."""

    address: Address
    file: str

    def query_number(self, text: str, key: NodeKey, timeout: float | None) -> object:
        """See ``CypherRunner``."""
        return _connect(self.address, self.file, os.getpid()).query_number(text, key, timeout)


def check_file(rest: str) -> None:
    """Check that ``cypher:rest`` names a file, which is not looked at.

    Raises:
        InvalidObjective: it does not.
    """
    if not rest:
        raise InvalidObjective("cypher: names no file: expected cypher:FILE")


def open_cypher(rest: str, directory: Path) -> CypherEvaluator:
    """The evaluator for ``cypher:rest``; it still has to be bound to a database.

    Raises:
        InvalidObjective: there is no such file, or no statement with ``$key`` in it.
    """
    check_file(rest)
    try:
        text = (directory / rest).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise InvalidObjective(f"the file {directory / rest} cannot be read: {reason}") from None
    bare = COMMENT.sub("", text).strip().removesuffix(";").strip()
    if not bare:
        raise InvalidObjective(f"the file {directory / rest} holds no statement")
    if not PARAMETER.search(text):
        raise InvalidObjective(
            f"the statement in {directory / rest} does not use $key: every node would get the same value"
        )
    return CypherEvaluator(rest, text.strip().removesuffix(";"))


@lru_cache(maxsize=8)
def _connect(address: Address, file: str, pid: int) -> CypherRunner:  # noqa: ARG001 - a fork needs its own
    store = open_store(address)
    atexit.register(store.close)
    if not isinstance(store, CypherRunner):
        raise _needs_neo4j(file, address.public)
    return store


def _needs_neo4j(file: str, address: str) -> InvalidObjective:
    return InvalidObjective(
        f"the objective cypher:{file} needs Neo4j, and {address} is not one", Remedy.USE_NEO4J
    )
