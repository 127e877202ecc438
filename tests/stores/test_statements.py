"""Every statement in ``cypher/``: it runs, and it does not read more of the graph than it says."""

from collections.abc import Iterator
from typing import Any

import pytest

from graphbo.stores.neo4j.log import SCHEMA_STATEMENTS
from graphbo.stores.neo4j.statements import quote, statement, statement_names
from graphbo.stores.seeded_order import SeededOrder
from graphbo.types import View
from graphbo.types.notation import read_condition, read_path
from tests.backends import Neo4jBackend

pytestmark = pytest.mark.neo4j

VIEW = View(("N",), ("R",), weight="w", key="id")
VIEWS = [
    VIEW,
    View(("N",), ("R",), "out", key="id"),
    View(("N",), ("R",)),
    View(("N", "M"), ("R", "S"), "in", weight="w", key="id"),
]
#: Views with connectors, paths and filters, for the statements that are made for them.
WALKED = [
    View(("M",), ("R",), weight="w", key="id", candidates=("N",), hub_limit=5),
    View(
        ("N",),
        paths=(read_path("(:N)-[:R WHERE w > 1]->(:M WHERE x IS NULL)<-[:R]-(:N)"),),
        key="id",
        where=read_condition("id > 0 AND NOT :Retired"),
    ),
    View(("N",), ("S",), "out", paths=(read_path("(:N)-[:R]->(:M)-[:S]-(:M)<-[:R]-(:N)"),)),
    View(("N",), ("R",), key="id", candidates_where=read_condition("x STARTS WITH 'a'")),
    View(
        ("N", "M"),
        ("R", "S"),
        "in",
        weight="w",
        key="id",
        candidates=("N",),
        where=read_condition("NOT :Retired"),
        candidates_where=read_condition("x IN [1, 'a'] OR y IS NULL"),
        paths=(
            read_path("(:N)-[:R|S]->(:M)-[:S WHERE w <> 1]-()<-[:R]-(:N WHERE x = 1)"),
            read_path("(:N)-[:S]-(:N|M)"),
        ),
        factors=(("S", 0.5),),
        default_weight=1.0,
    ),
]
ON_WALKED = (
    "ego_networks_along_paths",
    "nearby",
    "between",
    "candidates",
    "random_nodes",
    "sample",
    "scan_sample",
    "count_nodes",
)
SCANS = (
    "AllNodesScan",
    "NodeByLabelScan",
    "UnionNodeByLabelsScan",
    "NodeIndexScan",
    "DirectedRelationshipTypeScan",
    "UndirectedRelationshipTypeScan",
    "DirectedAllRelationshipsScan",
    "DirectedRelationshipIndexScan",
)
# They work on one label at a time, and only where there is a key.
ONE_LABEL = {"create_key", "write_nodes", "write_parallel_relationships", "write_relationships"}

PARAMETERS: dict[str, object] = {
    "keys": [1, 2],
    "exclude": [3],
    "first": [2],
    "connectors": [],
    "passed": [],
    "nearest": True,
    "most": 5,
    "limit": 10,
    "property": "w",
    "read": ["w"],
    "labels": ["N"],
    "draws": [5, 1234567],
    "egos": [{"centre": 1, "size": 5}],
    "rows": [],
    "everywhere": False,
    "through": [1],
    "run": "search",
    "since": 0,
    "token": "token",
    "tokens": ["token"],
    "worker": "worker",
    "candidates": [1, 2],
    "step": 1,
    "key": 1,
    "lease": 1000,
    "properties": {"value": 1.0},
    "node": {"graphboValue": 1.0},
    "counters": {"seq": 1},
    "label": "GraphboBest",
    "old": None,
    "best": ["GraphboBest"],
    "tries": 1,
    "steps": [1],
    "ids": ["4:none:1"],
    "names": ["graphboValue"],
    "name": "graphbo_left_over",
    "new": 1,
    **SeededOrder.from_seed([0]).parameters,
}


