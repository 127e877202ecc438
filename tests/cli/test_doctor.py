"""``graphbo doctor``, and what commands say when a database or a view cannot be used."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from graphbo.types import View
from tests.backends import Backend, Neo4jBackend, SqliteBackend, on_sqlite
from tests.cli.commands import run_graphbo
from tests.cli.runs import InProcess

VIEW = View(("N",), ("R",), key="id")
OPTIONS = ("--label", "N", "--rel", "R")
SECRET = "hunter2-never-shown"


@pytest.fixture
def loaded(backend: Backend) -> Backend:
    with backend.open() as store:
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(150)])
    return backend


def test_a_healthy_database_gets_a_tick_for_everything(loaded: Backend, here: InProcess) -> None:
    before = loaded.dump()
    answer = here("doctor", *OPTIONS)
    assert answer.code == 0, answer
    lines = answer.out.splitlines()
    assert all(line.startswith("✓") for line in lines), answer.out
    for expected in ("read and write", "151 nodes", "150 relationships", "id is unique", "ms"):
        assert expected in answer.out
    assert answer.err.startswith("Using ")
    assert loaded.dump() == before


@on_sqlite
def test_as_json(loaded: Backend, here: InProcess) -> None:
    answer = here("doctor", *OPTIONS, "--json")
    assert answer.code == 0
    assert answer.json["ok"] is True
    checks = {check["name"]: check for check in answer.json["checks"]}
    assert checks["ego-network"]["milliseconds"] > 0
    assert checks["round trip"]["milliseconds"] > 0


@on_sqlite
def test_without_a_view_it_says_what_there_is(loaded: Backend, here: InProcess) -> None:
    answer = here("doctor")
    assert answer.code == 0
    assert "labels: N; types: R" in answer.out


@on_sqlite
def test_a_label_that_matches_nothing(loaded: Backend, here: InProcess) -> None:
    answer = here("doctor", "--label", "Nothing", "--rel", "R")
    assert answer.code == 1
    assert "✗ 0 nodes with the label Nothing: choose --label among N" in answer.out


def test_a_key_that_is_not_unique(loaded: Backend, here: InProcess) -> None:
    with loaded.open() as store:
        store.write_nodes(VIEW, [(1, {"name": "twin"}), (2, {"name": "twin"})])
    before = loaded.dump()
    answer = here("doctor", *OPTIONS, "--key", "name")
    assert answer.code == 1
    problem = "✗ no uniqueness constraint on 'name' of N (1 of its values belongs to several nodes)"
    assert f"{problem}: give each node a value of its own first, or choose" in answer.out
    assert loaded.dump() == before


@on_sqlite
def test_a_missing_weight(loaded: Backend, here: InProcess) -> None:
    answer = here("doctor", *OPTIONS, "--weight", "w")
    assert answer.code == 1
    assert "has no weight in 'w'" in answer.out


def test_hostile_names_are_one_clear_line(loaded: Backend, here: InProcess) -> None:
    before = loaded.dump()
    for options in (
        ("--label", r"N\u0060", "--rel", "R"),
        ("--label", "N", "--rel", "x" * 20_000),
        ("--label", "N", "--rel", ""),
        (*OPTIONS, "--key", "\\"),
        (*OPTIONS, "--weight", "\\"),
    ):
        line = here("doctor", *options).failed_with_one_line()
        assert len(line) < 300
    assert loaded.dump() == before


@on_sqlite
def test_no_label_is_one_clear_line(loaded: Backend, here: InProcess) -> None:
    line = here("doctor", "--rel", "R").failed_with_one_line()
    assert "--label" in line


class TestEmbedded:
    @pytest.fixture
    def on_file(
        self, sqlite_backend: SqliteBackend, in_process: Callable[[Backend], InProcess]
    ) -> InProcess:
        return in_process(sqlite_backend)

    def test_a_missing_file_is_not_created(
        self, sqlite_backend: SqliteBackend, on_file: InProcess
    ) -> None:
        answer = on_file("doctor")
        assert "graphbo load" in answer.failed_with_one_line()
        assert not sqlite_backend.path.exists()

    def test_without_an_address_it_is_the_default_file(
        self, sqlite_backend: SqliteBackend, tmp_path: Path
    ) -> None:
        answer = run_graphbo(sqlite_backend, tmp_path, "doctor")
        assert answer.err.startswith("Using the embedded store sqlite:graphbo.db")
        assert "graphbo.db" in answer.failed_with_one_line()

    def test_another_file_is_left_alone(
        self, sqlite_backend: SqliteBackend, on_file: InProcess
    ) -> None:
        sqlite_backend.path.write_text("not a database, but somebody's notes " * 100)
        answer = on_file("doctor")
        assert "is not a graphbo database" in answer.failed_with_one_line()
        assert sqlite_backend.path.read_text().startswith("not a database")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write every file")
    def test_a_file_that_may_not_be_written(
        self, sqlite_backend: SqliteBackend, on_file: InProcess, tmp_path: Path
    ) -> None:
        with sqlite_backend.open() as store:
            store.create_key(VIEW)
        sqlite_backend.path.chmod(0o444)
        tmp_path.chmod(0o555)
        try:
            answer = on_file("doctor")
            assert answer.code == 1
        finally:
            tmp_path.chmod(0o755)

    @pytest.mark.parametrize(
        "uri", ["sqlite:", "redis://x", "neo4j://", "neo4j://h:notaport", "::"]
    )
    def test_an_address_that_is_none(self, on_file: InProcess, uri: str) -> None:
        answer = on_file("doctor", "--uri", uri)
        assert "expected" in answer.failed_with_one_line()


@pytest.mark.neo4j
class TestNeo4j:
    @pytest.fixture
    def on_server(
        self, neo4j_backend: Neo4jBackend, in_process: Callable[[Backend], InProcess]
    ) -> InProcess:
        return in_process(neo4j_backend)

    @pytest.fixture
    def refused(self, neo4j_backend: Neo4jBackend, on_server: InProcess) -> Callable[..., str]:
        """What a doctor says who is not let in."""

        def doctor(*, uri: str = neo4j_backend.uri, **environment: str) -> str:
            before = neo4j_backend.dump()
            answer = on_server("doctor", "--uri", uri, environment=environment)
            assert SECRET not in answer.out + answer.err
            assert neo4j_backend.dump() == before
            return answer.failed_with_one_line()

        return doctor

    def test_wrong_password(self, refused: Callable[..., str]) -> None:
        line = refused(NEO4J_PASSWORD=SECRET)
        assert "password" in line
        assert "NEO4J_PASSWORD" in line

    def test_wrong_password_inside_the_address(
        self, neo4j_backend: Neo4jBackend, refused: Callable[..., str]
    ) -> None:
        scheme, _, rest = neo4j_backend.uri.partition("://")
        assert "password" in refused(uri=f"{scheme}://neo4j:{SECRET}@{rest}")

    def test_right_password_inside_the_address(
        self, neo4j_backend: Neo4jBackend, on_server: InProcess
    ) -> None:
        password = neo4j_backend.address.password or ""
        scheme, _, rest = neo4j_backend.uri.partition("://")
        answer = on_server(
            *("doctor", "--json", "--uri", f"{scheme}://neo4j:{password}@{rest}"),
            environment={"NEO4J_PASSWORD": "wrong"},
        )
        assert answer.code == 0
        assert password not in answer.out + answer.err

    def test_wrong_port(self, refused: Callable[..., str]) -> None:
        line = refused(uri=f"bolt://:{SECRET}@127.0.0.1:1")
        assert "no Neo4j answers at bolt://127.0.0.1:1" in line

    def test_wrong_database(self, refused: Callable[..., str]) -> None:
        assert "no database 'elsewhere'" in refused(NEO4J_DATABASE="elsewhere")

    def test_a_credentials_file(
        self, neo4j_backend: Neo4jBackend, on_server: InProcess, tmp_path: Path
    ) -> None:
        address = neo4j_backend.address
        good = tmp_path / "good.env"
        good.write_text(
            "# Wait 60 seconds before connecting\n"
            f"NEO4J_URI={address.uri}\nNEO4J_USERNAME={address.username}\n"
            f"NEO4J_PASSWORD={address.password}\nNEO4J_DATABASE={address.database}\n"
        )
        no_environment = dict.fromkeys(neo4j_backend.environment, "")
        answer = on_server("doctor", "--credentials", good, environment=no_environment)
        assert answer.code == 0, answer
        (tmp_path / "bad.env").write_text(f"NEO4J_PASSWORD={SECRET}\n")
        answer = on_server("doctor", "--credentials", "bad.env")
        assert "NEO4J_URI" in answer.failed_with_one_line()
        assert SECRET not in answer.err


def test_keys_that_two_labels_share_are_found(
    backend: Backend, in_process: Callable[[Backend], InProcess]
) -> None:
    with backend.open() as store:
        for label in ("Person", "Place"):
            view = View((label,), ("VISITS",), key="id")
            store.create_key(view)
            store.write_relationships(view, [(i, i + 1, {}) for i in range(5)])
    both = ("--label", "Person", "--label", "Place", "--rel", "VISITS", "--key", "id")
    here = in_process(backend)
    answer = here("doctor", *both)
    assert answer.code == 1
    assert "unique for each label, but not across them" in answer.out
    assert "(:Person)" in answer.out
    assert "(:Place)" in answer.out
    assert here("doctor", *both[:2], *both[4:]).code == 0
