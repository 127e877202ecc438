"""Asking why: what was known when a node was, or would be, asked for, and what the model made of that."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from graphbo.runs.why import Standing, Why, parts_of, parts_of_scout
from graphbo.search.graph import Graph
from graphbo.search.strategies import Believing, Scouting, Situation, Strategy
from graphbo.types import Candidate, NodeKey, Observation, Pending, Phase, Proposal

if TYPE_CHECKING:  # it takes a second to import
    from graphbo.search.strategies.model import Belief
    from graphbo.search.strategies.scouts import Scouted

__all__ = ["NOBODY", "Inquiry", "Known", "answer_inquiry", "inquiry_about", "known_before"]

#: Who measures what was not handed out.
NOBODY = ""


@dataclass(frozen=True)
class Known:
    """What was known at a step: what had been told, and what was being measured.

    Attributes:
        now: whether that is all that is known now.
    """

    told: Sequence[Observation]
    pending: Sequence[Pending]
    step: int
    now: bool = False


def known_before(
    one: Pending | Observation, told: Sequence[Observation], pending: Sequence[Pending]
) -> Known:
    """What was known when a node was asked for, as far as a history says.

    What has a later step was asked for afterwards, so it was told afterwards, too. What was told in between by others
    counts as known: a history does not say when a node was asked for.
    """
    if isinstance(one, Pending):
        # What has been told meanwhile is of use to who decides now.
        waiting = [other for other in pending if other.step < one.step]
        return Known(told, waiting, one.step, now=True)
    before = [other for other in told if other.step < one.step]
    awaited = [_as_pending(other) for other in before if other.seq > one.seq]
    waiting = [other for other in pending if other.step < one.step]
    return Known([other for other in before if other.seq < one.seq], [*awaited, *waiting], one.step)


def _as_pending(one: Observation) -> Pending:
    candidate = Candidate(one.key, one.mean, one.std, one.acquisition, one.cost)
    proposal = Proposal((candidate,), one.phase, one.restart, one.modelled, one.theta)
    return Pending(one.step, candidate, proposal, NOBODY, "")


@dataclass(frozen=True, eq=False)
class Inquiry:
    """Somebody asks why a node.

    Attributes:
        key: the node.
        standing: how the run stands to it.
        situation: what was known when it was asked for, or is now.
        phase: how it came to be proposed; None if it was not.
        step: its number, if it has one.
        value: what was measured there.
        asked_mean: what was expected of it when it was asked for.
        cost: what it cost, in a run with costs.
        first: whether the run was told to begin there.
    """

    key: NodeKey
    standing: Standing
    situation: Situation
    phase: Phase | None = None
    step: int | None = None
    value: float | None = None
    asked_mean: float | None = None
    cost: float | None = None
    first: bool = False


def inquiry_about(
    asked: Pending | Observation, situation: Situation, start: Sequence[NodeKey]
) -> Inquiry:
    """Why a node that was asked for, or that would be.

    Args:
        asked: the request, or what was told of it.
        situation: what was known then.
        start: where the run was told to begin.
    """
    if isinstance(asked, Pending):
        return Inquiry(
            asked.key,
            "pending" if asked.worker != NOBODY else "next",
            situation,
            asked.proposal.phase,
            asked.step,
            asked_mean=asked.candidate.mean,
            cost=asked.cost,
            first=asked.key in start,
        )
    standing: Standing = "known" if asked.source == "warm" else "measured"
    return Inquiry(
        asked.key,
        "failed" if asked.failed else standing,
        situation,
        asked.phase,
        asked.step,
        asked.value,
        asked.mean,
        asked.cost,
        asked.key in start,
    )


def answer_inquiry(inquiry: Inquiry, strategy: Strategy, graph: Graph) -> Why:
    """What the strategy's model says to it; without a model, or where it was not asked, how the node was chosen.

    Raises:
        NoSuchNode: there is no such node.
        StoreError: the database does not answer.
    """
    situation = inquiry.situation
    ranked = situation.told.valued.ranked
    why = Why(
        inquiry.key,
        inquiry.standing,
        situation.maximize,
        inquiry.phase,
        inquiry.step,
        inquiry.value,
        best=ranked[0].value if ranked else None,
        cost=inquiry.cost,
        because=_because(inquiry, strategy, graph),
    )
    if inquiry.standing == "known" or inquiry.phase not in (None, "model", "scout", "chosen"):
        return why
    if inquiry.phase == "scout" and isinstance(strategy, Scouting):
        scouted = strategy.scouted(inquiry.key, situation, graph)
        return why if scouted is None else _of_scout(why, inquiry, scouted, graph)
    belief = _belief(inquiry, strategy, graph)
    return why if belief is None else _explained(why, inquiry, belief)


def _because(inquiry: Inquiry, strategy: Strategy, graph: Graph) -> str:
    """What there is to say without a model."""
    if inquiry.standing == "known":
        return "Its value was known before the run"
    if inquiry.first:
        return "It is where the search begins"
    among = " among the nodes that are known" if graph.unknown else ""
    reasons: dict[Phase | None, str] = {
        "initial": f"Unknown: drawn at random{among}, to begin with",
        "restart": f"Unknown: drawn at random{among}, as the region before was used up",
        "scout": "Promising by what is known of it, wherever it is: nothing was measured near it",
        "prior": "Unknown, but believed in: the most promising of some nodes from anywhere, to begin with",
        "chosen": "Unknown: somebody asked for this node",
    }
    if inquiry.phase in reasons:
        return reasons[inquiry.phase]
    if inquiry.phase == "search" or not isinstance(strategy, Believing):
        return f"The strategy {strategy.name!r} has no model: it expects nothing of nodes"
    return "Unknown: nothing was measured near it"


def _belief(inquiry: Inquiry, strategy: Strategy, graph: Graph) -> "Belief | None":
    """What is believed of the region, if the node is in it; else of the node's own surroundings."""
    situation, key = inquiry.situation, inquiry.key
    if not isinstance(strategy, Believing) or not situation.told.valued:
        return None
    belief = strategy.believe(situation, graph)
    if belief is not None and key in belief.subgraph:
        return belief
    if graph.unknown and key not in situation.evaluated:
        return None
    return strategy.believe_around(key, situation, graph)


def _of_scout(why: Why, inquiry: Inquiry, scouted: "Scouted", graph: Graph) -> Why:
    """A scout is judged by what is known of it, and by what was measured wherever that was."""
    measured = {one.key: one for one in inquiry.situation.told.history}
    known = graph.known_of(why.key, scouted.features)
    return replace(
        why,
        mean=scouted.mean,
        std=scouted.std,
        parts=parts_of_scout(scouted, known, measured),
        asked_mean=inquiry.asked_mean,
    )


def _explained(why: Why, inquiry: Inquiry, belief: "Belief") -> Why:
    row = belief.subgraph.row(why.key)
    measured = {one.key: one for one in inquiry.situation.told.history}
    places = {int(other): place for place, other in enumerate(belief.ranking.rows, 1)}
    acquisition = float(belief.acquisition[row])
    cost = math.nan if belief.costs is None else float(belief.costs[row])
    return replace(
        why,
        cost=why.cost if math.isnan(cost) else cost,
        mean=float(belief.posterior.mean[row]),
        std=float(belief.posterior.std[row]),
        acquisition=None if acquisition != acquisition else acquisition,  # noqa: PLR0124 - NaN
        parts=parts_of(belief, [why.key], measured)[0],
        place=places.get(row),
        candidates=len(places),
        asked_mean=inquiry.asked_mean,
    )
