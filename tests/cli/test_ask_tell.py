"""Measuring by hand: each command is a process of its own, and the database remembers."""

import pytest

from tests.backends import Backend, on_sqlite
from tests.cli.commands import Graphbo
from tests.cli.runs import OPTIONS, VIEW, InProcess, history

#: Without a model nothing takes long; that it works with one is shown once.
RANDOM = (*OPTIONS, "--strategy", "random")


@pytest.mark.slow
def test_ask_in_one_process_and_tell_in_another(
    loaded: Backend, graphbo: Graphbo, here: InProcess
) -> None:
    place = ("--uri", loaded.uri)
    asked = graphbo("ask", "hand", *OPTIONS, "--option", "initial=1", *place)
    assert asked.code == 0, asked
    assert "The run 'hand' is started" in asked.err
    first = asked.out.splitlines()[0]
    assert first.startswith("Measure: ")
    key = first.split()[1]
    assert f"         name: node {key}" in asked.out
    assert f"graphbo tell hand {key} VALUE --uri {loaded.uri}" in asked.out

    told = graphbo("tell", "hand", key, "-0.25", *place)
    assert told.code == 0, told
    assert f"Step 1: {key} = -0.25, the best so far. 1 evaluation." in told.out

    again = here("ask", "hand", "--json").json
    (pending,) = again["pending"]
    assert (again["created"], again["new"], pending["step"]) == (False, True, 2)
    assert pending["phase"] == "model"
    assert pending["mean"] is not None
    why = here("why", "hand", "--json").json
    assert (why["key"], why["standing"]) == (pending["key"], "pending")
    assert sum(part["amount"] for part in why["parts"]) == pytest.approx(pending["mean"])
    assert pending["properties"]["name"] == f"node {pending['key']}"


@on_sqlite
def test_what_was_asked_by_hand_is_what_a_run_would_have_asked(
    loaded: Backend, here: InProcess
) -> None:
    options = (*OPTIONS, "--seed", 4, "--option", "initial=3", "--budget", 6)
    assert here("run", *options, "--objective", "property:score", "--name", "ran").code == 0
    ran = history(here, "ran")
    for one in ran:
        (pending,) = here("ask", "hand", *options, "--json").json["pending"]
        assert pending["key"] == one["key"]
        assert here("tell", "hand", pending["key"], one["value"]).code == 0
    assert history(here, "hand") == ran
    assert "finished, 6 of 6" in here("status", "hand").out
    line = here("ask", "hand").failed_with_one_line()
    assert "the budget of the run 'hand' is used up (6 of 6 evaluations)" in line
    assert here("ask", "hand", "--budget", 7, "--json").json["pending"][0]["step"] == 7


@on_sqlite
def test_the_answer_stays_until_it_is_told(loaded: Backend, here: InProcess) -> None:
    first = here("ask", "hand", *RANDOM)
    before = loaded.dump()
    second = here("ask", "hand")
    assert second.out == first.out
    assert "Asked before, and not told yet" in second.err
    assert loaded.dump() == before
    both = here("ask", "hand", "--another", "--json").json
    assert both["new"] is True
    assert [one["step"] for one in both["pending"]] == [1, 2]
    status = here("status", "hand")
    assert status.out.count("asked by hand for ") == 2
    assert here("ask", "hand").out.count("Measure: ") == 2


@on_sqlite
def test_releasing_gives_a_node_back(loaded: Backend, here: InProcess) -> None:
    (pending,) = here("ask", "hand", *RANDOM, "--json").json["pending"]
    assert "is released" in here("release", "hand", pending["key"]).out
    assert here("status", "hand", "--json").json["pending"] == []
    assert "nobody asked" in here("release", "hand", pending["key"]).failed_with_one_line()
    (another,) = here("ask", "hand", "--json").json["pending"]
    released = here("release", "hand", "--step", another["step"], "--json").json["released"]
    assert released["key"] == another["key"]


@on_sqlite
def test_telling_twice(loaded: Backend, here: InProcess) -> None:
    (pending,) = here("ask", "hand", *RANDOM, "--json").json["pending"]
    key = pending["key"]
    assert here("tell", "hand", "--step", 1, 3).code == 0
    before = loaded.dump()
    assert "nothing changed" in here("tell", "hand", key, "3.0").out
    assert "--amend" in here("tell", "hand", key, 4).failed_with_one_line()
    assert "replaced" in here("tell", "hand", key, "--failed", "why").failed_with_one_line()
    assert history(here, "hand")[0]["value"] == 3.0
    amended = here("tell", "hand", key, 4, "--amend")
    assert f"Step 1: {key} = 4 now, the best so far (before: 3)" in amended.out
    assert history(here, "hand")[0]["value"] == 4.0
    assert loaded.dump() != before


