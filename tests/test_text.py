"""How numbers and names are printed, and how short texts that hold parameters are read."""

import pytest

from graphbo.types.text import assignments, cut, duration, number, plural, rounded


def test_what_is_too_long_is_cut_with_a_mark() -> None:
    assert cut("abcde", 5) == "abcde"
    assert cut("abcdef", 5) == "abcd…"


def test_numbers_have_the_digits_that_a_person_reads() -> None:
    assert [number(one) for one in (None, 2.0, 1 / 3, 1e-9)] == ["–", "2", "0.333333", "1e-09"]
    assert [rounded(one) for one in (None, float("nan"), float("inf"), 2 / 3)] == [
        *(None, None, None),
        0.666667,
    ]


def test_counts_agree_with_what_is_counted() -> None:
    assert [plural(1, "property"), plural(2, "property"), plural(1200, "node")] == [
        *("1 property", "2 properties", "1,200 nodes")
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0125, "12 ms"),
        (1.25, "1.2 s"),
        (99.94, "99.9 s"),
        (150, "2 min"),
        (5990, "2 h"),
        (259_200, "3 days"),
    ],
)
def test_a_time_has_the_unit_that_fits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_assignments_are_read() -> None:
    assert assignments(" a=1, b=x=y,,") == {"a": "1", "b": "x=y"}
    assert assignments("") == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a=1,b", "'b' is not NAME=VALUE"),
        ("=1", "'=1' is not NAME=VALUE"),
        ("a=1,a=1", "'a' is there twice"),
    ],
)
def test_what_is_no_assignment_is_named(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        assignments(text)
