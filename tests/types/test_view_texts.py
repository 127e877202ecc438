"""Views in the texts of options: read, written again, and gone on with."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbo.errors import InvalidView
from graphbo.runs import RunSettings
from graphbo.seeing.command import command_of
from graphbo.types import View
from graphbo.types.notation import read_condition, read_labels, read_path
from graphbo.types.view_texts import (
    LONGEST_HOP,
    ViewTexts,
    label_text,
    read_hop,
    read_relationship,
    relationship_text,
)

VISITS = "(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)"
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\\"), min_size=1)


@pytest.mark.parametrize(
    ("text", "kind", "factor"),
    [
        ("ROUTE", "ROUTE", 1.0),
        ("CODESHARE=0.2", "CODESHARE", 0.2),
        ("A=.5", "A", 0.5),
        ("A=1e-3", "A", 0.001),
        ("A=1=1", "A=1", 1.0),
        ("A=B", "A=B", 1.0),
        ("A=", "A=", 1.0),
        ("=1", "=1", 1.0),
        ("A=nan", "A=nan", 1.0),
    ],
)
def test_a_type_may_have_a_factor(text: str, kind: str, factor: float) -> None:
    assert read_relationship(text) == (kind, factor)


@settings(max_examples=50)
@given(NAMES, st.one_of(st.just(1.0), st.floats(1e-6, 1e6)))
def test_a_type_is_read_as_it_was_written(kind: str, factor: float) -> None:
    again, found = read_relationship(relationship_text(kind, factor))

    assert again == kind
    assert found == pytest.approx(factor, rel=1e-12)


@settings(max_examples=50)
@given(NAMES)
def test_a_label_is_read_as_it_was_written(name: str) -> None:
    assert read_labels([label_text(name)]) == ((name,), None)


def test_what_a_view_is_made_of() -> None:
    texts = ViewTexts(
        labels=("Application&Process", "Host"),
        relationships={"RUNS": 1.0, "CALLS": 0.5},
        candidates=("Host",),
        where="altitude > 3",
        candidates_where="NOT retired = true",
        paths=(VISITS,),
        hub_limit=7,
        weight="w",
        default_weight=0.5,
        weight_as="distance",
        direction="out",
    )

    view = texts.view()

    assert view.labels == ("Application", "Host")
    assert view.relationships == ("RUNS", "CALLS")
    assert view.factors == (("CALLS", 0.5),)
    assert view.candidates == ("Host",)
    assert view.paths == (read_path(VISITS),)
    assert view.where == read_condition("((:Application AND :Process) OR :Host) AND altitude > 3")
    assert (view.hub_limit, view.default_weight, view.weight_as) == (7, 0.5, "distance")


def test_paths_and_candidates_name_the_nodes() -> None:
    assert ViewTexts(paths=(VISITS,)).view() == View(("Person",), paths=(read_path(VISITS),))
    view = ViewTexts(candidates=("Person",), relationships={"KNOWS": 1.0}).view()
    assert view == View(("Person",), ("KNOWS",))
    assert view.is_plain


@pytest.mark.parametrize(
    ("texts", "enough"),
    [
        (ViewTexts(), False),
        (ViewTexts(labels=("N",)), False),
        (ViewTexts(relationships={"R": 1.0}), False),
        (ViewTexts(labels=("N",), relationships={"R": 1.0}), True),
        (ViewTexts(paths=(VISITS,)), True),
        (ViewTexts(candidates=("N",), hop="RETURN $keys"), True),
        (ViewTexts(hop="RETURN $keys"), False),
    ],
)
def test_what_is_enough_for_a_graph(texts: ViewTexts, enough: bool) -> None:
    assert texts.names_a_graph is enough


STARTED = ViewTexts(
    labels=("N&!Old",),
    relationships={"R": 1.0, "S": 0.5},
    candidates=("N&Good",),
    where="x > 1 AND y > 2",
    candidates_where=":Fine",
    paths=("(:N)-[:T]-(:N)",),
    hub_limit=50,
    weight="w",
    default_weight=2.0,
)


@pytest.mark.parametrize(
    "again",
    [
        ViewTexts(),
        STARTED,
        replace(STARTED, where=None),
        replace(STARTED, labels=()),
        replace(STARTED, candidates=()),
        replace(STARTED, candidates_where=None, paths=()),
        ViewTexts(labels=("N&!Old",)),
        ViewTexts(where="x > 1 AND y > 2"),
        ViewTexts(hub_limit=50),
    ],
    ids=str,
)
def test_what_is_not_said_again_is_kept(again: ViewTexts) -> None:
    assert again.view(STARTED.view()) == STARTED.view()


@pytest.mark.parametrize(
    "other",
    [
        ViewTexts(labels=("N&!New",)),
        ViewTexts(where="x > 2"),
        ViewTexts(candidates_where=":Bad"),
        ViewTexts(candidates=("N&Bad",)),
        ViewTexts(relationships={"R": 1.0, "S": 1.0}),
        ViewTexts(hub_limit=51),
        ViewTexts(weight_as="distance"),
    ],
    ids=str,
)
def test_what_is_said_otherwise_is_another_view(other: ViewTexts) -> None:
    assert other.view(STARTED.view()) != STARTED.view()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "holds no statement"),
        ("// $keys\n;", "holds no statement"),
        ("MATCH (n) RETURN n", "does not use [$]keys"),
        ("MATCH (n) RETURN n // $keys", "does not use [$]keys"),
        ("RETURN $keysets", "does not use [$]keys"),
        ("$keys" * LONGEST_HOP, "at most 100,000"),
    ],
)
def test_a_statement_that_gives_no_edges_is_refused(text: str, expected: str) -> None:
    with pytest.raises(InvalidView, match=expected):
        read_hop(text)


def test_a_statement_is_kept_without_what_ends_it() -> None:
    assert read_hop("\nUNWIND $keys AS key RETURN key;\n") == "UNWIND $keys AS key RETURN key"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (ViewTexts(("N",), {"R": 0.0}), "the factor of 'R' is 0"),
        (ViewTexts(("N",), {"R": float("inf")}), "the factor of 'R' is inf"),
        (ViewTexts(("N",), {"R": 1.0}, default_weight=1.0), "default weight, and no weight"),
        (ViewTexts(("N",), {"R": 1.0}, weight="w", default_weight=-1.0), "default weight is -1"),
        (ViewTexts(("N",), {"R": 1.0}, hub_limit=0), "hub limit is 0"),
        (
            ViewTexts(("N",), {"R": 1.0}, weight="w", weight_as="distance", default_weight=0.0),
            "more than 0, as it is a distance",
        ),
    ],
)
def test_weights_that_cannot_be_meant(texts: ViewTexts, expected: str) -> None:
    with pytest.raises(InvalidView, match=expected):
        texts.view()


def test_a_command_that_does_it_again() -> None:
    text = command_of("again", STARTED.view(), RunSettings(objective="property:x"))

    assert "--label N --rel R --rel S=0.5" in text
    assert "--path '(:N)-[:T]-(:N)'" in text
    assert "--hub-limit 50" in text
    assert "--default-weight 2.0" in text
