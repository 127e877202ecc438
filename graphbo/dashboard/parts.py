"""What several pages show: nodes by what people call them, how a run stands, and forms."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphbo.dashboard.markup import Html, el, joined
from graphbo.runs import Run
from graphbo.runs.captions import Captions
from graphbo.runs.costs import spending_of
from graphbo.runs.records import RunRecord
from graphbo.types import NodeKey, Pending
from graphbo.types.text import cut, plural

__all__ = [
    "LONGEST",
    "Shown",
    "answers",
    "expected",
    "form",
    "goal",
    "key_text",
    "moment",
    "note_line",
    "person",
    "progress",
    "scrolling",
    "send",
    "small",
    "state",
    "to_node",
]

#: Of a node on a card; a property may hold a book.
MOST_PROPERTIES, LONGEST, LONGEST_NAME = 12, 240, 60


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
        return el("dl", [_pair(*one) for one in pairs[:MOST_PROPERTIES]], more, class_="properties")


def _pair(name: str, value: object) -> list[Html]:
    return [el("dt", cut(name, LONGEST_NAME)), el("dd", cut(str(value), LONGEST))]


def key_text(key: NodeKey) -> str:
    """A key as pages hand it back: its type with it."""
    return json.dumps(key)


def moment(at: str) -> Html | None:
    """A time, which the page says relative to its own clock."""
    if not at:
        return None
    return el("time", at[:16].replace("T", " "), datetime=at)


def goal(record: RunRecord) -> str:
    """What is wanted of which values."""
    wanted = "Maximize" if record.maximize else "Minimize"
    return f"{wanted} {cut(str(record.config.get('objective') or 'values that are told by hand'), 160)}"


def state(record: RunRecord) -> Html:
    """Whether it goes on."""
    words = {"running": "in progress" if record.pending else "open"}
    return el("span", words.get(record.state, record.state), class_=f"pill {record.state}")


def progress(record: RunRecord) -> Html:
    """What has been used of the budget, and what was spent in a run with costs."""
    cost = spending_of(record)
    spent = el("p", cost, class_="progress-text soft") if cost else joined([])
    return joined([_progress(record), spent])


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


# Small things


def small(*children: object) -> Html:
    """A line beside what matters."""
    return el("p", *children, class_="soft small")


def note_line(note: str | None) -> Html | None:
    """What somebody noted."""
    return el("p", cut(note, 500), class_="note") if note else None


def to_node(text: object, key: NodeKey, **attributes: object) -> Html:
    """Opens a node."""
    given = {"class_": "link", **attributes}
    return el("button", text, type="button", data_node=key_text(key), **given)


def scrolling(table: Html, label: str) -> Html:
    """A table that may be wider or longer than its place."""
    return el("div", table, class_="scroll", tabindex=0, role="region", aria_label=label)


# Forms


def form(action: str, *fields: object, **attributes: object) -> Html:
    """A form that does something, unless the button that sends it says something else."""
    return el("form", *fields, class_="act", data_action=action, **attributes)


def send(text: str, action: str | None = None, **attributes: object) -> Html:
    """A button that sends its form."""
    return el("button", text, type="submit", data_action=action, **attributes)


_ELSE = "optional"


def answers(pending: Pending, ident: str) -> Html:
    """What can be said of a node that is being measured."""
    value, note = f"{ident}-value", f"{ident}-note"
    given = {"autocomplete": "off"}
    return form(
        "tell",
        el(
            "div",
            el("label", "Value", for_=value),
            el("input", id=value, name="value", inputmode="decimal", class_="value", **given),
            send("Tell", class_="main"),
            class_="field",
        ),
        el(
            "div",
            el("label", "Note", for_=note),
            el("input", id=note, name="note", placeholder=_ELSE, value=pending.note, **given),
            send(
                "Keep", "note", title="Keep the note, without a value", aria_label="Keep the note"
            ),
            class_="field",
        ),
        el(
            "div",
            send("Could not be measured", "fail", title="An evaluation; the note says why"),
            send("Give back", "release", title="It costs nothing, and may be asked for again"),
            send("Leave alone", "exclude", title="Given back, and not proposed in this run"),
            class_="buttons",
        ),
        data_step=pending.step,
        data_key=key_text(pending.key),
    )


def person(pending: Pending) -> str:
    """Who measures a node: a person by the name that they gave, a process by its machine."""
    worker = pending.worker
    return cut(worker.rpartition(":")[0] or worker, 60)


def expected(mean: float, std: float | None) -> str:
    """What was expected, with as many digits as that deserves."""
    return f"{mean:.3g}" + ("" if std is None else f" ± {std:.2g}")
