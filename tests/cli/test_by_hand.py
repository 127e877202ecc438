"""People who measure by hand, in terminals: several nodes at once, spreadsheets, nodes left alone, what was wrong."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.backends import Backend, on_sqlite
from tests.cli.runs import OPTIONS, SIZE, InProcess
from tests.runs.test_by_hand_contract import set_on

RANDOM = (*OPTIONS, "--strategy", "random")


def ask(here: InProcess, count: int = 1, *more: object) -> list[int]:
    """Nodes that wait for a person."""
    asked = here("ask", "hand", *RANDOM, "--count", count, *more, "--json")
    assert asked.code == 0, asked
    return [one["key"] for one in asked.json["pending"]]


def others(*keys: int) -> list[int]:
    return [key for key in range(SIZE) if key not in keys]


class TestAsking:
    def test_several_nodes_wait_at_once(self, here: InProcess) -> None:
        first = here("ask", "hand", *RANDOM, "--count", 3)
        assert first.out.count("Measure: ") == 3
        assert first.out.count("Why:     ") == 3
        waiting = ask(here, 3)
        assert len(set(waiting)) == 3
        assert ask(here, 4)[:3] == waiting
        assert len(ask(here, 2, "--another")) == 6
        # Those that wait are answers enough.
        again = here("ask", "hand", "--count", 2)
        assert "Asked before, and not told yet" in again.err
        assert again.out.count("Measure: ") == 6

    @on_sqlite
    def test_no_more_than_there_are(self, here: InProcess) -> None:
        asked = here("ask", "hand", *RANDOM, "--budget", 2, "--count", 5)
        assert (asked.code, asked.out.count("Measure: ")) == (0, 2)
        assert "No more than 2 nodes can be asked for now." in asked.err

    @on_sqlite
    def test_a_node_of_ones_own_choice(self, loaded: Backend, here: InProcess) -> None:
        (waiting,) = ask(here)
        key = others(waiting)[0]
        asked = here("ask", "hand", "--node", key)
        assert f"Measure: {key} (step 2)" in asked.out
        assert here("tell", "hand", key, 3).code == 0
        before = loaded.dump()
        for taken, why in ((waiting, "is pending already"), (key, "has the value 3.0 already")):
            assert why in here("ask", "hand", "--node", taken).failed_with_one_line()
        assert "no node" in here("ask", "hand", "--node", "nobody").failed_with_one_line()
        for option in (("--another",), ("--count", 2)):
            refused = here("ask", "hand", "--node", key, *option)
            assert refused.code == 2
            assert "--node goes without --another and --count" in refused.err
        assert loaded.dump() == before


class TestLeavingAlone:
    def test_a_node_and_all_of_a_kind(self, here: InProcess) -> None:
        (waiting,) = ask(here)
        said = here("exclude", "hand", waiting, "--reason", "no key to the door")
        assert f"Excluded: {waiting}. 1 node of the run 'hand' in all." in said.out
        assert f"{waiting} is released" in said.out
        assert f"{waiting} is excluded, and never proposed." in here("why", "hand", waiting).out
        said = here("exclude", "hand", "--where", "score < 9", "--json")
        # The score is above nine within ten nodes of the 42nd.
        assert set(said.json["excluded"]) | {waiting} >= set(range(32))
        left = SIZE - said.json["excluded_in_all"]
        assert len(ask(here, left + 1)) == left
        listed = here("exclude", "hand")
        assert f"{waiting}, by " in listed.out
        assert listed.out.splitlines()[0].endswith(": no key to the door")
        assert len(here("exclude", "hand", "--json").json) == said.json["excluded_in_all"]
        assert "Included" in here("include", "hand", waiting).out
        assert "None is excluded now" in here("include", "hand", "--all").out
        assert here("exclude", "hand").out == "No node is excluded from the run 'hand'.\n"

    @on_sqlite
    def test_bad_words_change_nothing(self, loaded: Backend, here: InProcess) -> None:
        ask(here)
        before = loaded.dump()
        assert "9999" in here("exclude", "hand", 3, 9999).failed_with_one_line()
        assert "not excluded" in here("include", "hand", 3).failed_with_one_line()
        assert here("exclude", "hand", "--where", "no such thing").failed_with_one_line()
        assert here("exclude", "nobody", 3).failed_with_one_line()
        assert here("exclude", "hand", "--reason", "why").code == 2
        assert here("include", "hand").code == 2
        assert here("include", "hand", 3, "--all").code == 2
        assert loaded.dump() == before

    @on_sqlite
    def test_a_worker_leaves_them_alone(self, here: InProcess) -> None:
        ask(here)
        here("exclude", "hand", *others(40, 41, 42, 43))
        run = ("run", "--name", "hand", "--objective", "property:score", "--budget", 50)
        assert here(*run).code == 0
        told = {one["key"] for one in here("history", "hand", "--json").json}
        assert told <= {40, 41, 42, 43}
        assert here("best", "hand", "--json").json["key"] == 42


class TestWhatWasWrong:
    def test_a_value_that_was_another_nodes(self, here: InProcess) -> None:
        one, two = ask(here, 2)
        here("tell", "hand", one, 1)
        here("tell", "hand", two, 5)
        said = here("retract", "hand", two, "--reason", "it was the house next door")
        assert f"Retracted: {two} = 5 (step 2). 1 evaluation." in said.out
        assert f"--node {two}" in said.out
        assert here("best", "hand", "--json").json["key"] == one
        listed = here("history", "hand", "--csv").out
        rows = {int(row["key"]): row for row in csv.DictReader(io.StringIO(listed))}
        assert rows[two]["retracted"] == "it was the house next door"
        assert rows[one]["retracted"] == ""
        assert f"{two} is pending" not in here("status", "hand").out
        assert here("ask", "hand", "--node", two).code == 0
        assert here("tell", "hand", two, 2).code == 0

    def test_somebody_who_was_not_at_home_and_then_was(self, here: InProcess) -> None:
        (key,) = ask(here)
        assert here("tell", "hand", key, "--failed", "not at home").code == 0
        assert here("tell", "hand", key, 4).code == 0
        told = here("history", "hand", "--json").json
        assert [(one["key"], one["value"]) for one in told] == [(key, 4.0)]

    @on_sqlite
    def test_bad_words_change_nothing(self, loaded: Backend, here: InProcess) -> None:
        (key,) = ask(here)
        before = loaded.dump()
        assert "pending" in here("retract", "hand", key).failed_with_one_line()
        assert "nobody asked" in here("retract", "hand", "--step", 9).failed_with_one_line()
        assert here("retract", "hand", "nobody").failed_with_one_line()
        assert here("retract", "hand").code == 2
        assert here("retract", "hand", key, "--step", 1).code == 2
        assert here("note", "hand", "x").code == 2
        assert here("note", "hand", others(key)[0], "x").failed_with_one_line()
        assert loaded.dump() == before

    @on_sqlite
    def test_notes(self, here: InProcess) -> None:
        (key,) = ask(here)
        assert (
            here("note", "hand", key, "ring twice").out == f"Step 1: {key} is noted: ring twice\n"
        )
        assert "Note:    ring twice" in here("ask", "hand").out
        here("tell", "hand", key, 1)
        assert here("history", "hand", "--json").json[0]["note"] == "ring twice"
        assert here("note", "hand", "--step", 1, "", "--json").json["note"] is None
        assert here("history", "hand", "--json").json[0]["note"] is None


SURVEY = (
    "\ufeffsep=;\r\nPlatz;PERSON;Value (mg);Bemerkung\r\n1;{one};1.5;\r\n2;{two};;not at home\r\n"
)
COLUMNS = ("--node-column", "person", "--value-column", "Value (mg)", "--note-column", "Bemerkung")


class TestSpreadsheets:
    def test_a_preview_and_then_the_same(
        self, loaded: Backend, here: InProcess, tmp_path: Path
    ) -> None:
        one, two, three = ask(here, 3)
        (tmp_path / "survey.csv").write_bytes(SURVEY.format(one=one, two=two).encode())
        before = loaded.dump()
        looked = here("tell", "hand", "--from", "survey.csv", *COLUMNS, "--dry-run")
        assert looked.code == 0, looked
        lines = looked.out.splitlines()
        assert lines[:3] == [
            f"Line 3: {one} = 1.5 is recorded at step 1",
            f"Line 4: {two} has failed, at step 2 (not at home)",
            "Nothing was recorded.",
        ]
        assert "--node-column person --value-column 'Value (mg)'" in lines[3]
        assert loaded.dump() == before
        assert here("tell", "hand", "--from", "survey.csv", *COLUMNS).code == 0
        assert [one["value"] for one in here("history", "hand", "--json").json] == [1.5, None]
        # A failure may be replaced later; a value only on purpose.
        (tmp_path / "later.csv").write_text(f"node,value\n{one},2\n{two},7\n{three},1\n")
        effects = here("tell", "hand", "--from", "later.csv", "--dry-run", "--json")
        found = [one["what"] for one in json.loads(effects.out)["lines"]]
        assert (effects.code, found) == (1, ["refuse", "mend", "record"])
        effects = here("tell", "hand", "--from", "later.csv", "--amend", "--dry-run", "--json")
        assert [one["what"] for one in effects.json["lines"]] == ["amend", "mend", "record"]

    @on_sqlite
    def test_a_preview_says_of_every_line_what_is_wrong(
        self, loaded: Backend, here: InProcess, tmp_path: Path
    ) -> None:
        one, two = ask(here, 2)
        free = others(one, two)[0]
        (tmp_path / "values.csv").write_text(
            f'node,value,note\n{one},"3,5",\n{one},1,\nnobody,1,\n{free},1,\n{two},nan,\n{two},,\n'
        )
        before = loaded.dump()
        looked = here("tell", "hand", "--from", "values.csv", "--dry-run")
        assert looked.code == 1
        refused = looked.out.splitlines()
        assert [line.partition(" is refused")[0] for line in refused] == [
            f"Line 2: {one}",
            f"Line 3: {one}",
            "Line 4: nobody",
            f"Line 5: {free}",
            f"Line 6: {two}",
            f"Line 7: {two}",
        ]
        assert "write it with a point, like 3.5" in refused[0]
        assert "6 lines of values.csv would be refused" in looked.err
        assert "Nothing was recorded" not in looked.out
        assert loaded.dump() == before
        assert here("tell", "hand", 1, 2, "--dry-run").code == 2
        missing = here("tell", "hand", "--from", "values.csv", "--value-column", "Wert")
        assert "no column is called 'Wert', of node, value, note" in missing.failed_with_one_line()

    def test_what_is_taken_out(self, here: InProcess) -> None:
        one, two = ask(here, 2)
        here("tell", "hand", one, 1.5, "--note", "=HYPERLINK(1)")
        here("tell", "hand", two, "--failed", "später; oder nie")
        plain = here("history", "hand", "--csv").out
        first, second = csv.DictReader(io.StringIO(plain))
        assert (first["key"], first["value"], first["name"]) == (str(one), "1.5", f"node {one}")
        assert first["note"] == "'=HYPERLINK(1)"
        assert second["error"] == "später; oder nie"
        # What runs wrote on nodes is none of theirs.
        assert not [name for name in first if name.startswith("graphbo")]
        comma = here("history", "hand", "--decimal", "comma").out
        assert comma.startswith("\ufeffstep;seq;key;value")
        first, second = csv.DictReader(io.StringIO(comma.removeprefix("\ufeff")), delimiter=";")
        assert first["value"] == "1,5"
        assert second["error"] == "später; oder nie"

    @on_sqlite
    def test_what_was_taken_out_can_be_brought_in(self, here: InProcess, tmp_path: Path) -> None:
        (key,) = ask(here)
        here("tell", "hand", key, -1.5, "--note", "-5 outside")
        (tmp_path / "out.csv").write_text(here("history", "hand", "--decimal", "point").out)
        told = here("tell", "hand", "--from", "out.csv", "--node-column", "key", "--json")
        assert [one["outcome"] for one in told.json["told"]] == ["repeated"]


class TestTheDatabaseAsAForm:
    def test_answers_are_collected(self, loaded: Backend, here: InProcess) -> None:
        one, two, three = ask(here, 3)
        assert here("collect", "hand").out == "No answers: 3 nodes of the run 'hand' wait.\n"
        set_on(loaded, one, graphboAnswer=6.5)
        set_on(loaded, two, graphboAnswer="3,5")
        collected = here("collect", "hand", "--keep", 3)
        assert collected.code == 1
        assert f"Step 1: {one} = 6.5, the best so far." in collected.out
        assert "Measure: " in collected.out
        assert f"1 answer cannot be told: {two} has '3,5'" in collected.err
        assert "graphboAnswerError" in collected.err
        set_on(loaded, two, graphboAnswer="failed: moved away")
        collected = here("collect", "hand", "--json")
        assert collected.code == 0, collected
        assert [one["error"] for one in collected.json["told"]] == ["moved away"]
        waiting = {one["key"] for one in here("status", "hand", "--json").json["pending"]}
        assert len(waiting) == 2
        assert three in waiting

    @on_sqlite
    def test_watching_ends_with_the_run(self, loaded: Backend, here: InProcess) -> None:
        (key,) = ask(here, 1, "--budget", 1)
        set_on(loaded, key, graphboAnswer="2.5")
        watched = here("collect", "hand", "--watch", "--interval", 0.05)
        assert watched.code == 0, watched
        assert watched.out.splitlines() == [
            f"Step 1: {key} = 2.5, the best so far.",
            "The run 'hand' is finished: 1 of 1 evaluation.",
        ]
        for words in (("--interval", 1), ("--watch", "--json")):
            assert here("collect", "hand", *words).code == 2
        assert here("collect", "nobody").failed_with_one_line()

    @on_sqlite
    def test_whoever_asks_or_works_collects(self, loaded: Backend, here: InProcess) -> None:
        one, two = ask(here, 2)
        set_on(loaded, one, graphboAnswer=6.5)
        here("ask", "hand")
        assert [told["value"] for told in here("history", "hand", "--json").json] == [6.5]
        set_on(loaded, two, graphboAnswer=7.5)
        run = ("run", "--name", "hand", "--objective", "property:score", "--budget", 4)
        assert here(*run).code == 0
        told = {one["key"]: one["value"] for one in here("history", "hand", "--json").json}
        assert (told[one], told[two]) == (6.5, 7.5)


@pytest.mark.parametrize("command", ["exclude", "include", "retract", "note", "collect"])
@on_sqlite
def test_a_run_that_is_not_there(here: InProcess, command: str) -> None:
    words = {"note": ("1", "x"), "collect": ()}.get(command, ("1",))
    assert "there is no run 'gone'" in here(command, "gone", *words).failed_with_one_line()


def test_the_report_of_an_open_run_says_what_to_measure_next(
    here: InProcess, tmp_path: Path
) -> None:
    def next_of() -> list[dict[str, str]]:
        assert here("report", "hand", "-o", "r.html").code == 0
        page = (tmp_path / "r.html").read_text()
        data = json.loads(page.split('id="data">', 1)[1].split("</script>", 1)[0])
        return data["next"]  # type: ignore[no-any-return]

    (waiting,) = (one["key"] for one in here("ask", "hand", *OPTIONS, "--json").json["pending"])
    assert next_of() == [{"key": str(waiting), "how": "being measured, step 1", "why": ""}]
    here("exclude", "hand", 44)
    here("tell", "hand", waiting, 1)
    for key in (40, 43):
        here("ask", "hand", "--node", key)
        here("tell", "hand", key, 10 - abs(key - 42))
    here("ask", "hand", "--node", 41)
    first, *promising = next_of()
    assert (first["key"], first["how"]) == ("41", "being measured, step 4")
    assert len(promising) == 3
    assert {one["how"] for one in promising} == {"promising"}
    assert all(one["why"].startswith("expected ") for one in promising)
    assert not {one["key"] for one in promising} & {"40", "41", "43", "44", str(waiting)}
    here("stop", "hand")
    assert next_of() is None
