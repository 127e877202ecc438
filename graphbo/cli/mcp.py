"""``graphbo mcp``: runs for an assistant that speaks the Model Context Protocol."""

from importlib.util import find_spec
from pathlib import Path

import click

from graphbo.cli.options import connection_options, place_at
from graphbo.errors import GraphboError

__all__ = ["mcp_command"]


@click.command("mcp")
@connection_options
@click.option(
    "--allow-tell",
    is_flag=True,
    help="Let the assistant ask for nodes and tell values.  [default: it may only look]",
)
def mcp_command(
    uri: str | None, credentials: Path | None, database: str | None, allow_tell: bool
) -> None:
    """Serve the runs of a database to an assistant, over standard input and output.

    The assistant can list runs, see how they stand, explain a node and read the report. With --allow-tell it can
    also ask which node to measure next and record its value; which node that is, graphbo decides. Put the command
    into the assistant's list of MCP servers:

    \b
    {"mcpServers": {"graphbo": {"command": "graphbo", "args": ["mcp", "--uri", "sqlite:graph.db"]}}}
    """
    if find_spec("mcp") is None:
        raise GraphboError(
            "an assistant needs the Python package 'mcp': pip install 'graphbo[mcp]'"
        )
    from graphbo.cli.assistant import server_for  # noqa: PLC0415 - an extra

    place = place_at(uri, credentials, database)
    # Whether there is a database at all is found out now: an assistant could only repeat that there is none.
    with place.open() as store:
        store.ping()
    server_for(place, allow_tell=allow_tell).run("stdio")
