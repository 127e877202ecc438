"""Options that several commands share, and how commands open their database."""

import json
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from graphbo.cli.lines import as_line
from graphbo.errors import InvalidView
from graphbo.stores import Address, GraphStore, address_from, open_store
from graphbo.stores.address import HIDDEN, Origin
from graphbo.types import LARGEST_INTEGER, Direction, NodeKey
from graphbo.types.text import spellings
from graphbo.types.view import DEFAULT_HUB_LIMIT, WeightMeaning
from graphbo.types.view_texts import LONGEST_HOP, ViewTexts, read_hop, read_relationship

__all__ = [
    "NEGATIVE_NUMBERS",
    "Place",
    "announce",
    "connection_options",
    "data_dir_option",
    "json_option",
    "parse_key",
    "place_at",
    "print_json",
    "step_option",
    "store_at",
    "view_options",
    "view_texts",
]


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


_VIEW_OPTIONS = (
    click.option(
        "--label",
        "labels",
        metavar="LABEL",
        multiple=True,
        help="Label of the graph's nodes, or labels as in 'Application&!Retired'; may be repeated.",
    ),
    click.option(
        "--rel",
        "relationships",
        metavar="TYPE[=FACTOR]",
        multiple=True,
        help="Type of relationships that are edges, and what their weights are multiplied with; may be repeated.",
    ),
    click.option(
        "--candidates",
        metavar="LABEL",
        multiple=True,
        help="Only nodes with this label are measured; the others connect them; may be repeated.  "
        "[default: all nodes]",
    ),
    click.option(
        "--path",
        "paths",
        metavar="PATH",
        multiple=True,
        help="A path that is an edge, as in '(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)'; may be repeated.",
    ),
    click.option(
        "--hop",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE.cypher",
        help="A Cypher statement that takes $keys and answers with edges: source, target, weight.",
    ),
    click.option(
        "--where",
        metavar="FILTER",
        help="What every node has to fulfil, as in 'continent = \"EU\" AND altitude > 1000'.",
    ),
    click.option(
        "--candidates-where", metavar="FILTER", help="What a candidate has to fulfil, too."
    ),
    click.option(
        "--key",
        metavar="PROPERTY",
        help="Node property that identifies a node.  [default: the one with a uniqueness constraint]",
    ),
    click.option("--weight", metavar="PROPERTY", help="Relationship property with the weight."),
    click.option(
        "--weight-as",
        type=click.Choice(get_args(WeightMeaning)),
        help="Whether a larger weight means more alike, or further apart.  [default: similarity]",
    ),
    click.option(
        "--default-weight",
        type=float,
        metavar="W",
        help="Weight of a relationship that has none.  [default: it is refused]",
    ),
    click.option(
        "--hub-limit",
        type=click.IntRange(min=1),
        metavar="N",
        help=f"Skip connectors with more neighbours.  [default: {DEFAULT_HUB_LIMIT}]",
    ),
    click.option(
        "--direction",
        type=click.Choice(get_args(Direction)),
        help="Which edges lead from a node to its neighbours.  [default: both]",
    ),
)


def view_options(command: Command) -> Command:
    """What says which graph is meant: ``--label``, ``--rel``, ``--candidates``, ``--path`` and so on."""
    for option in reversed(_VIEW_OPTIONS):
        command = option(command)
    return command


def view_texts(options: dict[str, Any]) -> ViewTexts:
    """Take the options of ``view_options`` out of the options of a command.

    Raises:
        InvalidView: the file of ``--hop`` cannot be read, or holds no such statement.
    """
    taken = {field.name: options.pop(field.name) for field in fields(ViewTexts)}
    taken["relationships"] = dict(map(read_relationship, taken["relationships"]))
    if taken["hop"] is not None:
        taken["hop"] = _hop_in(taken["hop"])
    return ViewTexts(**taken)


def _hop_in(file: Path) -> str:
    try:
        with file.open(encoding="utf-8-sig") as opened:
            text = opened.read(LONGEST_HOP + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise InvalidView(f"the file {file} cannot be read: {reason}") from None
    return read_hop(text, f"the statement in {file}")


#: Keys and values like -0.5 are no options.
NEGATIVE_NUMBERS = {"ignore_unknown_options": True}


def step_option(command: Command) -> Command:
    """``--step``."""
    return click.option(
        "--step",
        type=click.IntRange(-LARGEST_INTEGER, LARGEST_INTEGER),
        metavar="N",
        help="The step, instead of the node.",
    )(command)


def json_option(command: Command) -> Command:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(
        command
    )


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
    return spellings(text)[0]


def print_json(value: object) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
