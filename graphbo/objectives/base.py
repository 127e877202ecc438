"""What every objective has in common: what it is asked, what it answers, and how often it is tried."""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from graphbo.errors import EvaluationFailed, InvalidObjective
from graphbo.objectives.database import Database
from graphbo.objectives.number import as_number
from graphbo.types import NodeKey

__all__ = ["Evaluation", "Evaluator", "Node", "Objective", "Permanent", "Unavailable", "evaluate"]

#: Thirty years: no clock computes with much more.
LONGEST_TIMEOUT = 1e9

#: Seconds before a service that was unavailable is asked again, doubled each time up to the last.
FIRST_PAUSE, LAST_PAUSE = 0.5, 30.0
#: How often somebody is asked who turned the question away. Only what may have been paid for is up to the user.
UNPAID_ATTEMPTS = 5


@dataclass(frozen=True)
class Node:
    """A node to be evaluated. ``properties`` may be empty for an objective that does not need them."""

    key: NodeKey
    properties: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Evaluation:
    """What came of evaluating a node: a value, or an error in one line.

    Attributes:
        attempts: how often the objective was asked.
        seconds: how long it took, with all attempts and the pauses between them.
        detail: all that is known about a failure, in as many lines as it takes; empty where the error says it all.
    """

    value: float | None
    error: str | None
    attempts: int
    seconds: float
    detail: str = ""


class Permanent(EvaluationFailed):
    """A failure that would be the same at the next attempt."""


class Unavailable(EvaluationFailed):
    """A failure that may pass if it is given time.

    Attributes:
        pause: seconds to wait, if somebody said so.
        unpaid: whether it is sure that nothing was evaluated, and so that nothing was paid for.
    """

    def __init__(self, message: str, pause: float | None = None, *, unpaid: bool = False) -> None:
        super().__init__(message)
        self.pause = pause
        self.unpaid = unpaid


class Evaluator(ABC):
    """Where the values of an objective come from. Implementations can be pickled.

    ``measure`` raises ``EvaluationFailed`` for whatever is not graphbo's own fault.
    """

    #: Whether ``measure`` looks at the properties of the node.
    needs_properties: bool = True
    #: Whether it has to be bound to a Neo4j database first.
    needs_neo4j: bool = False

    @abstractmethod
    def measure(self, node: Node, timeout: float | None) -> object:
        """Something that ``as_number`` takes, after at most ``timeout`` seconds.

        Raises:
            EvaluationFailed: there is no such thing.
        """

    def bind(self, database: Database) -> Self:  # noqa: ARG002 - most evaluators need none
        """The evaluator with a database to ask."""
        return self

    def check(self) -> None:  # noqa: B027 - most can be checked when they are made, and were
        """Find out, on the machine that will evaluate, whether there is anything to ask.

        Raises:
            InvalidObjective: there is not.
        """


@dataclass(frozen=True)
class Objective:
    """The function to be optimized. It can be pickled and sent to where it is evaluated.

    Attributes:
        name: what it is, fit to be printed and stored: it holds no credentials.
        timeout: seconds for each attempt at a node; None for as long as it takes.
        retries: further attempts after one that failed.

    Raises:
        InvalidObjective: a time-out or a number of retries that makes no sense.
    """

    name: str
    evaluator: Evaluator = field(repr=False)
    timeout: float | None = None
    retries: int = 0

    def __post_init__(self) -> None:
        if self.timeout is not None and not 0 < self.timeout <= LONGEST_TIMEOUT:
            raise InvalidObjective(
                f"the time-out is {self.timeout:g} s: expected more than 0 and at most {LONGEST_TIMEOUT:g}"
            )
        if self.retries < 0:
            raise InvalidObjective(f"{self.retries} retries: expected 0 or more")

    @property
    def needs_properties(self) -> bool:
        """Whether the node's properties have to be fetched for it."""
        return self.evaluator.needs_properties

    @property
    def needs_neo4j(self) -> bool:
        """Whether it asks the database itself, and so has to be bound to it first."""
        return self.evaluator.needs_neo4j

    def bind(self, database: Database) -> Self:
        """The objective with a database to ask; itself if it asks none.

        Args:
            database: an open store, or the address of one. A bound objective can be pickled if it was given an
                address: each process then opens a connection of its own.

        Raises:
            InvalidObjective: it needs Neo4j, and this is another database.
        """
        return replace(self, evaluator=self.evaluator.bind(database))

    def check(self) -> None:
        """Find out, on the machine that will evaluate, whether there is anything to ask.

        Raises:
            InvalidObjective: a service that nobody listens for.
        """
        self.evaluator.check()

    def __call__(self, node: Node) -> float:
        """The value of a node.

        Raises:
            EvaluationFailed: it has none, after all attempts.
        """
        evaluation = evaluate(self, node)
        if evaluation.value is None:
            raise EvaluationFailed(evaluation.error)
        return evaluation.value


def evaluate(objective: Objective, node: Node) -> Evaluation:
    """Ask the objective for the value of a node, and again if that fails and retries are left.

    It raises nothing for what is wrong with the objective. It does raise when the database is gone, since nothing is
    known about the node then, and on Ctrl-C.

    Raises:
        InvalidObjective: the objective was not bound to the database that it needs.
        StoreUnavailable: that database does not answer.
    """
    started = time.perf_counter()
    attempt, retries = 1, objective.retries
    while True:
        try:
            value = as_number(objective.evaluator.measure(node, objective.timeout))
        except EvaluationFailed as error:
            free = _is_free(error, attempt)
            if isinstance(error, Permanent) or not (free or retries):
                message = f"{error} (after {attempt} attempts)" if attempt > 1 else str(error)
                seconds = time.perf_counter() - started
                return Evaluation(None, message, attempt, seconds, error.detail)
            retries -= not free
            time.sleep(_pause(error, attempt))
        else:
            return Evaluation(value, None, attempt, time.perf_counter() - started)
        attempt += 1


def _is_free(error: EvaluationFailed, attempt: int) -> bool:
    """Whether to try again without being told to: the question was turned away, and it was not too often."""
    return isinstance(error, Unavailable) and error.unpaid and attempt < UNPAID_ATTEMPTS


def _pause(error: EvaluationFailed, attempt: int) -> float:
    """Seconds until the next attempt: a service needs time to recover, a function does not."""
    if not isinstance(error, Unavailable):
        return 0.0
    if error.pause is not None:
        return error.pause
    return float(min(LAST_PAUSE, FIRST_PAUSE * 2.0 ** min(attempt - 1, 10)))
