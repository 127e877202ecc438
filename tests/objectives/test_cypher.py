"""cypher:FILE, against the real Neo4j."""

import pickle
from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest

from graphbo.errors import EvaluationFailed, InvalidObjective, StoreError, StoreUnavailable
from graphbo.objectives import CypherRunner, Node, Objective, evaluate, parse_objective
from graphbo.stores import Address
from graphbo.types import NodeKey
from tests.backends import Neo4jBackend, SqliteBackend

DEGREE = """
// How many neighbours a station has.
MATCH (n:Station {id: $key})
RETURN toFloat(COUNT { (n)--() }) AS degree;
"""


class Runner:
    """The least that runs a statement."""

    def __init__(self, session: neo4j.Session) -> None:
        self._session = session

    def query_number(self, text: str, key: NodeKey, timeout: float | None) -> object:
        @neo4j.unit_of_work(timeout=timeout)
        def work(transaction: neo4j.ManagedTransaction) -> list[list[object]]:
            return list(transaction.run(text, key=key).values())

        try:
            rows = self._session.execute_read(work)
        except neo4j.exceptions.Neo4jError as error:
            raise StoreError(str(error.message)) from None
        if len(rows) != 1 or len(rows[0]) != 1:
            raise EvaluationFailed(f"{len(rows)} rows: expected one number in one row")
        return rows[0][0]


