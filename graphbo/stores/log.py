"""What a store does for runs: one transaction that holds the run's lock, and what may be read and written in it.

The rules are in ``asking`` and ``telling``. They say what to write as values, so that they need no database, and so
that a store may guess what they will say.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from graphbo.types import NodeKey, View

__all__ = [
    "COUNTERS",
    "RUN_PROPERTIES",
    "Amend",
    "ChangeRun",
    "DeleteRun",
    "Fail",
    "Found",
    "Free",
    "HandOut",
    "Kind",
    "Ledger",
    "Look",
    "Mark",
    "MarkRegion",
    "MoveBest",
    "Observe",
    "Properties",
    "Release",
    "Retry",
    "Revise",
    "RunLog",
    "Situation",
    "TakeOver",
    "Touched",
    "Warm",
    "Write",
    "is_whole",
    "is_whole_run",
]

Properties: TypeAlias = dict[str, Any]

#: What a run counts.
COUNTERS = ("steps", "seq", "told", "failed", "warm", "amended")
#: What every run has.
RUN_PROPERTIES = (
    *("name", "direction", "state", "view", "config", "seed", "schema", "prefix", "labelled"),
    *COUNTERS,
)
Answer = TypeVar("Answer")

#: What a run may have to do with a node. ``retried`` is a failure that was given back.
Kind: TypeAlias = Literal["pending", "observed", "failed", "retried", "region"]


@dataclass(frozen=True)
class Look:
    """What is looked at once a run is locked.

    Attributes:
        token: who holds the lock, for people who look at it.
        candidates: of which the first that nobody has is sought.
        step, key: of what is told, if it was told before.
        since: the seq after which what was told is news.
    """

    view: View
    token: str
    since: int
    candidates: Sequence[NodeKey] = ()
    step: int | None = None
    key: NodeKey | None = None


@dataclass(frozen=True)
class Found:
    """A node that a key was looked up for.

    Attributes:
        id: the database's own, as text.
        labels, properties: the names that it has.
        in_run: whether the run has anything for it.
    """

    id: str
    labels: Sequence[str]
    properties: Sequence[str]
    in_run: bool = False

    @property
    def held(self) -> set[str]:
        """The names of its labels and properties."""
        return {*self.labels, *self.properties}


@dataclass(frozen=True)
class Touched:
    """A node that a run has to do with.

    Attributes:
        id: the database's own, as text.
        kind: what it has to do with it.
        record: the properties of that: of the relationship, in Neo4j.
        held: the names of the node's labels and properties.
    """

    id: str
    kind: Kind
    record: Properties
    held: Collection[str]


@dataclass(frozen=True)
class Free:
    """The first candidate that nobody has, by its position, and every node that has its key."""

    position: int
    nodes: Sequence[Found]


@dataclass(frozen=True)
class Situation:
    """What a locked run looks like: all that asking and telling depend on.

    Attributes:
        run: the run's properties.
        pending: properties of what is being measured, with ``key``, ``left`` (milliseconds of lease, or None) and
            ``held`` (the names of the node's labels and properties, where they were looked at).
        free: the first candidate that nobody has.
        told: properties of what was told for the step or the node in question, with ``key``.
        news: properties of what was told since, with ``key``.
    """

    run: Properties
    pending: list[Properties]
    free: Free | None = None
    told: list[Properties] = field(default_factory=list)
    news: list[Properties] = field(default_factory=list)


@dataclass(frozen=True)
class HandOut:
    """A node is being measured from now on. ``counters`` are properties of the run, here and below."""

    key: NodeKey
    properties: Properties
    lease: float | None
    counters: Properties


@dataclass(frozen=True)
class TakeOver:
    """Somebody else measures what somebody stopped measuring."""

    step: int
    worker: str
    token: str
    lease: float | None
    tries: int


@dataclass(frozen=True)
class Observe:
    """What is pending, or has failed, becomes what is observed.

    Attributes:
        properties: of the observation.
        node: properties of the node.
        labels: that the node gets.
        best: the label that it gets alone, if it is the best so far; in a list, for there may be none.
        old: the step of the node that had it before.
    """

    step: int
    properties: Properties
    node: Properties
    labels: list[str]
    counters: Properties
    best: list[str] = field(default_factory=list)
    old: int | None = None


@dataclass(frozen=True)
class Fail:
    """What is pending becomes what has failed."""

    step: int
    properties: Properties
    counters: Properties


@dataclass(frozen=True)
class Release:
    """What is pending was never asked for."""

    step: int


@dataclass(frozen=True)
class Amend:
    """What was observed changes."""

    step: int
    properties: Properties
    node: Properties
    counters: Properties


@dataclass(frozen=True)
class Revise:
    """Something is noted beside what was asked for or told at a step; what is None is removed."""

    step: int
    properties: Properties


@dataclass(frozen=True)
class Retry:
    """What has failed at these steps is kept, but no failure any more: the nodes may be asked for again."""

    steps: list[int]
    counters: Properties


@dataclass(frozen=True)
class Warm:
    """Values that were known before.

    Attributes:
        rows: for each the ``id`` of the node, the ``properties`` of what is observed, and the ``node``'s.
        labels: that the nodes get.
    """

    rows: list[Properties]
    labels: list[str]
    counters: Properties


@dataclass(frozen=True)
class MoveBest:
    """The label of the best node moves from the node of a step to that of another."""

    old: int | None
    new: int
    label: str


@dataclass(frozen=True)
class Mark:
    """What people see on nodes.

    Attributes:
        rows: for each the ``id`` of a node, the properties to ``set`` (None removes one), labels to ``add`` and to
            ``remove``.
    """

    rows: list[Properties]


@dataclass(frozen=True)
class MarkRegion:
    """Which nodes are marked as the region, in place of those that were.

    Attributes:
        rows: for each the ``id`` of a node, and the ``properties`` that say what was written there.
    """

    rows: list[Properties]


@dataclass(frozen=True)
class ChangeRun:
    """Properties of the run itself change; what is None is removed."""

    properties: Properties


@dataclass(frozen=True)
class DeleteRun:
    """The run goes, with its whole record."""


Write: TypeAlias = (
    HandOut
    | TakeOver
    | Observe
    | Fail
    | Release
    | Amend
    | Revise
    | Retry
    | Warm
    | MoveBest
    | Mark
    | MarkRegion
    | ChangeRun
    | DeleteRun
)


class Ledger(Protocol):
    """One write transaction that holds a run's lock."""

    def look(self, look: Look) -> Situation | None:
        """How the run stands now, as far as this is asked for; None if there is no such run."""

    def write(self, write: Write) -> str:
        """Write something about the run.

        Returns:
            For what is observed or has failed from now on, since when: ``at``, as it is read later. Otherwise anything.
        """

    def nodes(self, keys: Sequence[NodeKey]) -> dict[NodeKey, list[Found]]:
        """For each of these keys that a node has, all nodes that have it."""

    def touched(self) -> list[Touched]:
        """Every node that the run has to do with, once for each thing that it has to do with it."""


class RunLog(Protocol):
    """What a store does for runs."""

    def transact(
        self,
        run: str,
        look: Look,
        work: Callable[[Ledger, Situation], Answer],
        *,
        survives_power_cut: bool = True,
        grows: bool = False,
        guess: Write | None = None,
    ) -> Answer | None:
        """In one write transaction: lock the run, look at it, and ``work``; again if the database asks for it.

        What need not survive a power cut may be lost in one, unless something later was kept.

        Args:
            run: its name.
            look: what to look at, once it is locked.
            work: decides what to write.
            survives_power_cut: whether the disk is waited for.
            grows: whether it takes the longer the more there is to write: it is given more time than a step.
            guess: the only thing that will probably be written. A store may write it as it looks, to save a trip,
                but commits it only if ``work`` then writes just that.

        Returns:
            What ``work`` returned; None, without calling it, if there is no such run.
        """

    def create_run(self, properties: Properties) -> bool:
        """Create the schema and the run; False if its name or its prefix is taken."""

    def list_runs(self, name: str | None = None) -> list[tuple[Properties, int]]:
        """Properties of all runs, or of one, and how many nodes each has pending."""

    def read_news(self, run: str, view: View, since: int) -> Situation | None:
        """The run, its pending nodes and what was told since, without a lock, from where it is written."""

    def read_retried(self, run: str, view: View) -> list[Properties]:
        """Properties of the failures that were given back, with ``key``."""

    def renew(self, run: str, tokens: Sequence[str], lease: float, tries: int = 0) -> list[int]:
        """Let leases end so many seconds from now, and change their number of tries; the steps that were there."""

    def set_run(self, run: str, properties: Properties) -> bool:
        """Change properties of the run; whether there is one."""

    def drop_schema(self) -> None:
        """Remove what the first run brought, if there is no run any more."""

    def names_in_use(
        self, view: View, properties: Sequence[str], labels: Sequence[str]
    ) -> list[str]:
        """Which of these names, and of the relationship types of runs, somebody uses who is no run.

        Labels and types are counted; properties are looked for on a sample of the view's nodes.
        """

    def strays(
        self, properties: Sequence[str], labels: Sequence[str], scan: bool, limit: int
    ) -> list[Found]:
        """Nodes with one of these labels; with ``scan``, also those with one of these properties and no such label."""

    def remove_strays(
        self, ids: Sequence[str], properties: Sequence[str], labels: Sequence[str]
    ) -> None:
        """Take these properties and labels off these nodes."""


def is_whole(situation: Situation) -> bool:
    """Whether nothing was being deleted while it was read: what is, loses its properties first."""
    return (
        is_whole_run(situation.run)
        and all(_has(one, ("step", "worker", "token")) for one in situation.pending)
        and all(_has(one, ("step", "seq")) for one in situation.news)
    )


def is_whole_run(run: Properties) -> bool:
    """The same of a run alone."""
    return _has(run, RUN_PROPERTIES)


def _has(properties: Properties, names: Iterable[str]) -> bool:
    return all(properties.get(name) is not None for name in names)
