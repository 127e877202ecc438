"""What must hold after a fault, whatever the fault was: a run's history compared with what its workers did and said."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tests.faults.journal import Evaluation, value_of

__all__ = ["DEATHS_OF_POISON", "Evidence", "Findings", "Recorded", "Said", "check"]

#: A node on which so many processes have died may be recorded as failed: it is taken for what kills them.
DEATHS_OF_POISON = 3


@dataclass(frozen=True)
class Recorded:
    """What the database has of a node: its value, or None if it failed."""

    step: int
    node: int
    value: float | None


@dataclass(frozen=True)
class Said:
    """What a worker printed as recorded: after it heard so from the database."""

    worker: str
    node: int
    value: float | None


@dataclass(frozen=True)
class Evidence:
    """All that is known about a run.

    Attributes:
        run: its name.
        budget: how many evaluations it may record.
        recorded: what the database has.
        evaluated: what the journal of its objective has.
        said: what its workers said.
        killed: which workers were killed, and the last moment at which each was surely alive.
        gave_up: the same of those that ended by themselves with an error.
        untold: values that a worker could not record and left in its file for them.
    """

    run: str
    budget: int
    recorded: Sequence[Recorded] = ()
    evaluated: Sequence[Evaluation] = ()
    said: Sequence[Said] = ()
    killed: Mapping[str, float] = field(default_factory=dict)
    gave_up: Mapping[str, float] = field(default_factory=dict)
    untold: Mapping[int, float] = field(default_factory=dict)


@dataclass
class Findings:
    """What is wrong, a sentence for each; empty lists if nothing is."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    over_budget: list[str] = field(default_factory=list)
    evaluated_twice: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    #: What is wrong in another way, or did not come to its end: the fault was not survived.
    other: list[str] = field(default_factory=list)

    def add(self, more: "Findings") -> None:
        """Take in what was found elsewhere."""
        for name, sentences in vars(more).items():
            getattr(self, name).extend(sentences)

    def add_new(self, more: "Findings") -> None:
        """Take in what was found by a later look at the same run: what is known is not counted again."""
        for name, sentences in vars(more).items():
            known = getattr(self, name)
            known.extend(one for one in sentences if one not in known)

    def sentences(self) -> list[str]:
        """All of them."""
        return [
            f"{name.replace('_', ' ')}: {one}" for name in vars(self) for one in getattr(self, name)
        ]

    def __bool__(self) -> bool:
        return any(vars(self).values())


def check(evidence: Evidence) -> Findings:
    """What is wrong with a run that nobody works on at the moment; it need not be finished."""
    return Findings(
        lost=[*_lost(evidence), *_neither_told_nor_kept(evidence)],
        doubled=[*_doubled(evidence)],
        over_budget=[*_over_budget(evidence)],
        evaluated_twice=[*_evaluated_twice(evidence)],
        other=[*_invented(evidence)],
    )


def _lost(evidence: Evidence) -> Iterator[str]:
    """What a worker heard to be recorded and is not there."""
    recorded = {(one.node, one.value) for one in evidence.recorded}
    for one in evidence.said:
        if (one.node, one.value) not in recorded:
            yield f"{one.worker} said that node {one.node} = {one.value} is recorded in {evidence.run}"


def _neither_told_nor_kept(evidence: Evidence) -> Iterator[str]:
    """What was evaluated to its end by a worker that could still speak when it ended, and is nowhere."""
    kept = {one.node for one in evidence.recorded} | set(evidence.untold)
    for one in evidence.evaluated:
        if one.end is not None and one.worker not in evidence.killed and one.node not in kept:
            yield f"{one.worker} evaluated node {one.node} of {evidence.run}, and its value is nowhere"
    for node, value in evidence.untold.items():
        if value != value_of(node):
            yield f"the value of node {node} of {evidence.run} was kept as {value}"


def _doubled(evidence: Evidence) -> Iterator[str]:
    for what in ("node", "step"):
        counts = Counter(getattr(one, what) for one in evidence.recorded)
        for key, count in counts.items():
            if count > 1:
                yield f"{what} {key} of {evidence.run} is recorded {count} times"


def _over_budget(evidence: Evidence) -> Iterator[str]:
    for one in sorted(evidence.recorded, key=lambda one: one.step)[evidence.budget :]:
        yield f"step {one.step} (node {one.node}) of {evidence.run}, which has a budget of {evidence.budget}"


def _evaluated_twice(evidence: Evidence) -> Iterator[str]:
    """Evaluations of a node that somebody who was alive had begun or made."""
    deaths = {**evidence.gave_up, **evidence.killed}
    by_node: dict[int, list[Evaluation]] = {}
    for one in sorted(evidence.evaluated, key=lambda one: one.start):
        by_node.setdefault(one.node, []).append(one)
    for node, all_of_it in by_node.items():
        for first, second in pairwise(all_of_it):
            if deaths.get(first.worker, float("inf")) > second.start:
                yield (
                    f"node {node} of {evidence.run}, by {second.worker} {second.start - first.start:.3f} s after "
                    f"{first.worker} began, which was alive"
                )


def _invented(evidence: Evidence) -> Iterator[str]:
    """Values that the objective did not give."""
    evaluated = {one.node for one in evidence.evaluated}
    for one in evidence.recorded:
        if one.value is None:
            if len(evidence.killed) < DEATHS_OF_POISON:
                yield f"node {one.node} of {evidence.run} failed, and nothing died of it"
        elif one.node not in evaluated:
            yield f"node {one.node} of {evidence.run} is recorded and was never evaluated"
        elif one.value != value_of(one.node):
            yield f"node {one.node} of {evidence.run} is recorded as {one.value}, not {value_of(one.node)}"
