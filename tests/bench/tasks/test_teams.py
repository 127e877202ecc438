"""Teams, by brute force."""

from itertools import combinations
from typing import cast

import numpy as np
import pytest
from scipy.stats import entropy

from graphbo.bench.tasks import Problem
from graphbo.bench.tasks.teams import Teams
from graphbo.types import FloatArray


def teams_of(problem: Problem) -> list[frozenset[int]]:
    return [frozenset(cast(list[int], members)) for members in problem.properties["members"]]


def pairs_of(problem: Problem) -> set[frozenset[frozenset[int]]]:
    teams = teams_of(problem)
    return {frozenset((teams[a], teams[b])) for a, b in problem.edges.tolist()}


def similarity(one: frozenset[int], other: frozenset[int]) -> float:
    return len(one & other) / len(one | other)


def test_every_team_but_the_empty_one_is_a_node() -> None:
    problem = Teams().problem(0)
    assert problem.n == 1023
    assert len(set(teams_of(problem))) == 1023
    assert frozenset() not in teams_of(problem)


@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.3, 0.5, 1.0])
def test_neighbours_are_above_the_threshold(threshold: float) -> None:
    problem = Teams(people=5, threshold=threshold).problem(1)
    expected = {
        frozenset((one, other))
        for one, other in combinations(teams_of(problem), 2)
        if similarity(one, other) > threshold
    }
    assert pairs_of(problem) == expected
    assert len(problem.edges) == len(expected)


@pytest.mark.parametrize("tenths", [1, 2, 3])
def test_a_similarity_that_is_the_threshold_is_not_above_it(tenths: int) -> None:
    problem = Teams(threshold=tenths / 10).problem(0)
    member = np.array([[one in team for one in range(10)] for team in teams_of(problem)])
    a, b = (member[ends] for ends in problem.edges.T)
    both, either = (a & b).sum(axis=1), (a | b).sum(axis=1)
    assert (10 * both > tenths * either).all()


def test_about_half_of_the_pairs_are_above_the_median() -> None:
    problem = Teams(people=6, threshold="median").problem(1)
    pairs = list(combinations(teams_of(problem), 2))
    middle = np.median([similarity(*pair) for pair in pairs])
    assert pairs_of(problem) == {
        frozenset(pair) for pair in pairs if similarity(*pair) > middle + 1e-9
    }


def worth(skills: FloatArray) -> float:
    return float(entropy(skills.mean(axis=0)) - np.mean([entropy(one) for one in skills]))


def test_values_follow_the_formula() -> None:
    task = Teams(people=4, skills=3, alpha=0.5)
    problem = task.problem(8)
    # The same skills as in the task: they are the first that it draws.
    skills = np.random.default_rng([8, 0]).dirichlet(np.full(3, 0.5), size=4)
    for team, value in zip(teams_of(problem), problem.values, strict=True):
        assert value == pytest.approx(worth(skills[sorted(team)]), abs=1e-12)


@pytest.mark.parametrize("alpha", [0.001, 1.0, 1000.0])
def test_values_are_between_zero_and_the_entropy_of_all_skills(alpha: float) -> None:
    problem = Teams(skills=4, alpha=alpha).problem(0)
    assert (problem.values >= 0).all()
    assert (problem.values <= np.log(4) + 1e-12).all()
    alone = [
        value
        for team, value in zip(teams_of(problem), problem.values, strict=True)
        if len(team) == 1
    ]
    assert np.allclose(alone, 0)
