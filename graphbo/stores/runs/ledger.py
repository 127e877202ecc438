"""What a store does for runs: one transaction that holds the run's lock, and what may be read and written in it.

The rules are in ``asking`` and ``telling``. They say what to write as values, so that they need no database, and so
that a store may guess what they will say.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

from graphbo.types import NodeKey, View

__all__ = [
    "Amend",
    "Fail",
    "HandOut",
    "KeepLate",
    "Ledger",
    "Look",
    "MoveBest",
    "Observe",
    "Properties",
    "Release",
    "RunRows",
    "Situation",
    "TakeOver",
    "Warm",
    "Write",
]

Properties: TypeAlias = dict[str, Any]
Answer = TypeVar("Answer")


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
class Situation:
    """What a locked run looks like: all that asking and telling depend on.

    Attributes:
        run: the run's properties.
        pending: properties of what is being measured, with ``key`` and ``left`` (milliseconds of lease, or None).
        free: the first candidate that nobody has, by its position.
        told: properties of what was told for the step or the node in question, with ``key``.
        news: properties of what was told since, with ``key``.
    """

    run: Properties
    pending: list[Properties]
    free: int | None = None
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


@dataclass(frozen=True)
class Observe:
    """What is pending becomes what is observed.

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
class KeepLate:
    """Values that came late are kept beside what was observed, or failed, first."""

    step: int
    late: list[float]


@dataclass(frozen=True)
class Warm:
    """Values that were known before, of nodes that the ledger was asked for with ``known``.

    Attributes:
        rows: for each a ``key``, the ``properties`` of what is observed, and the ``node``'s.
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
class Annotate:
    """What people see on nodes.

    Attributes:
        rows: for each a ``key``, the ``node``'s properties (None removes one), labels to ``add`` and to ``remove``.
    """

    rows: list[Properties]


@dataclass(frozen=True)
class MarkRegion:
    """What is believed now of the nodes of the region, in place of what was written there before.

    Attributes:
        rows: for each a ``key`` and the ``node``'s properties.
        node: the same properties, all None: what becomes of nodes that have left the region.
        labels: that its nodes have, and others lose.
    """

    rows: list[Properties]
    node: Properties
    labels: list[str]


Write: TypeAlias = (
    HandOut
    | TakeOver
    | Observe
    | Fail
    | Release
    | Amend
    | KeepLate
    | Warm
    | MoveBest
    | Annotate
    | MarkRegion
)


class Ledger(Protocol):
    """One write transaction that holds a run's lock."""

    def write(self, write: Write) -> str:
        """Write something about the run.

        Returns:
            For what is observed or has failed from now on, since when: ``at``, as it is read later. Otherwise anything.
        """

    def known(self, keys: Sequence[NodeKey]) -> dict[NodeKey, bool]:
        """For each of these nodes that exists, whether the run has anything for it."""


class RunRows(Protocol):
    """What a store does for runs."""

    def transact(
        self,
        run: str,
        look: Look,
        work: Callable[[Ledger, Situation], Answer],
        *,
        survives_power_cut: bool = True,
        guess: Write | None = None,
    ) -> Answer | None:
        """In one write transaction: lock the run, look at it, and ``work``; again if the database asks for it.

        What need not survive a power cut may be lost in one, unless something later was kept.

        Args:
            run: its name.
            look: what to look at, once it is locked.
            work: decides what to write.
            survives_power_cut: whether the disk is waited for.
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

    def renew(self, run: str, tokens: Sequence[str], lease: float) -> list[int]:
        """Extend leases; the steps that were still there."""

    def set_run(self, run: str, properties: Properties) -> None:
        """Change properties of the run."""

    def clean_run(self, run: str, view: View, node: Properties, labels: Sequence[str]) -> None:
        """Remove every trace of the run, and the schema with the last one."""
