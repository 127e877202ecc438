"""Answers that people have set on nodes in the database are told, or refused beside them."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphbo.errors import RunError
from graphbo.runs.encoding import as_news
from graphbo.runs.form import as_answer, is_unread, mark_of
from graphbo.runs.records import News, RunRecord, Told
from graphbo.runs.telling import Report, conclude
from graphbo.runs.transaction import Transaction
from graphbo.runs.written_names import answer_properties
from graphbo.stores.log import Lookup, Revise, Snapshot, Write
from graphbo.types import Pending, View

__all__ = ["CollectAnswers", "Collected", "Refused"]


@dataclass(frozen=True)
class Refused:
    """An answer that cannot be told: it stays on its node, with the reason beside it."""

    pending: Pending
    reason: str


@dataclass(frozen=True)
class Collected:
    """What became of the answers.

    Attributes:
        told: those that were told, and taken off their nodes.
        refused: those that were refused just now.
        news: how the run stands.
    """

    told: tuple[Told, ...]
    refused: tuple[Refused, ...]
    news: News


@dataclass(frozen=True)
class CollectAnswers(Transaction[Collected]):
    """Every answer on a pending node that was set, changed or removed since somebody looked."""

    def lookup(self, view: View, since: int) -> Lookup:
        """What is pending, with its answers, is always looked at."""
        return Lookup(view, "collect", since)

    def decide(self, found: Snapshot) -> tuple[Collected, Sequence[Write]]:
        """Tell what can be told; say of the rest what is wrong."""
        news = as_news(found)
        held = {one["step"]: one.get("held") or () for one in found.pending}
        told: list[Told] = []
        refused: list[Refused] = []
        writes: list[Write] = []
        for pending in filter(is_unread, news.pending):
            if pending.answer is None:
                # What was refused is gone, and what was said of it goes with it.
                writes.append(_note(news.record, pending, None))
                continue
            try:
                answer = as_answer(pending.answer)
            except RunError as error:
                refused.append(Refused(pending, str(error)))
                writes.append(_note(news.record, pending, str(error)))
                continue
            report = Report(answer.value, pending.step, error=answer.error)
            one, write = conclude(report, news, pending, held[pending.step])
            told.append(one)
            writes.append(write)
            news = one.news
        return Collected(tuple(told), tuple(refused), news), writes


def _note(record: RunRecord, pending: Pending, why: str | None) -> Revise:
    """What is wrong with an answer, beside it; with the request, which answer that was."""
    node = {answer_properties(record.prefix)["error"]: why}
    return Revise(pending.step, {"refused": mark_of(pending.answer)}, node)
