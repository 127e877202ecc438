"""Links, saved queries, style sheets and file names for Neo4j Browser: nothing in a name can break out of them."""

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from graphbo.errors import InvalidAddress
from graphbo.runs import Run, RunSettings
from graphbo.runs.records import RunRecord, UnreadableRun
from graphbo.seeing.browser import (
    browser_url,
    cypher_file,
    grass_file,
    labels_of,
    link,
    saved_queries,
)
from graphbo.stores import Address, address_from
from graphbo.stores.neo4j.server.home import Home, State
from graphbo.types import View
from graphbo.types.notation import read_path
from tests.backends import Neo4jBackend

RECORD = RunRecord("summit", True, View(("Cell",), ("NEXT_TO",), key="id"), {}, 0, "graphbo")
LOCAL = Address("neo4j://127.0.0.1:7687", "neo4j")

#: Names that try to leave the place where they are put.
HOSTILE = [
    '"}) DETACH DELETE (n',
    "'; MATCH (n) DETACH DELETE n; //",
    "a\nMATCH (n) DETACH DELETE n //",
    "a\u2028b\u0085c\rd",
    "$run {{labels}} {{nonsense}}",
    "a&cmd=play&arg=b#c",
    "100 % \uff05 + ?arg=x",
    "日本 😀",
    "..",
    "`",
]


def decoded(url: str, name: str) -> str:
    """A part of a link as Neo4j Browser reads it: it decodes everything first, and then looks for the part."""
    found = re.search(rf"[?&]{name}=([^&#]*)", unquote(url.replace("+", " ")))
    assert found is not None
    return found[1]


@pytest.mark.parametrize("name", ["summit", *HOSTILE])
def test_a_link_holds_the_whole_query(name: str) -> None:
    (query, *_) = saved_queries(replace(RECORD, name=name))
    url = link("http://127.0.0.1:7474/browser/", LOCAL, query.text)
    assert re.fullmatch(r"[!-~]+", url)
    assert decoded(url, "cmd") == "edit"
    assert decoded(url, "dbms") == "neo4j://neo4j@127.0.0.1:7687"
    read = decoded(url, "arg").replace(r"\u0026", "&").replace(r"\u0023", "#")
    assert read == query.text


def test_a_link_has_no_password() -> None:
    address = address_from("neo4j+ssc://ann:secret99@db.example.org", environment={})
    url = link("https://db.example.org:7473/browser/", address, "RETURN 1")
    assert "secret99" not in url
    assert decoded(url, "dbms") == "neo4j+s://ann@db.example.org:7687"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_stays_inside_its_quotes_and_comments(name: str) -> None:
    record = replace(RECORD, name=name)
    text = cypher_file(record, saved_queries(record))
    plain = cypher_file(RECORD, saved_queries(RECORD))
    assert len(re.split(r"[\n\r\u0085\u2028\u2029]", text)) == len(plain.splitlines()) + 1
    # Without its strings the file is the same, whatever the run is called.
    string = re.compile(r'"(?:[^"\\]|\\.)*"')
    assert string.sub("", text) == string.sub("", plain)


def test_who_looks_at_what_waits_is_told_how_to_answer() -> None:
    record = replace(RECORD, prefix="ours")
    (line,) = (
        one
        for one in cypher_file(record, saved_queries(record)).splitlines()
        if "oursAnswer" in one
    )
    assert line.startswith('//   MATCH (:GraphboRun {name: "summit"})-[:GRAPHBO_PENDING]->(n) ')
    assert line.endswith('WHERE n.`id` = "KEY" SET n.`oursAnswer` = 3.5')
    # A name that would end the comment is not put into it.
    record = replace(record, view=replace(RECORD.view, key="a\nb"))
    assert "SET" not in cypher_file(record, saved_queries(record))


