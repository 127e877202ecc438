"""A database that takes the place of another one, whatever dies meanwhile."""

from pathlib import Path

import pytest

from graphbo.errors import ServerError
from graphbo.stores.neo4j.server.dump import Contents, Incoming, open_dump

PARTS = ("databases", "transactions")


class KilledError(BaseException):
    """We are gone."""


def put(root: Path, what: str) -> None:
    for part in PARTS:
        (root / part / "neo4j").mkdir(parents=True)
        (root / part / "neo4j" / "store").write_text(what)
        (root / part / "system").mkdir(exist_ok=True)


def held(home: Path) -> list[str]:
    """What the home's database is, in each of its directories."""
    return [(home / "data" / part / "neo4j" / "store").read_text() for part in PARTS]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a database, and another one unpacked."""
    put(tmp_path / "data", "old")
    put(tmp_path / "incoming" / "new", "new")
    return tmp_path


def test_what_was_loaded_takes_the_place_of_what_was_there(home: Path) -> None:
    incoming = Incoming(home)
    incoming.accept()
    incoming.take_place()
    assert held(home) == ["new", "new"]
    incoming.clear()
    assert sorted(path.name for path in home.iterdir()) == ["data"]
    assert (home / "data" / "databases" / "system").exists()


def test_a_home_without_a_database_gets_one(tmp_path: Path) -> None:
    put(tmp_path / "incoming" / "new", "new")
    incoming = Incoming(tmp_path)
    incoming.accept()
    incoming.take_place()
    assert held(tmp_path) == ["new", "new"]


def test_it_can_be_taken_back(home: Path) -> None:
    incoming = Incoming(home)
    incoming.accept()
    incoming.take_place()
    incoming.give_back()
    assert held(home) == ["old", "old"]
    assert not incoming.path.exists()


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("steps", range(8))
def test_whatever_dies_the_next_start_has_one_of_them_whole(
    home: Path, monkeypatch: pytest.MonkeyPatch, steps: int, back: bool
) -> None:
    left = iter(range(steps))
    rename = Path.rename

    def sometimes(self: Path, target: Path) -> Path:
        if next(left, None) is None:
            raise KilledError
        return rename(self, target)

    incoming = Incoming(home)
    if back:
        incoming.accept()
        incoming.take_place()
    monkeypatch.setattr(Path, "rename", sometimes)
    try:
        if back:
            incoming.give_back()
        else:
            incoming.accept()
            incoming.take_place()
    except KilledError:
        pass
    monkeypatch.undo()
    again = Incoming(home)
    again.take_place()
    again.clear()
    changed = steps > 0
    assert held(home) == ["old" if changed == back else "new"] * 2


def test_a_database_that_never_answered_is_not_what_was_there_before(home: Path) -> None:
    incoming = Incoming(home)
    incoming.accept()
    incoming.take_place()
    put(home / "incoming" / "new", "newer")
    incoming.accept()
    incoming.take_place()
    assert held(home) == ["newer", "newer"]
    incoming.give_back()
    assert held(home) == ["old", "old"]


@pytest.mark.parametrize("head", [b"DZV1", b"DGV1", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd"])
def test_a_dump_is_known_by_how_it_begins(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "any.name"
    path.write_bytes(head + b"rest")
    assert open_dump(path) == path


def test_what_is_no_dump_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("a,b\n")
    (tmp_path / "empty").touch()
    for name, why in (
        ("g.csv", "is not a dump"),
        ("empty", "is not a dump"),
        ("none", "No such file"),
        (".", "Is a directory"),
    ):
        with pytest.raises(ServerError, match=why) as caught:
            open_dump(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_rules_are_something_too() -> None:
    assert Contents(0, 0, ("Old",), (), 0).is_empty
    assert not Contents(0, 0, (), (), 1).is_empty
    assert not Contents(1, 0, (), (), 0).is_empty


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("java.io.IOException: No space left on device\n\tat X", "has no room for the database in"),
        (
            "Failed\n\nUnable to load: Truncated source\n\nFull exception details written to: log",
            "cannot be loaded: neo4j-admin says: Unable to load: Truncated source",
        ),
        ("", "neo4j-admin says: it printed nothing"),
    ],
)
def test_what_stops_neo4j_admin_is_one_line_and_leaves_nothing(
    tmp_path: Path, printed: str, why: str
) -> None:
    dump = tmp_path / "g.dump"
    dump.write_bytes(b"DZV1")
    failing = ["sh", "-c", f"printf '%s' '{printed}'; exit 1"]
    incoming = Incoming(tmp_path)
    with (tmp_path / "lock").open("w") as lock, pytest.raises(ServerError) as caught:
        incoming.load(dump, failing, {}, lock.fileno())
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (incoming.path / "new").exists()
