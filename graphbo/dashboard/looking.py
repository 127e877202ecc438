"""What the page asks for: runs, one run, a node; each answered as HTML, with a version that tells when it is old."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from graphbo.dashboard import run_page
from graphbo.dashboard.node_page import node_panel
from graphbo.dashboard.parts import Shown, key_text, person
from graphbo.dashboard.runs_page import runs_part
from graphbo.dashboard.watching import Watching, version_of, why_of
from graphbo.errors import NoSuchNode
from graphbo.runs import Run
from graphbo.runs.captions import Captions, labels_of
from graphbo.runs.form import mark_of
from graphbo.runs.node_names import key_in
from graphbo.runs.records import RunRecord
from graphbo.runs.registry import runs_in
from graphbo.runs.why import Why
from graphbo.stores import GraphStore
from graphbo.types import NodeKey, Pending

__all__ = ["all_runs", "compared", "node", "one_run"]

#: Most rows of measurements that a page is given at once.
MOST_ROWS = 5_000
#: So many people at work are named for each run.
MOST_PEOPLE = 4

Data = dict[str, Any]


def all_runs(store: GraphStore, watching: Watching, known: str) -> Data | None:
    """Every run of the database; None if nothing has changed."""
    runs = runs_in(store).listed()
    readable = [one for one in runs if isinstance(one, RunRecord)]
    version = version_of(*readable)
    if version == known:
        return None
    curves = {
        one.name: watching.of(one.name).curve(store, one.name) for one in readable if one.in_history
    }
    people = {
        one.name: _people(watching.of(one.name).refreshed(store, one.name).pending)
        for one in readable
        if one.pending
    }
    return {"version": version, "parts": {"runs": runs_part(runs, curves, people)}}


def _people(pending: Iterable[Pending]) -> list[str]:
    return list(dict.fromkeys(map(person, pending)))[:MOST_PEOPLE]


def compared(store: GraphStore, watching: Watching, names: Sequence[str]) -> Data:
    """The best values so far of some runs.

    Raises:
        NoSuchRun: there is none of one of the names.
    """
    found = []
    for name in names:
        curve = watching.of(name).curve(store, name)
        found.append({"name": name, "x": curve.x, "y": curve.y})
    return {"runs": found}


def one_run(
    store: GraphStore, watching: Watching, name: str, known: str, rows: int, *, read_only: bool
) -> Data | None:
    """A run; None if nothing has changed.

    Raises:
        NoSuchRun: there is none of that name.
    """
    watched = watching.of(name)
    run = watched.refreshed(store, name)
    rows = max(1, min(rows, MOST_ROWS))
    version = f"{version_of(run.record)}.{rows}.{_version_of_pending(run.pending)}"
    if version == known:
        return None
    by_hand = [one for one in run.pending if one.lease_left is None]
    others = [one for one in run.pending if one.lease_left is not None]
    named = [one.key for one in run.history[-rows:]] + [one.key for one in others]
    best = run.best()
    if best is not None:
        named.append(best.key)
    named += [one.key for one in run.excluded[: run_page.MOST_LEFT_ALONE]]
    taken = [one.key for one in by_hand]
    shown = shown_of(store, run, taken, named, read_only=read_only)
    return {
        "version": version,
        "left": run_page.left_of(run.record),
        "parts": {
            "head": run_page.head(run.record),
            "best": run_page.best_part(shown),
            "controls": "" if read_only else run_page.controls(run.record),
            "others": run_page.others_part(shown, others),
            "excluded": run_page.excluded_part(shown, run.excluded),
            "collect": "" if read_only else run_page.collect_part(run.pending),
            "history": run_page.history_part(shown, rows),
        },
        "cards": [
            {
                "id": str(one.step),
                "html": run_page.card(
                    shown, one, _reason(shown, watched.why(run, one.key, one.step))
                ),
            }
            for one in by_hand
        ],
    }


def _version_of_pending(pending: Iterable[Pending]) -> str:
    """What changes when a lease runs out, or an answer is set on a node."""
    facts = [
        (one.step, one.worker, (one.lease_left or 0) < 0, mark_of(one.answer), one.refused)
        for one in pending
    ]
    return blake2b(repr(facts).encode(), digest_size=6).hexdigest()


def node(
    store: GraphStore, watching: Watching, name: str, key: NodeKey, *, read_only: bool
) -> Data:
    """A node of a run.

    Raises:
        NoSuchRun, NoSuchNode: there is none.
    """
    run = watching.of(name).refreshed(store, name)
    shown = shown_of(store, run, [key], [], read_only=read_only)
    if key not in shown.properties:
        store.properties(run.view, [key])  # raises, and says which
    why = _reason(shown, why_of(run, key))
    return {"key": key_text(key), "html": node_panel(shown, key, why)}


def found(store: GraphStore, watching: Watching, name: str, text: str) -> str:
    """The key of a node that somebody typed.

    Raises:
        NoSuchRun, NoSuchNode: there is none.
    """
    return key_text(key_in(watching.of(name).refreshed(store, name), text))


def shown_of(
    store: GraphStore,
    run: Run,
    with_properties: Sequence[NodeKey],
    others: Sequence[NodeKey],
    *,
    read_only: bool = False,
) -> Shown:
    """What is needed to show these nodes, in a question or two."""
    ours = runs_in(store).written()
    properties = {
        key: {name: value for name, value in found.items() if name not in ours}
        for key, found in _properties(store, run, list(dict.fromkeys(with_properties))).items()
    }
    captions = Captions(store, run.view, run.record.config.get("caption"))
    for key, known in properties.items():
        captions.take(key, known)
    captions.read(others)
    labels = labels_of(store, run.view, list(properties)) if properties else {}
    return Shown(run, captions, properties, labels, read_only)


def _properties(
    store: GraphStore, run: Run, keys: list[NodeKey]
) -> Mapping[NodeKey, Mapping[str, object]]:
    if not keys:
        return {}
    try:
        return store.properties(run.view, keys)
    except NoSuchNode:
        # Some were deleted since they were asked for.
        there = store.nodes_with_keys(run.view, keys)
        return store.properties(run.view, [key for key in keys if key in there])


def _reason(shown: Shown, why: Why | None) -> str:
    """Why a node was chosen, as a sentence."""
    if why is None:
        return ""
    shown.captions.read(part.key for part in why.parts[:_NAMED] if part.key is not None)
    text = why.text(shown.text)
    return f"{text[:1].upper()}{text[1:]}."


#: So many of the parts of an expectation may be named.
_NAMED = 12
