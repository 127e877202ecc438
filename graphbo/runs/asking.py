"""The rules of asking: who gets which node. Pure: they say what to write."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphbo.runs.encoding import belief_properties
from graphbo.runs.records import AskAnswer, News
from graphbo.runs.telling import Report, conclude
from graphbo.runs.written_names import in_use, names_of, written_labels
from graphbo.stores.checks import refuse_several
from graphbo.stores.log import Free, HandOut, TakeOver, Write
from graphbo.types import Pending, Proposal

__all__ = ["Request", "decide_ask"]

#: A node is handed out at most so often: after that, it is what ends the processes that evaluate it.
MOST_TRIES = 3


@dataclass(frozen=True)
class Request:
    """Somebody asks for a node.

    Attributes:
        proposal: the candidates, best first.
        token: names this request; asking again with it gives the same answer.
        worker: who asks.
        lease: seconds until others may take the node over; None for as long as it takes.
        adopt: tokens of requests whose workers are known to be dead.
    """

    proposal: Proposal
    token: str
    worker: str
    lease: float | None
    adopt: Sequence[str] = ()


def decide_ask(
    request: Request, news: News, free: Free | None
) -> tuple[AskAnswer, Sequence[Write]]:
    """The answer to a request, and what to write for it; ``free`` is the first candidate that nobody has.

    Raises:
        KeyNotUnique: several nodes have its key.
    """
    for mine in news.pending:
        if mine.token == request.token:
            return AskAnswer("repeated", mine, news), ()
    if news.record.state != "running":
        return AskAnswer("ended", None, news), ()
    news, given_up = _give_up(request, news)
    answer, writes = _answer(request, news, free)
    return answer, (*given_up, *writes)


def _answer(request: Request, news: News, free: Free | None) -> tuple[AskAnswer, Sequence[Write]]:
    for other in news.pending:
        if _is_left_to(request, other):
            return _take_over(request, news, other)
    if news.record.left <= 0:
        return AskAnswer("budget", None, news), ()
    if free is None:
        return AskAnswer("taken", None, news), ()
    key = request.proposal.candidates[free.position].key
    refuse_several(key, free.nodes)
    # Whoever guesses has not looked at the node.
    held = free.nodes[0].held if free.nodes else ()
    names = in_use(names_of(news.record), held)
    if names:
        return AskAnswer("in use", None, news, names, key), ()
    return _hand_out(request, news, free.position)


def _give_up(request: Request, news: News) -> tuple[News, Sequence[Write]]:
    """Abandoned nodes that were tried so often that they are to blame have failed."""
    writes: list[Write] = []
    for other in news.pending:
        if other.tries >= MOST_TRIES and _is_left_to(request, other):
            why = f"whoever evaluated it died or fell silent, {other.tries} times; the last was {other.worker}"
            told, write = conclude(Report(other.step, None, None, why, other.tries), news, other)
            news, writes = told.news, [*writes, write]
    return news, writes


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
    }
    if news.record.labelled:
        # Kept with the request: whatever ends it takes the label off, in the same statement.
        properties["label"] = written_labels(news.record.prefix)["pending"]
    write = HandOut(candidate.key, properties, request.lease, {"steps": step})
    return AskAnswer("new", pending, news), (write,)
