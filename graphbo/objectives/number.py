"""What counts as a value of an objective: one finite number, in whatever dress it comes."""

import math
import re
from numbers import Complex, Real
from typing import SupportsFloat

from graphbo.errors import EvaluationFailed
from graphbo.types.text import cut

__all__ = ["LONGEST_DETAIL", "as_number", "decimal_hint", "shorten", "unwrapped"]

#: A number as people and programs write it. float() would also take "1_000", "nan" and digits of other scripts.
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

_DECIMAL_COMMA = re.compile(r"\s*[+-]?[\d.' \u00a0\u202f]*,\d+([eE][+-]?\d+)?\s*", re.ASCII)

#: Longest piece of somebody else's text in a message.
LONGEST = 500
#: And in what is told about a failure in full; the end of it is what matters.
LONGEST_DETAIL = 10_000


def as_number(value: object) -> float:
    """The finite number that ``value`` is, or spells.

    Raises:
        EvaluationFailed: it is no number, or not a finite one.
    """
    value = unwrapped(value)
    if isinstance(value, str):
        value = _spelled(value)
    if not isinstance(value, SupportsFloat) or _is_something_else(value):
        raise EvaluationFailed(_refusal(value))
    return _finite(value)


def decimal_hint(value: object) -> str:
    """What to do about a number that is written with a comma; empty for anything else."""
    comma = isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value)
    return ": write it with a point, like 3.5" if comma else ""


def shorten(text: str, longest: int = LONGEST) -> str:
    """The first line of ``text`` that is not empty, cut to a length that fits into a message."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return cut(line, longest)


def unwrapped(value: object) -> object:
    """The Python scalar inside a scalar of NumPy and its relatives; arrays stay what they are."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return value.item()
    return value


def _spelled(text: str) -> float:
    if not DECIMAL.fullmatch(text.strip()):
        raise EvaluationFailed(f"{shorten(text, 80)!r} is not a number")
    return float(text)


def _is_something_else(value: object) -> bool:
    """Whether a number could be made of it, but not without guessing: a truth value, a complex number, an array."""
    is_complex = isinstance(value, Complex) and not isinstance(value, Real)
    return isinstance(value, bool) or is_complex or getattr(value, "shape", ()) != ()


def _finite(value: SupportsFloat) -> float:
    try:
        number = float(value)
    except OverflowError:
        raise EvaluationFailed("the value is too large for a floating-point number") from None
    except (TypeError, ValueError):  # it has a __float__ that refuses
        raise EvaluationFailed(_refusal(value)) from None
    if not math.isfinite(number):
        raise EvaluationFailed(f"the value is {number}: expected a finite number")
    return number


def _refusal(value: object) -> str:
    if value is None:
        return "there is no value (None): expected a number"
    return f"the value is {_shown(value)}, of type {type(value).__name__}: expected a number"


def _shown(value: object) -> str:
    try:
        return shorten(repr(value), 80)
    except Exception:  # noqa: BLE001 - repr() of a user's object may do anything
        return "something"
