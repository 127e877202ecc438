"""Looking at runs and ending them: ``status``, ``runs``, ``best``, ``history``, ``stop`` and ``clean``.

None of them needs the model, except ``best`` where measurements are noisy: they answer at once.
"""

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphbo.cli.facts import (
    age,
    answer_of,
    best_facts,
    describe_best,
    describe_region,
    duration,
    evaluations_of,
    news_of,
    number,
    observation_facts,
    own_properties,
    pending_facts,
    record_facts,
    region_facts,
    region_of,
    shown,
    who,
)
from graphbo.cli.kinds import Seconds
from graphbo.cli.options import Place, connection_options, json_option, place_at, print_json
from graphbo.errors import RunError
from graphbo.stores.runs import (
    News,
    RunRecord,
    region_properties,
    written_labels,
    written_properties,
)
from graphbo.types import Observation, Pending

__all__ = [
    "best_command",
    "clean_command",
    "history_command",
    "runs_command",
    "status_command",
    "stop_command",
]

#: How often a run that is watched is looked at.
WATCH_SECONDS = 1.0

#: Columns of ``history --csv``, in this order.
_COLUMNS = (
    "step",
    "seq",
    "key",
    "value",
    "best",
    "mean",
    "std",
    "acquisition",
    "restart",
    "phase",
    "source",
    "at",
    "error",
)

_name_argument = click.argument("name")


@click.command("status")
@_name_argument
@connection_options
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
            watch_run(store, name, interval=interval or WATCH_SECONDS, as_json=as_json)
        return
    with place.open() as store:
        news = news_of(store, name)
        best = answer_of(store, news.record, news.observations)
    region = region_of(news.record, news.observations)
    failed = [one for one in news.observations if one.failed]
    if as_json:
        print_json(
            record_facts(news.record)
            | {
                "pending": [pending_facts(one) for one in news.pending],
                "best": best_facts(best),
                "region": region and region_facts(region),
                "last_error": observation_facts(failed[-1]) if failed else None,
            }
        )
        return
    lines = [("state", _state(news.record))]
    if best is not None:
        lines.append(("best", describe_best(best, news.record)[0].removeprefix("Best: ")))
    if region is not None:
        lines.append(("region", describe_region(region)))
    lines += [("pending", _describe_pending(one)) for one in news.pending]
    if failed:
        last = failed[-1]
        lines.append(
            ("failed", f"{len(failed)}, the last at {shown(last.key)}: {shown(last.error)}")
        )
    lines += _settings(news)
    for title, text in lines:
        click.echo(f"{title:10} {text}")


def _state(record: RunRecord) -> str:
    warm = f", {record.warm} values known beforehand" if record.warm else ""
    return f"{record.state}, {evaluations_of(record)}{warm}"


def _describe_pending(one: Pending) -> str:
    asked = age(one.at)
    since = "" if asked is None else f" for {duration(asked)}"
    if one.lease_left is None:
        by = f"asked by hand{since}"
    elif one.lease_left < 0:
        by = f"left by {who(one)}: the next worker takes it over"
    else:
        by = f"with {who(one)}{since}"
    return f"{shown(one.key)} (step {one.step}), {by}"