@pytest.mark.neo4j
@pytest.mark.parametrize(
    "name", ["summit", "".join(filter(str.isprintable, "".join(HOSTILE)))], ids=["plain", "hostile"]
)
def test_every_query_runs_and_finds_its_run(neo4j_backend: Neo4jBackend, name: str) -> None:
    label, kind = f"L {name}", f"R {name}"
    view = View((label,), (kind,), key="id")
    with neo4j_backend.open() as store:
        store.create_key(view)
        store.write_nodes(view, [(key, {}) for key in range(4)])
        store.write_relationships(view, [(key, key + 1, {}) for key in range(3)])
        run = Run.create(store, view, name, RunSettings(strategy="random"))
        for _ in range(2):
            pending = run.ask().pending
            assert pending is not None
            run.tell(float(pending.step), step=pending.step)
        failed = run.ask().pending
        assert failed is not None
        run.tell(None, step=failed.step, error="no")
        run.ask()
        record = run.record
    found = {}
    for query in saved_queries(record):
        opened = decoded(link("http://h/", LOCAL, query.text), "arg")
        with neo4j_backend.session() as session:
            graph = session.run(opened).graph()
        found[query.name] = {node["id"] for node in graph.nodes if label in node.labels}
    assert {len(found[name]) for name in ("path", "best")} <= {2, 3, 4}
    assert "connectors" not in found
    assert len(found["failed"]) == 1
    assert len(found["runs"]) == 2
    assert found["pending"]
    assert found["region"] == set()


def test_styles_go_from_the_many_to_the_one() -> None:
    view = View(("My Cell", 'a."b"', "{"), ("NEXT TO",), key="id")
    rules = json.loads(grass_file(replace(RECORD, view=view, prefix="hill")))
    selectors = list(rules)
    assert selectors[:5] == ["node", "relationship", "node.My Cell", 'node.a\\."b"', "node.{"]
    ours = ["Region", "Observed", "Pending", "Best"]
    assert [s for s in selectors if "Hill" in s] == [f"node.Hill{what}" for what in ours]
    assert rules["node.HillObserved"]["caption"] == "{hillStep}"
    colours = [rules[f"node.Hill{what}"]["color"] for what in ours]
    assert len(set(colours)) == len(colours)


def test_every_label_has_a_rule_before_those_of_the_run() -> None:
    other = replace(RECORD, name="other", prefix="hill")
    damaged = UnreadableRun("damaged", "no longer")
    labels = labels_of(["Cell", "Vip", "A.B"], [RECORD, other, damaged])
    rules = json.loads(grass_file(RECORD, labels))
    selectors = [selector for selector in rules if selector.startswith("node.")]
    first = ["node.A\\.B", "node.HillBest", "node.HillObserved", "node.HillPending"]
    assert selectors == [
        *first,
        "node.HillRegion",
        "node.Vip",
        "node.Cell",
        *(f"node.Graphbo{what}" for what in ("Region", "Observed", "Pending", "Best", "Run")),
    ]
    # Without one of these Browser makes a rule of its own, which comes last.
    for selector in selectors:
        assert {"color", "caption", "diameter"} <= rules[selector].keys()


def test_connectors_are_small_and_of_another_grey() -> None:
    view = View(("Person", "Place"), ("VISITS",), key="id", candidates=("Person",))
    rules = json.loads(grass_file(replace(RECORD, view=view), ["Place", "Thing"], caption="name"))
    person, place = rules["node.Person"], rules["node.Place"]
    assert rules["node.Thing"] == place
    assert place["color"] != person["color"]
    assert int(place["diameter"].removesuffix("px")) < int(person["diameter"].removesuffix("px"))
    captions = {rule["caption"] for name, rule in rules.items() if name.startswith("node.")}
    assert captions == {"{name} {id}", "{name}"}
    assert list(rules).index("node.Place") < list(rules).index("node.Person")


