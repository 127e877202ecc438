"""Find the best node of a graph that lives in Neo4j when judging a node is expensive.

From the user down; each imports only from those below it::

    cli         the command line
    dashboard   all runs in a browser, for people who measure by hand
    api         optimize, the one call for Python users, and Search, the object to hold
    loading     graphs from files, generators and tasks into a database
    seeing      reports, plots, and what people look at in Neo4j Browser
    bench       tasks × methods × seeds, and the tasks
    runs        a run: ask, evaluate, tell; its workers
    objectives  what gives a node its value
    search      what proposes the next node
    stores      databases that hold graphs, behind one contract
    types       frozen values that the parts hand to each other
    errors      everything that is raised on purpose

The public names are below, imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphbo.api import Result, Search, optimize
    from graphbo.errors import GraphboError
    from graphbo.runs import Best, Run, RunSettings
    from graphbo.search import kernels
    from graphbo.search.model import SpectralGaussianProcess
    from graphbo.search.spectrum import Spectrum
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
    "Search",
    "SpectralGaussianProcess",
    "Spectrum",
    "View",
    "__version__",
    "kernels",
    "open_store",
    "optimize",
]

_HOMES = {
    "Best": "graphbo.runs",
    "GraphboError": "graphbo.errors",
    "Observation": "graphbo.types",
    "Result": "graphbo.api",
    "Run": "graphbo.runs",
    "RunSettings": "graphbo.runs",
    "Search": "graphbo.api",
    "SpectralGaussianProcess": "graphbo.search.model",
    "Spectrum": "graphbo.search.spectrum",
    "View": "graphbo.types",
    "kernels": "graphbo.search",
    "open_store": "graphbo.stores",
    "optimize": "graphbo.api",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the command line should not wait for all of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'graphbo' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    found = getattr(home, name) if hasattr(home, name) else import_module(f"{home.__name__}.{name}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
