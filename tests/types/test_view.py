"""What a view takes for its graph."""

from typing import Any

import pytest

from graphbo.errors import InvalidName, InvalidView
from graphbo.types.conditions import And, Comparison, HasLabel, Not
from graphbo.types.notation import read_path
from graphbo.types.paths import Path, Step
from graphbo.types.view import View

OLD = Comparison("age", ">", 3)
SHARED = read_path("(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)")


def test_of_labels_and_relationships_is_plain() -> None:
    view = View(("A", "A", "B"), ("R",))
    assert view.labels == ("A", "B")
    assert view.is_plain
    assert not view.has_connectors
    assert view.candidate_labels == ("A", "B")
    assert view.candidate_condition is None


def test_one_name_is_a_name_and_not_its_letters() -> None:
    made: Any = View  # the types say tuples, and people write texts
    assert made("Cell", "NEXT_TO", candidates="Cell") == View(("Cell",), ("NEXT_TO",))
    assert made("Cell", "R", candidates="Well").candidates == ("Well",)


def test_candidates_are_nodes_of_the_graph() -> None:
    view = View(("Rack",), ("IN",), candidates=("Machine",))
    assert view.labels == ("Rack", "Machine")
    assert view.candidate_labels == ("Machine",)
    assert view.has_connectors
    assert not view.is_plain


def test_all_labels_as_candidates_are_none_in_particular() -> None:
    assert View(("A", "B"), ("R",), candidates=("B", "A")) == View(("A", "B"), ("R",))


def test_ends_of_paths_are_its_labels_where_nobody_names_any() -> None:
    assert View((), paths=(SHARED,)).labels == ("Person",)
    assert View(("Adult",), paths=(SHARED,)).labels == ("Adult",)


def test_filters_of_nodes_and_candidates_hold_together() -> None:
    where, more = Comparison("a", "=", 1), HasLabel("Open")
    view = View(("A",), ("R",), where=where, candidates_where=more)
    assert view.candidate_condition == And((where, more))
    assert view.has_connectors


@pytest.mark.parametrize(
    "wrong",
    [
        {"labels": ()},
        {"relationships": ()},
        {"direction": "up"},
        {"hub_limit": 0},
        {"labels": None},
        {"relationships": None},
        {"labels": 7},
        {"weight_as": "distance"},
    ],
    ids=str,
)
def test_what_is_no_graph_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidView):
        View(**{"labels": ("A",), "relationships": ("R",), **wrong})  # type: ignore[arg-type]


BAD = "a\\u0060b"


@pytest.mark.parametrize(
    "wrong",
    [
        {"labels": (BAD,)},
        {"candidates": (BAD,)},
        {"relationships": (BAD,)},
        {"weight": BAD},
        {"key": BAD},
        {"where": Comparison(BAD, "=", 1)},
        {"candidates_where": HasLabel(BAD)},
        {"paths": (Path((HasLabel("A"), HasLabel(BAD)), (Step(("R",)),)),)},
        {"paths": (Path((HasLabel("A"), HasLabel("A")), (Step((BAD,)),)),)},
        {"paths": (Path((HasLabel("A"), HasLabel("A")), (Step(("R",), "out", HasLabel(BAD)),)),)},
    ],
)
def test_a_name_that_fits_into_no_statement_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidName):
        View(**{"labels": ("A",), "relationships": ("R",), **wrong})  # type: ignore[arg-type]


def test_as_text_it_says_everything() -> None:
    view = View(
        ("Place",),
        ("NEAR",),
        weight="w",
        key="id",
        candidates=("Person",),
        where=Comparison("size", ">", 3),
        paths=(SHARED,),
    )
    text = str(view)
    for part in (
        ":Place|Person {id}",
        "size > 3",
        ":NEAR {w}",
        str(SHARED),
        "candidates (:Person)",
    ):
        assert part in text


def test_as_text_it_is_cypher() -> None:
    view = View(
        ("Räck Unit",),
        ("IS IN",),
        key="serial no",
        candidates=("Machine",),
        candidates_where=And((And((HasLabel("Machine"), Not(HasLabel("Retired")))), OLD)),
    )
    assert str(view) == (
        "(:`Räck Unit`|Machine {`serial no`})-[:`IS IN`]-(), "
        "candidates (:Machine&!Retired WHERE age > 3)"
    )
    alone = View(("A",), ("R",), where=Not(HasLabel("B")))
    assert str(alone) == "(:A&!B)-[:R]-()"
