"""``graphbo tasks``: the problems with a known answer."""

import inspect
import math

import click

from graphbo.bench.tasks import TASKS, Parameter, Task
from graphbo.cli.options import json_option, print_json
from graphbo.errors import TaskError

__all__ = ["tasks_command"]


@click.command("tasks")
@click.argument("name", required=False)
@json_option
def tasks_command(name: str | None, as_json: bool) -> None:
    """List the tasks: graphs and functions on them whose best node is known.

    With NAME, say all about one. `graphbo run --task NAME` works on it, and
    `graphbo load task:NAME` puts its graph into the database.
    """
    if name is not None and name not in TASKS:
        raise TaskError(f"there is no task {name[:60]!r}: expected one of {', '.join(TASKS)}")
    if as_json:
        print_json(
            [_facts(task) for task in TASKS.values()] if name is None else _facts(TASKS[name])
        )
    elif name is None:
        for task in TASKS.values():
            click.echo(f"{task.name:14}{_description(task)[0]}")
            click.echo(f"{'':14}{', '.join(_short(one) for one in task.parameters().values())}")
        click.echo("More about one: graphbo tasks NAME")
    else:
        _describe(TASKS[name])


def _description(task: type[Task]) -> list[str]:
    """Its paragraphs, each in one line."""
    paragraphs = (inspect.getdoc(task) or "").split("\n\n")
    return [" ".join(paragraph.split()).replace("``", "") for paragraph in paragraphs]


def _short(parameter: Parameter) -> str:
    words = list(dict.fromkeys([parameter.show(parameter.default), *parameter.choices]))
    return f"{parameter.name}={'|'.join(words)}"


def _describe(task: type[Task]) -> None:
    summary, *rest = _description(task)
    click.echo(f"{task.name}: {summary}")
    for paragraph in rest:
        click.echo()
        click.echo(click.wrap_text(paragraph, width=78))
    click.echo("\nParameters:")
    for one in task.parameters().values():
        default = one.show(one.default)
        click.echo(f"  {f'{one.name}={default}':22}{one.help}; {one.expected}")
    first = next(iter(task.parameters().values()))
    example = f"{task.name}:{first.name}={first.show(first.default)}"
    click.echo(f"\nTry: graphbo run --task {example} --seed 1")


def _facts(task: type[Task]) -> dict[str, object]:
    summary, *rest = _description(task)
    return {
        "name": task.name,
        "summary": summary,
        "description": rest,
        "parameters": [_parameter_facts(one) for one in task.parameters().values()],
    }


def _parameter_facts(one: Parameter) -> dict[str, object]:
    ends = (one.within.least, one.within.most)
    least, most = (end if math.isfinite(end) else None for end in ends)
    return {
        "name": one.name,
        "help": one.help,
        "default": one.default,
        "choices": list(one.choices),
        "number": None if one.number is None else one.number.__name__,
        "least": least if one.number else None,
        "most": most if one.number else None,
    }
