"""What people see on a terminal."""

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from tests.backends import SqliteBackend, environment_for
from tests.cli.commands import COMMAND
from tests.cli.runs import OPTIONS, load, write_objective

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(
    backend: SqliteBackend, directory: Path, *arguments: object, typed: str = "", width: int = 100
) -> tuple[int, str]:
    """Run a command whose standard streams are a terminal; its exit code and all that it drew."""
    ours, theirs = pty.openpty()
    environment = environment_for(backend) | {"TERM": "xterm-256color", "COLUMNS": str(width)}
    environment.pop("NO_COLOR")
    process = subprocess.Popen(
        [str(COMMAND), *map(str, arguments), "--uri", backend.uri],
        cwd=directory,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end was closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    return process.wait(60), b"".join(pieces).decode()


@pytest.fixture
def loaded(sqlite_backend: SqliteBackend) -> SqliteBackend:
    load(sqlite_backend)
    return sqlite_backend


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 100])
def test_a_run_shows_how_it_stands(loaded: SqliteBackend, tmp_path: Path, width: int) -> None:
    # Each line of the display, its end included, fits into the terminal.
    spec = write_objective(tmp_path, "time.sleep(0.1); assert key % 2, 'no\\x1b[31m sensor'")
    options = ("run", *OPTIONS, "--strategy", "random", "--objective", spec, "--budget", 12)
    code, drawn = on_a_terminal(loaded, tmp_path, *options, width=width)
    assert code == 0, drawn
    assert "\x1b[31m sensor" not in drawn
    text = CONTROL.sub("", drawn)
    for expected in ("best  ", "now  ", "revealed  ", "per step  ", " of 12", " left", "failed  "):
        assert expected in text, (expected, text[-3000:])
    frames = [line for line in re.split(r"[\r\n]+", text) if " of 12  " in line]
    assert frames
    assert all(len(line.rstrip()) <= width for line in frames)
    assert "Best: " in text


@pytest.mark.slow
def test_cleaning_asks_first(loaded: SqliteBackend, tmp_path: Path) -> None:
    options = ("run", *OPTIONS, "--strategy", "random", "--objective", "property:score")
    assert on_a_terminal(loaded, tmp_path, *options, "--budget", 3)[0] == 0
    before = loaded.dump()
    code, text = on_a_terminal(loaded, tmp_path, "clean", "n-score", typed="n\n")
    assert code == 1
    assert "3 observations" in text
    assert "graphbo: nothing was removed" in text
    assert loaded.dump() == before
    code, text = on_a_terminal(loaded, tmp_path, "clean", "n-score", typed="y\n")
    assert code == 0
    assert "is removed" in text
    assert loaded.dump() != before
