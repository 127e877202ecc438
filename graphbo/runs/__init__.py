"""A run: ask which node to measure next, tell what was measured. Its whole state is its history in the database.

A process that dies loses nothing. Another that opens the run goes on where it was: it reads the history and folds it.
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
