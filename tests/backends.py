"""The two real databases behind one small set of raw operations, for what no store would do itself."""

import json
import os
import sqlite3
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import neo4j
import pytest

from graphbo.stores import Address, GraphStore, open_store
from graphbo.stores.neo4j.log import DROP_STATEMENTS
from graphbo.stores.neo4j.statements import quote, statement
from graphbo.types import NodeKey

#: What the constraints are on that stay from one test to the next: the nodes of most tests, and runs.
KEPT = (
    (["N"], ["id"]),
    (["GraphboRun"], ["name"]),
    (["GraphboRun"], ["prefix"]),
    (["GRAPHBO_OBSERVED"], ["run", "step"]),
)

#: For what is the same on every database, since it has not been asked yet or has answered: one of them shows it.
on_sqlite = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


def all_on_sqlite_and_one_on_neo4j(name: str, values: Iterable[object]) -> pytest.MarkDecorator:
    """For values of which graphbo makes the differences: the first one shows that a server agrees."""
    first, *others = values
    on_neo4j = pytest.param("neo4j", first, marks=pytest.mark.neo4j)
    on_sqlite = [("sqlite", value) for value in (first, *others)]
    return pytest.mark.parametrize(("backend", name), [*on_sqlite, on_neo4j], indirect=["backend"])


#: For what versions of Neo4j could do differently: types, schema, errors, plans. See ``tests/scheduling.py`` for where.
on_every_version = pytest.mark.parametrize(
    "backend",
    [
        "sqlite",
        pytest.param("neo4j", marks=pytest.mark.neo4j),
        pytest.param("long_term", marks=pytest.mark.neo4j),
    ],
    indirect=True,
)


class Backend(Protocol):
    """A database that tests may do anything to."""

    @property
    def name(self) -> str:
        """Which database it is."""

    @property
    def uri(self) -> str:
        """Where it is."""

    @property
    def environment(self) -> Mapping[str, str]:
        """What a command's environment needs to be let in."""

    def open(self) -> GraphStore:
        """A new connection."""

    def dump(self) -> object:
        """Everything in the database: equal dumps mean that nothing changed."""

    def delete_nodes(self, label: str, keys: Sequence[NodeKey]) -> None:
        """Delete nodes and their relationships behind graphbo's back."""


@dataclass
class SqliteBackend:
    """A file of its own for each test."""

    path: Path
    name: str = "sqlite"
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        return f"sqlite:{self.path}"

    def open(self) -> GraphStore:
        return open_store(self.uri, create=True)

    def dump(self) -> object:
        if not self.path.exists():
            return []
        with closing(sqlite3.connect(self.path)) as connection:
            return list(connection.iterdump())

    def delete_nodes(self, label: str, keys: Sequence[NodeKey]) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            wanted = f"SELECT value FROM json_each('{json.dumps(list(keys))}')"
            doomed = (
                "SELECT node.id FROM node JOIN label ON label.id = node.label "
                f"WHERE label.name = '{label}' AND node.key IN ({wanted})"
            )
            connection.execute(
                f"DELETE FROM relationship WHERE node IN ({doomed}) OR other IN ({doomed})"
            )
            connection.execute(f"DELETE FROM node WHERE id IN ({doomed})")


@dataclass
class Neo4jBackend:
    """A whole server: emptied before each test."""

    address: Address
    name: str = "neo4j"
    #: Whether constraints of runs may be here that no run of this test asked for.
    _left_over: bool = field(default=False, init=False)

    @property
    def uri(self) -> str:
        return self.address.uri

    @property
    def environment(self) -> Mapping[str, str]:
        return {
            "NEO4J_USERNAME": self.address.username or "",
            "NEO4J_PASSWORD": self.address.password or "",
            "NEO4J_DATABASE": self.address.database or "",
        }

    def open(self) -> GraphStore:
        return open_store(self.address)

    @cached_property
    def driver(self) -> neo4j.Driver:
        """One for all tests: connecting takes longer than most of what they do."""
        auth = (self.address.username or "", self.address.password or "")
        return neo4j.GraphDatabase.driver(self.uri, auth=auth, notifications_min_severity="OFF")

    @contextmanager
    def session(self) -> Iterator[neo4j.Session]:
        with self.driver.session(database=self.address.database) as session:
            yield session

    def close(self) -> None:
        self.driver.close()

    def run(self, text: str, **parameters: object) -> list[dict[str, Any]]:
        with self.session() as session:
            return session.run(text, parameters).data()

    def dump(self) -> object:
        self._drop_left_over()
        nodes = self.run(
            "MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS all ORDER BY id"
        )
        relationships = self.run(
            "MATCH (a)-[r]->(b) RETURN elementId(r) AS id, type(r) AS type, elementId(a) AS a, "
            "elementId(b) AS b, properties(r) AS all ORDER BY id"
        )
        schema = [
            self.run(
                f"SHOW {what} YIELD name, type, labelsOrTypes, properties "
                "RETURN name, type, labelsOrTypes, properties ORDER BY name"
            )
            for what in ("CONSTRAINTS", "INDEXES")
        ]
        return nodes, relationships, schema

    def delete_nodes(self, label: str, keys: Sequence[NodeKey]) -> None:
        self.run(f"MATCH (n:{quote(label)}) WHERE n.id IN $keys DETACH DELETE n", keys=list(keys))

    def is_empty(self) -> bool:
        return bool(self.run("MATCH (n) RETURN count(n) = 0 AS empty")[0]["empty"])

    def wipe(self) -> None:
        """Delete everything but the constraints that most tests would make again.

        Making one is slow, and whenever one comes or goes the server plans all statements anew: seconds for each test.
        """
        with self.session() as session:
            session.run(
                "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
            ).consume()
            for record in session.run(
                "SHOW CONSTRAINTS YIELD name, labelsOrTypes, properties"
            ).data():
                if (record["labelsOrTypes"], record["properties"]) not in KEPT:
                    session.run(f"DROP CONSTRAINT {quote(record['name'])}").consume()
        self._left_over = True

    def _drop_left_over(self) -> None:
        """Make the schema what it would be had this test been the first: a run asks for constraints, nothing else."""
        if self._left_over and self.run("MATCH (r:GraphboRun) RETURN count(r) AS runs")[0] == {
            "runs": 0
        }:
            for name in DROP_STATEMENTS:
                self.run(statement(name).text())
        self._left_over = False


def environment_for(backend: Backend) -> dict[str, str]:
    """The environment in which a command reaches the backend, and no other database by accident."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    return clean | dict(backend.environment) | {"NO_COLOR": "1", "COLUMNS": "200"}


@contextmanager
def read_only(directory: Path) -> Iterator[None]:
    """Nothing can be written in a directory meanwhile, as on media that may only be read."""
    if os.geteuid() != 0:
        mode = directory.stat().st_mode
        directory.chmod(0o555)
        yield
        directory.chmod(mode)
        return
    # Permissions do not hold root back.
    mounted = _mount("--bind", str(directory), str(directory))
    try:
        if not mounted or not _mount("-o", "remount,ro,bind", str(directory)):
            pytest.skip("this root may not mount, and may write everywhere")
        yield
    finally:
        if mounted:
            subprocess.run(["umount", str(directory)], check=True)


def _mount(*arguments: str) -> bool:
    return not subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode
