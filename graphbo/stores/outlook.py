"""What a search will find in a view: how many neighbours candidates have, and what would give them some.

Everything is looked at around a sample of candidates: nothing depends on the size of the graph.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphbo.stores.contract import GraphStore, Surrounding
from graphbo.types import Ego, NodeKey, Subgraph, View
from graphbo.types.conditions import HasLabel, any_label
from graphbo.types.paths import Path, Step

__all__ = ["Outlook", "connecting", "look", "surroundings_of"]

#: How many candidates are looked at, how far around each, and how many relationships of each.
CANDIDATES, EGO_SIZE, RELATIONSHIPS = 30, 12, 50
#: More paths than this are not tried, nor named.
MOST_TRIED, MOST_NAMED = 4, 2


@dataclass(frozen=True)
class Outlook:
    """What is beside candidates.

    Attributes:
        keys: the candidates that were looked at.
        neighbours: how many other candidates are beside each: no more than ``EGO_SIZE - 1`` are counted.
        hubs: how many connectors with too many neighbours were skipped.
    """

    keys: tuple[NodeKey, ...]
    neighbours: tuple[int, ...]
    hubs: int = 0

    @property
    def median(self) -> int:
        """Of the neighbours."""
        return int(statistics.median_low(self.neighbours)) if self.neighbours else 0

    @property
    def alone(self) -> float:
        """The share of candidates with no other beside them."""
        return self.neighbours.count(0) / len(self.keys) if self.keys else 0.0

    @property
    def connected(self) -> bool:
        """Whether a search has something to go by; a single candidate needs nobody beside it."""
        return len(self.keys) < 2 or self.alone <= 0.5


def look(store: GraphStore, view: View) -> Outlook:
    """Look at a sample of candidates, and the edges around them.

    Raises:
        InvalidWeight: one of these edges has no weight.
        KeyNotUnique: a candidate cannot be told from others.
    """
    keys = store.random_keys(view, CANDIDATES, [0])
    if not keys:
        return Outlook((), ())
    found = store.ego_networks(view, [Ego(key, EGO_SIZE) for key in keys], [0])
    counts = _neighbours(found, [ego[0] for ego in found.egos])
    return Outlook(tuple(keys), tuple(counts), len(found.hubs))


def _neighbours(found: Subgraph, centres: Sequence[int]) -> list[int]:
    """How many candidates are beside each of these rows: one edge away, or further through connectors alone."""
    beside: dict[int, set[int]] = {}
    for source, target in zip(found.sources.tolist(), found.targets.tolist(), strict=True):
        beside.setdefault(source, set()).add(target)
        beside.setdefault(target, set()).add(source)
    candidates = len(found.keys)
    counts = []
    for centre in centres:
        seen, frontier = {centre}, [centre]
        while frontier:
            reached = set().union(*(beside.get(row, set()) for row in frontier)) - seen
            seen |= reached
            frontier = [row for row in reached if row >= candidates]
        counts.append(min(sum(row < candidates for row in seen), EGO_SIZE) - 1)
    return counts


def surroundings_of(
    store: GraphStore, view: View, keys: Sequence[NodeKey] | None = None
) -> list[Surrounding]:
    """What relationships lead from these candidates, or a sample of them, whatever the view says of edges."""
    some = store.random_keys(view, CANDIDATES, [0]) if keys is None else keys
    return store.around(view, list(some), RELATIONSHIPS) if some else []


def connecting(store: GraphStore, view: View, outlook: Outlook) -> list[Path]:
    """Paths that give most candidates a neighbour, the best first: through whatever is beside them now."""
    ends = any_label(view.candidate_labels)
    kinds = sorted(surroundings_of(store, view, outlook.keys), key=lambda one: -one.nodes)
    paths = []
    for kind in kinds:
        step = Step((kind.type,), "out" if kind.outgoing else "in")
        if set(kind.labels) & set(view.candidate_labels):
            paths.append(Path((ends, ends), (Step((kind.type,)),)))
            continue
        middle = next(
            (HasLabel(name) for name in kind.labels if not name.startswith("Graphbo")), None
        )
        paths.append(Path((ends, middle, ends), (step, step.turned)))
    shares = {}
    for path in list(dict.fromkeys(paths))[:MOST_TRIED]:
        tried = replace(
            view, relationships=(), paths=(path,), hop=None, direction="both", factors=(),
            weight=None, default_weight=None,
        )  # fmt: skip
        egos = [Ego(key, 2) for key in outlook.keys]
        found = store.ego_networks(tried, egos, [0])
        shares[path] = sum(len(ego) < 2 for ego in found.egos) / len(egos)
    good = sorted(
        (share, row, path) for row, (path, share) in enumerate(shares.items()) if share <= 0.5
    )
    return [path for _, _, path in good[:MOST_NAMED]]
