"""What an objective needs of a database. Only the stores talk to one, so this is a contract and no code."""

from typing import Protocol, TypeAlias, runtime_checkable

from graphbo.stores import Address, GraphStore
from graphbo.types import NodeKey

__all__ = ["CypherChecker", "CypherRunner", "Database"]


@runtime_checkable
class CypherRunner(Protocol):
    """Runs somebody's Cypher statement for one node."""

    def query_number(self, text: str, key: NodeKey, timeout: float | None) -> object:
        """The only value in the only row of ``text``, run with ``$key`` in a read transaction.

        The server ends the transaction after ``timeout`` seconds.

        Raises:
            EvaluationFailed: there are no rows, several rows or several columns.
            StoreUnavailable: the database does not answer.
            StoreError: the statement fails.
        """


@runtime_checkable
class CypherChecker(Protocol):
    """Finds mistakes in somebody's Cypher statement without running it."""

    def check_query(self, text: str) -> None:
        """Let the server plan ``text``.

        Raises:
            StoreError: it has a mistake, or would write.
        """


#: What an objective can be bound to. An address can be pickled, an open store cannot.
Database: TypeAlias = GraphStore | CypherRunner | Address
