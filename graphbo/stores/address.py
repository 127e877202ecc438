"""Where a database is and who may use it. A password is never part of a text that can be printed."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from graphbo.errors import InvalidAddress

__all__ = ["DEFAULT_FILE", "Address", "address_from", "read_credentials"]

#: The embedded store of a first try, in the current directory.
DEFAULT_FILE = "graphbo.db"

#: More than any credentials file has; a device never ends.
LARGEST_CREDENTIALS = 65_536

NEO4J_SCHEMES = tuple(base + secure for base in ("neo4j", "bolt") for secure in ("", "+s", "+ssc"))
EXPECTED = (
    "neo4j://HOST:7687 (or bolt://, each also with +s or +ssc), sqlite:FILE or sqlite::memory:"
)


@dataclass(frozen=True)
class Address:
    """A database and the credentials for it.

    Attributes:
        uri: with neither user name nor password in it.
        source: what decided on this address, for the first line that a command prints.
    """

    uri: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None
    source: str = ""

    @property
    def is_neo4j(self) -> bool:
        """Whether a Neo4j server is meant, and not the embedded store."""
        return not self.uri.startswith("sqlite:")

    @property
    def path(self) -> str:
        """The file of an embedded store."""
        return self.uri.removeprefix("sqlite:")


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
    lines = text.splitlines()
    pairs = [line.partition("=") for line in lines if line.strip() and not line.startswith("#")]
    settings = {name.strip(): value.strip().strip("\"'") for name, equals, value in pairs if equals}
    if "NEO4J_URI" not in settings:
        raise InvalidAddress(
            f"the credentials file {str(path)[:200]!a} has no NEO4J_URI=… line: expected the file that Neo4j Aura "
            "or `graphbo neo4j up` wrote"
        )
    return settings


def address_from(
    uri: str | None = None,
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
    source = "--uri"
    if uri is None:
        uri = settings.get("NEO4J_URI")
        source = f"--credentials {credentials}" if credentials else "NEO4J_URI"
    if not uri:
        return Address(f"sqlite:{DEFAULT_FILE}", source="no --uri and no NEO4J_URI")
    if uri.startswith("sqlite:"):
        return _sqlite_address(uri, source)
    return _neo4j_address(uri, settings, database, source)


def _sqlite_address(uri: str, source: str) -> Address:
    path = uri.removeprefix("sqlite:")
    if not path or path.startswith("//") or "\0" in path:
        raise InvalidAddress(f"{uri!a} names no file: expected {EXPECTED}")
    return Address(uri, source=source)


def _neo4j_address(
    uri: str, settings: Mapping[str, str], database: str | None, source: str
) -> Address:
    if not uri.isprintable():
        # urlsplit leaves some control characters out: another host would be asked.
        raise InvalidAddress(f"the address has control characters in it: expected {EXPECTED}")
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port
    except ValueError:
        # The text may hold a password, so it is not shown.
        raise InvalidAddress(f"the address is not a URI: expected {EXPECTED}") from None
    if parts.scheme not in NEO4J_SCHEMES:
        shown = f"{parts.scheme}:" if parts.scheme else "it"
        raise InvalidAddress(f"the address has an unknown scheme ({shown}): expected {EXPECTED}")
    if not host:
        raise InvalidAddress(f"the address names no host: expected {EXPECTED}")
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
        source=source,
    )
