"""``graphbo retry``: failures are given back for another try."""

from pathlib import Path

import click

from graphbo.cli.as_printed import (
    evaluations_of,
    observation_facts,
    record_facts,
    run_again,
    run_of,
    shown,
)
from graphbo.cli.options import connection_options, json_option, place_at, print_json
from graphbo.runs.node_names import key_in

__all__ = ["retry_command"]


@click.command("retry", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("keys", metavar="[NODE]...", nargs=-1)
@connection_options
@json_option
def retry_command(
    name: str,
    keys: tuple[str, ...],
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Give failures back for another try: those of these nodes, or all of a run.

    They count no more, neither as failures nor towards the budget; `graphbo history` still shows them. A failure whose
    value is known by now is replaced with `graphbo tell`.

    \b
    graphbo retry delays
    graphbo retry delays 17 42
    """
    place = place_at(uri, credentials, database)
    with place.open() as store:
        run = run_of(store, name)
        failed = {str(one.key): one.key for one in run.history if one.failed}
        wanted = [failed[text] if text in failed else key_in(run, text) for text in keys]
        given_back = run.retry(wanted or None)
        record = run.record
    if as_json:
        facts = [observation_facts(one) for one in given_back]
        print_json({"run": record_facts(record), "given_back": facts})
        return
    if not given_back:
        click.echo(f"Nothing has failed in the run {name!r}.")
        return
    some = ", ".join(shown(one.key) for one in given_back[:5])
    more = f" and {len(given_back) - 5:,} more" if len(given_back) > 5 else ""
    click.echo(f"Given back: {some}{more}. {evaluations_of(record)}.")
    by_hand = record.config.get("objective") is None
    again = place.command("ask", name) if by_hand else run_again(place, record)
    click.echo(f"Next: {again}")
