"""``graphbo clean``: every trace of a run is removed, or what an earlier clean has left behind."""

import contextlib
import sys
from collections import Counter
from pathlib import Path

import click

from graphbo.cli.as_printed import shown
from graphbo.cli.options import Place, connection_options, json_option, place_at, print_json
from graphbo.errors import NoSuchRun, RunError
from graphbo.runs.records import RunRecord, UnreadableRun
from graphbo.runs.registry import runs_in
from graphbo.stores import GraphStore
from graphbo.stores.log import Found
from graphbo.types.text import plural

__all__ = ["clean_command"]

#: How many strays are listed one by one.
MOST_LISTED = 20


@click.command("clean")
@click.argument("name", required=False)
@connection_options
@click.option("--all", "every", is_flag=True, help="Instead of a run: all runs of the database.")
@click.option(
    "--orphans",
    is_flag=True,
    help="Instead of a run: what is left on nodes of a run that is not there any more. Needs --prefix.",
)
@click.option("--prefix", metavar="PREFIX", help="Whose names to look for, with --orphans.")
@click.option(
    "--scan",
    is_flag=True,
    help="With --orphans: look at every node, for what was written without labels.",
)
@click.option("--yes", is_flag=True, help="Do not ask first.")
@json_option
def clean_command(
    name: str | None,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    every: bool,
    orphans: bool,
    prefix: str | None,
    scan: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Remove every trace of a run from the database. The graph stays.

    \b
    graphbo clean delays
    graphbo clean --all
    graphbo clean --orphans --prefix graphbo

    Workers that are at it learn that the run is gone. What nodes have of their own stays, whatever it is called.
    """
    one_of = [name is not None, every, orphans].count(True) == 1
    if orphans != (prefix is not None) or not one_of or (scan and not orphans):
        raise click.UsageError("expected NAME, --all, or --orphans with --prefix PREFIX [--scan]")
    place = place_at(uri, credentials, database)
    with place.open() as store:
        if prefix is not None:
            _clean_orphans(store, place, prefix, scan=scan, yes=yes, as_json=as_json)
        elif name is not None:
            _clean_run(store, place, name, yes=yes, as_json=as_json)
        else:
            _clean_all(store, place, yes=yes, as_json=as_json)


def _clean_run(store: GraphStore, place: Place, name: str, *, yes: bool, as_json: bool) -> None:
    found = [one for one in runs_in(store).listed() if one.name == name]
    if not found:
        runs_in(store).clean(name)  # raises, and says which runs there are
    if not yes:
        _confirm(
            f"The run {name!r} {_described(found[0])} in {place.address.public}.", f"run {name!r}"
        )
    cleaned = runs_in(store).clean(name)
    if as_json:
        print_json({"name": name, "cleaned": True, **vars(cleaned)})
    else:
        click.echo(f"Every trace of the run {name!r} is removed.")


def _clean_all(store: GraphStore, place: Place, *, yes: bool, as_json: bool) -> None:
    found = runs_in(store).listed()
    if found and not yes:
        _confirm(
            "\n".join(f"The run {one.name!r} {_described(one)}" for one in found)
            + f" in {place.address.public}.",
            plural(len(found), "run"),
            them="them all",
        )
    gone = []
    for one in found:
        # Somebody else may have removed it meanwhile.
        with contextlib.suppress(NoSuchRun):
            gone.append({"name": one.name, "cleaned": True, **vars(runs_in(store).clean(one.name))})
            if not as_json:
                click.echo(f"Every trace of the run {one.name!r} is removed.")
    if as_json:
        print_json(gone)
    elif not found:
        click.echo("There is no run in this database.")


def _described(run: RunRecord | UnreadableRun) -> str:
    if isinstance(run, UnreadableRun):
        return f"cannot be read ({run.reason}), and what it has is"
    return (
        f"has {plural(run.told + run.failed + run.warm, 'observation')}, {run.pending} pending, and properties of "
        f"the prefix {run.prefix!r} on nodes,"
    )


def _clean_orphans(
    store: GraphStore, place: Place, prefix: str, *, scan: bool, yes: bool, as_json: bool
) -> None:
    strays = runs_in(store).strays(prefix, scan=scan)
    facts = {"prefix": prefix, "nodes": len(strays), "scanned": scan}
    if not strays:
        if as_json:
            print_json(facts | {"cleaned": False})
            return
        unseen = "" if scan else "; what was written without labels is found with --scan"
        click.echo(f"Nothing of the prefix {prefix!r} is left on any node{unseen}.")
        return
    listing = _listing(strays, prefix)
    if not as_json:
        for line in listing:
            click.echo(line)
        if scan:
            click.echo(
                "Properties are found by their names alone: look whether any of them are your own."
            )
    if not yes:
        _confirm(
            f"Something of the prefix {prefix!r} is on {plural(len(strays), 'node')} in {place.address.public}; no run "
            "says that graphbo wrote it.",
            f"prefix {prefix!r}",
        )
    runs_in(store).remove_strays(prefix, strays)
    if as_json:
        print_json(facts | {"cleaned": True})
    else:
        click.echo(
            f"What was left of the prefix {prefix!r} is removed from {plural(len(strays), 'node')}."
        )


def _listing(strays: list[Found], prefix: str) -> list[str]:
    """The first nodes, and how often each name occurs."""
    start = prefix[:1].upper() + prefix[1:]
    ours = {
        one.id: [name for name in sorted(one.held) if name.startswith((prefix, start))]
        for one in strays
    }
    lines = [
        f"  (:{':'.join(map(shown, one.labels))}) {one.id}: {', '.join(map(shown, ours[one.id]))}"
        for one in strays[:MOST_LISTED]
    ]
    if len(strays) > MOST_LISTED:
        counts = Counter(name for names in ours.values() for name in names)
        lines.append(f"  and {len(strays) - MOST_LISTED:,} more; in all:")
        lines += [f"  {count:>9,} {shown(name)}" for name, count in sorted(counts.items())]
    return lines


def _confirm(what: str, short: str, them: str = "it") -> None:
    if not sys.stdin.isatty():
        raise RunError(
            f"cleaning the {short} removes what cannot be brought back: add --yes to do so"
        )
    click.echo(what)
    if not click.confirm(f"Remove {them}?"):
        raise RunError("nothing was removed")
