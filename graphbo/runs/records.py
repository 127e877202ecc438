"""Runs as values: what the database has of a run, and what asking and telling answer."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from graphbo.types import NodeKey, Observation, Pending, View, is_better

__all__ = [
    "PLAIN_SCHEMA",
    "SCHEMA",
    "VIEW_SCHEMA",
    "AskAnswer",
    "AskOutcome",
    "Exclusion",
    "News",
    "RunRecord",
    "RunState",
    "SetAside",
    "TellOutcome",
    "Told",
    "UnreadableRun",
    "total",
]

#: Of what a run consists of in a database. 2: requests count their tries, failures may be given back or mended. 3: its
#: view has candidates, paths, filters or weights of other kinds; runs on plain views are as before. 4: nodes were
#: excluded, or values retracted, a run is of this schema from then on; or measurements have costs.
SCHEMA = 4
VIEW_SCHEMA = 3
PLAIN_SCHEMA = 2

RunState: TypeAlias = Literal["running", "stopped", "finished"]

#: What became of a request: a new node; the answer to a request that was repeated; somebody's abandoned node; or
#: nothing, because the budget is used up, the run has ended, every candidate is taken, or the node has something of
#: its own where the run would write.
AskOutcome: TypeAlias = Literal[
    "new", "repeated", "taken over", "budget", "ended", "taken", "in use"
]

#: What became of a value: recorded; known already; kept beside what was told first; or changed.
TellOutcome: TypeAlias = Literal["recorded", "repeated", "late", "amended"]


def total(*amounts: float) -> float:
    """The sum of costs as people write them: ten times 0.1 is 1."""
    return float(sum(Decimal(repr(float(one))) for one in amounts))


@dataclass(frozen=True)
class RunRecord:
    """A run as the database has it.

    Attributes:
        steps: how many nodes were asked for.
        seq: how many values, failures and known values were told.
        told, failed, warm: of these, how many are which; ``told`` and ``failed`` count towards the budget.
        pending: how many nodes are being measured.
        amended: how often the run was changed other than by telling more: values that were replaced or retracted,
            failures that were given back, nodes that were excluded. Whoever finds another number reads all of it again.
        known_retracted: how many known values were retracted: the numbers of their steps are not given again.
        budget_cost: how much may be spent, in a run with costs.
        spent: what the evaluations that count have cost.
        reserved: what is being measured will cost.
        written_by: the version of graphbo that started it; empty for the first ones.
    """

    name: str
    maximize: bool
    view: View
    config: Mapping[str, Any]
    seed: int
    prefix: str
    labelled: bool = True
    budget: int | None = None
    budget_cost: float | None = None
    state: RunState = "running"
    schema: int = PLAIN_SCHEMA
    steps: int = 0
    seq: int = 0
    told: int = 0
    failed: int = 0
    warm: int = 0
    amended: int = 0
    known_retracted: int = 0
    spent: float = 0.0
    reserved: float = 0.0
    best_step: int | None = None
    best_value: float | None = None
    pending: int = 0
    started_at: str = ""
    updated_at: str = ""
    written_by: str = ""

    @property
    def evaluations(self) -> int:
        """What has been used of the budget."""
        return self.told + self.failed

    @property
    def in_history(self) -> int:
        """How many values, failures and known values there are: failures that were given back are none any more."""
        return self.told + self.failed + self.warm

    @property
    def left(self) -> float:
        """How many nodes may still be asked for, whatever they cost; none if nothing is left to pay with."""
        if self.left_to_spend <= 0:
            return 0
        return math.inf if self.budget is None else self.budget - self.evaluations - self.pending

    @property
    def left_to_spend(self) -> float:
        """How much may still be spent: what is being measured is paid for already."""
        if self.budget_cost is None:
            return math.inf
        return total(self.budget_cost, -self.spent, -self.reserved)

    def with_pending(self, pending: Sequence[Pending]) -> "RunRecord":
        """The run while these nodes are being measured."""
        reserved = total(*(one.cost or 0.0 for one in pending))
        return replace(self, pending=len(pending), reserved=reserved)

    def beats(self, value: float, other: float | None) -> bool:
        """Whether a value is better than another."""
        return is_better(value, other, maximize=self.maximize)


@dataclass(frozen=True)
class UnreadableRun:
    """A run that is there, and why it cannot be read: it was damaged, or a newer graphbo wrote it."""

    name: str
    reason: str


@dataclass(frozen=True)
class Exclusion:
    """A node that is not proposed any more.

    Attributes:
        by: who excluded it.
        at: when, in ISO 8601, by the database's clock.
        reason: why, if somebody said so.
    """

    key: NodeKey
    by: str
    at: str
    reason: str | None = None


@dataclass(frozen=True)
class News:
    """A run and what happened in it.

    Attributes:
        excluded: the nodes that are not proposed; None where nobody looked.
    """

    record: RunRecord
    observations: tuple[Observation, ...] = ()
    pending: tuple[Pending, ...] = ()
    excluded: tuple[Exclusion, ...] | None = None


@dataclass(frozen=True)
class SetAside:
    """What was told, is on record, and counts no more: a failure that was retried, or a value that was retracted.

    Attributes:
        retracted: whether it is a value that was retracted.
        at: when it was set aside.
        reason: why a value was retracted, if somebody said so.
    """

    observation: Observation
    retracted: bool
    at: str
    reason: str | None = None


@dataclass(frozen=True)
class AskAnswer:
    """What a request got.

    Attributes:
        news: how things stood when it was decided.
        in_use, key: what a node has of its own where the run would write, and which node.
    """

    outcome: AskOutcome
    pending: Pending | None
    news: News
    in_use: tuple[str, ...] = ()
    key: NodeKey | None = None


@dataclass(frozen=True)
class Told:
    """What became of a value.

    Attributes:
        news: how things stand now, the value included.
        in_use: what the node has of its own where the run would have written: the value is recorded, the node is as
            it was.
    """

    outcome: TellOutcome
    observation: Observation
    news: News
    in_use: tuple[str, ...] = ()

    def stamped(self, at: str) -> "Told":
        """The same with the time that the database gave to what was just recorded."""
        observation = replace(self.observation, at=at)
        before = self.news.observations[:-1]
        news = replace(self.news, observations=(*before, observation))
        return replace(self, observation=observation, news=news)
