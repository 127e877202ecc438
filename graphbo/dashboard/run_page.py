"""The page of a run: how it stands, who measures what, and what was told."""

import math
from collections.abc import Iterable, Sequence

from graphbo.dashboard.markup import Html, el, joined
from graphbo.dashboard.parts import (
    Shown,
    answers,
    expected,
    form,
    goal,
    key_text,
    moment,
    note_line,
    person,
    progress,
    scrolling,
    send,
    small,
    state,
    to_node,
)
from graphbo.runs.form import is_unread, mark_of
from graphbo.runs.records import Exclusion, RunRecord
from graphbo.types import Observation, Pending
from graphbo.types.text import cut, number, plural

__all__ = [
    "best_part",
    "card",
    "collect_part",
    "controls",
    "excluded_part",
    "head",
    "history_part",
    "left_of",
    "others_part",
]

#: So many further rows are shown at a time.
MORE = 200
#: So many nodes are named that are left alone.
MOST_LEFT_ALONE = 50


def head(record: RunRecord) -> Html:
    """What the run is about and how it stands."""
    begun, changed = moment(record.started_at), moment(record.updated_at)
    about = el("p", goal(record), " on ", cut(str(record.view), 300), class_="subtitle")
    return joined([about, small(state(record), " begun ", begun, ", last changed ", changed)])


def best_part(shown: Shown) -> Html:
    """The answer so far, and how much has been used."""
    record = shown.run.record
    counts = {"failed": record.failed, "known values": record.warm}
    told = [el("div", el("dt", name), el("dd", f"{one:,}")) for name, one in counts.items() if one]
    return joined(
        [
            el("div", el("h2", "The best node so far"), _best(shown), class_="best"),
            el("div", el("h2", "Progress"), progress(record), el("dl", told, class_="counts")),
        ]
    )


def _best(shown: Shown) -> Html:
    best = shown.run.best()
    if best is None:
        failed = shown.run.record.evaluations
        none = "Every measurement failed so far." if failed else "None yet"
        return el("p", none, class_="best-key")
    believed = "" if best.mean is None else f", believed to be {number(best.mean)}"
    return joined(
        [
            el("p", to_node(shown.title(best.key), best.key, class_="link best-key")),
            el("p", "with ", el("strong", number(best.value)), believed),
        ]
    )


def controls(record: RunRecord) -> Html:
    """What may be changed of the run as a whole."""
    if record.state == "running":
        change = form("stop", send("Stop the run"))
    else:
        change = form("go-on", send("Go on with the run"))
    field = el(
        "input",
        type="number",
        name="budget",
        min=1,
        step=1,
        value="" if record.budget is None else record.budget,
        required=True,
        inputmode="numeric",
    )
    budget = form("budget", el("label", "Budget ", field), send("Change"))
    return joined([change, budget, _budget_of_cost(record) if "cost" in record.config else ""])


def _budget_of_cost(record: RunRecord) -> Html:
    field = el(
        "input",
        type="number",
        name="budget_cost",
        min=0,
        step="any",
        value="" if record.budget_cost is None else f"{record.budget_cost:g}",
        required=True,
        inputmode="decimal",
    )
    return form("budget-cost", el("label", "To spend ", field), send("Change"))


def left_of(record: RunRecord) -> int | None:
    """How many nodes may still be asked for; None without a limit."""
    return None if math.isinf(record.left) else max(0, int(record.left))


# What to measure next


def card(shown: Shown, pending: Pending, why: str) -> Html:
    """A node that somebody took, with what can be said of it."""
    key, who = pending.key, person(pending)
    ident = f"card-{pending.step}"
    place = el("button", "on the map", type="button", class_="link", data_show=key_text(key))
    cost = "" if pending.cost is None else f", costs {number(pending.cost)}"
    taken = small(
        f"step {pending.step}{cost}, taken by ", el("strong", who), " ", moment(pending.at)
    )
    return el(
        "article",
        el("div", el("h3", shown.title(key), id=f"{ident}-title"), place, class_="card-title"),
        taken,
        el("p", why, class_="why") if why else None,
        note_line(pending.note),
        _answered(pending),
        shown.facts(key),
        None if shown.read_only else answers(pending, ident),
        class_="node-card",
        data_person=who,
        aria_labelledby=f"{ident}-title",
    )


