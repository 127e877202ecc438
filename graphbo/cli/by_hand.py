"""Measuring by hand, over days: ``ask`` names the next node, ``tell`` records its value, ``release`` takes it back.

Nothing runs in between; the database remembers.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from graphbo.cli.advice import advised
from graphbo.cli.as_printed import (
    called,
    caption_names,
    evaluations_of,
    hubs_skipped,
    json_ready,
    label_line,
    named,
    node_in,
    number,
    observation_facts,
    pending_facts,
    record_facts,
    run_of,
    shown,
    why_facts,
    with_caption,
)
from graphbo.cli.captions import captions_of
from graphbo.cli.options import (
    Place,
    connection_options,
    json_option,
    place_at,
    print_json,
)
from graphbo.cli.settings import Chosen, open_run, settings_options
from graphbo.errors import EvaluationFailed, GraphboError, NoSuchNode, ReportRefused, RunError
from graphbo.objectives.number import as_number
from graphbo.runs import Run, Why
from graphbo.runs.captions import Captions, labels_of
from graphbo.runs.records import RunRecord, Told
from graphbo.runs.registry import runs_in
from graphbo.runs.telling import Report
from graphbo.runs.value_files import Measured, read_values
from graphbo.types import LARGEST_INTEGER, Pending
from graphbo.types.text import plural

__all__ = ["ask_command", "release_command", "tell_command"]

#: Values like -0.5 are no options.
_NEGATIVE_NUMBERS = {"ignore_unknown_options": True}

_step_option = click.option(
    "--step",
    type=click.IntRange(-LARGEST_INTEGER, LARGEST_INTEGER),
    metavar="N",
    help="The step, instead of the node.",
)


@click.command("ask")
@click.argument("name")
@connection_options
@click.option("--another", is_flag=True, help="Name one more node than those that are waiting.")
@click.option(
    "--budget", type=click.IntRange(min=1), help="Most evaluations of the run.  [default: no limit]"
)
@settings_options
@json_option
def ask_command(
    name: str,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    another: bool,
    budget: int | None,
    warm_start: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Name the node to measure next.

    The answer stays the same until a value is told, or until --another asks for one more. A run
    of that name is started if there is none and --label and --rel say of what:

    \b
    graphbo ask outbreak --label Person --rel MET --start ann --reveal evaluated
    graphbo tell outbreak ann 0.25
    graphbo ask outbreak
    """
    place = place_at(uri, credentials, database)
    chosen = Chosen.from_options(options)
    with place.open() as store:
        before = runs_in(store).find(name)
        run = open_run(
            store, name, before, chosen, objective=None, budget=budget, warm_start=warm_start
        )
        run.refresh()
        waiting = [one for one in run.pending if one.lease_left is None]
        fresh = not waiting or another
        if fresh:
            waiting.append(_ask(run, place))
        properties = {one.key: run.properties(one.key) for one in waiting}
        captions = captions_of(store, run.record, chosen.caption)
        for key, found in properties.items():
            captions.take(key, found)
        reasons = {one.key: run.why(one.key) for one in waiting}
        captions.read(key for why in reasons.values() for key in caption_names(why))
        labels = labels_of(store, run.view, list(properties))
        skipped = run.graph.hubs if fresh else 0
        lines = hubs_skipped(run) if fresh else []
    if as_json:
        print_json(
            {
                "run": record_facts(run.record),
                "created": before is None,
                "new": fresh,
                "pending": [
                    with_caption(_facts(one, properties[one.key]), captions)
                    | ({"labels": labels[one.key]} if one.key in labels else {})
                    | {"why": why_facts(reasons[one.key], captions)}
                    for one in waiting
                ],
                "hubs_skipped": skipped,
            }
        )
        return
    if before is None:
        click.echo(f"The run {name!r} is started on {run.view}.", err=True)
    for line in lines:
        click.echo(line, err=True)
    if not fresh:
        click.echo("Asked before, and not told yet (--another asks for one more):", err=True)
    for one in waiting if not fresh else waiting[-1:]:
        _print(one, properties[one.key], run, captions, labels.get(one.key, []))
        click.echo(f"Why:     {_reason(reasons[one.key], captions)}")
    click.echo(f"Next: {place.command('tell', name, waiting[-1].key, 'VALUE')}")


