"""``graphbo annotate``: what people see on the nodes of a run, written again."""

from pathlib import Path

import click

from graphbo.cli.options import Place, connection_options, json_option, place_at, print_json
from graphbo.runs.written_names import region_properties, written_labels, written_properties
from graphbo.seeing.annotate import Annotated, annotate
from graphbo.types.text import plural

__all__ = ["annotate_command"]


@click.command("annotate")
@click.argument("name")
@connection_options
@click.option(
    "--posterior",
    is_flag=True,
    help="Also write what the model believes now, onto every node of the current region.",
)
@click.option(
    "--why",
    is_flag=True,
    help="Also write why each node was asked for, in words, where that is not written yet.",
)
@json_option
def annotate_command(
    name: str,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    posterior: bool,
    why: bool,
    as_json: bool,
) -> None:
    """Write the properties and labels of a run's nodes again, from its record.

    A run writes them as it goes, so this mends what somebody changed or removed. With --posterior, the nodes of the
    current region also get the posterior mean, its standard deviation and the acquisition of now; a second time
    replaces the first. With --why, every measured and pending node says why it was asked for, as `graphbo why` does.
    `graphbo clean` removes all of it.

    \b
    graphbo annotate summit
    graphbo annotate summit --posterior
    graphbo annotate summit --why
    """
    place = place_at(uri, credentials, database)
    with place.open() as store:
        done = annotate(store, name, posterior=posterior, why=why)
    if as_json:
        print_json(_facts(place, done))
        return
    facts = _facts(place, done)
    click.echo(
        f"The marks of the run {name!r} are written on its nodes: {facts['observed']:,} observed, "
        f"{facts['failed']:,} failed, {facts['pending']:,} pending."
    )
    if done.region is not None:
        names = ", ".join(region_properties(done.news.record.prefix).values())
        click.echo(
            f"What is believed now is on {plural(len(done.region), 'node')} of the region: {names}."
        )
    if done.explained is not None:
        name_of_why = written_properties(done.news.record.prefix)["why"]
        click.echo(f"Why is on {plural(done.explained, 'more node')}: {name_of_why}.")
    if place.address.is_neo4j:
        click.echo(f"Next: {place.command('browser', name)}")


def _facts(place: Place, done: Annotated) -> dict[str, object]:
    record, told = done.news.record, done.news.observations
    properties = list(written_properties(record.prefix).values())
    labels = list(written_labels(record.prefix).values()) if record.labelled else []
    if done.region is not None:
        properties += region_properties(record.prefix).values()
    failed = sum(one.failed for one in told)
    return {
        "name": record.name,
        "observed": len(told) - failed,
        "failed": failed,
        "pending": len(done.news.pending),
        "region": None if done.region is None else len(done.region),
        "explained": done.explained,
        "properties": properties,
        # There is nobody to colour by them in the embedded store.
        "labels": labels if place.address.is_neo4j else [],
    }
