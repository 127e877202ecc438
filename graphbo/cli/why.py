"""``graphbo why``: why a node is to be measured, or was, in a sentence and in numbers that add up."""

from collections.abc import Sequence
from pathlib import Path

import click

from graphbo.cli.as_printed import (
    called,
    caption_names,
    named,
    number,
    run_of,
    shown,
    why_facts,
)
from graphbo.cli.captions import caption_option, captions_of
from graphbo.cli.options import connection_options, json_option, place_at, print_json
from graphbo.cli.output import print_table
from graphbo.runs import Part, Why
from graphbo.runs.captions import Captions
from graphbo.runs.node_names import key_in
from graphbo.types.text import plural

__all__ = ["why_command"]

#: Of so many nodes the table says what each adds; of the others what they add together.
MOST_NODES = 8

_STANDINGS = {
    "next": "would be proposed next",
    "pending": "is being measured",
    "measured": "was measured",
    "failed": "was tried and has no value",
    "known": "has a known value",
    "excluded": "is excluded, and never proposed",
    "open": "has not been asked for",
}


@click.command("why", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("node", required=False)
@connection_options
@caption_option
@json_option
def why_command(
    name: str,
    node: str | None,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    caption: str | None,
    as_json: bool,
) -> None:
    """Say why a node is to be measured: what speaks for it, and how much.

    Without NODE it is the one that was asked for last, or else the one that would be proposed next. A measured node is
    explained by what was known before it was measured, any other by what is known now. The parts add up to what the
    model expects.

    \b
    graphbo why outbreak
    graphbo why outbreak ann
    """
    place = place_at(uri, credentials, database)
    with place.open() as store:
        run = run_of(store, name)
        why = run.why(None if node is None else key_in(run, node))
        captions = captions_of(store, run.record, caption)
        captions.read(caption_names(why))
    if as_json:
        print_json({"run": name, **why_facts(why, captions)})
        return
    step = "" if why.step is None else f", step {why.step},"
    click.echo(f"{named(why.key, captions)}{step} {_STANDINGS[why.standing]}.")
    click.echo(f"{why.text(lambda key: called(key, captions))}.")
    click.echo("".join(f"{line}\n" for line in _numbers(why)), nl=False)
    if why.parts:
        print_table(("part", "value", "adds"), _rows(why, captions))


def _numbers(why: Why) -> list[str]:
    """What else there is to know of its chances."""
    found = []
    if why.standing in ("measured", "failed") and why.mean is not None:
        came = "no value" if why.value is None else number(why.value)
        found.append(f"What came: {came}.")
    if why.place is not None:
        gain = "" if why.acquisition is None else f", expected gain {why.acquisition:.3g}"
        gain += "" if why.cost is None else f" at a cost of {number(why.cost)}"
        found.append(
            f"Place {why.place:,} among {plural(why.candidates, 'candidate')} of the region{gain}"
            f"; the best so far had {number(why.best)}."
        )
    return found


def _rows(why: Why, captions: Captions) -> Sequence[tuple[str, str, str]]:
    """A line for each part, and the sum of them."""
    level = [one for one in why.parts if one.kind == "level"]
    nodes = [one for one in why.parts if one.kind == "node"]
    features = [one for one in why.parts if one.kind == "feature"]
    digits = why.digits + 1
    rows = [("usual here", "", number(round(one.amount, digits))) for one in level]
    rows += [_row(named(one.key or "", captions), one, digits) for one in nodes[:MOST_NODES]]
    rest = nodes[MOST_NODES:]
    if rest:
        together = sum(one.amount for one in rest)
        rows.append((plural(len(rest), "more node"), "", _signed(together, digits)))
    rows += [_row(shown(one.name), one, digits) for one in features]
    return [*rows, ("expected", "", number(round(why.mean or 0.0, digits)))]


def _row(title: str, part: Part, digits: int) -> tuple[str, str, str]:
    if part.value is None and part.kind == "node":
        value = "being measured"
    else:
        value = number(part.value) if isinstance(part.value, float) else shown(part.value)
    return title, value, _signed(part.amount, digits)


def _signed(amount: float, digits: int) -> str:
    # Zero has no sign, whatever it was rounded from.
    shown_amount = round(amount, digits) or 0.0
    return f"{'+' if shown_amount > 0 else ''}{number(shown_amount)}"
