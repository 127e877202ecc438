"""A little of ``make faults``: each kind on SQLite, and those on Neo4j that differ there."""

from pathlib import Path
from random import Random

import pytest

from graphbo.runs import RunSettings
from tests.backends import Backend
from tests.faults.databases import constraints_of_runs, marks, strays, unmark, users_data
from tests.faults.kinds import KINDS, Limits
from tests.faults.site import Site
from tests.faults.table import try_out
from tests.faults.workers import VIEW

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
ON_NEO4J = {"kills": 5, "network": 5, "clean-beside-workers": 1, "create-beside-clean": 1}


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


def test_every_kind_has_a_sample() -> None:
    for store, samples in (("sqlite", ON_SQLITE), ("neo4j", {**ON_SQLITE, **ON_NEO4J})):
        with_store = {name for name, kind in KINDS.items() if store in kind.faults}
        assert with_store - samples.keys() <= {"server"}


@pytest.mark.parametrize("kind", ON_SQLITE)
def test_sqlite_survives(kind: str, sqlite_backend: Backend, tmp_path: Path) -> None:
    survives(kind, sqlite_backend, ON_SQLITE[kind], tmp_path)


@pytest.mark.neo4j
@pytest.mark.parametrize("kind", ON_NEO4J)
def test_neo4j_survives(kind: str, neo4j_backend: Backend, tmp_path: Path) -> None:
    survives(kind, neo4j_backend, ON_NEO4J[kind], tmp_path)


def test_what_a_run_leaves_is_told_from_what_is_its_users(backend: Backend, tmp_path: Path) -> None:
    site = Site(backend, tmp_path)
    assert not site.after_clean()
    untouched = marks(backend)
    run = site.create_run(RunSettings(strategy="random", budget=5), evaluations=2)
    found = site.after_clean()
    assert found.other == []
    constraints = len(constraints_of_runs(backend))
    assert constraints == (3 if backend.name == "neo4j" else 0)
    # The run, what is on its nodes, and what leads there.
    assert len(found.strays) == 1 + 2 + 2 + constraints
    marked = marks(backend)
    unmark(backend)
    assert untouched != marks(backend) != marked
    assert not site.clean(run)
    assert marks(backend) == untouched
    with backend.open() as store:
        store.write_nodes(VIEW, [(7, {"name": "another"})])
    assert users_data(backend) != site.reference
    assert strays(backend) == []
    assert site.after_clean().other
