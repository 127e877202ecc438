"""What a notebook shows of a run or a result: its best node, a small curve, the first lines of its history."""

from collections.abc import Sequence
from html import escape
from itertools import accumulate

from graphbo.types import Observation
from graphbo.types.text import cut, number

__all__ = ["card"]

#: How many observations are listed: the best ones.
ROWS = 5
#: A key in a cell of the table.
LONGEST = 60
WIDTH, HEIGHT, MARGIN = 240, 56, 4

_CELL = "text-align:left;padding:2px 10px 2px 0"


def card(
    title: str,
    history: Sequence[Observation],
    *,
    maximize: bool,
    note: str = "",
    best: tuple[object, float, int] | None = None,
) -> str:
    """A compact piece of HTML, with everything in it escaped.

    Args:
        title: what it is about.
        history: what was observed, in the order of telling.
        maximize: whether large values are wanted.
        note: how it stands.
        best: key, value and step of the answer; the best value of the history without it.
    """
    valued = [one for one in history if one.value is not None]
    sign = 1.0 if maximize else -1.0
    ranked = sorted(valued, key=lambda one: (-sign * (one.value or 0.0), one.seq))
    if best is None and ranked:
        best = (ranked[0].key, ranked[0].value or 0.0, ranked[0].step)
    goal = "maximize" if maximize else "minimize"
    parts = [
        '<div style="font-family:system-ui,sans-serif;line-height:1.5">',
        f"<div><strong>{_text(title)}</strong> · {goal} · {_text(note)}</div>",
        _answer(best),
    ]
    if valued:
        parts += [_sparkline([one.value or 0.0 for one in valued], maximize), _table(ranked[:ROWS])]
    return "".join([*parts, "</div>"])


def _text(value: object) -> str:
    return escape(cut(str(value), LONGEST))


def _answer(best: tuple[object, float, int] | None) -> str:
    if best is None:
        return "<div>No value yet.</div>"
    key, value, step = best
    when = "a known value" if step < 0 else f"evaluation {step}"
    return f"<div>Best: <strong>{_text(key)}</strong> with {number(value)} ({when})</div>"


def _sparkline(values: Sequence[float], maximize: bool) -> str:
    """The best value so far, as a line of steps; each value, as a dot."""
    best = list(accumulate(values, max if maximize else min))
    low, high = min(values), max(values)
    right = WIDTH - 2 * MARGIN

    def x(position: float) -> float:
        return round(MARGIN + right * position / max(1, len(values)), 1)

    def y(value: float) -> float:
        # Halved first: the difference of two very large values may be no number.
        extent = high / 2 - low / 2
        share = (value / 2 - low / 2) / extent if extent > 0 else 0.5
        return round(HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * share, 1)

    path = f"M{x(0)} {y(best[0])}"
    for position, value in enumerate(best):
        path += f"V{y(value)}H{x(position + 1)}"
    dots = "".join(
        f'<circle cx="{x(position + 0.5)}" cy="{y(value)}" r="1.3"/>'
        for position, value in _thinned(values)
    )
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="best value so far: from {number(best[0])} to {number(best[-1])}">'
        f'<g fill="currentColor" opacity="0.35">{dots}</g>'
        f'<path d="{path}" fill="none" stroke="#d9562b" stroke-width="1.8"/></svg>'
    )


def _thinned(values: Sequence[float]) -> list[tuple[int, float]]:
    """Not more dots than there are pixels."""
    every = 1 + len(values) // WIDTH
    return list(enumerate(values))[::every]


def _table(ranked: Sequence[Observation]) -> str:
    rows = "".join(
        f'<tr><td style="{_CELL}">{_text(one.key)}</td><td style="{_CELL}">{number(one.value)}</td>'
        f'<td style="{_CELL}">{"known" if one.source == "warm" else one.step}</td></tr>'
        for one in ranked
    )
    head = "".join(f'<th style="{_CELL}">{name}</th>' for name in ("node", "value", "evaluation"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
