"""Who was the first? People who meet each other, an outbreak among them, and a function that is largest at its source.

The function is the paper's: (1 − τ/T)² for somebody who was infected at time τ, 0 for those who were not infected
until the time T at which somebody asks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from graphbo.errors import GraphboError

__all__ = ["Outbreak", "contact_graph", "spread"]

# Lists of so many words would fill a page.
_FIRST_NAMES = (  # noqa: SIM905
    "Ada Ali Ana Ben Bo Carla Chen Dan Dina Eli Emma Eva Femi Finn Gita Greta Hana Hugo Ida Ines Ivan Jana "
    "Jo Kai Kim Lara Leo Lin Mara Max Mia Nia Noah Olga Omar Pia Raj Rosa Sam Sara Tariq Tess Uma Vera Wei "
    "Will Yara Yusuf Zoe"
).split()
_LAST_NAMES = (  # noqa: SIM905
    "Abe Adler Baker Bauer Brown Cohen Costa Dubois Evans Fischer Garcia Haas Hill Ito Jansen Jones Kaya Khan "
    "Kim Kovac Larsen Lee Lopez Maier Mensah Moreau Nagy Novak Okafor Olsen Park Patel Petrov Rossi Sato "
    "Schmidt Silva Singh Smith Tran Vogel Wang Weber Yilmaz Young Zhang"
).split()

#: How many people live together, and how often that is so.
_HOUSEHOLDS = {1: 0.3, 2: 0.3, 3: 0.16, 4: 0.16, 5: 0.08}
_CLASS_SIZE, _TEAM_SIZE, _FRIENDS = 22, 9, 2


def contact_graph(people: int = 1000, seed: int = 0) -> "nx.Graph[str]":
    """People who meet: at home, in a class or at work, and a few friends elsewhere.

    Each has a ``name``, an ``age``, a ``home`` and, unless retired, a ``place`` where the day is spent.

    Args:
        people: how many.
        seed: equal seeds give equal towns.

    Raises:
        GraphboError: there is nobody.
    """
    if people < 1:
        raise GraphboError(f"a town of {people} people: expected at least 1")
    rng = np.random.default_rng(seed)
    graph: nx.Graph[str] = nx.Graph()
    keys = [f"p{number:0{len(str(people))}}" for number in range(1, people + 1)]
    homes = _homes(keys, rng)
    for number, home in enumerate(homes, start=1):
        family = str(rng.choice(_LAST_NAMES))
        for place_in_family, key in enumerate(home):
            graph.add_node(key, **_person(family, place_in_family, rng), home=f"home {number}")
    for home in homes:
        _meet(graph, home, rng, 1.0)
    for place, visitors in _places(graph, rng).items():
        for key in visitors:
            graph.nodes[key]["place"] = place
        _meet(graph, visitors, rng, 0.35)
    _befriend(graph, keys, rng)
    return graph


def _homes(keys: list[str], rng: np.random.Generator) -> list[list[str]]:
    homes, taken = [], 0
    while taken < len(keys):
        size = int(rng.choice(list(_HOUSEHOLDS), p=list(_HOUSEHOLDS.values())))
        homes.append(keys[taken : taken + size])
        taken += size
    return homes


def _person(family: str, place_in_family: int, rng: np.random.Generator) -> dict[str, Any]:
    """The first two of a family are adults, the others children."""
    low, high = (21, 86) if place_in_family < 2 else (4, 19)
    return {
        "name": f"{rng.choice(_FIRST_NAMES)} {family}",
        "age": int(rng.integers(low, high)),
    }


def _places(graph: "nx.Graph[str]", rng: np.random.Generator) -> dict[str, list[str]]:
    """Classes of children of about the same age, and teams of adults who work together."""
    ages: dict[str, int] = nx.get_node_attributes(graph, "age")
    children = sorted((age, key) for key, age in ages.items() if age < 19)
    workers = [key for key, age in ages.items() if 19 <= age < 66]
    rng.shuffle(workers)
    places: dict[str, list[str]] = {}
    for kind, size, group in (
        ("class", _CLASS_SIZE, [key for _, key in children]),
        ("team", _TEAM_SIZE, workers),
    ):
        for number, first in enumerate(range(0, len(group), size), start=1):
            places[f"{kind} {number}"] = group[first : first + size]
    return places


def _meet(graph: "nx.Graph[str]", group: list[str], rng: np.random.Generator, share: float) -> None:
    """A share of all pairs of a group meet."""
    for row, one in enumerate(group):
        for other in group[row + 1 :]:
            if rng.random() < share:
                graph.add_edge(one, other)


def _befriend(graph: "nx.Graph[str]", keys: list[str], rng: np.random.Generator) -> None:
    """Friends elsewhere; whoever met nobody so far gets to know somebody."""
    for key in keys:
        count = int(rng.poisson(_FRIENDS / 2)) or int(graph.degree(key) == 0)
        for other in rng.choice(keys, size=min(count, len(keys)), replace=False):
            if other != key:
                graph.add_edge(key, str(other))


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
        beta: how likely an infected person is to infect somebody they meet.
        gamma: how likely an infected person is to recover in a day, for good.
        epsilon: how likely anybody is to be infected from elsewhere in a day.
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
    adjacency = nx.to_scipy_sparse_array(graph, nodelist=keys, weight=None, format="csr")
    since = np.full(len(keys), -1)
    since[keys.index(source)] = 0
    infectious = since == 0
    day = 0
    while infectious.any() and np.mean(since >= 0) < reached:
        day += 1
        escape = (1 - epsilon) * (1 - beta) ** (adjacency @ infectious.astype(float))
        new = (since < 0) & (rng.random(len(keys)) > escape)
        infectious &= rng.random(len(keys)) > gamma
        since[new] = day
        infectious |= new
    infected = {key: int(when) for key, when in zip(keys, since, strict=True) if when >= 0}
    return Outbreak(source, infected, max(day, 1))
