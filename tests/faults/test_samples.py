"""A little of ``make faults``: each kind on SQLite, and those on Neo4j that differ there."""

from pathlib import Path
from random import Random

import pytest

from tests.backends import Backend
from tests.faults.kinds import KINDS, Limits
from tests.faults.site import Site
from tests.faults.table import try_out

pytestmark = pytest.mark.slow

#: How many faults of each kind.
ON_SQLITE = {
    "kills": 12,
    "containers": 1,
    "clocks": 1,
    "disk": 1,
    "load": 1,
    "annotate": 1,
    "clean": 2,
    "clean-beside-workers": 1,
}
#: A server that is killed is in test_outages.py.
ON_NEO4J = {"kills": 3, "network": 3, "clean-beside-workers": 1, "create-beside-clean": 1}


def survives(kind: str, backend: Backend, faults: int, directory: Path) -> None:
    row = try_out(
        KINDS[kind],
        lambda: Site(backend, directory),
        Random(kind),
        Limits(faults, workers=3),
        seconds=0.0 if backend.name == "neo4j" else 10.0,
    )
    if row.impossible:
        pytest.skip(row.impossible)
    assert row.held, row.findings.sentences()


@pytest.mark.parametrize("kind", ON_SQLITE)
def test_sqlite_survives(kind: str, sqlite_backend: Backend, tmp_path: Path) -> None:
    survives(kind, sqlite_backend, ON_SQLITE[kind], tmp_path)


@pytest.mark.neo4j
@pytest.mark.parametrize("kind", ON_NEO4J)
def test_neo4j_survives(kind: str, neo4j_backend: Backend, tmp_path: Path) -> None:
    survives(kind, neo4j_backend, ON_NEO4J[kind], tmp_path)
