"""``graphbo browser``: a link that opens Neo4j Browser on a run, and files for it."""

from pathlib import Path

import click

from graphbo.cli.as_printed import shown
from graphbo.cli.captions import caption_option
from graphbo.cli.options import Place, connection_options, json_option, place_at, print_json
from graphbo.cli.output import file_stem
from graphbo.errors import RunError
from graphbo.runs.records import RunRecord
from graphbo.runs.registry import runs_in
from graphbo.runs.written_names import written_labels
from graphbo.seeing.browser import (
    AURA_CONSOLE,
    browser_url,
    cypher_file,
    grass_file,
    labels_of,
    link,
    saved_queries,
)
from graphbo.stores.neo4j.server import default_home

__all__ = ["browser_command"]

#: The first line of a file that may be written again.
_OURS = ("// graphbo: ", "{")


@click.command("browser")
@click.argument("name")
@connection_options
@click.option(
    "-o",
    "--output",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="Where the two files go.  [default: the current directory]",
)
@click.option(
    "--browser-url",
    "given",
    metavar="URL",
    help="Where Browser is.  [default: that of `graphbo neo4j up`, else http://HOST:7474/browser/]",
)
@caption_option
@json_option
def browser_command(
    name: str,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    directory: Path,
    given: str | None,
    caption: str | None,
    as_json: bool,
) -> None:
    """Print a link that opens Neo4j Browser on a run.

    Also writes NAME.cypher, with queries that draw the path of the search, the current region, the best nodes, what is
    pending and the runs beside each other, and NAME.grass, with colours for them. Nothing is written to the database.

    \b
    graphbo browser summit
    graphbo browser summit -o pictures --browser-url https://neo4j.example.org/browser/
    """
    place = place_at(uri, credentials, database)
    if not place.address.is_neo4j:
        raise RunError(
            f"Neo4j Browser shows what is in a Neo4j, and {place.address.public} is an embedded store: "
            f"look at the run with `{place.command('report', name)}`"
        )
    homes = [
        path for path in (credentials and credentials.absolute().parent, default_home()) if path
    ]
    base = browser_url(place.address, homes, given)
    with place.open() as store:
        runs = runs_in(store)
        record = runs.get(name)
        labels = labels_of(store.names()[0], runs.listed())
    queries = saved_queries(record)
    stem = file_stem(name)
    files = {
        directory / f"{stem}.cypher": cypher_file(record, queries),
        directory / f"{stem}.grass": grass_file(
            record, labels, caption=caption or record.config.get("caption")
        ),
    }
    _write(directory, files)
    opened = base and link(base, place.address, queries[0].text)
    written = [str(path) for path in files]
    if as_json:
        facts = {"name": name, "browser": base, "link": opened, "files": written}
        print_json(facts | {"queries": {one.name: one.text for one in queries}})
        return
    _describe(place, record, opened, written)


def _write(directory: Path, files: dict[Path, str]) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path in files:
            if path.exists() and not path.read_text(encoding="utf-8").startswith(_OURS):
                raise RunError(f"{path} is a file of yours: choose another directory with -o")
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"the files cannot be written to {directory}: {error}") from None


def _describe(place: Place, record: RunRecord, opened: str | None, files: list[str]) -> None:
    queries, style = files
    if opened is None:
        click.echo(
            f"Aura has its Browser in the console: open the instance's Query at {AURA_CONSOLE}"
        )
        click.echo(f"and paste a query from {queries} there.")
    else:
        click.echo(opened)
        click.echo(
            "Open this link, log in, and press Ctrl-Enter to run the query that is filled in."
        )
        click.echo(f"  user      {shown(place.address.username or 'neo4j')}")
        click.echo(f"  password  {_password(place)}")
    if place.address.database not in (None, "neo4j"):
        click.echo(f"  database  {shown(place.address.database)}: choose it at the top left")
    click.echo(f"  colours   drop {style} onto Browser's window")
    click.echo(f"  queries   drop {queries} there, or copy one of them")
    if record.labelled:
        labels = written_labels(record.prefix)
        first = ", ".join(labels[what] for what in ("best", "pending", "observed"))
        click.echo(f"In a Browser with a styling precedence, put {first} first in it.")
    else:
        click.echo("The run was started with --no-labels: Browser cannot colour its nodes.")
    if any(query.name == "connectors" for query in saved_queries(record)):
        click.echo("Small grey nodes are connectors: they are never measured.")
    click.echo(f"Next: {place.command('annotate', record.name, '--posterior')}")


def _password(place: Place) -> str:
    """Where it is, never what it is."""
    file = place.address.file
    return f"in {file}" if file else "the one that graphbo uses (NEO4J_PASSWORD)"
