"""Writes the tables and figures of a comparison into a directory."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from graphbo.bench import figures, tables
from graphbo.bench.analysis import Table, moments
from graphbo.bench.claims import of_default, of_paper, of_ranking
from graphbo.bench.results import Curve
from graphbo.bench.suites import Group
from graphbo.errors import BenchError

__all__ = ["FIGURES", "TABLES", "write_documents"]

#: Their directories, beside the results file.
TABLES, FIGURES = "tables", "figures"

#: More methods than this are no curves that anybody can follow: their differences are shown instead.
MOST_CURVES = 10


def write_documents(directory: Path, curves: Sequence[Curve], groups: Sequence[Group]) -> None:
    """Tables and figures of each group and of all of them together.

    Raises:
        BenchError: they cannot be written.
    """
    try:
        for folder in (TABLES, FIGURES):
            (directory / folder).mkdir(parents=True, exist_ok=True)
        for name, text in _tables(curves, groups):
            (directory / TABLES / name).write_text(text, encoding="utf-8")
        _draw(directory / FIGURES, curves, groups)
    except OSError as error:
        raise BenchError(
            f"{error.filename or directory} cannot be written: {error.strerror}"
        ) from None


def _grouped(curves: Sequence[Curve], groups: Sequence[Group]) -> Iterator[tuple[Group, Table]]:
    """The groups that have results; those of the same name belong together."""
    for name in dict.fromkeys(group.name for group in groups):
        same = [group for group in groups if group.name == name]
        tasks = [task for group in same for task in group.tasks]
        # Every method that has results, also one that was added to those of a suite.
        table = Table(curves, tasks)
        if len(table):
            yield same[0], table


def _tables(curves: Sequence[Curve], groups: Sequence[Group]) -> Iterator[tuple[str, str]]:
    whole = Table(curves)
    yield "overall.md", tables.overall_table(whole)
    yield "numbers.csv", tables.numbers(whole)
    claims = of_default(whole)
    if claims:
        yield "claims.md", tables.claims_table(claims)
    ranking = of_ranking(whole)
    if ranking:
        yield "ranking-claims.md", tables.claims_table(ranking)
    for group, table in _grouped(curves, groups):
        half, full = moments(table.budget)
        yield (
            f"{group.name}.md",
            f"{tables.regret_table(table, half)}\n{tables.regret_table(table, full)}",
        )
        yield f"{group.name}-overall.md", tables.overall_table(table)
        yield f"{group.name}-costs.md", tables.costs_table(table)
        if _is_noisy(table):
            yield f"{group.name}-observed.md", tables.regret_table(table, full, "observed_regret")
        found = of_paper(group.name, table)
        if found:
            yield f"{group.name}-claims.md", tables.claims_table(found)


def _is_noisy(table: Table) -> bool:
    return any("noise=" in task for task in table.tasks)


def _draw(directory: Path, curves: Sequence[Curve], groups: Sequence[Group]) -> None:
    whole = Table(curves)
    figures.draw_summary(whole, directory / "summary.png")
    if whole.problems():
        figures.draw_ranks(whole, directory / "ranks.png")
    figures.draw_costs(whole, directory / "costs.png")
    for group, table in _grouped(curves, groups):
        path = directory / f"{group.name}.png"
        if len(table.methods) > MOST_CURVES:
            figures.draw_differences(table, path)
        else:
            figures.draw_curves(table, path, log=group.log)
