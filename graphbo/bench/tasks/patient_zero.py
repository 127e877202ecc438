"""Who was the first? People who meet each other, an outbreak among them, and a function that is largest at its source.

The function is the paper's: (1 − τ/T)² for somebody who was infected at time τ, 0 for those who were not infected
until the time T at which somebody asks. It is the day of the last infection: the outbreak has ended, or is at its peak.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

import networkx as nx
import numpy as np

from graphbo.bench.tasks.base import Problem, Task
from graphbo.bench.tasks.datasets import downloaded
from graphbo.bench.tasks.graphs import edges_of
from graphbo.bench.tasks.measures import adjacency
from graphbo.bench.tasks.parameters import Within
from graphbo.bench.tasks.town import contact_graph
from graphbo.errors import GraphboError
from graphbo.types import FloatArray, IntArray, Property

__all__ = ["Outbreak", "PatientZero", "Sir", "contact_graph", "spread"]

#: Nobody asks later than on this day.
_LAST_DAY: Final = 200

#: People in a group of the caveman graph, and the share of their contacts that is elsewhere.
_GROUP, _ELSEWHERE = 9, 0.25


class Sir(NamedTuple):
    """The SIR model: people are susceptible, then infected, then recovered for good.

    Attributes:
        beta: how likely an infected person is to infect somebody they meet, each day.
        gamma: how likely an infected person is to recover in a day, for good.
        epsilon: how likely anybody is to be infected from elsewhere in a day.
    """

    beta: float
    gamma: float
    epsilon: float = 0.0

    def days(
        self, links: Any, first: IntArray, rng: np.random.Generator, reached: float = 1.0
    ) -> IntArray:
        """The day on which each person is infected, -1 for those who are not.

        Args:
            links: the adjacency matrix of who meets whom.
            first: those who are infected on day 0.
            rng: what happens by chance.
            reached: ends on the day on which so many of all have been infected; also when nobody can be any more,
                and after 200 days.
        """
        people = links.shape[0]
        since = np.full(people, -1)
        since[first] = 0
        infectious = since == 0
        day = 0
        while (
            day < _LAST_DAY
            and np.mean(since >= 0) < reached
            and (infectious.any() or self.epsilon > 0)
        ):
            day += 1
            escape = (1 - self.epsilon) * (1 - self.beta) ** (links @ infectious.astype(float))
            new = (since < 0) & (rng.random(people) > escape)
            infectious &= rng.random(people) > self.gamma
            since[new] = day
            infectious |= new
        return since


def _closeness(since: IntArray) -> FloatArray:
    """(1 − τ/T)², or 0, of each."""
    return np.where(since >= 0, (1.0 - since / max(int(since.max()), 1)) ** 2, 0.0)


@dataclass(frozen=True)
class Outbreak:
    """What happened: when each person was infected, of those who were.

    Attributes:
        source: the first one.
        infected: the day on which each was infected.
        day: today, the day on which somebody asks.
    """

    source: str
    infected: Mapping[str, int]
    day: int

    def value(self, key: str) -> float:
        """How close somebody is to the beginning of the outbreak: 1 for the first, 0 for the healthy."""
        if key not in self.infected:
            return 0.0
        return (1.0 - self.infected[key] / self.day) ** 2


def spread(
    graph: "nx.Graph[str]",
    *,
    beta: float = 0.1,
    gamma: float = 0.015,
    epsilon: float = 0.0,
    reached: float = 0.6,
    seed: int = 0,
    source: str | None = None,
) -> Outbreak:
    """Let an infection spread by the SIR model until it has reached a share of all people, or has died out.

    Args:
        graph: who meets whom, each day.
        beta: see ``Sir``, as for the next two.
        gamma: see there.
        epsilon: see there.
        reached: the share at which somebody asks.
        seed: of all that happens by chance.
        source: the first one; somebody at random, among those who meet others, without it.

    Raises:
        GraphboError: there is nobody to begin with.
    """
    keys = list(graph)
    rng = np.random.default_rng(seed)
    if source is None:
        candidates = [key for key in keys if graph.degree(key)] or keys
        if not candidates:
            raise GraphboError("an outbreak among nobody: the graph has no node")
        source = candidates[int(rng.integers(len(candidates)))]
    elif source not in graph:
        raise GraphboError(f"the graph has no node {source!r} for an outbreak to begin with")
    links = nx.to_scipy_sparse_array(graph, nodelist=keys, weight=None, format="csr")
    first = np.array([keys.index(source)])
    since = Sir(beta, gamma, epsilon).days(links, first, rng, reached)
    infected = {key: int(when) for key, when in zip(keys, since, strict=True) if when >= 0}
    return Outbreak(source, infected, max(int(since.max()), 1))


@dataclass(frozen=True)
class PatientZero(Task):
    """The person with whom an outbreak began.

    Each day, an infected person infects each contact with probability β and recovers with probability γ; anybody
    falls ill by themselves with probability ε. It goes on until nobody can be infected any more, at most 200 days; T is
    the day of the last infection. A person who was infected on day τ is worth (1 − τ/T)², the others 0. If several are
    infected at first, each of them is an optimum.

    ``contacts`` is the network of the Copenhagen Networks Study, to be downloaded. ``town`` is generated: homes,
    classes, teams and friends. ``caveman`` has groups of nine, a quarter of whose contacts is elsewhere; n is rounded
    down to whole groups.
    """

    name: ClassVar[str] = "patient-zero"

    graph: Annotated[Literal["contacts", "town", "caveman"], "who meets whom"] = "town"
    n: Annotated[int, Within(2 * _GROUP, 100_000), "how many people (town, caveman)"] = 1000
    beta: Annotated[float, Within(0, 1), "probability to infect a contact in a day"] = 0.1
    gamma: Annotated[float, Within(0, 1), "probability to recover in a day"] = 0.015
    epsilon: Annotated[float, Within(0, 1), "probability to fall ill by oneself in a day"] = 0.0
    initial: Annotated[float, Within(0, 1), "share who are infected at first; at least one is"] = (
        0.0003
    )
    #: Where the data sets are.
    data_dir: Path | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.graph == "contacts":
            self._only_with("n", "graph=town and graph=caveman")

    def problem(self, seed: int) -> Problem:
        """The outbreak of a seed, in the town of that seed."""
        rng = self._generator(seed)
        edges, properties, people = self._contacts(seed)
        links = adjacency(edges, people)
        # Somebody who meets nobody could not be told from the healthy.
        social = np.flatnonzero(np.diff(links.indptr))
        first = rng.choice(social, min(max(1, round(self.initial * people)), len(social)), False)
        since = Sir(self.beta, self.gamma, self.epsilon).days(links, first, rng)
        return Problem(edges, _closeness(since), properties=properties).shuffled(rng)

    def _contacts(self, seed: int) -> tuple[IntArray, Mapping[str, list[Property]], int]:
        if self.graph == "contacts":
            network = downloaded("contacts", self.data_dir)
            return network.edges, {"name": list(network.names)}, len(network.names)
        if self.graph == "caveman":
            groups = self.n // _GROUP
            links = edges_of(nx.relaxed_caveman_graph(groups, _GROUP, _ELSEWHERE, seed=seed))
            return links, {}, groups * _GROUP
        town = contact_graph(self.n, seed=seed)
        people = [data for _, data in town.nodes(data=True)]
        numbers = {key: number for number, key in enumerate(town)}
        edges = np.array([(numbers[a], numbers[b]) for a, b in town.edges], dtype=np.int64)
        # The retired spend the day nowhere in particular.
        properties = {
            what: [data.get(what, "") for data in people]
            for what in ("name", "age", "home", "place")
        }
        return edges, properties, len(people)
