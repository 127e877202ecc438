"""What is in a database stays as it is, also where it has the names that runs write."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest

from graphbo.runs.records import RunRecord
from graphbo.runs.registry import runs_in
from graphbo.runs.written_names import region_properties, written_labels, written_properties
from graphbo.types import View
from tests.backends import Backend, Neo4jBackend, SqliteBackend, on_sqlite
from tests.cli.commands import Answer
from tests.cli.runs import OPTIONS, SIZE, VIEW, InProcess, load

SMALL = ("--option", "initial=4", "--option", "size=16", "--option", "egos=1")
RUN = ("run", *OPTIONS, *SMALL, "--objective", "property:score", "--name", "search")

#: Names that a run would write if nothing had them, and what somebody else has there: on nodes that a run measures (it
#: measures all of them), and on one that is no part of the graph.
PROPERTIES = {"graphboValue": "mine", "graphboStep": -1, "graphboMeanNow": [0.5]}
LABELS = ("GraphboObserved", "GraphboBest", "GraphboPending", "GraphboRegion")
COLLIDING = range(0, SIZE, 3)

OTHERS = View(("GraphboBest",), ("GRAPHBO_OBSERVED",), key="id")


# What is in a database, and what of it is whose


@dataclass(frozen=True)
class Contents:
    """A database as values.

    Attributes:
        nodes: labels and properties, by internal id.
        relationships: type, ends and properties, by internal id.
        schema: constraints and indexes.
    """

    nodes: dict[object, tuple[frozenset[str], dict[str, Any]]]
    relationships: dict[object, tuple[str, object, object, dict[str, Any]]]
    schema: frozenset[str]


def contents(backend: Backend) -> Contents:
    return _in_sqlite(backend) if isinstance(backend, SqliteBackend) else _in_neo4j(backend)


def _in_neo4j(backend: Backend) -> Contents:
    found: Any = backend.dump()
    nodes, relationships, schema = found
    return Contents(
        {one["id"]: (frozenset(one["labels"]), one["all"]) for one in nodes},
        {one["id"]: (one["type"], one["a"], one["b"], one["all"]) for one in relationships},
        frozenset(json.dumps(one, sort_keys=True) for part in schema for one in part),
    )


def _in_sqlite(backend: SqliteBackend) -> Contents:
    with closing(sqlite3.connect(backend.path)) as connection:
        nodes = connection.execute(
            "SELECT node.id, label.name, label.key, node.key, properties FROM node JOIN label ON label.id = label"
        ).fetchall()
        relationships = connection.execute(
            "SELECT node, type.name, outgoing, other, properties FROM relationship JOIN type ON type.id = type"
        ).fetchall()
        schema = connection.execute(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
        ).fetchall()
    return Contents(
        {
            node: (frozenset([label]), json.loads(text) | {f"key {name}": key})
            for node, label, name, key, text in nodes
        },
        {
            (a, kind, outgoing, b): (kind, a, b, json.loads(text))
            for a, kind, outgoing, b, text in relationships
        },
        frozenset(sql for (sql,) in schema),
    )


def assert_untouched(before: Contents, now: Contents, runs: list[RunRecord]) -> None:
    """All that was there is there, and what is new belongs to a run."""
    both = (written_properties, region_properties)
    ours = {name for run in runs for names in both for name in names(run.prefix).values()}
    our_labels = {label for run in runs for label in written_labels(run.prefix).values()}
    for node, (labels, properties) in before.nodes.items():
        now_labels, now_properties = now.nodes[node]
        assert now_labels >= labels, (node, now_labels)
        assert now_labels - labels <= our_labels, (node, now_labels)
        kept = {name: value for name, value in now_properties.items() if name in properties}
        assert kept == properties, (node, now_properties)
        assert now_properties.keys() - properties.keys() <= ours, (node, now_properties)
    new = {node: now.nodes[node] for node in now.nodes.keys() - before.nodes.keys()}
    assert all(labels == {"GraphboRun"} for labels, _ in new.values())
    for relationship, was in before.relationships.items():
        assert now.relationships[relationship] == was
    added = now.relationships.keys() - before.relationships.keys()
    assert all(now.relationships[one][1] in new for one in added)
    assert now.schema >= before.schema


class Watched:
    """A command after each of which what was there is looked at."""

    def __init__(self, backend: Backend, here: InProcess) -> None:
        self._backend = backend
        self._here = here
        self.before = contents(backend)

    def __call__(self, *arguments: object) -> Answer:
        answer = self._here(*arguments)
        assert answer.code == 0, answer
        assert_untouched(self.before, contents(self._backend), self.runs)
        return answer

    @property
    def runs(self) -> list[RunRecord]:
        with self._backend.open() as store:
            return runs_in(store).all()


# What somebody has in it


def _has_properties(backend: Backend, properties: dict[str, Any]) -> None:
    with backend.open() as store:
        store.write_nodes(VIEW, [(node, properties) for node in COLLIDING])


def _has_labels(backend: Backend, *labels: str) -> None:
    """On nodes of the graph, where a node may have several, and on nodes of another one."""
    if isinstance(backend, Neo4jBackend):
        names = "".join(f":{label}" for label in labels)
        backend.run(f"MATCH (n:N) WHERE n.id IN $ids SET n{names}", ids=list(COLLIDING))
    with backend.open() as store:
        for label in labels:
            others = View((label,), OTHERS.relationships, key="id")
            store.create_key(others)
            store.write_nodes(others, [(1_000, {"name": "another graph"})])


def _has_everything(backend: Backend) -> None:
    _has_properties(backend, PROPERTIES)
    _has_labels(backend, *LABELS)


COLLISIONS: dict[str, Callable[[Backend], None]] = {
    **{
        name: lambda backend, name=name: _has_properties(backend, {name: PROPERTIES[name]})  # type: ignore[misc]
        for name in PROPERTIES
    },
    **{label: lambda backend, label=label: _has_labels(backend, label) for label in LABELS},  # type: ignore[misc]
}


@pytest.fixture
def colliding(backend: Backend) -> Backend:
    """A graph with all the names that runs write."""
    load(backend)
    _has_everything(backend)
    return backend


# Runs that find a prefix themselves


def commands(watched: Watched) -> Iterator[str]:
    """Every command that has to do with runs, one after the other."""
    watched(*RUN, "--budget", 8, "--dry-run")
    yield "dry run"
    watched("doctor", *OPTIONS)
    yield "doctor"
    # There is a region soon after the beginning; later it may just be used up.
    watched(*RUN, "--budget", 6)
    yield "run"
    for name in ("status", "best", "history", "report"):
        watched(name, "search")
        yield name
    watched("runs")
    yield "runs"
    watched("annotate", "search")
    yield "annotate"
    watched("annotate", "search", "--posterior")
    yield "annotate --posterior"
    (first,) = watched("ask", "hand", *OPTIONS, *SMALL, "--json").json["pending"]
    yield "ask"
    watched("tell", "hand", first["key"], 1.5)
    watched("tell", "hand", first["key"], 2.5, "--amend")
    yield "tell"
    (second,) = watched("ask", "hand", "--json").json["pending"]
    watched("tell", "hand", second["key"], "--failed", "no sensor")
    (third,) = watched("ask", "hand", "--json").json["pending"]
    watched("release", "hand", third["key"])
    yield "release"
    watched("ask", "hand")
    watched("stop", "hand")
    yield "stop"
    watched("clean", "hand", "--yes")
    yield "clean"
    # What is left is measured: nobody's nodes are spared.
    watched("run", "--name", "search", "--budget", SIZE)
    yield "run again"


def test_no_command_changes_what_is_there(
    colliding: Backend, in_process: Callable[[Backend], InProcess]
) -> None:
    exactly = colliding.dump()
    watched = Watched(colliding, in_process(colliding))
    done = list(commands(watched))
    assert done[-1] == "run again"
    assert colliding.dump() != exactly
    watched("clean", "search", "--yes")
    assert colliding.dump() == exactly


#: A node in SQLite has one label, so one name stands for all. Neo4j plans anew for each name, which takes seconds.
STEPPING_ASIDE = [
    *(pytest.param("sqlite", name) for name in (*PROPERTIES, "GraphboBest")),
    pytest.param("neo4j", "GraphboRegion", marks=pytest.mark.neo4j),
]


@pytest.mark.parametrize(("backend", "name"), STEPPING_ASIDE, indirect=["backend"])
def test_the_default_prefix_steps_aside(
    backend: Backend, in_process: Callable[[Backend], InProcess], name: str
) -> None:
    """Whichever name is in use, and whichever nodes have it: a run that measures all of them writes others."""
    load(backend)
    COLLISIONS[name](backend)
    exactly = backend.dump()
    watched = Watched(backend, in_process(backend))
    watched(*RUN, "--budget", 6)
    watched("annotate", "search", "--posterior")
    watched(*RUN, "--budget", SIZE)
    watched("clean", "search", "--yes")
    assert backend.dump() == exactly


# Runs that are given one


def refused(backend: Backend, here: InProcess, *arguments: object) -> str:
    """Run a command that must change nothing, and say why not in one line."""
    before = backend.dump()
    line = here(*arguments).failed_with_one_line()
    assert backend.dump() == before
    return line


@on_sqlite
def test_a_prefix_whose_names_are_in_use_is_refused(loaded: Backend, here: InProcess) -> None:
    with loaded.open() as store:
        store.write_nodes(VIEW, [(7, {"delayValue": 12.5})])
    exactly = loaded.dump()
    for command in (RUN, (*RUN, "--dry-run"), ("ask", "hand", *OPTIONS)):
        line = refused(loaded, here, *command, "--write-prefix", "delay")
        assert "delayValue" in line
        assert "--write-prefix" in line
    assert loaded.dump() == exactly


@pytest.mark.neo4j
def test_relationships_of_the_type_of_a_record_are_left_alone(
    neo4j_backend: Neo4jBackend, in_process: Callable[[Backend], InProcess]
) -> None:
    """No prefix would help: the types of a run's record are always the same."""
    load(neo4j_backend)
    with neo4j_backend.open() as store:
        view = View(VIEW.labels, ("GRAPHBO_OBSERVED",), key="id")
        store.write_relationships(view, [(node, node + 1, {"since": 2020}) for node in COLLIDING])
    here = in_process(neo4j_backend)
    for command in (RUN, (*RUN, "--dry-run"), ("ask", "hand", *OPTIONS)):
        assert "'GRAPHBO_OBSERVED'" in refused(neo4j_backend, here, *command)


