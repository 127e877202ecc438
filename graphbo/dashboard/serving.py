"""The server of the dashboard."""

import errno
import socket
from collections.abc import Callable

import uvicorn

from graphbo.dashboard.app import create_app
from graphbo.dashboard.guard import Visitors
from graphbo.dashboard.starting import Examine
from graphbo.errors import GraphboError
from graphbo.stores import Address

__all__ = ["listening", "serve"]

#: Connections that wait to be accepted.
BACKLOG = 512
#: Most requests that are open at once: a browser has six.
MOST_CONNECTIONS = 1_000


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; with port 0, on any that is free.

    Raises:
        GraphboError: somebody else does, or it is no address of this machine.
    """
    try:
        return _bound(host, port)
    except (OSError, UnicodeError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        taken = getattr(error, "errno", None) == errno.EADDRINUSE
        advice = "; is one open already? Port 0 is any that is free" if taken else ""
        raise GraphboError(
            f"the dashboard cannot listen on {host} port {port}: {reason}{advice}"
        ) from None


def _bound(host: str, port: int) -> socket.socket:
    family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(place)
        opened.listen(BACKLOG)
    except BaseException:
        opened.close()
        raise
    return opened


def serve(
    address: Address,
    opened: socket.socket,
    visitors: Visitors,
    examine: Examine,
    started: Callable[[], None] = lambda: None,
) -> None:
    """Serve the dashboard until Ctrl-C.

    Args:
        address: of the database.
        opened: where to listen.
        visitors: who is let in.
        examine: looks at a graph before a run is started on it.
        started: called when it answers.
    """
    app = create_app(address, visitors, examine)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        # What another program says of who asks is not believed: the token decides.
        proxy_headers=False,
        ws="none",
        lifespan="on",
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=5,
    )
    server = _Server(config, started)
    server.run(sockets=[opened])


class _Server(uvicorn.Server):
    """Says when it answers."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._say = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        self._say()
