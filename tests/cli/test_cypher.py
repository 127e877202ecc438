"""``graphbo cypher`` and the command line as a whole."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from graphbo import __version__
from graphbo.cli import COMMANDS
from graphbo.cli import graphbo as main_group
from graphbo.stores.neo4j.statements import statement_names
from tests.backends import Neo4jBackend, SqliteBackend
from tests.cli.runs import InProcess, in_this_process

VIEW = ("--label", "N", "--rel", "R", "--key", "id")


@pytest.fixture
def run(
    sqlite_backend: SqliteBackend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> InProcess:
    """The command, with no server in its environment."""
    return in_this_process(sqlite_backend, tmp_path, monkeypatch, capsys, place=False)


def test_lists_every_statement(run: InProcess) -> None:
    answer = run("cypher")
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines()] == list(statement_names())
    assert [entry["name"] for entry in run("cypher", "--json").json] == list(statement_names())


def test_prints_a_statement_for_a_view(run: InProcess) -> None:
    view = ("--label", "Sta`tion", "--rel", "LINK", "--key", "id")
    answer = run("cypher", "ego_networks", *view, "--node", "42")
    assert answer.code == 0
    assert ":param egos => [{centre: 42, size: 100}];" in answer.out
    assert "`Sta``tion`" in answer.out
    as_json = run("cypher", "ego_networks", *view, "--json").json
    assert as_json["text"].endswith("AS nodes")


def test_says_what_is_missing(run: InProcess) -> None:
    assert "--label" in run("cypher", "ego_networks").failed_with_one_line()
    assert "ego_networks" in run("cypher", "nonsense").failed_with_one_line()


@pytest.mark.neo4j
def test_what_it_prints_runs_on_the_server(run: InProcess, neo4j_backend: Neo4jBackend) -> None:
    neo4j_backend.run("CREATE (:N {id: 42})-[:R]->(:N {id: 43})")
    printed = run("cypher", "ego_networks", *VIEW, "--node", 42, "--json")
    (row,) = neo4j_backend.run(printed.json["text"], **printed.json["parameters"])
    assert [key for _, key, _ in row["nodes"]] == [42, 43]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_keeps_its_examples_on_lines_of_their_own(name: str) -> None:
    result = CliRunner().invoke(main_group, [name, "--help"])
    assert result.exit_code == 0
    assert "\\b" not in result.output
    examples = [line for line in result.output.splitlines() if line.count("graphbo ") > 1]
    assert not [
        line for line in examples if not line.lstrip().startswith("Usage") and "`" not in line
    ]


def test_help_version_and_usage(run: InProcess) -> None:
    assert run("--version").out == f"graphbo, version {__version__}\n"
    assert "doctor" in run("--help").out
    wrong = run("doctor", "--nonsense")
    assert wrong.code == 2
    assert "Traceback" not in wrong.err
    assert run("nonsense").code == 2
