"""What figures are made of: pure functions of a history."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from scipy.special import erfinv

from graphbo.search.regions import Region, TrustRegion
from graphbo.search.strategies import Regional, Strategy
from graphbo.types import Observation, is_better

__all__ = [
    "ENOUGH",
    "LEVELS",
    "Calibration",
    "Coverage",
    "Prediction",
    "RegionStep",
    "best_so_far",
    "calibration",
    "evaluations",
    "region_steps",
    "seconds_between",
]

#: The central intervals whose coverage is counted.
LEVELS = (0.5, 0.8, 0.95)
#: Of fewer predictions, nobody can tell how good they are.
ENOUGH = 10


def evaluations(history: Sequence[Observation]) -> list[int]:
    """How many evaluations had been used when each observation was told; a known value uses none."""
    counts, used = [], 0
    for one in history:
        used += one.source == "run"
        counts.append(used)
    return counts


def best_so_far(history: Sequence[Observation], *, maximize: bool) -> list[float | None]:
    """The best value when each observation was told; None before the first value."""
    found: list[float | None] = []
    best: float | None = None
    for one in history:
        if one.value is not None and is_better(one.value, best, maximize=maximize):
            best = one.value
        found.append(best)
    return found


@dataclass(frozen=True)
class Prediction:
    """What a model expected of a node that it chose, and what came."""

    index: int
    mean: float
    std: float
    value: float

    @property
    def z(self) -> float:
        """How many standard deviations the value is above the mean."""
        return (self.value - self.mean) / self.std


@dataclass(frozen=True)
class Coverage:
    """How often the value fell into the central interval that should hold ``level`` of them."""

    level: float
    inside: int
    count: int

    @property
    def share(self) -> float:
        """The part that did."""
        return self.inside / self.count


@dataclass(frozen=True)
class Calibration:
    """Predictions against what came.

    Attributes:
        predictions: those that had a mean and a standard deviation, in the order of telling.
        coverages: one for each of ``LEVELS``; none where there are fewer predictions than ``ENOUGH``.
    """

    predictions: tuple[Prediction, ...]
    coverages: tuple[Coverage, ...]


def calibration(history: Sequence[Observation]) -> Calibration:
    """How well the model knew what it would find."""
    predictions = tuple(
        Prediction(index, one.mean, one.std, one.value)
        for index, one in enumerate(history)
        if one.value is not None and one.mean is not None and one.std is not None and one.std > 0
    )
    if len(predictions) < ENOUGH:
        return Calibration(predictions, ())
    coverages = []
    for level in LEVELS:
        reach = float(erfinv(level)) * 2**0.5
        inside = sum(abs(one.z) <= reach for one in predictions)
        coverages.append(Coverage(level, inside, len(predictions)))
    return Calibration(predictions, tuple(coverages))


@dataclass(frozen=True)
class RegionStep:
    """The region after an observation.

    Attributes:
        evaluation: how many evaluations had been used.
        restart: the number of the region, from 0.
        size: how many nodes the trust region has; None where the size does not change.
        known: how many measured nodes the model knew when this one was chosen; None if no model chose it.
        failures: how many proposals in a row were no better.
    """

    evaluation: int
    restart: int
    size: int | None
    known: int | None
    failures: int


def region_steps(
    history: Sequence[Observation], strategy: Strategy, *, maximize: bool
) -> tuple[RegionStep, ...]:
    """How the region went, observation by observation; nothing for strategies that have none."""
    if not isinstance(strategy, Regional):
        return ()
    rules = strategy.region_rules(maximize)
    steps = []
    region: Region = rules.fold(())
    for count, (one, used) in enumerate(zip(history, evaluations(history), strict=True), start=1):
        region = rules.fold(history[:count], region)
        steps.append(
            RegionStep(
                evaluation=used,
                restart=region.restart,
                size=region.size if isinstance(region, TrustRegion) else None,
                known=len(one.modelled) if one.phase == "model" else None,
                failures=region.failures,
            )
        )
    return tuple(steps)


def seconds_between(history: Sequence[Observation], started_at: str = "") -> list[float | None]:
    """From one result to the next, by the database's clock; None for known values, and where it is not known."""
    gaps: list[float | None] = []
    last = _moment(started_at)
    for one in history:
        now = _moment(one.at)
        measured = one.source == "run" and now is not None and last is not None
        gaps.append(max(0.0, (now - last).total_seconds()) if measured else None)  # type: ignore[operator]
        last = now or last
    return gaps


def _moment(at: str) -> datetime | None:
    try:
        return datetime.fromisoformat(at)
    except ValueError:
        return None
