"""``graphbo load`` on each real database."""

import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from graphbo.runs.records import RunRecord
from graphbo.runs.registry import runs_in
from graphbo.stores import EdgeRow, WriteCounts
from graphbo.stores.sqlite.store import SqliteStore
from graphbo.types import Ego, NodeKey, View
from tests.backends import Backend, Neo4jBackend, on_sqlite
from tests.cli.commands import Answer, Graphbo
from tests.cli.runs import InProcess

VIEW = View(("N",), ("R",), key="id")
WEIGHTED = View(("N",), ("R",), key="id", weight="w")

NEO4J = pytest.param("neo4j", marks=pytest.mark.neo4j)

Load = Callable[..., Answer]


@pytest.fixture
def inside(backend: Backend, in_process: Callable[[Backend], InProcess]) -> InProcess:
    """The command in this process, on a database that is empty."""
    return in_process(backend)


@pytest.fixture
def load(inside: InProcess, backend: Backend) -> Load:
    """``load(SOURCE, OPTIONS…)`` into the backend, as N and R."""
    return partial(_load, inside, backend)


def _load(graphbo: InProcess, backend: Backend, source: object, *options: str) -> Answer:
    return graphbo("load", source, "--uri", backend.uri, "--label", "N", "--rel", "R", *options)


def write(folder: Path, text: str, name: str = "g.csv") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def stored(backend: Backend, keys: list[NodeKey], view: View = VIEW) -> dict[NodeKey, Any]:
    with backend.open() as store:
        return dict(store.properties(view, keys))


def test_a_generated_graph_is_there_and_a_second_load_changes_nothing(
    backend: Backend, load: Load
) -> None:
    first = load("grid:4x5")
    assert first.code == 0, first
    assert first.err.startswith("Using ")
    assert "20 nodes and 31 relationships created" in first.out
    assert "now has 20 nodes and 31 relationships" in first.out
    assert f"Next: graphbo doctor --uri {backend.uri} --label N --rel R --key id" in first.out
    assert stored(backend, [0, 19]) == {
        0: {"id": 0, "row": 0, "col": 0},
        19: {"id": 19, "row": 3, "col": 4},
    }
    before = backend.dump()
    second = load("grid:4x5")
    assert second.code == 0
    assert second.out.startswith("Nothing changed: ")
    assert backend.dump() == before


@on_sqlite
def test_weights_and_repetitions(backend: Backend, load: Load, tmp_path: Path) -> None:
    name = write(tmp_path, "source,target,w\na,b,1\nb,a,2.5\nc,c,1\nc,a,4\n")
    answer = load(name, "--weight", "w")
    assert answer.code == 0, answer
    assert "3 nodes and 2 relationships created" in answer.out
    assert "Left out: 1 self-loop." in answer.out
    assert "--no-header" in answer.out
    assert "--weight w" in answer.out
    with backend.open() as store:
        assert store.check_key(VIEW).constrained
        subgraph = store.ego_networks(WEIGHTED, [Ego("a", 10)], [0])
    weights = {
        (subgraph.keys[a], subgraph.keys[b]): w
        for a, b, w in zip(subgraph.sources, subgraph.targets, subgraph.weights, strict=True)
    }
    assert weights == {("a", "b"): 2.5, ("a", "c"): 4.0}
    before = backend.dump()
    assert load(name, "--weight", "w").out.startswith("Nothing changed")
    assert backend.dump() == before


@on_sqlite
def test_directed(backend: Backend, load: Load, tmp_path: Path) -> None:
    answer = load(write(tmp_path, "1,2\n2,1\n2,3\n"), "--directed", "--json")
    assert answer.json["relationships_created"] == 3


@pytest.mark.parametrize("suffix", ["graphml", "json.gz"])
def test_attributes_become_properties(
    backend: Backend, load: Load, tmp_path: Path, suffix: str
) -> None:
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_node(1, name="Zoë", age=3, tall=True, size=1.5)
    graph.add_edge(1, 2, w=3, since=1999)
    path = tmp_path / f"g.{suffix}"
    if suffix.startswith("graphml"):
        nx.write_graphml(graph, path)
    else:
        graph.nodes[1].update(tags=["a", "b"], none=None, deep={"x": [1]})
        text = json.dumps(nx.node_link_data(graph, edges="edges")).encode()
        path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    answer = load(path.name, "--weight", "w")
    assert answer.code == 0, answer
    assert "--directed keeps it" in answer.out
    expected: dict[str, object] = {"id": 1, "name": "Zoë", "age": 3, "tall": True, "size": 1.5}
    if suffix.startswith("json"):
        expected |= {"tags": ["a", "b"], "deep": '{"x": [1]}'}
    assert stored(backend, [1])[1] == expected
    if isinstance(backend, Neo4jBackend):
        (found,) = backend.run("MATCH (:N {id: 1})-[r:R]->(:N {id: 2}) RETURN properties(r) AS all")
        assert found["all"] == {"w": 3.0, "since": 1999}
    before = backend.dump()
    assert load(path.name, "--weight", "w").out.startswith("Nothing changed")
    assert backend.dump() == before


