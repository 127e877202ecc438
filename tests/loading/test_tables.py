"""Tables of nodes and of edges, and what they become in a database."""

import gzip
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphbo.errors import InvalidName, SourceError
from graphbo.loading.property_graph import TablesReport, load_tables
from graphbo.loading.tables import Kind, Tables, TableSpec
from graphbo.stores import GraphStore, WriteCounts
from graphbo.types import View

PEOPLE = """id:ID(Person),name,age:int,tags:string[],:LABEL
1,Ann,33,a;b,Person;Nurse
2,"Bob, Jr.",,,Person
3,Cy,7,,Person
"""
PLACES = """pid:ID(Place),size:float
1,7
2,9.5
"""
VISITS = """:START_ID(Person),:END_ID(Place),hours:float,on
1,1,2.5,mon
1,1,2.5,tue
2,1,1,mon
3,2,1,mon
3,2,1,mon
"""

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a table; its path."""

    def write(name: str, text: str) -> str:
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return str(tmp_path / name)

    return write


@pytest.fixture
def town(write: Write) -> dict[str, Any]:
    """What opens three tables."""
    return {
        "nodes": [
            TableSpec((), (write("people.csv", PEOPLE),)),
            TableSpec(("Place",), (write("places.csv.gz", PLACES),)),
        ],
        "edges": [TableSpec(("VISITS",), (write("visits.csv", VISITS),))],
    }


def opened(nodes: Sequence[str], edges: Sequence[str] = (), **rest: Any) -> Tables:
    return Tables(
        [TableSpec.parse(one) for one in nodes], [TableSpec.parse(one) for one in edges], **rest
    )


def load(store: GraphStore, tables: Tables, **rest: Any) -> TablesReport:
    with tables:
        return load_tables(store, tables, **rest)


PERSON = View(("Person",), ("VISITS",), key="id")
NURSE = View(("Nurse",), ("VISITS",))
PLACE = View(("Place",), ("VISITS",), key="pid")


@pytest.mark.parametrize("batch", [1, 2, 20_000])
def test_a_town(store: GraphStore, town: dict[str, Any], batch: int) -> None:
    report = load(store, Tables(**town), batch=batch)
    assert (report.counts.nodes_created, report.counts.relationships_created) == (5, 4)
    assert (report.survey.edges, report.survey.repeated) == (5, 1)
    assert report.survey.kinds == (Kind("Person", "id"), Kind("Place", "pid"))
    assert store.properties(PERSON, [1, 2]) == {
        1: {"id": 1, "name": "Ann", "age": 33, "tags": ["a", "b"]},
        2: {"id": 2, "name": "Bob, Jr."},
    }
    assert store.properties(PLACE, [2]) == {2: {"pid": 2, "size": 9.5}}
    assert [store.count_nodes(view) for view in (PERSON, NURSE, PLACE)] == [3, 1, 2]
    assert store.count_relationships(PERSON) == 4
    assert store.check_key(PERSON).constrained
    assert store.check_key(PLACE).constrained
    assert not load(store, Tables(**town), batch=batch).changed


def test_the_example_of_neo4j_with_one_group_for_all(store: GraphStore, write: Write) -> None:
    tables = opened(
        [
            write(
                "movies.csv",
                'movieId:ID,title,year:int,:LABEL\nt1,"The ""Matrix""",1999,Movie\n2,More,2003,Movie;Sequel\n',
            ),
            write("actors.csv", "personId:ID,name,:LABEL\nkeanu,Keanu,Actor\n7,Carrie,Actor\n"),
        ],
        [
            write(
                "roles.csv",
                ":START_ID,role,:END_ID,:TYPE\nkeanu,Neo,t1,ACTED_IN\n7,Trinity,2,ACTED_IN\n7,,keanu,KNOWS\n",
            )
        ],
    )
    report = load(store, tables)
    movie = View(("Movie",), ("ACTED_IN",), key="movieId")
    # Keys are integers where all those of a kind look it.
    assert store.properties(movie, ["t1", "2"])["t1"]["title"] == 'The "Matrix"'
    assert store.count_nodes(View(("Sequel",), ("ACTED_IN",))) == 1
    assert store.count_relationships(movie) == 2
    assert set(report.survey.types) == {"ACTED_IN", "KNOWS"}


