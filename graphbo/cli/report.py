"""Seeing a run: ``report`` writes one HTML file, ``plot`` a figure."""

import math
from pathlib import Path
from typing import Any

import click

from graphbo.cli.captions import caption_option
from graphbo.cli.options import connection_options, json_option, place_at, print_json
from graphbo.cli.output import file_stem
from graphbo.errors import RunError
from graphbo.runs import Run

__all__ = ["plot_command", "report_command"]

#: What ``--kind`` may be; the names of the functions in ``graphbo.seeing.plots``, whose import takes a second.
FIGURES = ("convergence", "map", "kernel", "region", "calibration")

#: Those that need the graph and the model.
GRAPHIC = ("map", "kernel")

#: What a figure may be saved as.
ENDINGS = (".png", ".svg", ".pdf")

_optimum_option = click.option(
    "--optimum", type=float, metavar="X", help="The best value there is, where it is known."
)


@click.command("report")
@click.argument("name")
@connection_options
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file to write.  [default: NAME.html]",
)
@_optimum_option
@caption_option
@json_option
def report_command(
    name: str,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    output: Path | None,
    optimum: float | None,
    caption: str | None,
    as_json: bool,
) -> None:
    """Write a report of a run: one HTML file that works offline.

    It shows the best node, how the search went, a map of where it looked, and what the model believed.
    """
    target = output or Path(f"{file_stem(name)}.html")
    _check(optimum, target, (".html", ".htm"))
    place = place_at(uri, credentials, database)
    with place.open() as store:
        run = Run.open(store, name)
        from graphbo.seeing import facts_of, html_of  # noqa: PLC0415 - takes a second

        facts = facts_of(run, optimum=optimum, caption=caption)
    text = html_of(facts)
    _write(target, text.encode("utf-8"))
    drawn = 0 if facts.map is None else len(facts.map.keys)
    _say(
        as_json, {"name": name, "file": str(target), "bytes": target.stat().st_size, "nodes": drawn}
    )


@click.command("plot")
@click.argument("name")
@connection_options
@click.option(
    "--kind",
    type=click.Choice(FIGURES),
    default="convergence",
    show_default=True,
    help="What to show.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file to write, .png, .svg or .pdf.  [default: NAME-KIND.png]",
)
@_optimum_option
@caption_option
@json_option
def plot_command(
    name: str,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    kind: str,
    output: Path | None,
    optimum: float | None,
    caption: str | None,
    as_json: bool,
) -> None:
    """Draw a figure of a run, for a paper or a talk."""
    target = output or Path(f"{file_stem(name)}-{kind}.png")
    _check(optimum, target, ENDINGS)
    place = place_at(uri, credentials, database)
    with place.open() as store:
        run = Run.open(store, name)
        from graphbo.seeing import facts_of, plots  # noqa: PLC0415 - takes a second

        facts = facts_of(run, optimum=optimum, graph=kind in GRAPHIC, caption=caption)
        figure = plots.PLOTS[kind](facts)
    _write(target, plots.image_of(figure, target.suffix.lower()))
    _say(as_json, {"name": name, "kind": kind, "file": str(target), "bytes": target.stat().st_size})


def _check(optimum: float | None, target: Path, endings: tuple[str, ...]) -> None:
    """Refuse early what would fail after the work. A mistyped name must not replace somebody's database."""
    if optimum is not None and not math.isfinite(optimum):
        raise RunError(f"the optimum is {optimum}: expected a finite number")
    if target.suffix.lower() not in endings:
        raise RunError(
            f"the file {str(target)!r} has another ending: choose a name that ends in {' or '.join(endings)}"
        )
    if not target.parent.is_dir():
        raise RunError(
            f"there is no directory {str(target.parent)!r} to write to: create it, or choose another -o"
        )


def _write(target: Path, content: bytes) -> None:
    try:
        target.write_bytes(content)
    except OSError as error:
        raise RunError(f"{str(target)!r} cannot be written: {error.strerror or error}") from None


def _say(as_json: bool, facts: dict[str, Any]) -> None:
    if as_json:
        print_json(facts)
        return
    click.echo(f"Written: {facts['file']} ({facts['bytes'] / 1000:,.0f} kB)")
    if facts["file"].endswith(".html"):
        click.echo("Open it in any browser; it needs no network.")
