"""``graphbo dashboard``: all runs of a database in a browser."""

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graphbo.cli.checks import examine
from graphbo.cli.options import connection_options, place_at
from graphbo.errors import GraphboError

if TYPE_CHECKING:
    from graphbo.dashboard import Visitors

__all__ = ["dashboard_command"]

LOOPBACK, PORT = "127.0.0.1", 8765


@click.command("dashboard")
@connection_options
@click.option("--host", default=LOOPBACK, show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=PORT,
    show_default=True,
    help="0 takes any that is free.",
)
@click.option(
    "--public-url",
    metavar="URL",
    default="",
    help="What people type where a proxy is in front, as in https://lab.example.org.",
)
@click.option("--read-only", is_flag=True, help="Change nothing: for those who only look.")
@click.option("--open", "opens", is_flag=True, help="Open the page in this machine's browser.")
def dashboard_command(
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    host: str,
    port: int,
    public_url: str,
    read_only: bool,
    opens: bool,
) -> None:
    """Show all runs in a browser, and take what people measure there.

    It prints an address with a token in it: whoever has it may use the page, and nobody else. The page never runs an
    objective: programs are started in terminals. Ctrl-C ends it; nothing that was confirmed is lost.
    """
    try:
        # An extra, and what else it needs takes a second to import.
        from graphbo.dashboard import Visitors, public_address, serve  # noqa: PLC0415
        from graphbo.dashboard.serving import listening  # noqa: PLC0415
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio"):
            raise
        raise GraphboError(
            "the dashboard needs starlette and uvicorn: pip install 'graphbo[dashboard]'"
        ) from None
    address = public_address(public_url) if public_url else ""
    place = place_at(uri, credentials, database)
    with place.open() as store:
        access = store.access
        store.names()
    if access is None:
        raise GraphboError("a database in memory is this process's alone: name a file or a server")
    opened = listening(host, port)
    visitors = Visitors(host, opened.getsockname()[1], address, read_only)

    def started() -> None:
        _say(visitors)
        if opens:
            webbrowser.open(visitors.url)

    try:
        serve(access, opened, visitors, examine, started)
    except KeyboardInterrupt:
        click.echo("The dashboard has ended.", err=True)
    finally:
        opened.close()


def _say(visitors: "Visitors") -> None:
    from graphbo.dashboard import is_loopback  # noqa: PLC0415 - an extra

    if not is_loopback(visitors.host) and not visitors.address.startswith("https:"):
        click.echo(
            "Warning: HTTP is not encrypted. Whoever sees this machine's traffic can read the token and everything "
            "else. Put a proxy with HTTPS in front, and name it with --public-url (docs/guide/dashboard.md).",
            err=True,
        )
    click.echo("Whoever has this address may use the page; Ctrl-C ends it.", err=True)
    click.echo(visitors.url)
