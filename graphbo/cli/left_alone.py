"""``graphbo exclude`` and ``include``: nodes that are not to be measured, and those that may be after all."""

import getpass
from collections.abc import Sequence
from pathlib import Path

import click

from graphbo.cli.as_printed import pending_facts, run_of, shown, who
from graphbo.cli.options import (
    NEGATIVE_NUMBERS,
    Place,
    connection_options,
    json_option,
    place_at,
    print_json,
)
from graphbo.runs import Run
from graphbo.runs.exclusions import Excluded
from graphbo.runs.node_names import keys_in
from graphbo.stores.subgraphs import refuse_unknown
from graphbo.types import NodeKey
from graphbo.types.text import plural, spellings

__all__ = ["exclude_command", "include_command"]

#: So many nodes are named one by one.
MOST_NAMED = 10

_where_option = click.option(
    "--where", metavar="FILTER", help="All nodes that fulfil this now, as in 'kind = \"school\"'."
)


@click.command("exclude", context_settings=NEGATIVE_NUMBERS)
@click.argument("name")
@click.argument("nodes", metavar="[NODE]...", nargs=-1)
@_where_option
@click.option("--reason", metavar="WHY", help="Why, for others who read it.")
@connection_options
@json_option
def exclude_command(
    name: str,
    nodes: tuple[str, ...],
    where: str | None,
    reason: str | None,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Leave nodes alone: they are never proposed, and stay part of the graph and of the model.

    It holds for all who work on the run, from their next node on. Without nodes it lists those that are excluded.

    \b
    graphbo exclude outbreak bob --reason "does not want to"
    graphbo exclude outbreak --where 'kind = "school"'
    graphbo exclude outbreak
    """
    if reason is not None and not nodes and where is None:
        raise click.UsageError("--reason goes with nodes, or with --where")
    place = place_at(uri, credentials, database)
    with place.open() as store:
        run = run_of(store, name)
        if not nodes and where is None:
            _list(run, as_json=as_json)
            return
        keys = _keys(run, nodes)
        done = run.exclude(keys, where=where, reason=reason, by=_person())
    if as_json:
        print_json(_facts(run, done))
        return
    _describe(run, done, place)


def _facts(run: Run, done: Excluded) -> dict[str, object]:
    return {
        "run": run.name,
        "excluded": list(done.keys),
        "released": [pending_facts(one) for one in done.released],
        "awaited": [pending_facts(one) for one in done.awaited],
        "excluded_in_all": len(run.excluded),
    }


def _describe(run: Run, done: Excluded, place: Place) -> None:
    if not done.keys:
        click.echo("All of that is excluded already: nothing changed.")
        return
    click.echo(f"Excluded: {_named(done.keys)}. {_in_all(run)}.")
    for one in done.released:
        click.echo(f"Step {one.step}: {shown(one.key)} is released; nobody need measure it.")
    for one in done.awaited:
        by = "is answered in the database" if one.lease_left is None else f"is with {who(one)}"
        click.echo(f"Step {one.step}: {shown(one.key)} {by}; that value is still recorded.")
    click.echo(f"Next: {place.command('ask', run.name)}")


def _in_all(run: Run) -> str:
    return f"{plural(len(run.excluded), 'node')} of the run {run.name!r} in all"


def _named(keys: Sequence[NodeKey]) -> str:
    some = ", ".join(map(shown, keys[:MOST_NAMED]))
    more = len(keys) - MOST_NAMED
    return f"{some} and {more:,} more" if more > 0 else some


def _list(run: Run, *, as_json: bool) -> None:
    if as_json:
        print_json([vars(one) for one in run.excluded])
        return
    if not run.excluded:
        click.echo(f"No node is excluded from the run {run.name!r}.")
        return
    for one in run.excluded:
        why = f": {shown(one.reason)}" if one.reason else ""
        when = one.at[:16].replace("T", " ")
        click.echo(f"{shown(one.key)}, by {shown(one.by)} on {when}{why}")


@click.command("include", context_settings=NEGATIVE_NUMBERS)
@click.argument("name")
@click.argument("nodes", metavar="[NODE]...", nargs=-1)
@_where_option
@click.option("--all", "everything", is_flag=True, help="All nodes that are excluded.")
@connection_options
@json_option
def include_command(
    name: str,
    nodes: tuple[str, ...],
    where: str | None,
    everything: bool,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Let nodes be proposed again that were excluded.

    \b
    graphbo include outbreak bob
    graphbo include outbreak --all
    """
    if bool(nodes) + (where is not None) + everything != 1:
        raise click.UsageError("expected NODE..., --where FILTER or --all")
    place = place_at(uri, credentials, database)
    with place.open() as store:
        run = run_of(store, name)
        excluded = [one.key for one in run.excluded]
        keys = excluded if everything else _keys(run, nodes)
        included = run.include(keys, where=where)
    if as_json:
        print_json({"run": name, "included": list(included), "excluded_in_all": len(run.excluded)})
        return
    if not included:
        click.echo("None of these was excluded: nothing changed.")
        return
    left = f"{plural(len(run.excluded), 'node')} of the run {name!r} stay excluded"
    click.echo(f"Included: {_named(included)}. {left if run.excluded else 'None is excluded now'}.")


def _keys(run: Run, nodes: Sequence[str]) -> list[NodeKey]:
    found = keys_in(run, nodes)
    missing = [spellings(text)[0] for text in nodes if text not in found]
    refuse_unknown(missing, (), run.view)
    return [found[text] for text in nodes]


def _person() -> str | None:
    """Who this is, by the name that the system has."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may have no name for a user
        return None
