"""From what a database answers to a Subgraph: checks that both stores share."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from graphbo.errors import InvalidWeight, KeyNotUnique, NoSuchNode, Remedy
from graphbo.types import NodeKey, Subgraph, View
from graphbo.types.text import cut

__all__ = ["LONGEST_KEY_SHOWN", "as_key", "assemble", "refuse_unknown", "show_key"]

LONGEST_KEY_SHOWN = 60

#: A relationship as answered: id of its source, id of its target, weights of it and its parallels.
AnsweredRelationship = tuple[int, int, Sequence[object]]


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
) -> Subgraph:
    """The subgraph of nodes given by (id, key) and degrees, with ego-networks and relationships given by ids.

    Raises:
        KeyNotUnique: two of the nodes have the same key.
        InvalidWeight: a relationship has no weight that can be used.
    """
    rows = {node_id: row for row, (node_id, _) in enumerate(nodes)}
    keys = tuple(key for _, key in nodes)
    _refuse_twins(nodes, view)
    answered = list(relationships)
    ends = [(rows[source], rows[target]) for source, target, _ in answered]
    weights = [
        _total(parallel, view, keys[a], keys[b])
        for (a, b), (_, _, parallel) in zip(ends, answered, strict=True)
    ]
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return Subgraph(
        keys=keys,
        sources=pairs[:, 0],
        targets=pairs[:, 1],
        weights=np.array(weights, dtype=np.float64),
        egos=tuple(tuple(rows[node_id] for node_id in ego) for ego in egos),
        degrees=np.array(degrees, dtype=np.int64),
    )


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
    if view.weight is None:
        # Each counts as 1; there are thousands of them in a dense neighbourhood.
        return float(len(parallel))
    return sum(_weight(value, view, source, target) for value in parallel)


def _weight(value: object, view: View, source: NodeKey, target: NodeKey) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        weight = float(value)
        if math.isfinite(weight) and weight >= 0:
            return weight
    found = "no weight" if value in (None, "missing") else f"the weight {show_key(value)}"
    raise InvalidWeight(
        f"the relationship from {show_key(source)} to {show_key(target)} has {found} in {view.weight!r}: "
        "every relationship of the view needs a finite number, 0 or more"
    )
