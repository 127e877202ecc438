"""Paths that count as edges: ``(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)``, as values."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from graphbo.errors import InvalidView
from graphbo.types.conditions import Condition, pattern, required_labels, spelled

__all__ = ["LONGEST_PATH", "Direction", "Path", "Step"]

#: Which relationships lead from a node to its neighbours.
Direction: TypeAlias = Literal["both", "out", "in"]

#: More relationships than this are no neighbourhood any more.
LONGEST_PATH = 6

_ARROWS: dict[Direction, tuple[str, str]] = {
    "both": ("-", "-"),
    "out": ("-", "->"),
    "in": ("<-", "-"),
}
_TURNED: dict[Direction, Direction] = {"both": "both", "out": "in", "in": "out"}


@dataclass(frozen=True)
class Step:
    """One relationship of a path.

    Attributes:
        types: it is of any of these types.
        direction: how it is walked.
        where: what it has to fulfil.
    """

    types: tuple[str, ...]
    direction: Direction = "both"
    where: Condition | None = None

    def __str__(self) -> str:
        left, right = _ARROWS[self.direction]
        types = "|".join(map(spelled, self.types))
        where = f" WHERE {self.where}" if self.where is not None else ""
        return f"{left}[:{types}{where}]{right}"

    @property
    def turned(self) -> "Step":
        """The same, walked from the other end."""
        return Step(self.types, _TURNED[self.direction], self.where)


@dataclass(frozen=True)
class Path:
    """A way of fixed length from one node of the view to another, through connectors.

    Attributes:
        nodes: what each node of it has to fulfil, the two ends included; None where anything will do.
        steps: the relationships between them.

    Raises:
        InvalidView: it has no relationship, too many, or an end without a label.
    """

    nodes: tuple[Condition | None, ...]
    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.steps) <= LONGEST_PATH or len(self.nodes) != len(self.steps) + 1:
            raise InvalidView(
                f"a path has {len(self.steps)} relationships: expected 1 to {LONGEST_PATH}"
            )
        for end in (self.nodes[0], self.nodes[-1]):
            if not required_labels(end):
                raise InvalidView(
                    f"the path {self} has an end without a label: name one, as in (:Person)"
                )

    def __str__(self) -> str:
        nodes = [f"({pattern(node)})" for node in self.nodes]
        pieces = [nodes[0]]
        for step, node in zip(self.steps, nodes[1:], strict=True):
            pieces += [str(step), node]
        return "".join(pieces)

    @property
    def turned(self) -> "Path":
        """The same path, walked from its other end."""
        return Path(self.nodes[::-1], tuple(step.turned for step in reversed(self.steps)))

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels one of which each of its ends has."""
        first, last = required_labels(self.nodes[0]), required_labels(self.nodes[-1])
        return tuple(dict.fromkeys((*first, *last)))
