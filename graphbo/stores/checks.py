"""Whether a view of a database can be worked on: looked at before anything is written."""

import logging
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from graphbo.errors import EmptyView, GraphboError, InvalidWeight, KeyNotUnique, Remedy, StoreError
from graphbo.stores.contract import GraphStore, KeyReport
from graphbo.stores.log import Found
from graphbo.stores.near_names import did_you_mean
from graphbo.stores.outlook import Outlook, connecting, look, surroundings_of
from graphbo.stores.sampling import is_rare, rare_filter
from graphbo.stores.subgraphs import show_key
from graphbo.types import NodeKey, View
from graphbo.types.conditions import labels_in, properties_in, required_labels, spelled
from graphbo.types.text import plural

__all__ = [
    "hubs_skipped",
    "key_problem",
    "key_remark",
    "properties_on",
    "ready_view",
    "refuse_no_nodes",
    "refuse_rare",
    "refuse_several",
    "shared_key",
    "unconnected",
    "unknown_names",
    "with_hint",
]

#: A database whose disk has less room than this is not begun with, in bytes.
LEAST_ROOM = 50_000_000
#: How many nodes are looked at for their keys, and for the names of their properties.
SAMPLE = 100

log = logging.getLogger(__name__)


def ready_view(store: GraphStore, view: View) -> View:
    """The view with its key found, if it can be worked on; checks only, nothing is created.

    What takes a look at every node is looked for on a sample. What is odd, and no error, is warned of.

    Raises:
        EmptyView: it matches no node, or no relationship.
        KeyNotUnique: nodes share keys, or two of its labels do.
        InvalidWeight: a relationship has no weight.
        InvalidView: its filter keeps too few nodes, and no index finds them.
        StoreError: there is no room for what a run writes.
    """
    view = store.resolve(view)
    refuse_no_nodes(store, view)
    refuse_rare(store, view)
    _refuse_no_relationships(store, view)
    for sentence in unknown_names(store, view):
        log.warning("%s", sentence)
    _refuse_shared_key(store, view)
    try:
        outlook = look(store, view)
    except InvalidWeight as error:
        raise with_hint(error, store, view) from None
    if not outlook.connected:
        _warn(unconnected(store, view, outlook))
    room = store.room()
    if room is not None and room < LEAST_ROOM:
        raise StoreError(
            f"the disk of {store.address} has {room / 1e6:.0f} MB left: make room for at least "
            f"{LEAST_ROOM / 1e6:.0f} MB"
        )
    return view