def test_a_header_in_a_file_of_its_own(store: GraphStore, write: Write) -> None:
    head = write("head.csv", "id:ID\tx:int\n")
    one, two = write("one.tsv", "1\t1\n2\t2\n"), write("two.tsv", "3\t3\n")
    report = load(store, opened([f"N={head},{one},{two}"]))
    assert report.counts.nodes_created == 3
    assert store.properties(View(("N",), ("R",), key="id"), [3]) == {3: {"id": 3, "x": 3}}


def test_a_table_may_leave_labels_type_and_key_to_whoever_loads_it(
    store: GraphStore, write: Write
) -> None:
    tables = opened(
        [write("n.csv", ":ID\n1\n2\n")],
        [write("e.csv", ":START_ID,:END_ID\n1,2\n2,2\n")],
        labels=("N",),
        type="R",
        key="no",
    )
    load(store, tables)
    view = View(("N",), ("R",), key="no")
    assert store.properties(view, [2]) == {2: {"no": 2}}
    assert store.count_relationships(view) == 2


def test_ids_stay_text_where_the_header_says_so(store: GraphStore, write: Write) -> None:
    load(store, opened([f"N={write('n.csv', 'id:ID{id-type:string}' + chr(10) + '1')}"]))
    assert store.properties(View(("N",), ("R",), key="id"), ["1"]) == {"1": {"id": "1"}}


def test_replacing_deletes_what_has_the_labels(store: GraphStore, town: dict[str, Any]) -> None:
    store.create_key(PERSON)
    store.write_nodes(PERSON, [(99, {})])
    assert load(store, Tables(**town), replace=True).replaced
    assert store.count_nodes(PERSON) == 3


NODES = "id:ID(A),x:int\n1,1\n2,2\n"


@pytest.mark.parametrize(
    ("nodes", "edges", "why"),
    [
        (NODES + "1,5\n", "", "n.csv, line 4: the id '1' of the group 'A' was there before: "),
        (NODES + "3,x\n", "", "n.csv, line 4: x: 'x' is not an integer"),
        (NODES + "3\n", "", "n.csv, line 4: 1 field where the header has 2"),
        (NODES + "3,1,1\n", "", "n.csv, line 4: 3 fields where the header has 2"),
        (NODES + ",1\n", "", "n.csv, line 4: an id is empty"),
        (NODES + '3,"1\n', "", "n.csv, line 4: a quote is not closed"),
        (NODES, ":START_ID(A),:END_ID(A)\n1,2\n1,7\n", "e.csv, line 3: no node has the id '7' of"),
        (NODES, ":START_ID(A),:END_ID(A),w:float\n1,2,a\n", "e.csv, line 2: w: 'a' is not a num"),
        ("id:ID(A),:LABEL\n1,\n", "", "n.csv, line 2: the node has no label"),
        ("id:ID(A),:LABEL\n1,a\\b\n", "", "n.csv, line 2: the label"),
    ],
)
def test_what_is_malformed_is_found_before_anything_is_written(
    store: GraphStore, write: Write, nodes: str, edges: str, why: str
) -> None:
    label = "" if ":LABEL" in nodes else "N="
    spec = [f"{label}{write('n.csv', nodes)}"], [f"R={write('e.csv', edges)}"] if edges else []
    before = store.names()
    with pytest.raises(SourceError) as caught:
        load(store, opened(*spec))
    assert f"/{why}" in str(caught.value)
    assert store.names() == before


def test_what_is_malformed_can_be_left_out(store: GraphStore, write: Write) -> None:
    tables = opened(
        [f"N={write('n.csv', NODES + '1,7' + chr(10) + 'x,y' + chr(10))}"],
        [f"R={write('e.csv', ':START_ID(A),:END_ID(A)' + chr(10) + '1,2' + chr(10) + '1,3')}"],
    )
    report = load(store, tables, skip_bad=True)
    assert report.survey.bad == 3
    assert report.counts == WriteCounts(2, 1, report.counts.properties_set)
    # The first of two nodes with an id is the one that counts.
    assert store.properties(View(("N",), ("R",), key="id"), [1])[1]["x"] == 1


