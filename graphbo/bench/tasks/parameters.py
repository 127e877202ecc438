"""The parameters of a task: declared once, as annotated fields, for checking, reading and showing them.

::

    n: Annotated[int, Within(3, 10**7), "how many nodes"] = 1000
    graph: Annotated[Literal["ba", "ws"], "the kind of graph"] = "ba"
"""

import math
import re
from dataclasses import dataclass, fields
from functools import cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from graphbo.errors import TaskError

__all__ = ["Parameter", "Value", "Within", "parameters_of"]

Value: TypeAlias = int | float | str

_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,99}")
_INTEGER: Final = re.compile("-?[0-9]{1,18}")


@dataclass(frozen=True)
class Within:
    """The range of a number; both ends are allowed."""

    least: float
    most: float = math.inf

    def __contains__(self, value: float) -> bool:
        return self.least <= value <= self.most and math.isfinite(value)

    def __str__(self) -> str:
        if math.isinf(self.most):
            return f"from {_short(self.least)} on"
        return f"from {_short(self.least)} to {_short(self.most)}"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a task.

    Attributes:
        name: what it is called.
        help: what it means.
        default: its value where none is given.
        choices: the words it may be.
        number: ``int`` or ``float`` if it may be a number, else None.
        within: the range of the number.
        word: whether it may be any other word.
    """

    name: str
    help: str
    default: Value
    choices: tuple[str, ...] = ()
    number: type[int] | type[float] | None = None
    within: Within = Within(-math.inf)
    word: bool = False

    @property
    def expected(self) -> str:
        """What it may be, for a message."""
        parts = [", ".join(self.choices)] if self.choices else []
        if self.number is not None:
            kind = "an integer" if self.number is int else "a number"
            parts.append(f"{kind} {self.within}")
        if self.word:
            parts.append("a word of letters, digits, dots and dashes")
        return " or ".join(parts)

    def check(self, value: object) -> None:
        """Refuse a value that it may not have.

        Raises:
            TaskError: it may not be that.
        """
        if not self._allows(value):
            shown = value if isinstance(value, str) else repr(value)
            raise TaskError(f"{self.name} is {shown[:60]}: expected {self.expected}")

    def parse(self, text: str) -> Value:
        """The value that a text stands for.

        Raises:
            TaskError: it stands for none that is allowed.
        """
        value = self._read(text)
        self.check(value)
        return value

    def show(self, value: Value) -> str:
        """The shortest text that ``parse`` reads as that value."""
        return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)

    def _allows(self, value: object) -> bool:
        if isinstance(value, str):
            return value in self.choices or (self.word and bool(_WORD.fullmatch(value)))
        if self.number is None or isinstance(value, bool):
            return False
        kinds = int if self.number is int else (int, float)
        return isinstance(value, kinds) and value in self.within

    def _read(self, text: str) -> Value:
        if text in self.choices or self.number is None or "_" in text:
            return text
        if self.number is int:
            return int(text) if _INTEGER.fullmatch(text) else text
        try:
            return float(text)
        except ValueError:
            return text


@cache
def parameters_of(task: type) -> dict[str, Parameter]:
    """The parameters of a dataclass by name: its fields that have a description."""
    hints = get_type_hints(task, include_extras=True)
    return {
        one.name: _parameter(one.name, one.default, hints[one.name])
        for one in fields(task)
        if get_origin(hints[one.name]) is Annotated
    }


def _parameter(name: str, default: Any, hint: Any) -> Parameter:
    kind, *notes = get_args(hint)
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    choices = [word for one in kinds if get_origin(one) is Literal for word in get_args(one)]
    numbers = [one for one in kinds if one in (int, float)]
    return Parameter(
        name=name,
        help=next(note for note in notes if isinstance(note, str)),
        default=default,
        choices=tuple(choices),
        number=numbers[0] if numbers else None,
        word=str in kinds,
        within=next((note for note in notes if isinstance(note, Within)), Within(-math.inf)),
    )


def _short(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:g}"