class Recorder:
    """A runner without a database."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[tuple[str, NodeKey, float | None]] = []

    def query_number(self, text: str, key: NodeKey, timeout: float | None) -> object:
        self.asked.append((text, key, timeout))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def close(self) -> None:
        pass


class Checker(Recorder):
    def check_query(self, text: str) -> None:
        raise StoreError("Invalid input 'RETRUN'")


@pytest.fixture
def objective(tmp_path: Path) -> Objective:
    (tmp_path / "degree.cypher").write_text(DEGREE)
    return parse_objective("cypher:degree.cypher", directory=tmp_path, timeout=5)


# The file


def test_it_needs_neo4j_and_no_properties(objective: Objective) -> None:
    assert objective.needs_neo4j
    assert not objective.needs_properties
    assert objective.name == "cypher:degree.cypher"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no statement"),
        ("  \n// RETURN $key\n/* nor\nhere */ ;", "holds no statement"),
        ("RETURN 1", "does not use \\$key"),
        ("RETURN $keys", "does not use \\$key"),
    ],
)
def test_files_without_a_statement(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.cypher").write_text(text)
    with pytest.raises(InvalidObjective, match=message):
        parse_objective("cypher:x.cypher", directory=tmp_path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xff")
    for name, message in [
        ("absent.cypher", "cannot be read: No such file or directory"),
        (".", "cannot be read: Is a directory"),
        ("binary", "it is not text in UTF-8"),
        ("", "expected cypher:FILE"),
    ]:
        with pytest.raises(InvalidObjective, match=message):
            parse_objective(f"cypher:{name}", directory=tmp_path)


# Binding


def test_it_says_that_it_needs_neo4j(objective: Objective, sqlite_backend: SqliteBackend) -> None:
    with (
        sqlite_backend.open() as store,
        pytest.raises(InvalidObjective, match=r"degree.cypher needs Neo4j, and sqlite:.*graph.db"),
    ):
        objective.bind(store)
    with pytest.raises(InvalidObjective, match=r"needs Neo4j, and sqlite:x\.db is not one"):
        objective.bind(Address("sqlite:x.db"))


def test_it_says_that_it_was_not_bound(objective: Objective) -> None:
    with pytest.raises(InvalidObjective, match="was not bound"):
        evaluate(objective, Node(1))


def test_other_objectives_need_no_database(sqlite_backend: SqliteBackend) -> None:
    objective = parse_objective("property:x")
    with sqlite_backend.open() as store:
        assert objective.bind(store) == objective


def test_the_statement_and_the_limit_reach_the_database(objective: Objective) -> None:
    runner = Recorder(3)
    assert objective.bind(runner)(Node("a")) == 3.0
    ((text, key, timeout),) = runner.asked
    assert text.endswith("AS degree")
    assert (key, timeout) == ("a", 5)


def test_mistakes_are_found_before_any_evaluation(objective: Objective) -> None:
    with pytest.raises(InvalidObjective, match=r"cypher:degree.cypher: Invalid input 'RETRUN'"):
        objective.bind(Checker(1))


def test_bound_to_an_address_it_can_be_pickled(objective: Objective) -> None:
    bound = objective.bind(Address("bolt://localhost:1", "neo4j", "hunter2"))
    assert pickle.loads(pickle.dumps(bound)) == bound
    assert "hunter2" not in repr(bound.evaluator)


def test_each_process_opens_one_connection(
    objective: Objective, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Recorder] = []

    def open_store(address: Address) -> Recorder:
        opened.append(Recorder(3))
        return opened[-1]

    monkeypatch.setattr("graphbo.objectives.cypher.open_store", open_store)
    bound = objective.bind(Address("bolt://nowhere:1"))
    assert [bound(Node(1)), bound(Node(2))] == [3.0, 3.0]
    (runner,) = opened
    assert [key for _, key, _ in runner.asked] == [1, 2]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "cypher:degree.cypher: there is no value"),
        (True, "cypher:degree.cypher: the value is True"),
        ("many", "cypher:degree.cypher: 'many' is not a number"),
        (float("nan"), "cypher:degree.cypher: the value is nan"),
        (StoreError("/ by zero"), "cypher:degree.cypher: / by zero"),
    ],
)
def test_failures(objective: Objective, answer: object, message: str) -> None:
    error = evaluate(objective.bind(Recorder(answer)), Node(1)).error
    assert error is not None
    assert error.startswith(message)


def test_a_database_that_is_gone_says_nothing_about_the_node(objective: Objective) -> None:
    with pytest.raises(StoreUnavailable):
        evaluate(objective.bind(Recorder(StoreUnavailable("gone"))), Node(1))


# On Neo4j


@pytest.fixture
def runner(neo4j_backend: Neo4jBackend) -> Iterator[CypherRunner]:
    neo4j_backend.run(
        "CREATE (a:Station {id: 'a', name: 'A'})-[:LINK]->(b:Station {id: 'b'})-[:LINK]->(:Station {id: 'c'})"
    )
    with neo4j_backend.session() as session:
        yield Runner(session)


def statement(tmp_path: Path, text: str, timeout: float | None = None) -> Objective:
    (tmp_path / "x.cypher").write_text(text)
    return parse_objective("cypher:x.cypher", directory=tmp_path, timeout=timeout)


@pytest.mark.neo4j
def test_it_is_computed_in_the_database(objective: Objective, runner: CypherRunner) -> None:
    bound = objective.bind(runner)
    assert [bound(Node(key)) for key in "abc"] == [1.0, 2.0, 1.0]


@pytest.mark.neo4j
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MATCH (n:Station) WHERE n.id <> $key RETURN 1", "2 rows: expected one number"),
        ("MATCH (n:Station {id: $key + '!'}) RETURN 1", "0 rows: expected one number"),
        ("RETURN 1, $key", "expected one number"),
        ("MATCH (n:Station {id: $key}) RETURN n.load", "there is no value"),
        ("MATCH (n:Station {id: $key}) RETURN n.name", "'A' is not a number"),
        ("MATCH (n:Station {id: $key}) RETURN n", "of type Node: expected a number"),
        ("RETURN size($key) / 0", "by zero"),
        ("RETURN 0.0 / 0.0 * size($key)", "the value is nan"),
        ("RETRUN $key", "Invalid input"),
        ("CREATE (:Station {id: $key}) RETURN 1", "Writing in read access mode not allowed"),
    ],
)
def test_failures_on_neo4j(tmp_path: Path, runner: CypherRunner, text: str, message: str) -> None:
    error = evaluate(statement(tmp_path, text).bind(runner), Node("a")).error
    assert error is not None
    assert error.startswith("cypher:x.cypher: ")
    assert message in error
    assert "\n" not in error


@pytest.mark.neo4j
def test_how_a_file_may_end(tmp_path: Path, runner: CypherRunner) -> None:
    for end in ("", ";", ";\n", "; // the end\n", " // $key"):
        assert statement(tmp_path, f"RETURN size($key){end}").bind(runner)(Node("abc")) == 3.0, end


@pytest.mark.neo4j
def test_a_statement_that_takes_too_long_is_ended(tmp_path: Path, runner: CypherRunner) -> None:
    endless = (
        "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b "
        "RETURN sum(a * b % 7) + size($key)"
    )
    evaluation = evaluate(statement(tmp_path, endless, 1.0).bind(runner), Node("a"))
    assert evaluation.error == "cypher:x.cypher: no answer within 1 s"
