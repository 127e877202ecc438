"""Where a run looks: pure folds over its history.

A region is never saved. It follows from the observations in the order in which they were told, so a process that
resumes a run has the region that the last one had. Observations know the number of the region that they were
proposed in (``restart``); those of an older one, told late by a parallel worker, are data and nothing more.

There are two kinds. The default's :class:`MovingRegion` has a fixed size and moves on when it stops improving. The
paper's :class:`TrustRegion` grows and shrinks around the best node, and begins afresh when it has become too small.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from graphbo.errors import ModelError
from graphbo.types import Observation, best_of

__all__ = [
    "MovingRegion",
    "MovingRules",
    "Region",
    "TrustRegion",
    "TrustRules",
    "score",
]


def score(observation: Observation, maximize: bool) -> float:
    """The value, turned so that more is better; minus infinity if there is none."""
    if observation.value is None:
        return float("-inf")
    return observation.value if maximize else -observation.value


def _beats(challenger: Observation, holder: Observation | None, maximize: bool) -> bool:
    if challenger.value is None:
        return False
    return holder is None or score(challenger, maximize) > score(holder, maximize)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ModelError(message)


@dataclass(frozen=True)
class MovingRegion:
    """Where the default strategy looks.

    Attributes:
        centre: the best observation of the region; None when a new random node is needed first.
        failures: how many proposals in a row did not beat the centre.
        restart: the number of the region, from 0.
        tabu: the steps of observations that regions were used up around: no centre moves there.
        epoch: the ``seq`` of the observation after which the ego-networks were last drawn anew.
        folded: how many observations led here.
        scouted: the step of the last scout; 0 if there was none.
        fruitless: how many scouts in a row did not beat the centre.
    """

    centre: Observation | None = None
    failures: int = 0
    restart: int = 0
    tabu: frozenset[int] = frozenset()
    epoch: int = 0
    folded: int = 0
    scouted: int = 0
    fruitless: int = 0


@dataclass(frozen=True)
class MovingRules:
    """How a region moves.

    Attributes:
        maximize: whether large values are wanted.
        failures_to_move: after so many failures in a row the region is used up.
        failures_to_redraw: after so many failures in a row, and their multiples, its ego-networks are drawn anew.

    Raises:
        ModelError: a number is less than 1.
    """

    maximize: bool
    failures_to_move: int
    failures_to_redraw: int

    def __post_init__(self) -> None:
        for failures in (self.failures_to_move, self.failures_to_redraw):
            _require(failures >= 1, f"a number of failures is {failures}: expected at least 1")

    def fold(
        self, history: Sequence[Observation], region: MovingRegion | None = None
    ) -> MovingRegion:
        """The region after a history; ``region``, if given, is that after its first ``folded`` observations."""
        region = region or MovingRegion()
        for position in range(region.folded, len(history)):
            region = self._after(region, history, position)
        return region

    def moved(self, region: MovingRegion, history: Sequence[Observation]) -> MovingRegion:
        """The next region, once this one is used up.

        What it was made of is left alone from now on. The centre moves to the best other observation that is not
        below average; where there is none, the region waits for a random node.
        """
        seen = history[: region.folded]
        tabu = region.tabu | self._used_up(region, seen)
        valued = [observation for observation in seen if observation.value is not None]
        scores = [score(observation, self.maximize) for observation in valued]
        average = sum([one / len(scores) for one in scores])
        left = [
            observation
            for observation, one in zip(valued, scores, strict=True)
            if one >= average and observation.step not in tabu
        ]
        return replace(
            region,
            centre=best_of(left, maximize=self.maximize),
            failures=0,
            restart=region.restart + 1,
            tabu=tabu,
            epoch=seen[-1].seq if seen else region.epoch,
        )

    def _used_up(self, region: MovingRegion, seen: Sequence[Observation]) -> frozenset[int]:
        """The steps of the region's own observations, and of those that its last model knew. Scouts are elsewhere."""
        tried = ("model", "restart", "scout")
        own = [o for o in seen if o.restart == region.restart and o.phase in tried]
        steps = {observation.step for observation in own if observation.phase != "scout"}
        if own:
            steps.update(own[-1].modelled)
        if region.centre is not None:
            # A region that never got to propose anything must not be moved to again.
            steps.add(region.centre.step)
        return frozenset(steps)

    def _after(
        self, region: MovingRegion, history: Sequence[Observation], position: int
    ) -> MovingRegion:
        observation = history[position]
        while observation.restart > region.restart:
            # The proposer found nothing left to propose and moved on, perhaps more than once.
            region = self.moved(region, history)
            if observation.phase == "restart":
                region = replace(region, centre=None)
        if observation.phase == "scout":
            found = _beats(observation, region.centre, self.maximize)
            fruitless = 0 if found else region.fruitless + 1
            last = max(region.scouted, observation.step)
            region = replace(region, scouted=last, fruitless=fruitless)
        if observation.restart == region.restart:
            region = self._tried(region, observation)
        region = replace(region, folded=position + 1)
        return self.moved(region, history) if region.failures >= self.failures_to_move else region

    def _tried(self, region: MovingRegion, observation: Observation) -> MovingRegion:
        if _beats(observation, region.centre, self.maximize):
            return replace(region, centre=observation, failures=0, epoch=observation.seq)
        if observation.phase not in (
            "model",
            "scout",
        ):  # a random node that is not the best is no failure
            return replace(region, epoch=observation.seq)
        failures = region.failures + 1
        epoch = region.epoch if failures % self.failures_to_redraw else observation.seq
        return replace(region, failures=failures, epoch=epoch)


