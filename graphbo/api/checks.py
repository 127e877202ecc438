"""What Python users give: what is of another kind than it has to be is refused before anything begins."""

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from graphbo.errors import RunError
from graphbo.types.text import cut

__all__ = [
    "refuse_no_callbacks",
    "refuse_wrong_budget_cost",
    "refuse_wrong_kinds",
    "refuse_wrong_numbers",
]


def refuse_wrong_numbers(*, time: Any = None, **counts: Any) -> None:
    """Check what says when to stop, and how much is done at once; None is nothing that was said.

    Raises:
        RunError: one of them is no such number.
    """
    for what, value in counts.items():
        if value is not None:
            _refuse_no_count(value, what)
    if time is not None:
        _refuse_no_seconds(time)


def refuse_wrong_budget_cost(budget: Any, cost: str | None) -> None:
    """Check how much may be spent, in a search whose nodes have a ``cost``; None is nothing that was said.

    Raises:
        RunError: it is no number above zero, or nodes have no cost.
    """
    if budget is None:
        return
    number = float(budget) if isinstance(budget, Real) and not isinstance(budget, bool) else 0.0
    if not 0 < number < math.inf:
        raise RunError(f"budget_cost is {_shown(budget)}: expected a number above 0")
    if cost is None:
        raise RunError(
            f"budget_cost is {number:g}, and nothing says what a measurement costs: name the property as cost"
        )


def refuse_wrong_kinds(*, name: Any, maximize: Any, known: Any, start: Any) -> None:
    """Check what says how a search begins; None is nothing that was said.

    Raises:
        RunError: something is of another kind than it has to be.
    """
    if name is not None and (not isinstance(name, str) or not name):
        raise RunError(f"name is {_shown(name)}: expected a text")
    if maximize is not None and not isinstance(maximize, bool):
        raise RunError(f"maximize is {_shown(maximize)}: expected True or False")
    if known is not None and not isinstance(known, Mapping):
        raise RunError(f"known is {_shown(known)}: expected a dict of values by node")
    if isinstance(start, str) or not isinstance(start, Iterable):
        raise RunError(
            f"start is {_shown(start)}: expected a list of nodes, as in [{_shown(start)}]"
        )


def refuse_no_callbacks(**callbacks: Any) -> None:
    """Check what is to be called.

    Raises:
        RunError: it cannot be.
    """
    for what, callback in callbacks.items():
        if callback is not None and not callable(callback):
            raise RunError(f"{what} is {_shown(callback)}: expected a function")


def _refuse_no_count(value: Any, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise RunError(f"{what} is {_shown(value)}: expected a whole number from 1 up")


def _refuse_no_seconds(value: Any) -> None:
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not 0 < number < math.inf:
        raise RunError(f"time is {_shown(value)}: expected a number of seconds above 0")


def _shown(value: object) -> str:
    return cut(repr(value), 60)
