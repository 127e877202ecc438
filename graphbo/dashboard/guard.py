"""Who may ask the dashboard for something: what stands between a browser and the database.

A page of another site can make a browser send requests here, and after DNS rebinding it can even read what is answered.
So the token is in a header that other sites cannot set, never in a cookie; a request has to be addressed to a name that
is ours; and what changes something has to come from a page of ours. Everything is refused before it is read.
"""

import ipaddress
import secrets
import socket
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphbo.errors import InvalidAddress
from graphbo.runs.value_files import LARGEST_FILE

__all__ = ["LARGEST_FORM", "Guard", "Visitors", "is_loopback", "public_address"]

#: Most bytes of a form; of a spreadsheet it is as many as a file may have.
LARGEST_FORM = 200_000
#: What is answered to anybody: the page itself, which holds nothing.
DATA = "/api/"
SPREADSHEETS = "/api/sheet/"

HEADERS = {
    # Trusted types, too: no text becomes HTML but by the one function that is named here.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types graphbo",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


@dataclass(frozen=True)
class Visitors:
    """Who is let in.

    Attributes:
        token: what a visitor has to know.
        host, port: where the server listens.
        address: what people type where a proxy is in front, as in ``https://lab.example.org``; empty without one.
        read_only: whether nothing may be changed.
    """

    host: str
    port: int
    address: str = ""
    read_only: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def url(self) -> str:
        """What to open. What stands behind # stays in the browser: no server and no log gets to see the token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        place = self.address or f"http://{_reachable(host)}:{self.port}"
        return f"{place}/#token={self.token}"

    def is_addressed(self, host: str) -> bool:
        """Whether a request was sent to a name of ours. An address in numbers cannot be rebound."""
        if self.address and host.lower() == urlsplit(self.address).netloc.lower():
            return True
        name, port = _split(host)
        if port != self.port:
            return False
        if is_loopback(self.host):
            return name in ("localhost", "127.0.0.1", "::1", self.host)
        return name in {self.host, "localhost", socket.gethostname().lower()} or _is_numeric(name)

    def is_own(self, origin: str, host: str) -> bool:
        """Whether a page at this origin is one of ours."""
        if self.address and origin.lower() == self.address.lower():
            return True
        return origin.lower() == f"http://{host.lower()}"

    def knows(self, authorization: str) -> bool:
        """Whether somebody has the token."""
        scheme, _, given = authorization.partition(" ")
        return scheme.lower() == "bearer" and secrets.compare_digest(
            given.encode(), self.token.encode()
        )


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can connect to an address."""
    if host == "localhost":
        return True
    return _is_numeric(host) and ipaddress.ip_address(host).is_loopback


def public_address(text: str) -> str:
    """What people type to reach a proxy, without anything that is none of it.

    Raises:
        InvalidAddress: it is no such address.
    """
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    whole = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    if not whole or parts.path.strip("/") or parts.query or parts.fragment:
        raise InvalidAddress(
            f"{text[:100]!a} is not where people find the page: expected https://HOST, with a port if it needs one"
        )
    return f"{parts.scheme}://{parts.netloc}".lower()


def _split(host: str) -> tuple[str, int | None]:
    try:
        parts = urlsplit(f"//{host}")
        if parts.path or parts.query or parts.fragment or "@" in host:
            return "", None
        return (parts.hostname or "").lower(), parts.port or 80
    except ValueError:
        return "", None


def _is_numeric(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _reachable(host: str) -> str:
    """Where every address is listened to, the one of this machine is as good as any."""
    return {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)  # noqa: S104 - not bound here


@dataclass(frozen=True)
class _Refusal:
    status: int
    why: str


class Guard:
    """Lets requests through to an application, or refuses them."""

    def __init__(self, app: ASGIApp, visitors: Visitors) -> None:
        self._app = app
        self._visitors = visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        hardened = _hardened(send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await _say(refusal, scope, receive, hardened)
            return
        most = LARGEST_FILE if scope["path"].startswith(SPREADSHEETS) else LARGEST_FORM
        await self._app(scope, _limited(receive, most), hardened)

    def _refusal(self, scope: Scope) -> _Refusal | None:
        headers = _headers(scope)
        host = headers.get("host", [])
        if len(host) != 1 or not self._visitors.is_addressed(host[0]):
            return _Refusal(421, "this is not the address of this dashboard")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _Refusal(405, "this cannot be done here")
        if scope["method"] == "POST":
            refusal = self._refuse_foreign(scope, headers, host[0])
            if refusal is not None:
                return refusal
        if scope["path"].startswith(DATA) and not any(
            map(self._visitors.knows, headers.get("authorization", []))
        ):
            return _Refusal(401, "open the address that graphbo dashboard printed: it has a token")
        return self._refuse_change(scope)

    def _refuse_foreign(
        self, scope: Scope, headers: dict[str, list[str]], host: str
    ) -> _Refusal | None:
        """What may not have been sent by a page of ours; a form of another site has one of three types."""
        origin = headers.get("origin", [])
        if len(origin) != 1 or not self._visitors.is_own(origin[0], host):
            return _Refusal(403, "this was not sent by a page of this dashboard")
        wanted = "text/csv" if scope["path"].startswith(SPREADSHEETS) else "application/json"
        kind = "".join(headers.get("content-type", [])).partition(";")[0].strip().lower()
        if kind != wanted:
            return _Refusal(415, f"expected {wanted}")
        most = LARGEST_FILE if scope["path"].startswith(SPREADSHEETS) else LARGEST_FORM
        length = "".join(headers.get("content-length", [])) or "0"
        if not length.isdecimal() or int(length) > most:
            return _Refusal(413, f"that is too large: at most {most:,} bytes are read")
        return None

    def _refuse_change(self, scope: Scope) -> _Refusal | None:
        looking = scope["method"] != "POST" or scope["path"] in ("/api/examine", "/api/sheet/look")
        if self._visitors.read_only and not looking:
            return _Refusal(
                403, "this dashboard is for looking only: nothing can be changed through it"
            )
        return None


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


async def _say(refusal: _Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    response = JSONResponse({"error": refusal.why}, refusal.status)
    # Whatever else was sent is not read.
    response.headers["connection"] = "close"
    await response(scope, receive, send)


def _hardened(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return with_headers


def _limited(receive: Receive, most: int) -> Receive:
    read = 0

    async def receive_less() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise HTTPException(413, f"that is too large: at most {most:,} bytes are read")
        return message

    return receive_less
