"""Machines of a data centre, in racks and of hardware types: which of them runs hottest?"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from graphbo.bench.tasks.base import Connectors
from graphbo.bench.tasks.connected import ConnectedTask, Parts
from graphbo.bench.tasks.parameters import Within

__all__ = ["Machines"]

#: Machines in a rack, at least and at most.
_RACK = (6, 24)


@dataclass(frozen=True)
class Machines(ConnectedTask):
    """A machine is as hot as its rack and its type make it, and a little by itself.

    Racks hold 6 to 24 machines, types are bought in lots of very different sizes: a machine's type is t with a
    probability ∝ 1/t. What a rack and a type contribute is normal, and so is the machine's own part.
    """

    name: ClassVar[str] = "machines"
    kinds = ("RACK", "TYPE")

    n: Annotated[int, Within(20, 10**6), "how many machines"] = 1000
    types: Annotated[int, Within(1, 1000), "how many hardware types"] = 30
    own: Annotated[
        float,
        Within(0, 100),
        "the share of a machine itself, beside 1 of its rack and 1 of its type",
    ] = 0.5

    def _parts(self, rng: np.random.Generator) -> Parts:
        sizes = rng.integers(_RACK[0], _RACK[1] + 1, size=self.n)
        rack = np.repeat(np.arange(self.n), sizes)[: self.n]
        odds = 1.0 / np.arange(1, self.types + 1)
        kind = rng.choice(self.types, size=self.n, p=odds / odds.sum())
        values = rng.normal(size=self.n)[rack] + rng.normal(size=self.types)[kind]
        values += self.own * rng.normal(size=self.n)
        machines = np.arange(self.n)
        return Parts(
            values,
            (
                Connectors("RACK", np.column_stack([machines, rack])),
                Connectors("TYPE", np.column_stack([machines, kind])),
            ),
        )
