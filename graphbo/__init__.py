"""Find the best node of a graph that lives in Neo4j when judging a node is expensive."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphbo.api import Result, optimize
    from graphbo.errors import GraphboError
    from graphbo.run import Best, Run, RunSettings
    from graphbo.stores import open_store
    from graphbo.types import Observation, View

__version__ = "0.1.0"

__all__ = [
    "Best",
    "GraphboError",
    "Observation",
    "Result",
    "Run",
    "RunSettings",
    "View",
    "__version__",
    "open_store",
    "optimize",
]

_HOMES = {
    "Best": "graphbo.run",
    "GraphboError": "graphbo.errors",
    "Observation": "graphbo.types",
    "Result": "graphbo.api",
    "Run": "graphbo.run",
    "RunSettings": "graphbo.run",
    "View": "graphbo.types",
    "open_store": "graphbo.stores",
    "optimize": "graphbo.api",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the command line should not wait for all of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'graphbo' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
