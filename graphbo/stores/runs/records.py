"""Runs as values: what the database has of a run, and what asking and telling answer."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from graphbo.types import Observation, Pending, View

__all__ = [
    "SCHEMA",
    "AskAnswer",
    "AskOutcome",
    "News",
    "RunRecord",
    "RunState",
    "TellOutcome",
    "Told",
    "all_properties",
    "region_properties",
    "written_labels",
    "written_properties",
]

SCHEMA = 1

RunState: TypeAlias = Literal["running", "stopped", "finished"]

#: What became of a request: a new node; the answer to a request that was repeated; somebody's abandoned node; or
#: nothing, because the budget is used up, the run has ended, or every candidate is taken.
AskOutcome: TypeAlias = Literal["new", "repeated", "taken over", "budget", "ended", "taken"]

#: What became of a value: recorded; known already; kept beside what was told first; or changed.
TellOutcome: TypeAlias = Literal["recorded", "repeated", "late", "amended"]


@dataclass(frozen=True)
class RunRecord:
    """A run as the database has it.

    Attributes:
        steps: how many nodes were asked for.
        seq: how many values, failures and known values were told.
        told, failed, warm: of these, how many are which; ``told`` and ``failed`` count towards the budget.
        pending: how many nodes are being measured.
        amended: how often a value was changed afterwards.
    """

    name: str
    maximize: bool
    view: View
    config: Mapping[str, Any]
    seed: int
    prefix: str
    labelled: bool = True
    budget: int | None = None
    state: RunState = "running"
    schema: int = SCHEMA
    steps: int = 0
    seq: int = 0
    told: int = 0
    failed: int = 0
    warm: int = 0
    amended: int = 0
    best_step: int | None = None
    best_value: float | None = None
    pending: int = 0
    started_at: str = ""
    updated_at: str = ""

    @property
    def evaluations(self) -> int:
        """What has been used of the budget."""
        return self.told + self.failed

    @property
    def left(self) -> float:
        """How many nodes may still be asked for."""
        return math.inf if self.budget is None else self.budget - self.evaluations - self.pending

    def beats(self, value: float, other: float | None) -> bool:
        """Whether a value is better than another."""
        return other is None or (value > other if self.maximize else value < other)


@dataclass(frozen=True)
class News:
    """A run and what happened in it."""

    record: RunRecord
    observations: tuple[Observation, ...] = ()
    pending: tuple[Pending, ...] = ()


@dataclass(frozen=True)
class AskAnswer:
    """What a request got; ``news`` is how things stood when it was decided."""

    outcome: AskOutcome
    pending: Pending | None
    news: News


@dataclass(frozen=True)
class Told:
    """What became of a value; ``news`` includes it."""

    outcome: TellOutcome
    observation: Observation
    news: News


def written_properties(prefix: str) -> dict[str, str]:
    """What each belief is called as a node property."""
    names = ("value", "step", "mean", "std", "acquisition")
    return {name: f"{prefix}{name.capitalize()}" for name in names}


def region_properties(prefix: str) -> dict[str, str]:
    """What each belief of now is called on the nodes of the region; that of then has another name.

    None of the names ends like one of ``written_properties``: two prefixes never give the same name.
    """
    return {name: f"{prefix}{name.capitalize()}Now" for name in ("mean", "std", "acquisition")}


def all_properties(prefix: str) -> list[str]:
    """The names of all node properties that a run may write."""
    return [*written_properties(prefix).values(), *region_properties(prefix).values()]


def written_labels(prefix: str) -> dict[str, str]:
    """The labels of nodes that are observed, the best, being measured, or in the region."""
    return {
        name: f"{prefix[:1].upper()}{prefix[1:]}{name.capitalize()}"
        for name in ("observed", "best", "pending", "region")
    }
