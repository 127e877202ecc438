"""What a user agreed to run: kept by hash, in a file of their own."""

import json
import stat
import threading
from pathlib import Path

import pytest

from graphbo.errors import GraphboError
from graphbo.objectives.pins import is_pinned, pin, pins_file

PLACE, KIND, TEXT = "neo4j://host:7687/neo4j", "objective", "command:./measure.sh --fast"


def test_only_what_was_pinned_is_pinned() -> None:
    assert not is_pinned(PLACE, KIND, TEXT)
    pin(PLACE, KIND, TEXT)
    assert is_pinned(PLACE, KIND, TEXT)
    for other in (
        ("neo4j://other:7687/neo4j", KIND, TEXT),
        (PLACE, "statement", TEXT),
        (PLACE, KIND, TEXT + " "),
        (PLACE, KIND + TEXT[0], TEXT[1:]),
    ):
        assert not is_pinned(*other)
    pin(PLACE, KIND, "another")
    assert is_pinned(PLACE, KIND, TEXT)


def test_the_file_is_its_owners_and_tells_nothing(own_pins: Path) -> None:
    pin(PLACE, KIND, TEXT)
    path = own_pins / "pins.json"
    assert pins_file() == path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "measure" not in path.read_text()
    assert list(own_pins.iterdir()) == [path]


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GRAPHBO_CONFIG_DIR")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert pins_file() == tmp_path / "xdg" / "graphbo" / "pins.json"
    pin(PLACE, KIND, TEXT)
    assert stat.S_IMODE(pins_file().parent.stat().st_mode) == 0o700
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert pins_file() == tmp_path / ".config" / "graphbo" / "pins.json"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"pins": 1}', b'{"pins": [1]}', b"\xff", b"[" * 100_000]
)
def test_a_damaged_file_holds_no_pins(
    own_pins: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    pin(PLACE, KIND, TEXT)
    (own_pins / "pins.json").write_bytes(content)
    assert not is_pinned(PLACE, KIND, TEXT)
    (line,) = caplog.messages
    assert "pins.json are not used: it is damaged" in line
    pin(PLACE, KIND, TEXT)
    assert is_pinned(PLACE, KIND, TEXT)


def test_a_file_that_cannot_be_written(own_pins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own_pins / "file").touch()
    monkeypatch.setenv("GRAPHBO_CONFIG_DIR", str(own_pins / "file"))
    with pytest.raises(GraphboError, match=r"pins\.json cannot be written"):
        pin(PLACE, KIND, TEXT)
    assert not is_pinned(PLACE, KIND, TEXT)


def test_a_user_without_a_home(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("GRAPHBO_CONFIG_DIR", "XDG_CONFIG_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 4_000_000)
    assert not is_pinned(PLACE, KIND, TEXT)
    assert "set GRAPHBO_CONFIG_DIR" in caplog.text
    with pytest.raises(GraphboError, match="set GRAPHBO_CONFIG_DIR"):
        pin(PLACE, KIND, TEXT)


def test_pins_of_the_same_moment_are_all_kept() -> None:
    texts = [f"command:program-{number}" for number in range(20)]
    threads = [threading.Thread(target=pin, args=(PLACE, KIND, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(is_pinned(PLACE, KIND, text) for text in texts)
    assert len(json.loads(pins_file().read_text())["pins"]) == 20
