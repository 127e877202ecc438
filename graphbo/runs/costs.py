"""What measurements cost in a run: checked before it begins, looked up for each node that is to be handed out."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from graphbo.errors import InvalidCost, Remedy
from graphbo.runs.records import RunRecord, total
from graphbo.runs.settings import RunSettings
from graphbo.search.costs import Costs, cost_of
from graphbo.search.strategies.base import Purpose
from graphbo.stores import GraphStore
from graphbo.types import Candidate, NodeKey, Observation, Pending, Proposal, View
from graphbo.types.text import number

__all__ = ["LOOKED_AT", "costs_then", "priced", "refuse_wrong_costs", "spending_of"]

#: So many nodes are looked at before a run begins, and when nothing that a strategy proposes can be paid for.
LOOKED_AT = 500

LookUp = Callable[[Sequence[NodeKey]], Mapping[NodeKey, Mapping[str, object]]]


def refuse_wrong_costs(store: GraphStore, view: View, settings: RunSettings) -> None:
    """Check the costs of a sample of the nodes: a mistyped property must not cost the first evaluations.

    Raises:
        InvalidCost: one of them has none, or none above zero.
        ModelError: the acquisition has no meaning per cost.
    """
    if settings.cost is None:
        return
    from graphbo.search.acquisition import refuse_without_cost  # noqa: PLC0415 - scipy takes a while

    acquisition = settings.create_strategy().options.get("acquisition")
    if isinstance(acquisition, str):
        refuse_without_cost(acquisition)
    seed = (settings.seed, Purpose.COSTS)
    keys = store.random_keys(view, LOOKED_AT, seed)
    found = {key: of.get(settings.cost) for key, of in store.properties(view, keys).items()}
    if found and all(value is None for value in found.values()):
        raise InvalidCost(
            f"no node of {view} has a cost in {settings.cost!r}, as far as a sample shows",
            Remedy.CHECK_COST,
        )
    for key, value in found.items():
        cost_of(value, key, settings.cost, Remedy.LEAVE_OUT_COSTLESS)


def spending_of(record: RunRecord) -> str:
    """What was spent, in words; nothing in a run without costs."""
    if "cost" not in record.config:
        return ""
    of = "" if record.budget_cost is None else f" of {number(record.budget_cost)}"
    reserved = f", {number(record.reserved)} reserved" if record.reserved else ""
    return f"{number(record.spent)}{of} spent{reserved}"


def costs_then(
    record: RunRecord, told: Sequence[Observation] | None, pending: Sequence[Pending]
) -> Costs | None:
    """What costs meant when so much had been told, and these nodes were being measured; None in a run without.

    Args:
        record: the run.
        told: what had been told; None for all of it.
        pending: what was being measured.
    """
    name = record.config.get("cost")
    if name is None:
        return None
    counting = [one for one in told or () if one.source == "run"]
    spent = record.spent if told is None else total(*(one.cost or 0.0 for one in counting))
    used = total(spent, *(one.cost or 0.0 for one in pending))
    evaluations = record.evaluations if told is None else len(counting)
    left, share = math.inf, 0.0
    if record.budget_cost is not None:
        left = total(record.budget_cost, -used)
        share = used / record.budget_cost
    if record.budget:
        share = max(share, (evaluations + len(pending)) / record.budget)
    return Costs(name, left, max(0.0, 1.0 - share))


def priced(proposal: Proposal, costs: Costs, look_up: LookUp) -> Proposal:
    """A proposal of the nodes that can be paid for, with what they cost.

    Args:
        proposal: of a strategy, which may know the costs.
        costs: what there is to spend.
        look_up: asks the database for properties of nodes.

    Raises:
        InvalidCost: a node has none.
    """
    unknown = [one.key for one in proposal.candidates if one.cost is None]
    found = look_up(unknown) if unknown else {}

    def with_cost(one: Candidate) -> Candidate:
        if one.cost is not None:
            return one
        return replace(one, cost=cost_of(found[one.key].get(costs.name), one.key, costs.name))

    candidates = map(with_cost, proposal.candidates)
    kept = tuple(one for one in candidates if one.cost is not None and one.cost <= costs.left)
    return replace(proposal, candidates=kept)
