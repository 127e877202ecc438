"""The stores are tested on Neo4j's long-term release, too."""

import pytest

from tests.backends import Backend


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
