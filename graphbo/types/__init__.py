"""Frozen values that the parts of graphbo hand to each other, and beside them what every part may import.

::

    text     numbers and names as text for people
    plugins  what installed packages add
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from graphbo.errors import InvalidName, InvalidView, ModelError, Remedy

__all__ = [
    "LARGEST_INTEGER",
    "Candidate",
    "Direction",
    "Ego",
    "FloatArray",
    "IntArray",
    "NodeKey",
    "Observation",
    "Pending",
    "Phase",
    "Posterior",
    "Property",
    "Proposal",
    "Subgraph",
    "ValueSource",
    "View",
    "best_of",
    "check_name",
    "is_better",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

#: A node's identity in the database: the value of the view's key property.
NodeKey: TypeAlias = str | int

#: What a node property may hold in every store.
Property: TypeAlias = str | int | float | bool | list[str] | list[int] | list[float] | list[bool]

#: Which relationships lead from a node to its neighbours.
Direction: TypeAlias = Literal["both", "out", "in"]

#: The largest whole number that a database can hold.
LARGEST_INTEGER = 2**63 - 1

#: Neo4j's own limit for the name of a label, a relationship type or a property.
LONGEST_NAME = 16_383


def check_name(name: str, what: str) -> str:
    """Return ``name`` if it may become an identifier in a statement.

    Backslashes are refused because Cypher turns Unicode escapes into characters, a backtick among them,
    before it looks at quotes.

    Raises:
        InvalidName: it is empty, too long, or holds a NUL, a backslash or half a surrogate pair.
    """
    if not name:
        raise InvalidName(f"the {what} is empty: give it a name")
    if len(name) > LONGEST_NAME:
        raise InvalidName(
            f"the {what} has {len(name):,} characters: at most {LONGEST_NAME:,} are possible"
        )
    bad = re.search("[\0\\\\\ud800-\udfff]", name)
    if bad:
        raise InvalidName(f"the {what} {name[:60]!a} contains {bad[0]!a}: use a name without it")
    return name


@dataclass(frozen=True)
class View:
    """The graph inside the database that a run works on.

    Attributes:
        labels: nodes with any of these labels are the nodes of the graph.
        relationships: relationships of any of these types are its edges.
        direction: which of them lead from a node to its neighbours. The model is symmetric all the same.
        weight: the relationship property that holds the weight; every edge weighs 1 without it.
        key: the node property that identifies a node; the database's internal id without it.

    Raises:
        InvalidView: no label or no relationship type, or an unknown direction.
        InvalidName: a name that cannot go into a statement.
    """

    labels: tuple[str, ...]
    relationships: tuple[str, ...]
    direction: Direction = "both"
    weight: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        if not self.labels:
            raise InvalidView("the view names no node label", Remedy.NAME_LABEL)
        if not self.relationships:
            raise InvalidView("the view names no relationship type", Remedy.NAME_RELATIONSHIP)
        if self.direction not in ("both", "out", "in"):
            raise InvalidView(f"the direction is {self.direction!r}: expected both, out or in")
        for label in self.labels:
            check_name(label, "label")
        for relationship in self.relationships:
            check_name(relationship, "relationship type")
        if self.weight is not None:
            check_name(self.weight, "weight property")
        if self.key is not None:
            check_name(self.key, "key property")

    def __str__(self) -> str:
        left, right = {"both": ("-", "-"), "out": ("-", "->"), "in": ("<-", "-")}[self.direction]
        weight = f" {{{self.weight}}}" if self.weight else ""
        key = f" {{{self.key}}}" if self.key else ""
        types = "|".join(self.relationships)
        return f"(:{'|'.join(self.labels)}{key}){left}[:{types}{weight}]{right}()"


@dataclass(frozen=True)
class Ego:
    """A request for the nodes around ``centre``, hop by hop, at most ``size`` of them, centre included."""

    centre: NodeKey
    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InvalidView(f"an ego-network of {self.size} nodes: expected at least 1")


@dataclass(frozen=True, eq=False)
class Subgraph:
    """A piece of the graph in memory: the only place where node keys become row numbers and back.

    Attributes:
        keys: the node of each row.
        sources, targets: rows of the two ends of each relationship, in its own direction.
        weights: its weight; parallel relationships are separate entries.
        egos: for each ego-network asked for, the rows it contributed, hop by hop from its centre.
        degrees: how many relationships lead from each node to neighbours in the whole graph, not in this piece of it
            alone; None where that is not known.
    """

    keys: tuple[NodeKey, ...]
    sources: IntArray
    targets: IntArray
    weights: FloatArray
    egos: tuple[tuple[int, ...], ...] = ()
    degrees: IntArray | None = None
    _rows: Mapping[NodeKey, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rows = {key: row for row, key in enumerate(self.keys)}
        if len(rows) != len(self.keys):
            raise InvalidView("a subgraph was given the same node twice")
        object.__setattr__(self, "_rows", rows)

    @classmethod
    def from_edges(
        cls, keys: Sequence[NodeKey], edges: Sequence[tuple[NodeKey, NodeKey]]
    ) -> "Subgraph":
        """The unweighted subgraph with these nodes and edges, for examples and tests."""
        rows = {key: row for row, key in enumerate(keys)}
        ends = np.array([(rows[a], rows[b]) for a, b in edges], dtype=np.int64).reshape(-1, 2)
        return cls(tuple(keys), ends[:, 0], ends[:, 1], np.ones(len(ends)))

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[NodeKey]:
        return iter(self.keys)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def row(self, key: NodeKey) -> int:
        """The row of a node.

        Raises:
            KeyError: the node is not in this subgraph.
        """
        return self._rows[key]

    @cached_property
    def adjacency(self) -> FloatArray:
        """Dense symmetric A = max(W, Wᵀ): parallel weights add up, self-loops are dropped."""
        directed = np.zeros((len(self), len(self)))
        np.add.at(directed, (self.sources, self.targets), self.weights)
        np.fill_diagonal(directed, 0.0)
        return np.maximum(directed, directed.T)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What a model believes about a new measurement at each node, in the user's units.

    Attributes:
        mean: the expected value, by row.
        std: its standard deviation, noise included.
    """

    mean: FloatArray
    std: FloatArray

    def __post_init__(self) -> None:
        if self.mean.ndim != 1 or self.mean.shape != self.std.shape:
            raise ModelError(
                f"a posterior of {self.mean.shape} means and {self.std.shape} deviations: "
                "expected one of each per row"
            )

    def __len__(self) -> int:
        return len(self.mean)


