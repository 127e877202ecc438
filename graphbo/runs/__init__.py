"""A run: ask which node to measure next, tell what was measured. Its whole state is its history in the database.

A process that dies loses nothing. Another that opens the run goes on where it was: it reads the history and folds it.
From the top::

    worker       the loop: ask, evaluate, tell; until the budget is used up
    executors    where nodes are evaluated: here, in processes, on a cluster
    run          a Run: ask, tell, resume
    settings     what it is started with
    fingerprint  compares what of an objective must not be stored
    answers      what it says
    card         what notebooks show of it
    value_files  values from CSV files
    worker_names who works on it, and who is gone
    leases, lease_process  keep what a worker evaluates its own
    retrying     waits for a database that went away
    book         the runs of a store: create, ask, tell, look, clean
    asking, telling, annotating  the rules: pure functions that say what to write
    written_names  what is written on nodes, and whose it is
    encoding     between properties and our values
    records      runs as values
    faults       places where tests make a process die
"""

from graphbo.runs.answers import Asked, Best, Clock, best_of
from graphbo.runs.fingerprint import Fingerprint
from graphbo.runs.run import Run
from graphbo.runs.settings import RunSettings, refuse_difference
from graphbo.runs.worker_names import is_abandoned, worker_name

__all__ = [
    "Asked",
    "Best",
    "Clock",
    "Fingerprint",
    "Run",
    "RunSettings",
    "best_of",
    "is_abandoned",
    "refuse_difference",
    "worker_name",
]
