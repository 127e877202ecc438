"""What to do about an error, in the words of a terminal."""

import pickle
import re
import string
from collections.abc import Callable
from pathlib import Path

import pytest

from graphbo.cli.advice import ADVICE, advised
from graphbo.errors import GraphboError, InvalidView, KeyNotUnique, Remedy, ReportRefused
from tests.backends import Backend
from tests.cli.fuzz import every_command
from tests.cli.runs import InProcess, load


def named(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_every_remedy_has_advice() -> None:
    assert set(ADVICE) == set(Remedy)


@pytest.mark.parametrize("remedy", Remedy)
def test_advice_names_facts_that_the_remedy_has(remedy: Remedy) -> None:
    # What a file or a variable is called is of no use in Python, where an argument names it.
    # A terminal gets the statement that drops an index in place of its name.
    assert named(remedy) <= named(ADVICE[remedy]) | {"labels", "types", "indexes"}


@pytest.mark.parametrize("remedy", Remedy)
def test_advice_is_of_options_and_commands_that_there_are(remedy: Remedy) -> None:
    advice = ADVICE[remedy]
    options = {
        name for _, command in every_command() for one in command.params for name in one.opts
    }
    for purpose in ("bolt", "http"):
        filled = advice.replace("{purpose}", purpose)
        assert set(re.findall(r"--[a-z][a-z-]*", filled)) <= options | {"--help"}
    commands = {" ".join(path) for path, _ in every_command()}
    for words in re.findall("`graphbo ([^`]*)`", advice):
        assert any(words == one or words.startswith(f"{one} ") for one in commands), words


def test_an_error_has_words_for_python_and_words_for_a_terminal() -> None:
    error = KeyNotUnique("the :N nodes have the key 'id', not 'no'", Remedy.USE_KEY, key="id")

    assert str(error) == "the :N nodes have the key 'id', not 'no': use the key 'id'"
    assert advised(error) == "the :N nodes have the key 'id', not 'no': use --key id"


def test_an_error_without_a_remedy_is_said_as_it_is() -> None:
    assert advised(GraphboError("the server has gone {0}")) == "the server has gone {0}"


def test_a_problem_may_hold_braces() -> None:
    error = InvalidView("(:N {id}) is no view", Remedy.NAME_LABEL)

    assert advised(error) == "(:N {id}) is no view: add --label LABEL"


def test_an_error_of_another_process_keeps_its_advice() -> None:
    error = KeyNotUnique("the key is 'id', not 'no'", Remedy.USE_KEY, key="id")
    again = pickle.loads(pickle.dumps(error))

    assert type(again) is KeyNotUnique
    assert str(again) == str(error)
    assert advised(again) == advised(error)


def test_a_refused_report_keeps_its_advice() -> None:
    error = ReportRefused(2, "step 3 has the value 1.0 already", Remedy.AMEND)

    assert error.position == 2
    assert advised(error) == "step 3 has the value 1.0 already: add --amend to replace it"


VIEW = ("--label", "N", "--rel", "R")
BEGIN = ("ask", "new")


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("doctor", "--rel", "R"), "the view names no node label: add --label LABEL"),
        (("doctor", "--label", "N"), "the view names no relationship type: add --rel TYPE"),
        (
            (*BEGIN, "--label", "X", "--rel", "R"),
            ": choose --label among N, or load a graph with `graphbo load`",
        ),
        ((*BEGIN, "--label", "N", "--rel", "X"), ": choose --rel among R"),
        (
            (*BEGIN, *VIEW, "--key", "no"),
            ": give each node a value of its own first, or choose another property with --key",
        ),
        (
            (*BEGIN, *VIEW, "--key", "name"),
            ": load the graph with it as its key, or leave out --key",
        ),
        ((*BEGIN, *VIEW, "--start", "999"), ": check its spelling, and --label and --key"),
        ((*BEGIN, *VIEW, "--write-prefix", "1"), ": use letters and digits"),
        (("ask", "begun", *VIEW, "--seed", "5"), ": repeat those, or choose another --name"),
        (
            ("run", *VIEW, "--name", "new", "--budget", "3", "--objective", "cypher:score.cypher"),
            ": give --uri neo4j://HOST, or another objective",
        ),
        (
            ("runs", "--uri", "sqlite:none.db"),
            ": load a graph first (`graphbo load --help`), or name another with --uri sqlite:FILE",
        ),
        (("runs", "--uri", "sqlite:notes.txt"), ": name another file with --uri sqlite:FILE"),
        (
            ("runs", "--credentials", "notes.txt"),
            ": expected the file that Neo4j Aura or `graphbo neo4j up` wrote",
        ),
        (
            ("load", "bad.csv", *VIEW, "--key", "id"),
            ": nothing was loaded; correct it or add --skip-bad",
        ),
        (("load", "ba:n=5,m=2", *VIEW, "--key", "id", "--weight", "w"), ": leave out --weight w"),
        (
            ("load", "ba:n=5,m=2", *VIEW, "--key", "no"),
            ", another label, or --replace in a new file",
        ),
        (
            ("load", "ba:n=5,m=2", *VIEW, "--key", "id", "--replace"),
            ": remove it first with `graphbo clean begun`, or load under another --label",
        ),
        (
            ("load", "task:nothing", "--label", "T", "--rel", "S"),
            "; `graphbo tasks` lists what there is",
        ),
        (("load", "task:grid:side=5", *VIEW, "--key", "value"), ": choose another --key"),
    ],
    ids=lambda one: one if isinstance(one, str) else " ".join(one),
)
def test_a_terminal_reads_of_options_and_commands(
    words: tuple[str, ...],
    advice: str,
    sqlite_backend: Backend,
    in_process: Callable[[Backend], InProcess],
    tmp_path: Path,
) -> None:
    (tmp_path / "score.cypher").write_text("MATCH (n {id: $key}) RETURN n.score")
    (tmp_path / "bad.csv").write_text("source,target\n1,2\n3\n")
    (tmp_path / "notes.txt").write_text("somebody's notes")
    here = in_process(load(sqlite_backend))
    assert here("ask", "begun", *VIEW).code == 0

    answer = here(*words)

    assert answer.code == 1
    assert answer.err.splitlines()[-1].endswith(advice), answer
