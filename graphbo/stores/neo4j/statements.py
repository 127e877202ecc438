"""Loads the statements in ``cypher/`` and fills a view's names into them, quoted."""

import json
import re
import textwrap
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from graphbo.errors import GraphboError, InvalidView
from graphbo.stores.neo4j import walks
from graphbo.stores.neo4j.names import any_of, quote
from graphbo.stores.neo4j.predicates import is_candidate, predicate, values_of
from graphbo.types import View

__all__ = ["Statement", "fill", "literal", "quote", "statement", "statement_names"]

PLACEHOLDER = re.compile(r"\{\{(?P<what>[a-z]+)(?: (?P<variable>[a-z]+))?\}\}")
PARAMETER = re.compile(r"\$(?P<parameter>[a-z]\w*)")
#: Where a parameter stands in a statement that is filled, and what only looks like one: names, texts and comments.
IN_TEXT = re.compile(rf"`(?:[^`]|``)*`|'[^']*'|//[^\n]*|{PARAMETER.pattern}")
#: What the one parameter is called that the others are sent in.
GIVEN = "given"
#: Statements about the schema, which take parameters as they are.
COMMANDS = ("CREATE CONSTRAINT", "DROP", "SHOW")
#: A line that stands for a fragment.
USE = re.compile(r"^(?P<indent> *)\{\{use (?P<name>\w+)\}\}$", re.MULTILINE)


def _key(view: View, variable: str | None) -> str:
    if view.key is None:
        return f"elementId({variable})"
    return quote(view.key) if variable is None else f"{variable}.{quote(view.key)}"


def _hop(view: View, _: str | None) -> str:
    return walks.relationship(view.relationships, view.direction)


def _weights(view: View, variable: str | None) -> str:
    # collect() leaves nulls out, and a missing weight must not go unnoticed.
    value = f"coalesce({variable}.{quote(view.weight)}, 'missing')" if view.weight else "1"
    if view.factors:
        return f"collect([type({variable}), {value}])"
    return f"[count({variable})]" if view.weight is None else f"collect({value})"


def _and_where(view: View, variable: str | None) -> str:
    condition = view.candidate_condition
    return "" if condition is None else f" AND {predicate(view, condition, variable or '')}"


def _where(view: View, variable: str | None) -> str:
    return _and_where(view, variable).replace(" AND ", " WHERE ", 1)


def _candidate(view: View, variable: str | None) -> str:
    return (
        f"coalesce({is_candidate(view, variable or '')}, false)" if view.has_connectors else "true"
    )


def _connector(view: View, variable: str | None) -> str:
    if not view.has_connectors:
        return "false"
    degree = walks.connector_degree(view, variable or "")
    return f"NOT {_candidate(view, variable)} AND {degree} <= {view.hub_limit}"


def _hub(view: View, variable: str | None) -> str:
    if not view.has_connectors:
        return "false"
    degree = walks.connector_degree(view, variable or "")
    return f"NOT {_candidate(view, variable)} AND {degree} > {view.hub_limit}"


#: From which nodes one hop leads, by what they are called in the statement.
STARTS = {
    "grown": "UNWIND grown[2] AS v0\nWITH v0 WHERE ($everywhere OR v0 IN throughs OR v0 IN grown[1])",
    "start": "UNWIND nodes + connectors AS v0\nWITH v0 WHERE true",
}


def _nearby(view: View, what: str | None) -> str:
    return walks.nearby(view, STARTS[what or ""])


def _relationships(view: View, _: str | None) -> str:
    if not view.relationships:
        return "RETURN [] AS relationships"
    return PLACEHOLDER.sub(lambda match: _fill(match, view), _fragment("relationships"))


FILLERS: Mapping[str, Callable[[View, str | None], str]] = {
    "labels": lambda view, _: any_of(view.candidate_labels),
    "all": lambda view, _: any_of(view.labels),
    "label": lambda view, _: quote(view.labels[0]),
    "types": lambda view, _: any_of(view.relationships),
    "type": lambda view, _: quote(view.relationships[0]),
    "key": _key,
    "hop": _hop,
    "weights": _weights,
    "andwhere": _and_where,
    "where": _where,
    "kept": lambda view, variable: _and_where(view, variable).removeprefix(" AND ") or "true",
    "candidate": _candidate,
    "connector": _connector,
    "hub": _hub,
    "nearby": _nearby,
    "summed": lambda _, variable: walks.summed(variable or ""),
    "relationships": _relationships,
    "meetings": lambda view, _: walks.meetings(view),
    "pathhubs": lambda view, _: walks.path_hubs(view),
    "degree": lambda view, variable: walks.degree_along(view, variable or ""),
}


def _folder() -> Traversable:
    """``cypher/`` inside the installed package, or beside it in a working copy."""
    installed = files("graphbo") / "cypher"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "cypher"


@cache
def statement_names() -> tuple[str, ...]:
    """The names of all statements."""
    entries = (entry.name for entry in _folder().iterdir())
    return tuple(
        sorted(name.removesuffix(".cypher") for name in entries if name.endswith(".cypher"))
    )


def _parted(source: str) -> tuple[str, str]:
    """The comment at the beginning of a file, and the rest."""
    lines = source.splitlines()
    start = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    header = "\n".join(line.removeprefix("//").strip() for line in lines[:start])
    return header, "\n".join(lines[start:]).strip()


def _use(match: re.Match[str]) -> str:
    """A fragment in place of the line that names it."""
    return textwrap.indent(_fragment(match["name"]), match["indent"])


