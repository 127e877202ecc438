"""Kinds of values on the command line that click does not have."""

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import click

from graphbo.search.strategies import STRATEGIES
from graphbo.search.strategies.base import OWN_KERNELS
from graphbo.types.plugins import Names

__all__ = ["KERNEL_NAME", "STRATEGY_NAME", "NameOf", "Seconds"]

#: Thirty years. What computes with times overflows somewhere beyond.
LONGEST_SECONDS = 1e9

_UNITS = {"s": 1, "m": 60, "h": 3600}
_TIME = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?")

if TYPE_CHECKING:
    _Name = click.ParamType[str]
    _Number = click.ParamType[float]
else:
    _Name = _Number = click.ParamType  # not generic in older versions


class Seconds(_Number):
    """A time: 90, 90s, 10m, 1h30m.

    Args:
        above: what is too short.
    """

    name = "time"

    def __init__(self, above: float = 0.0) -> None:
        self._above = above

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """It, in seconds."""
        if isinstance(value, float):
            return value
        match = _TIME.fullmatch(str(value))
        if not match or not any(match.groups()):
            self.fail(f"{value!r} is no time: expected 90, 90s, 10m, 2h or 1h30m", param, ctx)
        hours, minutes, seconds = (float(part or 0) for part in match.groups())
        total = _UNITS["h"] * hours + _UNITS["m"] * minutes + seconds
        if total <= self._above:
            self.fail(f"expected more than {self._above:g} seconds", param, ctx)
        if total > LONGEST_SECONDS:
            self.fail(f"expected at most {LONGEST_SECONDS:,.0f} seconds", param, ctx)
        return total


class NameOf(_Name):
    """A name, our own or a plugin's. All of them are looked up only for who wants to read them.

    Args:
        name: of what.
        known: gives the names.
    """

    def __init__(self, name: str, known: Callable[[], Collection[str]]) -> None:
        self.name = name
        self._known = known

    @property
    def choices(self) -> tuple[str, ...]:
        """All names."""
        return tuple(self._known())

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, if it is known."""
        if value in self._known():
            return str(value)
        return click.Choice(self.choices).convert(value, param, ctx)

    def get_metavar(self, *arguments: Any, **named: Any) -> str | None:
        """The names, for ``--help``; the arguments differ between versions of click."""
        return click.Choice(self.choices).get_metavar(*arguments, **named)


KERNEL_NAME = NameOf("kernel", lambda: Names("kernels", dict.fromkeys(OWN_KERNELS)))
STRATEGY_NAME = NameOf("strategy", lambda: STRATEGIES)
