"""Ask a server on loopback how it is, over HTTP and without a database driver."""

import base64
import http.client
import json
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from graphbo.errors import ServerError
from graphbo.stores.neo4j.server.dump import Contents
from graphbo.stores.neo4j.server.home import DATABASE, USERNAME
from graphbo.stores.neo4j.server.ports import LOOPBACK

__all__ = ["Answer", "answers", "ask", "contents", "version"]

_TIMEOUT = 5.0
#: A server that was just started takes a while to plan its first statements.
_PLANNING_TIMEOUT = 60.0


@dataclass(frozen=True)
class Answer:
    """What the query interface said."""

    ok: bool
    refused: bool
    """The password is not the server's."""


def answers(port: int) -> bool:
    """Whether somebody accepts connections on a port."""
    with socket.socket() as client:
        client.settimeout(_TIMEOUT)
        return client.connect_ex((LOOPBACK, port)) == 0


def version(http_port: int) -> str | None:
    """The version of the Neo4j that answers on a port; None if none does."""
    status, body = _request(http_port, "GET", "/", None, {"Accept": "application/json"})
    if status != http.client.OK:
        return None
    try:
        found = json.loads(body)["neo4j_version"]
    except (ValueError, KeyError, TypeError):
        return None
    return str(found)


#: What a database holds: numbers from its counters, names from its lists.
_CONTENTS = (
    "MATCH (n) RETURN count(n)",
    "MATCH ()-[r]->() RETURN count(r)",
    "SHOW CONSTRAINTS YIELD name RETURN count(name)",
    "SHOW INDEXES YIELD type, owningConstraint WHERE type <> 'LOOKUP' AND owningConstraint IS NULL RETURN count(*)",
    "CALL db.labels() YIELD label RETURN label ORDER BY label",
    "CALL db.relationshipTypes() YIELD relationshipType AS type RETURN type ORDER BY type",
)


def ask(http_port: int, password: str) -> Answer:
    """Run ``RETURN 1`` on the database: the server is of use only once this works."""
    status, text = _run(http_port, password, ["RETURN 1"])
    return Answer(
        ok=status == http.client.OK and b'"errors":[]' in text,
        refused=status == http.client.UNAUTHORIZED,
    )


def contents(http_port: int, password: str) -> Contents:
    """What the database holds.

    Raises:
        ServerError: The server does not say.
    """
    status, text = _run(http_port, password, _CONTENTS, _PLANNING_TIMEOUT)
    try:
        answer = json.loads(text)
        rows = [[row["row"][0] for row in result["data"]] for result in answer["results"]]
        (nodes,), (relationships,), (constraints,), (indexes,), labels, types = rows
    except (ValueError, KeyError, TypeError, IndexError):
        raise ServerError(
            f"the server does not say what its database holds (it answers {status}): try again"
        ) from None
    return Contents(nodes, relationships, tuple(labels), tuple(types), constraints + indexes)


def _run(
    http_port: int, password: str, statements: Sequence[str], timeout: float = _TIMEOUT
) -> tuple[int, bytes]:
    """Run statements that only read, in one transaction."""
    token = base64.b64encode(f"{USERNAME}:{password}".encode()).decode()
    headers = {
        "Authorization": f"Basic {token}",
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Access-Mode": "READ",  # or a server that is read-only refuses it
    }
    body = json.dumps({"statements": [{"statement": text} for text in statements]})
    # Not the newer /query/v2: its first use makes the server's shutdown five seconds longer.
    return _request(http_port, "POST", f"/db/{DATABASE}/tx/commit", body, headers, timeout)


def _request(
    port: int,
    method: str,
    path: str,
    body: str | None,
    headers: dict[str, str],
    timeout: float = _TIMEOUT,
) -> tuple[int, bytes]:
    # Not urllib: that would send the request to the proxy of the environment, if there is one.
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=timeout)
    try:
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()
