"""The examples run as their first lines say, in a directory of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.backends import Neo4jBackend

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(directory: Path, name: str, *arguments: str, **environment: str) -> str:
    clean = {what: value for what, value in os.environ.items() if not what.startswith("NEO4J_")}
    result = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
        cwd=directory,
        env=clean | {"NO_COLOR": "1"} | environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_each_is_tested_here() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert names == {"demo", "networkx_graph", "ask_and_tell", "in_a_database"}


def test_a_networkx_graph(tmp_path: Path) -> None:
    answer = run(tmp_path, "networkx_graph.py")
    assert "It is number 1 of 1,000 nodes; 60 were measured." in answer
    assert list(tmp_path.iterdir()) == []


def test_asking_and_telling_goes_on_the_next_day(tmp_path: Path) -> None:
    first = run(tmp_path, "ask_and_tell.py")
    second = run(tmp_path, "ask_and_tell.py")
    steps = [line.split(":")[0] for line in (first + second).splitlines() if "step" in line]
    assert steps == [f"step {number}" for number in range(1, 11)]
    assert "of 10 measured" in second


def test_a_database(tmp_path: Path) -> None:
    assert "Best: D130 in City 130 for 900" in run(tmp_path, "in_a_database.py")
    assert (tmp_path / "depots.db").exists()


@pytest.mark.neo4j
def test_a_neo4j(tmp_path: Path, neo4j_backend: Neo4jBackend) -> None:
    answer = run(tmp_path, "in_a_database.py", neo4j_backend.uri, **neo4j_backend.environment)
    assert "60 of 200 depots were asked for a price" in answer
    assert neo4j_backend.run("MATCH (n:GraphboObserved) RETURN count(n) AS n") == [{"n": 60}]


def test_the_demo(tmp_path: Path) -> None:
    """Twice, as people do."""
    for _ in range(2):
        answer = run(tmp_path, "demo.py", "--people", "300", "--budget", "60")
        assert "$ graphbo load contacts.json --label Person --rel MET" in answer
        assert "$ graphbo run " in answer
        assert "Patient zero is " in answer
        assert ": found with interview " in answer
        assert "interviews (the median of " in answer
    assert {path.name for path in (tmp_path / "demo").iterdir()} >= {
        *("contacts.json", "answers.json", "interviews.py", "outbreak.db")
    }
