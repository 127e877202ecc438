"""Whether a database and a view are fit for a run: each check says ✓ or what to do."""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from graphbo.cli.advice import advised
from graphbo.errors import GraphboError, InvalidView, InvalidWeight
from graphbo.stores import GraphStore, shared_key
from graphbo.stores.checks import (
    hubs_skipped,
    key_problem,
    key_remark,
    refuse_rare,
    unconnected,
    unknown_names,
    with_hint,
)
from graphbo.stores.near_names import did_you_mean
from graphbo.stores.outlook import EGO_SIZE as LOOKED_AT
from graphbo.stores.outlook import look
from graphbo.types import Ego, View
from graphbo.types.conditions import pattern
from graphbo.types.text import plural

__all__ = ["Check", "examine"]

WARM_UP, REPEATS = 5, 15
EGO_SIZE = 100
EGO_MOST = LOOKED_AT - 1


@dataclass(frozen=True)
class Check:
    """One finding.

    Attributes:
        name: what was looked at.
        ok: whether it is fine.
        detail: what was found.
        advice: what to do about it, where it is not fine.
        milliseconds: where something was timed.
        skipped: whether there was nothing to look at.
    """

    name: str
    ok: bool
    detail: str
    advice: str = ""
    milliseconds: float | None = None
    skipped: bool = False


def examine(store: GraphStore, view: View | None) -> Iterator[Check]:
    """All checks, one after the other; those that cannot be made after an earlier finding are left out."""
    info = store.info()
    yield Check(
        "server",
        True,
        f"{info.product} {info.version} {info.edition} answers at {info.address}, database {info.database}",
    )
    yield Check(
        "access",
        info.writable,
        "this user may read and write" if info.writable else "this user may read, but not write",
        info.why_not_writable,
    )
    yield _timed("round trip", store.ping, "a round trip that touches no data")
    if view is None:
        labels, types = store.names()
        yield Check(
            "view",
            True,
            f"not checked: add --label and --rel (labels: {_some(labels)}; types: {_some(types)})",
            skipped=True,
        )
        return
    yield from _examine_view(store, store.resolve(view))


def _examine_view(store: GraphStore, view: View) -> Iterator[Check]:
    nodes = store.count_nodes(view)
    labels, types = store.names()
    missing = [name for name in view.candidate_labels if name not in labels]
    yield Check(
        "nodes",
        nodes > 0,
        _describe_nodes(view, nodes) + did_you_mean(missing, labels),
        f"choose --label among {_some(labels)}, or load a graph with `graphbo load`"
        if missing or view.candidate_condition is None
        else "change --where or --candidates-where",
    )
    if nodes and view.candidate_condition is not None:
        yield _examine_filter(store, view)
    yield from _examine_edges(store, view, types)
    for sentence in unknown_names(store, view):
        yield Check("names", False, sentence, "correct it, or leave it out")
    if nodes == 0:
        return
    key = _examine_key(store, view)
    yield key
    if key.ok:
        ego = _examine_ego(store, view)
        yield ego
        if ego.ok:
            yield _examine_neighbours(store, view)


def _describe_nodes(view: View, nodes: int) -> str:
    """What may be measured, and what connects it; of a plain view, which nodes there are."""
    if view.is_plain:
        all_of_them = "; all of them may be measured, unless --candidates says which"
        several = all_of_them if len(view.labels) > 1 else ""
        return f"{plural(nodes, 'node')} with the label {' or '.join(view.labels)}{several}"
    measured = pattern(view.candidate_condition, view.candidate_labels)
    text = f"{plural(nodes, 'candidate')} ({measured})"
    if not view.has_connectors:
        return text
    others = (
        [label for label in view.labels if label not in view.candidates]
        if view.candidates
        else view.labels
    )
    return f"{text}; connectors: the other nodes with the label {' or '.join(others)}"


def _examine_filter(store: GraphStore, view: View) -> Check:
    """Whether random candidates can be drawn."""
    try:
        refuse_rare(store, view)
    except InvalidView as error:
        return Check("filter", False, error.problem, _advice(error))
    found = ", an index finds them" if store.finds_by_index(view) else ""
    return Check("filter", True, f"the filter keeps enough nodes to draw from{found}")


def _advice(error: GraphboError) -> str:
    """What to do about an error, without what is wrong."""
    return advised(error).partition(error.problem)[2].lstrip(";: ")


