"""``graphbo neo4j up | load | down | status``: a Neo4j with Browser on this machine."""

import contextlib
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import rich.progress
from rich.console import Console

from graphbo.cli.options import json_option, print_json
from graphbo.stores.neo4j.server import (
    DEFAULT_VERSION,
    VERSIONS,
    LocalServer,
    ServerInfo,
    ServerStatus,
    StartListener,
    default_home,
)
from graphbo.types.text import plural

__all__ = ["neo4j_group"]

_MEGABYTE = 1_000_000
_LINE_SECONDS = 5.0
_PORT = click.IntRange(1, 65535)

_home_option = click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
    help="The directory the server lives in.  [default: graphbo/neo4j in the user's data directory]",
)


@click.group("neo4j")
def neo4j_group() -> None:
    """A Neo4j with Browser on this machine, without docker, root or Java.

    It listens on the loopback interface only. Its data, its logs and its password stay in one
    directory. Needs graphbo[server].
    """


@neo4j_group.command()
@_home_option
@click.option(
    "--version",
    type=click.Choice(VERSIONS),
    help=f"The version of Neo4j.  [default: that of the data, else {DEFAULT_VERSION}]",
)
@click.option("--bolt-port", type=_PORT, help="The port for drivers.  [default: 7687 if free]")
@click.option("--http-port", type=_PORT, help="The port for Browser.  [default: 7474 if free]")
@json_option
def up(
    home: Path | None,
    version: str | None,
    bolt_port: int | None,
    http_port: int | None,
    as_json: bool,
) -> None:
    """Start the server and leave it running.

    The first time fetches some 190 MB; later starts fetch nothing. The password is generated, and
    kept in a file that only you can read.
    """
    server = LocalServer(home, version=version)
    before = server.status().state
    with _listener() as progress:
        info = server.start(bolt_port=bolt_port, http_port=http_port, progress=progress)
    if as_json:
        print_json(_facts(server.status()))
        return
    already = "already " if before == "running" else ""
    click.echo(f"Neo4j {info.version} is {already}running (process {info.pid})")
    _describe(info)


@neo4j_group.command()
@_home_option
@json_option
def down(home: Path | None, as_json: bool) -> None:
    """Stop the server; its data stays."""
    server = LocalServer(home)
    stopped = server.stop()
    status = server.status()
    if as_json:
        print_json({**_facts(status), "stopped": stopped})
    elif stopped:
        click.echo(f"Neo4j {status.version} in {status.home} is stopped; its data is kept")
    else:
        click.echo(f"no server is running in {status.home}")


@neo4j_group.command()
@_home_option
@json_option
def status(home: Path | None, as_json: bool) -> None:
    """Say whether the server runs, and where."""
    found = LocalServer(home).status()
    if as_json:
        print_json(_facts(found))
    elif found.info is not None:
        click.echo(f"Neo4j {found.version} is running (process {found.info.pid})")
        _describe(found.info)
    else:
        click.echo(_absence(found))


@neo4j_group.command()
@click.argument("dump", metavar="FILE.dump", type=click.Path(path_type=Path))
@_home_option
@click.option("--overwrite", is_flag=True, help="Replace a database that holds something.")
@json_option
def load(dump: Path, home: Path | None, overwrite: bool, as_json: bool) -> None:
    """Put the database of a dump into the server of `graphbo neo4j up`.

    A dump is what `neo4j-admin database dump` writes. Its database takes the place of the server's
    only one, whatever the file is called; user and password stay. The server is stopped when
    everything is unpacked, and started again. Until it answers, the old database is kept.
    """
    server = LocalServer(home)
    with _listener() as progress:
        loaded = server.load(dump, overwrite=overwrite, progress=progress)
    held = loaded.contents
    if as_json:
        facts = _facts(server.status())
        print_json(
            {
                **facts,
                "restarted": loaded.was_running,
                "nodes": held.nodes,
                "relationships": held.relationships,
                "labels": list(held.labels),
                "types": list(held.types),
            }
        )
        return
    again = "was stopped and is running again" if loaded.was_running else "is running"
    click.echo(
        f"Loaded {dump}: {plural(held.nodes, 'node')} and {plural(held.relationships, 'relationship')}."
    )
    for what, names in (("labels", held.labels), ("types", held.types)):
        if names:
            click.echo(f"  {what:<9} {', '.join(names)}")
    click.echo(f"Neo4j {loaded.info.version} {again} (process {loaded.info.pid})")
    _describe(loaded.info)