@on_sqlite
def test_failures_and_values_known_beforehand(loaded: Backend, here: InProcess) -> None:
    (pending,) = here("ask", "hand", *RANDOM, "--json").json["pending"]
    told = here("tell", "hand", pending["key"], "--failed", "moved away")
    assert "failed (moved away). 1 evaluation." in told.out
    other = 7 if pending["key"] != 7 else 8
    known = here("tell", "hand", other, "2.5", "--known")
    assert f"{other} = 2.5 is known now. 1 evaluation." in known.out
    assert "nothing changed" in here("tell", "hand", other, "2.5", "--known").out
    assert here("best", "hand", "--json").json["key"] == other
    assert "known value" in here("best", "hand").out
    assert [one["source"] for one in history(here, "hand")] == ["run", "warm"]


@on_sqlite
def test_bad_values_are_one_line_and_change_nothing(loaded: Backend, here: InProcess) -> None:
    (pending,) = here("ask", "hand", *RANDOM, "--json").json["pending"]
    key = pending["key"]
    before = loaded.dump()
    for words, expected in [
        ((key, "abc"), "'abc' is not a number"),
        ((key, "nan"), "'nan' is not a number"),
        ((key, "-inf"), "'-inf' is not a number"),
        ((key, "1e999"), "expected a finite number"),
        ((key, ""), "not a number"),
        (("nobody", 1), "no node of"),
        ((10_000, 1), "no node of"),
        ((7 if key != 7 else 8, 1), "nobody asked for"),
        (("--step", 99, 1), "nobody asked for step 99"),
        (("nobody", 1, "--known"), "no node of"),
    ]:
        assert expected in here("tell", "hand", *words).failed_with_one_line(), words
    assert here("ask", "hand", "--seed", 9).failed_with_one_line().count("seed was 0, not 9") == 1
    assert loaded.dump() == before


def test_keys_that_are_text(backend: Backend, here: InProcess) -> None:
    view = type(VIEW)(("Person",), ("MET",), key="name")
    names = ["7", "-7", "ann lee", "it's", "\x1b[31mred", "日本"]
    with backend.open() as store:
        store.create_key(view)
        store.write_relationships(view, [("7", name, {}) for name in names[1:]])
    options = ("--label", "Person", "--rel", "MET", "--strategy", "bfs", "--start", "7")
    for _ in names:
        (pending,) = here("ask", "hand", *options, "--json").json["pending"]
        shown = here("ask", "hand").out
        assert "\x1b" not in shown
        assert here("tell", "hand", pending["key"], 1).code == 0, pending
    assert {one["key"] for one in history(here, "hand")} == set(names)
    assert "has been measured" in here("ask", "hand").failed_with_one_line()
    assert "\x1b" not in here("history", "hand").out + here("best", "hand").out


@on_sqlite
def test_a_run_goes_on_with_what_was_begun_by_hand(loaded: Backend, here: InProcess) -> None:
    (pending,) = here("ask", "hand", *RANDOM, "--json").json["pending"]
    here("tell", "hand", pending["key"], 0.5)
    assert "--objective" in here("run", "--name", "hand").failed_with_one_line()
    options = ("--objective", "property:score", "--budget", 5, "--json")
    result = here("run", "--name", "hand", *options).json
    assert (result["evaluations"], result["evaluated_here"]) == (5, 4)


@on_sqlite
def test_a_run_leaves_alone_what_was_asked_by_hand(loaded: Backend, here: InProcess) -> None:
    (pending,) = here("ask", "hand", *RANDOM, "--json").json["pending"]
    options = ("--objective", "property:score", "--budget", 4, "--json")
    result = here("run", "--name", "hand", *options).json
    assert (result["evaluations"], result["state"], result["pending"]) == (3, "running", 1)
    told = here("tell", "hand", pending["key"], 1)
    assert "4 of 4 evaluations" in told.out
    assert here("status", "hand", "--json").json["state"] == "finished"
