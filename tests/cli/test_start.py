"""How commands begin: quickly, as they import no more than they need."""

import click
import pytest

from graphbo.cli import COMMANDS, graphbo
from graphbo.cli.summaries import SUMMARIES
from tests.test_imports import imported_by


def test_every_command_is_listed_with_what_its_own_help_begins_with() -> None:
    context = click.Context(graphbo)
    own = {name: graphbo.get_command(context, name) for name in COMMANDS}
    assert {
        name: command.get_short_help_str(1000) for name, command in own.items() if command
    } == SUMMARIES


def test_the_list_of_commands_is_that_of_click() -> None:
    context = click.Context(graphbo)
    ours, theirs = click.HelpFormatter(width=80), click.HelpFormatter(width=80)
    graphbo.format_commands(context, ours)
    click.Group.format_commands(graphbo, context, theirs)
    assert ours.getvalue() == theirs.getvalue()


@pytest.mark.parametrize("words", [["--help"], ["--version"], []], ids=str)
def test_help_imports_no_command(words: list[str]) -> None:
    found = imported_by(
        "import contextlib, io\n"
        "from graphbo.cli import graphbo\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):\n"
        f"    graphbo.main({words!r}, standalone_mode=False)"
    )
    assert not {"numpy", "rich", "neo4j", "sqlite3", "asyncio"} & found
    assert {name for name in found if name.startswith("graphbo")} == {
        "graphbo",
        "graphbo.cli",
        "graphbo.cli.advice",
        "graphbo.cli.lines",
        "graphbo.cli.summaries",
        "graphbo.errors",
    }
