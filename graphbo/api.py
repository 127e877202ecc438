"""``graphbo.optimize``: the one call for people with a Python function and a graph."""

import secrets
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import networkx as nx

from graphbo.errors import GraphboError, InvalidView
from graphbo.objectives import Objective, from_callable
from graphbo.runs import Best, Run, RunSettings
from graphbo.runs.card import card
from graphbo.runs.worker import LEASE_SECONDS, Limits, Progress, work
from graphbo.search.graph import Reveal
from graphbo.search.strategies import DEFAULT_STRATEGY, KernelOption, Strategy
from graphbo.stores import EdgeRow, GraphStore, open_store
from graphbo.types import Direction, NodeKey, Observation, View
from graphbo.types.conditions import properties_in
from graphbo.types.view import WeightMeaning
from graphbo.types.view_texts import ViewTexts

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

__all__ = ["Result", "load_networkx", "optimize"]

#: A graph in Python, the address of a database, or an open store.
GraphLike: TypeAlias = "nx.Graph[Any] | str | GraphStore"

LABEL, TYPE, KEY = "Node", "LINK", "id"


@dataclass(frozen=True)
class Result:
    """What a run found.

    Attributes:
        name: of the run, under which the database has it.
        best: the best node, its value and the step at which it was measured; None if nothing was measured.
        history: every observation, in the order in which they were told. Failed ones have an error and no value.
        maximize: whether large values were wanted.
        ending: why it ended.
        revealed: how many nodes of the graph were looked at.
    """

    name: str
    best: Best | None
    history: tuple[Observation, ...]
    maximize: bool
    ending: str = ""
    revealed: int = 0
    settings: RunSettings = field(default_factory=RunSettings, repr=False)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        ending = f", ended by {self.ending}" if self.ending else ""
        count = sum(one.source == "run" for one in self.history)
        return card(
            f"Result {self.name}",
            self.history,
            maximize=self.maximize,
            best=None if self.best is None else (self.best.key, self.best.value, self.best.step),
            note=f"{count:,} evaluations{ending}",
        )

    def to_dataframe(self) -> "pd.DataFrame":
        """The history as a table, with the best value so far.

        Raises:
            GraphboError: pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415 - an extra
        except ImportError:
            raise GraphboError("to_dataframe needs pandas: pip install 'graphbo[pandas]'") from None
        names = (
            "step",
            "seq",
            "key",
            "value",
            "mean",
            "std",
            "acquisition",
            "restart",
            "phase",
            "source",
            "error",
        )
        frame = pd.DataFrame(
            [{name: getattr(one, name) for name in names} for one in self.history], columns=names
        )
        values = frame["value"].astype(float)
        frame["best"] = values.cummax() if self.maximize else values.cummin()
        frame["best"] = frame["best"].ffill()
        return frame


def optimize(
    objective: Callable[..., object] | Objective,
    graph: GraphLike,
    *,
    label: str | Sequence[str] = (),
    relationship: str | Sequence[str] | Mapping[str, float] = (),
    key: str | None = None,
    weight: str | None = None,
    direction: Direction = "both",
    candidates: str | Sequence[str] = (),
    paths: str | Sequence[str] = (),
    hop: str | None = None,
    where: str | None = None,
    candidates_where: str | None = None,
    hub_limit: int | None = None,
    default_weight: float | None = None,
    weight_as: WeightMeaning = "similarity",
    budget: int = 100,
    kernel: "KernelOption | None" = None,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    maximize: bool = True,
    noise: float | None = None,
    known: Mapping[Any, float] | None = None,
    start: Sequence[Any] = (),
    reveal: Reveal = "all",
    name: str | None = None,
    timeout: float | None = None,
    retries: int = 0,
    patience: int | None = None,
    max_failures: int | None = None,
    failures_in_a_row: int | None = 10,
    executor: Executor | None = None,
    workers: int = 1,
    lease: float = LEASE_SECONDS,
    watch: Callable[[Progress], None] | None = None,
) -> Result:
    """Find the node of a graph with the largest (or smallest) value of an expensive function.

    Args:
        objective: called with the key of a node, or with the key and the node's properties if it takes two arguments.
        graph: a networkx graph, whose nodes are the keys; or a database by its address or as an open store.
        label: of the nodes in a database; one or several, also as in ``Application&!Retired``. Without it those that
            ``candidates`` and ``paths`` name, or ``Node``.
        relationship: the type of the edges in a database; one or several, or what the weights of each are multiplied
            with, by type. Without it none where there are ``paths`` or a ``hop``, or ``LINK``.
        key: the node property that identifies a node; the one with a uniqueness constraint without it.
        weight: the property, or the edge attribute, with the weight.
        direction: which edges lead from a node to its neighbours.
        candidates: the label of the nodes that may be measured, one or several; the others connect them. Else all.
        paths: ways of fixed length that are edges, too, as in
            ``(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)``; one or several.
        hop: the text of a Cypher statement that takes ``$keys`` and answers with edges. For Neo4j.
        where: what every node has to fulfil, as in ``continent = "EU" AND altitude > 1000``; of a networkx graph, its
            attributes.
        candidates_where: what a node has to fulfil, too, to be measured.
        hub_limit: connectors with more neighbours are skipped; 1,000 without it.
        default_weight: of an edge that has no weight; it is refused without it.
        weight_as: whether a larger weight means that nodes are more alike (``similarity``), or further apart
            (``distance``).
        budget: how many evaluations at most.
        kernel: the kernel of the model: a name, or a function that makes one of a subgraph's eigenpairs. Without it,
            the strategy's own.
        strategy: what proposes nodes: a name in ``graphbo.search.strategies``, or a strategy of your own.
        options: of the strategy that has the name.
        seed: equal seeds on an equal graph give equal histories.
        maximize: whether large values are wanted.
        noise: the standard deviation of a measurement, where it is known. The answer is then the node with the best
            posterior mean.
        known: values that are known already, by key; they cost no budget.
        start: where to begin in a graph that is unknown at first.
        reveal: what an evaluation reveals of it.
        name: of the run in the database; a run of that name is resumed.
        timeout: seconds for each evaluation.
        retries: further attempts at an evaluation that failed.
        patience: stop after so many evaluations without an improvement.
        max_failures: give up after so many failed evaluations.
        failures_in_a_row: give up after so many failed evaluations with none that succeeded between; None to go on.
        executor: where to evaluate; here without one.
        workers: how many nodes to evaluate at once.
        lease: seconds after which others who work on the run may take a node over if this process is gone; it is
            renewed while the objective runs.
        watch: called with everything that happens.

    Raises:
        ObjectiveBroken: too many evaluations failed, or all of them.
        GraphboError: the graph, the objective or the options cannot be used.
    """
    texts = ViewTexts(
        labels=_tuple(label),
        relationships=_factors(relationship),
        direction=direction,
        weight=weight,
        key=key,
        candidates=_tuple(candidates),
        where=where,
        candidates_where=candidates_where,
        paths=_tuple(paths),
        hop=hop,
        hub_limit=hub_limit,
        default_weight=default_weight,
        weight_as=weight_as,
    )
    with _opened(graph, texts) as opened:
        chosen = dict(options or {})
        if kernel is not None:
            chosen["kernel"] = kernel
        settings = RunSettings(
            strategy=strategy,
            options=chosen,
            seed=seed,
            maximize=maximize,
            start=tuple(opened.inward(one) for one in start),
            reveal=reveal,
            noise=noise,
            budget=budget,
        )
        # What is wrong with the objective must not leave a run behind.
        measured = opened.objective(objective, timeout, retries)
        if executor is None:
            measured.check()
        run = Run.open_or_create(
            opened.store, opened.view, name or f"run-{secrets.token_hex(4)}", settings
        )
        if hop is not None:
            run.agree_to_hop()
        if known:
            run.tell_known({opened.inward(one): value for one, value in known.items()})
        ending = work(
            run,
            measured,
            limits=Limits(
                patience=patience, failures=max_failures, failures_in_a_row=failures_in_a_row
            ),
            executor=executor,
            parallel=workers,
            lease=lease,
            watch=watch,
        )
        return opened.outward(_result(run, ending.reason))


def _result(run: Run, reason: str) -> Result:
    return Result(
        name=run.name,
        best=run.best(),
        history=run.history,
        maximize=run.record.maximize,
        ending=reason,
        revealed=run.graph.revealed,
        settings=run.settings,
    )


@dataclass(frozen=True)
class _Opened:
    """A store and a view, with the user's names of the nodes where they differ from the store's."""

    store: GraphStore
    view: View
    graph: "nx.Graph[Any] | None" = None
    nodes: tuple[Any, ...] = ()
    rows: Mapping[Any, int] = field(default_factory=dict)

    def inward(self, node: Any) -> NodeKey:
        """The store's key of a node."""
        if self.graph is None:
            key: NodeKey = node
            return key
        if node not in self.rows:
            raise InvalidView(f"the graph has no node {node!r}")
        return self.rows[node]

    def objective(
        self, objective: Callable[..., object] | Objective, timeout: float | None, retries: int
    ) -> Objective:
        """The objective, called with the user's nodes."""
        if isinstance(objective, Objective):
            return objective.bind(self.store)
        found = from_callable(objective, timeout=timeout, retries=retries)
        if self.graph is None:
            return found
        attributes = dict(self.graph.nodes(data=True)) if found.needs_properties else None
        translated = _OfNetworkx(objective, self.nodes, attributes)
        return replace(from_callable(translated, timeout=timeout, retries=retries), name=found.name)

    def outward(self, result: Result) -> Result:
        """The result with the user's nodes."""
        if self.graph is None:
            return result
        best = result.best and replace(result.best, key=self.nodes[int(result.best.key)])
        history = tuple(replace(one, key=self.nodes[int(one.key)]) for one in result.history)
        return replace(result, best=best, history=history)


