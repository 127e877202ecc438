"""Statistics by hand, on curves of two evaluations."""

import math

import numpy as np
import pytest

from graphbo.bench.analysis import Table, mean_of
from tests.bench.support import curve


def test_a_mean_has_the_error_of_a_mean() -> None:
    found = mean_of([1.0, 2.0, 6.0])

    assert found.value == 3.0
    assert found.error == pytest.approx(math.sqrt(7.0) / math.sqrt(3))
    assert math.isnan(mean_of([1.0]).error)


@pytest.fixture
def table() -> Table:
    """Two tasks, two seeds, three methods; the second task's regrets are ten times as large, and so is its spread."""
    regrets = {
        "a": ([1.0, 0.0], [3.0, 2.0]),
        "b": ([2.0, 1.0], [3.0, 1.0]),
        "c": ([4.0, 1.0], [5.0, 5.0]),
    }
    return Table(
        curve(task, method, seed, [scale * one for one in values], spread=10.0 * scale)
        for task, scale in (("small", 1.0), ("large", 10.0))
        for method, both in regrets.items()
        for seed, values in enumerate(both)
    )


def test_regret_in_its_unit_and_relative_to_the_spread(table: Table) -> None:
    mine, relative = table.at("large", "a", 2), table.at("large", "a", 2, "normalised")
    assert mine is not None
    assert relative is not None
    assert (mine.value, mine.count) == (10.0, 2)
    assert relative.value == pytest.approx(0.1)
    area = table.area("small", "a")
    assert area is not None
    assert area.value == 1.5
    assert table.at("small", "nonesuch", 1) is None


def test_differences_are_paired_by_seed(table: Table) -> None:
    found = table.difference("small", "b", "a", 2)
    assert found is not None
    # +1 on the first problem, -1 on the second, in units of 10.
    assert found.value == pytest.approx(0.0)
    assert found.error == pytest.approx(math.sqrt(0.02) / math.sqrt(2))
    itself = table.difference("small", "a", "a", 1)
    assert itself is not None
    assert (itself.value, itself.error) == (0.0, 0.0)


def test_tasks_count_equally(table: Table) -> None:
    found = table.overall("c", 2)
    assert found is not None
    assert found.value == pytest.approx(0.3)
    # The error of each task is .2; that of the mean of two, √2 · .2 / 2.
    assert found.error == pytest.approx(0.2 / math.sqrt(2))
    apart = table.overall_difference("c", "a", 2)
    assert apart is not None
    assert apart.value == pytest.approx(0.2)
    assert apart.error == pytest.approx(math.sqrt(2 * 0.1**2) / 2)


def test_equals_share_their_ranks(table: Table) -> None:
    ranks = table.ranks()

    assert ranks.shape == (4, 3, 2)
    assert ranks[0].T.tolist() == [[1, 2, 3], [1, 2.5, 2.5]]
    assert ranks[1].T.tolist() == [[1.5, 1.5, 3], [2, 1, 3]]
    means = table.mean_ranks()
    assert means["a"][0].tolist() == [1.25, 1.5]
    assert np.sum([mean for mean, _ in means.values()], axis=0).tolist() == [6.0, 6.0]


def test_a_difference_by_rounding_is_none() -> None:
    found = Table([curve("t", "a", 0, [0.1 + 0.2]), curve("t", "b", 0, [0.3])])

    assert found.ranks().ravel().tolist() == [1.5, 1.5]


def test_only_problems_that_all_have_finished_are_ranked(table: Table) -> None:
    some = Table([*(curve("t", method, 0, [1.0]) for method in "abc"), curve("t", "a", 1, [1.0])])

    assert some.problems() == [("t", 0)]
    assert some.seeds("t", "a") == [0, 1]
    assert len(Table([curve("t", "a", 0, [1.0]), curve("u", "b", 0, [1.0])]).ranks()) == 0


def test_a_search_that_ran_out_of_nodes_stays_where_it_was() -> None:
    short = curve("t", "a", 0, [2.0, 1.0])
    found = Table([short, curve("t", "b", 0, [3.0, 3.0, 3.0])])
    at = found.at("t", "a", 3)

    assert at is not None
    assert at.value == 1.0
    assert found.ranks().shape == (1, 2, 3)


def test_a_part_of_it_keeps_the_order(table: Table) -> None:
    part = table.only(["large"], ["c", "a"])

    assert (part.tasks, part.methods, len(part)) == (["large"], ["c", "a"], 4)


def test_methods_are_those_of_the_tasks() -> None:
    both = [curve("t", "a", 0, [1.0]), curve("u", "b", 0, [1.0])]

    assert Table(both, ["u"]).methods == ["b"]


def test_times_are_medians_and_nodes_means() -> None:
    times = [
        curve("t", "a", seed, [1.0] * (seed + 1), milliseconds=ms)
        for seed, ms in enumerate((1.0, 9.0, 2.0))
    ]

    assert Table(times).milliseconds("a") == 2.0
    assert Table(times).revealed("a") == 2.0
