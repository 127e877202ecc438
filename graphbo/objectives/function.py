"""``python:MODULE:FUNCTION``, and functions given to the API."""

import importlib
import logging
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from graphbo.errors import EvaluationFailed, InvalidObjective
from graphbo.objectives.base import Evaluator, Node, Objective, Permanent
from graphbo.objectives.call import call_function, describe_error, takes_properties
from graphbo.objectives.child import Prepared, call_in_child
from graphbo.objectives.thread import NoAnswer, call_in_thread

__all__ = ["from_callable", "function_evaluator", "open_function", "split_function"]

USAGE = "expected python:MODULE:FUNCTION"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reference(Prepared):
    """A function by name, looked up in the process that calls it.

    Attributes:
        directory: where modules are looked for before Python's own path.
    """

    module: str
    name: str
    directory: str

    def __str__(self) -> str:
        return f"python:{self.module}:{self.name}"

    def prepare(self) -> None:
        """Import the function.

        Raises:
            Permanent: this process does not find it, though the one that parsed the objective did.
        """
        try:
            self.load()
        except InvalidObjective as error:
            raise Permanent(str(error)) from None

    def load(self) -> Callable[..., object]:
        """The function.

        Raises:
            InvalidObjective: there is no such module or function, or importing it fails.
        """
        return _load(self)

    def __call__(self, *arguments: object) -> object:
        """Call the function."""
        return self.load()(*arguments)


@dataclass(frozen=True)
class FunctionEvaluator(Evaluator):
    """A function in this process."""

    function: Callable[..., object]
    needs_properties: bool

    def measure(self, node: Node, timeout: float | None) -> float:
        """What it returns; with a time-out, from a thread that is left alone when it is late.

        Raises:
            EvaluationFailed: it fails, or is late.
        """
        if isinstance(self.function, Prepared):
            self.function.prepare()
        arguments = _arguments(node, self.needs_properties)
        if timeout is None:
            return call_function(self.function, arguments)
        try:
            return call_in_thread(lambda: call_function(self.function, arguments), timeout)
        except NoAnswer:
            log.warning("an evaluation of node %r is late and goes on in the background", node.key)
            raise EvaluationFailed(
                f"the function gave no answer within {timeout:g} s and was left alone"
            ) from None


@dataclass(frozen=True)
class ChildEvaluator(Evaluator):
    """A function, pickled, in a process of its own. For evaluations with a time-out."""

    payload: bytes
    needs_properties: bool

    def measure(self, node: Node, timeout: float | None) -> float:
        """What it returns; its process is killed when it is late.

        Raises:
            EvaluationFailed: it fails, or is late.
        """
        arguments = _arguments(node, self.needs_properties)
        return call_in_child(self.payload, arguments, timeout)


def split_function(rest: str) -> tuple[str, str]:
    """The module and the function that ``python:rest`` names. Nothing is imported.

    Raises:
        InvalidObjective: it names none.
    """
    module, colon, name = rest.partition(":")
    if not colon or not module or not name:
        raise InvalidObjective(f"python:{rest} names no function: {USAGE}")
    if not all(part.isidentifier() for part in [*module.split("."), *name.split(".")]):
        raise InvalidObjective(f"python:{rest} is not made of Python names: {USAGE}")
    return module, name


def open_function(rest: str, directory: Path, timeout: float | None) -> Evaluator:
    """The evaluator for ``python:rest``.

    Raises:
        InvalidObjective: it names no function, or one that cannot be called with a key.
    """
    module, name = split_function(rest)
    reference = Reference(module, name, str(directory.resolve()))
    wants = takes_properties(reference.load(), str(reference))
    return function_evaluator(reference, wants, timeout)


def from_callable(
    function: Callable[..., object], *, timeout: float | None = None, retries: int = 0
) -> Objective:
    """A Python function as an objective.

    It is called with the key, or with key and properties if it asks for two arguments. With a time-out it runs in
    a process of its own, if such a process can import it; a lambda or a function of the main script runs in a thread,
    which goes on in the background when it is late.

    Raises:
        InvalidObjective: it cannot be called with a key.
    """
    name = _name(function)
    if not callable(function):
        raise InvalidObjective(f"{name} cannot be called: expected a function of the key")
    return Objective(
        name,
        function_evaluator(function, takes_properties(function, name), timeout),
        timeout,
        retries,
    )


def function_evaluator(
    function: Callable[..., object], wants: bool, timeout: float | None
) -> Evaluator:
    """A function as an evaluator: in a process of its own if there is a time-out and such a process can have it."""
    payload = _pickled(function) if timeout is not None else None
    if payload is None:
        return FunctionEvaluator(function, wants)
    return ChildEvaluator(payload, wants)


def _pickled(function: Callable[..., object]) -> bytes | None:
    """The function for another process, or None if that one could not make sense of it."""
    try:
        payload = pickle.dumps(function)
    except Exception:  # noqa: BLE001 - pickling runs the user's code; whatever it is, the answer is no
        return None
    # What belongs to the main script is there by name only, and another process has another main script.
    return None if b"__main__" in payload else payload


def _arguments(node: Node, wants_properties: bool) -> tuple[object, ...]:
    return (node.key, dict(node.properties)) if wants_properties else (node.key,)


def _name(function: object) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"python:{getattr(named, '__module__', None) or 'builtins'}:{named.__qualname__}"


@lru_cache(maxsize=64)
def _load(reference: Reference) -> Callable[..., object]:
    if reference.directory not in sys.path:
        sys.path.insert(0, reference.directory)
    found = _import(reference)
    for part in reference.name.split("."):
        if not hasattr(found, part):
            where = getattr(found, "__file__", None) or reference.module
            raise InvalidObjective(f"{reference}: there is no {reference.name!r} in {where}")
        found = getattr(found, part)
    if not callable(found):
        raise InvalidObjective(
            f"{reference} is a {type(found).__name__}: expected a function of the key"
        )
    function: Callable[..., object] = found
    return function


def _import(reference: Reference) -> object:
    importlib.invalidate_caches()  # the file may be younger than what Python remembers of its directory
    try:
        return importlib.import_module(reference.module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - importing runs the user's code
        missing = isinstance(error, ModuleNotFoundError) and error.name
        if missing and f"{reference.module}.".startswith(f"{missing}."):
            raise InvalidObjective(
                f"{reference}: there is no module {missing!r} in {reference.directory} "
                "or on Python's path"
            ) from None
        raise InvalidObjective(
            f"{reference}: importing {reference.module!r} fails with {describe_error(error)}"
        ) from None
