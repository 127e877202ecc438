"""``graphbo bench``: tasks × methods × seeds, and what comes of it."""

import os
import sys
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table as Shown

from graphbo.bench.analysis import Table
from graphbo.bench.cells import Cell, Finished, Journal
from graphbo.bench.claims import of_default
from graphbo.bench.documents import write_documents
from graphbo.bench.engine import Skipped, Unit, run_cells, units_of
from graphbo.bench.plan import Plan, plan
from graphbo.bench.report import summary
from graphbo.bench.results import RESULTS, Curve, read_results, write_results
from graphbo.cli.bench_progress import Tracker, tracking
from graphbo.cli.options import json_option, print_json
from graphbo.errors import BenchError
from graphbo.search.strategies import DEFAULT_STRATEGY
from graphbo.types.text import plural

__all__ = ["bench_command"]

#: Columns of a table in a pipe, where nobody says how wide it may be.
WIDTH = 160
#: More methods than this do not fit beside each other.
MOST_COLUMNS = 10


@dataclass
class _Outcome:
    """What came of a comparison.

    Attributes:
        done: what is known of the cells, by their keys.
        reused: how many of them were finished before.
        failed: those that failed now, and why.
        skipped: the tasks that cannot be run here, and why.
    """

    done: dict[str, Finished]
    reused: int = 0
    ran: int = 0
    failed: list[tuple[Cell, Finished]] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


@click.command("bench")
@click.argument("names", nargs=-1, required=True, metavar="SUITE|TASK…")
@click.option(
    "--methods",
    "-m",
    multiple=True,
    metavar="METHOD…",
    help="NAME[:OPTION=VALUE,…], prototype:FILE, or one of all, baselines, paper-kernels; may be repeated, or have "
    "several with spaces between. The first is what others are compared with.  [default: the suite's, else all]",
)
@click.option(
    "--seeds",
    type=click.IntRange(1),
    help="Problems of each task.  [default: the suite's, else 10]",
)
@click.option("--first-seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--budget",
    type=click.IntRange(1),
    help="Evaluations of each search.  [default: the suite's, else 100]",
)
@click.option(
    "--jobs", "-j", type=click.IntRange(1), help="Processes.  [default: one for each processor]"
)
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("bench-results"),
    show_default=True,
    help="Directory of the results. What is finished there is not run again.",
)
@click.option(
    "--data-dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Directory of the data sets.  [default: GRAPHBO_DATA]",
)
@click.option("--fresh", is_flag=True, help="Run everything again: the code has changed.")
@click.option("--strict", is_flag=True, help="A task whose data is missing is an error.")
@click.option(
    "--only-report", is_flag=True, help="Run nothing: tables and figures of what is there."
)
@json_option
def bench_command(
    names: tuple[str, ...],
    methods: tuple[str, ...],
    seeds: int | None,
    first_seed: int,
    budget: int | None,
    jobs: int | None,
    output: Path,
    data_dir: Path | None,
    fresh: bool,
    strict: bool,
    only_report: bool,
    as_json: bool,
) -> None:
    """Compare methods on tasks with a known answer.

    \b
    graphbo bench smoke                        does everything work? About a minute
    graphbo bench paper --data-dir DIR         the paper's experiments
    graphbo bench centrality:graph=ws --methods 'bayes bayes:size=50 local'

    Every method meets the same problems. Results go to one table, results.csv.gz in the output directory, from which
    the other tables and the figures there are made. A comparison that was interrupted goes on where it was.
    """
    chosen = plan(
        names,
        methods=[one for several in methods for one in several.split()],
        seeds=seeds,
        first_seed=first_seed,
        budget=budget,
        data_dir=data_dir,
    )
    if only_report:
        outcome, curves = _Outcome({}), _curves_in(output, chosen)
    else:
        outcome = _compared(chosen, output, jobs or len(os.sched_getaffinity(0)), fresh)
        curves = _curves(chosen, outcome.done)
        write_results(output / RESULTS, curves)
    if curves:
        write_documents(output, curves, chosen.groups)
    _report(curves, outcome, output, as_json)
    if outcome.failed or (strict and outcome.skipped):
        raise SystemExit(1)


# Running


def _compared(chosen: Plan, output: Path, jobs: int, fresh: bool) -> _Outcome:
    journal = Journal(output)
    known = {} if fresh else _known(output, journal)
    outcome = _Outcome({cell.key: known[cell.key] for cell in chosen.cells if cell.key in known})
    outcome.reused = len(outcome.done)
    units = units_of(chosen.cells, chosen.tasks, outcome.done)
    click.echo(_announcement(chosen, units, outcome.reused, jobs, output), err=True)
    try:
        _run(units, journal, jobs, outcome)
    except KeyboardInterrupt:
        click.echo(
            f"The same command goes on from the cells that are finished in {output}", err=True
        )
        raise
    for task, reason in outcome.skipped.items():
        click.echo(f"Skipped {task}: {reason}", err=True)
    for cell, finished in outcome.failed:
        where = f"{cell.method.label} on {cell.task}, seed {cell.seed}"
        click.echo(f"Failed: {where}: {finished.error}", err=True)
    return outcome


def _known(output: Path, journal: Journal) -> dict[str, Finished]:
    """What was finished before, here or where the results file comes from."""
    path = output / RESULTS
    found = {one.key: one.finished() for one in read_results(path)} if path.exists() else {}
    return found | journal.read()


