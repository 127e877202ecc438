"""Where a database is and who may use it. A password is never part of a text that can be printed.

What holds for the addresses of databases holds for those of services and clusters: ``public_uri`` makes any of them fit
to be printed, and ``without_secrets`` whatever somebody says about one.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit, urlunsplit

from graphbo.errors import InvalidAddress, Remedy

__all__ = [
    "DEFAULT_FILE",
    "HIDDEN",
    "Address",
    "Origin",
    "address_from",
    "public_uri",
    "read_credentials",
    "secrets_of",
    "settings_in",
    "without_secrets",
]

#: Stands for what is not shown.
HIDDEN = "…"

#: A shorter value or user name is in many words that have nothing to do with it.
SHORTEST_SECRET = 4

#: The embedded store of a first try, in the current directory.
DEFAULT_FILE = "graphbo.db"

#: More than any credentials file has; a device never ends.
LARGEST_CREDENTIALS = 65_536

NEO4J_SCHEMES = tuple(base + secure for base in ("neo4j", "bolt") for secure in ("", "+s", "+ssc"))
EXPECTED = (
    "neo4j://HOST:7687 (or bolt://, each also with +s or +ssc), sqlite:FILE or sqlite::memory:"
)


#: What decided on an address: an argument, a credentials file, the environment, or nobody.
Origin: TypeAlias = Literal["given", "credentials", "environment", "default"]


@dataclass(frozen=True)
class Address:
    """A database and the credentials for it.

    Attributes:
        uri: to connect to, with neither user name nor password in it. It may have a query: ``public`` is for people.
        origin: what decided on this address.
        file: the credentials file that did.
        inline: whether user name or password were part of the URI.
    """

    uri: str = field(repr=False)
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None
    origin: Origin = "given"
    file: str = ""
    inline: bool = False

    @property
    def public(self) -> str:
        """The URI, fit to be printed."""
        return public_uri(self.uri) if self.is_neo4j else self.uri

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be repeated of what a server says."""
        return (*([self.password] if self.password else []), *secrets_of(self.uri))

    @property
    def is_neo4j(self) -> bool:
        """Whether a Neo4j server is meant, and not the embedded store."""
        return not self.uri.startswith("sqlite:")

    @property
    def path(self) -> str:
        """The file of an embedded store."""
        return self.uri.removeprefix("sqlite:")

    @property
    def place(self) -> str:
        """Which database this is, wherever a command is given and whoever connects: for ``graphbo.objectives.pins``."""
        if self.is_neo4j:
            return f"{self.public}/{self.database or ''}"
        return f"sqlite:{self.path if self.path == ':memory:' else Path(self.path).resolve()}"


def settings_in(text: str) -> dict[str, str]:
    """The values of ``NAME=value`` lines, by name."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    pairs = [line.partition("=") for line in lines]
    return {name.strip(): value.strip().strip("\"'") for name, equals, value in pairs if equals}


def read_credentials(path: Path) -> dict[str, str]:
    """The settings in a credentials file as Neo4j Aura hands them out: ``NAME=value`` lines and comments.

    Raises:
        InvalidAddress: it cannot be read or is something else.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_CREDENTIALS + 1)
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise InvalidAddress(
            f"the credentials file {str(path)[:200]!a} cannot be read: {reason}"
        ) from None
    if len(content) > LARGEST_CREDENTIALS:
        raise InvalidAddress(f"the file {str(path)[:200]!a} is too large for a credentials file")
    settings = settings_in(text)
    if "NEO4J_URI" not in settings:
        raise InvalidAddress(
            f"the credentials file {str(path)[:200]!a} has no NEO4J_URI=… line",
            Remedy.EXPECT_CREDENTIALS,
        )
    return settings


