"""The server as it is started, asked by programs that are no browsers."""

import http.client
import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.backends import SqliteBackend
from tests.cli.runs import load, started
from tests.dashboard.served import begin
from tests.dashboard.test_kills import address_of

pytestmark = pytest.mark.slow

HUNDRED_MB = 100_000_000
TRAVERSALS = (
    "/static/../app.py",
    "/static/..%2f..%2fcli",
    "/../../etc/passwd",
    "//etc/passwd",
    "/static/%00",
)


@pytest.fixture
def base(sqlite_backend: SqliteBackend, tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Host and port of a dashboard, and what somebody with the token sends along."""
    load(sqlite_backend)
    begin(sqlite_backend)
    with started(sqlite_backend, tmp_path, "dashboard", "--port", 0) as process:
        address, _, token = address_of(process).partition("/#token=")
        yield (
            address.removeprefix("http://"),
            {"authorization": f"Bearer {token}", "origin": address},
        )
        assert process.poll() is None, process
        no_complaints(process)


def no_complaints(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert "Traceback" not in said
    assert "Exception" not in said


def ask(host: str, path: str, headers: dict[str, str], **request: Any) -> tuple[int, bytes]:
    """A request as it is written: nothing of its path is mended."""
    connection = http.client.HTTPConnection(host, timeout=60)
    try:
        connection.request(request.pop("method", "GET"), path, headers=headers, **request)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_strangers_and_crowds(
    base: tuple[str, dict[str, str]], sqlite_backend: SqliteBackend
) -> None:
    host, headers = base
    before = sqlite_backend.dump()
    for path in TRAVERSALS:
        status, text = ask(host, path, headers)
        assert (status, json.loads(text)["error"]) == (404, "there is nothing here"), path
    for lying in ("evil.example", f"evil.example:{host.partition(':')[2]}", "127.0.0.1:1"):
        assert ask(host, "/api/runs", {**headers, "host": lying})[0] == 421
    assert ask(host, "/api/runs", {})[0] == 401
    assert ask(host, "/api/run?name=mine", {"authorization": "Bearer x" * 1_000})[0] == 401
    large_file(host, headers)
    assert sqlite_backend.dump() == before

    with ThreadPoolExecutor(200) as crowd:
        paths = ["/api/runs", "/api/run?name=mine&rows=25", "/api/node?name=mine&key=42", "/"] * 50
        statuses = list(crowd.map(lambda path: ask(host, path, headers)[0], paths))
    assert statuses == [200] * 200


def large_file(host: str, headers: dict[str, str]) -> None:
    """A hundred megabytes are refused before they are read: whoever sends on finds nobody there."""
    sent = {**headers, "content-type": "text/csv", "content-length": str(HUNDRED_MB)}
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.putrequest("POST", "/api/sheet/tell?name=mine&person=Eve")
    for name, value in sent.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 413
    assert "too large" in json.loads(answer.read())["error"]
    connection.close()
