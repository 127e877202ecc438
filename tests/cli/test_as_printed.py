"""Runs as commands print them."""

from dataclasses import replace

import pytest

from graphbo.cli.as_printed import describe_region, evaluations_of, region_facts, region_of
from graphbo.runs import RunSettings
from graphbo.runs.records import RunRecord
from graphbo.search.regions import Region
from graphbo.search.strategies import Folding
from graphbo.types import Observation, View

VIEW = View(("N",), ("R",), key="id")
HISTORY = [
    Observation(step=1, seq=1, key=7, value=2.0),
    Observation(step=2, seq=2, key=8, value=1.0, phase="model"),
]


def record(strategy: str) -> RunRecord:
    return RunSettings(strategy=strategy).record("r", VIEW)


@pytest.mark.parametrize(
    ("told", "budget", "text"),
    [
        (1, None, "1 evaluation"),
        (1, 1, "1 of 1 evaluation"),
        (2, 40, "2 of 40 evaluations"),
        (2, 1, "2 evaluations on a budget of 1"),
    ],
)
def test_evaluations_are_counted_in_words(told: int, budget: int | None, text: str) -> None:
    assert evaluations_of(replace(record("bayes"), told=told, budget=budget)) == text


def test_a_region_that_moves_has_no_size() -> None:
    region = region_of(record("bayes"), HISTORY)
    assert region is not None
    assert region_facts(region) == {"number": 0, "centre": 7, "failures": 1}
    assert describe_region(region) == "1, around 7, 1 in a row no better"


def test_a_trust_region_has_one() -> None:
    region = region_of(record("paper"), HISTORY)
    assert region is not None
    assert region_facts(region).items() >= {"size": 100, "successes": 0}.items()
    assert describe_region(region) == "1, around 7, 100 nodes, 1 in a row no better"


def test_who_asks_again_and_again_brings_a_folding() -> None:
    folding: Folding[Region] = Folding()
    for end in range(3):
        found = region_of(record("paper"), HISTORY[:end], folding)
        assert found == region_of(record("paper"), HISTORY[:end])


def test_there_is_none_where_nobody_looks_at_regions() -> None:
    assert region_of(record("random"), HISTORY) is None


def test_nor_where_only_the_owner_has_the_strategy() -> None:
    mine = replace(record("random"), config={"strategy": "mine", "options": {"colour": "red"}})
    assert region_of(mine, HISTORY) is None
