"""The statement for edges of a run: whether this person agreed to run it here, see ``runs.hops``."""

import sys

import click

from graphbo.cli.as_printed import printable, shown
from graphbo.errors import RunError
from graphbo.runs.hops import agree_to_hop, is_agreed, refuse_foreign_hop
from graphbo.runs.records import RunRecord
from graphbo.stores import GraphStore

__all__ = ["allow_hop"]


def allow_hop(
    store: GraphStore, record: RunRecord | None, given: str | None, *, trust: bool = False
) -> None:
    """See that the statement of a run may be run here, before it is.

    Args:
        store: the database that the run is in.
        record: the run; None if there is none yet, so that whatever is run was given.
        given: the text that the person named.
        trust: whether they said yes to whatever there is.

    Raises:
        RunError: the database names it, and nobody here agreed to that.
    """
    if record is None or is_agreed(store, record.view):
        return
    if not trust and given != record.view.hop:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            refuse_foreign_hop(store, record)
        click.echo(f"The run {shown(record.name)!r} in the database has a statement:", err=True)
        for line in str(record.view.hop).splitlines():
            click.echo(f"  {printable(line) if line else ''}", err=True)
        if not click.confirm("Run it, now and whenever this database asks for it?", err=True):
            raise RunError("nothing was run")
    agree_to_hop(store, record.view)
