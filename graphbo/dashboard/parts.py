"""What the page shows of runs, as HTML: whatever people named is text in it."""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graphbo.dashboard.markup import Html, el, joined
from graphbo.dashboard.watching import Curve
from graphbo.runs import Run
from graphbo.runs.captions import Captions
from graphbo.runs.records import RunRecord, UnreadableRun
from graphbo.types import NodeKey, Observation, Pending
from graphbo.types.text import cut, number, plural

__all__ = [
    "Shown",
    "best_part",
    "card",
    "controls",
    "head",
    "history_part",
    "node_panel",
    "others_part",
    "runs_part",
]

#: Of a node on a card; a property may hold a book.
MOST_PROPERTIES, LONGEST, LONGEST_NAME = 12, 240, 60
SPARK_WIDTH, SPARK_HEIGHT = 120, 28


@dataclass(frozen=True)
class Shown:
    """What is needed to show nodes of a run.

    Attributes:
        run: with what is known of it.
        captions: of the nodes that are shown.
        properties: of those of which they are shown.
        labels: of nodes, where there are several.
        read_only: whether there are no forms.
    """

    run: Run
    captions: Captions
    properties: Mapping[NodeKey, Mapping[str, object]] = field(default_factory=dict)
    labels: Mapping[NodeKey, Sequence[str]] = field(default_factory=dict)
    read_only: bool = False

    def named(self, key: NodeKey) -> Html:
        """A node, by its key, and its caption where it has one."""
        caption = self.captions.of(key)
        behind = el("span", " ", cut(caption, LONGEST), class_="caption") if caption else None
        return el("span", el("span", cut(str(key), LONGEST), class_="key"), behind, class_="named")

    def text(self, key: NodeKey) -> str:
        """The same as text."""
        caption = self.captions.of(key)
        return cut(str(key), 80) + (f" ({cut(caption, 80)})" if caption else "")

    def title(self, key: NodeKey) -> Html:
        """The same for a heading: what people call it comes first."""
        caption = self.captions.of(key)
        first = cut(caption or str(key), LONGEST)
        return joined(
            [first, el("span", " ", cut(str(key), LONGEST), class_="key")] if caption else [first]
        )

    def facts(self, key: NodeKey) -> Html | None:
        """The labels and properties of a node."""
        view = self.run.view
        pairs: list[tuple[str, object]] = []
        if labels := self.labels.get(key):
            pairs.append(("labels" if len(labels) > 1 else "label", ", ".join(labels)))
        skipped = (view.key, self.captions.name)
        pairs += [
            (name, value)
            for name, value in self.properties.get(key, {}).items()
            if name not in skipped
        ]
        if not pairs:
            return None
        left = len(pairs) - MOST_PROPERTIES
        more = [el("dt", "…"), el("dd", f"{plural(left, 'other')}")] if left > 0 else []
        return el(
            "dl", [_pair(*pair) for pair in pairs[:MOST_PROPERTIES]], more, class_="properties"
        )


def _pair(name: str, value: object) -> list[Html]:
    return [el("dt", cut(name, LONGEST_NAME)), el("dd", cut(str(value), LONGEST))]


def key_text(key: NodeKey) -> str:
    """A key as pages hand it back: its type with it."""
    return json.dumps(key)


def _moment(at: str) -> Html | None:
    """A time, which the page says relative to its own clock."""
    if not at:
        return None
    return el("time", at[:16].replace("T", " "), datetime=at)


def _goal(record: RunRecord) -> str:
    goal = "Maximize" if record.maximize else "Minimize"
    return (
        f"{goal} {cut(str(record.config.get('objective') or 'values that are told by hand'), 160)}"
    )


def _state(record: RunRecord) -> Html:
    words = {"running": "in progress"}
    return el("span", words.get(record.state, record.state), class_=f"pill {record.state}")


