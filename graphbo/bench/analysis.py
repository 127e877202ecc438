"""What curves say: means with standard errors, ranks, paired differences, times. Pure functions of results."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.stats import rankdata

from graphbo.bench.results import Curve
from graphbo.types import FloatArray

__all__ = ["Mean", "Measure", "Table", "mean_of", "moments"]

#: Which regret: in the task's own unit, relative to its spread, or the paper's against the noisy landscape.
Measure: TypeAlias = Literal["regret", "normalised", "observed_regret"]


@dataclass(frozen=True)
class Mean:
    """A mean and its standard error (NaN for a single number)."""

    value: float
    error: float
    count: int

    def __str__(self) -> str:
        return f"{self.value:.3g} ± {self.error:.2g}" if self.count > 1 else f"{self.value:.3g}"


def moments(budget: int) -> tuple[int, int]:
    """After how many evaluations regret is told: half of the budget, and all of it."""
    return max(budget // 2, 1), budget


def mean_of(numbers: Iterable[float] | FloatArray) -> Mean:
    """The mean of independent numbers."""
    values = np.asarray(list(numbers), dtype=np.float64)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return Mean(float(values.mean()) if len(values) else np.nan, float(error), len(values))


class Table:
    """Curves by task, method and seed.

    Args:
        curves: of finished cells.
        tasks, methods: which of them, in the order of rows; all of them without.
    """

    def __init__(
        self,
        curves: Iterable[Curve],
        tasks: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
    ) -> None:
        found = list(curves)
        self.tasks = _order(tasks, (one.task for one in found))
        found = [one for one in found if one.task in self.tasks]
        self.methods = _order(methods, (one.method for one in found))
        self._curves = {
            (one.task, one.method, one.seed): one for one in found if one.method in self.methods
        }
        self._mean_ranks: dict[Measure, dict[str, tuple[FloatArray, FloatArray]]] = {}
        self._seeds: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        for task, method, seed in self._curves:
            self._seeds[task, method].add(seed)
        self.budget = max((one.budget for one in self._curves.values()), default=0)

    def __len__(self) -> int:
        return len(self._curves)

    def only(
        self, tasks: Sequence[str] | None = None, methods: Sequence[str] | None = None
    ) -> "Table":
        """A part of it."""
        return Table(
            self._curves.values(),
            self.tasks if tasks is None else tasks,
            self.methods if methods is None else methods,
        )

    def seeds(self, task: str, *methods: str) -> list[int]:
        """The seeds that all these methods have finished."""
        sets = [self._seeds.get((task, method), set()) for method in methods]
        return sorted(set.intersection(*sets)) if sets else []

    def curve(self, task: str, method: str, seed: int) -> Curve:
        """One cell."""
        return self._curves[task, method, seed]

    def matrix(self, task: str, method: str, measure: Measure = "regret") -> FloatArray:
        """A row per seed, a column per evaluation. A search that ran out of nodes stays where it was."""
        found = [self.curve(task, method, seed) for seed in self.seeds(task, method)]
        rows = [_stretched(getattr(one, measure), self.budget) for one in found]
        return np.array(rows).reshape(len(rows), self.budget)

    # At one moment

    def at(
        self, task: str, method: str, evaluations: int, measure: Measure = "regret"
    ) -> Mean | None:
        """Regret after so many evaluations; None if nothing is known."""
        values = self.matrix(task, method, measure)
        return mean_of(values[:, _column(values, evaluations)]) if len(values) else None

    def area(self, task: str, method: str, measure: Measure = "regret") -> Mean | None:
        """Regret on average over all evaluations."""
        values = self.matrix(task, method, measure)
        return mean_of(values.mean(axis=1)) if len(values) else None

    def difference(
        self,
        task: str,
        method: str,
        reference: str,
        evaluations: int,
        measure: Measure = "normalised",
    ) -> Mean | None:
        """By how much a method's regret is larger than another's on the same problems."""
        apart = self._apart(task, method, reference, evaluations, measure)
        return mean_of(apart) if apart else None

    def overall_difference(
        self, method: str, reference: str, evaluations: int, measure: Measure = "normalised"
    ) -> Mean | None:
        """The same over all tasks, which count equally; their errors are independent."""
        per_task = [
            mean_of(apart)
            for task in self.tasks
            if (apart := self._apart(task, method, reference, evaluations, measure))
        ]
        return _mean_of_means(per_task)

    def overall(
        self, method: str, evaluations: int, measure: Measure = "normalised"
    ) -> Mean | None:
        """Mean regret over all tasks, which count equally. The error is that of repeating it with other seeds."""
        per_task = [
            found for task in self.tasks if (found := self.at(task, method, evaluations, measure))
        ]
        return _mean_of_means(per_task)

    def _apart(
        self, task: str, method: str, reference: str, evaluations: int, measure: Measure
    ) -> list[float]:
        def value(name: str, seed: int) -> float:
            curve: FloatArray = getattr(self.curve(task, name, seed), measure)
            return float(curve[min(evaluations, len(curve)) - 1])

        seeds = self.seeds(task, method, reference)
        return [value(method, seed) - value(reference, seed) for seed in seeds]

    # Ranks

    def problems(self) -> list[tuple[str, int]]:
        """The task and seed of each problem that every method has finished."""
        return [(task, seed) for task in self.tasks for seed in self.seeds(task, *self.methods)]

    def ranks(self, measure: Measure = "regret") -> FloatArray:
        """The rank of each method on each problem after each evaluation; 1 is best, equals share theirs.

        Returns:
            Problems × methods × evaluations.
        """
        problems = self.problems()
        if not problems:
            return np.empty((0, len(self.methods), self.budget))
        regret = np.array(
            [
                [
                    _stretched(getattr(self.curve(task, method, seed), measure), self.budget)
                    for method in self.methods
                ]
                for task, seed in problems
            ]
        )
        # What differs only by rounding is equal.
        scale = np.maximum(np.abs(regret).max(axis=(1, 2), keepdims=True), 1e-300)
        return np.asarray(rankdata(np.round(regret / scale, 9), axis=1))

    def mean_ranks(self, measure: Measure = "regret") -> dict[str, tuple[FloatArray, FloatArray]]:
        """The mean rank of each method after each evaluation, and its standard error."""
        if measure in self._mean_ranks:
            return self._mean_ranks[measure]
        ranks = self.ranks(measure)
        count = len(ranks)
        error = ranks.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else 0 * ranks.sum(axis=0)
        means = ranks.mean(axis=0) if count else ranks.sum(axis=0) * np.nan
        found = {method: (means[row], error[row]) for row, method in enumerate(self.methods)}
        self._mean_ranks[measure] = found
        return found

    # Costs

    def milliseconds(self, method: str, task: str | None = None) -> float:
        """The median time to propose a node, over the median steps of all searches."""
        found = self._of(method, task)
        return float(np.median([np.median(one.milliseconds) for one in found])) if found else np.nan

    def mean_milliseconds(self, method: str, task: str | None = None) -> float:
        """The mean time to propose a node: with the rare steps that draw a region anew, which a median does not see."""
        found = self._of(method, task)
        return float(np.mean([one.milliseconds.mean() for one in found])) if found else np.nan

    def revealed(self, method: str, task: str | None = None) -> float:
        """How many nodes a search has looked at in the end, on average."""
        found = self._of(method, task)
        return float(np.mean([one.revealed[-1] for one in found])) if found else np.nan

    def _of(self, method: str, task: str | None) -> list[Curve]:
        return [
            self._curves[name, method, seed]
            for name in (self.tasks if task is None else [task])
            for seed in self.seeds(name, method)
        ]


def _order(wanted: Sequence[str] | None, found: Iterable[str]) -> list[str]:
    known = dict.fromkeys(found)
    return list(known) if wanted is None else [one for one in dict.fromkeys(wanted) if one in known]


def _stretched(curve: FloatArray, length: int) -> FloatArray:
    more = np.full(max(length - len(curve), 0), curve[-1])
    return np.asarray(np.concatenate([curve, more])[:length])


def _column(values: FloatArray, evaluations: int) -> int:
    return int(min(evaluations, values.shape[1])) - 1


def _mean_of_means(means: Sequence[Mean]) -> Mean | None:
    if not means:
        return None
    errors = np.array([one.error for one in means])
    return Mean(
        float(np.mean([one.value for one in means])),
        float(np.sqrt(np.sum(errors**2)) / len(means)),
        sum(one.count for one in means),
    )
