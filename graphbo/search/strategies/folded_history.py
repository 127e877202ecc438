"""What was told, as strategies ask about it, kept from step to step.

A run's state is its history, and folds make it into what is asked about. Here they go on from where they stopped: a
step looks at what was told since the last one, so that it costs the same at the end of a long run as at its beginning.
"""

from array import array
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from graphbo.search.regions import score
from graphbo.types import FloatArray, NodeKey, Observation, Subgraph

__all__ = ["FoldedHistory", "Folding", "HistoryRules", "Rules", "Valued", "values_of"]

#: Beyond this, differences and sums of values overflow: to a model, what is larger is as large.
LARGEST_VALUE = 1e300

StateT = TypeVar("StateT")


def values_of(observations: Sequence[Observation]) -> FloatArray:
    """The values of observations that have one, as numbers that can be computed with."""
    return _bounded(np.array([one.value for one in observations], dtype=np.float64))


def _bounded(values: FloatArray) -> FloatArray:
    return np.clip(values, -LARGEST_VALUE, LARGEST_VALUE)


class Rules(Protocol[StateT]):
    """How a state follows from a history. Equal rules give equal states, and can be keys of a dictionary."""

    def fold(self, history: Sequence[Observation], state: StateT | None = None, /) -> StateT:
        """The state after a history, given, perhaps, the state after the beginning of it."""


class Folding(Generic[StateT]):
    """Remembers the last fold, so that only what was told since then is folded.

    A history that does not begin with the last one (a value was amended, or it is another run's) is folded anew.
    """

    def __init__(self) -> None:
        self._rules: Rules[StateT] | None = None
        self._history: list[Observation] = []
        self._state: StateT | None = None

    def fold(self, rules: Rules[StateT], history: Sequence[Observation]) -> StateT:
        """The state after a history."""
        given = history if isinstance(history, list) else list(history)
        if self._rules != rules or given[: len(self._history)] != self._history:
            self._rules, self._history, self._state = rules, [], None
        self._history += given[len(self._history) :]
        self._state = state = rules.fold(self._history, self._state)
        return state


class Valued:
    """Observations that have a value. A run measures a node once, so each has a node of its own.

    Attributes:
        observations: in the order of telling.
        keys: their nodes.
        ranked: the same observations, the best first, and the earliest of equals.
    """

    def __init__(self, maximize: bool) -> None:
        self.observations: list[Observation] = []
        self.keys: list[NodeKey] = []
        self.ranked: list[Observation] = []
        self._maximize = maximize
        self._values = array("d")
        self._at: dict[NodeKey, Observation] = {}
        self._first: frozenset[NodeKey] = frozenset()

    def __len__(self) -> int:
        return len(self.observations)

    @property
    def values(self) -> FloatArray:
        """Their values, as ``values_of`` gives them."""
        return _bounded(np.array(self._values))

    def until(self, seq: int) -> frozenset[NodeKey]:
        """The nodes of those that were told up to then; the same object while the answer is the same."""
        count = bisect_right(self.observations, seq, key=attrgetter("seq"))
        if len(self._first) != count:
            self._first = frozenset(self.keys[:count])
        return self._first

    def inside(self, subgraph: Subgraph) -> list[Observation]:
        """Those at the nodes of a subgraph, in the order of telling."""
        found = [self._at[key] for key in subgraph if key in self._at]
        return sorted(found, key=attrgetter("seq"))

    def add(self, observation: Observation) -> None:
        """One more, told after all the others."""
        if observation.value is None:
            return
        self.observations.append(observation)
        self.keys.append(observation.key)
        self._values.append(observation.value)
        self._at[observation.key] = observation
        insort(self.ranked, observation, key=lambda one: -score(one, self._maximize))


class FoldedHistory:
    """A history as strategies ask about it.

    Attributes:
        history: in the order of telling.
        keys: all its nodes, also those whose measurement failed.
        valued: what has a value.
        last_restart: the highest number of a region that a node was proposed in.
    """

    def __init__(self, maximize: bool) -> None:
        self.history: list[Observation] = []
        self.keys: set[NodeKey] = set()
        self.valued = Valued(maximize)
        self.last_restart = 0
        self._regions = defaultdict[int, Valued](lambda: Valued(maximize))
        self._folded: dict[Rules[Any], Any] = {}

    def valued_in(self, restart: int) -> Valued:
        """What has a value and was proposed in the region of that number."""
        return self._regions[restart]

    def folded(self, rules: Rules[StateT]) -> StateT:
        """The state after this history. Only what was told since the last question is folded."""
        state = rules.fold(self.history, self._folded.get(rules))
        self._folded[rules] = state
        return state

    def add(self, observation: Observation) -> None:
        """One more, told after all the others."""
        self.history.append(observation)
        self.keys.add(observation.key)
        self.valued.add(observation)
        self.valued_in(observation.restart).add(observation)
        self.last_restart = max(self.last_restart, observation.restart)


@dataclass(frozen=True)
class HistoryRules:
    """How :class:`FoldedHistory` follows from a history. It is not copied: what is given goes on."""

    maximize: bool

    def fold(
        self, history: Sequence[Observation], told: FoldedHistory | None = None, /
    ) -> FoldedHistory:
        """What was told in a history; ``told``, if given, is what was told in the beginning of it."""
        told = told or FoldedHistory(self.maximize)
        new = sorted(history[len(told.history) :], key=attrgetter("seq"))
        if new and told.history and new[0].seq < told.history[-1].seq:
            # It belongs before what is there.
            return self.fold(history)
        for observation in new:
            told.add(observation)
        return told
