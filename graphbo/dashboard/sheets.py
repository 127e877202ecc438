"""Spreadsheets: values that were written into one are brought in, and what is known of a run is taken out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphbo.dashboard.actions import in_words, person_of, text_of
from graphbo.dashboard.markup import Html, el, joined
from graphbo.dashboard.parts import scrolling
from graphbo.errors import GraphboError, ReportRefused, RunError
from graphbo.runs import Run
from graphbo.runs.captions import Captions
from graphbo.runs.history_file import as_csv, history_table
from graphbo.runs.telling import Report
from graphbo.runs.value_files import Columns, Effect, Measured, preview, reports_of, values_in
from graphbo.stores import GraphStore
from graphbo.types.text import cut, number, plural

__all__ = ["Sheet", "looked_at", "taken_out", "told"]

#: More lines than this are counted and not shown.
MOST_LINES = 500
#: What a file from a browser is called in messages.
NAME = "the file"


@dataclass(frozen=True)
class Sheet:
    """A file, and how it is to be read: which columns it has, and whether its values are known or replace others."""

    data: bytes
    options: Mapping[str, str]

    @property
    def columns(self) -> Columns:
        """What its columns are called."""
        given = {name: text_of(self.options, name) for name in ("node", "value", "note")}
        return Columns(**{name: text for name, text in given.items() if text})

    @property
    def known(self) -> bool:
        """Whether its values are from before the run."""
        return "known" in self.options

    @property
    def amend(self) -> bool:
        """Whether its values replace others."""
        return "amend" in self.options

    def measured(self, *, strict: bool) -> list[Measured]:
        """Its lines.

        Raises:
            RunError: it is no such file, or a line is wrong.
        """
        return values_in(self.data, NAME, self.columns, strict=strict)

    def run(self, store: GraphStore) -> Run:
        """The run that it is for, opened by whoever brings it in."""
        run = Run.open(store, text_of(self.options, "name"), worker=person_of(self.options))
        run.refresh()
        return run


# In


def looked_at(store: GraphStore, sheet: Sheet) -> Html:
    """What each line would do, and a button that has it done if every line can be.

    Raises:
        GraphboError: it is no such file, or there is no such run.
    """
    measured = sheet.measured(strict=False)
    effects = preview(sheet.run(store), measured, amend=sheet.amend, known=sheet.known)
    refused = sum(one.what == "refuse" for one in effects)
    lines = [_line(one) for one in effects[:MOST_LINES]]
    more = len(effects) - len(lines)
    heads = [el("th", name, scope="col") for name in ("line", "node", "value", "what it does")]
    table = el(
        "table",
        el(
            "caption", f"{plural(len(effects), 'line')}" + (f", {more:,} not shown" if more else "")
        ),
        el("thead", el("tr", heads)),
        el("tbody", lines),
    )
    return joined([scrolling(table, "What each line would do"), _verdict(effects, refused)])


def _line(effect: Effect) -> Html:
    one = effect.measured
    # An error says what is wrong as the page would.
    text = effect.text if effect.error is None else in_words(effect.error)
    return el(
        "tr",
        el("td", one.line, class_="number"),
        el("td", cut(one.node, 120)),
        el("td", "" if one.value is None else number(one.value), class_="number"),
        el("td", el("span", "✗ ", aria_hidden="true") if effect.error else None, cut(text, 300)),
        class_="refused" if effect.error else None,
    )


def _verdict(effects: Sequence[Effect], refused: int) -> Html:
    if refused:
        text = f"{plural(refused, 'line')} cannot be recorded: nothing is, until that is mended."
        return el("p", text, class_="wrong")
    new = sum(one.what != "nothing" for one in effects)
    if not new:
        return el("p", "The run has all of it already.", class_="soft")
    button = f"Record {plural(new, 'line')}"
    return el("p", el("button", button, type="button", id="sheet-tell", class_="main"))


def told(store: GraphStore, sheet: Sheet) -> str:
    """Record all lines, or none; what has happened, in a sentence.

    Raises:
        GraphboError: one cannot be recorded.
    """
    measured, run = sheet.measured(strict=True), sheet.run(store)
    reports = [
        _sound(one, report)
        for one, report in zip(measured, reports_of(run, measured, amend=sheet.amend), strict=True)
    ]
    if sheet.known:
        values = {
            one.key: one.value for one in reports if one.key is not None and one.value is not None
        }
        return f"{plural(run.tell_known(values), 'value')} known now"
    try:
        outcomes = run.report_all(reports)
    except ReportRefused as error:
        raise RunError(_at(measured[error.position], error)) from None
    new = sum(one.outcome != "repeated" for one in outcomes)
    return f"{plural(new, 'line')} recorded"


def _sound(one: Measured, report: Report | GraphboError) -> Report:
    if isinstance(report, GraphboError):
        raise RunError(_at(one, report))
    return report


def _at(one: Measured, error: GraphboError) -> str:
    return f"line {one.line}: {in_words(error)}; nothing was recorded"


# Out


def taken_out(store: GraphStore, name: str, *, comma: bool) -> str:
    """All that was told, with the properties of the nodes, for a spreadsheet.

    Args:
        store: where the run lives.
        name: what it is called.
        comma: whether the spreadsheet expects decimal commas.

    Raises:
        NoSuchRun: there is none of that name.
    """
    run = Run.open(store, name)
    run.refresh()
    captions = Captions(store, run.view, run.record.config.get("caption"))
    table = history_table(run, captions, properties=True)
    return as_csv(table, "comma" if comma else "point")
