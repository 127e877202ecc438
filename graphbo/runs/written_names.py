"""What a run's properties and labels on nodes are called, and which of those that a node has are the run's.

A name belongs to a run on the nodes where the run's record says that it wrote it. Whatever else is called like that is
somebody's own.
"""

from collections.abc import Collection, Iterable

from graphbo.runs.records import RunRecord
from graphbo.stores.log import Touched

__all__ = [
    "all_properties",
    "answer_properties",
    "in_use",
    "names_of",
    "owned",
    "region_labels",
    "region_properties",
    "why_written",
    "written_labels",
    "written_properties",
]


def written_properties(prefix: str) -> dict[str, str]:
    """What each belief, and why the node was asked for, is called as a node property."""
    names = ("value", "step", "mean", "std", "acquisition", "why")
    return {name: f"{prefix}{name.capitalize()}" for name in names}


def region_properties(prefix: str) -> dict[str, str]:
    """What each belief of now, and why, is called on the nodes of the region; that of then has another name.

    None of the names ends like one of ``written_properties``: two prefixes never give the same name.
    """
    names = ("mean", "std", "acquisition", "why")
    return {name: f"{prefix}{name.capitalize()}Now" for name in names}


def answer_properties(prefix: str) -> dict[str, str]:
    """What people set on a node that is waiting, as its value, and where they are told what is wrong with it."""
    return {"answer": f"{prefix}Answer", "error": f"{prefix}AnswerError"}


def all_properties(prefix: str) -> list[str]:
    """The names of all node properties that a run may write, or take off."""
    return [
        *written_properties(prefix).values(),
        *answer_properties(prefix).values(),
        *region_properties(prefix).values(),
    ]


def why_written(prefix: str, why: object) -> set[str]:
    """The name under which a node that is being measured has why it is, if that was written."""
    return set() if why is None else {written_properties(prefix)["why"]}


def written_labels(prefix: str) -> dict[str, str]:
    """The labels of nodes that are observed, the best, being measured, or in the region."""
    return {
        name: f"{prefix[:1].upper()}{prefix[1:]}{name.capitalize()}"
        for name in ("observed", "best", "pending", "region")
    }


def names_of(record: RunRecord) -> set[str]:
    """The properties and labels that asking and telling write on a node, and what people set there meanwhile."""
    labels = written_labels(record.prefix) if record.labelled else {}
    told = (labels[what] for what in labels if what != "region")
    answers = answer_properties(record.prefix).values()
    return {*written_properties(record.prefix).values(), *answers, *told}


def region_labels(record: RunRecord) -> list[str]:
    """The label of the region, if there are labels."""
    return [written_labels(record.prefix)["region"]] if record.labelled else []


def in_use(
    names: Collection[str], held: Iterable[str], own: Collection[str] = ()
) -> tuple[str, ...]:
    """Which of the names a node has, without the run's own."""
    return tuple(sorted(set(names).intersection(held).difference(own)))


def owned(node: Touched, prefix: str, *, labelled: bool) -> tuple[set[str], set[str]]:
    """The properties and the labels that a run has written on a node, as its record says."""
    properties, labels = _owned(node, prefix)
    return properties, labels if labelled else set()


def _owned(node: Touched, prefix: str) -> tuple[set[str], set[str]]:
    found = node.record
    if node.kind == "pending":
        # The node had none of them when it was handed out.
        own = {*answer_properties(prefix).values()} if found.get("answerIn") else set()
        own |= why_written(prefix, found.get("why"))
        return own, {found["label"]} if found.get("label") else set()
    if node.kind == "region":
        names = region_properties(prefix)
        # Regions of the first schema do not say what was written: it was all of it.
        known = [what for what in names if what in found] or ["mean", "std", "acquisition"]
        return {names[what] for what in known}, {written_labels(prefix)["region"]}
    if node.kind != "observed" or found.get("unwritten"):
        return set(), set()
    names, labels = written_properties(prefix), written_labels(prefix)
    # Any of them may have been the best for a while: it had no such label before.
    return (
        {names[what] for what in names if found.get(what) is not None},
        {labels["observed"], labels["best"]},
    )
