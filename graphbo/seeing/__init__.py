"""Seeing a run: a report in one HTML file, and plots.

``facts_of(run)`` collects what is known; ``html_of`` and the functions of :mod:`graphbo.seeing.plots` take a run, a
result, or facts that were collected before. A module imports only from those above its own::

    series   what figures are made of, as pure functions of a history
    layout   where to draw the nodes of a graph
    map      the part of the graph around a search
    kernel   the learned kernel
    command  the command that does a run again
    facts    all of that, collected once
    words    what it means, in sentences
    data     what the page is given
    html     the report
    plots    figures for papers and notebooks, with matplotlib
"""

from importlib import import_module
from typing import TYPE_CHECKING

from graphbo.seeing.html import html_of
from graphbo.seeing.run_facts import RunFacts, facts_of

if TYPE_CHECKING:
    from graphbo.seeing import plots

__all__ = ["RunFacts", "facts_of", "html_of", "plots"]


def __getattr__(name: str) -> object:
    """The plots, when they are first used: a report need not wait for matplotlib."""
    if name != "plots":
        raise AttributeError(f"module 'graphbo.seeing' has no attribute {name!r}")
    return import_module("graphbo.seeing.plots")
