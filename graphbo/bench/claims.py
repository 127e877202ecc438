"""What is claimed of the methods, and whether results bear it out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from graphbo.bench.analysis import Mean, Table, mean_of, moments
from graphbo.bench.methods import BASELINES, WHOLE_GRAPH
from graphbo.bench.tasks.specs import split_spec
from graphbo.search.strategies import DEFAULT_STRATEGY

__all__ = ["CLAIMS", "Claim", "Verdict", "of_default", "of_paper", "of_ranking"]

Verdict: TypeAlias = Literal["holds", "does not hold", "cannot be told"]

#: A difference counts if it is so many standard errors from 0.
RESOLVED = 2.0

#: Two methods are as good as each other if they are no further apart than this, in normalised regret.
EQUAL = 0.02

#: By how much less regret the default has to have than the best variant of the paper: at half and at all of the budget.
LESS = (0.4, 0.5)

LOCAL = "local"


@dataclass(frozen=True)
class Claim:
    """A sentence, whether it is so, and the numbers that say so."""

    text: str
    verdict: Verdict
    detail: str


def _says(holds: bool) -> Verdict:
    return "holds" if holds else "does not hold"


# Of the default


def of_default(table: Table) -> list[Claim]:
    """What the default has to show against everything else; nothing if it was not run, or only against its kind."""
    others = {_family(method) for method in table.methods} - {DEFAULT_STRATEGY}
    if DEFAULT_STRATEGY not in table.methods or not others or not table.problems():
        return []
    found: list[Claim] = []
    for moment, less in zip(moments(table.budget), LESS, strict=True):
        found += _first_in_rank(table, moment)
        found += _least_regret(table, moment)
        found += _less_than_paper(table, moment, less)
        found += _not_above_local(table, moment)
        found += _as_good_as_prototype(table, moment)
    return found


def _first_in_rank(table: Table, moment: int) -> list[Claim]:
    ranks = {name: float(mean[moment - 1]) for name, (mean, _) in table.mean_ranks().items()}
    mine = ranks.pop(DEFAULT_STRATEGY)
    second = min(ranks, key=lambda name: ranks[name])
    return [
        Claim(
            f"the best mean rank after {moment} evaluations",
            _says(mine < ranks[second]),
            f"{mine:.2f}, next {second} {ranks[second]:.2f}",
        )
    ]


def _regrets(table: Table, moment: int, methods: Sequence[str]) -> dict[str, Mean]:
    found = {name: table.overall(name, moment) for name in methods}
    return {name: mean for name, mean in found.items() if mean is not None}


def _least_regret(table: Table, moment: int) -> list[Claim]:
    regrets = _regrets(table, moment, table.methods)
    mine = regrets.pop(DEFAULT_STRATEGY)
    second = min(regrets, key=lambda name: regrets[name].value)
    return [
        Claim(
            f"the lowest mean normalised regret after {moment} evaluations",
            _says(mine.value < regrets[second].value),
            f"{_pm(mine)}, next {second} {_pm(regrets[second])}",
        )
    ]


def _less_than_paper(table: Table, moment: int, less: float) -> list[Claim]:
    regrets = _regrets(table, moment, [one for one in table.methods if _is_paper(one)])
    mine = table.overall(DEFAULT_STRATEGY, moment)
    if not regrets or mine is None:
        return []
    best = min(regrets, key=lambda name: regrets[name].value)
    share = 1 - mine.value / regrets[best].value if regrets[best].value else 0.0
    return [
        Claim(
            f"at least {less:.0%} less regret than the best variant of the paper after {moment} evaluations",
            _says(share >= less),
            f"{share:+.0%} less than {best}",
        )
    ]


def _not_above_local(table: Table, moment: int) -> list[Claim]:
    if LOCAL not in table.methods:
        return []
    apart = {
        task: mean
        for task in table.tasks
        if (mean := table.difference(task, DEFAULT_STRATEGY, LOCAL, moment)) is not None
    }
    above = {task: mean for task, mean in apart.items() if mean.value > mean.error}
    listed = "; ".join(f"{task} {_pm(mean, '+')}" for task, mean in above.items())
    return [
        Claim(
            f"on no task above local search by more than a standard error after {moment} evaluations",
            _says(not above),
            listed or f"{len(apart)} tasks",
        )
    ]


def _as_good_as_prototype(table: Table, moment: int) -> list[Claim]:
    name = "prototype"
    apart = (
        table.overall_difference(DEFAULT_STRATEGY, name, moment) if name in table.methods else None
    )
    if apart is None:
        return []
    return [
        Claim(
            f"at least as good as the prototype, within error, after {moment} evaluations",
            _says(apart.value <= apart.error),
            f"{_pm(apart, '+')} in mean normalised regret",
        )
    ]


def _family(method: str) -> str:
    return method.partition(":")[0]


def _is_paper(method: str) -> bool:
    return _family(method) == "paper"


def _pm(mean: Mean, sign: str = "") -> str:
    error = "" if np.isnan(mean.error) else f" ± {mean.error:.3f}"
    return f"{mean.value:{sign}.3f}{error}"


# Of the paper


def of_ranking(table: Table) -> list[Claim]:
    """What the paper claims about all tasks together; nothing unless kernels and baselines were run on all."""
    kernels = [one for one in table.methods if _is_paper(one)]
    baselines = [one for one in BASELINES if one in table.methods]
    if not kernels or len(baselines) < 2 or not table.problems():
        return []
    ranks = {name: float(mean[-1]) for name, (mean, _) in table.mean_ranks().items()}
    worst = max(kernels, key=lambda name: ranks[name])
    first, second = sorted(baselines, key=lambda name: ranks[name])[:2]
    return [
        Claim(
            f"every kernel ranks before every baseline after {table.budget} evaluations",
            _says(ranks[worst] < ranks[first]),
            f"{worst} {ranks[worst]:.2f}, {first} {ranks[first]:.2f}",
        ),
        Claim(
            "local search is the best baseline",
            _says(first == LOCAL),
            f"{first} {ranks[first]:.2f}, {second} {ranks[second]:.2f}",
        ),
    ]


def of_paper(group: str, table: Table) -> list[Claim]:
    """What is claimed about a group of tasks, mostly by the paper."""
    return CLAIMS[group](table) if group in CLAIMS and len(table) else []


def _beats_baselines(table: Table) -> list[Claim]:
    """Every kernel against the baseline that is best on the whole."""
    kernels = [one for one in table.methods if _is_paper(one)]
    regrets = _regrets(table, table.budget, [one for one in BASELINES if one in table.methods])
    if not kernels or not regrets:
        return []
    best = min(regrets, key=lambda name: regrets[name].value)
    return [
        _compared(table, one, best, f"{one} beats the best baseline, {best}") for one in kernels
    ]


def _compared(table: Table, method: str, other: str, text: str, *, equal: bool = False) -> Claim:
    """Whether a method has less regret than another, or (``equal``) surely not noticeably more."""
    apart = table.overall_difference(method, other, table.budget)
    if apart is None:
        return Claim(text, "cannot be told", "not run")
    return _judged(text, apart, equal=equal, at=table.budget)


def _judged(text: str, apart: Mean, *, equal: bool, at: int) -> Claim:
    """Whether a difference in regret is surely below 0, or (``equal``) surely not noticeably above."""
    margin = RESOLVED * apart.error
    verdict: Verdict = "cannot be told"
    if apart.value < -margin or (equal and apart.value + margin <= EQUAL):
        verdict = "holds"
    elif apart.value > margin:
        verdict = "does not hold"
    return Claim(text, verdict, f"{_pm(apart, '+')} in mean normalised regret at {at}")


def _random_is_not_competitive(table: Table) -> list[Claim]:
    """On every task by itself: by how much the best kernel is ahead of random search."""
    kernels = [one for one in table.methods if _is_paper(one)]
    found = []
    for task in table.tasks:
        part = table.only([task])
        regrets = _regrets(part, part.budget, kernels)
        if regrets and "random" in part.methods:
            best = min(regrets, key=lambda name: regrets[name].value)
            found.append(_compared(part, best, "random", f"{task}: {best} beats random search"))
    return found


def _diffusion_does_well(table: Table) -> list[Claim]:
    """Both diffusion kernels, with and without ARD, against local search and against the other kernels."""
    found = []
    others = [one for one in table.methods if _is_paper(one) and "diffusion" not in one]
    regrets = _regrets(table, table.budget, others)
    for one in (name for name in table.methods if _is_paper(name) and "diffusion" in name):
        if LOCAL in table.methods:
            found.append(
                _compared(
                    table, one, LOCAL, f"{one} is at least as good as local search", equal=True
                )
            )
        if regrets:
            best = min(regrets, key=lambda name: regrets[name].value)
            found.append(
                _compared(table, one, best, f"{one} is at least as good as {best}", equal=True)
            )
    return found


def _is_robust(table: Table) -> list[Claim]:
    """Every variant against the first method."""
    reference = table.methods[0]
    return [
        _compared(table, one, reference, f"{one} does as well as {reference}", equal=True)
        for one in table.methods[1:]
    ]


def _whole_graph_is_slow(table: Table) -> list[Claim]:
    if WHOLE_GRAPH not in table.methods or "paper" not in table.methods:
        return []
    times = table.mean_milliseconds(WHOLE_GRAPH) / table.mean_milliseconds("paper")
    return [
        _compared(
            table,
            WHOLE_GRAPH,
            "paper",
            "modelling the whole graph finds at least as much",
            equal=True,
        ),
        Claim("and is at least 20 times slower", _says(times >= 20), f"{times:.1f} times"),
    ]


def _cost_is_flat(table: Table) -> list[Claim]:
    """The largest graph against the smallest that is larger than a region."""
    found = []
    for method in table.methods:
        times = [
            table.mean_milliseconds(method, task)
            for task in table.tasks
            if table.seeds(task, method)
        ]
        if len(times) > 1:
            growth = times[-1] / times[min(1, len(times) - 2)]
            text = f"the cost of a step of {method} does not grow with the graph"
            found.append(
                Claim(text, _says(growth < 2), f"{growth:.1f} times from {len(times)} sizes")
            )
    return found


def _paths_do(table: Table) -> list[Claim]:
    """The first method on each task: against the same problem on the projection, and against the baselines."""
    method, found = table.methods[0], []
    by_hand = {
        _connected(task)[0]: task for task in table.tasks if _connected(task)[1] == "projection"
    }
    for task in table.tasks:
        problem, through = _connected(task)
        if through == "projection":
            continue
        apart = _between(table, task, by_hand[problem], method) if problem in by_hand else None
        if apart is not None:
            text = f"{task}: {method} is at least as good as on the projection"
            found.append(_judged(text, apart, equal=True, at=table.budget))
        part = table.only([task])
        baselines = [one for one in table.methods if one in BASELINES]
        found += [
            _compared(part, method, one, f"{task}: {method} beats {one}") for one in baselines
        ]
    return found


def _connected(task: str) -> tuple[str, str]:
    """The problem that a task's spec names, and how its candidates become neighbours."""
    name, given = split_spec(task)
    through = given.pop("through", "paths")
    return f"{name} {given}", through


def _between(table: Table, task: str, other: str, method: str) -> Mean | None:
    """How much more regret a method has on one task than on another, seed by seed."""
    seeds = sorted({*table.seeds(task, method)} & {*table.seeds(other, method)})
    if not seeds:
        return None
    return mean_of(
        table.curve(task, method, seed).normalised[-1]
        - table.curve(other, method, seed).normalised[-1]
        for seed in seeds
    )


#: What is claimed, by the name of the group of tasks.
CLAIMS: dict[str, Callable[[Table], list[Claim]]] = {
    "centrality-ba": _beats_baselines,
    "centrality-ws": _beats_baselines,
    "ackley": _random_is_not_competitive,
    "rosenbrock": _random_is_not_competitive,
    "patient-zero": _diffusion_does_well,
    "influential-users": _beats_baselines,
    "teams": _diffusion_does_well,
    "sensitivity": _is_robust,
    "whole-graph": _whole_graph_is_slow,
    "wall-time": _cost_is_flat,
    "connected": _paths_do,
}