def _progress(record: RunRecord) -> Html:
    used, budget = record.evaluations, record.budget
    if budget is None:
        return el(
            "p",
            plural(used, "evaluation"),
            el("span", ", no budget", class_="soft"),
            class_="progress-text",
        )
    share = 100 if not budget else min(100, round(100 * used / budget))
    return joined(
        [
            el("p", f"{used:,} of {plural(budget, 'evaluation')}", class_="progress-text"),
            el(
                "progress",
                f"{share} %",
                max=max(1, budget),
                value=min(used, budget),
                aria_label="Part of the budget that is used",
            ),
        ]
    )


# All runs


def runs_part(
    runs: Iterable[RunRecord | UnreadableRun],
    curves: Mapping[str, Curve],
    people: Mapping[str, Sequence[str]],
) -> Html:
    """A line for each run, the latest first."""
    lines = [
        _run_line(one, curves.get(one.name), people.get(one.name, ()))
        if isinstance(one, RunRecord)
        else _unreadable(one)
        for one in reversed(list(runs))
    ]
    if not lines:
        return el(
            "p", "There is no run in this database yet. Start one here to measure by hand, or in a terminal with ",
            el("code", "graphbo run"), ".", class_="empty",
        )  # fmt: skip
    heads = ("compare", "run", "progress", "best", "at work", "how it went")
    return el(
        "table",
        el("caption", "All runs of this database", class_="unseen"),
        el(
            "thead",
            el(
                "tr",
                [
                    el(
                        "th",
                        el("span", one, class_="unseen" if one == "compare" else None),
                        scope="col",
                    )
                    for one in heads
                ],
            ),
        ),
        el("tbody", lines),
        class_="runs",
    )


def _run_line(record: RunRecord, curve: Curve | None, people: Sequence[str]) -> Html:
    name = cut(record.name, LONGEST)
    box = el(
        "input", type="checkbox", name="compare", value=record.name, aria_label=f"Compare {name}"
    )
    link = el("a", name, href=_address("/run", name=record.name), class_="run-name")
    goal = el("span", _goal(record), " on ", cut(str(record.view), 120), class_="soft small")
    return el(
        "tr",
        el("td", box, class_="choose"),
        el("th", link, " ", _state(record), el("br"), goal, scope="row"),
        el("td", _progress(record), data_title="progress"),
        el("td", el("strong", number(record.best_value)), class_="number", data_title="best"),
        el("td", _at_work(record, people), data_title="at work"),
        el(
            "td",
            _sparkline(record, curve),
            el("span", _moment(record.updated_at), class_="soft small"),
            data_title="how it went",
        ),
    )


def _unreadable(run: UnreadableRun) -> Html:
    return el(
        "tr",
        el("td"),
        el("th", cut(run.name, LONGEST), scope="row"),
        el("td", cut(run.reason, 400), colspan=4, class_="soft"),
    )


def _at_work(record: RunRecord, people: Sequence[str]) -> object:
    if not record.pending:
        return el("span", "nobody", class_="soft")
    names = ", ".join(cut(one, 40) for one in people[:3]) + (" …" if len(people) > 3 else "")
    return joined(
        [names or "somebody", el("span", f" ({plural(record.pending, 'node')})", class_="soft")]
    )


def _sparkline(record: RunRecord, curve: Curve | None) -> Html | None:
    if curve is None or len(curve.x) < 2:
        return None
    low, high = min(curve.y), max(curve.y)
    most = max(curve.x) or 1
    points, last = [], ""
    for x, y in zip(curve.x, curve.y, strict=True):
        place = 0.5 if high == low else (y / 2 - low / 2) / (high / 2 - low / 2)
        across, down = 2 + (SPARK_WIDTH - 4) * x / most, 2 + (SPARK_HEIGHT - 4) * (1 - place)
        points.append(f"{'H' if last else 'M'}{across:.1f}{'V' if last else ' '}{down:.1f}")
        last = f"{across:.1f}"
    goal = "rose" if record.maximize else "fell"
    return el(
        "svg",
        el("path", d="".join(points)),
        viewBox=f"0 0 {SPARK_WIDTH} {SPARK_HEIGHT}",
        class_="spark",
        role="img",
        aria_label=f"The best value {goal} from {number(curve.y[0])} to {number(curve.y[-1])}",
    )


