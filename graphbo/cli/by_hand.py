"""Measuring by hand, over days: ``ask`` names the next node, ``release`` takes it back.

Nothing runs in between; the database remembers.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from graphbo.cli.as_printed import (
    called,
    caption_names,
    evaluations_of,
    hubs_skipped,
    json_ready,
    label_line,
    named,
    pending_facts,
    record_facts,
    run_of,
    shown,
    why_facts,
    with_caption,
)
from graphbo.cli.captions import captions_of
from graphbo.cli.options import (
    NEGATIVE_NUMBERS,
    Place,
    connection_options,
    json_option,
    place_at,
    print_json,
    step_option,
)
from graphbo.cli.settings import Chosen, open_run, settings_options
from graphbo.errors import RunError
from graphbo.runs import Run, Why
from graphbo.runs.captions import Captions, labels_of
from graphbo.runs.costs import spending_of
from graphbo.runs.node_names import key_in
from graphbo.runs.registry import runs_in
from graphbo.types import Pending
from graphbo.types.text import number, plural

__all__ = ["ask_command", "release_command"]


@click.command("ask")
@click.argument("name")
@connection_options
@click.option("--another", is_flag=True, help="Name one more node than those that are waiting.")
@click.option(
    "--count",
    type=click.IntRange(min=1),
    metavar="N",
    help="Have N nodes waiting; with --another, N more than there are.  [default: 1]",
)
@click.option("--node", "wanted", metavar="KEY", help="Name this node, whatever is proposed.")
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
    count: int | None,
    wanted: str | None,
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
    graphbo ask outbreak --count 5
    graphbo ask outbreak --node bob
    """
    if wanted is not None and (another or count is not None):
        raise click.UsageError("--node goes without --another and --count")
    place = place_at(uri, credentials, database)
    chosen = Chosen.from_options(options)
    with place.open() as store:
        before = runs_in(store).find(name)
        run = open_run(
            store, name, before, chosen, objective=None, budget=budget, warm_start=warm_start
        )
        run.collect()
        waiting = [one for one in run.pending if one.lease_left is None]
        if wanted is not None:
            new = [run.ask_for(key_in(run, wanted))]
        else:
            missing = (count or 1) - (0 if another else len(waiting))
            new = _ask(run, place, missing) if missing > 0 else []
        fresh = bool(new)
        waiting += new
        properties = run.properties_of([one.key for one in waiting])
        captions = captions_of(store, run.record, chosen.caption)
        for key, found in properties.items():
            captions.take(key, found)
        reasons = {one.key: run.why(one.key) for one in waiting}
        captions.read(key for why in reasons.values() for key in caption_names(why))
        run.explain([one.step for one in waiting if one.why is None])
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
    elif count and len(new) < missing:
        click.echo(f"No more than {plural(len(new), 'node')} can be asked for now.", err=True)
    for one in new or waiting:
        _print(one, properties[one.key], run, captions, labels.get(one.key, []))
        click.echo(f"Why:     {_reason(reasons[one.key], captions)}")
    click.echo(f"Next: {place.command('tell', name, waiting[-1].key, 'VALUE')}")


def _ask(run: Run, place: Place, count: int) -> list[Pending]:
    asked = run.ask_many(count)
    if asked.pending:
        return list(asked.pending)
    name = run.name
    raise RunError(
        {
            "budget": f"the budget of the run {name!r} is used up ({evaluations_of(run.record)}): raise it with "
            f"`{place.command('ask', name, '--budget', 'N')}`",
            "unaffordable": f"what is left to spend by the run {name!r} pays for no node that was looked at "
            f"({evaluations_of(run.record)}): raise it with `{place.command('ask', name, '--budget-cost', 'X')}`",
            "exhausted": f"every node that the run {name!r} may look at has been measured or is excluded",
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
    if one.cost is not None:
        click.echo(f"Cost:    {number(one.cost)} ({spending_of(run.record)})")
    if one.note:
        click.echo(f"Note:    {shown(one.note)}")


def _reason(why: Why, captions: Captions) -> str:
    gain = "" if why.acquisition is None else f"; expected gain {why.acquisition:.3g}"
    return f"{why.text(lambda key: called(key, captions))}{gain}"


@click.command("release", context_settings=NEGATIVE_NUMBERS)
@click.argument("name")
@click.argument("key", required=False)
@step_option
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
        found = None if key is None else key_in(run, key)
        released = run.release(step=step, key=found)
    if as_json:
        print_json({"run": name, "released": pending_facts(released)})
    else:
        click.echo(f"Step {released.step}: {shown(released.key)} is released.")
