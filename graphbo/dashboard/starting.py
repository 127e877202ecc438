"""Starting a run by hand: a form, and what is found of the graph that it names before anything is written."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from graphbo.dashboard.actions import budget_of, person_of, text_of, whole_number
from graphbo.dashboard.markup import Html, el, joined
from graphbo.errors import InvalidView, RunError
from graphbo.runs import Run, RunSettings
from graphbo.stores import GraphStore
from graphbo.types import View
from graphbo.types.text import cut
from graphbo.types.view_texts import ViewTexts, read_relationship

__all__ = ["Examine", "Finding", "examined", "form_part", "start", "view_of"]

MOST_NAMES = 200


class Finding(Protocol):
    """What was looked at, and whether it is fine."""

    @property
    def ok(self) -> bool:
        """Whether it is."""

    @property
    def skipped(self) -> bool:
        """Whether there was nothing to look at."""

    @property
    def detail(self) -> str:
        """What was found."""

    @property
    def advice(self) -> str:
        """What to do about it."""


#: Looks at a database and a view of it, as the doctor does.
Examine = Callable[[GraphStore, View | None], Iterable[Finding]]


def view_of(form: Mapping[str, Any]) -> View | None:
    """The view that a form describes; None if it names no nodes and no edges.

    Raises:
        InvalidView, InvalidName: there is no such view.
    """
    texts = ViewTexts(
        labels=_lines(form, "label"),
        relationships=dict(map(read_relationship, _lines(form, "rel"))),
        direction=_one_of(form, "direction", ("both", "out", "in")),  # type: ignore[arg-type]
        weight=text_of(form, "weight") or None,
        key=text_of(form, "key") or None,
        candidates=_lines(form, "candidates"),
        where=text_of(form, "where") or None,
        candidates_where=text_of(form, "candidates_where") or None,
        paths=_lines(form, "path"),
    )
    return texts.view() if texts.names_anything else None


def _lines(form: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Names are separated by line breaks or semicolons: they may hold commas."""
    parts = text_of(form, name).replace(";", "\n").splitlines()
    return tuple(part.strip() for part in parts if part.strip())