def _announcement(chosen: Plan, units: list[Unit], reused: int, jobs: int, output: Path) -> str:
    missing = sum(len(unit.cells) for unit in units)
    seeds = f"{chosen.seeds.start}-{chosen.seeds.stop - 1}"
    return (
        f"{plural(len(chosen.tasks), 'task')} × {plural(len(chosen.methods), 'method')}, seeds {seeds}: "
        f"{plural(missing, 'cell')} "
        f"to run on {jobs} process{'' if jobs == 1 else 'es'}, {reused} finished before in {output}"
    )


def _run(units: list[Unit], journal: Journal, jobs: int, outcome: _Outcome) -> None:
    tracker = Tracker(units)
    with tracking(tracker) as show, closing(run_cells(units, journal, jobs=jobs)) as events:
        for event in events:
            show(event)
            if isinstance(event, Skipped):
                outcome.skipped[event.task] = event.reason
                continue
            cell, finished = event
            if finished.error is None:
                outcome.done[finished.key] = finished
                outcome.ran += 1
            else:
                outcome.failed.append((cell, finished))


# Results


def _curves(chosen: Plan, done: dict[str, Finished]) -> list[Curve]:
    return [Curve.of(cell, done[cell.key]) for cell in chosen.cells if cell.key in done]


def _curves_in(output: Path, chosen: Plan) -> list[Curve]:
    """What a directory has of the chosen tasks: by the names in its results file, whatever the defaults are now.

    Raises:
        BenchError: it has nothing.
    """
    path = output / RESULTS
    if path.exists():
        found = [one for one in read_results(path) if one.task in chosen.tasks]
    else:
        found = _curves(chosen, Journal(output).read())
    if not found:
        raise BenchError(f"{output} has no results of these tasks: run the comparison first")
    return found


def _report(curves: list[Curve], outcome: _Outcome, output: Path, as_json: bool) -> None:
    table = Table(curves)
    found = summary(table)
    if as_json:
        claims = [asdict(claim) for claim in of_default(table)]
        print_json({**_facts(outcome, output), **found, "claims": claims})
        return
    if len(table):
        few = len(table.methods) <= MOST_COLUMNS
        for shown in (*([_by_task(table)] if few else []), _overall(found), *_claims(table)):
            Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH).print(shown)
    click.echo(f"Results: {output / RESULTS}; tables and figures are beside it")


def _facts(outcome: _Outcome, output: Path) -> dict[str, Any]:
    return {
        "results": str(output / RESULTS),
        "ran": outcome.ran,
        "reused": outcome.reused,
        "failed": [
            {
                "task": cell.task,
                "method": cell.method.label,
                "seed": cell.seed,
                "error": finished.error,
            }
            for cell, finished in outcome.failed
        ],
        "skipped": [{"task": task, "reason": why} for task, why in outcome.skipped.items()],
    }


def _by_task(table: Table) -> Shown:
    shown = Shown(title=f"normalised regret after {table.budget} evaluations")
    shown.add_column("task", overflow="fold")
    for method in table.methods:
        shown.add_column(method.replace(":", "\n").replace(",", "\n"), justify="right")
    for task in table.tasks:
        means = [table.at(task, method, table.budget, "normalised") for method in table.methods]
        best = min(mean.value for mean in means if mean is not None)
        cells = ["" if mean is None else f"{mean.value:.3f}" for mean in means]
        bold = [
            f"[bold]{cell}[/]" if mean and mean.value == best else cell
            for cell, mean in zip(cells, means, strict=True)
        ]
        shown.add_row(task, *bold)
    return shown


def _overall(found: dict[str, Any]) -> Shown:
    half, full = found["evaluations"]
    shown = Shown(title=f"over all tasks: normalised regret; Δ to {found['reference']}, paired")
    for name in (
        "method",
        f"at {half}",
        f"at {full}",
        f"Δ {half}",
        f"Δ {full}",
        f"rank {half}",
        f"rank {full}",
        "ms",
        "seen",
    ):
        shown.add_column(name, justify="left" if name == "method" else "right")
    for one in found["methods"]:
        first, last = one["at"]
        shown.add_row(
            one["method"],
            *(_shown(point["normalised_regret"]) for point in (first, last)),
            *(_shown(point["difference"], sign="+") for point in (first, last)),
            *(
                "" if point["rank"] is None else f"{point['rank']['mean']:.2f}"
                for point in (first, last)
            ),
            f"{one['milliseconds']:.1f}",
            f"{one['revealed']:.0f}",
        )
    return shown


def _claims(table: Table) -> list[Shown]:
    claims = of_default(table)
    if not claims:
        return []
    shown = Shown(title=f"what {DEFAULT_STRATEGY} has to show", show_header=False)
    for claim in claims:
        mark = "[green]✓[/]" if claim.verdict == "holds" else "[red]✗[/]"
        shown.add_row(mark, claim.text, claim.detail)
    return [shown]


def _shown(mean: dict[str, Any] | None, sign: str = "") -> str:
    if mean is None:
        return ""
    error = "" if mean["error"] is None else f" ± {mean['error']:.3f}"
    return f"{mean['mean']:{sign}.3f}{error}"
