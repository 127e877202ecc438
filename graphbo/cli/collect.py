"""``graphbo collect``: answers that people have set on nodes in the database are told."""

import time
from collections.abc import Sequence
from pathlib import Path

import click

from graphbo.cli.as_printed import (
    evaluations_of,
    observation_facts,
    pending_facts,
    record_facts,
    run_of,
    shown,
)
from graphbo.cli.lines import as_line
from graphbo.cli.options import connection_options, json_option, place_at, print_json
from graphbo.cli.parameter_types import Seconds
from graphbo.cli.tell import told_in_words
from graphbo.errors import RunError
from graphbo.runs import Run
from graphbo.runs.collecting import Collected
from graphbo.runs.form import mark_of
from graphbo.runs.records import RunRecord
from graphbo.runs.written_names import answer_properties
from graphbo.types import Pending
from graphbo.types.text import plural

__all__ = ["collect_command"]

#: How often nodes that wait are looked at.
WATCH_SECONDS = 2.0


@click.command("collect")
@click.argument("name")
@connection_options
@click.option("--watch", is_flag=True, help="Go on until the run ends, or until Ctrl-C.")
@click.option("--interval", type=Seconds(above=0.01), help="How often --watch looks.  [default: 2]")
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    metavar="N",
    help="Have N nodes waiting: as some are answered, others are asked for.",
)
@json_option
def collect_command(
    name: str,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    watch: bool,
    interval: float | None,
    keep: int | None,
    as_json: bool,
) -> None:
    """Tell the answers that people have set on waiting nodes, in Neo4j Browser or with any program.

    An answer is the property that is called as the run's prefix, and Answer: a number, or text that begins with
    "failed". It is taken off again. One that cannot be told stays, and the property with Error at its end says why.
    Workers of the run do the same as they go.

    \b
    graphbo collect outbreak
    graphbo collect outbreak --watch --keep 3
    """
    if interval is not None and not watch:
        raise click.UsageError("--interval is for --watch")
    if watch and as_json:
        raise click.UsageError("--watch and --json exclude each other")
    place = place_at(uri, credentials, database)
    with place.open() as store:
        run = run_of(store, name)
        if watch:
            _watch(run, interval or WATCH_SECONDS, keep)
            return
        before = run.record
        collected = run.collect()
        asked = _keep(run, keep)
    unclear = [one for one in run.pending if one.refused is not None]
    if as_json:
        print_json(_facts(run, collected, asked, unclear))
    else:
        _describe(collected, before)
        _describe_asked(asked)
        if not (collected.told or unclear):
            click.echo(_nothing(run))
        else:
            click.echo(f"{evaluations_of(run.record)}.")
    if unclear:
        first = unclear[0]
        raise RunError(
            f"{plural(len(unclear), 'answer')} cannot be told: {shown(first.key)} has {shown(first.refused)}; what "
            f"is wrong is beside it, in {answer_properties(run.record.prefix)['error']}"
        )


def _facts(
    run: Run, collected: Collected, asked: Sequence[Pending], unclear: Sequence[Pending]
) -> dict[str, object]:
    reasons = {one.pending.step: one.reason for one in collected.refused}
    return {
        "run": record_facts(run.record),
        "told": [observation_facts(one.observation) for one in collected.told],
        "refused": [
            pending_facts(one) | {"answer": mark_of(one.answer), "reason": reasons.get(one.step)}
            for one in unclear
        ],
        "asked": [pending_facts(one) for one in asked],
    }


def _describe(collected: Collected, before: RunRecord) -> None:
    for one in collected.told:
        click.echo(f"{told_in_words(one, before)}.")
        before = one.news.record


def _describe_asked(asked: Sequence[Pending]) -> None:
    for one in asked:
        click.echo(f"Measure: {shown(one.key)} (step {one.step})")


def _nothing(run: Run) -> str:
    waiting = plural(len(run.pending), "node")
    return f"No answers: {waiting} of the run {run.name!r} {'waits' if len(run.pending) == 1 else 'wait'}."


def _keep(run: Run, count: int | None) -> Sequence[Pending]:
    """Ask for as many nodes as are missing."""
    waiting = sum(one.lease_left is None for one in run.pending)
    if count is None or waiting >= count or run.record.state != "running":
        return ()
    return run.ask_many(count - waiting).pending


def _watch(run: Run, interval: float, keep: int | None) -> None:
    """Until nothing can come any more; what is wrong is said as it is found."""
    said = False
    while True:
        before = run.record
        collected = run.collect()
        _describe(collected, before)
        asked = _keep(run, keep)
        _describe_asked(asked)
        if not said and not (collected.told or asked):
            click.echo(as_line(_nothing(run)), err=True)
        said = True
        if run.record.state != "running" and not run.pending:
            click.echo(f"The run {run.name!r} is {run.record.state}: {evaluations_of(run.record)}.")
            return
        if keep is not None and not run.pending:
            click.echo(f"No node is left to ask for: {evaluations_of(run.record)}.")
            return
        time.sleep(interval)
