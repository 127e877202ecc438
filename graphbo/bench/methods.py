"""What can be compared: the strategies with their options, and searches in files of their own."""

import hashlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from graphbo.errors import BenchError, ModelError
from graphbo.search.strategies import (
    DEFAULT_STRATEGY,
    STRATEGIES,
    Option,
    Strategy,
    create_strategy,
)
from graphbo.types import IntArray
from graphbo.types.text import assignment

__all__ = [
    "BASELINES",
    "METHODS",
    "PAPER",
    "PAPER_KERNELS",
    "WHOLE_GRAPH",
    "Answering",
    "Method",
    "Prototype",
    "Search",
    "StrategyMethod",
    "parse_method",
    "parse_methods",
]

#: The kernels of the paper.
PAPER_KERNELS = ("diffusion", "diffusion-ard", "polynomial", "sum-inverse")

BASELINES = ("random", "local", "bfs", "dfs")
PAPER = tuple(f"paper:kernel={kernel}" for kernel in PAPER_KERNELS)

PROTOTYPE = "prototype"

WHOLE_GRAPH = "whole-graph"

#: Methods that have a name of their own.
NAMED = {
    # The paper's algorithm with a region that is all of a graph of up to 10,000 nodes, and never anything else.
    WHOLE_GRAPH: "paper:size=10000,largest=10000,success_tolerance=1000,failure_tolerance=1000",
}

#: From a short name to several methods. Every strategy is a method too, with its options after a colon.
METHODS: dict[str, tuple[str, ...]] = {
    "baselines": BASELINES,
    "paper-kernels": PAPER,
    "all": (DEFAULT_STRATEGY, *PAPER, *BASELINES),
}


@dataclass(frozen=True)
class Method:
    """Something that searches.

    Attributes:
        label: what tables and figures call it.
    """

    label: str

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that its results depend on, fit for JSON. A default that changes makes another method of it."""
        raise NotImplementedError


@dataclass(frozen=True)
class StrategyMethod(Method):
    """One of graphbo's strategies.

    Raises:
        ModelError: there is no such strategy or option, or a value is out of range.
    """

    strategy: str
    options: tuple[tuple[str, Option], ...] = ()

    def __post_init__(self) -> None:
        self.create()

    @property
    def identity(self) -> Mapping[str, Any]:
        """The strategy, and all its options: those that were chosen and the defaults."""
        return {"strategy": self.strategy, "options": dict(self.create().options)}

    def create(self) -> Strategy:
        """The strategy, which has not seen anything yet."""
        return create_strategy(self.strategy, dict(self.options))


@runtime_checkable
class Search(Protocol):
    """What a prototype's function returns: it names a node, and is told what was measured there."""

    def ask(self) -> int:
        """The node to measure next: one that was not measured."""

    def tell(self, node: int, value: float) -> None:
        """What a measurement of that node gave. Large values are wanted."""


@runtime_checkable
class Answering(Protocol):
    """A search that knows better than the best measurement."""

    def best(self) -> int:
        """The measured node that it would answer with now."""


@dataclass(frozen=True)
class Prototype(Method):
    """A search in a file: its function ``search(n, edges, seed)`` returns a ``Search``.

    Raises:
        BenchError: the file cannot be read.
    """

    path: Path
    code: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            digest = hashlib.sha256(self.path.read_bytes()).hexdigest()
        except OSError as error:
            raise BenchError(
                f"the prototype {self.path} cannot be read: {error.strerror}"
            ) from None
        object.__setattr__(self, "code", digest)

    @property
    def identity(self) -> Mapping[str, Any]:
        """What is in the file, wherever it is."""
        return {PROTOTYPE: self.code}

    def load(self) -> Callable[[int, IntArray, int], Search]:
        """The function: it gets the number of nodes, the two ends of each edge, and a seed.

        Raises:
            BenchError: the file has none.
        """
        spec = importlib.util.spec_from_file_location(PROTOTYPE, self.path)
        if spec is None or spec.loader is None:
            raise BenchError(
                f"the prototype {self.path} is not a Python file: name one that ends in .py"
            )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found = getattr(module, "search", None)
        if not callable(found):
            raise BenchError(f"the prototype {self.path} has no function search(n, edges, seed)")
        return found  # type: ignore[no-any-return]  # what it returns is seen when it is asked


def parse_methods(specs: Iterable[str]) -> tuple[Method, ...]:
    """Methods by their specs or by the short names of several; each once, in this order.

    Raises:
        BenchError: there is no such method, or its options are wrong.
    """
    single = [one for spec in specs for one in METHODS.get(spec, (spec,))]
    return tuple(parse_method(spec) for spec in dict.fromkeys(single))


def parse_method(spec: str) -> Method:
    """A method: ``NAME[:OPTION=VALUE,…]``, ``prototype:FILE``, or a short name of one.

    Raises:
        BenchError: there is no such method, or its options are wrong.
    """
    if spec in NAMED:
        return replace(parse_method(NAMED[spec]), label=spec)
    name, _, rest = spec.partition(":")
    if name == PROTOTYPE:
        return Prototype(PROTOTYPE, Path(rest))
    if name not in STRATEGIES:
        known = ", ".join((*STRATEGIES, *NAMED, f"{PROTOTYPE}:FILE", *METHODS))
        raise BenchError(f"no method is called {name!r}: choose from {known}")
    options = tuple(sorted(_option(part, spec) for part in rest.split(",") if part))
    label = f"{name}:{','.join(f'{key}={value}' for key, value in options)}" if options else name
    try:
        return StrategyMethod(label, name, options)
    except (ModelError, TypeError) as error:
        raise BenchError(f"the method {spec}: {error}") from None


def _option(text: str, spec: str) -> tuple[str, Option]:
    try:
        name, value = assignment(text)
    except ValueError as error:
        raise BenchError(f"the method {spec}: {error}") from None
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, {"true": True, "false": False, "none": None}.get(value.lower(), value)