def _examine_edges(store: GraphStore, view: View, types: list[str]) -> Iterator[Check]:
    """What edges are made of: relationships are counted, whether paths lead anywhere is seen by the neighbours."""
    if view.relationships:
        relationships = store.count_relationships(view)
        missing = [name for name in view.relationships if name not in types]
        yield Check(
            "relationships",
            relationships > 0,
            f"{plural(relationships, 'relationship')} of the type {' or '.join(view.relationships)}"
            f"{did_you_mean(missing, types)}",
            f"choose --rel among {_some(types)}",
        )
    for path in view.paths:
        yield Check("path", True, f"edges by the path {path}")
    if view.hop is not None:
        yield Check("hop", True, "edges by the statement of --hop")


def _examine_key(store: GraphStore, view: View) -> Check:
    report = store.check_key(view)
    if view.key is None:
        several = store.unique_properties(view)
        choose = f"; unique are {_some(several)}: choose one with --key" if several else ""
        return Check(
            "key",
            True,
            "no --key: nodes are identified by the database's internal ids, which may be given to other nodes "
            f"after deletes{choose}",
        )
    if report.constrained:
        return _examine_shared_key(store, view)
    problem = key_problem(store, view, report)
    if problem is not None:
        return Check("key", False, problem.problem, _advice(problem))
    shared = _examine_shared_key(store, view)
    remark = key_remark(store, view, report)
    return Check("key", True, advised(remark)) if remark is not None and shared.ok else shared


def _examine_neighbours(store: GraphStore, view: View) -> Check:
    outlook = look(store, view)
    if not outlook.connected:
        error = unconnected(store, view, outlook)
        return Check("neighbours", False, error.problem, _advice(error))
    more = " or more" if outlook.median >= EGO_MOST else ""
    alone = outlook.neighbours.count(0)
    none = f", {alone} of {len(outlook.keys)} have none" if alone else ""
    hubs = f"; {hubs_skipped(view, outlook.hubs)} (--hub-limit)" if outlook.hubs else ""
    return Check(
        "neighbours",
        True,
        f"a candidate has {plural(outlook.median, 'neighbour')}{more} (median of "
        f"{len(outlook.keys)} that were looked at{none}){hubs}",
    )


def _examine_shared_key(store: GraphStore, view: View) -> Check:
    shared = shared_key(store, view)
    if shared is None:
        return Check("key", True, f"{view.key} is unique, and a constraint keeps it so")
    key, nodes = shared
    both = " and ".join(f"(:{':'.join(node.labels)}) {node.id}" for node in nodes[:2])
    return Check(
        "key",
        False,
        f"{view.key} is unique for each label, but not across them: {key!r} belongs to {both}",
        "choose one --label, or a key that no two of the labels share",
    )


def _examine_ego(store: GraphStore, view: View) -> Check:
    centres = iter(store.random_keys(view, WARM_UP + REPEATS, [0]) * (WARM_UP + REPEATS))
    sizes = []

    def ask() -> None:
        sizes.append(len(store.ego_networks(view, [Ego(next(centres), EGO_SIZE)], [0])))

    try:
        check = _timed("ego-network", ask, f"an ego-network of up to {EGO_SIZE} nodes")
    except InvalidWeight as error:
        problem = advised(with_hint(error, store, view))
        return Check(
            "ego-network",
            False,
            problem,
            "mend the data, or choose another --weight or a --default-weight",
        )
    except GraphboError as error:
        return Check("ego-network", False, error.problem, _advice(error) or "mend the data")
    return Check(
        check.name, True, f"{check.detail} (median size {statistics.median(sizes):.0f})",
        milliseconds=check.milliseconds,
    )  # fmt: skip


def _timed(name: str, action: Callable[[], None], what: str) -> Check:
    times = []
    for _ in range(WARM_UP + REPEATS):
        start = time.perf_counter()
        action()
        times.append(1e3 * (time.perf_counter() - start))
    median = statistics.median(times[WARM_UP:])
    return Check(name, True, f"{what} takes {median:.1f} ms", milliseconds=round(median, 3))


def _some(names: list[str], most: int = 8) -> str:
    shown = ", ".join(names[:most]) or "none"
    return f"{shown}, …" if len(names) > most else shown
