"""An outbreak among people who visit places."""

import numpy as np

from graphbo.bench.tasks.visits import Visits


def test_one_person_was_the_first_and_half_were_infected() -> None:
    problem = Visits(n=400).problem(0)
    assert problem.optimum == 1.0
    assert (problem.values == 1.0).sum() == 1
    assert 0.3 < (problem.values > 0).mean() < 0.8


def test_whoever_was_infected_early_met_the_first() -> None:
    problem = Visits(n=400).problem(1)
    (kind,) = problem.connectors
    first = int(problem.values.argmax())
    places = kind.links[kind.links[:, 0] == first, 1]
    met = np.unique(kind.links[np.isin(kind.links[:, 1], places), 0])
    second = np.sort(np.unique(problem.values))[-2]
    assert np.isin(np.flatnonzero(problem.values == second), met).all()