@on_sqlite
def test_replace_does_not_lose_a_run(backend: Backend, load: Load) -> None:
    assert load("grid:3x3").code == 0
    with backend.open() as store:
        view = store.resolve(View(VIEW.labels, VIEW.relationships))
        runs_in(store).create(RunRecord("survey", True, view, {}, seed=0, prefix=""))
    before = backend.dump()
    line = load("grid:2x2", "--replace").failed_with_one_line()
    assert "graphbo clean survey" in line
    assert backend.dump() == before


def test_replace(backend: Backend, load: Load, tmp_path: Path) -> None:
    load("grid:3x3")
    assert load("grid:2x2", "--replace", "--json").json["nodes"] == 4
    before = backend.dump()
    assert load(write(tmp_path, "1,2\nbad\n"), "--replace").code == 1
    assert backend.dump() == before


@on_sqlite
def test_malformed_lines_refuse_the_load(backend: Backend, load: Load, tmp_path: Path) -> None:
    before = backend.dump()
    name = write(tmp_path, "1,2\n" + "bad\n" * 7 + "3,4\n")
    answer = load(name)
    assert answer.code == 1
    assert answer.out == ""
    lines = answer.err.splitlines()[1:]
    assert lines[:5] == [
        f"malformed: line {n}: 1 field where an edge needs two ends: 'bad'" for n in range(2, 7)
    ]
    assert lines[5] == "malformed: and 2 more"
    assert lines[6].startswith(f"graphbo: {name}: 7 malformed lines (the first, line 2: ")
    assert "--skip-bad" in lines[6]
    assert backend.dump() == before

    answer = load(name, "--skip-bad", "--json")
    assert answer.code == 0
    found = answer.json
    assert (found["nodes"], found["relationships"], found["malformed"]) == (4, 2, 7)
    assert len(found["malformed_examples"]) == 5


@on_sqlite
def test_as_json(backend: Backend, load: Load, tmp_path: Path) -> None:
    name = write(tmp_path, "# c\na,b\nb,b\n")
    answer = load(name, "--json")
    assert answer.code == 0
    found = answer.json
    assert found.pop("seconds") >= 0
    assert found.pop("records_per_second") > 0
    found.pop("properties_set")  # whether the key of a new node counts is the database's affair
    assert found == {
        "source": name,
        "uri": backend.uri,
        "view": "(:N {id})-[:R]-()",
        "changed": True,
        "replaced": False,
        "nodes": 2,
        "relationships": 1,
        "nodes_created": 2,
        "relationships_created": 1,
        "nodes_read": 0,
        "edges_read": 2,
        "self_loops": 1,
        "malformed": 0,
        "malformed_examples": [],
        "comments": 1,
        "notes": [],
        "next": f"graphbo doctor --uri {backend.uri} --label N --rel R --key id",
    }


# What is refused before a database is opened is tried on one of them.


@on_sqlite
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("none.csv", "there is no file none.csv"),
        ("ba:n=3", "m is missing"),
        (".", "is a directory"),
        ("page.csv", "web page"),
        ("broken.json", "line 1, byte 11: not JSON"),
        ("broken.graphml", "line 1, column 10: not XML"),
    ],
)
def test_what_is_no_graph_is_one_clear_line(
    backend: Backend, load: Load, tmp_path: Path, source: str, expected: str
) -> None:
    write(tmp_path, "<html></html>", "page.csv")
    write(tmp_path, '{"nodes": [', "broken.json")
    write(tmp_path, "<graphml><", "broken.graphml")
    before = backend.dump()
    assert expected in load(source).failed_with_one_line()
    assert backend.dump() == before
    assert not (tmp_path / "graph.db").exists()


