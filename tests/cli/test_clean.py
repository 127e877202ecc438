"""``graphbo clean``: runs, and what earlier cleans have left."""

import pytest

from tests.backends import Backend, Neo4jBackend, on_sqlite
from tests.cli.runs import OPTIONS, VIEW, InProcess

SCORE = ("--objective", "property:score", "--strategy", "random")


@pytest.fixture
def done(here: InProcess) -> InProcess:
    assert here("run", *OPTIONS, *SCORE, "--name", "search", "--budget", 3).code == 0
    return here


@on_sqlite
def test_asks_first_and_removes_every_trace(loaded: Backend, here: InProcess) -> None:
    before = loaded.dump()
    here("run", *OPTIONS, *SCORE, "--name", "search", "--budget", 3)
    assert "add --yes" in here("clean", "search").failed_with_one_line()
    facts = here("clean", "search", "--yes", "--json").json
    assert (facts["observations"], facts["cleaned"]) == (3, True)
    assert "graphboValue" in facts["properties"]
    assert loaded.dump() == before
    assert "there is none yet" in here("clean", "search", "--yes").failed_with_one_line()


@pytest.mark.parametrize(
    "words",
    [(), ("x", "--orphans", "--prefix", "p"), ("--orphans",), ("--prefix", "p"), ("x", "--scan")],
)
@on_sqlite
def test_wants_a_run_or_a_prefix(here: InProcess, words: tuple[str, ...]) -> None:
    assert here("clean", *words).code == 2


def test_strays_are_listed_and_removed(loaded: Backend, done: InProcess) -> None:
    with loaded.open() as store:
        store.write_nodes(VIEW, [(7, {"oldValue": 3.0, "oldStep": 1, "name": "mine"})])
        if isinstance(loaded, Neo4jBackend):
            loaded.run("MATCH (n:N {id: 7}) SET n:OldObserved")
    before = loaded.dump()
    orphans = ("clean", "--orphans", "--prefix", "old", "--scan")
    assert "add --yes" in str(done(*orphans).err)
    assert loaded.dump() == before
    answer = done(*orphans, "--yes")
    assert answer.code == 0, answer
    assert "oldStep, oldValue" in answer.out
    assert "from 1 node." in answer.out
    with loaded.open() as store:
        assert store.properties(VIEW, [7])[7]["name"] == "mine"
        assert "oldValue" not in store.properties(VIEW, [7])[7]
    assert "Nothing of the prefix 'old'" in done(*orphans).out
    mine = ("clean", "--orphans", "--prefix", "Graphbo", "--yes")
    assert "belongs to the run 'search'" in done(*mine).failed_with_one_line()


@on_sqlite
def test_without_a_scan_only_labels_are_looked_for(loaded: Backend, done: InProcess) -> None:
    with loaded.open() as store:
        store.write_nodes(VIEW, [(7, {"oldValue": 3.0})])
    answer = done("clean", "--orphans", "--prefix", "old")
    assert "--scan" in answer.out
    assert done("clean", "--orphans", "--prefix", "old", "--json").json["nodes"] == 0


@on_sqlite
def test_all_runs_are_removed_after_one_question(loaded: Backend, here: InProcess) -> None:
    before = loaded.dump()
    assert here("clean", "--all").out == "There is no run in this database.\n"
    for name in ("one", "two"):
        here("run", *OPTIONS, *SCORE, "--name", name, "--budget", 2)
    there = loaded.dump()
    refused = here("clean", "--all").failed_with_one_line()
    assert "cleaning the 2 runs removes what cannot be brought back: add --yes" in refused
    assert loaded.dump() == there
    assert here("clean", "one", "--all", "--yes").code == 2
    facts = here("clean", "--all", "--yes", "--json").json
    assert [(one["name"], one["observations"]) for one in facts] == [("one", 2), ("two", 2)]
    assert loaded.dump() == before
