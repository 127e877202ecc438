"""A run: ask which node to measure next, tell what was measured. Its whole state is its history in the database.

A process that dies loses nothing. Another that opens the run goes on where it was: it reads the history and folds it.
From the top::

    worker       the loop: ask, evaluate, tell; until the budget is used up
    executors    where nodes are evaluated: here, in processes, on a cluster
    value_files, known_values  values from files, and those that cost nothing
    history_file  all that was told, as a table for programs and spreadsheets
    run          a Run: ask, tell, resume
    local_copy   what a process has of it: read once, then only what is newer
    settings     what it is started with
    usable_features  which properties can be features
    hops         whether a statement that a database has may be run here
    fingerprint  compares what of an objective must not be stored
    answers      what it says
    why, inquiry why a node: parts that add up to what is expected, and words
    usable_features  which properties can be features
    costs        what measurements cost, and what can be paid for
    node_names   nodes by what people type
    captions     what people call nodes
    card         what notebooks show of it
    worker_names who works on it, and who is gone
    leases, lease_process  keep what a worker evaluates its own
    registry     the runs of a database: created, found, listed, stopped, removed
    collecting, correcting, exclusions, explaining, marks  the rules of what else people do, and of what they see
    asking, telling  the rules: who gets a node, what becomes of a value
    form         what people set on nodes in the database as answers
    transaction  what is looked at under a run's lock, and what is written
    written_names  what is written on nodes, and whose it is
    encoding     between properties and our values
    records      runs as values
"""

from graphbo.runs.answers import Asked, Best, Clock, best_of
from graphbo.runs.fingerprint import Fingerprint
from graphbo.runs.run import Run
from graphbo.runs.settings import RunSettings, refuse_difference
from graphbo.runs.why import Part, Why
from graphbo.runs.worker_names import is_abandoned, worker_name

__all__ = [
    "Asked",
    "Best",
    "Clock",
    "Fingerprint",
    "Part",
    "Run",
    "RunSettings",
    "Why",
    "best_of",
    "is_abandoned",
    "refuse_difference",
    "worker_name",
]
