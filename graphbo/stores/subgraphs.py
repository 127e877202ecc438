"""From what a database answers to a Subgraph: checks that both stores share."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast

import numpy as np

from graphbo.errors import InvalidWeight, KeyNotUnique, NoSuchNode, Remedy
from graphbo.types import NodeKey, Subgraph, View
from graphbo.types.text import cut

__all__ = [
    "LONGEST_KEY_SHOWN",
    "Meeting",
    "as_key",
    "assemble",
    "by_name",
    "refuse_unknown",
    "show_key",
    "way_weight",
]

LONGEST_KEY_SHOWN = 60

#: A relationship as answered: id of its source, id of its target, weights of it and its parallels; each weight as the
#: pair of its type and itself where types have factors.
AnsweredRelationship: TypeAlias = tuple[int, int, Sequence[object]]

#: What meets at a connector in the middle of a path: its weight, and the nodes that half of the path leads to, each
#: with the weight of its ways there; once for either end of the path.
Meeting: TypeAlias = tuple[float, Sequence[tuple[int, float]], Sequence[tuple[int, float]]]


def way_weight(arriving: int, leaving: int) -> float:
    """What a way weighs for leading through a connector: the less, the more relationships it has on either side."""
    return 1.0 / math.sqrt(arriving * leaving) if arriving and leaving else 0.0


def show_key(key: object) -> str:
    """A key as it may stand in a message."""
    return cut(repr(key), LONGEST_KEY_SHOWN)


def as_key(value: object, view: View) -> NodeKey:
    """The value of a node's key property, if it can identify a node.

    Raises:
        KeyNotUnique: it is missing, or neither a string nor an integer.
    """
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return value
    found = "no value" if value is None else f"{show_key(value)}, a {type(value).__name__},"
    raise KeyNotUnique(
        f"a node of {view} has {found} as its key {view.key!r}: give every node a string or an integer",
        Remedy.CHOOSE_KEY,
    )


def refuse_unknown(keys: Iterable[NodeKey], known: Iterable[NodeKey], view: View) -> None:
    """Check that every key was found.

    Raises:
        NoSuchNode: some key matches no node of the view.
    """
    known = set(known)
    missing = [key for key in keys if key not in known]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise NoSuchNode(
            f"no node of {view} has the key {show_key(missing[0])}{more}", Remedy.CHECK_KEY
        )


def assemble(
    view: View,
    nodes: Sequence[tuple[int, NodeKey]],
    egos: Sequence[Sequence[int]],
    relationships: Iterable[AnsweredRelationship],
    degrees: Sequence[int],
    *,
    connectors: Sequence[tuple[int, str]] = (),
    meetings: Iterable[Meeting] = (),
    through: Collection[int] | None = None,
    hubs: Iterable[str] = (),
    properties: Mapping[str, tuple[object, ...]] | None = None,
) -> Subgraph:
    """The subgraph of what a database answered, by its ids.

    Args:
        view: what was asked about.
        nodes: (id, key) of the candidates.
        egos: the ids that each ego-network is made of.
        relationships: between any two of all these nodes.
        degrees: of the candidates.
        connectors: (id, id as text) of the connectors that are rows.
        meetings: where paths between any two of all these nodes have their middle.
        through: nodes of which each edge has to touch one; None if any will do.
        hubs: the connectors that were skipped.
        properties: of the candidates, by name.

    Raises:
        KeyNotUnique: two of the nodes have the same key.
        InvalidWeight: a relationship has no weight that can be used.
    """
    ids = [*(node_id for node_id, _ in nodes), *(node_id for node_id, _ in connectors)]
    rows = {node_id: row for row, node_id in enumerate(ids)}
    names = [*(key for _, key in nodes), *(name for _, name in connectors)]
    _refuse_twins(nodes, view)
    answered = [
        one for one in relationships if through is None or one[0] in through or one[1] in through
    ]
    ends = [(rows[source], rows[target]) for source, target, _ in answered]
    weights = [
        _total(parallel, view, names[a], names[b])
        for (a, b), (_, _, parallel) in zip(ends, answered, strict=True)
    ]
    for source, target, weight in _ways(meetings):
        if through is None or source in through or target in through:
            ends.append((rows[source], rows[target]))
            weights.append(weight)
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return Subgraph(
        keys=tuple(key for _, key in nodes),
        sources=pairs[:, 0],
        targets=pairs[:, 1],
        weights=np.array(weights, dtype=np.float64),
        egos=tuple(tuple(rows[node_id] for node_id in ego) for ego in egos),
        degrees=np.array(degrees, dtype=np.int64),
        connectors=tuple(name for _, name in connectors),
        hubs=frozenset(hubs),
        properties=properties or {},
    )


def by_name(
    names: Sequence[str], values: Sequence[Sequence[object]]
) -> dict[str, tuple[object, ...]]:
    """Properties by name, of each node's values in the order of the names."""
    return {name: tuple(own[place] for own in values) for place, name in enumerate(names)}


def _ways(meetings: Iterable[Meeting]) -> Iterator[tuple[int, int, float]]:
    """The two ends of paths, and what all ways between them weigh together: every two that meet at a connector."""
    total: dict[tuple[int, int], float] = {}
    for weight, starts, stops in meetings:
        for source, first in starts:
            for target, second in stops:
                if source != target:
                    pair = source, target
                    total[pair] = total.get(pair, 0.0) + weight * first * second
    for (source, target), weight in sorted(total.items()):
        yield source, target, weight


def _refuse_twins(nodes: Sequence[tuple[int, NodeKey]], view: View) -> None:
    ids: dict[NodeKey, int] = {}
    for node_id, key in nodes:
        if key in ids:
            raise KeyNotUnique(
                f"the key {show_key(key)} belongs to several nodes of {view}, with the ids {ids[key]} and {node_id}: "
                "choose one label, or a key that no two of the labels share"
            )
        ids[key] = node_id


def _total(parallel: Sequence[object], view: View, source: NodeKey, target: NodeKey) -> float:
    if view.weight is None and not view.factors:
        # Each counts as 1; there are thousands of them in a dense neighbourhood.
        return float(len(parallel))
    if not view.factors:
        return sum(_weight(value, view, source, target) for value in parallel)
    factors = dict(view.factors)
    return sum(
        factors.get(kind, 1.0) * _weight(value, view, source, target)
        for kind, value in cast(Sequence[tuple[str, object]], parallel)
    )


def _weight(value: object, view: View, source: NodeKey, target: NodeKey) -> float:
    """How alike the ends of one relationship are, by the weight that it has."""
    if view.weight is None:
        return 1.0
    if value in (None, "missing") and view.default_weight is not None:
        value = view.default_weight
    distance = view.weight_as == "distance"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        weight = float(value)
        if distance and math.isfinite(weight) and weight > 0:
            return 1.0 / weight
        if not distance and math.isfinite(weight) and weight >= 0:
            return weight
    missing = value in (None, "missing")
    found = "no weight" if missing else f"the weight {show_key(value)}"
    needed = "above 0, as it is a distance" if distance else "0 or more"
    raise InvalidWeight(
        f"the relationship from {show_key(source)} to {show_key(target)} has {found} in {view.weight!r}: "
        f"every relationship of the view needs a finite number, {needed}",
        Remedy.GIVE_DEFAULT_WEIGHT if missing else None,
    )
