"""Whether a database and a view are fit for a run: each check says ✓ or what to do."""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from graphbo.cli.advice import advised
from graphbo.errors import GraphboError
from graphbo.stores import GraphStore, shared_key
from graphbo.types import Ego, View
from graphbo.types.text import plural

__all__ = ["Check", "examine"]

WARM_UP, REPEATS = 5, 15
EGO_SIZE = 100


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
    nodes, relationships = store.count_nodes(view), store.count_relationships(view)
    labels, types = store.names()
    yield Check(
        "nodes",
        nodes > 0,
        f"{plural(nodes, 'node')} with the label {' or '.join(view.labels)}",
        f"choose --label among {_some(labels)}, or load a graph with `graphbo load`",
    )
    yield Check(
        "relationships",
        relationships > 0,
        f"{plural(relationships, 'relationship')} of the type {' or '.join(view.relationships)}",
        f"choose --rel among {_some(types)}",
    )
    if nodes == 0:
        return
    key = _examine_key(store, view)
    yield key
    if key.ok:
        yield _examine_ego(store, view)


def _examine_key(store: GraphStore, view: View) -> Check:
    if view.key is None:
        return Check(
            "key",
            True,
            "no --key: nodes are identified by the database's internal ids, which may be given to other nodes "
            "after deletes",
        )
    report = store.check_key(view)
    if report.constrained:
        return _examine_shared_key(store, view)
    broken = report.duplicates or report.missing
    found = f"{plural(report.duplicates, 'duplicate value')}, {plural(report.missing, 'node')} without it"
    return Check(
        "key",
        False,
        f"{view.key} has no uniqueness constraint ({found})",
        "make it unique first, or choose another property with --key"
        if broken
        else "run the statement that `graphbo cypher create_key` prints with these options",
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
    except GraphboError as error:
        return Check(
            "ego-network", False, advised(error), "mend the data, or choose another --weight"
        )
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
