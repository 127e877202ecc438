"""The dashboard: all runs of a database as pages in a browser, for people who measure by hand, alone or together.

Nothing of a run is kept here. Whatever somebody does is one of the transactions of :mod:`graphbo.runs`, so what was
confirmed is in the database. From the bottom up::

    markup       HTML as values
    guard        who is let in
    connections  a thread for each connection to the database
    watching     runs that are looked at, read as they change
    parts        what is shown of runs and nodes
    actions      what people may do
    runs_page, run_page, node_page  what is on the pages
    looking      what pages ask for
    sheets       spreadsheets in and out
    starting     a form that starts a run
    app          which address answers what
    serving      the server
"""

from graphbo.dashboard.guard import Visitors, is_loopback, public_address
from graphbo.dashboard.serving import serve

__all__ = ["Visitors", "is_loopback", "public_address", "serve"]