@dataclass(frozen=True)
class TrustRegion:
    """Where the paper's algorithm looks.

    Attributes:
        size: Q, how many nodes its subgraph has.
        centre: the best observation since the last restart.
        gathered: how many random nodes were measured since then.
        successes: how many proposals in a row were better than all since the restart.
        failures: how many in a row were not.
        restart: how often it has begun afresh.
        epoch: the ``seq`` of the observation after which the subgraph was last drawn anew.
        folded: how many observations led here.
    """

    size: int
    centre: Observation | None = None
    gathered: int = 0
    successes: int = 0
    failures: int = 0
    restart: int = 0
    epoch: int = 0
    folded: int = 0


@dataclass(frozen=True)
class TrustRules:
    """How a trust region grows, shrinks and begins afresh.

    Attributes:
        maximize: whether large values are wanted.
        size: Q₀, the size at the beginning and after a restart.
        smallest: Q_min; a region that shrinks to it is given up.
        largest: more nodes than this are never modelled, as the cost grows with their cube.
        growth: γ, by which the size is multiplied or divided.
        success_tolerance: so many successes in a row let it grow.
        failure_tolerance: so many failures in a row let it shrink.

    Raises:
        ModelError: the sizes are not in order, γ is not above 1, or a tolerance is less than 1.
    """

    maximize: bool
    size: int
    smallest: int
    largest: int
    growth: float
    success_tolerance: int
    failure_tolerance: int

    def __post_init__(self) -> None:
        _require(
            1 <= self.smallest < self.size <= self.largest,
            f"the sizes are {self.smallest} (smallest), {self.size} and {self.largest} (largest): "
            "expected them to grow, from at least 1",
        )
        _require(self.growth > 1, f"growth is {self.growth}: expected more than 1")
        for tolerance in (self.success_tolerance, self.failure_tolerance):
            _require(tolerance >= 1, f"a tolerance is {tolerance}: expected at least 1")

    def fold(
        self, history: Sequence[Observation], region: TrustRegion | None = None
    ) -> TrustRegion:
        """The region after a history; ``region``, if given, is that after its first ``folded`` observations."""
        region = region or TrustRegion(self.size)
        for observation in self._rest(history, region):
            region = replace(self._after(region, observation), folded=region.folded + 1)
        return region

    def restarted(self, region: TrustRegion, restart: int) -> TrustRegion:
        """A region that knows nothing of what came before it."""
        return TrustRegion(self.size, restart=restart, epoch=region.epoch, folded=region.folded)

    @staticmethod
    def _rest(history: Sequence[Observation], region: TrustRegion) -> Iterator[Observation]:
        return islice(history, region.folded, None)

    def _after(self, region: TrustRegion, observation: Observation) -> TrustRegion:
        if observation.restart < region.restart:
            return region
        if observation.restart > region.restart:
            # The proposer found nothing left to propose.
            region = self.restarted(region, observation.restart)
        better = _beats(observation, region.centre, self.maximize)
        if better:
            region = replace(region, centre=observation, epoch=observation.seq)
        if observation.phase != "model":
            return replace(region, gathered=region.gathered + 1)
        return self._succeeded(region) if better else self._failed(region, observation)

    def _succeeded(self, region: TrustRegion) -> TrustRegion:
        successes = region.successes + 1
        if successes < self.success_tolerance:
            return replace(region, successes=successes, failures=0)
        size = min(round(region.size * self.growth), self.largest)
        return replace(region, size=size, successes=0, failures=0)

    def _failed(self, region: TrustRegion, observation: Observation) -> TrustRegion:
        failures = region.failures + 1
        if failures < self.failure_tolerance:
            return replace(region, successes=0, failures=failures)
        size = max(round(region.size / self.growth), self.smallest)
        if size <= self.smallest:
            return self.restarted(region, region.restart + 1)
        return replace(region, size=size, successes=0, failures=0, epoch=observation.seq)


Region: TypeAlias = MovingRegion | TrustRegion