@on_sqlite
def test_the_key_of_the_nodes_is_a_name_in_use(
    backend: Backend, in_process: Callable[[Backend], InProcess]
) -> None:
    view = View(VIEW.labels, VIEW.relationships, key="nodeStep")
    with backend.open() as store:
        store.create_key(view)
        store.write_nodes(view, [(node, {"score": node}) for node in range(20)])
        store.write_relationships(view, [(node, node + 1, {}) for node in range(19)])
    here = in_process(backend)
    assert "nodeStep" in refused(backend, here, *RUN, "--budget", 5, "--write-prefix", "node")


@on_sqlite
def test_prefixes_that_differ_in_case_do_not_share_what_they_write(
    loaded: Backend, here: InProcess
) -> None:
    """They would have the same labels: the second is refused, or each is cleaned without the other."""
    exactly = loaded.dump()
    assert here(*RUN, "--budget", SIZE, "--write-prefix", "delay").code == 0
    first = loaded.dump()
    second = here(
        *("run", *OPTIONS, *SMALL, "--objective", "property:score", "--name", "second"),
        *("--budget", SIZE, "--write-prefix", "Delay"),
    )
    if second.code:
        assert "delay" in second.failed_with_one_line().lower()
    else:
        assert here("clean", "second", "--yes").code == 0
    assert loaded.dump() == first
    assert here("clean", "search", "--yes").code == 0
    assert loaded.dump() == exactly
