"""Objectives: what gives a node its value, named by a spec like ``python:delays:measure``.

An objective is called with a ``Node`` and returns a finite number. It can be pickled, limits the time of each attempt,
tries again if told to, and turns whatever goes wrong into one line.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graphbo.errors import InvalidObjective
from graphbo.objectives.base import Evaluation, Node, Objective, Source, evaluate
from graphbo.objectives.command import open_command
from graphbo.objectives.cypher import open_cypher
from graphbo.objectives.database import CypherChecker, CypherRunner, Database
from graphbo.objectives.function import from_callable, open_function
from graphbo.objectives.properties import PropertySource
from graphbo.objectives.web import WebSource, open_web

__all__ = [
    "KINDS",
    "CypherChecker",
    "CypherRunner",
    "Database",
    "Evaluation",
    "Kind",
    "Node",
    "Objective",
    "evaluate",
    "from_callable",
    "parse_objective",
]


@dataclass(frozen=True)
class Kind:
    """A kind of objective.

    Attributes:
        usage: what a spec of this kind looks like.
        help: what it does, for people.
        open: makes its source of a whole spec, the directory that names are relative to, and the time-out.
    """

    usage: str
    help: str
    open: Callable[[str, Path, float | None], Source]


def _rest(spec: str) -> str:
    return spec.partition(":")[2]


_WEB_HELP = "post the node as JSON; the answer is a number, or an object with a value"

#: By the prefix of a spec. A new kind of objective is one more entry.
KINDS: dict[str, Kind] = {
    "property": Kind(
        "property:NAME",
        "a property of the node, unseen until the node's turn",
        lambda spec, _directory, _timeout: PropertySource(_rest(spec)),
    ),
    "python": Kind(
        "python:MODULE:FUNCTION",
        "a function of the key, or of key and properties; also found in the current directory",
        lambda spec, directory, timeout: open_function(_rest(spec), directory, timeout),
    ),
    "cypher": Kind(
        "cypher:FILE",
        "a read-only statement that gets $key and returns one number; needs Neo4j",
        lambda spec, directory, _timeout: open_cypher(_rest(spec), directory),
    ),
    "command": Kind(
        "command:PROGRAM …",
        "a program: the key is its last argument, the node comes as JSON on stdin, the last line is the value",
        lambda spec, directory, _timeout: open_command(_rest(spec), directory),
    ),
    "http": Kind("http://…", _WEB_HELP, lambda spec, _directory, _timeout: open_web(spec)),
    "https": Kind("https://…", _WEB_HELP, lambda spec, _directory, _timeout: open_web(spec)),
}


def parse_objective(
    spec: str, *, timeout: float | None = None, retries: int = 0, directory: Path | None = None
) -> Objective:
    """The objective that ``spec`` names. Whatever can be checked without an evaluation is checked.

    Args:
        spec: one of the kinds in ``KINDS``.
        timeout: seconds for each attempt at a node; None for as long as it takes.
        retries: further attempts after one that failed.
        directory: where modules, files and programs are looked for; the current directory without it.

    Raises:
        InvalidObjective: it is of no known kind, or names something that is not there.
    """
    prefix, colon, _ = spec.partition(":")
    kind = KINDS.get(prefix)
    if not colon or kind is None:
        expected = ", ".join(kind.usage for kind in KINDS.values())
        # Only the prefix is repeated: a mistyped address may hold a password.
        given = f"the objective {prefix[:60]!r}" if spec.strip() else "the objective is empty and"
        raise InvalidObjective(f"{given} is of no known kind: expected one of {expected}")
    source = kind.open(spec, directory or Path.cwd(), timeout)
    name = source.name if isinstance(source, WebSource) else spec
    return Objective(name, source, timeout, retries)
