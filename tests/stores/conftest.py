"""The stores are tested on Neo4j's long-term release, too."""

from collections.abc import Iterator

import pytest

from graphbo.stores import Address
from tests.backends import Backend, Neo4jBackend
from tests.neo4j_fixture import StartedServer


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


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("neo4j", marks=pytest.mark.neo4j),
        pytest.param("long_term", marks=pytest.mark.neo4j),
    ]
)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each database in turn."""
    found: Backend = request.getfixturevalue(f"{request.param}_backend")
    return found


@pytest.fixture(params=["neo4j", "long_term"])
def server(request: pytest.FixtureRequest) -> Neo4jBackend:
    """Each version of Neo4j in turn."""
    found: Neo4jBackend = request.getfixturevalue(f"{request.param}_backend")
    return found
