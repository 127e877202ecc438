"""Normalised regret after some numbers of evaluations, from the results of a comparison, and where a method is worse.

    graphbo bench real --data-dir DIR -o docs/experiments/real
    python benchmarks/regret_after.py docs/experiments/real

Differences are paired by problem: the mean, its standard error, and the two-sided p of a t-test, corrected for all
tasks by Holm's method.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy import stats

from graphbo.bench.results import RESULTS, Curve, read_results
from graphbo.types import FloatArray

AFTER = (30, 50, 100)


def regret(curve: Curve, evaluations: int) -> float:
    """Normalised; a search that ran out of nodes stays where it was."""
    return float(curve.regret[min(evaluations, len(curve.regret)) - 1] / curve.spread)


def holm(values: Sequence[float]) -> list[float]:
    """Corrected p-values, in the same order."""
    corrected = [1.0] * len(values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = largest
    return corrected


def apart(one: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """By how much the one is larger: the mean, its standard error, and p."""
    differences = np.subtract(one, other)
    error = float(differences.std(ddof=1) / np.sqrt(len(differences))) if len(one) > 1 else np.nan
    if len(one) < 2 or not differences.any():
        return float(differences.mean()), error, 1.0
    return float(differences.mean()), error, float(stats.ttest_rel(one, other).pvalue)


def table(curves: Sequence[Curve], tasks: Sequence[str], methods: Sequence[str]) -> list[str]:
    """Tasks down, methods across: regret after so many evaluations, on the seeds that all methods have."""
    by: Mapping[tuple[str, str, int], Curve] = {
        (one.task, one.method, one.seed): one for one in curves
    }
    moments = " / ".join(map(str, AFTER))
    lines = [
        f"| after {moments} | seeds | {' | '.join(f'`{one}`' for one in methods)} | Δ at {AFTER[1]} | p |",
        "| --- |" + " --- |" * (len(methods) + 3),
    ]
    rows: list[tuple[str, int, FloatArray]] = []
    tests: list[tuple[float, float, float]] = []
    for task in tasks:
        seeds = sorted({s for t, m, s in by if t == task and all((t, n, s) in by for n in methods)})
        if not seeds:
            continue
        found = np.array(
            [[[regret(by[task, m, s], n) for s in seeds] for n in AFTER] for m in methods]
        )
        rows.append((task, len(seeds), found.mean(axis=2)))
        tests.append(apart(found[0, 1], found[1, 1]))
    corrected = holm([p for _, _, p in tests])
    for (task, count, means), (mean, error, _), p in zip(rows, tests, corrected, strict=True):
        cells = " | ".join(" / ".join(f"{one:.3f}" for one in row) for row in means)
        lines.append(f"| `{task}` | {count} | {cells} | {mean:+.3f} ± {error:.3f} | {p:.2g} |")
    if rows:
        overall = np.mean([means for _, _, means in rows], axis=0)
        cells = " | ".join(" / ".join(f"**{one:.3f}**" for one in row) for row in overall)
        lines.append(f"| all | | {cells} | {np.mean([one for one, _, _ in tests]):+.3f} | |")
    return lines


def main() -> None:
    """Write the table beside the others."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, help="the directory of the results")
    parser.add_argument("--methods", nargs="+", help="at least two; the first is compared")
    parser.add_argument("--tasks", default="", help="only those with this in their spec")
    parser.add_argument("--without", default="nothing at all", help="only those without this")
    parser.add_argument("--name", default="after", help="of the table")
    chosen = parser.parse_args()
    curves = list(read_results(chosen.results / RESULTS))
    tasks = [one for one in dict.fromkeys(curve.task for curve in curves) if chosen.tasks in one]
    methods = chosen.methods or list(dict.fromkeys(curve.method for curve in curves))
    lines = table(curves, [one for one in tasks if chosen.without not in one], methods)
    directory = chosen.results / "tables"
    directory.mkdir(exist_ok=True)
    text = "\n".join(lines) + "\n"
    (directory / f"{chosen.name}.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
