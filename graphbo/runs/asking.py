"""The rules of asking: who gets which node, and how it is released."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphbo.errors import Remedy, RunError
from graphbo.runs.encoding import as_news, belief_properties
from graphbo.runs.form import number_in, without_request
from graphbo.runs.records import AskAnswer, News
from graphbo.runs.telling import (
    Report,
    conclude,
    find_pending,
    not_asked,
    refuse_nothing_meant,
)
from graphbo.runs.transaction import Transaction
from graphbo.runs.written_names import answer_properties, in_use, names_of, written_labels
from graphbo.stores.checks import refuse_several
from graphbo.stores.log import (
    NO_NEWS,
    Free,
    HandOut,
    Lookup,
    Release,
    Snapshot,
    TakeOver,
    Write,
)
from graphbo.stores.subgraphs import show_key
from graphbo.types import NodeKey, Pending, Proposal, View

__all__ = ["ReleaseNode", "Request", "release"]

#: A node is handed out at most so often: after that, it is what ends the processes that evaluate it.
MOST_TRIES = 3


@dataclass(frozen=True)
class Request(Transaction[AskAnswer]):
    """Somebody asks for a node.

    Attributes:
        proposal: the candidates, best first.
        token: names this request; asking again with it gives the same answer.
        worker: who asks.
        lease: seconds until others may take the node over; None for as long as it takes.
        adopt: tokens of requests whose workers are known to be dead.
        chosen: whether it is this node that is wanted, and not what somebody else stopped measuring.
    """

    proposal: Proposal
    token: str
    worker: str
    lease: float | None = None
    adopt: Sequence[str] = ()
    chosen: bool = False

    @property
    def survives_power_cut(self) -> bool:  # type: ignore[override]  # it depends on the lease
        """Where there is a lease, a power cut that loses the request has ended the worker as well."""
        return self.lease is None

    def lookup(self, view: View, since: int) -> Lookup:
        """The first candidate that nobody has."""
        keys = [candidate.key for candidate in self.proposal.candidates]
        return Lookup(view, self.token, since, candidates=keys)

    def decide(self, found: Snapshot) -> tuple[AskAnswer, Sequence[Write]]:
        """Hand out the first free candidate, or what somebody stopped measuring.

        Raises:
            KeyNotUnique: several nodes have its key.
        """
        return self._decide(as_news(found), found.free)

    def guess(self, believed: News) -> Write | None:
        """The best candidate, unless something has to be tidied up first."""
        if not self.proposal.candidates:
            return None
        _, writes = self._decide(believed, Free(0, ()))
        return writes[0] if len(writes) == 1 else None

    def _decide(self, news: News, free: Free | None) -> tuple[AskAnswer, Sequence[Write]]:
        for mine in news.pending:
            if mine.token == self.token:
                return AskAnswer("repeated", mine, news), ()
        if news.record.state != "running":
            return AskAnswer("ended", None, news), ()
        news, ended = _end_abandoned(self, news)
        answer, writes = _answer(self, news, free)
        return answer, (*ended, *writes)


def _answer(request: Request, news: News, free: Free | None) -> tuple[AskAnswer, Sequence[Write]]:
    for other in news.pending:
        if _is_left_to(request, other) and not (other.excluded or request.chosen):
            return _take_over(request, news, other)
    if news.record.left <= 0:
        return AskAnswer("budget", None, news), ()
    if free is None:
        return AskAnswer("taken", None, news), ()
    candidate = request.proposal.candidates[free.position]
    key = candidate.key
    if (candidate.cost or 0.0) > news.record.left_to_spend:
        # Others were quicker to spend what was left.
        return AskAnswer("taken", None, news), ()
    refuse_several(key, free.nodes)
    # Whoever guesses has not looked at the node.
    held = free.nodes[0].held if free.nodes else ()
    names = in_use(names_of(news.record), held)
    if names:
        return AskAnswer("in use", None, news, names, key), ()
    return _hand_out(request, news, free.position)


def _end_abandoned(request: Request, news: News) -> tuple[News, Sequence[Write]]:
    """Abandoned nodes that are excluded are released; those tried so often that they are to blame have failed."""
    writes: list[Write] = []
    for other in news.pending:
        if not _is_left_to(request, other):
            continue
        if other.excluded and other.answer is None:
            news, writes = _without(news, other), [*writes, release(news, other)]
        elif other.tries >= MOST_TRIES and not other.excluded:
            why = f"whoever evaluated it died or fell silent, {other.tries} times; the last was {other.worker}"
            report = Report(None, other.step, error=why, attempts=other.tries)
            told, write = conclude(report, news, other)
            news, writes = told.news, [*writes, write]
    return news, writes


def release(news: News, pending: Pending) -> Release:
    """What takes a request back."""
    return Release(pending.step, without_request(news.record.prefix, pending))


def _without(news: News, pending: Pending) -> News:
    """How things stand once a request was taken back."""
    others = tuple(one for one in news.pending if one.step != pending.step)
    return replace(news, record=news.record.with_pending(others), pending=others)


def _is_left_to(request: Request, other: Pending) -> bool:
    # Who asks is alive: what it holds is late, not abandoned.
    expired = (
        other.lease_left is not None and other.lease_left < 0 and other.worker != request.worker
    )
    return expired or other.token in request.adopt


def _take_over(request: Request, news: News, other: Pending) -> tuple[AskAnswer, Sequence[Write]]:
    taken = replace(
        other,
        worker=request.worker,
        token=request.token,
        lease_left=request.lease,
        tries=other.tries + 1,
    )
    write = TakeOver(other.step, request.worker, request.token, request.lease, taken.tries)
    return AskAnswer("taken over", taken, news), (write,)


def _hand_out(request: Request, news: News, free: int) -> tuple[AskAnswer, Sequence[Write]]:
    candidate = request.proposal.candidates[free]
    step = news.record.steps + 1
    pending = Pending(
        step, candidate, request.proposal, request.worker, request.token, request.lease
    )
    properties = belief_properties(candidate, request.proposal) | {
        "run": news.record.name,
        "step": step,
        "worker": request.worker,
        "token": request.token,
        "answerIn": answer_properties(news.record.prefix)["answer"],
    }
    if news.record.labelled:
        # Kept with the request: whatever ends it takes the label off, in the same statement.
        properties["label"] = written_labels(news.record.prefix)["pending"]
    write = HandOut(candidate.key, properties, request.lease, {"steps": step})
    return AskAnswer("new", pending, news), (write,)


@dataclass(frozen=True)
class ReleaseNode(Transaction[Pending]):
    """A node that was asked for, at a step or by its key, may be asked for again: it costs nothing."""

    step: int | None = None
    key: NodeKey | None = None

    def __post_init__(self) -> None:
        refuse_nothing_meant(self.step, self.key)

    def lookup(self, view: View, since: int) -> Lookup:
        """What is pending, which is always looked at."""
        del since
        return Lookup(view, "release", NO_NEWS)

    def decide(self, found: Snapshot) -> tuple[Pending, Sequence[Write]]:
        """Take the request back.

        Raises:
            NotAsked: nobody asked for that step or node.
            RunError: somebody has answered it in the database.
        """
        news = as_news(found)
        pending = find_pending(news, self.step, self.key)
        if pending is None:
            raise not_asked(news, self.step, self.key)
        if number_in(pending.answer) is not None:
            raise RunError(
                f"{show_key(pending.key)} has the answer {pending.answer} in the database",
                Remedy.COLLECT,
            )
        return pending, (release(news, pending),)
