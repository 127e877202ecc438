"""``NAME:REST``, where a plugin is called NAME: it makes a function of REST, which is called like any other."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from graphbo.errors import GraphboError, InvalidObjective
from graphbo.objectives.base import Evaluator, Permanent
from graphbo.objectives.call import describe_error, takes_properties
from graphbo.objectives.child import Prepared
from graphbo.objectives.function import function_evaluator
from graphbo.types.plugins import Plugin

__all__ = ["open_provided"]


@dataclass(frozen=True)
class Provided(Prepared):
    """A plugin's function, made in the process that calls it: functions that are made cannot be pickled."""

    plugin: Plugin
    rest: str

    def __str__(self) -> str:
        return f"{self.plugin.name}:{self.rest}"

    def prepare(self) -> None:
        """Make the function.

        Raises:
            Permanent: this process cannot, though the one that opened the objective could.
        """
        try:
            self.load()
        except InvalidObjective as error:
            raise Permanent(str(error)) from None

    def load(self) -> Callable[..., object]:
        """The function.

        Raises:
            InvalidObjective: the plugin cannot be imported, or makes no function of this.
        """
        return _made(self)

    def __call__(self, *arguments: object) -> object:
        """Call the function."""
        return self.load()(*arguments)


def open_provided(plugin: Plugin, rest: str, timeout: float | None) -> Evaluator:
    """The evaluator for ``NAME:rest``.

    Raises:
        InvalidObjective: the plugin cannot be imported, or makes no function of this that takes a key.
    """
    provided = Provided(plugin, rest)
    return function_evaluator(provided, takes_properties(provided.load(), str(provided)), timeout)


@lru_cache(maxsize=64)
def _made(provided: Provided) -> Callable[..., object]:
    try:
        function = provided.plugin.load()(provided.rest)
    except GraphboError as error:
        raise InvalidObjective(str(error)) from None
    except Exception as error:  # noqa: BLE001 - the plugin may raise anything
        raise InvalidObjective(f"{provided}: {describe_error(error)}") from None
    if not callable(function):
        raise InvalidObjective(
            f"{provided} is a {type(function).__name__}: expected a function of the key"
        )
    made: Callable[..., object] = function
    return made
