"""What a store keeps of runs: one transaction that holds a run's lock, and what may be read and written in it.

The rules of asking and telling are in ``graphbo.runs``. Here is what they are given, a :class:`Snapshot`, and what they
say is to be written, as values: so rules need no database, and may be applied to what is only believed.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from graphbo.types import NodeKey, View

__all__ = [
    "COUNTERS",
    "NO_NEWS",
    "RUN_PROPERTIES",
    "Amend",
    "ChangeRun",
    "Decide",
    "DeleteRun",
    "Exclude",
    "Fail",
    "Found",
    "Free",
    "HandOut",
    "Include",
    "Kind",
    "Lookup",
    "Mark",
    "MarkRegion",
    "MoveBest",
    "Observe",
    "Properties",
    "Release",
    "Retract",
    "Retry",
    "Revise",
    "RunLog",
    "Snapshot",
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

#: What a run may have to do with a node. ``retried`` is a failure that was given back, ``retracted`` a value.
Kind: TypeAlias = Literal["pending", "observed", "failed", "retried", "retracted", "region"]


#: A seq after which nothing is told.
NO_NEWS = 2**62


@dataclass(frozen=True)
class Lookup:
    """What is read of a run once it is locked.

    Attributes:
        view: how its nodes are called.
        by: who holds the lock, for people who look at it.
        since: the seq after which what was told is news.
        candidates: of which the first that nobody has is sought.
        steps, keys: of what is told, if it was told before.
        nodes: the keys of nodes that are sought.
        touched: whether all nodes are sought that the run has to do with.
    """

    view: View
    by: str
    since: int = NO_NEWS
    candidates: Sequence[NodeKey] = ()
    steps: Sequence[int] = ()
    keys: Sequence[NodeKey] = ()
    nodes: Sequence[NodeKey] = ()
    touched: bool = False


@dataclass(frozen=True)
class Found:
    """A node that a key was looked up for.

    Attributes:
        id: the database's own, as text.
        labels, properties: the names that it has.
        in_run: whether the run has anything for it.
        excluded: whether it is excluded from the run.
    """

    id: str
    labels: Sequence[str]
    properties: Sequence[str]
    in_run: bool = False
    excluded: bool = False

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
class Snapshot:
    """What a locked run looks like, as far as a :class:`Lookup` asks for it: all that rules depend on.

    Attributes:
        run: the run's properties.
        pending: properties of what is being measured, with ``key``, ``left`` (milliseconds of lease, or None),
            ``answer`` (the node's property that ``answerIn`` names) and ``held`` (the names of the node's labels and
            properties, where they were looked at).
        free: the first candidate that nobody has.
        told: properties of what was told at the steps or the nodes in question, with ``key`` and ``held``.
        news: properties of what was told since, with ``key``.
        nodes: for each key that was looked for and that a node has, all nodes that have it.
        touched: every node that the run has to do with, once for each thing that it has to do with it.
        excluded: properties of every exclusion, with ``key``; None where nobody looked.
    """

    run: Properties
    pending: list[Properties]
    free: Free | None = None
    told: list[Properties] = field(default_factory=list)
    news: list[Properties] = field(default_factory=list)
    nodes: Mapping[NodeKey, Sequence[Found]] = field(default_factory=dict)
    touched: Sequence[Touched] = ()
    excluded: list[Properties] | None = None


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
    """What is pending becomes what has failed. ``node`` are properties of the node, here and below."""

    step: int
    properties: Properties
    counters: Properties
    node: Properties = field(default_factory=dict)


@dataclass(frozen=True)
class Release:
    """What is pending was never asked for."""

    step: int
    node: Properties = field(default_factory=dict)


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
    node: Properties = field(default_factory=dict)
    counters: Properties = field(default_factory=dict)


@dataclass(frozen=True)
class Retry:
    """What has failed at these steps is kept, but no failure any more: the nodes may be asked for again."""

    steps: list[int]
    counters: Properties


@dataclass(frozen=True)
class Retract:
    """What was observed at a step is kept, but no observation any more: the node may be asked for again.

    Attributes:
        properties: what is noted with it.
        node: properties of the node: those that go are None.
        labels: that the node loses.
    """

    step: int
    properties: Properties
    node: Properties
    labels: list[str]
    counters: Properties


@dataclass(frozen=True)
class Exclude:
    """These nodes are not proposed any more.

    Attributes:
        rows: for each the ``id`` of the node, and the ``properties`` of its exclusion.
    """

    rows: list[Properties]
    counters: Properties


@dataclass(frozen=True)
class Include:
    """These nodes, by ``ids``, are proposed again."""

    ids: list[str]
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
    | Retract
    | Exclude
    | Include
    | Warm
    | MoveBest
    | Mark
    | MarkRegion
    | ChangeRun
    | DeleteRun
)


#: A rule: what somebody is answered, given what was found, and what is written for it. It is pure: a store may apply it
#: more than once.
Decide: TypeAlias = Callable[[Snapshot], tuple[Answer, Sequence[Write]]]


class RunLog(Protocol):
    """What a store does for runs."""

    def transact(
        self,
        run: str,
        lookup: Lookup,
        decide: Decide[Answer],
        *,
        guess: Write | None = None,
        survives_power_cut: bool = True,
        grows: bool = False,
    ) -> tuple[Answer, str] | None:
        """In one write transaction: lock the run, look, ``decide``, and write; again if the database asks for it.

        Args:
            run: its name.
            lookup: what to look at, once it is locked.
            decide: says what to write.
            guess: the only thing that will probably be written. A store may write it as it looks, to save a trip,
                but commits it only if ``decide`` then says just that.
            survives_power_cut: whether the disk is waited for. What need not survive a power cut may be lost in one,
                unless something later was kept.
            grows: whether it takes the longer the more there is to write: it is given more time than a step.

        Returns:
            The answer, and when the last of it was written (as the database has it, where it has that); None, without
            a decision, if there is no such run.
        """

    def create_run(self, properties: Properties) -> bool:
        """Create the schema and the run; False if its name or its prefix is taken."""

    def list_runs(self, name: str | None = None) -> list[tuple[Properties, int]]:
        """Properties of all runs, or of one, and how many nodes each has pending."""

    def read_news(self, run: str, view: View, since: int) -> Snapshot | None:
        """The run, its pending and excluded nodes and what was told since, without a lock, from where it is written."""

    def read_retried(self, run: str, view: View) -> list[Properties]:
        """Properties of the failures that were given back and of the values that were retracted, with ``key``."""

    def renew(self, run: str, tokens: Sequence[str], lease: float, tries: int = 0) -> list[int]:
        """Let leases end so many seconds from now, and change their number of tries; the steps that were there."""

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


def is_whole(snapshot: Snapshot) -> bool:
    """Whether nothing was being deleted while it was read: what is, loses its properties first."""
    return (
        is_whole_run(snapshot.run)
        and all(_has(one, ("step", "worker", "token")) for one in snapshot.pending)
        and all(_has(one, ("step", "seq")) for one in snapshot.news)
    )


def is_whole_run(run: Properties) -> bool:
    """The same of a run alone."""
    return _has(run, RUN_PROPERTIES)


def _has(properties: Properties, names: Iterable[str]) -> bool:
    return all(properties.get(name) is not None for name in names)