def test_names_and_values_that_try_to_escape(
    backend: Backend, inside: InProcess, tmp_path: Path
) -> None:
    evil = "a`}) DETACH DELETE n //"
    data = {
        "nodes": [{"id": evil, "p`} //": "'; DROP TABLE node; --"}],
        "links": [{"source": evil, "target": '"', "w`": 1}],
    }
    name = write(tmp_path, json.dumps(data), "g.json")
    options = ("--uri", backend.uri, "--label", "N`:X", "--rel", "R`]->()//", "--key", "id` //")
    answer = inside("load", name, *options, "--weight", "w`")
    assert answer.code == 0, answer
    view = View(("N`:X",), ("R`]->()//",), key="id` //", weight="w`")
    found = stored(backend, [evil], view)
    assert found == {evil: {"id` //": evil, "p`} //": "'; DROP TABLE node; --"}}
    with backend.open() as store:
        assert (store.count_nodes(view), store.count_relationships(view)) == (2, 1)


@on_sqlite
def test_a_name_that_cannot_be_one(inside: InProcess, backend: Backend) -> None:
    before = backend.dump()
    answer = inside("load", "grid:2x2", "--uri", backend.uri, "--label", "a\\b", "--rel", "R")
    assert "label" in answer.failed_with_one_line()
    assert backend.dump() == before


@on_sqlite
def test_usage_errors_have_exit_code_2(inside: InProcess, backend: Backend) -> None:
    assert inside("load", "grid:2x2", "--uri", backend.uri).code == 2
    assert inside("load", "--label", "N", "--rel", "R").code == 2


def test_the_command_it_proposes_is_happy(inside: InProcess, load: Load) -> None:
    proposed = load("ba:n=200,m=2", "--json").json["next"]
    answer = inside(*proposed.split()[1:])
    assert answer.code == 0, answer


@pytest.mark.parametrize("backend", [NEO4J], indirect=True)
def test_old_nodes_that_break_the_key(backend: Backend, inside: InProcess) -> None:
    assert isinstance(backend, Neo4jBackend)
    backend.run("UNWIND [1, 1, 2] AS i CREATE (:M {id: i})")
    before = backend.dump()
    answer = inside("load", "grid:2x2", "--uri", backend.uri, "--label", "M", "--rel", "R")
    assert "id" in answer.failed_with_one_line()
    assert backend.dump() == before


# Tables


def town(folder: Path) -> list[str]:
    """The options that load people, places and visits."""
    write(folder, "id:ID(Person),name,born:date\n1,Ann,1990-01-02\n2,Bob,\n", "people.csv")
    write(folder, "pid:ID(Place),:LABEL\n1,Place;Shop\n", "places.csv")
    visits = ":START_ID(Person),:END_ID(Place),hours:float\n1,1,2\n1,1,3\n2,1,1\n2,1,1\n"
    write(folder, visits, "visits.csv")
    tables = ("--nodes", "Person=people.csv", "--nodes", "places.csv")
    return [*tables, "--edges", "VISITS=visits.csv"]


def test_tables_of_several_labels(backend: Backend, inside: InProcess, tmp_path: Path) -> None:
    tables = town(tmp_path)
    answer = inside("load", "--uri", backend.uri, *tables)
    assert answer.code == 0, answer
    assert "3 nodes and 3 relationships created" in answer.out
    assert "(:Person)-[:VISITS]->(:Place)" in answer.out
    assert "Left out: 1 repeated edge." in answer.out
    assert "Note: the values of born:date of people.csv are kept as text." in answer.out
    path = "'(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)'"
    assert f"--label Person --path {path} --key id" in answer.out.splitlines()[-1]
    with backend.open() as store:
        assert store.count_relationships(View(("Person",), ("VISITS",))) == 3
        assert store.count_nodes(View(("Shop",), ("VISITS",))) == 1
    before = backend.dump()
    again = inside("load", "--uri", backend.uri, *tables, "--json").json
    assert (again["changed"], again["repeated"]) == (False, 1)
    assert again["keys"] == {"Person": "id", "Place": "pid"}
    assert backend.dump() == before


