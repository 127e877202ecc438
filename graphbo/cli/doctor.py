"""``graphbo doctor``: is this database, and this view of it, fit for a run?"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from graphbo.cli.advice import advised
from graphbo.cli.checks import Check, examine
from graphbo.cli.options import (
    connection_options,
    json_option,
    print_json,
    store_at,
    view_options,
    view_texts,
)
from graphbo.errors import GraphboError

__all__ = ["doctor_command"]


@click.command("doctor")
@connection_options
@view_options
@json_option
def doctor_command(
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Check the connection, the rights, the view and its key, and time them.

    Every line is a ✓, or says what to do. Nothing is written. Exit code 1 if anything is wrong.
    """
    graph = view_texts(options)
    view = graph.view() if graph.names_anything else None
    checks: list[Check] = []
    try:
        with store_at(uri, credentials, database) as store:
            for check in examine(store, view):
                checks.append(check)
                if not as_json:
                    _print(check)
    except GraphboError as error:
        # Not reaching the database is a finding too.
        if not as_json:
            raise
        checks.append(Check("server", False, advised(error)))
    ok = all(check.ok for check in checks)
    if as_json:
        print_json({"ok": ok, "checks": [asdict(check) for check in checks]})
    if not ok:
        raise SystemExit(1)


def _print(check: Check) -> None:
    if check.skipped:
        click.echo(f"– {check.detail}")
    elif check.ok:
        click.echo(f"{click.style('✓', fg='green')} {check.detail}")
    else:
        click.echo(f"{click.style('✗', fg='red')} {check.detail}: {check.advice}")
