"""``graphbo tell``: the value of a node, or many from a file, are recorded; or what that would do is said."""

from collections.abc import Sequence
from pathlib import Path

import click

from graphbo.cli.advice import advised
from graphbo.cli.as_printed import (
    evaluations_of,
    number,
    observation_facts,
    printable,
    record_facts,
    run_of,
    shown,
)
from graphbo.cli.options import (
    NEGATIVE_NUMBERS,
    Place,
    connection_options,
    json_option,
    place_at,
    print_json,
    step_option,
)
from graphbo.errors import EvaluationFailed, GraphboError, ReportRefused, RunError
from graphbo.objectives.number import as_number, decimal_hint
from graphbo.runs import Run
from graphbo.runs.node_names import key_in
from graphbo.runs.records import RunRecord, Told
from graphbo.runs.telling import Report
from graphbo.runs.value_files import (
    Columns,
    Effect,
    Measured,
    preview,
    read_values,
    reports_of,
)
from graphbo.types.text import plural

__all__ = ["tell_command", "told_in_words"]


@click.command("tell", context_settings=NEGATIVE_NUMBERS)
@click.argument("name")
@click.argument("words", metavar="[KEY] [VALUE]", nargs=-1)
@step_option
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
@click.option("--node-column", metavar="NAME", help="What the column of nodes is called.")
@click.option("--value-column", metavar="NAME", help="What the column of values is called.")
@click.option("--note-column", metavar="NAME", help="What the column of notes is called.")
@click.option(
    "--dry-run", is_flag=True, help="Say what each line of the file would do, and do nothing."
)
@click.option("--note", metavar="TEXT", help="What else there is to say about it.")
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
    node_column: str | None,
    value_column: str | None,
    note_column: str | None,
    dry_run: bool,
    note: str | None,
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
    graphbo tell outbreak --from values.csv --dry-run
    graphbo tell outbreak --from survey.csv --node-column Person --value-column "Value (mg)"
    """
    named = {"node": node_column, "value": value_column, "note": note_column}
    given = {what: column for what, column in named.items() if column is not None}
    if file is not None:
        if words or step is not None or failed is not None or note is not None or (known and amend):
            raise click.UsageError(
                "--from goes with --amend or --known, --dry-run and the names of columns alone"
            )
        columns = Columns(**given)
        place = place_at(uri, credentials, database)
        if dry_run:
            _preview_file(place, name, file, columns, amend=amend, known=known, as_json=as_json)
        elif known:
            _tell_known_file(place, name, file, columns, as_json=as_json)
        else:
            _tell_file(place, name, file, columns, amend=amend, as_json=as_json)
        return
    if dry_run or given:
        raise click.UsageError("--dry-run and the names of columns are for --from")
    key_text, value = _parse(words, step, failed)
    if known and (step is not None or failed is not None or amend or note is not None):
        raise click.UsageError("--known goes with KEY and VALUE alone")
    place = place_at(uri, credentials, database)
    with place.open() as store:
        run = run_of(store, name)
        before = run.record
        key = None if key_text is None else key_in(run, key_text)
        if known and key is not None and value is not None:
            new = run.tell_known({key: value})
            text = (
                f"{shown(key)} = {number(value)} is known now"
                if new
                else f"The run knows {shown(key)} already: nothing changed"
            )
            outcome = "recorded" if new else "repeated"
            facts: dict[str, object] = {"outcome": outcome, "key": key, "value": value}
        else:
            told = run.tell(value, step=step, key=key, error=failed, amend=amend, note=note)
            text = told_in_words(told, before)
            facts = {"outcome": told.outcome, **observation_facts(told.observation)}
        record = run.record
    if as_json:
        print_json({"run": record_facts(record), **facts})
        return
    click.echo(f"{text}. {evaluations_of(record)}.")
    over = record.state == "finished"
    click.echo(f"Next: {place.command('best' if over else 'ask', name)}")


def _tell_file(
    place: Place, name: str, file: Path, columns: Columns, *, amend: bool, as_json: bool
) -> None:
    measured = read_values(file, columns)
    with place.open() as store:
        run = run_of(store, name)
        before = run.record
        reports = _reports(run, file, measured, amend=amend)
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
        click.echo(f"{told_in_words(one, before)}.")
        before = one.news.record
    click.echo(f"{evaluations_of(record)}.")
    over = record.state == "finished"
    click.echo(f"Next: {place.command('best' if over else 'ask', name)}")


def _tell_known_file(
    place: Place, name: str, file: Path, columns: Columns, *, as_json: bool
) -> None:
    """Of nodes that the run need not have asked for; there is nothing to know of those that failed."""
    measured = read_values(file, columns)
    with place.open() as store:
        run = run_of(store, name)
        reports = _reports(run, file, measured, amend=False)
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


def _reports(run: Run, file: Path, measured: Sequence[Measured], *, amend: bool) -> list[Report]:
    found = []
    for one, report in zip(measured, reports_of(run, measured, amend=amend), strict=True):
        if isinstance(report, GraphboError):
            raise RunError(_at(file, one, report))
        found.append(report)
    return found


def _at(file: Path, measured: Measured, error: GraphboError) -> str:
    return f"{file}, line {measured.line}: {advised(error)}; nothing was recorded"


def _preview_file(
    place: Place,
    name: str,
    file: Path,
    columns: Columns,
    *,
    amend: bool,
    known: bool,
    as_json: bool,
) -> None:
    """A line for each; exit code 1 if one of them is refused, as telling them would be."""
    measured = read_values(file, columns, strict=False)
    with place.open() as store:
        run = run_of(store, name)
        effects = preview(run, measured, amend=amend, known=known)
    refused = [one for one in effects if one.what == "refuse"]
    if as_json:
        print_json({"run": record_facts(run.record), "lines": list(map(_effect_facts, effects))})
    else:
        for one in effects:
            click.echo(f"Line {one.measured.line}: {_in_words(one)}")
    if refused:
        raise RunError(
            f"{plural(len(refused), 'line')} of {file} would be refused, and so the whole file; nothing was recorded"
        )
    if not as_json:
        again = [word for word, given in (("--amend", amend), ("--known", known)) if given]
        names = {"node": columns.node, "value": columns.value, "note": columns.note}
        for what, column in names.items():
            again += [f"--{what}-column", column] if column != what else []
        click.echo("Nothing was recorded.")
        click.echo(f"Next: {place.command('tell', name, '--from', file, *again)}")


def _in_words(effect: Effect) -> str:
    one = effect.measured
    if effect.error is not None:
        node = f"{shown(one.node)} " if one.node else ""
        return f"{node}is refused: {advised(effect.error)}"
    value = "" if one.value is None else f" = {number(one.value)}"
    note = f" ({shown(one.note)})" if one.note else ""
    return f"{shown(one.node)}{value} {effect.text}{note}"


def _effect_facts(effect: Effect) -> dict[str, object]:
    one = effect.measured
    return {
        "line": one.line,
        "node": one.node,
        "key": effect.key,
        "value": one.value,
        "note": one.note,
        "what": effect.what,
        "step": effect.step,
        "text": effect.text if effect.error is None else advised(effect.error),
    }


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
        hint = decimal_hint(text) or "; if there is none, say --failed WHY"
        raise RunError(f"{error}{hint}") from None


def told_in_words(told: Told, before: RunRecord) -> str:
    """What became of a value."""
    one = told.observation
    what = f"Step {one.step}: {shown(one.key)}"
    if told.outcome == "repeated":
        return f"{what} was told before; nothing changed"
    if one.value is None:
        return f"{what} failed ({printable(one.error)})"
    if told.in_use:
        names = ", ".join(map(shown, told.in_use))
        return f"{what} = {number(one.value)} is recorded; the node has {names} of its own and is as it was"
    best = ""
    if told.news.record.best_step == one.step:
        old = "" if before.best_value is None else f" (before: {number(before.best_value)})"
        best = f", the best so far{old}"
    verb = " now" if told.outcome == "amended" else ""
    return f"{what} = {number(one.value)}{verb}{best}"