#: How a node came to be proposed: drawn at random to begin with, chosen by the model, drawn anew after a region was
#: used up, or reached by a search that has no model.
Phase: TypeAlias = Literal["initial", "model", "restart", "search"]

#: Where a value comes from: measured in the run, or known before it.
ValueSource: TypeAlias = Literal["run", "warm"]


@dataclass(frozen=True)
class Candidate:
    """A node that a strategy proposes, with what it believes of it (where it believes anything)."""

    key: NodeKey
    mean: float | None = None
    std: float | None = None
    acquisition: float | None = None


@dataclass(frozen=True)
class Proposal:
    """What a strategy answers: candidates, best first, and how it came to them.

    Attributes:
        candidates: the first one that is free will be measured; none when the graph is used up.
        phase: how they were chosen.
        restart: the number of the region they belong to, from 0.
        modelled: the steps of the observations that the model knew. The fold needs them: they are the evaluated nodes
            of the region, which are left alone once it is used up.
        theta: the model's hyperparameters.
    """

    candidates: tuple[Candidate, ...]
    phase: Phase
    restart: int = 0
    modelled: tuple[int, ...] = ()
    theta: tuple[float, ...] = ()


@dataclass(frozen=True)
class Pending:
    """A node that is being evaluated.

    Attributes:
        step: its number in the run, in the order of asking, from 1.
        worker: who measures it.
        token: names the request that was answered with it; a repeated request gets the same answer.
        lease_left: seconds until somebody else may take it over; None when it was asked for by hand.
        at: when it was first asked for, in ISO 8601, by the database's clock; empty where nobody looked it up.
        tries: how often it was handed out: more than once if whoever evaluated it died.
    """

    step: int
    candidate: Candidate
    proposal: Proposal
    worker: str
    token: str
    lease_left: float | None = None
    at: str = ""
    tries: int = 1

    @property
    def key(self) -> NodeKey:
        """The node."""
        return self.candidate.key


@dataclass(frozen=True)
class Observation:
    """A node that has been measured, or whose measurement failed (then it has an error and no value).

    One with both has failed first: somebody told its value later.

    Attributes:
        step: its number in the order of asking; a known value has a negative one.
        seq: its number in the order of telling, which is the order of the fold.
        mean, std, acquisition: what was believed when it was asked for.
        restart, phase, modelled, theta: see ``Proposal``.
        at: when it was told, in ISO 8601, by the database's clock.
        note: what else was told about it.
        unwritten: whether the node itself shows nothing of it, as it has something of its own under the run's names.
    """

    step: int
    seq: int
    key: NodeKey
    value: float | None
    mean: float | None = None
    std: float | None = None
    acquisition: float | None = None
    restart: int = 0
    phase: Phase = "initial"
    modelled: tuple[int, ...] = ()
    theta: tuple[float, ...] = ()
    source: ValueSource = "run"
    at: str = ""
    error: str | None = None
    note: str | None = None
    unwritten: bool = False

    @property
    def failed(self) -> bool:
        """Whether there is no value."""
        return self.value is None


# Which is better


def is_better(value: float, than: float | None, *, maximize: bool) -> bool:
    """Whether a value is better than another; any is better than none."""
    return than is None or (value > than if maximize else value < than)


def best_of(observations: Iterable[Observation], *, maximize: bool) -> Observation | None:
    """The observation with the best value, the first one of several; None if none has a value."""
    best, highest = None, None
    for one in observations:
        if one.value is not None and is_better(one.value, highest, maximize=maximize):
            best, highest = one, one.value
    return best
