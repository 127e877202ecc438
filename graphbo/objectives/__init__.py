"""Objectives: what gives a node its value, named by a spec like ``python:delays:measure``.

An objective is called with a ``Node`` and returns a finite number. It can be pickled, limits the time of each attempt,
tries again if told to, and turns whatever goes wrong into one line. A module for each kind::

    function    python:MODULE:FUNCTION, and functions given to the API
    command     a program that prints the value
    web         a service that answers with it
    cypher      a statement that computes it in the database
    properties  a property that is in the graph already
    provided    what a plugin makes of a text

What they share::

    base      an objective: time-outs, tries, what it is asked and answers
    number    what counts as a value
    payload   a node as JSON
    database  what an objective needs of a database
    pins      what this user agreed to run here, of what databases hold

And how they survive what they call::

    call             a user's function, whatever it raises
    thread, child    waiting for one that cannot be stopped, or can
    process, pipes   programs, and what they print
    warden           ends what they started when the process that evaluates is gone
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from graphbo.errors import InvalidObjective
from graphbo.objectives.base import Evaluation, Evaluator, Node, Objective, evaluate
from graphbo.objectives.command import open_command, split_command
from graphbo.objectives.cypher import check_file, open_cypher
from graphbo.objectives.database import CypherChecker, CypherRunner, Database
from graphbo.objectives.function import from_callable, open_function, split_function
from graphbo.objectives.properties import PropertyEvaluator
from graphbo.objectives.provided import open_provided
from graphbo.objectives.web import WebEvaluator, open_web
from graphbo.types.plugins import Names, Plugin

__all__ = [
    "KINDS",
    "CypherChecker",
    "CypherRunner",
    "Database",
    "Evaluation",
    "Kind",
    "Node",
    "Objective",
    "Spec",
    "evaluate",
    "from_callable",
    "parse_objective",
    "read_spec",
]


@dataclass(frozen=True)
class Kind:
    """A kind of objective.

    Attributes:
        usage: what a spec of this kind looks like.
        help: what it does, for people.
        check: looks at the form of a whole spec, and at nothing else.
        open: makes its evaluator of a whole spec, the directory that names are relative to, and the time-out.
        harmless: whether a database may say that it is evaluated: it runs nothing and asks nobody.
    """

    usage: str
    help: str
    check: Callable[[str], object]
    open: Callable[[str, Path, float | None], Evaluator]
    harmless: bool = False


def _rest(spec: str) -> str:
    return spec.partition(":")[2]


_WEB_HELP = "post the node as JSON; the answer is a number, or an object with a value"

_OWN = {
    "property": Kind(
        "property:NAME",
        "a property of the node, unseen until the node's turn",
        lambda spec: PropertyEvaluator(_rest(spec)),
        lambda spec, _directory, _timeout: PropertyEvaluator(_rest(spec)),
        harmless=True,
    ),
    "python": Kind(
        "python:MODULE:FUNCTION",
        "a function of the key, or of key and properties; also found in the current directory",
        lambda spec: split_function(_rest(spec)),
        lambda spec, directory, timeout: open_function(_rest(spec), directory, timeout),
    ),
    "cypher": Kind(
        "cypher:FILE",
        "a read-only statement that gets $key and returns one number; needs Neo4j",
        lambda spec: check_file(_rest(spec)),
        lambda spec, directory, _timeout: open_cypher(_rest(spec), directory),
    ),
    "command": Kind(
        "command:PROGRAM …",
        "a program: the key is its last argument, the node comes as JSON on stdin, the last line is the value",
        lambda spec: split_command(_rest(spec)),
        lambda spec, directory, _timeout: open_command(_rest(spec), directory),
    ),
    "http": Kind(
        "http://…", _WEB_HELP, open_web, lambda spec, _directory, _timeout: open_web(spec)
    ),
    "https": Kind(
        "https://…", _WEB_HELP, open_web, lambda spec, _directory, _timeout: open_web(spec)
    ),
}


def _of_plugin(plugin: Plugin) -> Kind:
    """Nothing is imported before the objective is opened: a database may have named it."""
    return Kind(
        f"{plugin.name}:…",
        f"a function that the package {plugin.packages[0]} makes of what follows the colon",
        lambda _spec: None,
        lambda spec, _directory, timeout: open_provided(plugin, _rest(spec), timeout),
    )


#: By the prefix of a spec. A new kind of objective is one more entry, or a plugin.
KINDS = Names("objectives", _OWN, _of_plugin)


@dataclass(frozen=True)
class Spec:
    """An objective as somebody wrote it down. Nothing but its form was looked at.

    Attributes:
        name: what it is, fit to be printed and stored: it holds no credentials.
        hidden: what else tells it from others and is not in the name; None if the name is all there is to know.
        template: the text with … in place of what must not be printed.
    """

    text: str = field(repr=False)
    name: str
    hidden: str | None = field(default=None, repr=False)
    template: str = ""

    @property
    def kind(self) -> Kind:
        """What kind of objective it is."""
        return KINDS[self.text.partition(":")[0]]

    def open(
        self, *, timeout: float | None = None, retries: int = 0, directory: Path | None = None
    ) -> Objective:
        """The objective; see ``parse_objective``.

        Raises:
            InvalidObjective: it names something that is not there.
        """
        evaluator = self.kind.open(self.text, directory or Path.cwd(), timeout)
        return Objective(self.name, evaluator, timeout, retries)


def read_spec(text: str) -> Spec:
    """What a text names as far as its form tells: nothing is imported, looked for or asked.

    Raises:
        InvalidObjective: it is of no known kind, or not of the form of its kind.
    """
    prefix, colon, _ = text.partition(":")
    kind = KINDS.get(prefix)
    if not colon or kind is None:
        expected = ", ".join(kind.usage for kind in KINDS.values())
        # Only the prefix is repeated: a mistyped address may hold a password.
        given = f"the objective {prefix[:60]!r}" if text.strip() else "the objective is empty and"
        raise InvalidObjective(f"{given} is of no known kind: expected one of {expected}")
    found = kind.check(text)
    if isinstance(found, WebEvaluator):
        return Spec(text, found.name, found.hidden, found.template)
    return Spec(text, text, template=text)


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
    return read_spec(spec).open(timeout=timeout, retries=retries, directory=directory)
