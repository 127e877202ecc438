"""Properties and degrees as numbers."""

import numpy as np
import pytest

from graphbo.search.features import DEGREE, Features, scale_of
from graphbo.types import Sample


def columns(values: list[object]) -> np.ndarray:
    scale = scale_of(values)
    assert not isinstance(scale, str), scale
    return scale.columns(values)


@pytest.mark.parametrize(
    ("values", "width"),
    [
        ([1, 2, 3, 4.5, 5, 6, 7], 1),
        ([True, False, True, True], 1),
        (["a", "b", "a", "b"] * 5 + ["c"] * 4, 3),
        ([[1.0, 2.0], [3, 4], [5, 7.5]], 2),
        ([0, 0, 0, 0, 0, 0, 0, 10**9], 1),
        ([1e308, -1e308, 5e307, 3.0], 1),
    ],
    ids=["numbers", "booleans", "texts", "lists", "mostly the same", "huge"],
)
def test_a_property_varies_by_about_one_around_nothing(values: list[object], width: int) -> None:
    found = columns(values)

    assert found.shape == (len(values), width)
    assert found.mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert np.square(found).sum(axis=1).mean() == pytest.approx(1)


def test_units_do_not_matter_and_order_stays() -> None:
    income = list(np.random.default_rng(0).lognormal(10, 1, size=100))

    found = columns([float(one) for one in income])
    assert found == pytest.approx(columns([float(one) * 1000 + 7 for one in income]))
    assert (np.argsort(found[:, 0]) == np.argsort(income)).all()
    assert np.abs(found).max() < 5, "no hub is all there is to see"


def test_what_is_missing_is_as_usual() -> None:
    scale = scale_of([1.0, 2.0, 3.0, None, 5.0])
    texts = scale_of(["a", "b"] * 4)
    lists = scale_of([[1.0, 2.0], [2.0, 1.0], None])
    assert not isinstance(scale, str)
    assert not isinstance(texts, str)
    assert not isinstance(lists, str)

    odd: list[object] = [None, "text", float("nan"), float("inf"), [1.0], 10**400]
    assert not scale.columns(odd).any()
    assert not texts.columns([None, "c", 3]).any()
    assert not lists.columns([None, [1.0], "a"]).any()


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([], "no node has it"),
        ([None, None], "no node has it"),
        ([3, 3, 3], "it is the same everywhere"),
        (["x", "x"], "it is the same everywhere"),
        ([[1.0, 1.0]] * 3, "it is the same everywhere"),
        (["a", "b", "c"], "its texts are too many: 3 among 3 nodes"),
        ([1.0] + [None] * 20, "few nodes have it"),
        ([["a"], ["b"]], "it holds no lists of numbers"),
        ([object()] * 3, "it holds values of the type object"),
        ([float("nan")] * 2, "it holds numbers that are none"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_can_be_no_feature(values: list[object], why: str) -> None:
    assert scale_of(values) == why


def test_degrees_are_a_feature_where_they_are_known_and_differ() -> None:
    def of(degrees: list[int] | None) -> Features:
        known = None if degrees is None else np.array(degrees)
        return Features.of(["age"], Sample(("a", "b", "c"), known, {"age": (1, 2, 3)}))

    assert of([1, 5, 9]).names == (DEGREE, "age")
    assert of([4, 4, 4]).names == of(None).names == ("age",)
    own = Features.of([DEGREE], Sample(("a", "b"), np.array([1, 9]), {DEGREE: (1, 2)}))
    assert own.degree is None, "a property may have that name"
    found = of([1, 5, 9]).columns(np.array([5, 1]), {"age": (2, None)})
    assert set(found) == {DEGREE, "age"}
    assert found[DEGREE].shape == found["age"].shape == (2, 1)
