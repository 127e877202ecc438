"""Who is let in, and what a stranger can do: nothing. Whatever is refused has changed nothing."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from typing import Any

import pytest

from graphbo.dashboard.guard import Visitors, is_loopback, public_address
from graphbo.errors import InvalidAddress
from graphbo.runs import Run, RunSettings
from graphbo.runs.value_files import LARGEST_FILE
from tests.backends import SqliteBackend
from tests.cli.runs import load
from tests.dashboard.served import ORIGIN, Served, begin, served
from tests.seeing.support import NASTY, VIEW, load_graph

TELL = {"run": "mine", "action": "tell", "value": "7", "person": "Eve"}


@pytest.fixture
def backend(sqlite_backend: SqliteBackend) -> SqliteBackend:
    """What a stranger may do does not depend on the database: it is not asked."""
    return sqlite_backend


@pytest.fixture
def desk(backend: SqliteBackend) -> Iterator[Served]:
    load(backend)
    begin(backend)
    with served(backend) as found:
        yield found


def test_the_page_itself_is_everybodys_and_holds_nothing(desk: Served) -> None:
    for path in ("/", "/run?name=mine", "/start", "/static/dashboard.js", "/static/page.css"):
        answer = desk.client.get(path)

        assert answer.status_code == 200, path
        assert "mine" not in answer.text.replace("determine", "") or path.endswith((".js", ".css"))
        assert desk.visitors.token not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": "Bearer "},
        {"authorization": "Basic {token}"},
        {"cookie": "token={token}"},
    ],
)
@pytest.mark.parametrize("path", ["/api/runs", "/api/run?name=mine", "/api/sheet?name=mine"])
def test_without_the_token_nothing_is_shown(
    desk: Served, headers: dict[str, str], path: str
) -> None:
    given = {name: text.replace("{token}", desk.visitors.token) for name, text in headers.items()}

    answer = desk.client.get(path, headers=given)

    assert answer.status_code == 401
    assert "42" not in answer.text
    assert "token" in answer.json()["error"]


def test_the_token_in_the_address_is_not_taken(desk: Served) -> None:
    answer = desk.client.get(f"/api/runs?token={desk.visitors.token}")

    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"authorization": "Bearer wrong"}, 401),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"origin": ""}, 403),
        ({"origin": f"{ORIGIN}.evil.example"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "multipart/form-data; boundary=x"}, 415),
        ({"host": "evil.example:8765"}, 421),
        ({"host": "127.0.0.1:8765.evil.example"}, 421),
        ({"host": "localhost.evil.example:8765"}, 421),
        ({"host": "127.0.0.1"}, 421),
        ({"host": "127.0.0.1:8765@evil.example"}, 421),
        ({"host": ""}, 421),
    ],
)
def test_a_forged_form_changes_nothing(
    desk: Served, backend: SqliteBackend, changed: dict[str, str], status: int
) -> None:
    before = backend.dump()

    answer = desk.client.post(
        "/api/act",
        content=json.dumps({**TELL, "step": 1}),
        headers={**desk.headers, "content-type": "application/json", **changed},
    )

    assert answer.status_code == status
    assert len(answer.json()["error"].splitlines()) == 1
    assert backend.dump() == before


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(desk: Served, method: str) -> None:
    assert desk.client.request(method, "/api/runs", headers=desk.headers).status_code == 405


def test_no_other_site_may_read_an_answer(desk: Served) -> None:
    answer = desk.client.get(
        "/api/runs", headers={**desk.headers, "origin": "https://evil.example"}
    )

    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/", "/api/runs", "/static/dashboard.js", "/nothing"])
def test_every_answer_says_what_a_page_may_do(desk: Served, path: str) -> None:
    answer = desk.client.get(path, headers=desk.headers)

    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"
    assert "set-cookie" not in answer.headers
    assert "server" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/static//etc/passwd",
        "/static/dashboard.html",
        "/etc/passwd",
    ],
)
def test_no_other_file_is_served(desk: Served, path: str) -> None:
    answer = desk.client.get(path, headers=desk.headers)

    assert answer.status_code == 404
    assert answer.json()["error"] == "there is nothing here"


@pytest.mark.parametrize("path", ["/api/sheet/look", "/api/sheet/tell"])
def test_an_upload_of_100_mb_is_refused_before_it_is_read(
    desk: Served, backend: SqliteBackend, path: str
) -> None:
    before = backend.dump()

    answer = desk.client.post(
        f"{path}?name=mine",
        content=b"",
        headers={**desk.headers, "content-type": "text/csv", "content-length": "100000000"},
    )

    assert answer.status_code == 413
    assert backend.dump() == before


def test_an_upload_that_does_not_say_how_large_it_is_is_cut_off(desk: Served) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < 5 * LARGEST_FILE:
            sent += 1_000_000
            yield b"x" * 1_000_000

    answer = desk.client.post(
        "/api/sheet/look?name=mine",
        content=endless(),
        headers={**desk.headers, "content-type": "text/csv"},
    )

    assert answer.status_code == 413


def test_a_form_that_is_too_large_is_refused(desk: Served) -> None:
    desk.post("/api/act", {**TELL, "note": "x" * 300_000}, 413)


@pytest.mark.parametrize("text", ["", "[]", "7", "{", '"tell"', "[" * 50_000, '{"action": 7}'])
def test_what_is_no_form_is_refused(desk: Served, backend: SqliteBackend, text: str) -> None:
    before = backend.dump()

    answer = desk.client.post(
        "/api/act", content=text, headers={**desk.headers, "content-type": "application/json"}
    )

    assert answer.status_code in (400, 409)
    assert "Traceback" not in answer.text
    assert backend.dump() == before


def test_whoever_only_looks_changes_nothing(backend: SqliteBackend) -> None:
    load(backend)
    begin(backend, told=2)
    before = backend.dump()
    with served(backend, read_only=True) as desk:
        said = desk.act("tell", 403, step=1, value="7")
        desk.post("/api/start", {"name": "other"}, 403)
        desk.client.post("/api/sheet/tell?name=mine", headers=desk.headers)
        page = desk.get("/api/run", name="mine", rows="25")
        panel = desk.get("/api/node", name="mine", key="42")
        desk.post("/api/examine", {"label": "N", "rel": "R"})

    assert "for looking only" in said
    assert "<form" not in json.dumps(page)
    assert "<form" not in json.dumps(panel)
    assert backend.dump() == before


class _Elements(HTMLParser):
    """The elements and attributes of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, Any]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def _html_in(page: dict[str, Any]) -> Iterator[str]:
    yield from page.get("parts", {}).values()
    yield from (one["html"] for one in page.get("cards", ()))
    yield page.get("html", "")


