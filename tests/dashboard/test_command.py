"""``graphbo dashboard`` as somebody types it: what it prints, and what it refuses before it listens."""

import socket
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.backends import SqliteBackend
from tests.cli.runs import InProcess, in_this_process, load


@pytest.fixture
def here(
    sqlite_backend: SqliteBackend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> InProcess:
    """The command on the small graph; the server says that it answers, and is interrupted."""

    def serve(*arguments: object) -> None:
        *_, started = arguments
        assert callable(started)
        started()
        raise KeyboardInterrupt

    monkeypatch.setattr("graphbo.dashboard.serve", serve)
    load(sqlite_backend)
    return in_this_process(sqlite_backend, tmp_path, monkeypatch, capsys)


def test_the_address_alone_is_printed(here: InProcess) -> None:
    answer = here("dashboard", "--port", 0)

    assert answer.code == 0, answer
    (address,) = answer.out.splitlines()
    assert address.startswith("http://127.0.0.1:")
    assert "/#token=" in address
    assert "Warning" not in answer.err
    assert "The dashboard has ended." in answer.err


@pytest.mark.parametrize(
    ("options", "warned", "begins"),
    [
        (("--host", "0.0.0.0"), True, "http://127.0.0.1:"),
        (("--host", "0.0.0.0", "--public-url", "https://lab.example"), False, "https://lab.example/#"),
        (("--public-url", "https://lab.example"), False, "https://lab.example/#"),
        (("--host", "0.0.0.0", "--public-url", "http://lab.example"), True, "http://lab.example/#"),
    ],
    ids=["network", "proxy-beside", "proxy", "plain-proxy"],
)  # fmt: skip
def test_whoever_listens_on_a_network_is_warned(
    here: InProcess, options: tuple[str, ...], warned: bool, begins: str
) -> None:
    answer = here("dashboard", "--port", 0, *options)

    assert answer.out.startswith(begins)
    assert ("Warning: HTTP is not encrypted" in answer.err) is warned
    assert ("--public-url" in answer.err) is warned


def test_a_port_that_is_taken(here: InProcess) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        said = here("dashboard", "--port", port).failed_with_one_line()

    assert f"cannot listen on 127.0.0.1 port {port}" in said
    assert "is one open already" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--uri", "sqlite:nothing.db"), "there is no database file nothing.db"),
        (("--uri", "sqlite::memory:"), "name a file or a server"),
        (("--public-url", "lab"), "expected https://HOST"),
        (("--host", "nobody.invalid"), "cannot listen on nobody.invalid"),
    ],
    ids=["no-file", "memory", "address", "host"],
)
def test_what_is_refused(here: InProcess, options: tuple[str, ...], said: str) -> None:
    assert said in here("dashboard", "--port", 0, *options).failed_with_one_line()


def test_without_the_extra(here: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("graphbo.dashboard")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    for name in [name for name in sys.modules if name.startswith("starlette.")]:
        monkeypatch.delitem(sys.modules, name)

    said = here("dashboard").failed_with_one_line()

    assert "pip install 'graphbo[dashboard]'" in said
