"""Nodes as people write them: the keys that texts mean."""

from collections.abc import Iterable, Mapping, Sequence

from graphbo.runs.run import Run
from graphbo.stores import GraphStore
from graphbo.stores.subgraphs import refuse_unknown
from graphbo.types import NodeKey, View
from graphbo.types.text import spellings

__all__ = ["key_at", "key_in", "keys_in"]

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
    return found | _looked_up(run.store, run.view, [text for text in wanted if text not in known])


def key_in(run: Run, text: str) -> NodeKey:
    """The key that a text means.

    Raises:
        NoSuchNode: no node has it.
    """
    return _only(keys_in(run, [text]), text, run.view)


def key_at(store: GraphStore, view: View, text: str) -> NodeKey:
    """The key that a text means where there is no run yet.

    Raises:
        NoSuchNode: no node has it.
    """
    return _only(_looked_up(store, view, [text]), text, view)


def _only(found: Mapping[str, NodeKey], text: str, view: View) -> NodeKey:
    if text not in found:
        refuse_unknown(spellings(text)[:1], (), view)
    return found[text]


def _looked_up(store: GraphStore, view: View, texts: Sequence[str]) -> dict[str, NodeKey]:
    """What the graph says that texts mean, without those that no node has."""
    there: set[NodeKey] = set()
    keys = [key for text in texts for key in spellings(text)]
    for start in range(0, len(keys), MOST_AT_ONCE):
        there.update(store.nodes_with_keys(view, keys[start : start + MOST_AT_ONCE]))
    fitting = {text: [key for key in spellings(text) if key in there] for text in texts}
    return {text: some[0] for text, some in fitting.items() if some}


def _known(run: Run) -> Mapping[str, NodeKey]:
    """What the run has to do with, by its text; where a number and a text look alike, what was asked for first."""
    keys = [
        *(one.key for one in run.excluded),
        *(one.key for one in reversed(run.history)),
        *(one.key for one in reversed(run.pending)),
    ]
    return {str(key): key for key in keys}
