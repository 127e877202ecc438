"""Nodes as people write them: the keys that texts mean."""

from collections.abc import Iterable, Mapping

from graphbo.runs.run import Run
from graphbo.stores.subgraphs import refuse_unknown
from graphbo.types import NodeKey
from graphbo.types.text import spellings

__all__ = ["key_in", "keys_in"]

#: So many keys are looked up at once.
MOST_AT_ONCE = 1_000


def keys_in(run: Run, texts: Iterable[str]) -> dict[str, NodeKey]:
    """The keys that these texts mean, without those that no node has.

    What the run knows already is not looked up: most often that is all of it.

    Raises:
        StoreError: the database does not answer.
    """
    wanted = dict.fromkeys(texts)
    known = _known(run)
    found = {text: known[text] for text in wanted if text in known}
    unknown = {text: spellings(text) for text in wanted if text not in known}
    there: set[NodeKey] = set()
    keys = [key for some in unknown.values() for key in some]
    for start in range(0, len(keys), MOST_AT_ONCE):
        there.update(run.store.nodes_with_keys(run.view, keys[start : start + MOST_AT_ONCE]))
    for text, some in unknown.items():
        fitting = [key for key in some if key in there]
        if fitting:
            found[text] = fitting[0]
    return found


def key_in(run: Run, text: str) -> NodeKey:
    """The key that a text means.

    Raises:
        NoSuchNode: no node has it.
    """
    found = keys_in(run, [text])
    if text not in found:
        refuse_unknown(spellings(text)[:1], (), run.view)
    return found[text]


def _known(run: Run) -> Mapping[str, NodeKey]:
    """What the run has to do with, by its text; where a number and a text look alike, what was asked for first."""
    keys = [
        *(one.key for one in run.excluded),
        *(one.key for one in reversed(run.history)),
        *(one.key for one in reversed(run.pending)),
    ]
    return {str(key): key for key in keys}
