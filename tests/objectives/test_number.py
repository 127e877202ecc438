"""What counts as a value."""

import contextlib
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbo.errors import EvaluationFailed
from graphbo.objectives.number import as_number, shorten

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite)
def test_any_finite_number_is_itself_in_every_dress(number: float) -> None:
    assert as_number(number) == number
    assert as_number(np.float64(number)) == number
    assert as_number(np.array(number)) == number
    assert as_number(repr(number)) == number
    assert as_number(f"  {number!r}\n") == number


@given(st.integers(-(2**53), 2**53))
def test_whole_numbers(number: int) -> None:
    for dress in (number, np.int64(number), str(number), Decimal(number), Fraction(number)):
        assert as_number(dress) == number


@given(st.text())
def test_a_text_is_a_finite_number_or_a_failure(text: str) -> None:
    with contextlib.suppress(EvaluationFailed):
        value = as_number(text)
        assert math.isfinite(value)
        assert value == float(text)


@pytest.mark.parametrize("text", ["1", "-1.5", "+2.", ".5", "1e3", "-2.5E-4", " 7 ", "007"])
def test_texts_that_are_numbers(text: str) -> None:
    assert as_number(text) == float(text)


@pytest.mark.parametrize(
    "text", ["", " ", "nan", "inf", "-Infinity", "1_000", "1,5", "0x10", "1e", "٣", "1 2", "12 ms"]
)
def test_texts_that_are_no_numbers(text: str) -> None:
    with pytest.raises(EvaluationFailed, match="is not a number"):
        as_number(text)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, np.float32("nan"), np.float64("inf"), "1e999"]
)
def test_what_is_not_finite(value: object) -> None:
    with pytest.raises(EvaluationFailed, match="expected a finite number"):
        as_number(value)


@pytest.mark.parametrize(
    "value",
    [True, np.True_, np.array(False), 1j, np.complex128(1), np.clongdouble(1), b"1", [1.0], (1,), {"value": 1}, None,
     np.array([1.0]), np.array([1.0, 2.0]), object(), np.datetime64("2020-01-01"), len],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_no_number(value: object) -> None:
    with pytest.raises(EvaluationFailed, match="expected a number"):
        as_number(value)


def test_a_whole_number_beyond_floating_point() -> None:
    with pytest.raises(EvaluationFailed, match="too large"):
        as_number(10**400)


def test_an_object_whose_repr_fails() -> None:
    class Rude:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(EvaluationFailed, match="something, of type Rude"):
        as_number(Rude())


def test_messages_are_cut_to_one_line() -> None:
    assert shorten("\n\n  first \nsecond") == "first"
    assert shorten("x" * 1000) == "x" * 499 + "…"
    assert shorten("") == ""
