"""Whatever is typed: no traceback, one clear line when it fails, and nobody's data is touched.

``make fuzz`` tries many more. What fails names its case; the same GRAPHBO_FUZZ_SEED repeats it.
"""

import io
import os
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import pytest

import graphbo.cli
from tests.backends import SqliteBackend
from tests.cli.commands import Answer
from tests.cli.fuzz import command_line
from tests.cli.runs import OPTIONS, load

pytestmark = pytest.mark.slow

SEED = os.environ.get("GRAPHBO_FUZZ_SEED", "1")
CASES = int(os.environ.get("GRAPHBO_FUZZ_CASES", "200"))
BLOCK = 50

#: An objective whose values are as large as a number can be, and as small.
EXTREME = """
def value(key):
    return (1.7e308, -1.7e308, 1e308, 5e-324, 0.0, -1e-308)[key % 6]
"""

#: What a user has in the file; what graphbo adds to it is no part of that.
DATA = (
    "SELECT name, key FROM label ORDER BY id",
    "SELECT id, label, key, json_extract(properties, '$.id'), json_extract(properties, '$.score'), "
    "json_extract(properties, '$.name') FROM node ORDER BY id",
    "SELECT * FROM relationship ORDER BY node, type, outgoing, other",
)

Graphbo = Callable[..., Answer]


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Graphbo:
    """The command in this process and in a directory of its own; without --uri on the file graphbo.db there."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("NEO4J_")]:
        monkeypatch.delenv(name)

    def run(*words: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["graphbo", *words])
        monkeypatch.setattr(sys, "stdin", io.StringIO())  # nobody answers
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            graphbo.cli.main()
        out, err = capsys.readouterr()
        return Answer(int(ended.value.code or 0), out, err)

    return run


@pytest.fixture
def pristine(run: Graphbo, tmp_path: Path) -> Path:
    """A graph with a run that is finished, one with extreme values and one by hand; the tests work on copies."""
    (tmp_path / "extreme.py").write_text(EXTREME)
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "credentials.txt").write_text("NEO4J_URI=bolt://127.0.0.1:1\nNEO4J_PASSWORD=x\n")
    file = tmp_path / "graphbo.db"
    load(SqliteBackend(file))
    new = ("run", *OPTIONS, "--budget", "12", "--name")
    assert run(*new, "finished", "--objective", "property:score").code == 0
    assert run(*new, "extreme", "--objective", "python:extreme:value").code == 0
    assert run("ask", "by-hand", *OPTIONS, "--strategy", "random", "--start", "7").code == 0
    return file.rename(tmp_path / "pristine.db")


def data(path: Path) -> list[list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as file:
        return [file.execute(query).fetchall() for query in DATA]


def check(answer: Answer, command: str) -> None:
    assert answer.code in {0, 1, 2, 130}
    assert "Traceback" not in answer.err
    if answer.code == 1 and command != "doctor":  # which says on standard output what is wrong
        *_, line = answer.err.splitlines()
        assert line.startswith("graphbo: ")
        assert line.isprintable()
        assert len(line) < 1000
    elif answer.code == 2:
        assert "Error: " in answer.err


@contextmanager
def naming(case: int, words: list[str]) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        line = shlex.join(["graphbo", *words])
        error.add_note(f"case {case} of GRAPHBO_FUZZ_SEED={SEED}: {line}"[:1000])
        raise


@pytest.mark.parametrize("block", range(-(-CASES // BLOCK)))
def test_any_command_line_is_survived(block: int, pristine: Path, run: Graphbo) -> None:
    file, before = pristine.with_name("graphbo.db"), data(pristine)
    for case in range(block * BLOCK, min(CASES, (block + 1) * BLOCK)):
        shutil.copy(pristine, file)
        words = command_line(Random(f"{SEED} {case}"))
        with naming(case, words):
            check(run(*words), words[0])
            if words[0] != "load":
                assert data(file) == before