def cases() -> Iterator[Any]:
    for name in statement_names():
        texts = set()
        for number, view in enumerate(VIEWS):
            if name in ONE_LABEL and (len(view.labels) > 1 or view.key is None):
                continue
            if number and not statement(name).needs_view:
                continue
            text = statement(name).text(view)
            if text in texts:
                continue  # it asks for nothing that differs between the views
            texts.add(text)
            yield pytest.param(name, view, id=f"{name}-{view}")

    for name in ON_WALKED:
        texts = set()
        for view in WALKED:
            text = statement(name).text(view)
            if text in texts:
                continue
            texts.add(text)
            yield pytest.param(name, view, id=f"{name}-{view}")


def operators(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", []):
        yield from operators(child)


@pytest.fixture(scope="module", params=["neo4j_session", "long_term_session"])
def graph(request: pytest.FixtureRequest) -> Neo4jBackend:
    """Each version of Neo4j, filled once: every test below rolls back what it did."""
    server: Neo4jBackend = request.getfixturevalue(request.param)
    server.wipe()
    # A label that has no index for its key would be scanned, whatever the statement says.
    for label in ("N", "M"):
        server.run(
            f"CREATE CONSTRAINT {quote('key of ' + label)} IF NOT EXISTS "
            f"FOR (n:{quote(label)}) REQUIRE n.id IS UNIQUE"
        )
    for name in SCHEMA_STATEMENTS:
        server.run(statement(name).text())
    # More nodes than a planner takes the lists of keys to have: it scans where that is less work than to seek.
    server.run("UNWIND range(1, 999) AS i CREATE (:N {id: i})-[:R {w: 1.5}]->(:M {id: i})")
    return server


@pytest.mark.parametrize(("name", "view"), list(cases()))
def test_runs_and_plans_without_a_scan(graph: Neo4jBackend, name: str, view: View) -> None:
    wanted = statement(name)
    parameters = {key: PARAMETERS[key] for key in wanted.parameters}
    if view.key is None:
        # Element ids are text.
        parameters |= {
            key: ["4:none:1"]
            for key in ("keys", "exclude", "first", "through")
            if key in parameters
        }
    text, values = wanted.call(parameters, view)
    with graph.session() as session:
        if not text.startswith(("CREATE CONSTRAINT", "DROP", "SHOW")):
            plan = session.run(f"EXPLAIN {text}", values).consume().plan
            assert plan is not None
            scans = [operator for operator in operators(plan) if operator in SCANS]
            if scans:
                assert_explained(name, view, scans, plan)
        if "IN TRANSACTIONS" in text:
            return  # cannot be rolled back; the contract suite runs it
        with session.begin_transaction() as transaction:
            transaction.run(text, values).consume()
            transaction.rollback()


def assert_explained(name: str, view: View, scans: list[str], plan: dict[str, Any]) -> None:
    header = statement(name).header
    if name in ("random_nodes", "sample"):
        # The two ends of the label index, in order, one entry each.
        assert "LIMIT 1" in header
        # What is sorted are the draws, never the label.
        assert list(operators(plan)).count("Top") == (name == "sample")
        assert len(scans) == 2 * len(view.candidate_labels) or "UnionNodeByLabelsScan" in scans
    elif name == "count_nodes":
        assert len(view.labels) > 1 or view.candidate_condition is not None
        assert "unavoidable" in header.lower()
    else:
        assert "Unavoidable" in header, f"{name} scans: {scans}"


@pytest.mark.parametrize("name", statement_names())
def test_has_a_header_that_explains_it(name: str) -> None:
    header = statement(name).header
    for part in ("Parameters:", "Plan:", "Cost:"):
        assert part in header
    documented = header.partition("Parameters:")[2]
    for parameter in statement(name).parameters:
        assert f"${parameter}" in documented, f"{name} does not document ${parameter}"