def _ask(run: Run, place: Place) -> Pending:
    asked = run.ask(lease=None)
    if asked.pending is not None:
        return asked.pending
    name = run.name
    raise RunError(
        {
            "budget": f"the budget of the run {name!r} is used up ({evaluations_of(run.record)}): raise it with "
            f"`{place.command('ask', name, '--budget', 'N')}`",
            "exhausted": f"every node that the run {name!r} may look at has been measured",
            "waiting": f"every node that is left to the run {name!r} is being measured by others",
            "ended": f"the run {name!r} was stopped just now",
        }[asked.why_not]
    )


def _facts(one: Pending, properties: Mapping[str, object]) -> dict[str, object]:
    return pending_facts(one) | {
        "properties": {name: json_ready(value) for name, value in properties.items()}
    }


def _print(
    one: Pending,
    properties: Mapping[str, object],
    run: Run,
    captions: Captions,
    labels: list[str],
) -> None:
    click.echo(f"Measure: {named(one.key, captions)} (step {one.step})")
    if labels:
        click.echo(f"         {label_line(labels)}")
    for name, value in properties.items():
        if name != run.view.key:
            click.echo(f"         {shown(name)}: {shown(value)}")


def _reason(why: Why, captions: Captions) -> str:
    gain = "" if why.acquisition is None else f"; expected gain {number(why.acquisition)}"
    return f"{why.text(lambda key: called(key, captions))}{gain}"