def _absence(found: ServerStatus) -> str:
    start = f"start it with: {_command('up', found.home)}"
    match found.state:
        case "absent":
            return f"no server in {found.home}: {start}"
        case "stopped":
            return f"Neo4j {found.version} in {found.home} is stopped: {start}"
        case "crashed":
            log = found.home / "logs" / "console.log"
            return f"Neo4j {found.version} in {found.home} ended unasked (see {log}): {start}"
        case _:
            return f"Neo4j {found.version} in {found.home} runs, but does not answer yet"


def _command(name: str, home: Path) -> str:
    elsewhere = [] if home == default_home().absolute() else ["--home", str(home)]
    return shlex.join(["graphbo", "neo4j", name, *elsewhere])


def _describe(info: ServerInfo) -> None:
    credentials = str(info.credentials)
    lines = {
        "URI": info.uri,
        "Browser": info.browser_url,
        "user": info.username,
        "password": f"in {credentials}",
        "next": shlex.join(["graphbo", "doctor", "--credentials", credentials]),
        "stop": _command("down", info.home),
    }
    for name, value in lines.items():
        click.echo(f"  {name:<9} {value}")


def _facts(found: ServerStatus) -> dict[str, Any]:
    """What ``--json`` prints; named one by one, so that no password can slip in."""
    facts: dict[str, Any] = {
        "state": found.state,
        "home": str(found.home),
        "version": found.version,
    }
    if found.info is not None:
        facts |= {
            "uri": found.info.uri,
            "browser": found.info.browser_url,
            "username": found.info.username,
            "database": found.info.database,
            "bolt_port": found.info.bolt_port,
            "http_port": found.info.http_port,
            "pid": found.info.pid,
            "credentials": str(found.info.credentials),
        }
    return facts


@contextlib.contextmanager
def _listener() -> Iterator[StartListener]:
    """Progress goes to standard error: a bar on a terminal, plain lines elsewhere."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """Shows a start as a bar with bytes and rate, or as a spinner while there is none."""

    def __init__(self) -> None:
        self._progress = rich.progress.Progress(
            rich.progress.SpinnerColumn(),
            rich.progress.TextColumn("{task.description}"),
            rich.progress.BarColumn(),
            rich.progress.DownloadColumn(),
            rich.progress.TransferSpeedColumn(),
            rich.progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._waiting = rich.progress.Progress(
            rich.progress.SpinnerColumn(),
            rich.progress.TextColumn("{task.description}"),
            rich.progress.TimeElapsedColumn(),
            console=self._progress.console,
            transient=True,
        )
        self._task: rich.progress.TaskID | None = None

    def close(self) -> None:
        self._progress.stop()
        self._waiting.stop()

    def fetching(self, files: int, size: int) -> None:
        self._task = self._progress.add_task(f"fetching {files} archives", total=size)
        self._progress.start()

    def fetched(self, size: int) -> None:
        if self._task is not None:
            self._progress.advance(self._task, size)

    def step(self, message: str) -> None:
        self._progress.stop()
        self._waiting.add_task(message, total=None)
        self._waiting.start()


class _Lines:
    """Tells of a start in plain lines, one every few seconds at most."""

    def __init__(self) -> None:
        self._total = 0
        self._done = 0
        self._began = self._told = 0.0

    def fetching(self, files: int, size: int) -> None:
        self._total = size
        self._began = self._told = time.monotonic()
        self.step(f"fetching {files} archives, {size / _MEGABYTE:.0f} MB")

    def fetched(self, size: int) -> None:
        self._done += size
        now = time.monotonic()
        if now - self._told >= _LINE_SECONDS:
            self._told = now
            rate = self._done / _MEGABYTE / (now - self._began)
            done, total = self._done / _MEGABYTE, self._total / _MEGABYTE
            self.step(f"fetched {done:.0f} of {total:.0f} MB, {rate:.1f} MB/s")

    def step(self, message: str) -> None:
        click.echo(message, err=True)