def _answered(pending: Pending) -> Html | None:
    """What somebody has set in the database as the answer."""
    if pending.answer is None:
        return None
    said = f"{cut(repr(pending.answer), 80)} is set in the database"
    if pending.refused is not None and pending.refused == mark_of(pending.answer):
        return el("p", f"{said}, and cannot be told.", class_="note")
    return el("p", f"{said}, and waits to be collected.", class_="note")


def others_part(shown: Shown, pending: Iterable[Pending]) -> Html:
    """What programs are evaluating."""
    lines = []
    for one in pending:
        left = one.lease_left is not None and one.lease_left < 0
        how = ", left: the next worker takes it over" if left else ""
        with_whom = f" step {one.step}, with {person(one)}{how} "
        behind = el("span", with_whom, moment(one.at), class_="soft small")
        lines.append(el("li", to_node(shown.named(one.key), one.key), behind))
    if not lines:
        return Html("")
    return joined([el("h3", "With programs"), el("ul", lines, class_="others")])


def excluded_part(shown: Shown, excluded: Sequence[Exclusion]) -> Html:
    """What is left alone, and why."""
    if not excluded:
        return Html("")
    lines = []
    for one in excluded[:MOST_LEFT_ALONE]:
        why = f": {cut(one.reason, 160)}" if one.reason else ""
        behind = el("span", f" by {cut(one.by, 60)}{why} ", moment(one.at), class_="soft small")
        lines.append(el("li", to_node(shown.named(one.key), one.key), behind))
    if len(excluded) > len(lines):
        lines.append(el("li", f"and {len(excluded) - len(lines):,} more", class_="soft"))
    title = el("summary", f"{plural(len(excluded), 'node')} left alone")
    return el("details", title, el("ul", lines, class_="others"), id="left-alone")


def collect_part(pending: Iterable[Pending]) -> Html:
    """Has what people set on nodes in the database told, if there is any."""
    waiting = sum(map(is_unread, pending))
    if not waiting:
        return Html("")
    about = f"{plural(waiting, 'answer')} waiting in the database"
    return form("collect", el("span", about, class_="soft"), " ", send("Collect"))


# What was told

#: The columns of what was told, and of what kind they are.
_COLUMNS = {
    "step": "number",
    "node": None,
    "value": "number",
    "expected": "number",
    "told": None,
    "remark": None,
}


def history_part(shown: Shown, most: int) -> Html:
    """The latest observations."""
    history = shown.run.history
    if not history:
        return el("p", "Nothing yet.", class_="empty")
    best, rest = shown.run.record.best_step, len(history) - most
    heads = [el("th", name, scope="col", class_=kind) for name, kind in _COLUMNS.items()]
    change = el("th", el("span", "change", class_="unseen"), scope="col")
    lines = [_told_line(shown, one, one.step == best) for one in list(reversed(history))[:most]]
    which = f"The latest {most:,} of" if rest > 0 else "All"
    table = el(
        "table",
        el("caption", f"{which} {plural(len(history), 'measurement')}"),
        el("thead", el("tr", heads, change)),
        el("tbody", lines),
        class_="told",
    )
    more = el("button", f"Show {min(rest, MORE):,} more", type="button", id="more")
    return joined([scrolling(table, "Measurements"), more if rest > 0 else None])


def _told_line(shown: Shown, one: Observation, best: bool) -> Html:
    believed = "" if one.mean is None else expected(one.mean, one.std)
    value = "failed" if one.value is None else number(one.value)
    remark = "; ".join(cut(part, 160) for part in (one.error, one.note) if part)
    star = el("span", " ★", aria_label="the best so far", role="img") if best else None
    return el(
        "tr",
        el("td", "known" if one.source == "warm" else one.step, class_="number"),
        el("td", shown.named(one.key)),
        el("td", value, star, class_="number"),
        el("td", believed, class_="number soft"),
        el("td", moment(one.at), class_="soft"),
        el("td", remark, class_="remark"),
        el("td", to_node("Look", one.key, aria_label=f"Look at {cut(str(one.key), 60)}")),
        class_="is-best" if best else None,
    )
