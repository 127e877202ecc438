"""Views that are more than labels and types, from the command line: people who were at the same places."""

from pathlib import Path

import pytest

from graphbo.types import View
from tests.backends import SqliteBackend
from tests.cli.runs import InProcess, in_this_process

PEOPLE = View(("Person",), ("VISITS",), key="name")
PLACES = View(("Place",), ("VISITS",), key="name")
PATH = "(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)"
HINT = f"through Place: --path '{PATH}'"
#: Everybody was there.
HUB = ("--hub-limit", "50")


@pytest.fixture
def people(sqlite_backend: SqliteBackend) -> SqliteBackend:
    """90 people who live beside each other, and were at the station."""
    with sqlite_backend.open() as store:
        for view in (PEOPLE, PLACES):
            store.create_key(view)
        store.write_nodes(PLACES, [(f"place {i}", {}) for i in range(30)])
        rows = [(f"person {i}", {"age": i, "cost": 30.0 - abs(i % 30 - 20)}) for i in range(90)]
        store.write_nodes(PEOPLE, rows)
        visits = [
            (f"person {i}", f"place {place % 29 if place >= 0 else 29}", {"hours": 1.0 + i % 3})
            for i in range(90)
            for place in (i % 30, i % 30 + 1, -1)
        ]
        store.write_relationships(PEOPLE, visits, target=PLACES)
    return sqlite_backend


