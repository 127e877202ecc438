"""Looking at runs and stopping them: ``status``, ``runs``, ``best``, ``history`` and ``stop``.

None of them needs the model, except ``best`` where measurements are noisy: they answer at once.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import click

from graphbo.cli.as_printed import (
    age,
    best_facts,
    centre_of,
    describe_best,
    describe_region,
    duration,
    evaluations_of,
    named,
    number,
    observation_facts,
    pending_facts,
    printable,
    record_facts,
    region_facts,
    region_of,
    run_again,
    run_of,
    shown,
    state_of,
    who,
    with_caption,
)
from graphbo.cli.captions import caption_option, captions_of
from graphbo.cli.options import connection_options, json_option, place_at, print_json
from graphbo.cli.output import print_table
from graphbo.cli.parameter_types import Seconds
from graphbo.errors import RunError
from graphbo.runs import Run, is_abandoned
from graphbo.runs.captions import Captions, labels_of
from graphbo.runs.history_file import Decimal, HistoryTable, history_table
from graphbo.runs.history_file import as_csv as as_csv_text
from graphbo.runs.records import RunRecord, UnreadableRun
from graphbo.runs.registry import runs_in
from graphbo.types import Observation, Pending
from graphbo.types.text import plural

__all__ = [
    "best_command",
    "history_command",
    "runs_command",
    "status_command",
    "stop_command",
]

#: How often a run that is watched is looked at.
WATCH_SECONDS = 1.0

_name_argument = click.argument("name")


@click.command("status")
@_name_argument
@connection_options
@caption_option
@click.option("--watch", is_flag=True, help="Follow the run until it ends, or until Ctrl-C.")
@click.option(
    "--interval",
    type=Seconds(above=0.01),
    help="How often --watch looks.  [default: 1]",
)
@json_option
def status_command(
    name: str,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    caption: str | None,
    watch: bool,
    interval: float | None,
    as_json: bool,
) -> None:
    """Say how a run stands: its best, who is at work, what failed.

    With --watch it follows the run until it ends, also one that several workers share: on a terminal in a display, in
    a pipe with a line for each change (with --json, a JSON document on each line).
    """
    if interval is not None and not watch:
        raise click.UsageError("--interval is for --watch")
    place = place_at(uri, credentials, database)
    if watch:
        # What it draws with takes time to import, which a single look need not pay.
        from graphbo.cli.watch import watch_run  # noqa: PLC0415

        with place.open() as store:
            watch_run(
                store, name, interval=interval or WATCH_SECONDS, caption=caption, as_json=as_json
            )
        return
    with place.open() as store:
        run = run_of(store, name)
        best = run.best()
        region = region_of(run.record, run.history)
        failed = [one for one in run.history if one.failed]
        captions = captions_of(store, run.record, caption)
        captions.read(
            one.key
            for one in (best, centre_of(region), *run.pending, *failed[-1:])
            if one is not None
        )
    if as_json:
        print_json(
            record_facts(run.record)
            | {
                "pending": [with_caption(pending_facts(one), captions) for one in run.pending],
                "excluded": len(run.excluded),
                "best": best_facts(best, captions=captions),
                "region": region and region_facts(region),
                "last_error": with_caption(observation_facts(failed[-1]), captions)
                if failed
                else None,
            }
        )
        return
    lines = [("state", _state(run))]
    if best is not None:
        lines.append(("best", describe_best(best, run.record, captions=captions)[0][6:]))
    if region is not None:
        lines.append(("region", describe_region(region, captions)))
    lines += [("pending", _describe_pending(one, captions)) for one in run.pending]
    if run.excluded:
        again = place.command("exclude", name)
        lines.append(("excluded", f"{plural(len(run.excluded), 'node')}, which `{again}` lists"))
    if failed:
        last = failed[-1]
        lines.append(
            (
                "failed",
                f"{len(failed)}, the last at {named(last.key, captions)}: {printable(last.error)}",
            )
        )
    lines += _settings(run.record)
    for title, text in lines:
        click.echo(f"{title:10} {text}")


def _state(run: Run) -> str:
    record = run.record
    gone = record.state == "running" and all(map(is_abandoned, run.pending))
    nobody = ", nobody is at work" if gone else ""
    warm = f", {plural(record.warm, 'known value')}" if record.warm else ""
    return f"{state_of(record, run.pending)}, {evaluations_of(record)}{warm}{nobody}"


def _describe_pending(one: Pending, captions: Captions) -> str:
    asked = age(one.at)
    since = "" if asked is None else f" for {duration(asked)}"
    if one.lease_left is None:
        by = f"asked by hand{since}"
    elif one.lease_left < 0:
        by = f"left by {who(one)}: the next worker takes it over"
    else:
        by = f"with {who(one)}{since}"
    if one.excluded:
        by += ", excluded meanwhile"
    if one.answer is not None:
        by += f", answered in the database: {shown(one.answer)}"
    note = f"; {shown(one.note)}" if one.note else ""
    return f"{named(one.key, captions)} (step {one.step}), {by}{note}"


def _settings(record: RunRecord) -> list[tuple[str, str]]:
    goal = "maximize" if record.maximize else "minimize"
    objective = record.config["objective"] or "values that are told by hand"
    return [
        # All of it: this is where people look before they let it run on their machine.
        ("objective", f"{goal} {printable(objective)}"),
        ("graph", str(record.view)),
        ("strategy", f"{record.config['strategy']}, seed {record.seed}"),
        ("begun", f"{_moment(record.started_at)}, last changed {_moment(record.updated_at)}"),
    ]


def _moment(at: str) -> str:
    """A time of the database, to the second."""
    return at[:19].replace("T", " ")


@click.command("runs")
@connection_options
@json_option
def runs_command(
    uri: str | None, credentials: Path | None, database: str | None, as_json: bool
) -> None:
    """List the runs in the database."""
    with place_at(uri, credentials, database).open() as store:
        runs = runs_in(store).listed()
        states = {
            one.name: state_of(one, run_of(store, one.name).pending if one.pending else ())
            for one in runs
            if isinstance(one, RunRecord)
        }
    if as_json:
        print_json([_run_facts(run) for run in runs])
        return
    if not runs:
        click.echo("There is no run in this database yet: start one with `graphbo run`.")
        return
    rows = [
        (
            shown(record.name),
            states[record.name],
            evaluations_of(record),
            number(record.best_value),
            shown(record.config.get("objective") or "by hand"),
            str(record.view),
        )
        for record in runs
        if isinstance(record, RunRecord)
    ]
    if rows:
        print_table(("name", "state", "used", "best", "objective", "graph"), rows)
    for run in runs:
        if isinstance(run, UnreadableRun):
            click.echo(f"{shown(run.name)}: {run.reason}", err=True)


def _run_facts(run: RunRecord | UnreadableRun) -> dict[str, object]:
    if isinstance(run, UnreadableRun):
        return {"name": run.name, "state": "unreadable", "reason": run.reason}
    return record_facts(run)


@click.command("best")
@_name_argument
@connection_options
@caption_option
@json_option
def best_command(
    name: str,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    caption: str | None,
    as_json: bool,
) -> None:
    """Print the answer of a run so far: its best node."""
    place = place_at(uri, credentials, database)
    with place.open() as store:
        run = run_of(store, name)
        best = run.best()
        if best is None:
            raise RunError(f"the run {name!r} has no value yet: {evaluations_of(run.record)}")
        properties = run.properties(best.key)
        captions = captions_of(store, run.record, caption).take(best.key, properties)
        labels = labels_of(store, run.view, [best.key]).get(best.key, [])
    if as_json:
        print_json(best_facts(best, properties, captions=captions, labels=labels))
        return
    for line in describe_best(best, run.record, properties, captions=captions, labels=labels):
        click.echo(line)
    click.echo(
        f"After {evaluations_of(run.record)}; the run is {state_of(run.record, run.pending)}."
    )


@click.command("history")
@_name_argument
@connection_options
@caption_option
@click.option(
    "--csv",
    "as_csv",
    is_flag=True,
    help="Print comma-separated values, with the nodes' properties.",
)
@click.option(
    "--decimal",
    type=click.Choice(get_args(Decimal)),
    help="Print them for a spreadsheet in a language with this decimal sign.",
)
@json_option
def history_command(
    name: str,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    caption: str | None,
    as_csv: bool,
    decimal: Decimal | None,
    as_json: bool,
) -> None:
    """Print everything that a run was told, in the order of telling.

    Failures that were given back for another try, and values that were retracted, are among it.

    \b
    graphbo history outbreak
    graphbo history outbreak --csv > history.csv
    graphbo history outbreak --decimal comma > history.csv
    """
    as_csv = as_csv or decimal is not None
    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other")
    with place_at(uri, credentials, database).open() as store:
        run = run_of(store, name)
        captions = captions_of(store, run.record, caption)
        table = history_table(run, captions, properties=as_csv)
    if as_json:
        print_json(table.rows)
    elif as_csv:
        sys.stdout.write(as_csv_text(table, decimal))
    elif table.rows:
        _print_history(table, captions)
    else:
        click.echo(f"The run {name!r} was told nothing yet.")


def _print_history(table: HistoryTable, captions: Captions) -> None:
    rows = []
    costs = "cost" in table.columns
    for one, facts in zip(table.observations, table.rows, strict=True):
        belief = "" if one.mean is None else f"{number(one.mean)} ± {number(one.std)}"
        rows.append(
            (
                "known" if one.source == "warm" else str(one.step),
                named(one.key, captions),
                "failed" if one.value is None else number(one.value),
                *([number(one.cost)] if costs else []),
                number(facts["best"]),
                belief,
                "" if one.acquisition is None else number(one.acquisition),
                str(one.restart + 1),
                _remark(one, facts),
            )
        )
    titles = (
        *("step", "node", "value"),
        *(["cost"] if costs else []),
        *("best", "expected", "acquisition", "region", ""),
    )
    print_table(titles, rows)


def _remark(one: Observation, facts: Mapping[str, Any]) -> str:
    """What went wrong, and what else was said; how it came to be asked for if there is nothing to say."""
    failed = one.error and (
        printable(one.error) if one.failed else f"first: {printable(one.error)}"
    )
    again = "retried" if facts["retried"] else ""
    gone, why = "", facts["retracted"]
    if why:
        gone = "retracted" if why == "yes" else f"retracted: {shown(why)}"
    note = one.note and shown(one.note)
    return "; ".join(part for part in (failed, again, gone, note) if part) or one.phase


@click.command("stop")
@_name_argument
@connection_options
@json_option
def stop_command(
    name: str, uri: str | None, credentials: Path | None, database: str | None, as_json: bool
) -> None:
    """Let the workers of a run end after the evaluations they are at."""
    place = place_at(uri, credentials, database)
    with place.open() as store:
        run = Run.open(store, name)
        before = run.record
        if before.state == "running":
            runs_in(store).change(name, state="stopped")
        run.refresh()
    if as_json:
        print_json(record_facts(run.record) | {"stopped": before.state == "running"})
        return
    if before.state != "running":
        click.echo(f"The run {name!r} was {before.state} already.")
        return
    busy = [one for one in run.pending if one.lease_left is not None and one.lease_left > 0]
    waiting = f" {len(busy)} being evaluated will still be told." if busy else ""
    click.echo(f"The run {name!r} is stopped, with {evaluations_of(run.record)}.{waiting}")
    click.echo(f"Next: {run_again(place, run.record)}")
