"""Which of the measured nodes is the best, when measurements are noisy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from graphbo.types import FloatArray, Observation

if TYPE_CHECKING:
    from graphbo.strategies.model import Belief

__all__ = ["best_believed"]


def best_believed(
    history: Sequence[Observation], belief: "Belief", *, maximize: bool
) -> tuple[Observation, float] | None:
    """The measured node with the best expected value, and that value; None if nothing has a value.

    The model knows the nodes that it was fitted to. The others keep their measured value, drawn towards the mean of all
    as much as the model draws the ones it knows: a lucky measurement far away is not believed, and a good node that
    the region has moved away from is not forgotten.
    """
    valued = [one for one in history if one.value is not None]
    if not valued:
        return None
    values = np.array([one.value for one in valued], dtype=np.float64)
    # In the region is not enough: after a restart a model may leave out what was measured before.
    inside = np.isin([one.step for one in valued], belief.modelled)
    rows = [belief.subgraph.row(valued[place].key) for place in np.flatnonzero(inside)]
    known = belief.posterior.mean[rows]
    middle = values.mean()
    expected = middle + _slope(values[inside], known) * (values - middle)
    expected[inside] = known
    best = int(np.argmax(expected if maximize else -expected))
    return valued[best], float(expected[best])


def _slope(values: FloatArray, expected: FloatArray) -> float:
    """By how much a measured difference is believed: 1 without noise, 0 if it is all noise."""
    spread = values - values.mean() if len(values) else values
    if not np.any(spread):
        return 1.0
    return float(np.clip(spread @ expected / (spread @ spread), 0.0, 1.0))
