"""What people see of a run on the nodes of the graph: written again, moved to another prefix, removed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphbo.runs.encoding import as_news, finite, without_nothing
from graphbo.runs.records import News, RunRecord
from graphbo.runs.transaction import Transaction
from graphbo.runs.written_names import (
    all_properties,
    answer_properties,
    in_use,
    owned,
    region_labels,
    region_properties,
    written_labels,
    written_properties,
)
from graphbo.stores.checks import refuse_several
from graphbo.stores.log import (
    NO_NEWS,
    ChangeRun,
    DeleteRun,
    Found,
    Lookup,
    Mark,
    MarkRegion,
    Properties,
    Revise,
    Snapshot,
    Touched,
    Write,
)
from graphbo.types import Candidate, NodeKey, View

__all__ = ["Annotation", "Cleaned", "Cleaning", "Marked", "PrefixChange"]


@dataclass(frozen=True)
class Marked:
    """What became of a wish to write on nodes.

    Attributes:
        news: the run.
        in_use: what a node has of its own where the run would write: then nothing is written.
    """

    news: News
    in_use: tuple[str, ...]


@dataclass(frozen=True)
class Annotation(Transaction[Marked]):
    """The properties and labels of a run's nodes are written again, from its record.

    Attributes:
        region: the nodes of the current region with what is believed of them now: written as well, in place of what
            was there before.
        whys: in words what speaks for and against the nodes of it that are not measured.
    """

    region: Sequence[Candidate] | None = None
    whys: Mapping[NodeKey, str] = field(default_factory=dict)
    grows = True

    def lookup(self, view: View, since: int) -> Lookup:
        """All nodes of the run, and those of the region."""
        del since
        keys = [one.key for one in self.region or ()]
        return Lookup(view, "annotation", 0, nodes=keys, touched=True)

    def decide(self, found: Snapshot) -> tuple[Marked, Sequence[Write]]:
        """Write all of it, or nothing.

        Raises:
            KeyNotUnique: several nodes have a key of the region.
        """
        news = as_news(found)
        names, writes = _marks_again(news.record, found.touched)
        if self.region is not None and not names:
            names, marks = _region_marks(news.record, self, found.nodes, found.touched)
            writes = (*writes, *marks)
        return Marked(news, names), () if names else writes


@dataclass(frozen=True)
class PrefixChange(Transaction[Marked]):
    """A run writes under another prefix from now on, and what it has written moves there."""

    prefix: str
    grows = True

    def lookup(self, view: View, since: int) -> Lookup:
        """All nodes of the run."""
        del since
        return Lookup(view, "another prefix", NO_NEWS, touched=True)

    def decide(self, found: Snapshot) -> tuple[Marked, Sequence[Write]]:
        """Move all of it, or nothing."""
        news = as_news(found)
        answers = {one.step: one.answer for one in news.pending}
        names, writes = _moved_marks(news.record, found.touched, self.prefix, answers)
        return Marked(news, names), writes


@dataclass(frozen=True)
class Cleaned:
    """What was removed with a run."""

    observations: int
    pending: int
    properties: list[str]
    labels: list[str]


@dataclass(frozen=True)
class Cleaning(Transaction[Cleaned]):
    """Every trace of a run goes, also of one whose record cannot be read."""

    grows = True

    def lookup(self, view: View, since: int) -> Lookup:
        """All nodes of the run."""
        del since
        return Lookup(view, "clean", NO_NEWS, touched=True)

    def decide(self, found: Snapshot) -> tuple[Cleaned, Sequence[Write]]:
        """Take off every node what the run's record says that it wrote there."""
        prefix, labelled = found.run.get("prefix"), bool(found.run.get("labelled"))
        # A record that has lost its prefix does not say what was written.
        marks = [_unmark(found.touched, prefix, labelled=labelled)] if prefix else []
        kinds = [node.kind for node in found.touched]
        cleaned = Cleaned(
            observations=kinds.count("observed") + kinds.count("failed"),
            pending=kinds.count("pending"),
            properties=all_properties(prefix) if prefix else [],
            labels=list(written_labels(prefix).values()) if prefix and labelled else [],
        )
        return cleaned, (*marks, DeleteRun())


def _unmark(touched: Iterable[Touched], prefix: str, *, labelled: bool) -> Mark:
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


def _marks_again(
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
        names = {name: written_properties(record.prefix)[name] for name in ("why",)}
        wanted = {"pending"}
    elif node.kind == "region":
        names, wanted = region_properties(record.prefix), {"region"}
    elif node.kind == "observed" and not found.get("unwritten"):
        best = {"best"} if found.get("step") == record.best_step else set()
        names, wanted = written_properties(record.prefix), {"observed", *best}
    else:
        names, wanted = {}, set()
    properties = without_nothing({names[what]: found.get(what) for what in names})
    return properties, [label for what, label in labels.items() if what in wanted]


def _region_marks(
    record: RunRecord,
    wanted: Annotation,
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
    for one in wanted.region or ():
        refuse_several(one.key, nodes.get(one.key, ()))
        # Somebody may have deleted a node since the model looked at it.
        for node in nodes.get(one.key, ()):
            names = in_use({*properties.values(), *labels}, node.held, marked.get(node.id, ()))
            if names:
                return names, ()
            believed = {name: finite(getattr(one, name)) for name in properties if name != "why"}
            wrote = without_nothing(believed | {"why": wanted.whys.get(one.key)})
            rows.append({"id": node.id, "properties": wrote})
            written = {properties[what]: wrote[what] for what in wrote}
            marks.append(_row(node.id, written, labels))
    return (), (
        _unmark(before, record.prefix, labelled=record.labelled),
        MarkRegion(rows),
        _mark(marks),
    )


def _moved_marks(
    record: RunRecord, touched: Sequence[Touched], prefix: str, answers: Mapping[int, object]
) -> tuple[tuple[str, ...], Sequence[Write]]:
    """What is in the way of another prefix, and what to write so that a run has it everywhere.

    Nodes that had something of their own under the old names get their marks now. Answers that people have set, by
    step, go along.
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
        elif node.kind == "pending":
            revisions.append(_moved_request(node.record, answers.get(node.record["step"]), moved))
    changed = ChangeRun({"prefix": prefix})
    old = _unmark(touched, record.prefix, labelled=record.labelled)
    return (), (old, _mark(marks), *revisions, changed)


def _moved_request(request: Properties, answer: object, moved: RunRecord) -> Revise:
    """What is noted with a request, and the answer on its node, under the names of another prefix."""
    names: Properties = {}
    if request.get("label"):
        names["label"] = written_labels(moved.prefix)["pending"]
    if request.get("answerIn") is None:
        return Revise(request["step"], names)
    names |= {"answerIn": answer_properties(moved.prefix)["answer"], "refused": None}
    node = {} if answer is None else {names["answerIn"]: answer}
    return Revise(request["step"], names, node)