def _one_of(form: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> str | None:
    text = text_of(form, name)
    if text and text not in choices:
        raise InvalidView(f"the {name} is {text[:40]!a}: expected {' or '.join(choices)}")
    return text or None


def examined(store: GraphStore, form: Mapping[str, Any], examine: Examine) -> tuple[bool, Html]:
    """Whether a run can be started on what the form names, and what was found."""
    view = view_of(form)
    findings = list(examine(store, view))
    lines = [_finding(one) for one in findings]
    fine = view is not None and all(one.ok for one in findings)
    return fine, joined([el("ul", lines, class_="findings")])


def _finding(one: Finding) -> Html:
    mark, word = (
        ("–", "not looked at") if one.skipped else ("✓", "fine") if one.ok else ("✗", "wrong")
    )
    kind = "skipped" if one.skipped else "fine" if one.ok else "wrong"
    advice = "" if one.ok or not one.advice else f": {one.advice}"
    return el(
        "li",
        el("span", mark, aria_hidden="true", class_="mark"),
        el("span", f"{word}: ", class_="unseen"),
        cut(_on_the_form(f"{one.detail}{advice}"), 800),
        class_=kind,
    )


def _on_the_form(text: str) -> str:
    """What a terminal has options for, as the form calls it."""
    return re.sub(r"--([a-z-]+)", lambda flag: _CALLED.get(flag[1], flag[0]), text)


def start(store: GraphStore, form: Mapping[str, Any]) -> Run:
    """Start a run whose values are told by hand.

    Raises:
        GraphboError: it cannot be started; nothing is left behind.
    """
    name, view = text_of(form, "name"), view_of(form)
    if not name:
        raise RunError("the run has no name")
    if view is None:
        raise InvalidView(
            "the graph is not named: say which label its nodes have, and which type its relationships"
        )
    settings = RunSettings(
        maximize=_one_of(form, "goal", ("maximize", "minimize")) != "minimize",
        budget=budget_of(form) if text_of(form, "budget") else None,
        seed=whole_number(form, "seed") if text_of(form, "seed") else 0,
        caption=text_of(form, "caption") or None,
    )
    return Run.create(store, view, name, settings, worker=person_of(form))


# The form


#: The fields of a graph that most runs do without: label, name, hint.
_MORE = (
    ("Only these are measured", "candidates", "a label; the other nodes only connect them"),
    ("Path", "path", "(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person) is an edge"),
    ("Key", "key", "the property that identifies a node; empty for the one with a constraint"),
    ("Weight", "weight", "the property of a relationship that says how much it counts"),
    ("Filter of the nodes", "where", 'as in continent = "EU" AND altitude > 1000'),
    ("Filter of what is measured", "candidates_where", "the other nodes stay part of the graph"),
)


#: What options are called here.
_CALLED = {
    "label": "“Label of the nodes”",
    "rel": "“Type of the relationships”",
    **{name.replace("_", "-"): f"“{label}”" for label, name, _ in _MORE},
}


def form_part(store: GraphStore) -> Html:
    """The form, with the labels and types that there are."""
    labels, types = store.names()
    return el(
        "form",
        el("fieldset", el("legend", "The run"), _fields_of_run()),
        el("fieldset", el("legend", "The graph"), _fields_of_graph(labels, types)),
        el("div", id="findings", class_="found", role="status", aria_live="polite"),
        el(
            "p",
            el("button", "Look at the graph", type="button", id="examine"),
            " ",
            el("button", "Start the run", type="submit", class_="main"),
        ),
        _choices("labels", labels),
        _choices("types", types),
        id="start",
        class_="start",
    )


def _fields_of_run() -> list[Html]:
    number = {"type": "number", "inputmode": "numeric"}
    return [
        _field("Name", "name", "people call it by this, here and in terminals", required=True),
        el(
            "div",
            el("span", "Goal", class_="label"),
            _radio("goal", "maximize", "large values are wanted", checked=True),
            _radio("goal", "minimize", "small values are wanted"),
            class_="choice",
        ),
        _field("Budget", "budget", "most evaluations; empty for no limit", min=1, **number),
    ]


def _fields_of_graph(labels: Sequence[str], types: Sequence[str]) -> list[Html]:
    # Where there is one alone, it is meant.
    label, rel = (names[0] if len(names) == 1 else "" for names in (labels, types))
    alike = "those that connect nodes that are alike"
    more = [_field(label, name, hint) for label, name, hint in _MORE]
    seed = _field(
        "Seed", "seed", "equal seeds propose equal nodes", type="number", min=0, inputmode="numeric"
    )
    several = "several with ; between them"
    return [
        _field("Label of the nodes", "label", several, list="labels", value=label),
        _field("Type of the relationships", "rel", alike, list="types", value=rel),
        _field("Caption", "caption", "the property that people know a node by"),
        el("details", el("summary", "More about the graph"), more, seed),
    ]


def _choices(ident: str, names: Sequence[str]) -> Html:
    return el("datalist", [el("option", value=name) for name in names[:MOST_NAMES]], id=ident)


def _field(label: str, name: str, hint: str, **attributes: object) -> Html:
    ident, described = f"start-{name}", f"hint-{name}"
    return el(
        "div",
        el("label", label, for_=ident),
        el(
            "input",
            id=ident,
            name=name,
            autocomplete="off",
            aria_describedby=described,
            **attributes,
        ),
        el("span", hint, id=described, class_="hint"),
        class_="field",
    )


def _radio(name: str, value: str, label: str, *, checked: bool = False) -> Html:
    return el(
        "label", el("input", type="radio", name=name, value=value, checked=checked), " ", label
    )