def _fragment(name: str) -> str:
    _, text = _parted((_folder() / "fragments" / f"{name}.cypher").read_text(encoding="utf-8"))
    return text


class Statement:
    """One statement of ``cypher/``: its header, and its text for a view."""

    def __init__(self, name: str, source: str) -> None:
        self.name = name
        self.header, template = _parted(source)
        self.template = USE.sub(_use, template)
        self._filled: dict[tuple[View | None, View | None, bool], str] = {}
        self._sent: dict[tuple[View | None, View | None, bool], str] = {}

    @property
    def summary(self) -> str:
        """The first sentence of its header."""
        return re.split(r"(?<=\.)\s|: ", self.header, maxsplit=1)[0].replace("\n", " ").rstrip(".")

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters."""
        found = PLACEHOLDER.finditer(self.template)
        starts = [STARTS[one["variable"]] for one in found if one["what"] == "nearby"]
        return tuple(dict.fromkeys(PARAMETER.findall("\n".join([self.template, *starts]))))

    @property
    def needs_view(self) -> bool:
        """Whether a view's names have to be filled in."""
        return PLACEHOLDER.search(self.template) is not None

    def text(
        self, view: View | None = None, target: View | None = None, *, reading: bool = False
    ) -> str:
        """The runnable text. Filled once per view, so the server finds the plan in its cache.

        Args:
            view: whose names are filled in.
            target: the view of the nodes at the other end of what is written, if it is another.
            reading: whether the answer has the properties that the parameter ``$read`` names, too, where it may.

        Raises:
            InvalidView: it needs a view and gets none.
            InvalidName: the view has a name that cannot be quoted.
        """
        case = view, target, reading
        if case not in self._filled:
            self._filled[case] = PLACEHOLDER.sub(
                lambda match: _fill(match, view, target, reading=reading), self.template
            )
        return self._filled[case]

    def call(
        self,
        parameters: Mapping[str, object],
        view: View | None = None,
        target: View | None = None,
    ) -> tuple[str, dict[str, object]]:
        """The text and the parameters that are sent: all parameters are entries of one.

        A server keeps a plan for parameters of the same types, and the type of a list or a text says how long it is, by
        powers of ten: with parameters of their own, statements would be planned anew, for as long as a hundred
        executions, again and again while a run grows. What is inside of a map does not matter.

        Args:
            parameters: their values; those of the view's conditions are added.
            view: whose names are filled in.
            target: as for ``text``.

        Raises:
            InvalidView: it needs a view and gets none.
            InvalidName: the view has a name that cannot be quoted.
        """
        given = dict(parameters) | self.values(view)
        # Only who asks for properties is answered with some.
        case = view, target, "read" in given
        text = self.text(view, target, reading="read" in given)
        if not given or self.template.startswith(COMMANDS):
            return text, given
        if case not in self._sent:
            self._sent[case] = IN_TEXT.sub(_as_given, text)
        return self._sent[case], {GIVEN: given}

    def values(self, view: View | None) -> dict[str, object]:
        """The parameter ``$values``, where the text for a view has it: what its conditions compare with."""
        if view is None or "$values[" not in self.text(view):
            return {}
        return {"values": values_of(view)}

    def for_browser(self, view: View | None, values: Mapping[str, object]) -> str:
        """The statement with its header and ``:param`` lines, ready to paste into Neo4j Browser."""
        lines = [f"// {self.name}", *(f"// {line}" for line in self.header.splitlines())]
        shown = {name: values.get(name) for name in self.parameters} | self.values(view)
        lines += [f":param {name} => {literal(value)};" for name, value in shown.items()]
        return "\n".join([*lines, f"{self.text(view)};"])


def _as_given(match: re.Match[str]) -> str:
    return match[0] if match["parameter"] is None else f"${GIVEN}.{match['parameter']}"


def _fill(
    match: re.Match[str], view: View | None, target: View | None = None, *, reading: bool = False
) -> str:
    if match["what"] == "read":
        # One plan whatever the names are; and the plan of before, where nothing is read.
        return f", [name IN $read | {match['variable']}[name]]" if reading else ""
    if view is None:
        raise InvalidView(f"the statement needs a view for {match[0]}: give it one")
    if match["what"] == "to":
        return FILLERS[match["variable"]](target or view, None)
    return FILLERS[match["what"]](view, match["variable"])


def fill(template: str, view: View, values: Mapping[str, object]) -> str:
    """A query for people to paste: the view's names and the values of parameters are put into the text.

    In one pass, so that nothing is looked for in what was put in.

    Raises:
        InvalidName: the view has a name that cannot be quoted.
    """

    def put(match: re.Match[str]) -> str:
        if match["parameter"] is not None:
            return literal(values[match["parameter"]])
        return _fill(match, view)

    return re.sub(f"{PLACEHOLDER.pattern}|{PARAMETER.pattern}", put, template)


def literal(value: object) -> str:
    """A value as Cypher text, for people to paste and edit; graphbo itself never sends one."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {literal(item)}" for name, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    # What is not printable, such as a line's end of some alphabet, could end a comment or a line of the user's.
    return json.dumps(value, ensure_ascii=not (isinstance(value, str) and value.isprintable()))


@cache
def statement(name: str) -> Statement:
    """The statement in ``cypher/NAME.cypher``.

    Raises:
        GraphboError: there is none of that name.
    """
    if name not in statement_names():
        raise GraphboError(
            f"there is no statement {name!r}: expected one of {', '.join(statement_names())}"
        )
    return Statement(name, (_folder() / f"{name}.cypher").read_text(encoding="utf-8"))