@on_sqlite
def test_a_table_with_a_bad_line_writes_nothing(
    inside: InProcess, backend: Backend, tmp_path: Path
) -> None:
    tables = town(tmp_path)
    write(tmp_path, ":START_ID(Person),:END_ID(Place)\n1,1\n7,1\n", "visits.csv")
    answer = inside("load", "--uri", backend.uri, *tables)
    assert answer.code == 1
    assert "malformed: visits.csv, line 3: no node has the id '7'" in answer.err
    assert "--skip-bad" in answer.err
    assert not (tmp_path / "graph.db").exists()
    left = inside("load", "--uri", backend.uri, *tables, "--skip-bad")
    assert "Left out: 1 malformed line." in left.out


@on_sqlite
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("id:ID,name,:LABEL\n1,Ann,P\n", "is a table of nodes, not of edges"),
        (":START_ID(A),:END_ID(B)\n1,1\n", "has ends of two groups of ids"),
        ("id,name,age\n1,Ann,3\n2,Bob,4\n", "looks like a table of nodes"),
    ],
)
def test_a_table_is_not_taken_for_an_edge_list(
    load: Load, tmp_path: Path, text: str, why: str
) -> None:
    answer = load(write(tmp_path, text))
    assert why in answer.err
    assert "--nodes" in answer.err
    assert answer.code == 1


@on_sqlite
def test_who_says_that_these_are_edges_is_believed(load: Load, tmp_path: Path) -> None:
    name = write(tmp_path, "id,name\n1,Ann\n2,Bob\n")
    assert load(name, "--header", "--json").json["relationships"] == 2
    one_group = write(tmp_path, "x:START_ID(A),w:END_ID(A)\n1,2\n", "one.csv")
    assert load(one_group, "--json").json["relationships_created"] == 1


@on_sqlite
@pytest.mark.parametrize(
    "options",
    [
        ["grid:2x2", "--nodes", "N=n.csv"],
        ["--nodes", "N=n.csv", "--weight", "w"],
        ["--nodes", "N=n.csv", "--directed"],
        ["--nodes", "N=n.csv", "--no-header"],
    ],
)
def test_what_tables_do_not_go_with(
    inside: InProcess, backend: Backend, options: list[str]
) -> None:
    answer = inside("load", "--uri", backend.uri, *options)
    assert answer.code == 2
    assert "cannot be combined with --nodes and --edges" in answer.err


# How it goes on


@pytest.mark.slow
@on_sqlite
def test_a_terminal_gets_a_bar_with_a_rate(backend: Backend, graphbo: Graphbo) -> None:
    answer = graphbo(
        *("load", "ba:n=3000,m=3", "--uri", backend.uri, "--label", "N", "--rel", "R"),
        environment={"FORCE_COLOR": "1"},
    )
    assert answer.code == 0, answer
    assert "relationships/s" in answer.err
    assert "100%" in answer.err
    assert answer.out.startswith("Loaded ")


@on_sqlite
def test_a_pipe_gets_a_line_now_and_then(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write(tmp_path, "".join(f"{i},{i + 1}\n" for i in range(12_000)))
    assert len(load(name).err.splitlines()) == 1
    monkeypatch.setattr("graphbo.cli.load._SECONDS_BETWEEN", 0.0)
    answer = load(name)
    lines = answer.err.splitlines()[1:]
    assert lines[-1].startswith("relationships: 100%, ")
    assert any(line.startswith("reading: ") for line in lines)
    assert len(load(name, "--json").err.splitlines()) == 1


@on_sqlite
@pytest.mark.slow
def test_an_interrupted_load_is_completed_by_the_next(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write(tmp_path, "".join(f"{i},{i + 1}\n" for i in range(25_000)))
    original = SqliteStore.write_relationships
    calls: list[int] = []

    def interrupted(self: SqliteStore, view: View, edges: list[EdgeRow]) -> WriteCounts:
        calls.append(len(edges))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(self, view, edges)

    monkeypatch.setattr(SqliteStore, "write_relationships", interrupted)
    answer = load(name)
    assert answer.code == 130
    assert "the same command again completes it" in answer.err
    found = load(name, "--json").json
    assert (found["relationships"], found["relationships_created"]) == (25_000, 5_000)


@pytest.mark.parametrize("backend", [NEO4J], indirect=True)
def test_no_password_is_ever_printed(backend: Backend, inside: InProcess) -> None:
    assert isinstance(backend, Neo4jBackend)
    address = backend.address
    uri = backend.uri.replace("://", f"://{address.username}:{address.password}@")
    answer = inside("load", "grid:2x2", "--uri", uri, "--label", "N", "--rel", "R", "--json")
    assert answer.code == 0, answer
    assert address.password
    assert address.password not in answer.out + answer.err
