"""What is in a database, read behind graphbo's back: what belongs to its user, and what graphbo left."""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from tests.backends import Backend, Neo4jBackend, SqliteBackend

__all__ = [
    "constraints_of_runs",
    "drop_constraints",
    "empty",
    "marks",
    "strays",
    "unmark",
    "users_data",
]

_PROPERTY = re.compile(r"graphbo\d*(Value|Step|Mean|Std|Acquisition)(Now)?")
_LABEL = re.compile(r"Graphbo\d*(Observed|Best|Pending|Region)")
_RUN = "GraphboRun"

Node = tuple[list[str], Mapping[str, Any]]


def empty(backend: Backend) -> None:
    """Delete everything, the constraints of runs included. A file is new anyway."""
    if isinstance(backend, Neo4jBackend):
        backend.wipe()
        for name in constraints_of_runs(backend):
            backend.run(f"DROP CONSTRAINT {name}")
        # Those of constraints that were interrupted: nobody else makes any here.
        for row in backend.run("SHOW INDEXES YIELD name, type, owningConstraint RETURN *"):
            if row["type"] != "LOOKUP" and row["owningConstraint"] is None:
                backend.run(f"DROP INDEX {row['name']}")


def constraints_of_runs(backend: Backend) -> set[str]:
    """The constraints that graphbo has made for runs."""
    if not isinstance(backend, Neo4jBackend):
        return set()
    found = backend.run("SHOW CONSTRAINTS YIELD name RETURN name")
    return {row["name"] for row in found if row["name"].startswith("graphbo_")}


def _indexes_of_runs(backend: Backend) -> list[str]:
    """Every constraint has one of its own name; one that was interrupted may leave it behind."""
    if not isinstance(backend, Neo4jBackend):
        return []
    found = backend.run("SHOW INDEXES YIELD name RETURN name ORDER BY name")
    return [row["name"] for row in found if row["name"].startswith("graphbo_")]


def drop_constraints(backend: Neo4jBackend, label: str) -> None:
    """Drop what makes keys of a label unique."""
    for row in backend.run("SHOW CONSTRAINTS YIELD name, labelsOrTypes RETURN *"):
        if row["labelsOrTypes"] == [label]:
            backend.run(f"DROP CONSTRAINT {row['name']}")


def users_data(backend: Backend) -> object:
    """All nodes and relationships without what graphbo has written; equal if they are the same."""
    nodes = [
        (_others(labels, _LABEL), {name: all_[name] for name in _others(all_, _PROPERTY)})
        for labels, all_ in _nodes(backend)
        if _RUN not in labels
    ]
    return _in_order(nodes), _in_order(
        one for one in _relationships(backend) if not one[0].startswith("GRAPHBO_")
    )


def marks(backend: Backend) -> object:
    """What graphbo has written onto the nodes of the graph."""
    return _in_order(
        (_names(labels, _LABEL), {name: all_[name] for name in _names(all_, _PROPERTY)}, all_["id"])
        for labels, all_ in _nodes(backend)
        if _RUN not in labels
    )


def unmark(backend: Backend) -> None:
    """Take some of what graphbo has written off again, as somebody might who tidies up by hand."""
    if isinstance(backend, Neo4jBackend):
        backend.run("MATCH (n:GraphboObserved) REMOVE n:GraphboObserved, n.graphboValue")
        return
    assert isinstance(backend, SqliteBackend)
    with closing(sqlite3.connect(backend.path)) as connection, connection:
        connection.execute("UPDATE node SET properties = json_remove(properties, '$.graphboValue')")


def strays(backend: Backend) -> list[str]:
    """What graphbo has left in a database in which there should be no run."""
    left = []
    for labels, all_ in _nodes(backend):
        if _RUN in labels:
            left.append(f"the run {all_.get('name')}")
        elif found := [*_names(labels, _LABEL), *_names(all_, _PROPERTY)]:
            left.append(f"node {all_.get('id')} has {', '.join(found)}")
    types = [one[0] for one in _relationships(backend) if one[0].startswith("GRAPHBO_")]
    left += [f"a relationship {type_}" for type_ in types]
    return left + [f"the index {name}" for name in _indexes_of_runs(backend)]


def _others(names: Any, pattern: re.Pattern[str]) -> list[str]:
    return sorted(name for name in names if not pattern.fullmatch(name))


def _names(names: Any, pattern: re.Pattern[str]) -> list[str]:
    return sorted(name for name in names if pattern.fullmatch(name))


def _in_order(found: Any) -> list[str]:
    return sorted(json.dumps(one, sort_keys=True) for one in found)


def _nodes(backend: Backend) -> Iterator[Node]:
    """Every node, runs included: its labels and properties."""
    if isinstance(backend, Neo4jBackend):
        for row in backend.run("MATCH (n) RETURN labels(n) AS labels, properties(n) AS all"):
            yield row["labels"], row["all"]
        return
    for label, key, properties in _rows(
        backend, "SELECT label.name, node.key, properties FROM node JOIN label ON label.id = label"
    ):
        yield [label], json.loads(properties) | {"id": key}
    for (name,) in _rows(backend, "SELECT name FROM run"):
        yield [_RUN], {"name": name}


def _relationships(backend: Backend) -> Iterator[tuple[str, object, object, object]]:
    """Every relationship: type, ends, properties. What SQLite has in place of those of runs has their type, too."""
    if isinstance(backend, Neo4jBackend):
        for row in backend.run(
            "MATCH (a)-[r]->(b) RETURN type(r) AS type, a.id AS a, b.id AS b, "
            "CASE WHEN type(r) STARTS WITH 'GRAPHBO_' THEN {} ELSE properties(r) END AS all"
        ):
            yield row["type"], row["a"], row["b"], row["all"]
        return
    yield from _rows(
        backend,
        "SELECT type.name, a.key, b.key, r.properties FROM relationship r JOIN type ON type.id = r.type "
        "JOIN node a ON a.id = r.node JOIN node b ON b.id = r.other WHERE r.outgoing",
    )
    for kind, run in _rows(backend, "SELECT kind, run FROM event"):
        yield f"GRAPHBO_{kind.upper()}", run, None, None


def _rows(backend: Backend, sql: str) -> list[Any]:
    assert isinstance(backend, SqliteBackend)
    with closing(sqlite3.connect(backend.path)) as connection:
        return connection.execute(sql).fetchall()
