"""What figures are made of."""

import math
from typing import Any

import pytest

from graphbo.search.strategies import create_strategy
from graphbo.seeing.series import (
    best_so_far,
    calibration,
    evaluations,
    region_steps,
    seconds_between,
)
from graphbo.types import Observation


def told(*values: float | None, **others: Any) -> list[Observation]:
    return [
        Observation(n, n, n, value, error="no" if value is None else None, **others)
        for n, value in enumerate(values, start=1)
    ]


def test_known_values_are_no_evaluations_and_failures_are() -> None:
    known = Observation(step=-1, seq=1, key=9, value=2.0, source="warm")

    assert evaluations([known, *told(1.0, None, 3.0)]) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("maximize", "expected"),
    [(True, [None, 1.0, 3.0, 3.0, 3.0]), (False, [None, 1.0, 1.0, 1.0, 0.5])],
)
def test_best_so_far_follows_the_goal(maximize: bool, expected: list[float | None]) -> None:
    assert best_so_far(told(None, 1.0, 3.0, None, 0.5), maximize=maximize) == expected


def test_coverage_counts_what_fell_into_the_interval() -> None:
    history = [
        Observation(step=n, seq=n, key=n, value=float(n % 4), mean=0.0, std=1.0) for n in range(12)
    ]
    unpredicted = told(5.0)
    certain = [Observation(step=9, seq=9, key=9, value=1.0, mean=1.0, std=0.0)]

    found = calibration([*history, *unpredicted, *certain])

    assert [one.z for one in found.predictions] == [0.0, 1.0, 2.0, 3.0] * 3
    # 0.674, 1.282 and 1.960 standard deviations
    assert [one.inside for one in found.coverages] == [3, 6, 6]
    assert {one.count for one in found.coverages} == {12}
    # Of nine, nobody can tell.
    assert calibration(history[:9]).coverages == ()
    assert calibration(history[:10]).coverages


def test_without_predictions_there_is_no_coverage() -> None:
    assert calibration(told(1.0, 2.0)).coverages == ()


def test_the_trust_region_shrinks_and_begins_afresh() -> None:
    strategy = create_strategy("paper", {"size": 20, "failure_tolerance": 1})
    history = told(5.0, *[1.0] * 6, phase="model")

    steps = region_steps(history, strategy, maximize=True)

    assert [step.size for step in steps[:3]] == [20, 13, 20]
    assert [step.restart for step in steps[:3]] == [0, 0, 1]


def test_the_moving_region_counts_failures_and_moves() -> None:
    strategy = create_strategy("bayes", {"patience": 2})
    history = told(5.0, 1.0, 1.0, 2.0, phase="model", modelled=(1,))

    steps = region_steps(history, strategy, maximize=True)

    assert [step.failures for step in steps[:2]] == [0, 1]
    assert steps[2].restart == 1
    assert {step.known for step in steps} == {1}
    assert all(step.size is None for step in steps)


def test_strategies_without_a_region_have_no_steps() -> None:
    assert region_steps(told(1.0), create_strategy("random"), maximize=True) == ()


def test_time_is_from_one_result_to_the_next() -> None:
    history = [
        Observation(
            step=-1, seq=1, key=0, value=1.0, source="warm", at="2026-01-01T00:00:05+00:00"
        ),
        Observation(step=1, seq=2, key=1, value=1.0, at="2026-01-01T00:00:07+00:00"),
        Observation(step=2, seq=3, key=2, value=1.0, at=""),
        Observation(step=3, seq=4, key=3, value=1.0, at="2026-01-01T00:01:07.500+00:00"),
    ]

    gaps = seconds_between(history, "2026-01-01T00:00:00+00:00")

    assert gaps == [None, 2.0, None, 60.5]
    assert not any(gap is not None and math.isnan(gap) for gap in gaps)