def _address(path: str, **query: str) -> str:
    from urllib.parse import urlencode  # noqa: PLC0415

    return f"{path}?{urlencode(query)}"


# One run


def head(record: RunRecord) -> Html:
    """What the run is about and how it stands."""
    return joined(
        [
            el("p", _goal(record), " on ", cut(str(record.view), 300), class_="subtitle"),
            el(
                "p",
                _state(record),
                " begun ",
                _moment(record.started_at),
                ", last changed ",
                _moment(record.updated_at),
                class_="soft small",
            ),
        ]
    )


def best_part(shown: Shown) -> Html:
    """The answer so far, and how much has been used."""
    record, best = shown.run.record, shown.run.best()
    if best is None:
        found = el(
            "p",
            "None yet" if not record.evaluations else "Every measurement failed so far.",
            class_="best-key",
        )
    else:
        believed = f", believed to be {number(best.mean)}" if best.mean is not None else ""
        found = joined(
            [
                el(
                    "p",
                    el(
                        "button",
                        shown.title(best.key),
                        type="button",
                        class_="link best-key",
                        data_node=key_text(best.key),
                    ),
                ),
                el("p", "with ", el("strong", number(best.value)), believed),
            ]
        )
    counts = [
        ("failed", record.failed),
        ("known values", record.warm),
        ("changed afterwards", record.amended),
    ]
    told = [el("div", el("dt", name), el("dd", f"{count:,}")) for name, count in counts if count]
    return joined(
        [
            el("div", el("h2", "The best node so far"), found, class_="best"),
            el(
                "div",
                el("h2", "Progress"),
                _progress(record),
                el("dl", told, class_="counts") if told else None,
                class_="so-far",
            ),
        ]
    )


def controls(record: RunRecord) -> Html:
    """What may be changed of the run as a whole."""
    if record.state == "running":
        change = el("button", "Stop the run", type="submit", data_action="stop")
    else:
        change = el("button", "Go on with the run", type="submit", data_action="go-on")
    budget = "" if record.budget is None else record.budget
    return joined(
        [
            _form("stop", change),
            _form(
                "budget",
                el(
                    "label",
                    "Budget ",
                    el(
                        "input",
                        type="number",
                        name="budget",
                        min=1,
                        step=1,
                        value=budget,
                        required=True,
                        inputmode="numeric",
                    ),
                ),
                el("button", "Change", type="submit"),
            ),
        ]
    )


def _form(action: str, *parts: object, **attributes: object) -> Html:
    return el("form", *parts, class_="act", data_action=action, **attributes)


# What to measure next


def card(shown: Shown, pending: Pending, why: str) -> Html:
    """A node that somebody took, with what can be said of it."""
    key = key_text(pending.key)
    ident = f"card-{pending.step}"
    note = getattr(pending, "note", None)
    return el(
        "article",
        el("h3", shown.title(pending.key), id=f"{ident}-title"),
        el(
            "p",
            "step ",
            pending.step,
            ", taken by ",
            el("strong", person(pending)),
            " ",
            _moment(pending.at),
            class_="soft small",
        ),
        el("p", why, class_="why"),
        el("p", note, class_="note") if note else None,
        shown.facts(pending.key),
        None if shown.read_only else _answers(shown, pending, ident),
        el(
            "p",
            el("button", "Show on the map", type="button", class_="link", data_show=key),
            class_="small",
        ),
        class_="node-card",
        data_person=person(pending),
        aria_labelledby=f"{ident}-title",
    )


