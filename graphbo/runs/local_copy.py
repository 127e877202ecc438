"""What a process has of a run: read once, and from then on only what is newer."""

import copy
from collections.abc import Callable
from dataclasses import replace

from graphbo.runs.records import Exclusion, News, RunRecord
from graphbo.types import NodeKey, Observation, Pending

__all__ = ["LocalCopy"]


class LocalCopy:
    """A run's record, history and requests, as they were when the database was last asked.

    Attributes:
        record: the run.
        history: what was told, in that order.
        pending: what is being measured.
        excluded: the nodes that are not proposed.
        loaded: whether the history was ever read.
    """

    def __init__(self, record: RunRecord) -> None:
        self.record = record
        self.history: list[Observation] = []
        self.pending: tuple[Pending, ...] = ()
        self.excluded: tuple[Exclusion, ...] = ()
        self.excluded_keys: frozenset[NodeKey] = frozenset()
        self.loaded = False
        self._steps: dict[int, int] = {}

    def copied(self) -> "LocalCopy":
        """One that changes by itself."""
        found = copy.copy(self)
        found.history = list(self.history)
        found._steps = dict(self._steps)
        return found

    def absorb(self, news: News, read_all: Callable[[], News]) -> None:
        """Take over what is new.

        Args:
            news: how the run stands, with what was told since the last time.
            read_all: reads it with its whole history, for when what is in memory will not do.
        """
        amended = self.loaded and news.record.amended != self.record.amended
        self._add(news)
        self.loaded = True
        # Somebody changed something, or more was told than was heard of here.
        if amended or len(self.history) != news.record.in_history:
            self.history = []
            self._add(read_all())

    def hand_out(self, pending: Pending) -> None:
        """A node was just handed out."""
        others = tuple(one for one in self.pending if one.step != pending.step)
        self.pending = (*others, pending)
        steps = max(self.record.steps, pending.step)
        self.record = replace(self.record, steps=steps).with_pending(self.pending)

    def unless_shared(self, worker: str) -> News | None:
        """How the run stands unless somebody else works on it, too: then what is known here is mostly old."""
        if not self.loaded or any(one.worker != worker for one in self.pending):
            return None
        return News(self.record, (), self.pending)

    def _add(self, news: News) -> None:
        last = self.history[-1].seq if self.history else 0
        self.record, self.pending = news.record, news.pending
        if news.excluded is not None and news.excluded != self.excluded:
            self.excluded = news.excluded
            self.excluded_keys = frozenset(one.key for one in news.excluded)
        self.history += [self._shared(one) for one in news.observations if one.seq > last]

    def _shared(self, observation: Observation) -> Observation:
        """The observation with one object for each step that its model knew: a hundred others know the same ones."""
        steps = (self._steps.setdefault(step, step) for step in observation.modelled)
        return replace(observation, modelled=tuple(steps))
