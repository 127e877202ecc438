"""The rules of asking: who gets which node. Pure: they say what to write."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphbo.stores.runs.ledger import HandOut, TakeOver, Write
from graphbo.stores.runs.properties import belief_properties
from graphbo.stores.runs.records import AskAnswer, News, written_labels
from graphbo.types import Pending, Proposal

__all__ = ["Request", "decide_ask"]


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


def decide_ask(request: Request, news: News, free: int | None) -> tuple[AskAnswer, Sequence[Write]]:
    """The answer to a request, and what to write for it; ``free`` is the first candidate that nobody has."""
    for mine in news.pending:
        if mine.token == request.token:
            return AskAnswer("repeated", mine, news), ()
    if news.record.state != "running":
        return AskAnswer("ended", None, news), ()
    for other in news.pending:
        if _is_left_to(request, other):
            return _take_over(request, news, other)
    if news.record.left <= 0:
        return AskAnswer("budget", None, news), ()
    if free is None:
        return AskAnswer("taken", None, news), ()
    return _hand_out(request, news, free)


def _is_left_to(request: Request, other: Pending) -> bool:
    # Who asks is alive: what it holds is late, not abandoned.
    expired = (
        other.lease_left is not None and other.lease_left < 0 and other.worker != request.worker
    )
    return expired or other.token in request.adopt


def _take_over(request: Request, news: News, other: Pending) -> tuple[AskAnswer, Sequence[Write]]:
    taken = replace(other, worker=request.worker, token=request.token, lease_left=request.lease)
    write = TakeOver(other.step, request.worker, request.token, request.lease)
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
