"""``graphbo cypher``: the statements that graphbo sends, ready to paste into Neo4j Browser."""

from typing import Any

import click

from graphbo.cli.options import json_option, parse_key, print_json, view_options, view_texts
from graphbo.stores.neo4j.statements import Statement, statement, statement_names
from graphbo.stores.seeded_order import SeededOrder
from graphbo.types import NodeKey, View

__all__ = ["cypher_command"]


@click.command("cypher")
@click.argument("name", required=False)
@click.option(
    "--node", "nodes", metavar="KEY", multiple=True, help="A key to fill in; may be repeated."
)
@view_options
@json_option
def cypher_command(
    name: str | None,
    nodes: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Print a statement as it runs on a view, or list them all.

    \b
    graphbo cypher
    graphbo cypher ego_networks --label Station --rel LINK --key id --node 42
    """
    if name is None:
        _list(as_json)
        return
    wanted = statement(name)
    view = view_texts(options).view() if wanted.needs_view else None
    values = _example_values([parse_key(node) for node in nodes] or ["KEY"], view)
    # The key is made unique label by label.
    views = _one_label_each(view) if name == "create_key" and view else [view]
    if as_json:
        shown = {parameter: values.get(parameter) for parameter in wanted.parameters}
        text = ";\n".join(wanted.text(one) for one in views)
        print_json(_describe(wanted) | {"text": text, "parameters": shown})
        return
    click.echo(wanted.for_browser(views[0], values))
    for one in views[1:]:
        click.echo(f"{wanted.text(one)};")


def _one_label_each(view: View) -> list[View | None]:
    return [View((label,), ("R",), key=view.key) for label in view.candidate_labels]


def _list(as_json: bool) -> None:
    statements = [statement(name) for name in statement_names()]
    if as_json:
        print_json([_describe(one) for one in statements])
        return
    width = max(len(one.name) for one in statements)
    for one in statements:
        click.echo(f"{one.name:{width}}  {one.summary}")


def _describe(one: Statement) -> dict[str, object]:
    return {"name": one.name, "description": one.header}


def _example_values(keys: list[NodeKey], view: View | None) -> dict[str, object]:
    """Values for the parameters of any statement."""
    return {
        "keys": keys,
        "exclude": [],
        "first": [],
        "connectors": [],
        "passed": [],
        "nearest": True,
        "most": 1_000,
        "limit": 100,
        "property": "PROPERTY",
        "labels": list(view.labels) if view else ["LABEL"],
        "draws": list(range(7, 7_000_000, 999_983)),
        "egos": [{"centre": key, "size": 100} for key in keys],
        "rows": [],
        "run": "RUN",
        "since": 0,
        "key": keys[0],
        "candidates": keys,
        "everywhere": True,
        "through": [],
        "best": [],
        "tries": 0,
        "steps": [1],
        "names": ["PROPERTY"],
        "read": ["PROPERTY"],
        "name": "graphbo_run_name",
        **SeededOrder.from_seed([0]).parameters,
    }
