"""``graphbo load``: put a graph from a file or a generator into the database."""

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.progress import TimeRemainingColumn as Remaining
from rich.text import Text

from graphbo.cli.options import (
    announce,
    connection_options,
    data_dir_option,
    json_option,
    print_json,
)
from graphbo.loading import Note, Reading, Source, Survey, open_source
from graphbo.loading.load import LoadReport, OnLoad, Stage, inspect, load
from graphbo.loading.property_graph import TablesReport, load_tables
from graphbo.loading.tables import Tables, TableSpec, TablesSurvey
from graphbo.stores import Address, address_from, open_store
from graphbo.types import View
from graphbo.types.conditions import HasLabel
from graphbo.types.paths import Path as Way
from graphbo.types.paths import Step
from graphbo.types.text import plural

__all__ = ["load_command", "load_progress"]

#: What each stage is called, and the unit of its rate.
_STAGES: Final[dict[Stage, tuple[str, str]]] = {
    "read": ("reading", "B"),
    "delete": ("deleting the old graph", ""),
    "nodes": ("nodes", "nodes"),
    "sort": ("sorting", "edges"),
    "relationships": ("relationships", "relationships"),
}

#: What a person may do about what the source was found to hold.
_NOTES: Final[dict[Note, str]] = {
    Note.HEADER: "--no-header reads it as an edge",
    Note.ENDS_ONLY: "--weight NAME reads weights too",
}

#: Seconds between two lines about the same stage in a pipe.
_SECONDS_BETWEEN: Final = 10.0


