"""A town: people who meet at home, in class or at work, and elsewhere."""

from typing import Any

import networkx as nx
import numpy as np

from graphbo.errors import GraphboError

__all__ = ["contact_graph"]

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
