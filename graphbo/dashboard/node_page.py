"""A node that somebody points at: what is known of it, and what can be done about it."""

from graphbo.dashboard.markup import Html, el, joined
from graphbo.dashboard.parts import (
    Shown,
    answers,
    expected,
    form,
    key_text,
    moment,
    note_line,
    person,
    send,
)
from graphbo.types import NodeKey, Observation
from graphbo.types.text import cut, number

__all__ = ["node_panel"]


def node_panel(shown: Shown, key: NodeKey, why: str = "") -> Html:
    """What is known of a node, and what can be done about it."""
    run = shown.run
    pending = next((one for one in run.pending if one.key == key), None)
    told = next((one for one in run.history if one.key == key), None)
    excluded = next((one for one in run.excluded if one.key == key), None)
    parts: list[object] = [shown.facts(key)]
    forms: list[Html] = []
    if told is not None:
        parts.append(_was_told(told))
        forms = _forms_of_told(told)
    elif pending is not None:
        parts.append(el("p", f"Being measured by {person(pending)}, as step {pending.step}."))
        forms = [answers(pending, "panel")]
    elif excluded is None:
        parts.append(el("p", "Not measured.", class_="soft"))
        forms = _forms_of_free()
    if excluded is not None:
        reason = f": {cut(excluded.reason, 300)}" if excluded.reason else ""
        parts.append(el("p", f"Left alone by {cut(excluded.by, 60)}{reason}."))
        forms.append(form("include", send("Let it be proposed again")))
    return joined(
        [
            el("h2", shown.title(key), id="panel-title"),
            parts,
            el("p", why, class_="why") if why else None,
            None if shown.read_only else el("div", forms, class_="forms", data_key=key_text(key)),
        ]
    )


def _was_told(told: Observation) -> Html:
    how = "a known value" if told.source == "warm" else f"step {told.step}"
    if told.value is None:
        value = el("span", "failed: ", cut(told.error or "", 300))
    else:
        value = el("strong", number(told.value))
    believed = "" if told.mean is None else f"; {expected(told.mean, told.std)} was expected"
    return joined([el("p", value, f" ({how}{believed}) ", moment(told.at)), note_line(told.note)])


def _labelled(label: str, name: str, **attributes: object) -> Html:
    return el("label", el("span", label), el("input", name=name, autocomplete="off", **attributes))


def _value(label: str = "Value") -> Html:
    return _labelled(label, "value", inputmode="decimal", required=True)


def _offer(
    action: str, title: str, about: str, button: str, *fields: object, step: int | None = None
) -> Html:
    """Something that can be done, and what that means."""
    return form(
        action,
        el("h3", title),
        el("p", about, class_="soft small") if about else None,
        *fields,
        el("button", button, type="submit", class_="main" if action == "measure" else None),
        data_step=step,
    )


def _forms_of_told(told: Observation) -> list[Html]:
    step, note = told.step, _labelled("Note", "note")
    if told.value is None:
        again = "It may be asked for again; the failure counts no more."
        return [
            _offer("amend", "There is a value after all", "", "Tell", _value(), note, step=step),
            _offer("retry", "Try again", again, "Give back", step=step),
        ]
    reason = _labelled("Reason", "reason", required=True)
    new, why = _value("New value"), _labelled("Reason", "note")
    kept = _labelled("Note", "note", value=told.note or "")
    return [
        _offer("amend", "The value is wrong", "", "Replace", new, why, step=step),
        _offer("retract", "It was another node", "", "Take the value back", reason, step=step),
        _offer("note", "A note", "", "Keep", kept, step=step),
    ]


def _forms_of_free() -> list[Html]:
    never = "It is never proposed in this run; it stays part of the graph."
    reason = _labelled("Reason", "reason")
    return [
        _offer("measure", "Measure it next", "", "Take it"),
        _offer("known", "Its value is known already", "It costs no budget.", "Tell", _value()),
        _offer("exclude", "Leave it alone", never, "Leave alone", reason),
    ]
