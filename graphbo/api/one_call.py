"""``graphbo.optimize``: the one call for people with a Python function and a graph."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, SupportsFloat

from graphbo.api import checks
from graphbo.api.graphs import is_graph
from graphbo.api.result import Result
from graphbo.api.search import Search, check_objective
from graphbo.errors import InvalidObjective
from graphbo.objectives import Objective
from graphbo.runs.executors import pool_of
from graphbo.runs.worker import LEASE_SECONDS, Watch
from graphbo.search.graph import Reveal
from graphbo.search.strategies import DEFAULT_STRATEGY, KernelOption, Strategy
from graphbo.types import Direction
from graphbo.types.view import WeightMeaning

__all__ = ["optimize"]


def optimize(
    objective: Callable[..., object] | Objective,
    graph: Any,
    *,
    storage: Any = None,
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
    budget: int | None = None,
    cost: str | None = None,
    budget_cost: float | None = None,
    kernel: "KernelOption | None" = None,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    maximize: bool = True,
    noise: float | None = None,
    features: str | Sequence[str] = (),
    prior: str | None = None,
    known: Mapping[Any, SupportsFloat] | None = None,
    start: Sequence[Any] = (),
    reveal: Reveal = "all",
    name: str | None = None,
    timeout: float | None = None,
    time: float | None = None,
    batch_size: int | None = None,
    retries: int = 0,
    patience: int | None = None,
    max_failures: int | None = None,
    failures_in_a_row: int | None = 10,
    executor: Any = None,
    workers: int | None = None,
    lease: float = LEASE_SECONDS,
    stop: Callable[[Search], object] | None = None,
    watch: Watch | None = None,
    progress: bool = True,
) -> Result:
    """Find the node of a graph with the largest (or smallest) value of an expensive function.

    Args:
        objective: called with a node, or with a node and its properties if it takes two arguments.
        graph: a networkx graph; a matrix of weights, sparse or not, whose nodes are its row numbers; a table of edges
            in pandas; or a database by its address or as an open store.
        storage: the address of a database that keeps a graph in Python and the search on it, as in
            ``sqlite:searches.db``: the same call goes on with it.
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
        budget: how many evaluations at most; 100 without it, or no limit where there is a budget_cost.
        cost: the node property, or the attribute of nodes, with what measuring the node costs: a number above 0. What
            is cheap comes first, and what is promising in the end, whatever it costs.
        budget_cost: how much all evaluations may cost at most.
        kernel: the kernel of the model: a name, or a function that makes one of a subgraph's eigenpairs. Without it,
            the strategy's own.
        strategy: what proposes nodes: a name in ``graphbo.search.strategies``, or a strategy of your own.
        options: of the strategy that has the name.
        seed: equal seeds on an equal graph give equal histories.
        maximize: whether large values are wanted.
        noise: the standard deviation of a measurement, where it is known. The answer is then the node with the best
            posterior mean.
        features: what is known of nodes and values may depend on: names of node properties, or of attributes of a
            networkx graph; numbers, truth values, texts with few values, or lists of numbers. ``"auto"`` for those that
            a sample shows to be fit. The observations tell how much each counts.
        prior: the property or attribute that is somebody's belief about the answer, in any units.
        known: values that are known already, by key; they cost no budget.
        start: where to begin in a graph that is unknown at first.
        reveal: what an evaluation reveals of it.
        name: of the run in the database; a run of that name is resumed.
        timeout: seconds for each evaluation.
        time: seconds after which nothing more is asked for.
        batch_size: ask for so many nodes at once, and for the next when all of them are told.
        retries: further attempts at an evaluation that failed.
        patience: stop after so many evaluations without an improvement.
        max_failures: give up after so many failed evaluations.
        failures_in_a_row: give up after so many failed evaluations with none that succeeded between; None to go on.
        executor: where to evaluate: ``"threads"``, ``"processes"``, a Dask client, or an executor of
            ``concurrent.futures``; here without one, in threads if there are several workers.
        workers: how many nodes to evaluate at once.
        lease: seconds after which others who work on the run may take a node over if this process is gone; it is
            renewed while the objective runs.
        stop: called with the search after each evaluation; something true ends it.
        watch: called with everything that happens.
        progress: whether to show on a terminal and in a notebook how far it is.

    Returns:
        What was found, with the :class:`~graphbo.Search` that found it.

    Raises:
        ObjectiveBroken: too many evaluations failed, or all of them.
        GraphboError: the graph, the objective or the options cannot be used.
    """
    # What is wrong with any of this must not leave a run behind.
    checks.refuse_wrong_numbers(
        budget=budget,
        time=time,
        batch_size=batch_size,
        workers=workers,
        patience=patience,
        max_failures=max_failures,
        failures_in_a_row=failures_in_a_row,
    )
    checks.refuse_wrong_budget_cost(budget_cost, cost)
    checks.refuse_no_callbacks(stop=stop, watch=watch)
    pool_of(executor, workers)
    if is_graph(objective):
        raise InvalidObjective("the objective is a graph: write optimize(function, graph)")
    ready = check_objective(objective, timeout=timeout, retries=retries, here=executor is None)
    search = Search(
        graph,
        storage=storage,
        name=name,
        label=label,
        relationship=relationship,
        key=key,
        weight=weight,
        direction=direction,
        candidates=candidates,
        paths=paths,
        hop=hop,
        where=where,
        candidates_where=candidates_where,
        hub_limit=hub_limit,
        default_weight=default_weight,
        weight_as=weight_as,
        kernel=kernel,
        strategy=strategy,
        options=options,
        seed=seed,
        maximize=maximize,
        noise=noise,
        features=features,
        prior=prior,
        known=known,
        start=start,
        reveal=reveal,
        cost=cost,
    )
    try:
        return search.optimize(
            ready,
            budget=budget,
            budget_cost=budget_cost,
            time=time,
            batch_size=batch_size,
            workers=workers,
            executor=executor,
            timeout=timeout,
            retries=retries,
            patience=patience,
            max_failures=max_failures,
            failures_in_a_row=failures_in_a_row,
            lease=lease,
            stop=stop,
            watch=watch,
            progress=progress,
        )
    finally:
        search.rest()
