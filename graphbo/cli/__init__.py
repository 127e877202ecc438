"""The command line: ``graphbo COMMAND``. A GraphboError is one clear line and exit code 1.

A module for each command, or for a few that go together, imported when it is used::

    load, neo4j, doctor        a database, and a graph in it
    run, task_run, dry_run     a run from beginning to end
    by_hand, tell, collect     ask, release; values told, from files and from nodes
    left_alone, correct, retry exclude, include; retract, note; failures tried again
    why                        why a node
    runs, watch                status, runs, best, history, stop
    report, annotate, browser  seeing a run
    dashboard                  all runs in a browser
    clean                      removing one
    bench, tasks, cypher       comparisons, tasks, statements
    mcp, assistant             runs for an assistant

What they share::

    options, settings, objective, hop  options, and what becomes of them
    parameter_types               kinds of values that click does not have
    checks                        what doctor checks
    outcome, as_printed, lines    what is said of a run, and how
    captions                      what nodes are called in it
    output                        where it goes
    advice                        what to do about an error
    summaries                     what each command does, for the list of all
    run_progress, bench_progress  what is shown meanwhile
"""

import logging
import signal
import sys
from importlib import import_module

import click

from graphbo import __version__
from graphbo.cli.advice import AdvisingHandler, advised
from graphbo.cli.lines import as_line
from graphbo.cli.summaries import SUMMARIES
from graphbo.errors import GraphboError

__all__ = ["graphbo", "main"]

#: Where each command is found. Imported when it is used, so that `graphbo cypher` need not wait for the model.
COMMANDS = {
    "load": "graphbo.cli.load:load_command",
    "doctor": "graphbo.cli.doctor:doctor_command",
    "run": "graphbo.cli.run:run_command",
    "ask": "graphbo.cli.by_hand:ask_command",
    "tell": "graphbo.cli.tell:tell_command",
    "collect": "graphbo.cli.collect:collect_command",
    "release": "graphbo.cli.by_hand:release_command",
    "exclude": "graphbo.cli.left_alone:exclude_command",
    "include": "graphbo.cli.left_alone:include_command",
    "note": "graphbo.cli.correct:note_command",
    "retract": "graphbo.cli.correct:retract_command",
    "retry": "graphbo.cli.retry:retry_command",
    "why": "graphbo.cli.why:why_command",
    "status": "graphbo.cli.runs:status_command",
    "runs": "graphbo.cli.runs:runs_command",
    "best": "graphbo.cli.runs:best_command",
    "history": "graphbo.cli.runs:history_command",
    "report": "graphbo.cli.report:report_command",
    "plot": "graphbo.cli.report:plot_command",
    "annotate": "graphbo.cli.annotate:annotate_command",
    "browser": "graphbo.cli.browser:browser_command",
    "dashboard": "graphbo.cli.dashboard:dashboard_command",
    "stop": "graphbo.cli.runs:stop_command",
    "clean": "graphbo.cli.clean:clean_command",
    "bench": "graphbo.cli.bench:bench_command",
    "cypher": "graphbo.cli.cypher:cypher_command",
    "tasks": "graphbo.cli.tasks:tasks_command",
    "neo4j": "graphbo.cli.neo4j:neo4j_group",
    "mcp": "graphbo.cli.mcp:mcp_command",
}

#: What shells call a program that was ended by a signal.
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed, listed in the order of a first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All commands."""
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        cmd_name: str,
    ) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        """List the commands, and import none of them."""
        room = formatter.width - 6 - max(map(len, COMMANDS))
        rows = [
            (name, click.Command(name, help=SUMMARIES[name]).get_short_help_str(room))
            for name in COMMANDS
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="graphbo")
def graphbo() -> None:
    """Find the best node of a graph when judging a node is expensive.

    The graph stays in its database: Neo4j, or an embedded SQLite file for a first try.
    """


def _run() -> object:
    try:
        return graphbo.main(standalone_mode=False)
    except Exception as error:
        # A driver that is interrupted in the middle of an answer may fail while it tidies up after itself.
        if _began_with_interrupt(error):
            raise KeyboardInterrupt from error
        raise


def _began_with_interrupt(error: BaseException) -> bool:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, KeyboardInterrupt):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


class _Termination:
    """SIGTERM as if it were Ctrl-C: what stops services and containers is to leave as little behind."""

    def __init__(self) -> None:
        self.came = False

    def __enter__(self) -> "_Termination":
        self._before = signal.signal(signal.SIGTERM, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTERM, self._before)

    def _interrupt(self, *_: object) -> None:
        self.came = True
        raise KeyboardInterrupt


def main() -> None:
    """Run the command line; never ends with a traceback for something the user can mend."""
    # What it tries again by itself, the driver would report in many lines.
    logging.getLogger("neo4j").addHandler(logging.NullHandler())
    logging.getLogger("graphbo").handlers = [AdvisingHandler(logging.WARNING)]
    termination = _Termination()
    try:
        with termination:
            code = _run()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except GraphboError as error:
        click.echo(f"graphbo: {as_line(advised(error))}", err=True)
        code = 1
    except (click.Abort, KeyboardInterrupt):
        click.echo("graphbo: interrupted", err=True)
        code = TERMINATED if termination.came else INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe has gone, as `head` does; there is nobody left to tell.
        sys.stderr.close()
        code = 0
    sys.exit(code if isinstance(code, int) else 0)