@click.command("load")
@click.argument("spec", metavar="SOURCE", required=False)
@connection_options
@click.option(
    "--nodes",
    "node_tables",
    multiple=True,
    metavar="[LABEL=]FILE",
    help="A table of nodes with Neo4j's header (`id:ID,age:int,:LABEL`). Repeatable.",
)
@click.option(
    "--edges",
    "edge_tables",
    multiple=True,
    metavar="[TYPE=]FILE",
    help="A table of edges with Neo4j's header (`:START_ID,:END_ID,:TYPE`). Repeatable.",
)
@click.option("--label", metavar="LABEL", help="Label of the nodes to write.")
@click.option("--rel", metavar="TYPE", help="Type of the relationships to write.")
@click.option(
    "--key",
    default="id",
    show_default=True,
    metavar="PROPERTY",
    help="Node property for the ids; a uniqueness constraint is created for it.",
)
@click.option(
    "--weight",
    metavar="PROPERTY",
    help="Column or edge attribute with the weights, and the relationship property for them. In an "
    "edge list without a header, the third column.",
)
@click.option("--directed", is_flag=True, help="Keep a,b and b,a as two relationships.")
@click.option("--replace", is_flag=True, help="First delete all nodes that have the label.")
@click.option("--skip-bad", is_flag=True, help="Leave malformed lines out instead of refusing.")
@click.option(
    "--header/--no-header",
    default=None,
    help="Whether the first line of an edge list names the columns.  [default: found out]",
)
@data_dir_option
@json_option
def load_command(
    spec: str | None,
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    node_tables: tuple[str, ...],
    edge_tables: tuple[str, ...],
    label: str | None,
    rel: str | None,
    key: str,
    weight: str | None,
    directed: bool,
    replace: bool,
    skip_bad: bool,
    header: bool | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Load a graph into the database.

    SOURCE is a file, a generator or a task:

    \b
    an edge list      .csv, .tsv or separated by spaces; # and % begin comments
    GraphML           .graphml
    node-link JSON    .json, as networkx writes it
    a generator       ba:n=1000,m=3   ws:n=2000,k=10,p=0.1   er:n=1000,p=0.01
                      sbm:sizes=50/50/50,p_in=0.2,p_out=0.01   grid:50x50
    a task            task:centrality:graph=ba,n=1000,seed=3   see `graphbo tasks`

    or, for nodes of several labels, tables with headers in the notation of neo4j-admin:

    \b
    --nodes people.csv --nodes Place=places.csv --edges VISITS=visits.csv

    Each file may be packed with gzip. Nothing is written before all of it was read once and found
    to be a graph. Loading the same again changes nothing.
    """
    address = address_from(uri, credentials, database)
    if node_tables or edge_tables:
        for what, given in (
            ("SOURCE", spec is not None),
            ("--weight", weight is not None),
            ("--directed", directed),
            ("--header and --no-header", header is not None),
            ("--data-dir", data_dir is not None),
        ):
            if given:
                raise click.UsageError(f"{what} cannot be combined with --nodes and --edges.")
        announce(address)
        with Tables(
            [TableSpec.parse(table) for table in node_tables],
            [TableSpec.parse(table) for table in edge_tables],
            labels=() if label is None else (label,),
            type=rel,
            key=key,
        ) as tables:
            where = _connection(address, uri, credentials, database)
            _load_tables(tables, address, where, replace, skip_bad, as_json)
        return
    for name, value in (("SOURCE", spec), ("--label", label), ("--rel", rel)):
        if value is None:
            raise click.UsageError(f"Missing {name}, or --nodes and --edges.")
    assert spec is not None and label is not None and rel is not None  # noqa: S101, PT018 - as just seen
    view = View((label,), (rel,), weight=weight, key=key)
    announce(address)
    source = open_source(spec, Reading(weight, key, header, data_dir))
    with load_progress(quiet=as_json) as watch:
        survey = source.survey(lambda done, total: watch("read", done, total))
    _show_bad(survey)
    # Before the database is opened: a file that is refused leaves no empty database behind.
    inspect(source, skip_bad=skip_bad)
    with (
        open_store(address, create=True) as store,
        _explaining_interruption(),
        load_progress(quiet=as_json) as watch,
    ):
        report = load(
            store,
            view,
            source,
            directed=directed,
            replace=replace,
            skip_bad=skip_bad,
            watch=watch,
        )
    following = _next_command(address, uri, credentials, database, view)
    if as_json:
        print_json(_as_json(source, address, view, report, following))
    else:
        for line in _summary(source, view, report, directed, following):
            click.echo(line)


@contextmanager
def _explaining_interruption() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        click.echo("Part of the graph is loaded; the same command again completes it.", err=True)
        raise


# Progress


@contextmanager
def load_progress(quiet: bool) -> Iterator[OnLoad]:
    """A bar on a terminal, a line now and then in a pipe; on standard error, like all that is no result."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _silent if quiet else _Lines()
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        _Rate(),
        Remaining(),
        console=console,
        transient=True,
    ) as progress:
        yield _Bar(progress)


def _silent(_stage: Stage, _done: int, _total: int) -> None:
    pass


class _Rate(ProgressColumn):
    """How many of its units a stage does per second."""

    def render(self, task: Task) -> Text:
        """The rate, once there is one."""
        seconds = task.finished_time or task.elapsed
        if not seconds or not task.completed:
            return Text("")
        return Text(f"{_rounded(task.completed / seconds)} {task.fields['unit']}/s")