def _settings(news: News) -> list[tuple[str, str]]:
    record = news.record
    goal = "maximize" if record.maximize else "minimize"
    objective = record.config["objective"] or "values that are told by hand"
    return [
        ("objective", f"{goal} {shown(objective)}"),
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
        records = store.runs.all()
    if as_json:
        print_json([record_facts(record) for record in records])
        return
    if not records:
        click.echo("There is no run in this database yet: start one with `graphbo run`.")
        return
    rows = [
        (
            shown(record.name),
            record.state,
            evaluations_of(record),
            number(record.best_value),
            shown(record.config["objective"] or "by hand"),
            str(record.view),
        )
        for record in records
    ]
    _print_table(("name", "state", "used", "best", "objective", "graph"), rows)


@click.command("best")
@_name_argument
@connection_options
@json_option
def best_command(
    name: str, uri: str | None, credentials: Path | None, database: str | None, as_json: bool
) -> None:
    """Print the answer of a run so far: its best node."""
    place = place_at(uri, credentials, database)
    with place.open() as store:
        news = news_of(store, name)
        best = answer_of(store, news.record, news.observations)
        if best is None:
            raise RunError(f"the run {name!r} has no value yet: {evaluations_of(news.record)}")
        properties = own_properties(store, news.record, best.key)
    if as_json:
        print_json(best_facts(best, properties))
        return
    for line in describe_best(best, news.record, properties):
        click.echo(line)
    click.echo(f"After {evaluations_of(news.record)}; the run is {news.record.state}.")


@click.command("history")
@_name_argument
@connection_options
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values.")
@json_option
def history_command(
    name: str,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Print everything that a run was told, in the order of telling."""
    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other")
    with place_at(uri, credentials, database).open() as store:
        news = news_of(store, name)
    if as_json:
        print_json([facts for _, facts in _with_best(news)])
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(_COLUMNS)
        writer.writerows([facts[column] for column in _COLUMNS] for _, facts in _with_best(news))
    elif news.observations:
        _print_history(news)
    else:
        click.echo(f"The run {name!r} was told nothing yet.")


def _with_best(news: News) -> Iterator[tuple[Observation, dict[str, Any]]]:
    """Each observation, as facts with the best value so far among them."""
    best: float | None = None
    for one in news.observations:
        if one.value is not None and news.record.beats(one.value, best):
            best = one.value
        yield one, observation_facts(one) | {"best": best}


def _print_history(news: News) -> None:
    rows = []
    for one, facts in _with_best(news):
        belief = "" if one.mean is None else f"{number(one.mean)} ± {number(one.std)}"
        rows.append(
            (
                "known" if one.source == "warm" else str(one.step),
                shown(one.key),
                "failed" if one.value is None else number(one.value),
                number(facts["best"]),
                belief,
                "" if one.acquisition is None else number(one.acquisition),
                str(one.restart + 1),
                (one.error and shown(one.error)) or one.phase,
            )
        )
    titles = ("step", "node", "value", "best", "expected", "acquisition", "region", "")
    _print_table(titles, rows)


def _print_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns with spaces between them; in a pipe nothing is cut off."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console()
    if not console.is_terminal:
        console.width = 10_000
    console.print(table)


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
        before = store.runs.get(name)
        if before.state == "running":
            store.runs.set_state(name, "stopped")
        news = news_of(store, name)
    if as_json:
        print_json(record_facts(news.record) | {"stopped": before.state == "running"})
        return
    if before.state != "running":
        click.echo(f"The run {name!r} was {before.state} already.")
        return
    busy = [one for one in news.pending if one.lease_left is not None and one.lease_left > 0]
    waiting = f" {len(busy)} being evaluated will still be told." if busy else ""
    click.echo(f"The run {name!r} is stopped, with {evaluations_of(news.record)}.{waiting}")
    click.echo(f"Next: {place.command('run', '--name', name)}")


@click.command("clean")
@_name_argument
@connection_options
@click.option("--yes", is_flag=True, help="Do not ask first.")
@json_option
def clean_command(
    name: str,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Remove every trace of a run from the database. The graph stays."""
    place = place_at(uri, credentials, database)
    with place.open() as store:
        news = news_of(store, name)
        if not yes:
            _confirm(place, news)
        store.runs.clean(name)
    facts = _removed(news)
    if as_json:
        print_json({"name": name, "cleaned": True, **facts})
    else:
        click.echo(f"Every trace of the run {name!r} is removed.")


def _removed(news: News) -> dict[str, Any]:
    record, prefix = news.record, news.record.prefix
    labels = written_labels(prefix).values() if record.labelled else ()
    return {
        "observations": len(news.observations),
        "pending": len(news.pending),
        "properties": [*written_properties(prefix).values(), *region_properties(prefix).values()],
        "labels": list(labels),
    }


def _confirm(place: Place, news: News) -> None:
    name = news.record.name
    if not sys.stdin.isatty():
        raise RunError(
            f"cleaning the run {name!r} removes {len(news.observations)} observations: add --yes to do so"
        )
    removed = _removed(news)
    click.echo(
        f"The run {name!r} has {evaluations_of(news.record)}. This removes from {place.address.uri}:"
    )
    click.echo(f"  {removed['observations']} observations and {removed['pending']} pending")
    click.echo(f"  node properties {', '.join(removed['properties'])}")
    if not click.confirm("Remove them?"):
        raise RunError("nothing was removed")
