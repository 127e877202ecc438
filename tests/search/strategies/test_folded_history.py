"""What is kept from step to step equals what a fold of the whole history gives."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphbo.search.regions import MovingRegion, MovingRules, score
from graphbo.search.strategies.folded_history import FoldedHistory, Folding, HistoryRules, Valued
from graphbo.types import Observation, Subgraph, best_of

RULES = MovingRules(maximize=True, failures_to_move=3, failures_to_redraw=2)


@st.composite
def histories(draw: st.DrawFn) -> list[Observation]:
    """What a run may have been told, each node once, in the order of telling."""
    keys = draw(st.lists(st.integers(0, 60), unique=True, max_size=25))
    return [
        Observation(
            step=step,
            seq=step,
            key=key,
            value=draw(st.none() | st.integers(-3, 3).map(float)),
            restart=draw(st.integers(0, 3)),
            phase=draw(st.sampled_from(["initial", "model", "restart"])),
        )
        for step, key in enumerate(keys, start=1)
    ]


def facts(valued: Valued) -> tuple[object, ...]:
    subgraph = Subgraph.from_edges(range(0, 60, 2), [])
    return (
        valued.observations,
        valued.keys,
        valued.ranked,
        valued.values.tolist(),
        valued.inside(subgraph),
        [valued.until(seq) for seq in range(27)],
    )


def all_facts(told: FoldedHistory) -> tuple[object, ...]:
    regions = [facts(told.valued_in(restart)) for restart in range(5)]
    return told.history, told.keys, told.last_restart, facts(told.valued), regions


def expected(history: Sequence[Observation], maximize: bool) -> tuple[object, ...]:
    """The same, by the definitions."""

    def of(valued: list[Observation]) -> tuple[object, ...]:
        return (
            valued,
            [one.key for one in valued],
            sorted(valued, key=lambda one: -score(one, maximize)),
            [one.value for one in valued],
            [
                one
                for one in valued
                if isinstance(one.key, int) and one.key % 2 == 0 and one.key < 60
            ],
            [{one.key for one in valued if one.seq <= seq} for seq in range(27)],
        )

    valued = [one for one in history if one.value is not None]
    return (
        list(history),
        {one.key for one in history},
        max((one.restart for one in history), default=0),
        of(valued),
        [of([one for one in valued if one.restart == restart]) for restart in range(5)],
    )


@given(histories(), st.lists(st.integers(0, 25)), st.booleans())
def test_piece_by_piece_is_the_same_as_at_once(
    history: list[Observation], pieces: list[int], maximize: bool
) -> None:
    folding: Folding[FoldedHistory] = Folding()
    for end in [*sorted(pieces), len(history)]:
        told = folding.fold(HistoryRules(maximize), history[:end])
        assert all_facts(told) == expected(history[:end], maximize)


@given(histories(), histories(), st.integers(0, 25), st.booleans())
def test_another_history_is_folded_anew(
    one: list[Observation], other: list[Observation], end: int, maximize: bool
) -> None:
    """A shorter one, that of another run, and the first one again."""
    folding: Folding[FoldedHistory] = Folding()
    for history in (one, one[:end], other, one):
        told = folding.fold(HistoryRules(maximize), history)
        assert all_facts(told) == expected(history, maximize)


@given(histories(), st.data())
def test_so_is_one_with_a_value_that_was_amended(
    history: list[Observation], data: st.DataObject
) -> None:
    folding: Folding[FoldedHistory] = Folding()
    folding.fold(HistoryRules(maximize=True), history)
    place = data.draw(st.integers(0, max(len(history) - 1, 0)))
    amended = [replace(one, value=7.0) if row == place else one for row, one in enumerate(history)]
    assert all_facts(folding.fold(HistoryRules(maximize=True), amended)) == expected(amended, True)


@given(histories())
def test_the_other_direction_is_another_fold(history: list[Observation]) -> None:
    folding: Folding[FoldedHistory] = Folding()
    for maximize in (True, False):
        told = folding.fold(HistoryRules(maximize), history)
        assert all_facts(told) == expected(history, maximize)
        assert told.valued.ranked[:1] == [
            one for one in [best_of(history, maximize=maximize)] if one
        ]


@given(histories(), st.randoms(use_true_random=False), st.integers(0, 25))
def test_the_order_of_telling_counts_not_that_of_the_list(
    history: list[Observation], random: Random, end: int
) -> None:
    mixed = random.sample(history, len(history))
    folding: Folding[FoldedHistory] = Folding()
    for known in (mixed[:end], mixed):
        told = folding.fold(HistoryRules(maximize=True), known)
        in_order = sorted(known, key=lambda one: one.seq)
        assert all_facts(told) == expected(in_order, True)


@given(histories(), st.lists(st.integers(0, 25)))
def test_a_list_that_its_owner_adds_to_is_no_trap(
    history: list[Observation], pieces: list[int]
) -> None:
    folding, growing = Folding[MovingRegion](), list[Observation]()
    for end in [*sorted(pieces), len(history)]:
        growing += history[len(growing) : end]
        assert folding.fold(RULES, growing) == RULES.fold(history[: len(growing)])


class Counting:
    """Rules that count how many observations they looked at."""

    def __init__(self) -> None:
        self.seen = 0

    def fold(self, history: Sequence[Observation], state: int | None = None, /) -> int:
        self.seen += len(history) - (state or 0)
        return len(history)


def test_only_what_is_new_is_folded() -> None:
    rules, folding = Counting(), Folding[int]()
    history = [Observation(step=step, seq=step, key=step, value=1.0) for step in range(1, 101)]
    for end in range(101):
        assert folding.fold(rules, tuple(history[:end])) == end
    assert rules.seen == 100


@given(histories(), st.lists(st.integers(0, 25)))
def test_what_was_told_knows_the_region(history: list[Observation], pieces: list[int]) -> None:
    told = FoldedHistory(maximize=True)
    for end in [*sorted(pieces), len(history)]:
        for one in history[len(told.history) : end]:
            told.add(one)
        for rules in (RULES, replace(RULES, failures_to_move=1)):
            assert told.folded(rules) == rules.fold(told.history)


def test_a_region_is_folded_once() -> None:
    rules, told = Counting(), FoldedHistory(maximize=True)
    for step in range(1, 101):
        told.add(Observation(step=step, seq=step, key=step, value=1.0))
        assert told.folded(rules) == told.folded(rules) == step
    assert rules.seen == 100


def test_values_are_a_copy() -> None:
    valued = Valued(maximize=True)
    valued.add(Observation(step=1, seq=1, key=1, value=1.0))
    before = valued.values
    valued.add(Observation(step=2, seq=2, key=2, value=2.0))
    np.testing.assert_array_equal(before, [1.0])
