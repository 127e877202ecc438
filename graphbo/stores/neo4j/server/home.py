"""The directory a local server lives in: its data, its configuration, its password, its state.

::

    HOME/                  only its owner may look inside
      credentials.env      address, user and password, in the format of an Aura credentials file
      server.json          version of the data, ports, and which process it was last
      conf/neo4j.conf      written anew at each start
      data/  logs/         Neo4j's own; logs/console.log is what the process prints
      incoming/            a database that takes the place of the one in data/: see ``dump``
"""

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graphbo.errors import Remedy, ServerError
from graphbo.stores.address import settings_in
from graphbo.stores.neo4j.server.ports import LOOPBACK

__all__ = ["DATABASE", "USERNAME", "Home", "State", "configuration", "default_home"]

USERNAME = "neo4j"
DATABASE = "neo4j"
_HASH_ROUNDS = 1024
# Neo4j refuses settings that it does not know, so these cannot be given to version 5.
_SINCE_2026 = {
    "server.fleet_discovery.enabled": "false",  # it would look for other servers in the network
    "dbms.fleet_manager.enabled": "false",
    "server.http.x_forward.enabled": "false",
}


def default_home() -> Path:
    """Where the server lives when the user does not say: under the XDG data directory."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "graphbo" / "neo4j"


@dataclass(frozen=True)
class State:
    """What is known about a home's server between two commands."""

    version: str
    bolt_port: int
    http_port: int
    pid: int | None = None
    """The server's process; None when it was stopped properly."""


def configuration(
    version: str, bolt_port: int, http_port: int, settings: Mapping[str, str] | None = None
) -> str:
    """The text of ``neo4j.conf``: loopback only, nothing reported home, then the extra settings.

    Raises:
        ServerError: A setting contains a line break.
    """
    ours = {
        "server.default_listen_address": LOOPBACK,
        "server.default_advertised_address": LOOPBACK,
        "server.bolt.listen_address": f"{LOOPBACK}:{bolt_port}",
        "server.bolt.advertised_address": f"{LOOPBACK}:{bolt_port}",
        "server.http.listen_address": f"{LOOPBACK}:{http_port}",
        "server.http.advertised_address": f"{LOOPBACK}:{http_port}",
        "server.https.enabled": "false",
        "dbms.security.auth_enabled": "true",
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
        "server.memory.pagecache.size": "256m",
        # Half a gigabyte of zeroes per home otherwise.
        "db.tx_log.preallocate": "false",
        # How long to wait for idle threads; by default each stop takes ten seconds.
        "internal.server.bolt.thread_pool_shutdown_wait_time": "0s",
    }
    newer = {} if version.startswith("5.") else _SINCE_2026
    lines = [f"{name}={value}" for name, value in {**ours, **newer, **(settings or {})}.items()]
    if any(len(line.splitlines()) != 1 for line in lines):
        raise ServerError("a setting of neo4j.conf is one line")
    return "".join(f"{line}\n" for line in lines)


class Home:
    """Reads and writes what graphbo keeps in a server's directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.credentials = path / "credentials.env"
        self.conf = path / "conf"
        self.console = path / "logs" / "console.log"
        self.arguments = path / "conf" / "java.args"
        self._state = path / "server.json"
        self._auth = path / "data" / "dbms" / "auth.ini"

    def state(self) -> State | None:
        """What the last command left; None for a home that was never used.

        Raises:
            ServerError: The file is damaged.
        """
        try:
            found = json.loads(self._state.read_text(encoding="utf-8"))
            return State(**found)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, TypeError) as error:
            raise ServerError(f"{self._state} cannot be read: {error}") from error

    def save(self, state: State) -> None:
        """Remember the state."""
        _write(self._state, json.dumps(asdict(state), indent=2) + "\n")

    def prepare(self) -> None:
        """Create the directory, for its owner only.

        Raises:
            ServerError: It cannot be created, or holds a database that graphbo did not make.
        """
        if (self.path / "data").exists() and not self._state.exists():
            raise ServerError(
                f"{self.path} holds a database that graphbo did not make", Remedy.CHOOSE_HOME
            )
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            for directory in (self.conf, self.console.parent):
                directory.mkdir(exist_ok=True)
        except OSError as error:
            raise ServerError(f"{self.path} cannot be used: {error.strerror}") from error

    @contextlib.contextmanager
    def locked(self) -> Iterator[int]:
        """Keep other processes from starting or stopping this home's server meanwhile.

        A process that inherits the file descriptor keeps them from it as well, even if this one is killed.

        Raises:
            ServerError: Another process is at it.
        """
        # Here, as the module does not exist on Windows, where the rest of graphbo works.
        import fcntl  # noqa: PLC0415

        with (self.path / "server.lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ServerError(
                    f"another command is starting or stopping the server in {self.path}"
                ) from None
            yield file.fileno()

    def password(self) -> str:
        """The password from the credentials file.

        Raises:
            ServerError: The file is missing or has no password.
        """
        try:
            text = self.credentials.read_text(encoding="utf-8")
        except OSError as error:
            raise ServerError(f"{self.credentials} cannot be read: {error.strerror}") from error
        password = settings_in(text).get("NEO4J_PASSWORD")
        if not password:
            raise ServerError(f"{self.credentials} has no NEO4J_PASSWORD")
        return password

    def ensure_password(self) -> None:
        """Generate a password, unless the server has been started before.

        Neo4j takes its first password from ``auth.ini``, as ``neo4j-admin`` writes it. Writing it
        here keeps the password out of the process list, and the server never listens with the
        password that everybody knows.
        """
        if (self.path / "data" / "databases").exists():
            return
        password = secrets.token_urlsafe(18)
        self._auth.parent.mkdir(parents=True, exist_ok=True)
        _write(self._auth, _auth_line(password))
        self._write_credentials(password, uri="")

    def save_address(self, uri: str, password: str) -> None:
        """Put the server's present address into the credentials file."""
        self._write_credentials(password, uri)

    def _write_credentials(self, password: str, uri: str) -> None:
        entries: dict[str, Any] = {
            "NEO4J_URI": uri,
            "NEO4J_USERNAME": USERNAME,
            "NEO4J_PASSWORD": password,
            "NEO4J_DATABASE": DATABASE,
        }
        _write(self.credentials, "".join(f"{name}={value}\n" for name, value in entries.items()))


def _auth_line(password: str) -> str:
    salt = secrets.token_bytes(32)
    digest = hashlib.sha256(salt + password.encode()).digest()
    for _ in range(_HASH_ROUNDS - 1):
        digest = hashlib.sha256(digest).digest()
    return f"{USERNAME}:SHA-256,{digest.hex()},{salt.hex()},{_HASH_ROUNDS}:\n"


def _write(path: Path, text: str) -> None:
    """Write a file as a whole, readable by its owner only from its first byte on."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
