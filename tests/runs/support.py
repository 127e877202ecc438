"""What the tests of runs share: asking and telling as somebody does who has just come, with or without a guess."""

from typing import TypeVar

from graphbo.runs import Run
from graphbo.runs.asking import Request
from graphbo.runs.records import AskAnswer, News, Told
from graphbo.runs.registry import runs_in
from graphbo.runs.telling import Report
from graphbo.runs.transaction import Transaction
from graphbo.stores import GraphStore
from graphbo.types import NodeKey, Proposal, View

__all__ = ["carry_out", "finish", "hand_out", "news_in", "tell"]

Answer = TypeVar("Answer")


def carry_out(
    store: GraphStore,
    wanted: Transaction[Answer],
    *,
    view: View,
    name: str = "search",
    since: int = 0,
    believed: News | None = None,
) -> tuple[Answer, str]:
    """What a run does with its store, without what it knows of itself."""
    done = store.log.transact(
        name,
        wanted.lookup(view, since),
        wanted.decide,
        guess=None if believed is None else wanted.guess(believed),
        survives_power_cut=wanted.survives_power_cut,
        grows=wanted.grows,
    )
    if done is None:
        raise runs_in(store).no_such_run(name)
    return done


def hand_out(
    store: GraphStore,
    proposal: Proposal,
    *,
    token: str,
    worker: str = "me",
    lease: float | None = None,
    adopt: tuple[str, ...] = (),
    name: str = "search",
    view: View | None = None,
    since: int = 0,
    believed: News | None = None,
) -> AskAnswer:
    """Ask for a node of this proposal."""
    request = Request(proposal, token, worker, lease, adopt)
    view = view or runs_in(store).get(name).view
    answer, _ = carry_out(store, request, view=view, name=name, since=since, believed=believed)
    if answer.in_use:
        raise runs_in(store).name_in_use(answer.news.record, answer.in_use, answer.key)
    return answer


def tell(
    store: GraphStore,
    value: float | None,
    *,
    step: int | None = None,
    key: NodeKey | None = None,
    error: str | None = None,
    attempts: int = 1,
    token: str | None = None,
    amend: bool = False,
    note: str | None = None,
    name: str = "search",
    view: View | None = None,
    since: int = 0,
    believed: News | None = None,
) -> Told:
    """Tell what was measured."""
    report = Report(value, step, key, error, attempts, token, amend, note)
    view = view or runs_in(store).get(name).view
    told, at = carry_out(store, report, view=view, name=name, since=since, believed=believed)
    return told.stamped(at) if told.outcome == "recorded" else told


def news_in(store: GraphStore, name: str = "search", since: int = 0) -> News:
    """How a run stands, with what was told since."""
    run = Run.open(store, name)
    run.refresh()
    told = tuple(one for one in run.history if one.seq > since)
    return News(run.record, told, run.pending)


def finish(store: GraphStore, *, whatever_is_left: bool = False) -> None:
    """Mark the run as finished, if it is over."""
    Run.open(store, "search").finish(whatever_is_left=whatever_is_left)
