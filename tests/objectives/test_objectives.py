"""What all objectives have in common."""

import datetime
import json
import math
import pickle

import neo4j.spatial
import neo4j.time
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbo import objectives
from graphbo.errors import EvaluationFailed, InvalidObjective
from graphbo.objectives import KINDS, Evaluation, Node, Objective, evaluate, parse_objective
from graphbo.objectives.base import Evaluator, Permanent, Unavailable
from graphbo.objectives.payload import to_json


@pytest.mark.parametrize(
    "spec", ["", " ", "load", "file:x", "PROPERTY:x", "ftp://host", ":", ": x"]
)
def test_unknown_kinds_are_refused_with_the_known_ones(spec: str) -> None:
    with pytest.raises(InvalidObjective, match="no known kind") as caught:
        parse_objective(spec)
    message = str(caught.value)
    assert "\n" not in message
    assert all(kind.usage in message for kind in KINDS.values())


def test_a_mistyped_address_does_not_show_its_password() -> None:
    with pytest.raises(InvalidObjective, match="'htp' is of no known kind") as caught:
        parse_objective("htp://user:hunter2@host/")
    assert "hunter2" not in str(caught.value)


@given(st.text())
def test_any_text_is_an_objective_or_refused(text: str) -> None:
    prefix = text.partition(":")[0]
    if prefix not in KINDS:
        with pytest.raises(InvalidObjective):
            parse_objective(text)


def test_every_kind_has_words_for_people() -> None:
    for prefix, kind in KINDS.items():
        assert kind.usage.startswith(f"{prefix}:")
        assert kind.help


@pytest.mark.parametrize("timeout", [0, -1, math.nan, math.inf, 1e300])
def test_time_outs_that_make_no_sense(timeout: float) -> None:
    with pytest.raises(InvalidObjective, match="expected more than 0"):
        parse_objective("property:x", timeout=timeout)


def test_retries_that_make_no_sense() -> None:
    with pytest.raises(InvalidObjective, match="-1 retries: expected 0 or more"):
        parse_objective("property:x", retries=-1)


def test_public_names() -> None:
    assert all(hasattr(objectives, name) for name in objectives.__all__)


# Trying again


class Failing(Evaluator):
    def __init__(self, *errors: EvaluationFailed) -> None:
        self.errors = list(errors)

    def measure(self, node: Node, timeout: float | None) -> object:
        if self.errors:
            raise self.errors.pop(0)
        return 1


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr("graphbo.objectives.base.time.sleep", slept.append)
    return slept


def tried(retries: int, *errors: EvaluationFailed) -> Evaluation:
    return evaluate(Objective("x", Failing(*errors), retries=retries), Node(1))


def test_a_failure_is_tried_again_at_once(pauses: list[float]) -> None:
    evaluation = tried(3, EvaluationFailed("a"), EvaluationFailed("b"))
    assert (evaluation.value, evaluation.error, evaluation.attempts) == (1.0, None, 3)
    assert sum(pauses) == 0


def test_a_service_gets_time_to_recover(pauses: list[float]) -> None:
    tried(20, *[Unavailable("a")] * 10)
    assert pauses[:4] == [0.5, 1.0, 2.0, 4.0]
    assert max(pauses) == 30.0


def test_a_service_gets_the_time_it_asks_for(pauses: list[float]) -> None:
    tried(20, Unavailable("a", 7.0), Unavailable("b", 0.0))
    assert pauses == [7.0, 0.0]


def test_who_was_turned_away_comes_again_without_being_told_to(pauses: list[float]) -> None:
    turned_away = Unavailable("busy", unpaid=True)
    evaluation = tried(0, *[turned_away] * 4)
    assert (evaluation.value, evaluation.attempts) == (1.0, 5)
    assert pauses == [0.5, 1.0, 2.0, 4.0]
    assert tried(0, *[turned_away] * 5).error == "busy (after 5 attempts)"
    # And a failure that may have been paid for ends it.
    assert tried(0, turned_away, Unavailable("late")).error == "late (after 2 attempts)"


def test_what_cannot_change_is_not_tried_again(pauses: list[float]) -> None:
    evaluation = tried(5, EvaluationFailed("a"), Permanent("b"))
    assert (evaluation.error, evaluation.attempts) == ("b (after 2 attempts)", 2)


def test_a_failed_call_raises_a_plain_error() -> None:
    with pytest.raises(EvaluationFailed, match=r"^b$") as caught:
        Objective("x", Failing(Permanent("b")))(Node(1))
    assert type(caught.value) is EvaluationFailed


def test_the_time_is_measured() -> None:
    assert 0 <= tried(0).seconds < 5


@pytest.mark.parametrize(
    "spec",
    ["property:x", "python:math:sqrt", "command:echo", "http://u:p@localhost/x?k=1"],
)
def test_objectives_can_be_pickled(spec: str) -> None:
    objective = parse_objective(spec, timeout=3.0, retries=2)
    assert pickle.loads(pickle.dumps(objective)) == objective


# A node as JSON

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=30)
@given(st.integers() | st.text(), st.dictionaries(st.text(), plain))
def test_plain_values_stay_what_they_are(key: str | int, properties: dict[str, object]) -> None:
    assert json.loads(to_json(Node(key, properties))) == {"key": key, "properties": properties}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, None),
        ([1.0, math.inf], [1.0, None]),
        ((1, "a"), [1, "a"]),
        (np.float32(0.5), 0.5),
        (np.array([1, 2]), [1, 2]),
        (b"\x01\xff", "01ff"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (datetime.datetime(2024, 2, 29, 12, 30), "2024-02-29T12:30:00"),
        (neo4j.time.DateTime(2024, 2, 29, 12), "2024-02-29T12:00:00.000000000"),
        (neo4j.time.Duration(days=2), "P2D"),
        (neo4j.spatial.CartesianPoint((1.0, 2.0)), [1.0, 2.0]),
        ({1: 2}, {"1": 2}),
        (1j, "1j"),
    ],
)
def test_what_json_does_not_have(value: object, expected: object) -> None:
    assert json.loads(to_json(Node(1, {"x": value})))["properties"] == {"x": expected}
