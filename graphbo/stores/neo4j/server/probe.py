"""Ask a server on loopback how it is, over HTTP and without a database driver."""

import base64
import http.client
import json
import socket
from dataclasses import dataclass

from graphbo.stores.neo4j.server.home import DATABASE, USERNAME
from graphbo.stores.neo4j.server.ports import LOOPBACK

__all__ = ["Answer", "answers", "ask", "version"]

_TIMEOUT = 5.0


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


def ask(http_port: int, password: str) -> Answer:
    """Run ``RETURN 1`` on the database: the server is of use only once this works."""
    token = base64.b64encode(f"{USERNAME}:{password}".encode()).decode()
    headers = {
        "Authorization": f"Basic {token}",
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Access-Mode": "READ",  # or a server that is read-only refuses it
    }
    body = json.dumps({"statements": [{"statement": "RETURN 1"}]})
    # Not the newer /query/v2: its first use makes the server's shutdown five seconds longer.
    status, text = _request(http_port, "POST", f"/db/{DATABASE}/tx/commit", body, headers)
    return Answer(
        ok=status == http.client.OK and b'"errors":[]' in text,
        refused=status == http.client.UNAUTHORIZED,
    )


def _request(
    port: int, method: str, path: str, body: str | None, headers: dict[str, str]
) -> tuple[int, bytes]:
    # Not urllib: that would send the request to the proxy of the environment, if there is one.
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=_TIMEOUT)
    try:
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()
