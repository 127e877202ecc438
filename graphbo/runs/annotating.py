"""What people see of a run on the nodes of the graph: written again, moved to another prefix, removed. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from graphbo.runs.encoding import finite, without_nothing
from graphbo.runs.records import RunRecord
from graphbo.runs.written_names import (
    all_properties,
    in_use,
    owned,
    region_labels,
    region_properties,
    written_labels,
    written_properties,
)
from graphbo.stores.checks import refuse_several
from graphbo.stores.log import (
    ChangeRun,
    Found,
    Mark,
    MarkRegion,
    Properties,
    Revise,
    Touched,
    Write,
)
from graphbo.types import Candidate, NodeKey

__all__ = ["decide_marks", "decide_prefix", "decide_region", "unmark"]


def unmark(touched: Iterable[Touched], prefix: str, *, labelled: bool) -> Mark:
    """Takes off every node what the run has written there, and nothing else."""
    rows = []
    for node in touched:
        properties, labels = owned(node, prefix, labelled=labelled)
        rows.append(_row(node.id, dict.fromkeys(properties), remove=labels))
    return _mark(rows)


def _row(
    node: str, properties: Properties, add: Iterable[str] = (), remove: Iterable[str] = ()
) -> Properties:
    return {"id": node, "set": properties, "add": sorted(add), "remove": sorted(remove)}


def _mark(rows: Iterable[Properties]) -> Mark:
    """One row for each node: a run may have to do with it in several ways."""
    merged: dict[str, Properties] = {}
    for row in rows:
        whole = merged.setdefault(row["id"], _row(row["id"], {}))
        whole["set"] |= row["set"]
        for what in ("add", "remove"):
            whole[what] = sorted({*whole[what], *row[what]})
    return Mark([row for row in merged.values() if row["set"] or row["add"] or row["remove"]])


def decide_marks(
    record: RunRecord, touched: Sequence[Touched]
) -> tuple[tuple[str, ...], Sequence[Write]]:
    """What is in the way of writing a run's marks again, and what to write: marks that are gone or were changed."""
    rows = []
    for node in touched:
        properties, labels = _marks(record, node)
        own = _own(record, node)
        names = in_use({*properties, *labels}, node.held, own)
        if names:
            return names, ()
        rows.append(_row(node.id, properties, labels))
    return (), (_mark(rows),)


def _own(record: RunRecord, node: Touched) -> set[str]:
    properties, labels = owned(node, record.prefix, labelled=record.labelled)
    return properties | labels


def _marks(record: RunRecord, node: Touched) -> tuple[Properties, list[str]]:
    """The properties and labels that the run has on a node."""
    labels = written_labels(record.prefix) if record.labelled else {}
    found = node.record
    if node.kind == "pending":
        names, wanted = {}, {"pending"}
    elif node.kind == "region":
        names, wanted = region_properties(record.prefix), {"region"}
    elif node.kind == "observed" and not found.get("unwritten"):
        best = {"best"} if found.get("step") == record.best_step else set()
        names, wanted = written_properties(record.prefix), {"observed", *best}
    else:
        names, wanted = {}, set()
    properties = without_nothing({names[what]: found.get(what) for what in names})
    return properties, [label for what, label in labels.items() if what in wanted]


def decide_region(
    record: RunRecord,
    region: Sequence[Candidate],
    nodes: Mapping[NodeKey, Sequence[Found]],
    touched: Sequence[Touched],
) -> tuple[tuple[str, ...], Sequence[Write]]:
    """What is in the way of marking the region, and what to write; what was marked before is unmarked first.

    Raises:
        KeyNotUnique: several nodes have one of its keys.
    """
    before = [node for node in touched if node.kind == "region"]
    marked = {node.id: _own(record, node) for node in before}
    properties, labels = region_properties(record.prefix), region_labels(record)
    rows, marks = [], []
    for one in region:
        refuse_several(one.key, nodes.get(one.key, ()))
        # Somebody may have deleted a node since the model looked at it.
        for node in nodes.get(one.key, ()):
            names = in_use({*properties.values(), *labels}, node.held, marked.get(node.id, ()))
            if names:
                return names, ()
            believed = {name: finite(value) for name, value in asdict(one).items() if name != "key"}
            wrote = without_nothing(believed)
            rows.append({"id": node.id, "properties": wrote})
            written = {properties[what]: wrote[what] for what in wrote}
            marks.append(_row(node.id, written, labels))
    return (), (
        unmark(before, record.prefix, labelled=record.labelled),
        MarkRegion(rows),
        _mark(marks),
    )


def decide_prefix(
    record: RunRecord, touched: Sequence[Touched], prefix: str
) -> tuple[tuple[str, ...], Sequence[Write]]:
    """What is in the way of another prefix, and what to write so that a run has it everywhere.

    Nodes that had something of their own under the old names get their marks now.
    """
    moved = replace(record, prefix=prefix)
    labels = written_labels(prefix)
    marks: list[Properties] = []
    revisions: list[Write] = []
    for node in touched:
        own = _own(record, node)
        names = in_use({*all_properties(prefix), *labels.values()}, node.held, own)
        if names:
            return names, ()
        properties, wanted = _marks(moved, replace(node, record=node.record | {"unwritten": None}))
        marks.append(_row(node.id, properties, wanted))
        if node.record.get("unwritten"):
            revisions.append(Revise(node.record["step"], {"unwritten": None}))
        elif node.record.get("label"):
            revisions.append(Revise(node.record["step"], {"label": labels["pending"]}))
    changed = ChangeRun({"prefix": prefix})
    old = unmark(touched, record.prefix, labelled=record.labelled)
    return (), (old, _mark(marks), *revisions, changed)
