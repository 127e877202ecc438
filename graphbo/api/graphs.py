"""Graphs in Python, whatever they are kept in: nodes, edges and weights, checked before anything is done with them."""

import math
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

from graphbo.errors import InvalidView, InvalidWeight
from graphbo.stores.near_names import did_you_mean
from graphbo.types.text import cut
from graphbo.types.view_texts import ViewTexts

__all__ = ["GivenGraph", "is_graph", "read_graph"]

#: What the weights of edges are kept under where nobody has a name for them.
WEIGHT = "weight"

EXPECTED = (
    "expected a networkx graph, a sparse matrix, a table of edges, or the address of a database "
    "such as 'sqlite:graph.db' or 'neo4j://localhost'"
)

#: An edge: rows of its ends, and its weight; None where it has none.
Edge = tuple[int, int, float | None]


@dataclass(frozen=True, eq=False)
class GivenGraph:
    """A graph in Python.

    Attributes:
        kind: what it was given as, for messages.
        nodes: the user's own, each once.
        edges: each pair once, with its weight.
        directed: whether the edges have directions.
        weight: what weights are kept under; None if every edge counts 1.
        attributes: of the nodes; empty where they have none.
    """

    kind: str
    nodes: tuple[Hashable, ...]
    edges: Sequence[Edge]
    directed: bool
    weight: str | None = None
    attributes: Mapping[Hashable, Mapping[str, Any]] = field(default_factory=dict)
    #: An attribute that looks like a weight, and was not asked for.
    unused: str | None = None
    #: Whether weights were counted and not given: then more always means more alike.
    counted: bool = False


def is_graph(given: object) -> bool:
    """Whether this is a graph in Python, and not a database."""
    return _reader(given) is not None


def read_graph(given: Any, texts: ViewTexts) -> GivenGraph:
    """The graph, with the weights that are wanted.

    Raises:
        InvalidView: it is no graph, has no node, or no directions though one is wanted.
        InvalidWeight: an edge has no weight, or one that is no number from 0 up.
    """
    read = _reader(given)
    if read is None:
        raise InvalidView(f"the graph is {describe(given)}: {EXPECTED}")
    graph = read(given, texts)
    if not graph.nodes:
        raise InvalidView("the graph has no node")
    if (texts.direction or "both") != "both" and not graph.directed:
        raise InvalidView(
            f"the direction is {texts.direction!r}, and the edges of the graph have none"
        )
    return graph


def describe(given: object) -> str:
    """Something that is no graph, in words."""
    kind = f"{type(given).__module__}.{type(given).__qualname__}".removeprefix("builtins.")
    return repr(given) if given is None else f"a {kind} ({cut(' '.join(repr(given).split()), 40)})"


def _reader(given: object) -> Callable[[Any, ViewTexts], GivenGraph] | None:
    """What reads it. A library that was not imported has made none of our arguments."""
    for module, name, reader in (
        ("networkx", "Graph", _of_networkx),
        ("numpy", "ndarray", _of_matrix),
        ("scipy.sparse", "sparray", _of_matrix),
        ("scipy.sparse", "spmatrix", _of_matrix),
        ("pandas", "DataFrame", _of_table),
    ):
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(given, kind):
            return reader
    return None


# networkx


def _of_networkx(graph: Any, texts: ViewTexts) -> GivenGraph:
    nodes = tuple(graph)
    rows = {node: row for row, node in enumerate(nodes)}
    pairs: Iterable[Edge]
    if texts.weight is None:
        pairs = ((rows[a], rows[b], 1.0) for a, b in graph.edges())
    else:
        _refuse_unknown_weight(graph, texts)
        pairs = (
            (rows[a], rows[b], _weight(value, a, b, texts))
            for a, b, value in graph.edges(data=texts.weight)
        )
    given = GivenGraph(
        kind="networkx graph",
        nodes=nodes,
        edges=list(pairs),
        directed=graph.is_directed(),
        weight=texts.weight,
        attributes=graph.nodes,
        unused=_unused(next(iter(graph.edges(data=True)), (None, None, {}))[2], texts),
    )
    return _together(given, texts) if graph.is_multigraph() else given


def _refuse_unknown_weight(graph: Any, texts: ViewTexts) -> None:
    """A weight that no edge has is a mistake, unless there is a default for it."""
    if texts.default_weight is not None or not graph.number_of_edges():
        return
    names: set[str] = set()
    for _, _, data in graph.edges(data=True):
        if texts.weight in data:
            return
        names.update(map(str, data))
    raise InvalidWeight(
        f"no edge has the attribute {texts.weight!r}{did_you_mean([str(texts.weight)], names)}"
        ": choose another weight, or leave it out"
    )


# Matrices


