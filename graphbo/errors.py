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
    │   ├── InvalidWeight          a relationship with a missing, negative or non-numeric weight
    │   └── InvalidCost            a node whose measurement has no cost, or none above zero
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
password. What to do is a ``Remedy`` wherever a command says it in words of its own: those of a library are for whoever
calls it from Python. The command line prints the line and ends with exit code 1.
"""

from collections.abc import Mapping
from enum import StrEnum

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
    "Remedy",
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


class Remedy(StrEnum):
    """What to do about an error: it continues the sentence that says what is wrong.

    In braces are names of the error's facts. ``graphbo.cli.advice`` says the same in options and commands.
    """

    # A view
    NAME_LABEL = ": name at least one label"
    NAME_RELATIONSHIP = ": name at least one type"
    NAME_KEY = ": name the property that identifies a node"
    NAME_WEIGHT = ": name the property that holds the weight, or leave out its default"
    NAME_DISTANCE = ": name the property that holds it"
    CHOOSE_LABEL = ": choose among {labels}, or load a graph first"
    CHECK_LABEL = ": check the label, or load a graph first"
    CHOOSE_RELATIONSHIP = ": choose among {types}"
    CHECK_RELATIONSHIP = ": check the type"
    CHANGE_FILTER = ": change the filter"
    CREATE_INDEX = ": create an index: {index}"
    NAME_RAREST = ": no index finds them; let the label that the fewest nodes have come first"
    ASK_OTHERWISE = (
        ": no index could find them; compare a property with =, < or IN, and AND the rest"
    )
    CONNECT_BY_PATH = "; {way}: the path {path}"
    RAISE_HUB_LIMIT = ": raise the hub limit"
    FILTER_CANDIDATES = (
        ": the filter leaves out what connects them; filtering the candidates alone would do"
    )
    CONNECT = ": name other types, or paths, that connect them"
    # Keys and weights
    CHECK_KEY = ": check its spelling, and the label and the key property of the view"
    CHOOSE_KEY = ", or choose another key property"
    REPLACE_INDEX = (
        ": drop the index {indexes} first and create one, or choose another key property"
    )
    KEEP_UNIQUE = ": a constraint would, once the index {indexes} is dropped"
    CHOOSE_UNIQUE = ": choose a key among those that a constraint makes unique, {keys}"
    GIVE_UNIQUE = ": a property with a uniqueness constraint would be a better key"
    CREATE_KEY = ": create one, or choose another key property"
    MAKE_UNIQUE = ": give each node a value of its own first, or choose another key property"
    LOAD_WITH_KEY = ": load the graph with it as its key, or name no key"
    USE_KEY = ": use the key {key!r}"
    USE_KEY_OR_FILE = ": use the key {key!r}, another label, or another file"
    RENAME_KEY = ": choose another key property"
    GIVE_DEFAULT_WEIGHT = "; a default weight is for those that have none"
    LEAVE_OUT_WEIGHT = ": leave out the weight {weight!r}"
    NAME_COST = ": name the node property that says so"
    LEAVE_OUT_COSTLESS = ": set it, or leave such nodes out of the candidates"
    CHECK_COST = ": check its spelling"
    SET_COST = ": set it, or exclude the node from the run"
    # Databases
    LOAD_FIRST = ": load a graph first, or name another file"
    NAME_FILE = ": name another file"
    NAME_DATABASE = ": name another one, or set NEO4J_DATABASE"
    GIVE_CREDENTIALS = ": set NEO4J_USERNAME and NEO4J_PASSWORD, or give a credentials file"
    EXPECT_CREDENTIALS = (
        ": expected the file that Neo4j Aura wrote, or graphbo for a server of its own"
    )
    CHECK_SERVER = ": check the address and that the server runs"
    GIVE_PAGE = ": give one like http://HOST:7474/browser/ (or https), without a user in it"
    # A local Neo4j
    CHOOSE_HOME = ": choose another home"
    KEEP_VERSION = ": use version {version}, or another home"
    START_SERVER = ": start one there first, or choose another home"
    REPLACE_DATABASE = ": have it replaced, or choose another home"
    CHOOSE_PORT = ": choose another {purpose} port, or leave it out"
    # Loading
    REMOVE_RUN_OF_NODES = ": remove it first, or load under another label"
    SKIP_BAD = ": nothing was loaded; correct {them}, or have what is malformed skipped"
    LOAD_TABLES = ": load tables of nodes and tables of edges together"
    SAY_HEADER = ": load it as a table of nodes, or say that it is a list of edges with a header"
    LOOK_AT_TASKS = "; graphbo.bench.tasks.TASKS has what there is"
    RUN_TASK = ": choose through=projection"
    NAME_DATA = (
        ": name its directory, or set {variable}; the data are from {origin}, as a packed list of edges with the "
        "header source,target"
    )
    FETCH_DATA = (
        " ({variable} may name another directory): download it from {origin}, and pack its edges under that name, with "
        "the header source,target"
    )
    # Objectives
    GIVE_WHOLE_ADDRESS = ", give the whole address"
    USE_NEO4J = ": open a Neo4j, or give another objective"
    MEND = "; mend the objective and run again"
    MEND_OR_ALLOW = "; mend the objective and run again, or allow more failures"
    # Runs
    RESUME = ": resume it, or choose another name"
    GIVE_HOP = ": give the same statement, or let it be run with Run.agree_to_hop"
    REPEAT_OPTIONS = ": repeat those, or choose another name"
    RESTORE_RUN = "; restore it from a backup, or remove the run"
    REMOVE_RUN = ": remove that"
    CHOOSE_PREFIX = ": use the write prefix {prefix!r}"
    CHOOSE_PREFIX_OR_REMOVE = ": use the write prefix {prefix!r}, or remove that run"
    GO_ON_WITH_PREFIX = ": the node is as it was; go on with the write prefix {prefix!r}"
    NAME_COLUMN = ": name the column of the {what}"
    COLLECT = ": collect it first, or remove it there"
    RETRY = ": retry it"
    INCLUDE_FIRST = ": include it first"
    NARROW_CANDIDATES = ": start a run whose candidates leave them out"
    ASK_FIRST = ": nothing is pending; ask first"
    AMEND = ": amend it to replace it"
    TELL_LATER = ": tell it when the database answers again"
    TELL_ANOTHER_RUN = ": tell it to another run, as a known value"
    # Comparisons
    USE_FEWER_PROCESSES = (
        ": start it again with fewer processes, and it goes on from what is finished"
    )


class GraphboError(Exception):
    """Root of everything graphbo raises on purpose; its text is fit for a user's eyes.

    Attributes:
        problem: what is wrong, with the value that is wrong; all of the text where there is no remedy.
        remedy: what to do about it, where a command has words of its own for that.
        facts: what the remedy mentions, such as a prefix that is free, by name.
    """

    def __init__(self, problem: str = "", remedy: Remedy | None = None, **facts: object) -> None:
        super().__init__(problem + (remedy.format(**facts) if remedy else ""))
        self.problem = problem
        self.remedy = remedy
        self.facts: Mapping[str, object] = facts


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


class InvalidCost(StoreError):
    """A node whose measurement has no cost, or none above zero."""


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

    def __init__(
        self, position: int, problem: str, remedy: Remedy | None = None, **facts: object
    ) -> None:
        super().__init__(problem, remedy, **facts)
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

    def __init__(self, problem: str | None = None, detail: str = "") -> None:
        super().__init__(problem or "")
        self.detail = detail


class ModelError(GraphboError, ValueError):
    """A model that was asked for something it cannot do."""
