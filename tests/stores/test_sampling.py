"""Random nodes without looking at every node."""

from collections.abc import Callable

import pytest

from graphbo.stores.sampling import sample_keys
from graphbo.types import NodeKey


class Ids:
    """A database whose ids go up to ``highest``; every ``gap``-th belongs to a node of the view."""

    def __init__(self, highest: int, gap: int) -> None:
        self.highest, self.gap = highest, gap
        self.draws = 0
        self.scans = 0

    @property
    def nodes(self) -> int:
        return self.highest // self.gap

    def shoot(self, draws: list[int]) -> list[tuple[int, NodeKey]]:
        self.draws += len(draws)
        ids = (draw % self.highest for draw in draws)
        return [(one, one) for one in ids if one % self.gap == 0]

    def scan(self, limit: int, without: list[NodeKey]) -> list[NodeKey]:
        self.scans += 1
        left = (one for one in range(0, self.highest, self.gap) if one not in set(without))
        return [one for one, _ in zip(left, range(limit), strict=False)]

    def sample(self, count: int, seed: int, exclude: Callable[[int], bool] = bool) -> list[NodeKey]:
        excluded = [] if exclude is bool else [i for i in range(self.highest) if exclude(i)]
        return sample_keys(count, [seed], excluded, self.shoot, self.scan, lambda: self.nodes)


@pytest.mark.parametrize("seed", range(5))
def test_a_common_label_takes_one_shot(seed: int) -> None:
    ids = Ids(10**9, gap=2)
    found = ids.sample(10, seed)
    assert len(set(found)) == 10
    assert (ids.draws, ids.scans) == (72, 0)


@pytest.mark.parametrize("seed", range(5))
def test_a_million_nodes_among_a_thousand_million_are_not_scanned(seed: int) -> None:
    ids = Ids(10**9, gap=1000)
    found = ids.sample(5, seed)
    assert len(set(found)) == 5
    assert ids.scans == 0
    assert ids.draws < 100_000


def test_a_thousand_nodes_among_a_thousand_million_are() -> None:
    ids = Ids(10**9, gap=10**6)
    found = ids.sample(5, 0)
    assert len(set(found)) == 5
    assert ids.scans == 1
    assert ids.draws < 5_000


def test_so_is_a_graph_that_is_nearly_used_up() -> None:
    ids = Ids(3000, gap=1)
    assert set(ids.sample(5, 0, exclude=lambda node: node not in (7, 8))) == {7, 8}
    assert ids.scans == 1