@pytest.mark.parametrize("nasty", NASTY)
def test_whatever_people_named_is_text(backend: SqliteBackend, nasty: str) -> None:
    keys = {node: f"{nasty}{node}" for node in range(62)}
    name = "".join(one for one in nasty if one.isprintable())[:150]
    with backend.open() as store:
        load_graph(store, keys)
        run = Run.create(
            store, VIEW, name, RunSettings(caption="label", objective="x"), worker=nasty[:60]
        )
        taken = run.ask_many(4).pending
        run.tell(1.0, step=taken[0].step, note=nasty)
        run.tell(None, step=taken[1].step, error=nasty)
        run.note(nasty, step=taken[2].step)
        run.exclude([taken[3].key], reason=nasty)
    with served(backend) as desk:
        pages = [
            desk.get("/api/runs"),
            desk.get("/api/run", name=name, rows="25"),
            *(desk.get("/api/node", name=name, key=json.dumps(one.key)) for one in taken),
        ]
        figures = desk.get("/api/figures", name=name)

    for html in (text for page in pages for text in _html_in(page)):
        elements = _Elements(html)
        tags = {tag for tag, _ in elements.found}
        assert not tags & {"script", "img", "style", "iframe", "object", "b"}, html
        assert not [name for _, given in elements.found for name in given if name.startswith("on")]
        assert all((given.get("href") or "/").startswith("/") for _, given in elements.found)
    assert any(
        nasty[:20].strip() in _Elements(text).text for page in pages for text in _html_in(page)
    )
    assert figures["map"] is not None


# Addresses


@pytest.mark.parametrize(
    ("host", "sent", "fine"),
    [
        ("127.0.0.1", "127.0.0.1:8765", True),
        ("127.0.0.1", "localhost:8765", True),
        ("127.0.0.1", "LOCALHOST:8765", True),
        ("::1", "[::1]:8765", True),
        ("127.0.0.1", "192.168.0.7:8765", False),
        ("127.0.0.1", "rebound.example:8765", False),
        ("0.0.0.0", "192.168.0.7:8765", True),
        ("0.0.0.0", "rebound.example:8765", False),
        ("lab.example.org", "lab.example.org:8765", True),
        ("127.0.0.1", "127.0.0.1:8765/x", False),
        ("127.0.0.1", "[", False),
    ],
)
def test_to_whom_a_request_is_addressed(host: str, sent: str, fine: bool) -> None:
    assert Visitors(host, 8765).is_addressed(sent) is fine


def test_behind_a_proxy_its_address_counts() -> None:
    visitors = Visitors("127.0.0.1", 8765, "https://lab.example.org")

    assert visitors.is_addressed("lab.example.org")
    assert visitors.is_own("https://lab.example.org", "lab.example.org")
    assert not visitors.is_own("http://lab.example.org.evil.example", "lab.example.org")
    assert visitors.url.startswith("https://lab.example.org/#token=")


def test_the_token_is_not_in_what_is_printed_of_it() -> None:
    visitors = Visitors("127.0.0.1", 8765)

    assert visitors.token not in repr(visitors)
    assert visitors.url == f"http://127.0.0.1:8765/#token={visitors.token}"
    assert len({Visitors("127.0.0.1", 1).token for _ in range(50)}) == 50


@pytest.mark.parametrize(
    "text",
    ["lab", "ftp://lab", "https://", "https://a@lab", "https://lab/x", "https://lab:x", "https://lab?q", "http://["],
)  # fmt: skip
def test_what_is_no_address_of_a_proxy(text: str) -> None:
    with pytest.raises(InvalidAddress, match="https://HOST"):
        public_address(text)


def test_addresses_of_this_machine() -> None:
    assert [is_loopback(one) for one in ("127.0.0.1", "127.9.9.9", "::1", "localhost")] == [
        True
    ] * 4
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.0.7", "lab.example.org")))


# Many at once


def test_200_requests_at_once_are_served(desk: Served) -> None:
    together = threading.Barrier(50, timeout=60)

    def ask(number: int) -> int:
        if number < 50:
            together.wait()
        path = ("/api/runs", "/api/run", "/api/node", "/")[number % 4]
        query = {"name": "mine", "key": "42", "rows": "25"}
        return desk.client.get(path, params=query, headers=desk.headers).status_code

    with ThreadPoolExecutor(50) as threads:
        codes = list(threads.map(ask, range(200)))

    assert codes == [200] * 200
