"""http://… and https://…, against a real server."""

import base64
import datetime
import http.server
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import format_datetime

import pytest

from graphbo.errors import InvalidObjective
from graphbo.objectives import Node, Objective, evaluate, parse_objective


@dataclass
class Answer:
    body: bytes = b"1"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hang_up: bool = False


@dataclass
class Service:
    """A server that gives the answers it was told to, the last one for ever, and keeps the questions."""

    port: int = 0
    answers: list[Answer] = field(default_factory=lambda: [Answer()])
    questions: list[dict[str, object]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/score"

    def next_answer(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def handler(service: Service) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            service.questions.append(json.loads(body))
            service.headers.append(dict(self.headers))
            answer = service.next_answer()
            if answer.hang_up:
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            for byte in answer.body:
                self.wfile.write(bytes([byte]))
                if answer.delay and service.stop.wait(answer.delay):
                    return

        do_GET = do_POST

        def log_request(self, code: object = "-", size: object = "-") -> None:
            pass

    return Handler


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setattr("graphbo.objectives.base.FIRST_PAUSE", 0.01)
    service = Service()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(service)) as server:
        service.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield service
        service.stop.set()
        server.shutdown()
        thread.join()


def error_of(objective: Objective) -> str:
    error = evaluate(objective, Node("a")).error
    assert error is not None
    assert "\n" not in error
    return error


def test_the_node_is_posted(service: Service) -> None:
    service.answers = [Answer(b" 2.5\n")]
    objective = parse_objective(service.url)
    assert objective.needs_properties
    assert objective(Node("ä", {"x": [1]})) == 2.5
    assert service.questions == [{"key": "ä", "properties": {"x": [1]}}]
    assert service.headers[0]["Content-Type"] == "application/json"
    assert service.headers[0]["User-Agent"].startswith("graphbo/")
    assert "Authorization" not in service.headers[0]


def test_an_object_with_a_value(service: Service) -> None:
    service.answers = [Answer(b'{"value": -3, "unit": "ms"}')]
    assert parse_objective(service.url, timeout=10)(Node(1)) == -3.0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "answers '': expected JSON"),
        (b"<html>hello", "answers '<html>hello': expected JSON"),
        (b"\xff\xfe", "expected JSON"),
        (b"{}", 'an object without a "value"'),
        (b"null", "there is no value"),
        (b"true", "the value is True"),
        (b"[1]", "the value is [1]"),
        (b'{"value": {"value": 1}}', "the value is {'value': 1}"),
        (b"NaN", "the value is nan"),
        (b"Infinity", "the value is inf"),
        (b"1e999", "the value is inf"),
        (b'"high"', "'high' is not a number"),
        (b"[" * 100_000, "expected JSON"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_answers_that_are_no_numbers(service: Service, body: bytes, message: str) -> None:
    service.answers = [Answer(body)]
    error = error_of(parse_objective(service.url))
    assert error.startswith(service.url)
    assert message in error


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_a_service_in_trouble_is_asked_again(service: Service, status: int) -> None:
    service.answers = [Answer(status=status), Answer(hang_up=True), Answer(b"4")]
    evaluation = evaluate(parse_objective(service.url, retries=2), Node(1))
    assert (evaluation.value, evaluation.attempts) == (4.0, 3)


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_question_it_does_not_understand_is_not_repeated(service: Service, status: int) -> None:
    service.answers = [Answer(b"unknown node\ndetails", status)]
    error = error_of(parse_objective(service.url, retries=5))
    assert f"answers {status}" in error
    assert error.endswith(": unknown node")
    assert len(service.questions) == 1


@pytest.mark.parametrize("status", [408, 425, 500, 502, 504])
def test_what_may_have_been_paid_for_is_asked_once(service: Service, status: int) -> None:
    service.answers = [Answer(b"", status), Answer(b"4")]
    assert f"answers {status}" in error_of(parse_objective(service.url))
    assert len(service.questions) == 1


def test_a_connection_that_ends_may_have_been_paid_for(service: Service) -> None:
    service.answers = [Answer(hang_up=True), Answer(b"4")]
    assert "cannot be reached" in error_of(parse_objective(service.url))
    assert len(service.questions) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_what_was_turned_away_is_asked_again_by_itself(service: Service, status: int) -> None:
    turned_away = Answer(b"", status)
    service.answers = [turned_away] * 4 + [Answer(b"4")]
    evaluation = evaluate(parse_objective(service.url), Node(1))
    assert (evaluation.value, evaluation.attempts) == (4.0, 5)
    service.answers = [turned_away]
    assert error_of(parse_objective(service.url)).endswith("(after 5 attempts)")
    # What the user allows comes on top.
    assert error_of(parse_objective(service.url, retries=2)).endswith("(after 7 attempts)")


def test_nobody_there(service: Service) -> None:
    error = error_of(parse_objective("http://127.0.0.1:9/"))
    assert error == "http://127.0.0.1:9/ cannot be reached: Connection refused (after 5 attempts)"


def test_a_service_that_starts_late(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphbo.objectives.base.FIRST_PAUSE", 0.2)
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    late = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler(service), False)
    late.allow_reuse_address = True

    def start() -> None:
        late.server_bind()
        late.server_activate()
        late.handle_request()

    timer = threading.Timer(0.3, start)
    timer.start()
    evaluation = evaluate(parse_objective(f"http://127.0.0.1:{port}/"), Node(1))
    timer.join()
    late.server_close()
    assert (evaluation.value, evaluation.attempts > 1) == (1.0, True)


def test_before_the_first_evaluation_somebody_has_to_listen(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    parse_objective(service.url).check()
    assert service.questions == []
    parse_objective("property:x").check()
    for address in ("http://ann:hunter2@127.0.0.1:9/x?key=hunter2", "http://no-such.invalid/"):
        with pytest.raises(InvalidObjective, match="nobody listens at http://") as caught:
            parse_objective(address).check()
        assert "hunter2" not in str(caught.value)
        assert "\n" not in str(caught.value)
    # What is behind a proxy, an evaluation will tell.
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:3128")
    parse_objective("http://no-such.invalid/").check()


def test_another_protocol(service: Service) -> None:
    error = error_of(parse_objective(service.url.replace("http", "https"), timeout=10))
    assert "cannot be reached" in error


def in_seconds(seconds: float) -> str:
    then = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    return format_datetime(then, usegmt=True)


@pytest.mark.parametrize("header", [lambda: "1", lambda: in_seconds(2)], ids=["seconds", "date"])
def test_it_waits_as_long_as_it_is_told(service: Service, header: Callable[[], str]) -> None:
    service.answers = [Answer(b"", 429, {"Retry-After": header()}), Answer(b"4")]
    evaluation = evaluate(parse_objective(service.url, retries=1, timeout=10), Node(1))
    assert evaluation.value == 4.0
    assert evaluation.seconds > 0.9


@pytest.mark.parametrize(("timeout", "asked"), [(2.0, "60"), (None, "86400")])
def test_it_does_not_wait_too_long(service: Service, timeout: float | None, asked: str) -> None:
    service.answers = [Answer(b"", 503, {"Retry-After": asked})]
    error = error_of(parse_objective(service.url, retries=3, timeout=timeout))
    assert error.endswith(f"(it asks to wait for {asked} s, which is too long)")
    assert len(service.questions) == 1


@pytest.mark.parametrize("header", ["soon", "-5", "1e999", "Mon, 99 Foo 2024 00:00:00 GMT"])
def test_a_pause_that_makes_no_sense(service: Service, header: str) -> None:
    service.answers = [Answer(b"", 503, {"Retry-After": header}), Answer(b"4")]
    assert parse_objective(service.url, retries=1, timeout=1)(Node(1)) == 4.0


def test_a_service_that_answers_byte_by_byte_is_too_slow(service: Service) -> None:
    # Each byte comes in time; the whole answer would take longer than a test may.
    service.answers = [Answer(b" " * 9_999 + b"1", delay=0.1)]
    error = error_of(parse_objective(service.url, timeout=0.6))
    assert error == f"{service.url} gave no answer within 0.6 s"


# Secrets


SECRET = "p%40ss-word"


def with_credentials(service: Service) -> str:
    return service.url.replace("//", f"//ann:{SECRET}@") + "?token=abc123&other=abc%2D123#part"


def test_credentials_go_into_the_header_only(service: Service) -> None:
    objective = parse_objective(with_credentials(service))
    objective(Node(1))
    token = base64.b64encode(b"ann:p@ss-word").decode()
    assert service.headers[0]["Authorization"] == f"Basic {token}"
    assert "@" not in service.headers[0]["Host"]
    assert objective.name == f"{service.url}?…"


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"ann:p@ss-word p%40ss-word YW5uOnBAc3Mtd29yZA== abc123 abc-123", 401),
        Answer(b"p@ss-word"),
        Answer(b'"p@ss-word abc123 abc%2d123"'),
        Answer(b'["abc%2D123", "abc-123"]'),
        Answer(b"x" * 195 + b" abc-123", 400),
        Answer(b'"' + b"x" * 70 + b'p@ss-word"'),
        Answer(b"", 308, {"Location": "/elsewhere/abc-123"}),
        Answer(b"", 302, {"Location": "http://ann:p%40ss-word@other.example/?token=abc123"}),
        Answer(b"", 500),
        Answer(hang_up=True),
    ],
)
def test_credentials_are_never_shown(service: Service, answer: Answer) -> None:
    service.answers = [answer]
    objective = parse_objective(with_credentials(service))
    for text in (error_of(objective), repr(objective), repr(objective.evaluator), objective.name):
        for secret in ("p@ss", "p%40ss", "YW5uOnBAc3Mtd29yZA==", "token=", "abc"):
            assert secret not in text


def test_redirections_are_not_followed(service: Service) -> None:
    service.answers = [Answer(b"", 307, {"Location": "/final?x=1"})]
    error = error_of(parse_objective(with_credentials(service), retries=3))
    assert "307" in error
    assert error.endswith(f"give the final address (http://127.0.0.1:{service.port}/final?…)")
    assert len(service.questions) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http:", "http://", "http:///path", "http:host", "https://user:hunter2@", "http://host:99999/hunter2",
        "http://host:hunter2/", "http://[::1/hunter2", "http://host/ hunter2", "http://host/\nhunter2",
    ],
)  # fmt: skip
def test_addresses_that_cannot_be_used(url: str) -> None:
    with pytest.raises(InvalidObjective, match="expected http://HOST") as caught:
        parse_objective(url)
    assert "hunter2" not in str(caught.value)
