"""The best team: every team of some people is a node, teams with common members are neighbours."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from scipy.special import entr

from graphbo.bench.tasks.base import Problem, Task
from graphbo.bench.tasks.parameters import Within
from graphbo.types import FloatArray, IntArray

__all__ = ["Teams"]


@dataclass(frozen=True)
class Teams(Task):
    """The team whose members master different skills.

    Everybody has skills ~ Dirichlet(α, …, α). A team is worth H(mean of its members' skills) − mean of their H, with
    the entropy H in nats: large if all skills are there and each member is a specialist. Two teams are neighbours if
    |common members| / |members of either| is above the threshold, or above the median of all pairs of teams. The
    empty team is left out: it has no skills, and no neighbour at any threshold. Nodes know their ``members``.
    """

    name: ClassVar[str] = "teams"

    people: Annotated[int, Within(2, 12), "how many there are to choose from"] = 10
    skills: Annotated[int, Within(2, 100), "how many skills there are"] = 2
    alpha: Annotated[float, Within(1e-3, 1e6), "small: specialists; large: all alike"] = 1.0
    threshold: Annotated[
        float | Literal["median"], Within(0, 1), "teams are neighbours above this Jaccard index"
    ] = 0.3

    def problem(self, seed: int) -> Problem:
        """The teams of the people of a seed."""
        rng = self._generator(seed)
        skills = rng.dirichlet(np.full(self.skills, float(self.alpha)), size=self.people)
        teams = np.arange(1, 2**self.people)
        member = (teams[:, None] >> np.arange(self.people)) & 1
        properties = {"members": [np.flatnonzero(row).tolist() for row in member]}
        worth = _diversity(member, skills)
        return Problem(self._edges(member), worth, properties=properties).shuffled(rng)

    def _edges(self, member: IntArray) -> IntArray:
        first, second = np.triu_indices(len(member), k=1)
        # Half the memory of the default, which the teams of 12 people would feel.
        common = (member.astype(np.float32) @ member.T.astype(np.float32))[first, second]
        size = member.sum(axis=1).astype(np.float32)
        similar = common / (size[first] + size[second] - common)
        # Compared in single precision on both sides: 3/10 is not above 0.3.
        least = np.float32(np.median(similar) if self.threshold == "median" else self.threshold)
        near = similar > least
        return np.column_stack([first[near], second[near]]).astype(np.int64)


def _diversity(member: IntArray, skills: FloatArray) -> FloatArray:
    """H(mean skill) − mean H(skill) of each team; rounding must not make it negative."""
    share = member / member.sum(axis=1, keepdims=True)
    together = entr(share @ skills).sum(axis=1)
    apart = share @ entr(skills).sum(axis=1)
    return np.asarray(np.maximum(together - apart, 0.0))
