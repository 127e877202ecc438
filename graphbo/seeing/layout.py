"""Where to draw the nodes of a graph: the same places for the same graph.

Every component is drawn on its own: distances to a few pivots give a first picture, which forces then spread. The
components are packed around the largest.
"""

import math
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from graphbo.types import FloatArray, IntArray

__all__ = ["layout"]

PIVOTS = 40
#: Enough for 1,500 nodes to come to rest; it takes about two seconds there.
ITERATIONS, EXACT = 160, 20
#: How many nodes stand for all while the picture is still rough.
SAMPLE = 200
PULL, GRAVITY = 0.35, 0.02
#: Between two components, in units of the distance between neighbours.
GAP = 1.2
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


def layout(count: int, edges: IntArray) -> FloatArray:
    """A place for each of ``count`` nodes, within a unit square around 0, wider than high.

    Args:
        count: how many nodes there are.
        edges: the rows of the two ends of each edge, one edge per row.
    """
    if not count:
        return np.zeros((0, 2))
    ends = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    ends = ends[ends[:, 0] != ends[:, 1]]
    ones = np.ones(2 * len(ends), dtype=np.float32)
    both = np.concatenate([ends, ends[:, ::-1]])
    adjacency = coo_array((ones, (both[:, 0], both[:, 1])), shape=(count, count)).tocsr()
    adjacency.data[:] = 1.0  # parallel edges pull no harder
    _, component = connected_components(adjacency, directed=False)
    members = [np.flatnonzero(component == number) for number in range(component.max() + 1)]
    members.sort(key=lambda rows: (-len(rows), rows[0]))
    pieces = [_component(adjacency[rows][:, rows]) for rows in members]
    places = np.zeros((count, 2))
    for rows, piece, centre in zip(members, pieces, _packed(pieces), strict=True):
        places[rows] = piece + centre
    places -= (places.max(axis=0) + places.min(axis=0)) / 2
    extent = float(np.ptp(places, axis=0).max())
    return places / extent if extent > 0 else places


def _component(adjacency: csr_array) -> FloatArray:
    """A connected graph, in units of about the distance between neighbours, around 0."""
    count = adjacency.shape[0]
    if count == 1:
        return np.zeros((1, 2))
    places = _forces(adjacency, _pivot_scaling(adjacency))
    places = places - places.mean(axis=0)
    # The long way lies across the page.
    _, vectors = np.linalg.eigh(places.T @ places)
    turned: FloatArray = places @ vectors[:, ::-1]
    reach = float(np.sqrt(np.square(turned).sum(axis=1)).max()) or 1.0
    return turned * (0.75 * math.sqrt(count) / reach)


def _pivot_scaling(adjacency: csr_array) -> FloatArray:
    """A first picture: the two main directions of the distances to nodes that are far from each other."""
    count = adjacency.shape[0]
    pivots, nearest = [0], np.full(count, np.inf)
    columns = []
    for _ in range(min(PIVOTS, count)):
        hops = shortest_path(adjacency, unweighted=True, directed=False, indices=pivots[-1])
        columns.append(hops)
        nearest = np.minimum(nearest, hops)
        pivots.append(int(np.argmax(nearest)))
    squares = np.square(np.array(columns).T)
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    places = np.zeros((count, 2))
    width = min(2, len(values))
    places[:, :width] = left[:, :width] * np.sqrt(values[:width])
    for axis in range(width):  # the sign of a direction is any
        places[:, axis] *= np.sign(places[np.argmax(np.abs(places[:, axis])), axis]) or 1.0
    # Alike nodes came to lie on each other, and forces between those have no direction.
    jitter = np.random.default_rng(0).normal(size=places.shape)
    scale = float(places.std()) or 1.0
    return places / scale + 0.05 * jitter


def _forces(adjacency: csr_array, start: FloatArray) -> FloatArray:
    """Edges pull by their length, nodes push by the inverse of their distance; ever smaller steps.

    Nodes push with their degree, so that a hub does not draw all its neighbours into one point. Until the picture is
    nearly at rest, the push of a random part of the nodes stands for that of all.
    """
    count = len(start)
    generator = np.random.default_rng(1)
    places = (start * math.sqrt(count) / 2).astype(np.float32)
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float32).reshape(-1, 1)
    mass = (1.0 + degrees) / (1.0 + degrees.mean())
    for step in range(ITERATIONS):
        rough = count > SAMPLE and step < ITERATIONS - EXACT
        chosen = generator.choice(count, SAMPLE, replace=False) if rough else slice(None)
        push = _push(places, places[chosen], mass[chosen]) * (count / SAMPLE if rough else 1.0)
        pull = degrees * places - adjacency @ places
        force = push * mass - PULL * pull - GRAVITY * mass * places
        length = np.sqrt(np.square(force).sum(axis=1, keepdims=True)) + 1e-9
        longest = 0.1 * math.sqrt(count) * (1.0 - step / ITERATIONS) ** 1.5 + 0.01
        places = places + force * np.minimum(0.5, longest / length)
    return places.astype(np.float64)


def _push(places: Any, others: Any, mass: Any) -> Any:
    """Σ m (x − x′) / |x − x′|² over the others, for each node."""
    distances = np.square(places).sum(axis=1)[:, None] + np.square(others).sum(axis=1)
    distances -= 2.0 * (places @ others.T)
    np.maximum(distances, 0.05, out=distances)
    np.divide(mass[:, 0], distances, out=distances)
    return distances.sum(axis=1, keepdims=True) * places - distances @ others


def _packed(pieces: list[FloatArray]) -> list[FloatArray]:
    """Where the middle of each piece goes, the first in the centre, none over another.

    Places are tried along a spiral that is wider than high. Pieces come in order of size, so the next one of the same
    size need not look where the last found no room.
    """
    radii = [float(np.sqrt(np.square(piece).sum(axis=1)).max()) + GAP / 2 for piece in pieces]
    taken = np.zeros((len(pieces), 3))
    tried, last = 0, math.inf
    for number, radius in enumerate(radii):
        tried = 0 if radius < 0.99 * last else tried
        last = radius
        while True:
            reach, angle = 0.6 * math.sqrt(tried), tried * GOLDEN_ANGLE
            x, y = 1.25 * reach * math.cos(angle), 0.8 * reach * math.sin(angle)
            others = taken[:number]
            free = np.square(others[:, 0] - x) + np.square(others[:, 1] - y) >= np.square(
                others[:, 2] + radius
            )
            if free.all():
                break
            tried += 1
        taken[number] = (x, y, radius)
    return list(taken[:, :2])
