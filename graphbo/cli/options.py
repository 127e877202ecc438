"""Options that several commands share, and how commands open their database."""

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from graphbo.cli.lines import as_line
from graphbo.errors import NoSuchNode
from graphbo.stores import Address, GraphStore, address_from, open_store
from graphbo.stores.address import HIDDEN, Origin
from graphbo.types import LARGEST_INTEGER, Direction, NodeKey, View

__all__ = [
    "Place",
    "announce",
    "connection_options",
    "data_dir_option",
    "json_option",
    "node_key",
    "parse_key",
    "place_at",
    "print_json",
    "store_at",
    "view_from",
    "view_options",
]

_INTEGER = re.compile("0|-?[1-9][0-9]{0,18}")

Command = TypeVar("Command", bound=Callable[..., Any])


def connection_options(command: Command) -> Command:
    """``--uri``, ``--credentials`` and ``--database``."""
    for option in (
        click.option(
            "--database", metavar="NAME", help="Database on the server.  [default: the user's own]"
        ),
        click.option(
            "--credentials",
            type=click.Path(dir_okay=False, path_type=Path),
            help="A file with NEO4J_URI, NEO4J_USERNAME and NEO4J_PASSWORD, as Neo4j Aura and "
            "`graphbo neo4j up` write it.",
        ),
        click.option(
            "--uri",
            metavar="URI",
            help="neo4j://HOST, bolt://HOST (each also +s, +ssc) or sqlite:FILE.  "
            "[default: NEO4J_URI, else sqlite:graphbo.db]",
        ),
    ):
        command = option(command)
    return command


def view_options(*, required: bool = True) -> Callable[[Command], Command]:
    """``--label``, ``--rel``, ``--key``, ``--weight`` and ``--direction``."""

    def decorate(command: Command) -> Command:
        for option in (
            click.option(
                "--direction",
                type=click.Choice(["both", "out", "in"]),
                default="both",
                show_default=True,
                help="Which relationships lead from a node to its neighbours.",
            ),
            click.option(
                "--weight", metavar="PROPERTY", help="Relationship property with the weight."
            ),
            click.option(
                "--key",
                metavar="PROPERTY",
                help="Node property that identifies a node.  [default: the one with a uniqueness constraint]",
            ),
            click.option(
                "--rel",
                "relationships",
                metavar="TYPE",
                multiple=True,
                required=required,
                help="Relationship type; may be repeated.",
            ),
            click.option(
                "--label",
                "labels",
                metavar="LABEL",
                multiple=True,
                required=required,
                help="Node label; may be repeated.",
            ),
        ):
            command = option(command)
        return command

    return decorate


def json_option(command: Command) -> Command:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(
        command
    )


def view_from(
    labels: tuple[str, ...],
    relationships: tuple[str, ...],
    key: str | None,
    weight: str | None,
    direction: Direction,
) -> View:
    """The view that these options mean.

    Raises:
        InvalidName, InvalidView: they mean none.
    """
    return View(labels, relationships, direction, weight, key)


def data_dir_option(command: Command) -> Command:
    """``--data-dir``."""
    return click.option(
        "--data-dir",
        type=click.Path(file_okay=False, path_type=Path),
        help="Directory with the data sets that some tasks need.  [default: GRAPHBO_DATA]",
    )(command)


#: What decided on the database, in the words of the command line.
_ORIGINS: Mapping[Origin, str] = {
    "given": "--uri",
    "credentials": "--credentials {file}",
    "environment": "NEO4J_URI",
    "default": "no --uri and no NEO4J_URI",
}


def announce(address: Address) -> None:
    """Say, on standard error, which database is used and why: the first line of every command."""
    what = "Neo4j at" if address.is_neo4j else "the embedded store"
    why = _ORIGINS[address.origin].format(file=address.file)
    click.echo(as_line(f"Using {what} {address.public} ({why})"), err=True)


def store_at(
    uri: str | None, credentials: Path | None, database: str | None, *, create: bool = False
) -> GraphStore:
    """Announce and open the database that these options mean.

    Raises:
        InvalidAddress, StoreError: it cannot be used.
    """
    address = address_from(uri, credentials, database)
    announce(address)
    return open_store(address, create=create)


@dataclass(frozen=True)
class Place:
    """The database that a command was pointed to."""

    address: Address
    arguments: tuple[str, ...]

    @property
    def exists(self) -> bool:
        """Whether there is something to open: a server is taken to be there, a file may have to be made."""
        try:
            return self.address.is_neo4j or Path(self.address.path).exists()
        except OSError:
            return True  # something that cannot even be looked for: opening it says why

    def open(self, *, create: bool = False) -> GraphStore:
        """A connection of its own.

        Args:
            create: whether a file that is missing is made.

        Raises:
            StoreError: it cannot be used.
        """
        return open_store(self.address, create=create)

    @property
    def to_fill_in(self) -> str:
        """What a person has to add to ``command``; empty if nothing is missing."""
        address = self.address
        missing = []
        if address.inline and os.environ.get("NEO4J_PASSWORD") != address.password:
            missing.append("set NEO4J_USERNAME and NEO4J_PASSWORD")
        if HIDDEN in address.public:
            missing.append(f"put what stands for {HIDDEN} back into --uri")
        if not missing or "--uri" not in self.arguments:
            return ""
        return f"Before that, {' and '.join(missing)}: they are never printed."

    def command(self, *words: object) -> str:
        """Another command for the same database, ready to be pasted, without any secret in it."""
        return shlex.join(["graphbo", *map(str, words), *self.arguments])


def place_at(uri: str | None, credentials: Path | None, database: str | None) -> Place:
    """Announce the database that these options mean.

    Raises:
        InvalidAddress: they mean none.
    """
    address = address_from(uri, credentials, database)
    announce(address)
    options = {
        "--uri": None if uri is None else address.public,
        "--credentials": credentials,
        "--database": database,
    }
    given = (part for name, value in options.items() if value is not None for part in (name, value))
    return Place(address, tuple(map(str, given)))


def parse_key(text: str) -> NodeKey:
    """A key as typed on a command line: an integer if it is spelt like one that a database can hold, else text."""
    if not _INTEGER.fullmatch(text) or not -LARGEST_INTEGER <= int(text) <= LARGEST_INTEGER:
        return text
    return int(text)


def node_key(store: GraphStore, view: View, text: str) -> NodeKey:
    """The key of a node of the view, as typed on a command line.

    Raises:
        NoSuchNode: no node has it.
    """
    key = parse_key(text)
    if isinstance(key, int):
        # It may be text that looks like a number: which one it is, the graph knows.
        for spelling in (key, text):
            try:
                store.properties(view, [spelling])
            except NoSuchNode:
                continue
            return spelling
    store.properties(view, [key])
    return key


def print_json(value: object) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
