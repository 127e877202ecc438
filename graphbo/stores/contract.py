"""The contract between graphbo and a database that holds a graph."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, TypeAlias

from graphbo.stores.address import Address
from graphbo.stores.log import Found, RunLog
from graphbo.types import Ego, NodeKey, Property, Sample, Subgraph, View

__all__ = [
    "EdgeRow",
    "GraphStore",
    "KeyReport",
    "NodeRow",
    "StoreInfo",
    "Surrounding",
    "WriteCounts",
]

#: A node to be written: its key and its properties (the key property need not be among them).
NodeRow: TypeAlias = tuple[NodeKey, Mapping[str, Property]]

#: A relationship to be written: source key, target key, properties.
EdgeRow: TypeAlias = tuple[NodeKey, NodeKey, Mapping[str, Property]]


@dataclass(frozen=True)
class StoreInfo:
    """What a store says of itself. ``address`` holds no secret."""

    address: str
    product: str
    version: str
    edition: str
    database: str
    writable: bool
    why_not_writable: str = ""


@dataclass(frozen=True)
class KeyReport:
    """Whether a view's key identifies nodes, as far as the database can tell.

    Attributes:
        constrained: whether a constraint makes it unique for each of the candidates' labels.
        missing, duplicates: where none does, how many nodes do not have it, and how many values several nodes have.
        indexed: whether each of these labels has an index for it all the same.
        indexes: the names of those that no constraint has brought along.
        fixed: whether constraints come with loading, and with nothing else.
    """

    key: str | None
    constrained: bool
    missing: int
    duplicates: int
    indexed: bool = False
    indexes: tuple[str, ...] = ()
    fixed: bool = False


@dataclass(frozen=True)
class WriteCounts:
    """What a batch changed in the database; zero everywhere when it was already there."""

    nodes_created: int = 0
    relationships_created: int = 0
    properties_set: int = 0

    def __add__(self, other: "WriteCounts") -> "WriteCounts":
        return WriteCounts(
            self.nodes_created + other.nodes_created,
            self.relationships_created + other.relationships_created,
            self.properties_set + other.properties_set,
        )


@dataclass(frozen=True)
class Surrounding:
    """One kind of relationship that leads from nodes.

    Attributes:
        type: its type.
        outgoing: whether it leads away from the nodes.
        labels: of the nodes at its other end, sorted.
        nodes: how many of the nodes have one.
        properties: the names of its properties, sorted.
    """

    type: str
    outgoing: bool
    labels: tuple[str, ...]
    nodes: int
    properties: tuple[str, ...]


class GraphStore(Protocol):
    """A database with a graph in it.

    Every implementation guarantees:

    **Locality.** No read scans all nodes, or all nodes of a label, and none sends the client more keys than
    the caller asked for. Cost depends on the neighbourhood, not on the size of the graph. (Exceptions, each
    for a reason given where it is made: ``count_nodes`` of several labels, ``random_keys`` of a rare label,
    ``check_key`` of an unconstrained key, ``nodes_with_property``.)

    **Determinism.** On an unchanged database, equal arguments give equal results in equal order.

    **Seeded order.** Where an order is seeded, it is by ``stores.seeded_order.SeededOrder`` of the database's internal
    ids: pseudo-random, so that every node of a hop is equally likely, and independent between neighbours.

    **Keys.** A node key is the value of ``view.key`` (a string or an integer, kept as such), or the internal id as
    a string where the view has no key. A key that matches no node raises ``NoSuchNode`` and never yields a
    shorter answer.

    **Weights.** Without ``view.weight`` every relationship weighs 1. With it, a relationship in the answer whose
    weight is missing, not a number, not finite or negative raises ``InvalidWeight`` and names the relationship.

    **Writes** are atomic per call, and repeating one changes nothing. Names reach a statement through
    ``cypher.quote`` only, values as parameters only. Bad input is refused before anything is written.

    **Errors** of the driver become ``StoreError`` and never contain a password.

    A store is used by one thread at a time, and several stores, in several processes, on the same database.
    """

    @property
    def address(self) -> str:
        """Where the database is, with no secret in it: fit for printing."""

    @property
    def access(self) -> Address | None:
        """What opens another store on the same database, from any process of this machine, with its password.

        None for a database in memory, which belongs to this store alone.
        """

    def close(self) -> None:
        """Release connections and files. A closed store is not used again."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    @property
    def log(self) -> RunLog:
        """What the runs of this database keep in it."""

    # About the database

    def info(self) -> StoreInfo:
        """Version, edition, and whether this user may write (found out without leaving a trace)."""

    def ping(self) -> None:
        """One round trip that touches no data: what any other call costs at least."""

    def names(self) -> tuple[list[str], list[str]]:
        """The labels and the relationship types that occur, sorted, without graphbo's own."""

    def resolve(self, view: View) -> View:
        """The view with its key filled in, if it had none and one constrained key is to be had."""

    def check_key(self, view: View) -> KeyReport:
        """Whether a constraint makes the key unique and, where none does, how many nodes break it."""

    def unique_properties(self, view: View) -> list[str]:
        """The properties that a constraint makes unique for each of the candidates' labels, sorted."""

    def room(self) -> int | None:
        """How many bytes there is room for where the database is; None where that cannot be told from here."""

    # Reading the graph

    def count_nodes(self, view: View) -> int:
        """How many nodes the view has."""

    def count_labelled(self, view: View) -> int:
        """How many nodes have one of the candidates' labels, whatever a filter says; one with two may count twice."""

    def finds_by_index(self, view: View) -> bool:
        """Whether the candidates that a filter keeps are found without a look at every node of their labels."""

    def index_for(self, view: View) -> str | None:
        """The statement that makes an index by which they would be; None if none would."""

    def count_relationships(self, view: View) -> int:
        """How many relationships have one of the view's types, whatever they connect."""

    def nodes_with_keys(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, list[Found]]:
        """All nodes that have one of these keys, with all their labels.

        More than one in a view of several labels that share keys.
        """

    def properties(self, view: View, keys: Sequence[NodeKey]) -> dict[NodeKey, dict[str, object]]:
        """The properties of these nodes, in this order."""

    def nodes_with_property(self, view: View, name: str, limit: int) -> dict[NodeKey, object]:
        """The values of a property, by node, in the order of internal ids; at most ``limit`` of them.

        It looks at every node of the label: no index need exist on a property that somebody once wrote. Used once per
        run, for known values.
        """

    def random_keys(
        self, view: View, count: int, seed: Sequence[int], exclude: Iterable[NodeKey] = ()
    ) -> list[NodeKey]:
        """``count`` different nodes, uniformly at random among those not excluded.

        Fewer only when there are no more.
        """

    def random_nodes(
        self,
        view: View,
        count: int,
        seed: Sequence[int],
        exclude: Iterable[NodeKey] = (),
        read: Sequence[str] = (),
    ) -> Sample:
        """Up to ``count`` different nodes at random, with what is known of them: what one trip finds.

        They are uniform among those not excluded, and have their degrees and the properties that ``read`` names. Fewer
        where the view's nodes are few among all nodes between the first and the last of them, or a filter keeps few: it
        neither tries again nor looks at all of them. Equal seeds give the first nodes of ``random_keys``.
        """

    def ego_networks(
        self,
        view: View,
        egos: Sequence[Ego],
        seed: Sequence[int],
        first: Iterable[NodeKey] = (),
        through: Iterable[NodeKey] | None = None,
        read: Sequence[str] = (),
    ) -> Subgraph:
        """Algorithm 2, for several centres at once, with the relationships among all their nodes.

        Each ego-network takes whole hops around its centre while they fit. Of the hop that does not fit it takes
        the nodes in ``first``, then the others, until it has ``ego.size`` nodes: in seeded order, and where the view
        has paths or a statement the nearest first, by what all ways there weigh together. It ends early when its
        component has no more. Nodes of several ego-networks have one row; rows are in the order of
        discovery. The relationships are those between any two of the rows, whatever the view's direction. The degrees
        are counts of relationships that lead from a node to neighbours: a neighbour counts as often as it is one, and
        who it is does not matter.

        In a graph that is still being revealed, ``through`` names the nodes whose neighbours are known: the way leads
        through them only, and every relationship touches one of them.

        The candidates' properties that ``read`` names come in the same trip.
        """

    def neighbours(
        self,
        view: View,
        keys: Sequence[NodeKey],
        seed: Sequence[int],
        exclude: Iterable[NodeKey] = (),
        limit: int | None = None,
    ) -> list[NodeKey]:
        """Distinct nodes one hop from any of ``keys``, neither among them nor excluded, in seeded order."""

    def around(self, view: View, keys: Sequence[NodeKey], limit: int) -> list[Surrounding]:
        """What relationships lead from these nodes, of whatever type and to whatever nodes, without graphbo's own.

        Of each node, ``limit`` relationships are looked at: it is for finding out what a graph is like.
        """

    # Writing the graph

    def create_key(self, view: View) -> None:
        """Make the view's key unique for each of its labels, if it is not yet.

        Raises:
            KeyNotUnique: nodes that are there already break it.
        """

    def write_nodes(
        self, view: View, nodes: Sequence[NodeRow], labels: Sequence[str] = ()
    ) -> WriteCounts:
        """Create the nodes that are missing, with the view's first label, and set these properties.

        A node is known by that label and the view's key. All of them get ``labels``, too, also those that are there
        already; no label is ever taken away. These labels need no key: a node is found by them all the same, and
        ``create_key`` may give them one, of which it is a value of the node's properties then.
        """

    def write_relationships(
        self,
        view: View,
        edges: Sequence[EdgeRow],
        *,
        target: View | None = None,
        parallel: bool = False,
    ) -> WriteCounts:
        """Create the nodes and the relationships (of the view's first type) that are missing, and set properties.

        Sources are known by the view's first label and its key, targets by those of ``target``; without it, by the
        same as sources. Both may have any further labels.

        There is at most one relationship from a source to a target. A pair that occurs again keeps the last
        properties. (Where parallel ones are there already, each gets these properties.) With ``parallel``, the pair has
        one for each different set of properties: only what is equal in everything is the same relationship, so that
        writing it again still changes nothing, and no property of one that is there is changed.
        """

    def delete_graph(self, view: View) -> None:
        """Delete the nodes that have one of the view's labels, with all their relationships, in batches."""