@pytest.mark.parametrize(
    ("nodes", "edges", "why"),
    [
        (["V=e.csv"], [], "e.csv is a table of edges, not of nodes: its header has ':START_ID(A)"),
        (["N=n.csv"], ["R=n.csv"], "n.csv is a table of nodes, not of edges: its header has"),
        (["N=p.csv"], [], "p.csv has no column with ids (such as 'id:ID')"),
        (["N=n.csv"], ["R=p.csv"], "p.csv has no column :START_ID: its header has 'a', 'b'"),
        (["n.csv"], [], "n.csv has no column :LABEL"),
        (["N=n.csv"], ["e.csv"], "e.csv has no column :TYPE"),
        (["N=n.csv"], ["R:S=e.csv"], "edges have one type, not 2"),
        (["N=b.csv"], ["R=e.csv"], "e.csv: no table of nodes has the group 'A': they have 'B'"),
        (["N=n.csv", "N=b.csv"], [], "the groups 'A', 'B' share the id '1'"),
        (["N=s.csv"], [], "s.csv is separated by semicolons"),
        ([], ["R=e.csv"], "edges without nodes"),
        ([], ["R=n.csv"], "n.csv is a table of nodes, not of edges: its header has"),
        (["N=none.csv"], [], "there is no file"),
        (["N=empty.csv"], [], "empty.csv is empty"),
        (["N=head.csv"], [], "there is no node"),
    ],
)
def test_tables_that_do_not_fit(
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    nodes: list[str],
    edges: list[str],
    why: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write("n.csv", NODES)
    write("b.csv", "id:ID(B)\n1\n")
    write("e.csv", ":START_ID(A),:END_ID(A)\n1,2\n")
    write("p.csv", "a,b\n1,2\n")
    write("s.csv", "id:ID;x\n1;2\n")
    write("empty.csv", "")
    write("head.csv", "id:ID\n")
    with pytest.raises(SourceError) as caught, opened(nodes, edges) as tables:
        tables.survey()
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_groups_of_one_label_may_have_other_ids(store: GraphStore, write: Write) -> None:
    a, b = write("a.csv", "id:ID(A)\n1\n"), write("b.csv", "id:ID(B)\n2\n")
    edges = write("e.csv", ":START_ID(A),:END_ID(B)\n1,2\n")
    load(store, opened([f"N={a}", f"N={b}"], [f"R={edges}"]))
    view = View(("N",), ("R",), key="id")
    assert (store.count_nodes(view), store.count_relationships(view)) == (2, 1)


def test_a_name_that_cannot_be_one(write: Write) -> None:
    with pytest.raises(InvalidName):
        opened([f"a\\b={write('n.csv', NODES)}"])


def test_a_file_that_changes_meanwhile(store: GraphStore, write: Write) -> None:
    path = write("n.csv", NODES)
    with opened([f"N={path}"]) as tables:
        tables.survey()
        write("n.csv", NODES + "3,3\n")
        with pytest.raises(SourceError, match="changed while it was read"):
            load_tables(store, tables)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_tables(write: Write) -> None:
    peaks = []
    for count in (20_000, 40_000):
        nodes = write("n.csv", "id:ID,x:int\n" + "".join(f"{i},{i}\n" for i in range(count)))
        pairs = "".join(f"{i},{i * 7 % count},{i}\n" for i in range(count))
        edges = write("e.csv", f":START_ID,:END_ID,w:float\n{pairs}")
        tracemalloc.start()
        with opened([f"N={nodes}"], [f"R={edges}"]) as tables:
            assert tables.survey().edges == count
            assert sum(1 for _ in tables.nodes()) == sum(1 for _ in tables.edges()) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.15 * peaks[0] + 50_000
