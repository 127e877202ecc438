"""Claims are checked by numbers that are easy to check."""

import pytest

from graphbo.bench.analysis import Table
from graphbo.bench.claims import CLAIMS, Claim, of_default, of_paper, of_ranking
from graphbo.bench.suites import SUITES
from tests.bench.support import curve


def table(task: str = "t", **methods: list[float]) -> Table:
    """Regrets of each method on several problems, after half of the evaluations and after all."""
    names = {"paper": "paper:kernel=diffusion", "other": "paper:kernel=polynomial"}
    return Table(
        curve(task, names.get(method, method), seed, [value, value])
        for method, values in methods.items()
        for seed, value in enumerate(values)
    )


def verdict(claims: list[Claim], words: str) -> str:
    (found,) = {one.verdict for one in claims if words in one.text}
    return found


def test_a_default_that_is_best_shows_it() -> None:
    claims = of_default(table(bayes=[0.1, 0.2], paper=[0.4, 0.5], local=[0.6, 0.6]))

    assert {one.verdict for one in claims} == {"holds"}
    assert len(claims) == 8


def test_and_one_that_is_not_does_not() -> None:
    claims = of_default(table(bayes=[0.4, 0.41], paper=[0.5, 0.5], local=[0.1, 0.1]))

    assert verdict(claims, "best mean rank") == "does not hold"
    assert verdict(claims, "lowest mean normalised regret") == "does not hold"
    assert verdict(claims, "less regret than the best variant") == "does not hold"
    assert verdict(claims, "above local search") == "does not hold"
    assert any("t +0.305 ± 0.005" in one.detail for one in claims)


def test_an_error_more_than_local_search_is_allowed() -> None:
    claims = of_default(table(bayes=[0.1, 0.5], local=[0.1, 0.1]))

    assert verdict(claims, "above local search") == "holds"


def test_a_prototype_is_compared_with() -> None:
    claims = of_default(table(bayes=[0.2, 0.2], prototype=[0.1, 0.1]))

    assert verdict(claims, "prototype") == "does not hold"


def test_kernels_rank_before_baselines() -> None:
    good = table(paper=[0.1, 0.1], other=[0.2, 0.2], local=[0.3, 0.3], random=[0.9, 0.9])
    bad = table(paper=[0.1, 0.1], other=[0.8, 0.8], local=[0.3, 0.3], random=[0.2, 0.2])

    assert [one.verdict for one in of_ranking(good)] == ["holds", "holds"]
    assert [one.verdict for one in of_ranking(bad)] == ["does not hold", "does not hold"]
    assert of_ranking(table(paper=[0.1], local=[0.3])) == []


def test_variants_of_the_default_are_no_rivals() -> None:
    curves = [curve("t", method, 0, [1.0]) for method in ("bayes", "bayes:size=50")]

    assert of_default(Table(curves)) == []


def test_nothing_is_claimed_of_what_was_not_run() -> None:
    assert of_default(table(local=[0.1, 0.2], random=[0.3, 0.4])) == []
    assert of_paper("centrality-ba", table(local=[0.1, 0.2])) == []
    assert of_paper("nonesuch", table(local=[0.1, 0.2])) == []


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [([0.1, 0.12], "holds"), ([0.6, 0.62], "does not hold"), ([0.1, 0.6], "cannot be told")],
)
def test_a_difference_has_to_be_resolved(kernel: list[float], expected: str) -> None:
    found = of_paper("influential-users", table(paper=kernel, local=[0.3, 0.3], random=[0.9, 0.9]))

    assert [one.verdict for one in found] == [expected]
    assert "local" in found[0].text


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ([0.3, 0.302], "holds"),  # hardly more, and surely so
        ([0.1, 0.49], "cannot be told"),  # less on average, by chance
        ([0.2, 0.25], "holds"),
        ([0.4, 0.41], "does not hold"),
    ],
)
def test_at_least_as_good_is_surely_not_noticeably_worse(
    kernel: list[float], expected: str
) -> None:
    found = of_paper("teams", table(paper=kernel, other=[0.31, 0.31], local=[0.3, 0.3]))

    assert {one.text: one.verdict for one in found} == {
        "paper:kernel=diffusion is at least as good as local search": expected,
        "paper:kernel=diffusion is at least as good as paper:kernel=polynomial": expected,
    }


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ([0.305, 0.295], "holds"),
        ([0.5, 0.2], "cannot be told"),
        ([0.5, 0.49], "does not hold"),
        ([0.1, 0.11], "holds"),
    ],
)
def test_robust_is_within_a_margin(variant: list[float], expected: str) -> None:
    curves = [
        curve("t", method, seed, [value])
        for method, values in (("paper", [0.3, 0.3]), ("paper:size=50", variant))
        for seed, value in enumerate(values)
    ]

    assert [one.verdict for one in of_paper("sensitivity", Table(curves))] == [expected]


def test_the_whole_graph_is_slow() -> None:
    curves = [
        curve("t", method, seed, [regret], milliseconds=ms)
        for method, regret, ms in (("paper", 0.2, 2.0), ("whole-graph", 0.1, 50.0))
        for seed in range(2)
    ]
    found = of_paper("whole-graph", Table(curves))

    assert [one.verdict for one in found] == ["holds", "holds"]
    assert found[1].detail == "25.0 times"


def test_cost_grows_or_does_not() -> None:
    curves = [
        curve(task, method, 0, [1.0], milliseconds=ms)
        for method, times in (("bayes", (1, 5, 6)), ("whole-graph", (1, 5, 50)))
        for task, ms in zip("abc", times, strict=True)
    ]
    found = of_paper("wall-time", Table(curves))

    assert [one.verdict for one in found] == ["holds", "does not hold"]


def test_every_group_with_a_claim_is_in_a_suite() -> None:
    groups = {group.name for suite in SUITES.values() for group in suite.groups}

    assert set(CLAIMS) <= groups


class TestConnected:
    def claims(self, through: float, projection: float) -> list[Claim]:
        curves = [
            curve(task, method, seed, [value, value + seed / 1e3])
            for task, method, value in (
                ("machines", "bayes", through),
                ("machines:through=projection", "bayes", projection),
                ("machines", "random", 0.6),
            )
            for seed in range(3)
        ]
        return CLAIMS["connected"](Table(curves, methods=["bayes", "random"]))

    def test_paths_are_as_good_as_what_was_written_by_hand(self) -> None:
        claims = self.claims(0.2, 0.21)
        assert verdict(claims, "at least as good as on the projection") == "holds"
        assert verdict(claims, "machines: bayes beats random") == "holds"

    def test_or_they_are_not(self) -> None:
        claims = self.claims(0.7, 0.3)
        assert verdict(claims, "at least as good as on the projection") == "does not hold"
        assert verdict(claims, "machines: bayes beats random") == "does not hold"