def _answers(shown: Shown, pending: Pending, ident: str) -> Html:
    """The fields of a node that is being measured."""
    del shown
    return _form(
        "tell",
        el(
            "div",
            el("label", "Value", for_=f"{ident}-value"),
            el(
                "input",
                id=f"{ident}-value",
                name="value",
                inputmode="decimal",
                autocomplete="off",
                class_="value",
            ),
            el("button", "Tell", type="submit", class_="main", data_action="tell"),
            class_="field",
        ),
        el(
            "div",
            el("label", "Note", for_=f"{ident}-note"),
            el(
                "input",
                id=f"{ident}-note",
                name="note",
                autocomplete="off",
                placeholder="what else there is to say",
            ),
            class_="field",
        ),
        el(
            "div",
            el(
                "button",
                "Could not be measured",
                type="submit",
                data_action="fail",
                title="It counts as an evaluation; the note says why",
            ),
            el(
                "button",
                "Give back",
                type="submit",
                data_action="release",
                title="It costs nothing, and may be asked for again",
            ),
            el(
                "button",
                "Leave alone",
                type="submit",
                data_action="leave-alone",
                title="Give it back, and never propose it in this run",
            ),
            class_="buttons",
        ),
        data_step=pending.step,
        data_key=key_text(pending.key),
    )


def person(pending: Pending) -> str:
    """Who measures a node: a person by the name that they gave, a process by its machine."""
    worker = pending.worker
    return cut(worker.rpartition(":")[0] or worker, 60)


def others_part(shown: Shown, pending: Iterable[Pending]) -> Html:
    """What programs are evaluating."""
    lines = []
    for one in pending:
        left = one.lease_left is not None and one.lease_left < 0
        how = ", left: the next worker takes it over" if left else ""
        lines.append(
            el("li", el("button", shown.named(one.key), type="button", class_="link", data_node=key_text(one.key)),
               el("span", f" step {one.step}, with {person(one)}{how} ", _moment(one.at), class_="soft small"))
        )  # fmt: skip
    if not lines:
        return Html("")
    return joined([el("h3", "With programs"), el("ul", lines, class_="others")])


# What was told


def history_part(shown: Shown, most: int, retracted: Collection[Observation] = ()) -> Html:
    """The latest observations."""
    del retracted
    history = shown.run.history
    if not history:
        return el("p", "Nothing yet.", class_="empty")
    best = shown.run.record.best_step
    lines = [_told_line(shown, one, one.step == best) for one in list(reversed(history))[:most]]
    heads = (
        ("step", "number"),
        ("node", None),
        ("value", "number"),
        ("expected", "number"),
        ("told", None),
        ("remark", None),
        ("", None),
    )
    rest = len(history) - most
    return joined(
        [
            el(
                "div",
                el(
                    "table",
                    el(
                        "caption",
                        f"{'All' if rest <= 0 else 'The latest'} {min(most, len(history)):,} of {plural(len(history), 'measurement')}",
                    ),
                    el(
                        "thead",
                        el(
                            "tr",
                            [
                                el(
                                    "th",
                                    one or el("span", "change", class_="unseen"),
                                    scope="col",
                                    class_=kind,
                                )
                                for one, kind in heads
                            ],
                        ),
                    ),
                    el("tbody", lines),
                    class_="told",
                ),
                class_="scroll",
                tabindex=0,
                role="region",
                aria_label="Measurements",
            ),
            el("button", f"Show {min(rest, 200):,} more", type="button", id="more")
            if rest > 0
            else None,
        ]
    )


def _told_line(shown: Shown, one: Observation, best: bool) -> Html:
    expected = "" if one.mean is None else f"{number(one.mean)} ± {number(one.std)}"
    value = "failed" if one.value is None else number(one.value)
    remark = "; ".join(cut(part, 160) for part in (one.error, one.note) if part)
    return el(
        "tr",
        el("td", "known" if one.source == "warm" else one.step, class_="number"),
        el("td", shown.named(one.key)),
        el("td", el("strong", value) if best else value, " ★" if best else None, class_="number"),
        el("td", expected, class_="number soft"),
        el("td", _moment(one.at), class_="soft"),
        el("td", remark, class_="remark"),
        el(
            "td",
            el(
                "button",
                "Look",
                type="button",
                class_="link",
                data_node=key_text(one.key),
                aria_label=f"Look at {cut(str(one.key), 60)}",
            ),
        ),
        class_="is-best" if best else None,
    )


