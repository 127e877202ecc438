"""Regions are folds: told piece by piece or at once, they are the same."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbo.errors import ModelError
from graphbo.search.regions import MovingRegion, MovingRules, TrustRegion, TrustRules, score
from graphbo.types import Observation, Phase, best_of

RULES = MovingRules(maximize=True, failures_to_move=3, failures_to_redraw=2)
TRUST = TrustRules(
    maximize=True,
    size=40,
    smallest=10,
    largest=80,
    growth=2.0,
    success_tolerance=2,
    failure_tolerance=2,
)

#: What a strategy proposed: phase, region, steps that its model knew; and the value told.
Told = tuple[Phase, int, Sequence[int], float | None]


def history(*told: Told) -> list[Observation]:
    return [
        Observation(
            step=step,
            seq=step,
            key=f"n{step}",
            value=value,
            phase=phase,
            restart=restart,
            modelled=tuple(modelled),
        )
        for step, (phase, restart, modelled, value) in enumerate(told, start=1)
    ]


def initial(*values: float | None) -> list[Told]:
    return [("initial", 0, (), value) for value in values]


def model(
    *values: float | None, restart: int = 0, modelled: Sequence[int] = (), phase: Phase = "model"
) -> list[Told]:
    return [(phase, restart, modelled, value) for value in values]


@st.composite
def histories(draw: st.DrawFn) -> list[Observation]:
    """Anything that could be in a database, also what no strategy would have proposed."""
    phases: list[Phase] = ["initial", "model", "model", "model", "restart"]
    count = draw(st.integers(0, 25))
    told: list[Told] = [
        (
            draw(st.sampled_from(phases)),
            draw(st.integers(0, 3)),
            draw(st.lists(st.integers(1, 40), max_size=3)),
            draw(st.none() | st.integers(-5, 5).map(float)),
        )
        for _ in range(count)
    ]
    return history(*told)


class TestBest:
    def test_is_the_first_of_equals_and_has_a_value(self) -> None:
        told = history(*initial(None, 2.0, 3.0, 3.0))
        assert best_of(told, maximize=True) is told[2]
        assert best_of(told, maximize=False) is told[1]
        assert best_of(told[:1], maximize=True) is None

    def test_a_failure_scores_lowest_either_way(self) -> None:
        failed = history(*initial(None))[0]
        assert score(failed, maximize=True) == score(failed, maximize=False) == float("-inf")


class TestMoving:
    @given(histories(), st.integers(0, 40), st.booleans())
    def test_piece_by_piece_is_the_same_as_at_once(
        self, told: list[Observation], cut: int, maximize: bool
    ) -> None:
        rules = replace(RULES, maximize=maximize)
        whole = rules.fold(told)
        assert rules.fold(told, rules.fold(told[:cut])) == whole
        region: MovingRegion | None = None
        for end in range(len(told) + 1):
            region = rules.fold(told[:end], region)
        assert region == whole

    @given(histories())
    def test_minimising_is_maximising_the_negative(self, told: list[Observation]) -> None:
        negative = [replace(o, value=None if o.value is None else -o.value) for o in told]
        region = RULES.fold(told)
        turned = replace(RULES, maximize=False).fold(negative)
        assert replace(turned, centre=None) == replace(region, centre=None)
        steps = [r.centre and r.centre.step for r in (region, turned)]
        assert steps[0] == steps[1]

    @given(histories())
    def test_holds_what_it_promises_for_any_history(self, told: list[Observation]) -> None:
        region = RULES.fold(told)
        assert region.folded == len(told)
        assert 0 <= region.failures < RULES.failures_to_move
        assert region.restart >= max((o.restart for o in told), default=0)
        assert region.centre is None or region.centre in told
        assert region.centre is None or region.centre.value is not None

    def test_begins_with_nothing(self) -> None:
        assert RULES.fold([]) == MovingRegion()

    def test_initial_nodes_are_data_and_never_failures(self) -> None:
        told = history(*initial(1.0, 5.0, 2.0, None, 3.0))
        region = RULES.fold(told)
        assert region.centre is told[1]
        assert (region.failures, region.restart, region.epoch) == (0, 0, 5)

    def test_a_better_node_becomes_the_centre(self) -> None:
        told = history(*initial(1.0), *model(0.0, 0.5, 2.0))
        region = RULES.fold(told)
        assert region.centre is told[3]
        assert (region.failures, region.epoch) == (0, 4)

    def test_an_equal_node_is_a_failure(self) -> None:
        assert RULES.fold(history(*initial(1.0), *model(1.0))).failures == 1

    def test_a_failed_measurement_is_a_failure(self) -> None:
        assert RULES.fold(history(*initial(1.0), *model(None, None))).failures == 2

    def test_draws_anew_after_so_many_failures(self) -> None:
        told = history(*initial(9.0), *model(1.0, 1.0, 1.0, 1.0, 1.0))
        rules = MovingRules(maximize=True, failures_to_move=100, failures_to_redraw=2)
        epochs = [rules.fold(told[:end]).epoch for end in range(1, len(told) + 1)]
        assert epochs == [1, 1, 3, 3, 5, 5]

    def test_moves_to_the_best_other_node_that_is_above_average(self) -> None:
        told = history(*initial(9.0, 7.0, 8.0, 1.0), *model(0.0, 0.0, 0.0, modelled=[1, 3]))
        region = RULES.fold(told)
        assert region.centre is told[1]  # the best is the centre's, the second was modelled with it
        assert (region.failures, region.restart, region.epoch) == (0, 1, 7)
        assert region.tabu == {1, 3, 5, 6, 7}

    def test_waits_for_a_random_node_when_the_others_are_below_average(self) -> None:
        told = history(*initial(9.0, 1.0), *model(8.0, 8.0, 8.0))
        region = RULES.fold(told)
        assert region.centre is None
        assert region.restart == 1
        told = history(
            *initial(9.0, 1.0), *model(8.0, 8.0, 8.0), *model(0.5, restart=1, phase="restart")
        )
        region = RULES.fold(told)
        assert region.centre is told[-1]
        assert (region.failures, region.restart) == (0, 1)

    def test_a_failed_random_node_is_drawn_again(self) -> None:
        told = history(
            *initial(9.0), *model(8.0, 8.0, 8.0), *model(None, restart=1, phase="restart")
        )
        region = RULES.fold(told)
        assert region.centre is None
        assert region.restart == 1

    def test_of_several_random_nodes_the_best_is_the_centre(self) -> None:
        told = history(
            *initial(9.0), *model(8.0, 8.0, 8.0), *model(1.0, 3.0, 2.0, restart=1, phase="restart")
        )
        region = RULES.fold(told)
        assert region.centre is told[5]
        assert region.failures == 0

    def test_what_an_older_region_proposed_is_only_data(self) -> None:
        before = history(*initial(9.0, 7.0), *model(8.0, 8.0, 8.0))
        moved = RULES.fold(before)
        late = history(*initial(9.0, 7.0), *model(8.0, 8.0, 8.0), *model(99.0, 0.0))
        region = RULES.fold(late)
        assert replace(region, folded=moved.folded) == moved

    def test_a_proposer_that_found_nothing_left_has_moved(self) -> None:
        told = history(*initial(9.0, 8.0, 0.0), *model(1.0), *model(2.0, restart=1, modelled=[2]))
        region = RULES.fold(told)
        assert region.restart == 1
        assert region.centre is told[1]
        assert region.failures == 1
        assert {1, 4} <= region.tabu

    def test_a_random_node_after_nothing_was_left_is_the_centre_however_bad(self) -> None:
        told = history(*initial(9.0, 8.0), *model(-1.0, restart=2, phase="restart"))
        region = RULES.fold(told)
        assert region.centre is told[2]
        assert (region.restart, region.failures) == (2, 0)

    def test_never_moves_back(self) -> None:
        rules = MovingRules(maximize=True, failures_to_move=1, failures_to_redraw=1)
        told = history(*initial(9.0, 8.0, 7.0, 0.0))
        centres = []
        region = rules.fold(told)
        while region.centre is not None:
            centres.append(region.centre.step)
            region = rules.moved(region, told)
        assert centres == [1, 2, 3]

    def test_huge_values_do_not_overflow(self) -> None:
        told = history(*initial(1.5e308, 1.4e308), *model(1.0e308, 1.0e308, 1.0e308))
        assert RULES.fold(told).centre is told[1]

    @pytest.mark.parametrize("wrong", [{"failures_to_move": 0}, {"failures_to_redraw": 0}])
    def test_refuses_what_is_no_number_of_failures(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ModelError, match="is 0: expected at least 1"):
            replace(RULES, **wrong)


class TestTrust:
    @given(histories(), st.integers(0, 40))
    def test_piece_by_piece_is_the_same_as_at_once(self, told: list[Observation], cut: int) -> None:
        whole = TRUST.fold(told)
        assert TRUST.fold(told, TRUST.fold(told[:cut])) == whole
        region: TrustRegion | None = None
        for end in range(len(told) + 1):
            region = TRUST.fold(told[:end], region)
        assert region == whole

    @given(histories())
    def test_holds_what_it_promises_for_any_history(self, told: list[Observation]) -> None:
        region = TRUST.fold(told)
        assert region.folded == len(told)
        assert TRUST.smallest < region.size <= TRUST.largest
        since = [o for o in told if o.restart == region.restart]
        assert region.centre == best_of(since, maximize=True)

    def test_successes_in_a_row_let_it_grow(self) -> None:
        assert TRUST.fold(history(*initial(0.0), *model(1.0, 2.0))).size == 80
        assert TRUST.fold(history(*initial(0.0), *model(1.0, 0.0, 2.0))).size == 40
        grown = TRUST.fold(history(*initial(0.0), *model(1.0, 2.0, 3.0, 4.0)))
        assert grown.size == 80  # and no further

    def test_failures_in_a_row_let_it_shrink_and_draw_anew(self) -> None:
        region = TRUST.fold(history(*initial(5.0), *model(1.0, 1.0)))
        assert (region.size, region.epoch) == (20, 3)
        assert TRUST.fold(history(*initial(5.0), *model(1.0, 6.0, 1.0))).size == 40

    def test_initial_nodes_are_neither(self) -> None:
        region = TRUST.fold(history(*initial(1.0, 2.0, 3.0, 0.0, 0.0)))
        assert (region.size, region.successes, region.failures) == (40, 0, 0)
        assert region.gathered == 5

    def test_begins_afresh_when_it_is_too_small_and_forgets(self) -> None:
        told = history(*initial(9.0), *model(1.0, 1.0, 1.0, 1.0))
        region = TRUST.fold(told)
        assert region == TrustRegion(size=40, restart=1, epoch=3, folded=5)
        more = history(
            *initial(9.0), *model(1.0, 1.0, 1.0, 1.0), *model(2.0, restart=1, phase="restart")
        )
        region = TRUST.fold(more)
        assert region.centre is more[-1]
        assert region.gathered == 1

    def test_what_was_proposed_before_the_restart_counts_for_nothing(self) -> None:
        told = history(*initial(9.0), *model(1.0, 1.0, 1.0, 1.0, 99.0))
        assert TRUST.fold(told).centre is None

    def test_the_defaults_act_within_a_hundred_evaluations(self) -> None:
        rules = TrustRules(True, 100, 10, 500, 1.5, success_tolerance=3, failure_tolerance=5)
        told = history(*initial(*[1.0] * 10), *model(*[0.0] * 30))
        assert rules.fold(told[:-1]).restart == 0
        assert rules.fold(told).restart == 1
        sizes = {rules.fold(told[:end]).size for end in range(10, 40)}
        assert sizes == {100, 67, 45, 30, 20, 13}

    @pytest.mark.parametrize(
        "wrong",
        [
            {"smallest": 0},
            {"smallest": 40},
            {"largest": 39},
            {"growth": 1.0},
            {"success_tolerance": 0},
            {"failure_tolerance": 0},
        ],
    )
    def test_refuses_what_cannot_grow_and_shrink(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ModelError, match="expected"):
            replace(TRUST, **wrong)
