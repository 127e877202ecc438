"""``graphbo.optimize`` and ``graphbo.Search``: for people with a Python function and a graph.

From the top::

    one_call   optimize: from a function and a graph to a result
    search     a graph and a run on it, to hold
    result     what was found
    plots      figures of a search
    display    what people see meanwhile
    remarks    what to know of its values
    opened     from what the user calls a graph to a store and a view
    names      what the user calls a node, and what the database does
    graphs     graphs in Python: networkx, matrices, tables
    checks     numbers that are given
"""

from graphbo.api.one_call import optimize
from graphbo.api.result import Result
from graphbo.api.search import Search

__all__ = ["Result", "Search", "optimize"]
