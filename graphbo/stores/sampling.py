"""Uniform random nodes without looking at every node: rejection on ids, in whatever database."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from graphbo.errors import InvalidView, Remedy
from graphbo.types import NodeKey, View
from graphbo.types.conditions import required_labels

__all__ = ["first_draws", "is_rare", "rare_filter", "sample_keys"]

#: Given draws from 0 … 2⁶²-1, the (id, key) of every node that they hit, in the order of the draws.
Shoot = Callable[[list[int]], Sequence[tuple[int, NodeKey]]]

#: Given how many, that many keys that are not excluded, by looking at all of them.
Scan = Callable[[int, list[NodeKey]], list[NodeKey]]

#: How many nodes a scan would look at.
Size = Callable[[], int]

#: So many draws at once always cost less than a scan would.
FEW_DRAWS = 4_000
#: A draw costs about as much as so many nodes of a scan.
NODES_PER_DRAW = 4
#: More than this are not sent at once.
MOST_DRAWS = 50_000
ROUNDS = 4

#: A filter that keeps fewer than one node in so many needs an index; so many nodes are looked at without one.
RARE, MOST_SCANNED = 100, 10_000
#: Nodes come and go: what was not rare when a run began does not end it.
DOUBT = 2


def is_rare(kept: int, size: int) -> bool:
    """Whether a filter keeps so few of so many nodes that they have to be found by an index."""
    return size > MOST_SCANNED and kept * RARE < size


def rare_filter(view: View, size: int, index: str | None) -> InvalidView:
    """What is wrong with a filter that keeps too few nodes, where no index finds them.

    Args:
        view: what is looked for.
        size: how many nodes would be looked at.
        index: the statement that makes an index which helps; None if none would.
    """
    condition = view.candidate_condition
    labelled = bool(required_labels(condition))
    otherwise = Remedy.NAME_RAREST if labelled else Remedy.ASK_OTHERWISE
    return InvalidView(
        f"the filter {condition} keeps fewer than one node in {RARE} of "
        f"{size:,} :{'|'.join(view.candidate_labels)} nodes, and all of them would be looked at",
        otherwise if index is None else Remedy.CREATE_INDEX,
        index=index,
    )


def _first_tries(count: int) -> int:
    """How many draws to begin with: most of them are spare where the view's nodes are most nodes."""
    return 32 + 4 * count


def first_draws(count: int, seed: Sequence[int]) -> list[int]:
    """The draws that ``sample_keys`` begins with."""
    rng = np.random.default_rng(list(seed))
    return [int(draw) for draw in rng.integers(0, 2**62, size=_first_tries(count))]


def sample_keys(
    count: int,
    seed: Sequence[int],
    exclude: Iterable[NodeKey],
    shoot: Shoot,
    scan: Scan,
    size: Size,
) -> list[NodeKey]:
    """``count`` different keys, uniform among those not excluded; fewer only when there are no more.

    Every draw hits each node with the same probability, so the hits, in their order, are a uniform sample. Where
    hits are too rare (a label that few nodes carry, a graph that is nearly used up), one scan does it instead. What
    is too rare depends on the scan: of 10⁶ nodes among 10⁹, one draw in a thousand hits, and that is still much less
    work than to look at all of them.
    """
    rng = np.random.default_rng(list(seed))
    excluded = set(exclude)
    taken: dict[NodeKey, None] = {}
    drawn = 0
    tries = _first_tries(count)
    for _ in range(ROUNDS):
        if count <= len(taken):
            break
        for _, key in shoot(rng.integers(0, 2**62, size=tries).tolist()):
            if key not in excluded and len(taken) < count:
                taken[key] = None
        drawn += tries
        rate = (len(taken) + 0.5) / drawn
        tries = int(2 * (count - len(taken)) / rate) + 16
        if tries > FEW_DRAWS and tries > min(MOST_DRAWS, size() // NODES_PER_DRAW):
            break
    if len(taken) < count:
        rest = scan(count - len(taken), [*excluded, *taken])
        taken.update(dict.fromkeys(rest))
    return list(taken)