@dataclass(frozen=True)
class _OfNetworkx:
    """Calls a function with a node of a networkx graph, given its number. Can be pickled if the function can."""

    function: Callable[..., object]
    nodes: tuple[Any, ...]
    attributes: Mapping[Any, Mapping[str, object]] | None

    def __call__(self, number: int) -> object:
        node = self.nodes[number]
        if self.attributes is None:
            return self.function(node)
        return self.function(node, self.attributes[node])


@contextmanager
def _opened(graph: GraphLike, texts: ViewTexts) -> "Iterator[_Opened]":
    if isinstance(graph, nx.Graph):
        view = _of_networkx(texts)
        with open_store("sqlite::memory:") as store:
            _, nodes = load_networkx(store, graph, view.weight, view.direction, view=view)
            yield _Opened(store, view, graph, nodes, {node: row for row, node in enumerate(nodes)})
        return
    if not (texts.labels or texts.candidates or texts.paths):
        texts = replace(texts, labels=(LABEL,))
    if not (texts.relationships or texts.paths or texts.hop):
        texts = replace(texts, relationships={TYPE: 1.0})
    view = texts.view()
    if isinstance(graph, str):
        with open_store(graph) as store:
            yield _Opened(store, view)
        return
    yield _Opened(graph, view)


def _tuple(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _factors(relationship: str | Sequence[str] | Mapping[str, float]) -> Mapping[str, float]:
    if isinstance(relationship, Mapping):
        return relationship
    return dict.fromkeys(_tuple(relationship), 1.0)


def _of_networkx(texts: ViewTexts) -> View:
    """The view of a graph whose nodes have attributes, and neither labels nor types."""
    for what, given in {
        "candidates": texts.candidates,
        "paths": texts.paths,
        "hop": texts.hop,
    }.items():
        if given:
            raise InvalidView(
                f"a networkx graph has no labels: leave out {what}, or name candidates by an attribute, with "
                "candidates_where"
            )
    return replace(texts, labels=(LABEL,), relationships={TYPE: 1.0}, key=KEY).view()


def load_networkx(
    store: GraphStore,
    graph: "nx.Graph[Any]",
    weight: str | None = None,
    direction: Direction = "both",
    *,
    view: View | None = None,
) -> tuple[View, tuple[Hashable, ...]]:
    """Put a networkx graph into an empty store, its nodes numbered: any hashable may be a node.

    Args:
        store: where to.
        graph: the graph.
        weight: the edge attribute with the weight.
        direction: which edges lead from a node to its neighbours.
        view: says all of that, and has filters: the attributes that they look at are written, too.

    Returns:
        The view, and the node of each number.

    Raises:
        InvalidView: it has no node, or no directions though one is wanted.
    """
    if not graph:
        raise InvalidView("the graph has no node")
    view = view or View((LABEL,), (TYPE,), direction, weight, KEY)
    looked_at = {*properties_in(view.candidate_condition)}
    if KEY in looked_at:
        raise InvalidView(f"the number of a node is its {KEY!r}: filter by another attribute")
    if direction != "both" and not graph.is_directed():
        raise InvalidView(f"the direction is {direction!r}, and the edges of the graph have none")
    nodes = tuple(graph)
    rows = {node: row for row, node in enumerate(nodes)}
    store.create_key(view)
    attributes = (graph.nodes[node] if looked_at else {} for node in nodes)
    store.write_nodes(
        view,
        [
            (row, {name: found[name] for name in looked_at & found.keys()})
            for row, found in enumerate(attributes)
        ],
    )
    if weight is None:
        edges: list[EdgeRow] = [(rows[a], rows[b], {}) for a, b in graph.edges()]
    else:
        pairs: Iterable[tuple[Any, Any, Any]] = graph.edges(data=weight)
        edges = [(rows[a], rows[b], {} if data is None else {weight: data}) for a, b, data in pairs]
    store.write_relationships(view, edges)
    return view, nodes