def _of_matrix(matrix: Any, texts: ViewTexts) -> GivenGraph:
    import numpy as np  # noqa: PLC0415 - whoever has a matrix has it
    from scipy.sparse import coo_array  # noqa: PLC0415

    shape = matrix.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InvalidView(f"the matrix has the shape {shape}: expected (n, n), a row for each node")
    if matrix.dtype.kind not in "biuf":
        raise InvalidView(f"the matrix has the type {matrix.dtype}: expected weights of edges")
    entries = coo_array(matrix).tocsr().tocoo()  # entries of the same place add up
    wanted = (entries.data != 0) & (entries.row != entries.col)
    rows, columns = entries.row[wanted], entries.col[wanted]
    weights = entries.data[wanted].astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(bad):
        row, column, value = rows[bad[0]], columns[bad[0]], weights[bad[0]]
        raise InvalidWeight(
            f"the matrix has {value:g} in row {row}, column {column}: expected finite weights from 0 up"
        )
    values = dict(zip(zip(rows.tolist(), columns.tolist(), strict=True), weights, strict=True))
    directed = any(values.get((b, a)) != value for (a, b), value in values.items())
    weighted = bool((weights != 1).any())
    return GivenGraph(
        kind="matrix",
        nodes=tuple(range(shape[0])),
        edges=[(a, b, float(value)) for (a, b), value in values.items() if directed or a < b],
        directed=directed,
        weight=(texts.weight or WEIGHT) if weighted else None,
    )


# Tables


def _of_table(table: Any, texts: ViewTexts) -> GivenGraph:
    first, second = _ends(table, texts)
    sources, targets = table[first].tolist(), table[second].tolist()
    for name, column in ((first, table[first]), (second, table[second])):
        missing = column.isna()
        if missing.any():
            raise InvalidView(
                f"the column {name!r} is empty in row {int(missing.argmax())}: an edge has two ends"
            )
    rows: dict[Hashable, int] = {}
    for ends in zip(sources, targets, strict=True):
        for node in ends:
            rows.setdefault(node, len(rows))
    if texts.weight is None:
        weights: Iterable[float | None] = [1.0] * len(table)
    elif texts.weight not in table.columns:
        hint = did_you_mean([texts.weight], map(str, table.columns))
        raise InvalidWeight(f"the table has no column {texts.weight!r}{hint}")
    else:
        values = table[texts.weight]
        weights = [
            _weight(None if empty else value, a, b, texts)
            for value, empty, a, b in zip(
                values.tolist(), values.isna(), sources, targets, strict=True
            )
        ]
    edges = [
        (rows[a], rows[b], weight) for a, b, weight in zip(sources, targets, weights, strict=True)
    ]
    given = GivenGraph(
        kind="table of edges",
        nodes=tuple(rows),
        edges=edges,
        directed=True,
        weight=texts.weight,
        unused=_unused(table.columns, texts),
    )
    return _together(given, texts)


def _ends(table: Any, texts: ViewTexts) -> tuple[Any, Any]:
    """The columns with the ends of the edges."""
    names = list(table.columns)
    if "source" in names and "target" in names:
        return "source", "target"
    rest = [name for name in names if name != texts.weight]
    if len(rest) != 2:
        raise InvalidView(
            f"the table has the columns {cut(', '.join(map(str, names)), 80) or 'none'}: call those with the ends of "
            "the edges source and target"
        )
    return rest[0], rest[1]


# Weights


def _unused(names: Iterable[Any], texts: ViewTexts) -> str | None:
    """What edges have that most people call their weight, where nobody says that it is."""
    return WEIGHT if texts.weight is None and WEIGHT in names else None


def _weight(value: object, source: object, target: object, texts: ViewTexts) -> float | None:
    """The weight of an edge; None for the default."""
    if value is None and texts.default_weight is not None:
        return None
    distance = texts.weight_as == "distance"
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if math.isfinite(number) and (number > 0 or (number == 0 and not distance)):
        return number
    found = "no weight" if value is None else f"the weight {cut(repr(value), 40)}"
    needed = "above 0, as it is a distance" if distance else "0 or more"
    default = ", or a default_weight" if value is None else ""
    raise InvalidWeight(
        f"the edge from {source!r} to {target!r} has {found} in {texts.weight!r}: every edge needs a finite number, "
        f"{needed}{default}"
    )


def _together(graph: GivenGraph, texts: ViewTexts) -> GivenGraph:
    """Parallel edges as one: weights add up, and so does how alike distances make two nodes."""
    parallel: dict[tuple[int, int], list[float | None]] = {}
    for source, target, weight in graph.edges:
        parallel.setdefault((source, target), []).append(weight)
    if len(parallel) == len(graph.edges):
        return graph
    distance = texts.weight is not None and texts.weight_as == "distance"
    edges = [
        (*pair, weights[0] if len(weights) == 1 else _sum(weights, texts.default_weight, distance))
        for pair, weights in parallel.items()
    ]
    return replace(graph, edges=edges, weight=graph.weight or WEIGHT, counted=graph.weight is None)


def _sum(weights: Iterable[float | None], default: float | None, distance: bool) -> float:
    given = [default if one is None else one for one in weights]
    known = [one for one in given if one is not None]
    return 1.0 / sum(1.0 / one for one in known) if distance else sum(known)