class _Bar:
    """Shows the stages as bars, one below the other."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[Stage, TaskID] = {}

    def __call__(self, stage: Stage, done: int, total: int) -> None:
        if stage not in self._tasks:
            name, unit = _STAGES[stage]
            self._tasks[stage] = self._progress.add_task(name, total=total, unit=unit)
        self._progress.update(self._tasks[stage], completed=done, total=total)


class _Lines:
    """Prints a line when a stage takes long."""

    def __init__(self) -> None:
        self._stage: Stage | None = None
        self._since = self._last = time.monotonic()

    def __call__(self, stage: Stage, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._since, self._last = stage, now, now
        elif now - self._last >= _SECONDS_BETWEEN:
            self._last = now
            name, unit = _STAGES[stage]
            rate = _rounded(done / (now - self._since))
            click.echo(f"{name}: {done / max(total, 1):.0%}, {rate} {unit}/s", err=True)


def _rounded(speed: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if speed >= size:
            return f"{speed / size:.1f} {letter}"
    return f"{speed:.0f}"


# Results


def _show_bad(survey: Survey) -> None:
    for bad in survey.examples:
        click.echo(f"malformed: {bad}", err=True)
    if survey.bad > len(survey.examples):
        click.echo(f"malformed: and {survey.bad - len(survey.examples):,} more", err=True)


def _summary(
    source: Source, view: View, report: LoadReport, directed: bool, following: str
) -> Iterator[str]:
    yield f"{_outcome(source.name, report)}."
    now = f"{plural(report.nodes, 'node')} and {plural(report.relationships, 'relationship')}"
    yield f"{view} now has {now}."
    left_out = list(_left_out(report))
    if left_out:
        yield f"Left out: {', '.join(left_out)}."
    for note in report.survey.notes:
        yield f"Note: {_noted(note)}."
    if report.survey.directed and not directed:
        yield "Note: the source says that its edges have a direction: --directed keeps it."
    yield f"Next: {following}"


def _outcome(name: str, report: LoadReport | TablesReport) -> str:
    """What a load changed, and how long it took."""
    counts = report.counts
    time_taken = f"in {report.seconds:.2f} s ({_rounded(report.rate)} records/s)"
    if not report.changed:
        return f"Nothing changed: {name} was there already, compared {time_taken}"
    created = (
        f"{plural(counts.nodes_created, 'node')} and"
        f" {plural(counts.relationships_created, 'relationship')} created"
    )
    changed = f", {plural(counts.properties_set, 'property')} set" if counts.properties_set else ""
    return f"Loaded {name} {time_taken}: {created}{changed}"


def _noted(note: Note) -> str:
    return f"{note}: {_NOTES[note]}"


def _left_out(report: LoadReport) -> Iterator[str]:
    for count, what in (
        (report.self_loops, "self-loop"),
        (report.survey.bad, f"malformed {report.survey.unit}"),
        (report.survey.comments, "comment line"),
    ):
        if count:
            yield plural(count, what)


def _next_command(
    address: Address, uri: str | None, credentials: Path | None, database: str | None, view: View
) -> str:
    """The command that shows whether the loaded graph is fit for a run, without any secret in it."""
    options = {
        "--label": view.labels[0],
        "--rel": view.relationships[0],
        "--key": view.key,
        "--weight": view.weight,
    }
    given = [part for name, value in options.items() if value is not None for part in (name, value)]
    return shlex.join(
        ["graphbo", "doctor", *_connection(address, uri, credentials, database), *given]
    )


def _connection(
    address: Address, uri: str | None, credentials: Path | None, database: str | None
) -> list[str]:
    """The options with which the next command finds the database, without any secret in them."""
    options = {
        "--uri": None if uri is None else address.public,
        "--credentials": credentials,
        "--database": database,
    }
    given = [(name, str(value)) for name, value in options.items() if value is not None]
    return [part for pair in given for part in pair]


# Tables


def _load_tables(
    tables: Tables,
    address: Address,
    where: list[str],
    replace: bool,
    skip_bad: bool,
    as_json: bool,
) -> None:
    with load_progress(quiet=as_json) as watch:
        survey = tables.survey(lambda done, total: watch("read", done, total))
    _show_bad(survey)
    inspect(tables, skip_bad=skip_bad)
    with (
        open_store(address, create=True) as store,
        _explaining_interruption(),
        load_progress(quiet=as_json) as watch,
    ):
        report = load_tables(store, tables, replace=replace, skip_bad=skip_bad, watch=watch)
    following = shlex.join(["graphbo", "doctor", *where, *_next_view(survey)])
    if as_json:
        print_json(_tables_as_json(tables, address, report, following))
    else:
        for line in _tables_summary(tables, report, following):
            click.echo(line)


def _tables_summary(tables: Tables, report: TablesReport, following: str) -> Iterator[str]:
    survey = report.survey
    yield f"{_outcome(tables.name, report)}."
    held = f"{plural(survey.nodes, 'node')} ({', '.join(f':{name}' for name in survey.labels)})"
    yield f"The tables hold {held} and {plural(survey.edges, 'edge')}."
    for kind in survey.kinds:
        yield f"  (:{kind.label}) is known by its unique {kind.key}"
    for name, source, target in survey.connections:
        yield f"  (:{source.label})-[:{name}]->(:{target.label})"
    left_out = [
        plural(count, what)
        for count, what in ((survey.bad, "malformed line"), (survey.repeated, "repeated edge"))
        if count
    ]
    if left_out:
        yield f"Left out: {', '.join(left_out)}."
    if survey.repeated:
        yield "Note: edges that are equal in everything are one; a property that differs keeps them apart."
    for column in survey.as_text:
        yield f"Note: the values of {column} are kept as text."
    yield f"Next: {following}"


def _next_view(survey: TablesSurvey) -> list[str]:
    """Options of a view of what was loaded: over what the kind in the first table is connected with itself."""
    one = survey.kinds[0]
    for name, source, target in survey.connections:
        if source == target == one:
            return ["--label", one.label, "--rel", name, "--key", one.key]
    for name, source, target in survey.connections:
        kind, other = (target, source) if source != one == target else (source, target)
        if kind == other:
            continue
        there = Step((name,), "out" if kind == source else "in")
        ends = HasLabel(kind.label)
        way = Way((ends, HasLabel(other.label), ends), (there, there.turned))
        return ["--label", kind.label, "--path", str(way), "--key", kind.key]
    if survey.connections:
        name, source, _ = survey.connections[0]
        return ["--label", source.label, "--rel", name, "--key", source.key]
    return ["--label", one.label, "--rel", "TYPE", "--key", one.key]


def _tables_as_json(
    tables: Tables, address: Address, report: TablesReport, following: str
) -> dict[str, object]:
    survey, counts = report.survey, report.counts
    return {
        "source": tables.name,
        "uri": address.public,
        "changed": report.changed,
        "replaced": report.replaced,
        "nodes_created": counts.nodes_created,
        "relationships_created": counts.relationships_created,
        "properties_set": counts.properties_set,
        "nodes_read": survey.nodes,
        "edges_read": survey.edges,
        "repeated": survey.repeated,
        "malformed": survey.bad,
        "malformed_examples": [str(bad) for bad in survey.examples],
        "labels": list(survey.labels),
        "types": list(survey.types),
        "keys": {kind.label: kind.key for kind in survey.kinds},
        "kept_as_text": list(survey.as_text),
        "seconds": round(report.seconds, 3),
        "records_per_second": round(report.rate, 1),
        "next": following,
    }


def _as_json(
    source: Source, address: Address, view: View, report: LoadReport, following: str
) -> dict[str, object]:
    survey, counts = report.survey, report.counts
    return {
        "source": source.name,
        "uri": address.public,
        "view": str(view),
        "changed": report.changed,
        "replaced": report.replaced,
        "nodes": report.nodes,
        "relationships": report.relationships,
        "nodes_created": counts.nodes_created,
        "relationships_created": counts.relationships_created,
        "properties_set": counts.properties_set,
        "nodes_read": survey.nodes,
        "edges_read": survey.edges,
        "self_loops": report.self_loops,
        "malformed": survey.bad,
        "malformed_examples": [str(bad) for bad in survey.examples],
        "comments": survey.comments,
        "notes": [_noted(note) for note in survey.notes],
        "seconds": round(report.seconds, 3),
        "records_per_second": round(report.rate, 1),
        "next": following,
    }