@pytest.fixture
def here(
    people: SqliteBackend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> InProcess:
    return in_this_process(people, tmp_path, monkeypatch, capsys)


def test_doctor_refuses_people_with_nobody_beside_them(here: InProcess) -> None:
    answer = here("doctor", "--label", "Person", "--rel", "VISITS")

    assert answer.code == 1
    assert "✗ Person has no Person beside it by VISITS (30 of 30 candidates" in answer.out
    assert HINT in answer.out


def test_doctor_says_what_a_view_is_made_of(here: InProcess) -> None:
    answer = here("doctor", "--path", PATH, *HUB)

    assert answer.code == 0, answer
    assert "✓ 90 candidates (:Person)" in answer.out
    assert f"✓ edges by the path {PATH}" in answer.out
    assert "✓ a candidate has " in answer.out


def test_doctor_tells_candidates_from_connectors(here: InProcess) -> None:
    answer = here(
        "doctor", "--label", "Place", "--candidates", "Person", "--rel", "VISITS",
        "--candidates-where", "age >= 30",
    )  # fmt: skip

    assert answer.code == 0, answer
    assert "60 candidates (:Person WHERE age >= 30); connectors:" in answer.out


def test_doctor_says_that_all_kinds_may_be_measured(here: InProcess) -> None:
    answer = here("doctor", "--label", "Person", "--label", "Place", "--rel", "VISITS")

    assert "all of them may be measured, unless --candidates says which" in answer.out


def test_doctor_says_which_connectors_were_skipped(here: InProcess) -> None:
    answer = here("doctor", "--path", PATH, *HUB)
    assert answer.code == 0, answer
    assert "; 1 connector with more than 50 neighbours was skipped (--hub-limit)" in answer.out

    answer = here("doctor", "--path", PATH, "--hub-limit", 1)
    assert answer.code == 1
    (line,) = [line for line in answer.out.splitlines() if "beside it" in line]
    assert line.endswith("connectors with more than 1 neighbour were skipped: raise --hub-limit")


def test_doctor_knows_what_a_weight_may_have_been_called(here: InProcess) -> None:
    answer = here(
        "doctor",
        "--label",
        "Place",
        "--candidates",
        "Person",
        "--rel",
        "VISITS",
        "--weight",
        "hous",
    )

    assert answer.code == 1
    assert "(did you mean 'hours'?)" in answer.out


def test_a_filter_that_no_node_can_fulfil(here: InProcess) -> None:
    view = ("--path", PATH, "--where", "agee > 3")

    answer = here("doctor", *view)
    assert answer.code == 1
    assert "did you mean 'age'" in answer.out

    line = here("ask", "new", *view).err.splitlines()[-1]
    assert "fulfils agee > 3 (did you mean 'age'?): change --where or --candidates-where" in line


def test_a_filter_that_leaves_out_the_connectors(here: InProcess) -> None:
    view = ("--candidates", "Person", "--label", "Place", "--rel", "VISITS", "--hub-limit", "50")

    answer = here("doctor", *view, "--where", "age < 60")
    assert answer.code == 1
    assert (
        "--where leaves out what connects them; with --candidates-where in its place" in answer.out
    )
    assert here("doctor", *view, "--candidates-where", "age < 60").code == 0


def test_a_caption_that_is_nearly_right(here: InProcess) -> None:
    view = ("--path", PATH, *HUB, "--strategy", "random")
    hint = "no node that was looked at has the property 'nam' (did you mean 'name'?)"

    assert hint in here("ask", "new", *view, "--caption", "nam").err
    assert "did you mean 'cost'" in here("status", "new", "--caption", "costs").err
    assert "did you mean" not in here("status", "new", "--caption", "name").err


def test_a_weight_that_some_relationships_do_not_have(
    here: InProcess, people: SqliteBackend
) -> None:
    with people.open() as store:
        store.write_relationships(PEOPLE, [("person 1", "place 8", {})], target=PLACES)
    view = ("--candidates", "Person", "--label", "Place", "--rel", "VISITS", *HUB)

    line = here("ask", "new", *view, "--weight", "hours").failed_with_one_line()
    assert line.endswith("; --default-weight W is for those that have none")
    assert here("ask", "new", *view, "--weight", "hours", "--default-weight", "1").code == 0


def test_a_run_through_places(here: InProcess, people: SqliteBackend) -> None:
    before = people.dump()
    view = ("--path", PATH, *HUB, "--where", "age < 60")
    answer = here("run", *view, "--objective", "property:cost", "--budget", 14)

    assert answer.code == 0, answer
    assert "beside it" not in answer.err
    assert "1 connector with more than 50 neighbours was skipped: --hub-limit" in answer.out
    name = "person-cost"
    history = here("history", name, "--json").json
    assert all(one["key"].startswith("person ") for one in history)
    assert all(int(one["key"].removeprefix("person ")) < 60 for one in history)

    # The same command goes on, and so does the name alone; other options are refused in a line.
    assert here("run", *view, "--objective", "property:cost", "--budget", 15).code == 0
    again = here("run", "--name", name, "--budget", 16, "--json")
    assert again.json["evaluations"] == 16
    assert again.json["hubs_skipped"] == 1
    assert again.json["view"]["paths"] == [PATH]
    assert again.json["view"]["where"] == "age < 60"
    other = here("run", "--name", name, "--budget", 17, "--hub-limit", 49)
    assert "hub limit was 50, not 49" in other.failed_with_one_line()
    other = here("run", "--name", name, "--budget", 17, "--where", "age < 61")
    assert "WHERE age < 61" in other.failed_with_one_line()

    assert here("clean", name, "--yes").code == 0
    assert people.dump() == before


def test_asking_warns_of_a_view_that_says_nothing(here: InProcess) -> None:
    answer = here("ask", "new", "--label", "Person", "--rel", "VISITS")

    assert answer.code == 0
    assert HINT in answer.err


def test_a_second_type_counts_by_its_factor(here: InProcess) -> None:
    answer = here(
        "ask", "new", "--label", "Place", "--candidates", "Person", "--rel", "VISITS=0.5",
        "--weight", "hours", "--weight-as", "distance", "--default-weight", 2, "--json",
    )  # fmt: skip

    assert answer.code == 0, answer
    view = answer.json["run"]["view"]
    assert view["factors"] == [["VISITS", 0.5]]
    assert view["weight_as"] == "distance"
    assert view["default_weight"] == 2.0
    assert view["candidates"] == ["Person"]


def test_a_path_that_cannot_be_read_points_at_the_place(here: InProcess) -> None:
    line = here("ask", "new", "--path", "(:Person)-[:VISITS*]-(:Person)").failed_with_one_line()

    assert "at character 19" in line


def test_statements_are_for_neo4j(here: InProcess, tmp_path: Path) -> None:
    (tmp_path / "hop.cypher").write_text("UNWIND $keys AS key RETURN key, key, 1.0")
    answer = here("ask", "new", "--label", "Person", "--hop", "hop.cypher")

    assert "Neo4j" in answer.failed_with_one_line()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("RETURN 1", "does not use $keys"), ("", "holds no statement"), (None, "cannot be read")],
)
def test_a_file_that_holds_no_statement_for_edges(
    here: InProcess, tmp_path: Path, text: str | None, expected: str
) -> None:
    if text is not None:
        (tmp_path / "hop.cypher").write_text(text)

    answer = here("ask", "new", "--label", "Person", "--hop", "hop.cypher")

    assert expected in answer.failed_with_one_line()


def test_a_key_for_every_label_of_the_candidates(
    people: SqliteBackend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    here = in_this_process(people, tmp_path, monkeypatch, capsys, place=False)
    answer = here(
        "cypher", "create_key", "--label", "A", "--label", "B", "--rel", "R", "--key", "id"
    )

    assert answer.code == 0
    assert "(n:`A`) REQUIRE n.`id` IS UNIQUE;" in answer.out
    assert "(n:`B`) REQUIRE n.`id` IS UNIQUE;" in answer.out
    assert "DROP INDEX" in answer.out
