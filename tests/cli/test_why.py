"""``graphbo why``: what is expected of a node, in words and in numbers that add up."""

import pytest

from tests.backends import Backend, on_sqlite
from tests.cli.runs import OPTIONS, InProcess, score

pytestmark = on_sqlite

RUN = ("run", *OPTIONS, "--objective", "property:score", "--name", "found", "--budget", 14)


@pytest.fixture
def ran(loaded: Backend, here: InProcess) -> InProcess:
    """A run with a model, on nodes that have names."""
    answer = here(*RUN, "--caption", "name", "--option", "initial=6")
    assert answer.code == 0, answer
    return here


def test_the_parts_add_up_to_what_was_expected(loaded: Backend, ran: InProcess) -> None:
    before = loaded.dump()
    for one in ran("history", "found", "--json").json:
        found = ran("why", "found", one["key"], "--json").json
        assert (found["standing"], found["value"]) == ("measured", one["value"])
        assert found["caption"] == f"node {one['key']}"
        if one["phase"] not in ("model", "scout"):
            assert (found["mean"], found["parts"]) == (None, [])
            continue
        assert found["mean"] == pytest.approx(one["mean"], rel=1e-9)
        assert found["std"] == pytest.approx(one["std"], rel=1e-9)
        assert sum(part["amount"] for part in found["parts"]) == pytest.approx(one["mean"])
        named = [part for part in found["parts"] if part["kind"] == "node"]
        assert named
        assert all(part["value"] == score(part["key"]) for part in named)
        assert {part["name"] for part in found["parts"] if "name" in part} <= {"degree"}
    assert loaded.dump() == before


def test_a_scout_is_chosen_by_its_features(loaded: Backend, here: InProcess) -> None:
    """The features of a run are checked before anything is written; what they add to what is expected is said."""
    wrong = here(*RUN, "--features", "nothing")
    assert wrong.code == 1
    assert "the property 'nothing' can be no feature: no node has it" in wrong.err
    assert not here("runs", "--json").json
    answer = here(*RUN, "--features", "score", "--option", "initial=6", "--option", "size=4")
    assert "Features: score (numbers)" in answer.err
    scouts = [one for one in here("history", "found", "--json").json if one["phase"] == "scout"]
    assert scouts
    for one in scouts:
        found = here("why", "found", one["key"], "--json").json
        assert found["mean"] == pytest.approx(one["mean"], rel=1e-9)
        assert sum(part["amount"] for part in found["parts"]) == pytest.approx(one["mean"])
        assert {part["name"]: part["value"] for part in found["parts"] if "name" in part}[
            "score"
        ] == score(one["key"])
    assert here(*RUN, "--features", "auto", "--option", "initial=6", "--option", "size=4").code == 0
    other = here(*RUN, "--features", "name", "--option", "initial=6", "--option", "size=4")
    assert other.code == 1
    assert "features was ['score'], not ['name']" in other.err


def test_it_is_said_in_a_sentence_and_a_table(ran: InProcess) -> None:
    chosen = [one for one in ran("history", "found", "--json").json if one["phase"] == "model"][-1]
    lines = ran("why", "found", chosen["key"]).out.splitlines()
    key, step = chosen["key"], chosen["step"]
    assert lines[0] == f"{key} (node {key}), step {step}, was measured."
    assert lines[1].startswith("Expected ")
    assert " ± " in lines[1]
    assert lines[2] == f"What came: {score(chosen['key']):.6g}."
    assert lines[3].startswith("Place 1 among ")
    assert lines[4].split() == ["part", "value", "adds"]
    assert lines[5].startswith("usual here")
    assert lines[-1].startswith("expected")
    shown = [float(line.split()[-1]) for line in lines[5:]]
    assert sum(shown[:-1]) == pytest.approx(shown[-1], rel=0.02)


def test_a_random_node_is_simply_unknown(ran: InProcess) -> None:
    first = ran("history", "found", "--json").json[0]
    lines = ran("why", "found", first["key"]).out.splitlines()
    assert lines[1:] == ["Unknown: drawn at random, to begin with."]


def test_asking_by_hand_says_why_in_a_line(loaded: Backend, here: InProcess) -> None:
    first = here("ask", "hand", *OPTIONS, "--option", "initial=2")
    assert "Why:     Unknown: drawn at random, to begin with\n" in first.out
    for _ in range(2):
        (pending,) = here("ask", "hand", "--json").json["pending"]
        assert here("tell", "hand", pending["key"], score(pending["key"])).code == 0
    asked = here("ask", "hand", "--caption", "name", "--json").json["pending"][0]
    assert asked["why"]["mean"] == asked["mean"]
    assert sum(part["amount"] for part in asked["why"]["parts"]) == pytest.approx(asked["mean"])
    shown = here("ask", "hand", "--caption", "name").out
    assert f"Why:     {asked['why']['text']}; expected gain " in shown
    assert here("why", "hand", "--json").json["key"] == asked["key"]


def test_what_was_not_asked_for_can_be_asked_about(ran: InProcess) -> None:
    measured = {one["key"] for one in ran("history", "found", "--json").json}
    other = next(node for node in range(60) if node not in measured)
    found = ran("why", "found", other, "--json").json
    assert (found["standing"], found["step"]) == ("open", None)
    assert sum(part["amount"] for part in found["parts"]) == pytest.approx(found["mean"])


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("nobody",), "there is no run 'nobody'"),
        (("found", "4711"), "no node"),
        (("found", "x\x1b[31m"), "no node"),
    ],
)
def test_what_cannot_be_said_is_one_line(
    ran: InProcess, words: tuple[str, ...], problem: str
) -> None:
    assert problem in ran("why", *words).failed_with_one_line()