@click.command("tell", context_settings=_NEGATIVE_NUMBERS)
@click.argument("name")
@click.argument("words", metavar="[KEY] [VALUE]", nargs=-1)
@_step_option
@click.option("--failed", metavar="WHY", help="There is no value, and this is why.")
@click.option("--amend", is_flag=True, help="Replace the value that was told before.")
@click.option(
    "--known", is_flag=True, help="It is a known value, from before the run: it costs no budget."
)
@click.option(
    "--from",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE.csv",
    help="Record many values, all or none: columns node, value and note. No value is a failure, and its note says why.",
)
@connection_options
@json_option
def tell_command(
    name: str,
    words: tuple[str, ...],
    step: int | None,
    failed: str | None,
    amend: bool,
    known: bool,
    file: Path | None,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Record the value of a node.

    \b
    graphbo tell outbreak ann 0.25
    graphbo tell outbreak --step 7 0.25
    graphbo tell outbreak ann --failed "moved away"
    graphbo tell outbreak --from values.csv
    """
    if file is not None:
        if words or step is not None or failed is not None or (known and amend):
            raise click.UsageError("--from goes with --amend or --known alone")
        place = place_at(uri, credentials, database)
        if known:
            _tell_known_file(place, name, file, as_json=as_json)
        else:
            _tell_file(place, name, file, amend=amend, as_json=as_json)
        return
    key_text, value = _parse(words, step, failed)
    if known and (step is not None or failed is not None or amend):
        raise click.UsageError("--known goes with KEY and VALUE alone")
    place = place_at(uri, credentials, database)
    with place.open() as store:
        run = run_of(store, name)
        before = run.record
        key = None if key_text is None else node_in(run, key_text)
        if known and key is not None and value is not None:
            new = run.tell_known({key: value})
            text = (
                f"{shown(key)} = {number(value)} is known now"
                if new
                else f"the run knows {shown(key)} already: nothing changed"
            )
            outcome = "recorded" if new else "repeated"
            facts: dict[str, object] = {"outcome": outcome, "key": key, "value": value}
        else:
            told = run.tell(value, step=step, key=key, error=failed, amend=amend)
            text = _describe(told, before)
            facts = {"outcome": told.outcome, **observation_facts(told.observation)}
        record = run.record
    if as_json:
        print_json({"run": record_facts(record), **facts})
        return
    click.echo(f"{text[:1].upper()}{text[1:]}. {evaluations_of(record)}.")
    over = record.state == "finished"
    click.echo(f"Next: {place.command('best' if over else 'ask', name)}")


def _tell_file(place: Place, name: str, file: Path, *, amend: bool, as_json: bool) -> None:
    measured = read_values(file)
    with place.open() as store:
        run = run_of(store, name)
        before = run.record
        reports = [_report(run, file, one, amend=amend) for one in measured]
        try:
            told = run.report_all(reports)
        except ReportRefused as error:
            raise RunError(_at(file, measured[error.position], error)) from None
        record = run.record
    if as_json:
        facts = [{"outcome": one.outcome, **observation_facts(one.observation)} for one in told]
        print_json({"run": record_facts(record), "told": facts})
        return
    for one in told:
        text = _describe(one, before)
        click.echo(f"{text[:1].upper()}{text[1:]}.")
        before = one.news.record
    click.echo(f"{evaluations_of(record)}.")
    over = record.state == "finished"
    click.echo(f"Next: {place.command('best' if over else 'ask', name)}")


def _tell_known_file(place: Place, name: str, file: Path, *, as_json: bool) -> None:
    """Of nodes that the run need not have asked for; there is nothing to know of those that failed."""
    with place.open() as store:
        run = run_of(store, name)
        reports = [_report(run, file, one, amend=False) for one in read_values(file)]
        values = {
            one.key: one.value for one in reports if one.key is not None and one.value is not None
        }
        count = run.tell_known(values)
        record = run.record
    if as_json:
        print_json({"run": record_facts(record), "known": len(values), "new": count})
        return
    click.echo(f"{plural(len(values), 'known value')} ({count:,} new to the run).")
    click.echo(f"Next: {place.command('ask', name)}")


def _report(run: Run, file: Path, measured: Measured, *, amend: bool) -> Report:
    try:
        key = node_in(run, measured.node)
    except NoSuchNode as error:
        raise RunError(_at(file, measured, error)) from None
    if measured.value is None:
        return Report(None, key=key, error=measured.note)
    return Report(measured.value, key=key, amend=amend, note=measured.note or None)


def _at(file: Path, measured: Measured, error: GraphboError) -> str:
    return f"{file}, line {measured.line}: {advised(error)}; nothing was recorded"


def _parse(
    words: tuple[str, ...], step: int | None, failed: str | None
) -> tuple[str | None, float | None]:
    """The key and the value, if there is to be one of each."""
    expected = ["KEY"] * (step is None) + ["VALUE"] * (failed is None)
    if len(words) != len(expected):
        given = " ".join(map(shown, words)) or "nothing"
        raise click.UsageError(f"expected {' and '.join(expected) or 'nothing'}, got {given}")
    values = dict(zip(expected, words, strict=True))
    return values.get("KEY"), _value(values["VALUE"]) if "VALUE" in values else None


def _value(text: str) -> float:
    try:
        return as_number(text)
    except EvaluationFailed as error:
        raise RunError(f"{error}; if there is none, say --failed WHY") from None


def _describe(told: Told, before: RunRecord) -> str:
    one = told.observation
    what = f"step {one.step}: {shown(one.key)}"
    if told.outcome == "repeated":
        return f"{what} was told before; nothing changed"
    if one.value is None:
        return f"{what} failed ({shown(one.error)})"
    if told.in_use:
        names = ", ".join(map(shown, told.in_use))
        return f"{what} = {number(one.value)} is recorded; the node has {names} of its own and is as it was"
    best = ""
    if told.news.record.best_step == one.step:
        old = "" if before.best_value is None else f" (before: {number(before.best_value)})"
        best = f", the best so far{old}"
    verb = " now" if told.outcome == "amended" else ""
    return f"{what} = {number(one.value)}{verb}{best}"


@click.command("release", context_settings=_NEGATIVE_NUMBERS)
@click.argument("name")
@click.argument("key", required=False)
@_step_option
@connection_options
@json_option
def release_command(
    name: str,
    key: str | None,
    step: int | None,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Give back a node that was asked for: it costs nothing and may be asked for again."""
    if (key is None) == (step is None):
        raise click.UsageError("expected KEY or --step N")
    place = place_at(uri, credentials, database)
    with place.open() as store:
        run = run_of(store, name)
        found = None if key is None else node_in(run, key)
        released = run.release(step=step, key=found)
    if as_json:
        print_json({"run": name, "released": pending_facts(released)})
    else:
        click.echo(f"Step {released.step}: {shown(released.key)} is released.")