def test_a_region_is_drawn_with_the_connectors_that_hold_it_together() -> None:
    view = View(("Person", "Place"), ("VISITS",), key="id", candidates=("Person",))
    (region,) = (one for one in saved_queries(replace(RECORD, view=view)) if one.name == "region")
    assert "OR NOT coalesce((m:`Person`), false))" in region.text
    (plain,) = (one for one in saved_queries(RECORD) if one.name == "region")
    assert "coalesce" not in plain.text


@pytest.mark.neo4j
def test_connectors_between_measured_nodes_are_found_and_hubs_are_not(
    neo4j_backend: Neo4jBackend,
) -> None:
    visits = read_path("(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)")
    view = View((), paths=(visits,), key="id", hub_limit=3)
    met = View(("Person",), ("MET",), key="id")
    with neo4j_backend.open() as store:
        store.create_key(met)
        store.write_nodes(met, [(key, {}) for key in range(6)])
        store.write_relationships(met, [(0, 5, {})])
        neo4j_backend.run(
            "UNWIND [[0, 'a'], [1, 'a'], [2, 'b'], [3, 'b'], [5, 'c']] + [x IN range(0, 5) | [x, 'hub']] AS v "
            "MATCH (p:Person {id: v[0]}) MERGE (q:Place {name: v[1]}) MERGE (p)-[:VISITS]->(q)"
        )
        run = Run.create(store, met, "people", RunSettings(strategy="random"))
        for _ in range(6):
            pending = run.ask().pending
            assert pending is not None
            run.tell(float(pending.key), step=pending.step)
        record = replace(run.record, view=view)
    drawn = {}
    for query in saved_queries(record):
        with neo4j_backend.session() as session:
            graph = session.run(query.text).graph()
        drawn[query.name] = {node["name"] for node in graph.nodes if "Place" in node.labels}
    assert drawn["connectors"] == drawn["best"] == {"a", "b"}


# Where Browser is


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("neo4j://db.example.org", "http://db.example.org:7474/browser/"),
        ("bolt://db.example.org:9999", "http://db.example.org:7474/browser/"),
        ("neo4j+s://db.example.org", "https://db.example.org:7473/browser/"),
        ("bolt://[::1]:7687", "http://[::1]:7474/browser/"),
        ("neo4j+s://ab12cd34.databases.neo4j.io", None),
    ],
)
def test_where_browser_is(uri: str, expected: str | None, tmp_path: Path) -> None:
    assert browser_url(address_from(uri, environment={}), [tmp_path]) == expected


def test_where_the_browser_of_a_local_server_is(tmp_path: Path) -> None:
    other, damaged, mine = tmp_path / "other", tmp_path / "damaged", tmp_path / "mine"
    for path in (other, damaged, mine):
        path.mkdir()
    Home(other).save(State("2026.08.1", 7000, 8000, pid=1))
    (damaged / "server.json").write_text("[]")
    (tmp_path / "stopped").mkdir()
    Home(tmp_path / "stopped").save(State("2026.08.1", 7001, 9999))
    Home(mine).save(State("2026.08.1", 7001, 8001, pid=2))
    homes = [tmp_path / "nothing", other, damaged, tmp_path / "stopped", mine]
    local = browser_url(address_from("bolt://localhost:7001", environment={}), homes)
    assert local == "http://127.0.0.1:8001/browser/"
    elsewhere = browser_url(address_from("bolt://db.example.org:7001", environment={}), homes)
    assert elsewhere == "http://db.example.org:7474/browser/"


def test_a_given_address_wins() -> None:
    for given in ("http://h:1/browser/", "https://h/tools/browser"):
        assert browser_url(LOCAL, [], given) == given
    assert browser_url(LOCAL, [], "http://h:1/") == "http://h:1/browser/"
    for bad in (
        "h:7474",
        "ftp://h/",
        "http://",
        "http://u:p@h/",
        "http://h/?a=b",
        "http://h/a b",
        "http://[",
        "",
    ):
        with pytest.raises(InvalidAddress, match="Neo4j Browser is not that of a page"):
            browser_url(LOCAL, [], bad)
