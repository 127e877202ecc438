"""The most influential person of a social network."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np

from graphbo.bench.tasks.base import Problem, Task
from graphbo.bench.tasks.datasets import DATA_SETS, carried, downloaded

__all__ = ["Influence"]


@dataclass(frozen=True)
class Influence(Task):
    """The person who knows most others; how many somebody knows is not known before they are asked.

    The seed decides nothing but how the nodes are numbered. Each knows the ``name`` it has in the data.
    """

    name: ClassVar[str] = "influence"

    data: Annotated[
        Literal[
            "enron",
            "facebook-pages",
            "twitch",
            "karate",
            "les-miserables",
            "florentine-families",
            "southern-women",
        ],
        "the network; the first three are data sets to be downloaded",
    ] = "les-miserables"
    #: Where the data sets are.
    data_dir: Path | None = field(default=None, compare=False, repr=False, kw_only=True)

    def problem(self, seed: int) -> Problem:
        """The network, and how many each knows."""
        rng = self._generator(seed)
        large = self.data in DATA_SETS
        network = downloaded(self.data, self.data_dir) if large else carried(self.data)
        degrees = np.bincount(network.edges.ravel(), minlength=len(network.names)).astype(float)
        names = {"name": network.names}
        return Problem(network.edges, degrees, properties=names, hides_degrees=True).shuffled(rng)
