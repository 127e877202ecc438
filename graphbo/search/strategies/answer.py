"""Which of the measured nodes is the best, when measurements are noisy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from graphbo.search.graph import Graph
from graphbo.search.regions import score
from graphbo.search.strategies.base import Believing
from graphbo.search.strategies.folded_history import values_of
from graphbo.search.strategies.situation import Situation
from graphbo.types import FloatArray, Observation, best_of

if TYPE_CHECKING:
    from graphbo.search.strategies.model import Belief

__all__ = ["answer", "best_believed"]

#: At most so many nodes outside of the region are judged by a model of their own surroundings: each is one question
#: to the database, and somebody waits for the answer.
MOST_LOOKS = 4


def answer(
    strategy: Believing, situation: Situation, belief: "Belief | None", graph: Graph
) -> tuple[Observation, float] | None:
    """The measured node with the best expected value, and that value; None if nothing has a value.

    A node with a better measurement than what is believed to be the best may be lucky, or it may be in a region that
    the search has left. A model of its own surroundings tells.

    Args:
        strategy: whose model.
        situation: what was told, and what is wanted.
        belief: what it makes of the region that it looks at, if there is one.
        graph: the only door to the graph.

    Raises:
        StoreError: the database does not answer.
    """
    history, maximize = situation.told.history, situation.maximize
    beliefs = [] if belief is None else [belief]
    for _ in range(MOST_LOOKS):
        steps = {step for one in beliefs for step in one.modelled}
        known = [one for one in history if one.step in steps]
        rival = best_of((one for one in history if one.step not in steps), maximize=maximize)
        found = best_believed(known, beliefs, maximize=maximize)
        if rival is None or (found and _settled(rival, found[1], maximize)):
            break
        around = strategy.believe_around(rival.key, situation, graph)
        if around is None:
            break
        beliefs.append(around)
    return best_believed(history, beliefs, maximize=maximize)


def best_believed(
    history: Sequence[Observation], beliefs: Sequence["Belief"], *, maximize: bool
) -> tuple[Observation, float] | None:
    """The measured node with the best expected value, and that value; None if nothing has a value.

    A model knows the nodes that it was fitted to; of several, the one that was fitted to most is believed. The others
    keep their measured value, drawn towards the mean of all as much as the models draw the ones they know.
    """
    valued = [one for one in history if one.value is not None]
    if not valued:
        return None
    values = values_of(valued)
    expected = np.full(len(valued), np.nan)
    for belief in sorted(beliefs, key=lambda one: len(one.modelled)):
        # In the region is not enough: after a restart a model may leave out what was measured before.
        inside = np.flatnonzero(np.isin([one.step for one in valued], belief.modelled))
        rows = [belief.subgraph.row(valued[place].key) for place in inside]
        expected[inside] = belief.posterior.mean[rows]
    unknown = np.isnan(expected)
    slope = _slope(values[~unknown], expected[~unknown])
    expected[unknown] = values.mean() + slope * (values[unknown] - values.mean())
    place = int(np.argmax(expected if maximize else -expected))
    return valued[place], float(expected[place])


def _settled(rival: Observation, expected: float, maximize: bool) -> bool:
    """Whether what is expected of the best so far is as good as what was measured at a rival."""
    return score(rival, maximize) <= (expected if maximize else -expected)


def _slope(values: FloatArray, expected: FloatArray) -> float:
    """By how much a measured difference is believed: 1 without noise, 0 if it is all noise."""
    spread = values - values.mean() if len(values) else values
    if not np.any(spread):
        return 1.0
    # In units of the largest: squares neither overflow nor underflow.
    largest = np.abs(spread).max()
    relative, believed = spread / largest, expected / largest
    return float(np.clip(relative @ believed / (relative @ relative), 0.0, 1.0))
