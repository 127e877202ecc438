"""Machines that are as hot as their rack and their type."""

import numpy as np

from graphbo.bench.tasks.machines import Machines


def test_without_a_part_of_their_own_only_rack_and_type_count() -> None:
    problem = Machines(n=200, types=3, own=0).problem(0)
    racks, types = (dict(kind.links.tolist()) for kind in problem.connectors)
    worth: dict[tuple[int, int], set[float]] = {}
    for machine, value in enumerate(problem.values.round(9).tolist()):
        worth.setdefault((racks[machine], types[machine]), set()).add(value)
    assert all(len(values) == 1 for values in worth.values())
    assert len({value for values in worth.values() for value in values}) == len(worth)


def test_racks_are_small_and_types_are_large() -> None:
    racks, types = Machines().problem(1).connectors
    assert np.bincount(racks.links[:, 1]).max() <= 24
    assert np.bincount(types.links[:, 1]).max() > 100
