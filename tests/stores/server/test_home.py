"""What graphbo keeps in a server's directory, and who may read it."""

import os
import stat
from pathlib import Path

import pytest

from graphbo.errors import ServerError
from graphbo.stores.neo4j.server import LocalServer, ServerInfo, default_home
from graphbo.stores.neo4j.server.home import Home, State, configuration

STATE = State("2026.08.1", 7687, 7474)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / "home")
    found.prepare()
    return found


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def entries(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


def settings(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines())


def test_the_home_follows_the_xdg_directories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_home() == tmp_path / "graphbo" / "neo4j"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert default_home() == Path("/home/somebody/.local/share/graphbo/neo4j")


def test_only_the_owner_can_look_inside_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        home = Home(tmp_path / "open")
        home.prepare()
        home.ensure_password()
    finally:
        os.umask(before)

    assert mode(home.path) == 0o700
    assert mode(home.credentials) == 0o600
    assert mode(home.path / "data" / "dbms" / "auth.ini") == 0o600


def test_the_credentials_file_has_the_format_of_aura(home: Home) -> None:
    home.ensure_password()
    password = home.password()
    home.save_address("neo4j://127.0.0.1:7687", password)

    assert entries(home.credentials) == {
        "NEO4J_URI": "neo4j://127.0.0.1:7687",
        "NEO4J_USERNAME": "neo4j",
        "NEO4J_PASSWORD": password,
        "NEO4J_DATABASE": "neo4j",
    }
    assert len(password) >= 20
    assert mode(home.credentials) == 0o600


def test_passwords_differ_and_stay_out_of_neo4js_file(tmp_path: Path) -> None:
    homes = [Home(tmp_path / name) for name in "ab"]
    for home in homes:
        home.prepare()
        home.ensure_password()

    assert homes[0].password() != homes[1].password()
    auth = (homes[0].path / "data" / "dbms" / "auth.ini").read_text()
    assert homes[0].password() not in auth


def test_a_password_is_kept_once_there_is_a_database(home: Home) -> None:
    home.ensure_password()
    before = home.password()
    (home.path / "data" / "databases").mkdir()

    home.ensure_password()

    assert home.password() == before


def test_a_lost_password_is_a_clear_error(home: Home) -> None:
    with pytest.raises(ServerError, match=r"credentials\.env cannot be read"):
        home.password()
    home.credentials.write_text("NEO4J_USERNAME=neo4j\n")
    with pytest.raises(ServerError, match="has no NEO4J_PASSWORD"):
        home.password()


def test_the_state_is_read_as_it_was_saved(home: Home) -> None:
    assert home.state() is None
    home.save(STATE)
    assert home.state() == STATE


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": "5"}', '{"unknown": 1}'])
def test_a_damaged_state_is_a_clear_error(home: Home, text: str) -> None:
    (home.path / "server.json").write_text(text)

    with pytest.raises(ServerError, match=r"server\.json cannot be read"):
        home.state()


def test_a_database_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()

    with pytest.raises(ServerError, match="did not make"):
        LocalServer(tmp_path).start()


def test_data_of_another_version_is_left_alone(home: Home) -> None:
    home.save(STATE)

    with pytest.raises(ServerError, match=r"holds data of Neo4j 2026\.08\.1, which 5\.26\.16"):
        LocalServer(home.path, version="5.26.16").start()


def test_a_home_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ServerError, match="cannot be used: Not a directory"):
        LocalServer(tmp_path / "file" / "home").start()


def test_two_commands_do_not_start_it_at_once(home: Home) -> None:
    with home.locked(), pytest.raises(ServerError, match="another command is starting"):
        LocalServer(home.path).start()


@pytest.mark.parametrize("version", ["2026.08.1", "5.26.16"])
def test_the_server_listens_on_loopback_only_and_reports_nothing(version: str) -> None:
    found = settings(configuration(version, 17687, 17474))

    assert found["server.bolt.listen_address"] == "127.0.0.1:17687"
    assert found["server.http.listen_address"] == "127.0.0.1:17474"
    assert found["server.default_listen_address"] == "127.0.0.1"
    assert found["dbms.security.auth_enabled"] == "true"
    assert found["dbms.usage_report.enabled"] == "false"
    assert found["client.allow_telemetry"] == "false"
    # Version 5 does not know these, and refuses what it does not know.
    assert ("server.fleet_discovery.enabled" in found) == (version != "5.26.16")


def test_more_settings_win_and_cannot_smuggle_lines_in() -> None:
    found = settings(configuration("5.26.16", 1, 2, {"server.memory.pagecache.size": "64m"}))
    assert found["server.memory.pagecache.size"] == "64m"

    with pytest.raises(ServerError, match="one line"):
        configuration("5.26.16", 1, 2, {"a": "b\ndbms.security.auth_enabled=false"})


def test_a_password_is_not_part_of_what_a_server_looks_like() -> None:
    info = ServerInfo(
        uri="neo4j://127.0.0.1:1",
        browser_url="",
        username="neo4j",
        password="hunter2",
        database="neo4j",
        bolt_port=1,
        http_port=2,
        pid=3,
        version="5",
        home=Path(),
        credentials=Path(),
    )

    assert "hunter2" not in repr(info)
    assert "hunter2" not in str(info)
