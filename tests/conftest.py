"""Fixtures that give every test the real databases."""

import itertools
import logging
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from graphbo.stores import Address, GraphStore
from tests.backends import Backend, Neo4jBackend, SqliteBackend
from tests.neo4j_fixture import (
    Neo4jServer,
    StartedServer,
    StartNeo4j,
    neo4j_server,
    neo4j_servers,
    pytest_terminal_summary,
    start_neo4j,
)
from tests.scheduling import Scheduling, in_order

# A suite that was started in the background ignores Ctrl-C, and so would every command that it starts: some tests
# send it to one.
if (
    threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) == signal.SIG_IGN
):
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says something about the machine, and nothing about graphbo.
settings.register_profile(
    "graphbo", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("graphbo"), max_examples=15)
settings.load_profile("graphbo")

__all__ = ["neo4j_server", "neo4j_servers", "pytest_terminal_summary", "start_neo4j"]


LONG_TERM = "5.26.16"


@pytest.fixture(scope="session")
def config_directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One after the other; ``mktemp`` would look at all that there are each time."""
    parent = tmp_path_factory.mktemp("configs")
    return (parent / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def own_pins(config_directories: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is agreed to in a test says nothing about the next one, or about the person who runs it."""
    directory = next(config_directories)
    directory.mkdir()
    monkeypatch.setenv("GRAPHBO_CONFIG_DIR", str(directory))
    return directory


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """Commands and examples say in their own way what is logged; that does not outlive a test."""
    root, own = logging.getLogger(), logging.getLogger("graphbo")
    levels, handlers = (root.level, own.level), own.handlers
    yield
    own.handlers = handlers
    for logger, level in zip((root, own), levels, strict=True):
        logger.setLevel(level)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Scheduling:
    """How ``pytest --numprocesses`` divides the tests."""
    return Scheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long comes first."""
    items[:] = in_order(items)


@pytest.fixture(scope="session")
def neo4j_session(neo4j_server: Neo4jServer) -> Iterator[Neo4jBackend]:
    """One real Neo4j server for the whole run."""
    found = neo4j_server
    backend = Neo4jBackend(Address(found.uri, found.username, found.password, found.database))
    if not backend.is_empty():
        pytest.exit(
            f"{found.uri} is not empty, and the tests would delete everything in it: "
            "point GRAPHBO_TEST_NEO4J_URI at a server of their own",
            returncode=1,
        )
    yield backend
    backend.wipe()
    backend.close()


@pytest.fixture(scope="session")
def long_term_server(start_neo4j: StartNeo4j) -> StartedServer:
    """A server of the oldest version that graphbo works with; see ``tests/scheduling.py`` for who uses it.

    It plans a statement for the lengths of the lists that it is given, as servers do if nobody tells them otherwise.
    """
    return start_neo4j(version=LONG_TERM, settings={"internal.cypher.use_parameter_size": "true"})


@pytest.fixture
def neo4j_backend(neo4j_session: Neo4jBackend) -> Neo4jBackend:
    """The real Neo4j, emptied."""
    neo4j_session.wipe()
    return neo4j_session


@pytest.fixture
def sqlite_backend(tmp_path: Path) -> SqliteBackend:
    """A file that does not exist yet."""
    return SqliteBackend(tmp_path / "graph.db")


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each database in turn: what holds for one has to hold for the other."""
    found: Backend = request.getfixturevalue(f"{request.param}_backend")
    return found


@pytest.fixture
def store(backend: Backend) -> Iterator[GraphStore]:
    """An open store on each database in turn."""
    with backend.open() as opened:
        yield opened


@pytest.fixture(scope="session")
def long_term_session(long_term_server: StartedServer) -> Iterator[Neo4jBackend]:
    """One real Neo4j server of the long-term release for all tests of the stores."""
    found = long_term_server
    backend = Neo4jBackend(Address(found.uri, found.username, found.password, found.database))
    yield backend
    backend.close()


@pytest.fixture
def long_term_backend(long_term_session: Neo4jBackend) -> Neo4jBackend:
    """The long-term release, emptied."""
    long_term_session.wipe()
    return long_term_session


@pytest.fixture(params=["neo4j", "long_term"])
def server(request: pytest.FixtureRequest) -> Neo4jBackend:
    """Each version of Neo4j in turn."""
    found: Neo4jBackend = request.getfixturevalue(f"{request.param}_backend")
    return found