# A node that somebody points at


def node_panel(shown: Shown, key: NodeKey, why: str = "") -> Html:
    """What is known of a node, and what can be done about it."""
    run = shown.run
    pending = next((one for one in run.pending if one.key == key), None)
    told = next((one for one in run.history if one.key == key), None)
    excluded = next((one for one in getattr(run, "excluded", ()) if one.key == key), None)
    parts: list[object] = [shown.facts(key)]
    forms: list[Html] = []
    if told is not None:
        parts.append(_was_told(told))
        forms = _forms_of_told(told)
    elif pending is not None:
        parts.append(el("p", f"Being measured by {person(pending)}, as step {pending.step}. {why}"))
        forms = [_answers(shown, pending, "panel")]
    elif excluded is not None:
        reason = f": {cut(excluded.reason, 300)}" if getattr(excluded, "reason", None) else ""
        parts.append(el("p", f"Left alone{reason}."))
        forms = [_form("include", el("button", "Let it be proposed again", type="submit"))]
    else:
        parts.append(el("p", "Not measured.", class_="soft"))
        forms = _forms_of_free()
    return joined(
        [
            el("h2", shown.title(key), id="panel-title"),
            parts,
            None if shown.read_only else el("div", forms, class_="forms", data_key=key_text(key)),
        ]
    )


def _was_told(told: Observation) -> Html:
    how = "a known value" if told.source == "warm" else f"step {told.step}"
    value = (
        el("span", "failed: ", cut(told.error or "", 300))
        if told.value is None
        else el("strong", number(told.value))
    )
    expected = (
        "" if told.mean is None else f"; {number(told.mean)} ± {number(told.std)} was expected"
    )
    return joined(
        [
            el("p", value, f" ({how}{expected}) ", _moment(told.at)),
            el("p", cut(told.note, 500), class_="note") if told.note else None,
        ]
    )


def _labelled(label: str, **attributes: object) -> Html:
    return el("label", el("span", label), el("input", autocomplete="off", **attributes))


def _forms_of_told(told: Observation) -> list[Html]:
    step = told.step
    if told.value is None:
        return [
            _form("amend", el("h3", "There is a value after all"), _labelled("Value", name="value", inputmode="decimal", required=True),
                  _labelled("Note", name="note"), el("button", "Tell", type="submit"), data_step=step),
            _form("retry", el("h3", "Try again"), el("p", "It may be asked for again; the failure counts no more.", class_="soft small"),
                  el("button", "Give back", type="submit"), data_step=step),
        ]  # fmt: skip
    return [
        _form("amend", el("h3", "The value is wrong"), _labelled("New value", name="value", inputmode="decimal", required=True),
              _labelled("Reason", name="note"), el("button", "Replace", type="submit"), data_step=step),
        _form("retract", el("h3", "It was another node"), _labelled("Reason", name="reason", required=True),
              el("button", "Take the value back", type="submit"), data_step=step),
        _form("note", el("h3", "A note"), _labelled("Note", name="note", value=told.note or ""),
              el("button", "Keep", type="submit"), data_step=step),
    ]  # fmt: skip


def _forms_of_free() -> list[Html]:
    return [
        _form("measure", el("h3", "Measure it next"), el("button", "Take it", type="submit", class_="main")),
        _form("known", el("h3", "Its value is known already"), el("p", "It costs no budget.", class_="soft small"),
              _labelled("Value", name="value", inputmode="decimal", required=True), el("button", "Tell", type="submit")),
        _form("exclude", el("h3", "Leave it alone"), el("p", "It is never proposed in this run; it stays part of the graph.", class_="soft small"),
              _labelled("Reason", name="reason"), el("button", "Leave alone", type="submit")),
    ]  # fmt: skip


def left_of(record: RunRecord) -> int | None:
    """How many nodes may still be asked for; None without a limit."""
    return None if math.isinf(record.left) else max(0, int(record.left))
