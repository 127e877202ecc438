"""What measurements cost, where nodes say so: who can be paid for, and how much an improvement is worth per cost.

Expected improvement per cost finds cheap nodes before good ones, and goes on with that until nothing is left for the
good ones. So the cost counts to the power of α, which is 1 at first and 0 when the budget is used up: what is cheap
comes first, and what is promising comes in the end, whatever it costs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphbo.errors import InvalidCost, Remedy
from graphbo.types import FloatArray, NodeKey, Subgraph
from graphbo.types.text import cut

__all__ = ["Costs", "cost_of"]


@dataclass(frozen=True)
class Costs:
    """What costs mean in a situation.

    Attributes:
        name: the node property with what measuring the node costs.
        left: how much may still be spent.
        exponent: α, by which the cost counts beside the expected improvement.
    """

    name: str
    left: float = math.inf
    exponent: float = 1.0

    def of(self, subgraph: Subgraph, rows: Sequence[int]) -> FloatArray:
        """The costs of these rows; NaN for the other ones.

        Raises:
            InvalidCost: one of them has none.
        """
        values = subgraph.properties[self.name]
        costs = np.full(len(subgraph), np.nan)
        for row in rows:
            costs[row] = cost_of(values[row], subgraph.keys[row], self.name)
        return costs

    def discount(self, costs: FloatArray) -> FloatArray:
        """What goes off the logarithm of the expected improvement."""
        discount: FloatArray = self.exponent * np.log(costs)
        return discount


def cost_of(value: object, key: NodeKey, name: str, remedy: Remedy = Remedy.SET_COST) -> float:
    """What a node costs, given its property; the remedy is for one that has no cost.

    Raises:
        InvalidCost: it is missing, no finite number, or not above zero.
    """
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and 0 < value < math.inf:  # type: ignore[operator]  # mypy forgets what number says
        return float(value)  # type: ignore[arg-type]
    found = "no cost" if value is None else f"the cost {cut(repr(value), 40)}"
    raise InvalidCost(
        f"the node {cut(repr(key), 60)} has {found} in {name!r}, where a number above 0 is expected",
        remedy,
    )
