"""``graphbo browser``, and what comes of it in a real Neo4j Browser in a headless Chromium."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from neo4j.graph import Graph

from tests.backends import Backend, Neo4jBackend
from tests.cli.runs import OPTIONS, InProcess, in_this_process, load
from tests.neo4j_browser import chromium_path, neo4j_browser
from tests.neo4j_fixture import Neo4jServer, StartedServer

RUN = ("run", *OPTIONS, "--objective", "property:score", "--name", "search", "--budget", 12)
SMALL = ("--option", "initial=4", "--option", "size=16", "--option", "egos=1")
BLUE, GOLD, GREY = "#4C8EDA", "#FFC454", "#D2D7DE"


@pytest.fixture
def in_neo4j(
    neo4j_backend: Neo4jBackend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> InProcess:
    """The command, in this process, on a Neo4j with a run in it."""
    load(neo4j_backend)
    command = in_this_process(neo4j_backend, tmp_path, monkeypatch, capsys)
    assert command(*RUN, *SMALL).code == 0
    return command


@pytest.mark.neo4j
def test_prints_a_link_and_writes_two_files(
    in_neo4j: InProcess, neo4j_backend: Neo4jBackend, tmp_path: Path
) -> None:
    before = neo4j_backend.dump()
    url = "https://neo4j.example.org/browser/"
    answer = in_neo4j("browser", "search", "-o", "new/files", "--browser-url", url)
    assert answer.code == 0, answer
    assert answer.out.startswith(f"{url}?dbms=neo4j://neo4j@")
    assert (neo4j_backend.address.password or "?") not in answer.out + answer.err
    assert "Next: graphbo annotate search --posterior" in answer.out
    folder = tmp_path / "new" / "files"
    assert {path.name for path in folder.iterdir()} == {"search.cypher", "search.grass"}
    assert "GraphboBest" in (folder / "search.grass").read_text()
    again = in_neo4j("browser", "search", "-o", "new/files", "--json").json
    assert again["files"] == ["new/files/search.cypher", "new/files/search.grass"]
    assert list(again["queries"]) == ["path", "region", "best", "pending", "why", "failed", "runs"]
    assert all(text in (folder / "search.cypher").read_text() for text in again["queries"].values())
    assert neo4j_backend.dump() == before


@pytest.mark.neo4j
def test_mistakes_are_one_line(in_neo4j: InProcess, tmp_path: Path) -> None:
    assert "there is no run 'nobody'" in in_neo4j("browser", "nobody").failed_with_one_line()
    bad = in_neo4j("browser", "search", "--browser-url", "here")
    assert "give --browser-url one like http" in bad.failed_with_one_line()
    (tmp_path / "search.cypher").write_text("MATCH (mine) RETURN mine")
    assert "is a file of yours" in in_neo4j("browser", "search").failed_with_one_line()
    assert not (tmp_path / "search.grass").exists()
    (tmp_path / "file").touch()
    line = in_neo4j("browser", "search", "-o", "file/deeper").failed_with_one_line()
    assert "cannot be written" in line


def test_the_embedded_store_has_no_browser(
    sqlite_backend: Backend, tmp_path: Path, in_process: Callable[[Backend], InProcess]
) -> None:
    line = in_process(load(sqlite_backend))("browser", "search").failed_with_one_line()
    assert "is an embedded store" in line
    assert f"`graphbo report search --uri {sqlite_backend.uri}`" in line
    assert list(tmp_path.glob("search.*")) == []


@pytest.fixture
def server(neo4j_server: Neo4jServer) -> StartedServer:
    """A server of which it is known where its Browser is, and a Chromium to look at it with."""
    if chromium_path() is None:
        pytest.skip("no Chromium: install Debian's packages chromium and fonts-dejavu")
    if not isinstance(neo4j_server, StartedServer):
        pytest.skip("where the Browser of GRAPHBO_TEST_NEO4J_URI is, is not known")
    return neo4j_server


def graph_of(backend: Neo4jBackend, query: str) -> Graph:
    """What a query draws."""
    with backend.session() as session:
        return session.run(query).graph()


@pytest.mark.neo4j
@pytest.mark.chromium
def test_browser_draws_what_the_link_promises(
    in_neo4j: InProcess, neo4j_backend: Neo4jBackend, server: StartedServer, tmp_path: Path
) -> None:
    printed = in_neo4j("browser", "search", "--json", "--credentials", server.info.credentials).json
    # Found from the directory of the server that the credentials belong to.
    assert printed["browser"] == server.info.browser_url
    expected = graph_of(neo4j_backend, printed["queries"]["path"])
    labels = Counter(label for node in expected.nodes for label in node.labels)
    assert labels["GraphboObserved"] == 12

    with neo4j_browser(chromium_path() or "") as browser:
        browser.open(printed["link"], server.password)
        browser.drop(tmp_path / "search.grass")
        browser.run()
        assert browser.nodes() == len(expected.nodes)
        colours = Counter(browser.colours())
        assert (colours[BLUE], colours[GOLD]) == (11, 1)
        steps = {caption for caption in browser.captions() if caption}
        assert steps == {str(step) for step in range(1, 13)}
        assert browser.page.get_by_text(f"Displaying {len(expected.nodes)} nodes").count()


@pytest.mark.neo4j
@pytest.mark.chromium
def test_colours_hold_with_two_runs_and_labels_of_the_users_own_on_a_node(
    in_neo4j: InProcess, neo4j_backend: Neo4jBackend, server: StartedServer, tmp_path: Path
) -> None:
    # Browser gives a rule of its own to each label that has none: one that comes before N in the alphabet, and others.
    neo4j_backend.run("MATCH (n:N) SET n:Asset")
    neo4j_backend.run("MATCH (n:N) WHERE n.id % 2 = 0 SET n:Zoned")
    assert in_neo4j(*RUN[:-4], "--name", "other", "--budget", 12, *SMALL).code == 0
    place = ("--json", "--credentials", server.info.credentials)
    printed = in_neo4j("browser", "search", "--caption", "name", *place).json
    expected = graph_of(neo4j_backend, printed["queries"]["best"])
    drawn = Counter(frozenset(node.labels) for node in expected.nodes)
    best = next(labels for labels in drawn if "GraphboBest" in labels)
    # The second run found it, too.
    assert {"N", "Asset", "Zoned", "GraphboObserved", "Graphbo2Observed"} <= best

    with neo4j_browser(chromium_path() or "") as browser:
        browser.open(printed["link"], server.password)
        browser.drop(tmp_path / "search.grass")
        # A label that has no rule gets one when it is drawn for the first time: it would show in the second picture.
        for last in (False, True):
            browser.paste(printed["queries"]["best"])
            browser.run()
            colours = Counter(browser.colours())
            observed = sum(n for labels, n in drawn.items() if "GraphboObserved" in labels)
            assert colours == {BLUE: observed - 1, GOLD: 1, GREY: len(expected.nodes) - observed}
            if not last:
                browser.close_picture()
        captions = [caption.replace(" ", "") for caption in browser.captions()]
        assert sorted(captions) == sorted(
            f"node{node['id']}{node['id']}" for node in expected.nodes
        )
