"""Everything graphbo raises on purpose.

::

    GraphboError
    ├── InvalidName            a label, type, property or prefix that cannot go into a statement
    ├── InvalidView            a view that names no label, no relationship type, …
    ├── InvalidAddress         a database address or credentials file that cannot be used
    ├── StoreError             the database answered, but not as hoped
    │   ├── StoreUnavailable       nobody answers at the address, or it went away
    │   │   └── TimedOut               it did not answer in time, perhaps because of somebody's lock
    │   ├── AuthenticationFailed   wrong user name or password
    │   ├── DatabaseNotFound       the server has no database of that name
    │   ├── ReadOnlyDatabase       this database or user may not write
    │   ├── NoSuchNode             a key that matches no node of the view
    │   ├── EmptyView              a view that matches no node
    │   ├── KeyNotUnique           several nodes share a key, or nothing forbids that they do
    │   └── InvalidWeight          a relationship with a missing, negative or non-numeric weight
    ├── RunError               something about a run
    │   ├── NoSuchRun              the database has no run of that name
    │   ├── RunExists              it has one already
    │   ├── RunMismatch            a run was started with other options
    │   ├── RunDamaged             somebody changed what graphbo wrote about a run
    │   ├── RunTooNew              a newer graphbo wrote it
    │   ├── PrefixTaken            another run writes properties of that prefix
    │   ├── NameInUse              a node has something of its own where a run would write
    │   ├── NotAsked               a value for a step or a node that nobody asked for
    │   ├── ValueConflict          another value was told before
    │   ├── ReportRefused          one of several values cannot be told, so none is
    │   └── ObjectiveBroken        evaluations keep failing
    ├── SourceError            a file or generator that is not a graph
    ├── TaskError              a task with a wrong parameter, or whose data set is missing
    ├── BenchError             a comparison that cannot be run, or results that cannot be read
    ├── ServerError            the local Neo4j cannot be fetched, started or stopped
    ├── InvalidObjective       an objective that names nothing that can be evaluated
    ├── EvaluationFailed       an objective that gave no number for a node
    └── ModelError             a model that was asked for something it cannot do

A message is one line: what is wrong, with the value that is wrong, and what to do about it. It never contains a
password. The command line prints it and ends with exit code 1.
"""

__all__ = [
    "AuthenticationFailed",
    "BenchError",
    "DatabaseNotFound",
    "EmptyView",
    "EvaluationFailed",
    "GraphboError",
    "InvalidAddress",
    "InvalidName",
    "InvalidObjective",
    "InvalidView",
    "InvalidWeight",
    "KeyNotUnique",
    "ModelError",
    "NameInUse",
    "NoSuchNode",
    "NoSuchRun",
    "NotAsked",
    "ObjectiveBroken",
    "PrefixTaken",
    "ReadOnlyDatabase",
    "ReportRefused",
    "RunDamaged",
    "RunError",
    "RunExists",
    "RunMismatch",
    "RunTooNew",
    "ServerError",
    "SourceError",
    "StoreError",
    "StoreUnavailable",
    "TaskError",
    "TimedOut",
    "ValueConflict",
]


class GraphboError(Exception):
    """Root of everything graphbo raises on purpose; its text is fit for a user's eyes."""


class InvalidName(GraphboError):
    """A label, relationship type, property or prefix that cannot go into a statement."""


class InvalidView(GraphboError):
    """A view that cannot describe a graph."""


class InvalidAddress(GraphboError):
    """A database address or a credentials file that cannot be used."""


class StoreError(GraphboError):
    """The database answered, but not as hoped."""


class StoreUnavailable(StoreError):
    """Nobody answers at the address, or the database went away."""


class TimedOut(StoreUnavailable):
    """The database ended a transaction that took too long, perhaps because another one holds a lock."""


class AuthenticationFailed(StoreError):
    """The user name or the password is wrong."""


class DatabaseNotFound(StoreError):
    """The server has no database of that name."""


class ReadOnlyDatabase(StoreError):
    """This database, or this user, may not write."""


class NoSuchNode(StoreError):
    """A key that matches no node of the view."""


class EmptyView(StoreError):
    """A view that matches no node."""


class KeyNotUnique(StoreError):
    """Several nodes share a key, or no constraint forbids it."""


class InvalidWeight(StoreError):
    """A relationship with a missing, negative or non-numeric weight."""


class RunError(GraphboError):
    """Something about a run."""


class NoSuchRun(RunError):
    """The database has no run of that name."""


class RunExists(RunError):
    """The database has a run of that name already."""


class RunMismatch(RunError):
    """A run was started with other options than it is resumed with."""


class RunDamaged(RunError):
    """Somebody changed what graphbo wrote about a run."""


class RunTooNew(RunError):
    """A newer graphbo wrote the run."""


class PrefixTaken(RunError):
    """Another run writes properties of that prefix."""


class NameInUse(RunError):
    """A node has a property or a label of its own where a run would write."""


class NotAsked(RunError):
    """A value for a step or a node that nobody asked for."""


class ValueConflict(RunError):
    """Another value was told for the step before."""


class ReportRefused(RunError):
    """One of several values that were to be told together cannot be: none was.

    Attributes:
        position: which one, from 0.
    """

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(reason)
        self.position = position


class ObjectiveBroken(RunError):
    """Evaluations keep failing: the objective has to be mended. A note has all that is known of the last failure."""


class SourceError(GraphboError):
    """A file or a generator that is not a graph."""


class TaskError(GraphboError):
    """A task with a wrong parameter, or whose data set is missing."""


class BenchError(GraphboError):
    """A comparison that cannot be run, or results that cannot be read."""


class ServerError(GraphboError):
    """The local Neo4j cannot be fetched, started or stopped."""


class InvalidObjective(GraphboError):
    """An objective that names nothing that can be evaluated, found before any evaluation."""


class EvaluationFailed(GraphboError):
    """An objective that gave no number for a node.

    Attributes:
        detail: all that is known about it, in as many lines as it takes; empty where the message says it all.
    """

    def __init__(self, message: str | None = None, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class ModelError(GraphboError):
    """A model that was asked for something it cannot do."""
