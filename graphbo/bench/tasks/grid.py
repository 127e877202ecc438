"""Functions of two variables that are hard to optimize, on the nodes of a grid."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal, NamedTuple

import numpy as np

from graphbo.bench.tasks.base import Problem, Task
from graphbo.bench.tasks.parameters import Within
from graphbo.types import FloatArray, IntArray

__all__ = ["Grid", "ackley", "rosenbrock", "sphere"]


def ackley(x: FloatArray, y: FloatArray) -> FloatArray:
    """A funnel with waves; 0 at the origin, more elsewhere."""
    bowl = -20 * np.exp(-0.2 * np.sqrt((x * x + y * y) / 2))
    waves = -np.exp((np.cos(2 * np.pi * x) + np.cos(2 * np.pi * y)) / 2)
    return np.asarray(bowl + waves + np.e + 20)


def rosenbrock(x: FloatArray, y: FloatArray) -> FloatArray:
    """A flat, bent valley between steep walls; 0 at (1, 1), more elsewhere."""
    return np.asarray(100 * (y - x * x) ** 2 + (x - 1) ** 2)


def sphere(x: FloatArray, y: FloatArray) -> FloatArray:
    """A bowl; 0 at the origin, more elsewhere."""
    return np.asarray(x * x + y * y)


class _Function(NamedTuple):
    value: Callable[[FloatArray, FloatArray], FloatArray]
    minimum: tuple[float, float]
    width: float


_FUNCTIONS: Final = {
    "ackley": _Function(ackley, (0.0, 0.0), 10.0),
    "rosenbrock": _Function(rosenbrock, (1.0, 1.0), 4.0),
    "sphere": _Function(sphere, (0.0, 0.0), 10.0),
}

#: The optimum is at least so far from the border, as a share of the side.
_MARGIN: Final = 0.2


@dataclass(frozen=True)
class Grid(Task):
    """A test function, turned round, on a square grid.

    The grid covers a square of the plane, 10 wide (Rosenbrock: 4). Each seed puts the optimum on a random node, at
    least a fifth of the side away from the border; its value is 0, and all others are less. Nodes know their ``row``
    and ``col``.
    """

    name: ClassVar[str] = "grid"

    function: Annotated[Literal["ackley", "rosenbrock", "sphere"], "which one"] = "ackley"
    side: Annotated[int, Within(2, 3000), "nodes along a side"] = 50
    noise: Annotated[float, Within(0), "standard deviation of a measurement"] = 0.0

    def problem(self, seed: int) -> Problem:
        """The grid with the optimum where the seed puts it."""
        rng = self._generator(seed)
        row, column = np.divmod(np.arange(self.side**2), self.side)
        properties = {"row": row.tolist(), "col": column.tolist()}
        exact = Problem(self._edges(), self._values(row, column, rng), properties=properties)
        # In this order, the numbers of the nodes do not depend on the noise.
        return exact.shuffled(rng).with_noise(self.noise, rng)

    def _values(self, row: IntArray, column: IntArray, rng: np.random.Generator) -> FloatArray:
        function = _FUNCTIONS[self.function]
        margin = int(_MARGIN * self.side)
        top, left = rng.integers(margin, self.side - margin, size=2)
        step = function.width / (self.side - 1)
        x = function.minimum[0] + step * (column - left)
        y = function.minimum[1] + step * (row - top)
        # Rounding leaves something of the order 1e-16 where there should be nothing.
        return 0.0 - np.where((row == top) & (column == left), 0.0, function.value(x, y))

    def _edges(self) -> IntArray:
        node = np.arange(self.side**2).reshape(self.side, self.side)
        down = np.column_stack([node[:-1].ravel(), node[1:].ravel()])
        right = np.column_stack([node[:, :-1].ravel(), node[:, 1:].ravel()])
        return np.concatenate([down, right])
