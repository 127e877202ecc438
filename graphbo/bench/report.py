"""From curves to what people read: a summary as data, tables as Markdown, figures."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from graphbo.bench.analysis import Mean, Table, moments
from graphbo.types.text import rounded

__all__ = ["summary"]

#: The mean rank of a method after so many evaluations.
Ranks: TypeAlias = Callable[[str, int], Mean]


def summary(table: Table) -> dict[str, Any]:
    """All numbers, fit for JSON. The first method is the one that others are compared with."""
    if not len(table):
        return {"methods": [], "tasks": []}
    reference = table.methods[0]
    ranks, count = table.mean_ranks(), len(table.problems())

    def rank(method: str, moment: int) -> Mean:
        means, errors = ranks[method]
        return Mean(float(means[moment - 1]), float(errors[moment - 1]), count)

    return {
        "reference": reference,
        "evaluations": list(moments(table.budget)),
        "problems": count,
        "methods": [_method(table, method, reference, rank) for method in table.methods],
        "tasks": [_task(table, task, reference) for task in table.tasks],
    }


def _method(table: Table, method: str, reference: str, rank: Ranks) -> dict[str, Any]:
    return {
        "method": method,
        "at": [
            {
                "evaluations": moment,
                "normalised_regret": _plain(table.overall(method, moment)),
                "difference": _plain(table.overall_difference(method, reference, moment)),
                "rank": _plain(rank(method, moment)),
            }
            for moment in moments(table.budget)
        ],
        "milliseconds": rounded(table.milliseconds(method)),
        "revealed": rounded(table.revealed(method)),
    }


def _task(table: Table, task: str, reference: str) -> dict[str, Any]:
    return {
        "task": task,
        "methods": [
            {
                "method": method,
                "at": [_point(table, task, method, reference, m) for m in moments(table.budget)],
                "area": _plain(table.area(task, method, "normalised")),
                "milliseconds": rounded(table.milliseconds(method, task)),
                "revealed": rounded(table.revealed(method, task)),
            }
            for method in table.methods
            if table.seeds(task, method)
        ],
    }


def _point(table: Table, task: str, method: str, reference: str, moment: int) -> dict[str, Any]:
    return {
        "evaluations": moment,
        "regret": _plain(table.at(task, method, moment)),
        "normalised_regret": _plain(table.at(task, method, moment, "normalised")),
        "observed_regret": _plain(table.at(task, method, moment, "observed_regret")),
        "difference": _plain(table.difference(task, method, reference, moment)),
    }


def _plain(mean: Mean | None) -> dict[str, Any] | None:
    if mean is None or np.isnan(mean.value):
        return None
    return {"mean": rounded(mean.value), "error": rounded(mean.error), "count": mean.count}