def address_from(
    uri: str | PathLike[str] | None = None,
    credentials: Path | None = None,
    database: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Address:
    """The address that these settings mean: what is given beats the file, the file beats the environment.

    Raises:
        InvalidAddress: the URI is not one that graphbo knows.
    """
    environment = os.environ if environment is None else environment
    settings = read_credentials(credentials) if credentials else environment
    if isinstance(uri, PathLike):
        raise InvalidAddress(
            f"{fspath(uri)!a} is a path and no address: write 'sqlite:{fspath(uri)}'"
        )
    wanted = settings.get("NEO4J_URI") if uri is None else uri
    if not wanted:
        return Address(f"sqlite:{DEFAULT_FILE}", origin="default")
    embedded = wanted.startswith("sqlite:")
    address = _sqlite_address(wanted) if embedded else _neo4j_address(wanted, settings, database)
    if uri is not None:
        return address
    if credentials is None:
        return replace(address, origin="environment")
    return replace(address, origin="credentials", file=str(credentials))


def _sqlite_address(uri: str) -> Address:
    path = uri.removeprefix("sqlite:")
    if not path or path.startswith("//") or "\0" in path:
        raise InvalidAddress(f"{public_uri(uri)!a} names no file: expected {EXPECTED}")
    return Address(uri)


def _neo4j_address(uri: str, settings: Mapping[str, str], database: str | None) -> Address:
    if not uri.isprintable():
        # urlsplit leaves some control characters out: another host would be asked.
        raise InvalidAddress(f"the address has control characters in it: expected {EXPECTED}")
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port
    except ValueError:
        # The text may hold a password, so it is not shown.
        raise InvalidAddress(f"the address is not a URI: expected {EXPECTED}") from None
    if not parts.scheme and "@" not in uri and ":" not in uri:
        raise InvalidAddress(
            f"{uri!a} is no address: a file is sqlite:{uri}, and a server such as neo4j://HOST:7687"
        )
    if parts.scheme not in NEO4J_SCHEMES:
        shown = f"{parts.scheme}:" if parts.scheme else "it"
        raise InvalidAddress(f"the address has an unknown scheme ({shown}): expected {EXPECTED}")
    if not host:
        raise InvalidAddress(f"the address names no host: expected {EXPECTED}")
    if "@" in parts.path + parts.query + parts.fragment:
        # It would be taken for a host, a database or a query, and printed.
        raise InvalidAddress(
            "the address has an @ after its host: write /, ?, # and @ of a password as %2F, %3F, %23 and %40"
        )
    if HIDDEN in uri:
        raise InvalidAddress(
            f"the address {public_uri(uri)} is incomplete: a query is never printed, give the whole one"
        )
    host = f"[{host}]" if ":" in host else host
    clean = urlunsplit((parts.scheme, f"{host}:{port or 7687}", "", parts.query, ""))
    username = unquote(parts.username) if parts.username else settings.get("NEO4J_USERNAME")
    password = unquote(parts.password) if parts.password else settings.get("NEO4J_PASSWORD")
    return Address(
        uri=clean,
        # Neo4j's own tools call the first user neo4j when only a password is set.
        username=username or ("neo4j" if password else None),
        password=password,
        database=database or parts.path.strip("/") or settings.get("NEO4J_DATABASE") or None,
        inline="@" in parts.netloc,
    )


# What may be printed


def public_uri(uri: str) -> str:
    """An address fit to be printed: no user name, no password, and no query, where keys to services are often put.

    What cannot be parsed cannot be freed of a password either: of that, nothing but the scheme is left.
    """
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return _scheme_of(uri)
    if not parts.netloc and any(mark in uri for mark in "@?#"):
        return _scheme_of(uri)
    query = HIDDEN if parts.query else ""
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query=query, fragment="").geturl()


def _scheme_of(uri: str) -> str:
    scheme, colon, _ = uri.partition("://")
    return f"{scheme[:20]}{colon}{HIDDEN}" if colon else HIDDEN


def secrets_of(uri: str) -> tuple[str, ...]:
    """What of an address must not be repeated, in every spelling that an answer may have; the longest first.

    These are its query and each value in it, the user name and the password.
    """
    parts = urlsplit(uri)
    pieces = [part.partition("=")[2] or part for part in re.split("[&;]", parts.query)]
    pieces = [one for one in (*pieces, parts.username or "") if len(one) >= SHORTEST_SECRET]
    whole = [one for one in (parts.query, parts.password) if one]
    found = {spelling for piece in pieces + whole for spelling in _spellings(piece)}
    return tuple(sorted(found, key=lambda one: (-len(one), one)))


def _spellings(text: str) -> Iterator[str]:
    """As it stands, decoded, and encoded in the ways that programs do."""
    for plain in (text, unquote(text), unquote_plus(text)):
        encoded = (quote(plain, safe, errors="replace") for safe in ("", "/"))
        for spelt in (plain, *encoded, quote_plus(plain, errors="replace")):
            yield spelt
            yield re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), spelt)
        yield json.dumps(plain)[1:-1]
        yield repr(plain)[1:-1]


def without_secrets(text: str, secrets: Sequence[str]) -> str:
    """Somebody's text without any of these."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text
