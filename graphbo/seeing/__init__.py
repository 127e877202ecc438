"""Seeing a run: a report in one HTML file, plots, and what people look at in Neo4j Browser.

``facts_of(run)`` collects what is known; ``html_of`` and the functions of :mod:`graphbo.seeing.plots` take a run, a
result, or facts that were collected before. From the bottom up::

    layout     where to draw the nodes of a graph
    map        the part of the graph around a search
    kernel     the learned kernel
    series     what figures are made of, as pure functions of a history
    ways       a view's edges as Cypher that people paste
    command    the command that does a run again
    run_facts  all of that, collected once
    sentences  what it means, in words
    data       what the page is given
    html       the report, from page/: what it draws with, figures.js, is the dashboard's, too
    plots      figures for papers and notebooks, with matplotlib
    annotate   what a run leaves on the nodes of the graph
    browser    a run in Neo4j Browser: a link, queries, a style sheet
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
