"""Tables of a comparison, as Markdown for documents and as CSV for programs."""

import csv
import io
from collections.abc import Iterator, Sequence

import numpy as np

from graphbo.bench.analysis import Mean, Measure, Table, moments
from graphbo.bench.claims import Claim

__all__ = ["claims_table", "costs_table", "numbers", "overall_table", "regret_table"]

MARKS = {
    "holds": "✓ holds",
    "does not hold": "✗ does not hold",
    "cannot be told": "– cannot be told",
}


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _code(name: str) -> str:
    return f"`{name}`"


def _pm(mean: Mean | None, sign: str = "") -> str:
    if mean is None or np.isnan(mean.value):
        return ""
    error = "" if np.isnan(mean.error) else f" ± {mean.error:.3f}"
    return f"{mean.value:{sign}.3f}{error}"


def overall_table(table: Table) -> str:
    """A row per method, over all tasks."""
    reference, points = table.methods[0], moments(table.budget)
    ranks = table.mean_ranks()
    head = [
        "method",
        *(f"regret at {moment}" for moment in points),
        *(f"Δ at {moment}" for moment in points),
        *(f"rank at {moment}" for moment in points),
        "ms per step",
        "nodes seen",
    ]
    rows = [
        [
            _code(method),
            *(_pm(table.overall(method, moment)) for moment in points),
            *(
                ""
                if method == reference
                else _pm(table.overall_difference(method, reference, moment), "+")
                for moment in points
            ),
            *(_rank(ranks[method][0][moment - 1]) for moment in points),
            f"{table.milliseconds(method):.1f}",
            f"{table.revealed(method):,.0f}",
        ]
        for method in table.methods
    ]
    return _markdown(head, rows)


def _rank(mean: float) -> str:
    """Methods that have no problem in common have no ranks."""
    return "" if np.isnan(mean) else f"{mean:.2f}"


def regret_table(table: Table, moment: int, measure: Measure = "normalised") -> str:
    """A row per task, a column per method; the best of each row stands out."""
    rows = []
    for task in table.tasks:
        means = [table.at(task, method, moment, measure) for method in table.methods]
        rows.append([_code(task), *_with_best(means)])
    if len(table.tasks) > 1 and measure == "normalised":
        rows.append(
            ["all", *_with_best([table.overall(method, moment) for method in table.methods])]
        )
    return _markdown([f"after {moment}", *map(_code, table.methods)], rows)


def _with_best(means: Sequence[Mean | None]) -> list[str]:
    best = min((mean.value for mean in means if mean is not None), default=np.nan)
    return [
        f"**{_pm(mean)}**" if mean is not None and mean.value == best else _pm(mean)
        for mean in means
    ]


def costs_table(table: Table) -> str:
    """Milliseconds per step, the median and the mean, a row per task."""
    rows = [
        [
            _code(task),
            *(
                f"{table.milliseconds(method, task):.1f} / {table.mean_milliseconds(method, task):.1f}"
                if table.seeds(task, method)
                else ""
                for method in table.methods
            ),
        ]
        for task in table.tasks
    ]
    return _markdown(["ms per step, median / mean", *map(_code, table.methods)], rows)


def claims_table(claims: Sequence[Claim]) -> str:
    """A row per claim."""
    return _markdown(
        ["claim", "", "numbers"], [[one.text, MARKS[one.verdict], one.detail] for one in claims]
    )


def numbers(table: Table) -> str:
    """Every mean with its standard error, as CSV: a row per task, method, evaluations and measure."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(
        (
            "task",
            "method",
            "evaluations",
            "measure",
            "mean",
            "error",
            "seeds",
            "milliseconds",
            "revealed",
        )
    )
    writer.writerows(_number_rows(table))
    return buffer.getvalue()


def _number_rows(table: Table) -> Iterator[list[object]]:
    measures: tuple[Measure, ...] = ("regret", "normalised", "observed_regret")
    for task in table.tasks:
        for method in table.methods:
            costs = [
                f"{table.milliseconds(method, task):.4g}",
                f"{table.revealed(method, task):.0f}",
            ]
            for measure in measures:
                found = {
                    **{
                        str(moment): table.at(task, method, moment, measure)
                        for moment in moments(table.budget)
                    },
                    "area": table.area(task, method, measure),
                }
                for moment, mean in found.items():
                    if mean is not None:
                        yield [
                            task,
                            method,
                            moment,
                            measure,
                            f"{mean.value:.6g}",
                            f"{mean.error:.4g}",
                            mean.count,
                            *costs,
                        ]
