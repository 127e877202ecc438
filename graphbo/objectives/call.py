"""Calling a user's function: with what it takes, and surviving what it does."""

import inspect
import traceback
from collections.abc import Callable
from pathlib import Path

from graphbo.errors import EvaluationFailed, InvalidObjective
from graphbo.objectives.number import LONGEST_DETAIL, as_number, shorten

__all__ = ["call_function", "describe_error", "takes_properties"]

#: A second parameter of this name gets the properties even if it has a default.
PROPERTIES = "properties"
OURS = Path(__file__).parent


def call_function(function: Callable[..., object], arguments: tuple[object, ...]) -> float:
    """The number that a user's function returns.

    Raises:
        EvaluationFailed: it raises something, or returns no number. Ctrl-C passes.
    """
    try:
        return as_number(function(*arguments))
    except (EvaluationFailed, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is recorded
        raise EvaluationFailed(describe_error(error), _traceback(error)) from None


def describe_error(error: BaseException) -> str:
    """The type and the message of an exception in one line."""
    try:
        message = shorten(str(error))
    except Exception:  # noqa: BLE001 - str() of a user's exception may do anything
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _traceback(error: BaseException) -> str:
    """An exception as Python shows it, from where the user's code begins."""
    frames = error.__traceback__
    while frames is not None and Path(frames.tb_frame.f_code.co_filename).parent == OURS:
        frames = frames.tb_next
    lines = traceback.format_exception(type(error), error, frames)
    return "".join(lines)[-LONGEST_DETAIL:].rstrip()


def takes_properties(function: Callable[..., object], name: str) -> bool:
    """Whether a function is to be called with the key and the properties, or with the key alone.

    It gets both if it asks for two arguments. An optional second one is left alone, unless it is called
    ``properties``: ``lambda key, table=table: table[key]`` means its own table. So is ``*args``.

    Raises:
        InvalidObjective: it can be called in neither way.
    """
    if inspect.iscoroutinefunction(function):
        raise InvalidObjective(f"{name} is asynchronous: expected a function that returns a number")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # builtins that do not tell
        return False
    if _fits(signature, 2) and (not _fits(signature, 1) or _second_is_properties(signature)):
        return True
    if _fits(signature, 1):
        return False
    raise InvalidObjective(
        f"{name} takes {signature}: expected a function of the key, or of the key and the properties"
    )


def _fits(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def _second_is_properties(signature: inspect.Signature) -> bool:
    positional = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return positional[1:2] == [PROPERTIES]
