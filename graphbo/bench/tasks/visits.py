"""People who visit places: who was the first to be infected?"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from graphbo.bench.tasks.base import Connectors
from graphbo.bench.tasks.connected import ConnectedTask, Parts
from graphbo.bench.tasks.parameters import Within
from graphbo.types import FloatArray, IntArray

__all__ = ["Visits"]

#: Nobody asks later than on this day, nor before half of the people were infected.
_LAST_DAY, _REACHED = 60, 0.5
#: People who live at one place, on average, and to how many other places people go.
_HOUSEHOLD, _PLACES = 2.5, 3


@dataclass(frozen=True)
class Visits(ConnectedTask):
    """An outbreak that spreads where people meet; a person is worth (1 − τ/T)², infected on day τ of T.

    Everybody lives somewhere, with about 2.5 people, and goes to three other places: to place k with a probability
    ∝ 1/k, so a few are visited by very many. On each day, each place is where anybody is infected with a probability
    that grows with the share of its visitors who are.
    """

    name: ClassVar[str] = "visits"
    kinds = ("PLACE",)

    n: Annotated[int, Within(20, 10**6), "how many people"] = 1000
    beta: Annotated[float, Within(0.001, 1), "how likely a day among the infected is to infect"] = (
        0.1
    )

    def _parts(self, rng: np.random.Generator) -> Parts:
        places = max(self.n // 8, 2)
        odds = 1.0 / np.arange(1, places + 1)
        elsewhere = rng.choice(places, size=(self.n, _PLACES), p=odds / odds.sum())
        home = places + rng.integers(0, max(int(self.n / _HOUSEHOLD), 1), size=self.n)
        people = np.repeat(np.arange(self.n), _PLACES + 1)
        visited = np.column_stack([home, elsewhere]).reshape(-1)
        links = np.unique(np.column_stack([people, visited]), axis=0)
        return Parts(self._worth(links, rng), (Connectors("PLACE", links),))

    def _worth(self, links: IntArray, rng: np.random.Generator) -> FloatArray:
        """(1 − τ/T)² of each person; the number 0 for those who were not infected until then."""
        people, visited = links.T
        visitors = np.bincount(visited)
        day = np.full(self.n, -1)
        day[rng.integers(self.n)] = 0
        for today in range(1, _LAST_DAY + 1):
            infected = np.bincount(visited, weights=day[people] >= 0, minlength=len(visitors))
            share = infected / np.maximum(visitors, 1)
            # Nobody is infected at any of the places they went to.
            spared = np.ones(self.n)
            np.multiply.at(spared, people, 1.0 - self.beta * share[visited])
            caught = (day < 0) & (rng.random(self.n) > spared)
            day[caught] = today
            if (day >= 0).mean() >= _REACHED:
                break
        last = max(int(day.max()), 1)
        return np.where(day >= 0, (1.0 - day / last) ** 2, 0.0)
