"""``graphbo retract`` and ``note``: a value that was told for the wrong node, and what else there is to say."""

from pathlib import Path

import click

from graphbo.cli.as_printed import (
    evaluations_of,
    number,
    observation_facts,
    record_facts,
    run_of,
    shown,
)
from graphbo.cli.options import (
    NEGATIVE_NUMBERS,
    connection_options,
    json_option,
    place_at,
    print_json,
    step_option,
)
from graphbo.runs.node_names import key_in
from graphbo.types import Observation, Pending

__all__ = ["note_command", "retract_command"]


@click.command("retract", context_settings=NEGATIVE_NUMBERS)
@click.argument("name")
@click.argument("key", metavar="[NODE]", required=False)
@step_option
@click.option("--reason", metavar="WHY", help="Why; the history shows it.")
@connection_options
@json_option
def retract_command(
    name: str,
    key: str | None,
    step: int | None,
    reason: str | None,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Take back a value that was told for the wrong node.

    It counts no more and costs no budget, the node may be asked for again, and the history still shows it. A value that
    is wrong for the right node is replaced with `graphbo tell --amend`, a failure is given back with `graphbo retry`.

    \b
    graphbo retract outbreak bob --reason "it was rob"
    graphbo retract outbreak --step 7
    """
    if (key is None) == (step is None):
        raise click.UsageError("expected NODE or --step N")
    place = place_at(uri, credentials, database)
    with place.open() as store:
        run = run_of(store, name)
        found = None if key is None else key_in(run, key)
        retracted = run.retract(step=step, key=found, reason=reason)
        record = run.record
    if as_json:
        print_json({"run": record_facts(record), "retracted": observation_facts(retracted)})
        return
    value = number(retracted.value)
    click.echo(
        f"Retracted: {shown(retracted.key)} = {value} (step {retracted.step}). {evaluations_of(record)}."
    )
    click.echo(f"Next: {place.command('ask', name, '--node', retracted.key)}")


@click.command("note", context_settings=NEGATIVE_NUMBERS)
@click.argument("name")
@click.argument("words", metavar="[NODE] TEXT", nargs=-1)
@step_option
@connection_options
@json_option
def note_command(
    name: str,
    words: tuple[str, ...],
    step: int | None,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Note something about a node that waits, or that was told, in place of what was noted before.

    An empty text takes the note off again.

    \b
    graphbo note outbreak bob "ring twice"
    graphbo note outbreak --step 7 ""
    """
    if len(words) != 1 + (step is None):
        raise click.UsageError(
            "expected NODE and TEXT, or --step N and TEXT; a text goes into quotes"
        )
    place = place_at(uri, credentials, database)
    text = words[-1].strip()
    with place.open() as store:
        run = run_of(store, name)
        key = key_in(run, words[0]) if step is None else None
        run.note(text or None, step=step, key=key)
        known: list[Pending | Observation] = [*run.pending, *run.history]
        one = next(one for one in known if step in (None, one.step) and key in (None, one.key))
    if as_json:
        print_json({"run": name, "step": one.step, "key": one.key, "note": text or None})
        return
    noted = f"is noted: {shown(text)}" if text else "has no note any more"
    click.echo(f"Step {one.step}: {shown(one.key)} {noted}")
