"""Seeing a run: a report in one HTML file, and plots.

``facts_of(run)`` collects what is known; ``html_of`` and the functions of :mod:`graphbo.report.plots` take a run, a
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

from graphbo.report.facts import RunFacts, facts_of
from graphbo.report.html import html_of

__all__ = ["RunFacts", "facts_of", "html_of"]
