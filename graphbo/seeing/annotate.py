"""What a run leaves on the graph for people: properties to query, labels to colour by.

Asking and telling write them as they go. Here they are written again, from the record, and with what the model
believes now of the whole region.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphbo.errors import RunError
from graphbo.runs import Run
from graphbo.runs.captions import Captions
from graphbo.runs.records import News
from graphbo.runs.why import whys_in
from graphbo.search.strategies import STRATEGIES, Believing, create_strategy
from graphbo.stores import GraphStore
from graphbo.types import Candidate, NodeKey, Observation, Pending

if TYPE_CHECKING:  # it takes a second to import
    from graphbo.search.strategies.model import Belief

__all__ = ["Annotated", "annotate", "region_now"]


@dataclass(frozen=True)
class Annotated:
    """What was written.

    Attributes:
        news: the run, with all that it was told and what is pending.
        region: the nodes of the current region with what is believed of them; None if that was not wanted.
        explained: on how many nodes it was written why they were asked for; None if that was not wanted.
    """

    news: News
    region: tuple[Candidate, ...] | None = None
    explained: int | None = None


def annotate(
    store: GraphStore, name: str, *, posterior: bool = False, why: bool = False
) -> Annotated:
    """Write a run's properties and labels again; doing it twice changes nothing.

    Args:
        store: where the run lives.
        name: what it is called.
        posterior: also write what the model believes now and why, in place of what was written when this was last
            done.
        why: also write why each node that was measured, or is, was asked for, where that is not written yet.

    Raises:
        NoSuchRun: there is none of that name.
        RunError: it has no model, or nothing to believe yet.
        StoreError: the database does not answer, or may not be written.
    """
    run = Run.open(store, name)
    region, whys = (region_now(run), _whys_now(run)) if posterior else (None, None)
    news = run.annotate(region, whys)
    explained = run.explain() if why else None
    return Annotated(news, region, explained)


def _whys_now(run: Run) -> dict[NodeKey, str]:
    """In words what speaks for and against the nodes of the region that are not measured."""
    belief = run.belief()
    whys = [] if belief is None else whys_in(belief, run.history, maximize=run.record.maximize)
    named = _namer(run)
    return {why.key: why.text(named) for why in whys}


def _namer(run: Run) -> Callable[[NodeKey], str]:
    """What nodes are called: by their captions, where they have one."""
    run.refresh()
    captions = Captions(run.store, run.view, run.record.config.get("caption"))
    known: list[Observation | Pending] = [*run.history, *run.pending]
    captions.read(one.key for one in known)
    return lambda key: captions.of(key) or str(key)


def region_now(run: Run) -> tuple[Candidate, ...]:
    """Every node of the region that a run looks at now, with what its model believes.

    Raises:
        RunError: it has no model, or nothing to believe yet.
    """
    if not isinstance(run.strategy, Believing):
        modelling = [
            name for name in STRATEGIES.own if isinstance(create_strategy(name), Believing)
        ]
        raise RunError(
            f"the strategy {run.strategy.name!r} of the run {run.name!r} has no model, so there is no posterior: "
            f"{' and '.join(modelling)} have one"
        )
    run.refresh()
    belief = run.belief()
    if belief is None:
        raise RunError(
            f"the run {run.name!r} has no region now: it has no value yet, or every node near its values is measured"
        )
    return _candidates(belief)


def _candidates(belief: "Belief") -> tuple[Candidate, ...]:
    columns = np.column_stack([belief.posterior.mean, belief.posterior.std, belief.acquisition])
    return tuple(
        Candidate(key, *(None if np.isnan(value) else float(value) for value in row))
        for key, row in zip(belief.subgraph.keys, columns, strict=True)
    )