def unconnected(store: GraphStore, view: View, outlook: Outlook) -> EmptyView:
    """What is wrong with a view most of whose candidates have nobody beside them, and the path that would help best."""
    kinds = [*view.relationships, *map(str, view.paths), *(["the statement"] if view.hop else [])]
    who = " or ".join(view.candidate_labels)
    problem = (
        f"{who} has no {who} beside it by {' or '.join(kinds)} ({outlook.neighbours.count(0)} of "
        f"{plural(len(outlook.keys), 'candidate')} that were looked at)"
    )
    if view.where is not None and view.has_connectors:
        apart = replace(view, where=None, candidates_where=view.candidate_condition)
        if look(store, apart).connected:
            return EmptyView(problem, Remedy.FILTER_CANDIDATES)
    for path in connecting(store, view, outlook):
        middle = path.nodes[len(path.nodes) // 2]
        through = f"through {str(middle or 'others').removeprefix(':')}"
        way = through if len(path.steps) > 1 else f"by {' or '.join(path.steps[0].types)}"
        return EmptyView(problem, Remedy.CONNECT_BY_PATH, way=way, path=shlex.quote(str(path)))
    if outlook.hubs:
        return EmptyView(f"{problem}; {hubs_skipped(view, outlook.hubs)}", Remedy.RAISE_HUB_LIMIT)
    return EmptyView(problem, Remedy.CONNECT)


def hubs_skipped(view: View, count: int) -> str:
    """That connectors were skipped, as a clause."""
    was = "was" if count == 1 else "were"
    limit = plural(view.hub_limit, "neighbour")
    return f"{plural(count, 'connector')} with more than {limit} {was} skipped"


def _warn(error: GraphboError) -> None:
    """What is odd, with what to do about it."""
    log.warning("%s", error.problem, extra={"remedy": error.remedy, "facts": error.facts})


# Names


def unknown_names(store: GraphStore, view: View) -> list[str]:
    """Names of a view that the database has never heard of, a sentence for each kind."""
    return [*_unknown_tokens(store, view), *_unknown_properties(store, view)]


def _unknown_tokens(store: GraphStore, view: View) -> Iterator[str]:
    """Labels and types."""
    nodes = [node for path in view.paths for node in path.nodes]
    asked = [
        name
        for condition in (view.where, view.candidates_where, *nodes)
        for name in labels_in(condition)
    ]
    # What was counted is there.
    if len({*view.labels, *asked}) < 2 and len(view.types) < 2 and not view.paths:
        return
    labels, types = store.names()
    missing = [name for name in view.labels if name not in labels]
    # A label that a filter asks about may well be on no node; unless it is misspelled.
    missing += [name for name in asked if did_you_mean([name], labels)]
    for what, names, there in (
        ("node has the label", missing, labels),
        ("relationship has the type", [x for x in view.types if x not in types], types),
    ):
        if names:
            unknown = " or ".join(map(repr, dict.fromkeys(names)))
            yield f"no {what} {unknown}{did_you_mean(names, there)}"


def _unknown_properties(store: GraphStore, view: View) -> Iterator[str]:
    """Properties that filters look at, if they are nearly the name of one that there is."""
    found = [
        (properties_in(one), properties_on, view) for one in (view.where, view.candidates_where)
    ]
    for path in view.paths:
        for node in path.nodes:
            labels = required_labels(node)
            if labels:
                found.append((properties_in(node), properties_on, View(labels, ("_",))))
        for at, step in enumerate(path.steps):
            labels = required_labels(path.nodes[at]) or required_labels(path.nodes[at + 1])
            if labels:
                around = View(labels, step.types)
                found.append((properties_in(step.where), _properties_around, around))
    for names, look_at, where in found:
        looked_at = list(dict.fromkeys(names))
        if not looked_at:
            continue
        there = look_at(store, where)
        hint = did_you_mean(looked_at, there)
        if hint:
            what = "node" if look_at is properties_on else "relationship"
            missing = " or ".join(repr(name) for name in looked_at if name not in there)
            yield f"no {what} that was looked at has the property {missing}{hint}"


def properties_on(store: GraphStore, view: View) -> list[str]:
    """The names of the properties on a sample of nodes with the labels of a view, whatever else it asks for."""
    anything = replace(view, key=None, where=None, candidates_where=None)
    some = store.random_keys(anything, SAMPLE, [0])
    found = store.properties(anything, some) if some else {}
    return sorted({name for one in found.values() for name in one})


def _properties_around(store: GraphStore, view: View) -> list[str]:
    """The names of the properties of relationships of a view's types, around a sample of its nodes."""
    anything = replace(view, candidates=(), where=None, candidates_where=None, key=None)
    kinds = (one for one in surroundings_of(store, anything) if one.type in view.relationships)
    return sorted({name for one in kinds for name in one.properties})


def with_hint(error: InvalidWeight, store: GraphStore, view: View) -> InvalidWeight:
    """The error, with the name of a property that may have been meant as the weight."""
    there = _properties_around(store, view) if view.weight else []
    hint = did_you_mean([view.weight], there) if view.weight else ""
    return InvalidWeight(f"{error.problem}{hint}", error.remedy, **error.facts)


# Nodes and relationships


def refuse_no_nodes(store: GraphStore, view: View) -> None:
    """Check that a view has candidates.

    Raises:
        EmptyView: it has none; the message says what may be misspelt.
    """
    if store.count_nodes(view) > 0:
        return
    labels, _ = store.names()
    missing = [name for name in view.candidate_labels if name not in labels]
    condition = view.candidate_condition
    if condition is not None and not missing:
        there = properties_on(store, view)
        hint = did_you_mean([*properties_in(condition)], there)
        raise EmptyView(
            f"no :{'|'.join(view.candidate_labels)} node in {store.address} fulfils "
            f"{condition}{hint}",
            Remedy.CHANGE_FILTER,
        )
    raise EmptyView(
        f"no node has the label {' or '.join(view.candidate_labels)!r} in {store.address}"
        f"{did_you_mean(missing, labels)}",
        Remedy.CHOOSE_LABEL if labels else Remedy.CHECK_LABEL,
        labels=", ".join(labels[:8]),
    )


def refuse_rare(store: GraphStore, view: View) -> None:
    """Check that random candidates can be drawn, or an index finds them.

    Raises:
        InvalidView: a filter keeps too few of too many nodes.
    """
    if view.candidate_condition is None:
        return
    size = store.count_labelled(view)
    # All of them would be looked at to count them.
    if (
        is_rare(0, size)
        and not store.finds_by_index(view)
        and is_rare(store.count_nodes(view), size)
    ):
        raise rare_filter(view, size, store.index_for(view))


def _refuse_no_relationships(store: GraphStore, view: View) -> None:
    wanted = [step.types for path in view.paths for step in path.steps]
    if view.relationships and not store.count_relationships(view):
        wanted.append(view.relationships)
    if not wanted:
        return
    _, types = store.names()
    # A graph may be without relationships; a type that nobody has heard of is a mistake.
    for names in wanted:
        if not set(names).intersection(types):
            raise EmptyView(
                f"no relationship has the type {' or '.join(names)!r} in {store.address}"
                f"{did_you_mean(names, types)}",
                Remedy.CHOOSE_RELATIONSHIP if types else Remedy.CHECK_RELATIONSHIP,
                types=", ".join(types[:8]),
            )


# Keys


def shared_key(store: GraphStore, view: View) -> tuple[NodeKey, list[Found]] | None:
    """A key that belongs to several nodes of a view, if a sample of its nodes has one, and these nodes."""
    if view.key is None or len(view.candidate_labels) < 2:
        return None
    nodes = store.nodes_with_keys(view, store.random_keys(view, SAMPLE, [0]))
    return next(((key, found) for key, found in nodes.items() if len(found) > 1), None)


def key_problem(store: GraphStore, view: View, report: KeyReport) -> KeyNotUnique | None:
    """What is wrong with the key of a view that was resolved; None if it will do."""
    if view.key is None or report.constrained:
        return None
    if report.indexed and not (report.duplicates or report.missing):
        return None
    found = (
        f"{report.duplicates:,} of its values {'belongs' if report.duplicates == 1 else 'belong'} to several nodes"
        if report.duplicates
        else f"{plural(report.missing, 'node')} {'does' if report.missing == 1 else 'do'} not have it"
        if report.missing
        else "its values are unique so far"
    )
    hint = did_you_mean([view.key], properties_on(store, view)) if report.missing else ""
    problem = f"no uniqueness constraint on {view.key!r} of {' and '.join(view.candidate_labels)} ({found}){hint}"
    if report.duplicates or report.missing:
        return KeyNotUnique(problem, Remedy.MAKE_UNIQUE)
    if report.fixed:
        return KeyNotUnique(problem, Remedy.LOAD_WITH_KEY)
    remedy = Remedy.REPLACE_INDEX if report.indexes else Remedy.CREATE_KEY
    return KeyNotUnique(problem, remedy, **_indexes(report))


def _indexes(report: KeyReport) -> dict[str, str]:
    """The indexes that are in the way of a constraint, and what drops them."""
    names = [spelled(name) for name in report.indexes]
    return {
        "indexes": " and ".join(names),
        "drop": "; ".join(f"DROP INDEX {name}" for name in names),
    }


def key_remark(store: GraphStore, view: View, report: KeyReport) -> KeyNotUnique | None:
    """What to know about a key that will do; None if there is nothing."""
    if report.constrained:
        return None
    if view.key is not None:
        return KeyNotUnique(
            f"the values of {view.key!r} are unique now, and nothing keeps them so",
            Remedy.KEEP_UNIQUE,
            **_indexes(report),
        )
    several = store.unique_properties(view)
    return KeyNotUnique(
        "nodes are known by the database's internal ids, which may be given to other nodes after deletes",
        Remedy.CHOOSE_UNIQUE if several else Remedy.GIVE_UNIQUE,
        keys=" or ".join(several),
    )


def _refuse_shared_key(store: GraphStore, view: View) -> None:
    report = store.check_key(view)
    problem = key_problem(store, view, report)
    if problem is not None:
        raise problem
    remark = key_remark(store, view, report)
    if remark is not None:
        _warn(remark)
    shared = shared_key(store, view)
    if shared is not None:
        refuse_several(*shared)


def refuse_several(key: NodeKey, nodes: Sequence[Found]) -> None:
    """Check that a key belongs to one node only.

    Raises:
        KeyNotUnique: it belongs to several.
    """
    if len(nodes) > 1:
        both = " and ".join(f"(:{':'.join(node.labels)}) {node.id}" for node in nodes[:2])
        raise KeyNotUnique(
            f"the key {show_key(key)} belongs to several nodes of the view, {both}: choose one label, or a key that "
            "no two of the labels share"
        )
