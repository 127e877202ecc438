"""Frozen values that the parts of graphbo hand to each other, and beside them what every part may import.

::

    view        what a run takes for its graph
    paths       paths that count as edges
    conditions  what filters and label expressions mean
    notation    reading filters, label expressions and paths
    view_texts  a view in the texts that people describe one with
    text        numbers and names as text for people
    plugins     what installed packages add
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from graphbo.errors import InvalidView, ModelError
from graphbo.types.paths import Direction
from graphbo.types.view import View, check_name

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
    "Sample",
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

#: The largest whole number that a database can hold.
LARGEST_INTEGER = 2**63 - 1


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

    Its rows are candidates first, then connectors. What is measured, believed and proposed has the rows of candidates
    only; its length is how many those are.

    Attributes:
        keys: the candidate of each row.
        sources, targets: rows of the two ends of each relationship, in its own direction.
        weights: its weight; parallel relationships are separate entries.
        egos: for each ego-network asked for, the candidates it contributed, hop by hop from its centre.
        degrees: how many relationships lead from each candidate to neighbours in the whole graph, not in this piece of
            it alone; None where that is not known.
        connectors: the connectors of the rows after the candidates, by internal id.
        hubs: the connectors, by internal id, that were skipped as they have too many neighbours.
        properties: of the candidates, as far as they were asked for: by name the value of each row, as the database
            has it; None where it is missing.
    """

    keys: tuple[NodeKey, ...]
    sources: IntArray
    targets: IntArray
    weights: FloatArray
    egos: tuple[tuple[int, ...], ...] = ()
    degrees: IntArray | None = None
    connectors: tuple[str, ...] = ()
    hubs: frozenset[str] = frozenset()
    properties: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    _rows: Mapping[NodeKey, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rows = {key: row for row, key in enumerate(self.keys)}
        if len(rows) != len(self.keys):
            raise InvalidView("a subgraph was given the same node twice")
        _check_lengths(self.properties, len(self.keys))
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
        """Dense symmetric A = max(W, Wᵀ) of all rows: parallel weights add up, self-loops are dropped."""
        rows = len(self.keys) + len(self.connectors)
        directed = np.zeros((rows, rows))
        np.add.at(directed, (self.sources, self.targets), self.weights)
        np.fill_diagonal(directed, 0.0)
        return np.maximum(directed, directed.T)


def _check_lengths(properties: Mapping[str, tuple[object, ...]], nodes: int) -> None:
    for name, values in properties.items():
        if len(values) != nodes:
            raise InvalidView(
                f"{len(values)} values of {name!r} for {nodes} nodes: expected one each"
            )


@dataclass(frozen=True, eq=False)
class Sample:
    """Candidates that were drawn at random, with what was asked for about them.

    Attributes:
        keys: the candidates, in the order of the draw.
        degrees: of each, as in a :class:`Subgraph`; None where they are not known.
        properties: by name the value of each, as the database has it; None where it is missing.
    """

    keys: tuple[NodeKey, ...]
    degrees: IntArray | None
    properties: Mapping[str, tuple[object, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_lengths(self.properties, len(self.keys))

    def __len__(self) -> int:
        return len(self.keys)


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
#: used up, found anywhere by what is known of it, believed in to begin with, reached by a search that has no model, or
#: named by a person.
Phase: TypeAlias = Literal["initial", "model", "restart", "scout", "prior", "search", "chosen"]

#: Where a value comes from: measured in the run, or known before it.
ValueSource: TypeAlias = Literal["run", "warm"]


@dataclass(frozen=True)
class Candidate:
    """A node that a strategy proposes, with what it believes of it (where it believes anything), and what it costs."""

    key: NodeKey
    mean: float | None = None
    std: float | None = None
    acquisition: float | None = None
    cost: float | None = None


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
        note: what somebody noted about it.
        excluded: whether the node was excluded meanwhile: whoever measures it may still tell, and nobody takes it over.
        answer: what somebody set as its value in the database, and nobody has told yet.
        refused: the answer that was refused last, as text.
        why: why it is to be measured, if that is written on the node.
    """

    step: int
    candidate: Candidate
    proposal: Proposal
    worker: str
    token: str
    lease_left: float | None = None
    at: str = ""
    tries: int = 1
    note: str | None = None
    excluded: bool = False
    answer: object = None
    refused: str | None = None
    why: str | None = None

    @property
    def key(self) -> NodeKey:
        """The node."""
        return self.candidate.key

    @property
    def cost(self) -> float | None:
        """What it costs, in a run with costs."""
        return self.candidate.cost


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
        cost: what it cost, in a run with costs.
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
    cost: float | None = None

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
