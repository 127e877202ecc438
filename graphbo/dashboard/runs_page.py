"""The page of all runs: a line for each."""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode

from graphbo.dashboard.markup import Html, el, joined
from graphbo.dashboard.parts import LONGEST, goal, moment, progress, state
from graphbo.dashboard.watching import Curve
from graphbo.runs.records import RunRecord, UnreadableRun
from graphbo.types.text import cut, number, plural

__all__ = ["runs_part"]

SPARK_WIDTH, SPARK_HEIGHT = 120, 28


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
    about = el("span", goal(record), " on ", cut(str(record.view), 120), class_="soft small")
    return el(
        "tr",
        el("td", box, class_="choose"),
        el("th", link, " ", state(record), el("br"), about, scope="row"),
        el("td", progress(record), data_title="progress"),
        el("td", el("strong", number(record.best_value)), class_="number", data_title="best"),
        el("td", _at_work(record, people), data_title="at work"),
        el(
            "td",
            _sparkline(record, curve),
            el("span", moment(record.updated_at), class_="soft small"),
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
    moved = "rose" if record.maximize else "fell"
    return el(
        "svg",
        el("path", d="".join(points)),
        viewBox=f"0 0 {SPARK_WIDTH} {SPARK_HEIGHT}",
        class_="spark",
        role="img",
        aria_label=f"The best value {moved} from {number(curve.y[0])} to {number(curve.y[-1])}",
    )


def _address(path: str, **query: str) -> str:
    return f"{path}?{urlencode(query)}"
