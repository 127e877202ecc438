"""Graphs out of nothing: ``ba:n=1000,m=3,seed=0`` and its relatives."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import networkx as nx

from graphbo.errors import Remedy, SourceError
from graphbo.loading.base import EdgeRecord, NodeRecord, OnRead, Reading, Survey, show
from graphbo.loading.values import INT64, check_id, properties, weight
from graphbo.types import NodeKey
from graphbo.types.text import assignments

__all__ = ["GENERATORS", "GraphSource", "open_generator"]

#: A generated graph is held in memory, at some hundred bytes per node and edge.
MOST: Final = 10_000_000

_Graph: TypeAlias = "nx.Graph[Any]"
_Values: TypeAlias = Mapping[str, Any]


class GraphSource:
    """A networkx graph whose nodes are strings or integers; attributes become properties.

    Args:
        name: what to call it in messages.
        build: makes the graph when it is first needed.
        reading: with a weight, every edge must have that attribute.
    """

    def __init__(
        self, name: str, build: Callable[[], _Graph], reading: Reading | None = None
    ) -> None:
        self.name = name
        self._build = build
        self._reading = reading or Reading()
        self._graph: _Graph | None = None

    def survey(self, progress: OnRead | None = None) -> Survey:
        """Make the graph and count.

        Raises:
            SourceError: the graph has no nodes, or something in it that no store can hold.
        """
        graph = self._made()
        if not graph:
            raise SourceError(f"{self.name} has no nodes")
        for _ in self.nodes():
            pass
        with_properties = [True for _, _, properties in self.edges() if properties]
        if progress is not None:
            progress(1, 1)
        return Survey(
            nodes=len(graph),
            edges=graph.number_of_edges(),
            edge_properties=bool(with_properties),
            directed=graph.is_directed(),
        )

    def nodes(self) -> Iterator[NodeRecord]:
        """The nodes, in the order of the graph.

        Raises:
            SourceError: a node that no store can hold.
        """
        for node, attributes in self._made().nodes(data=True):
            try:
                key = _key(node)
                yield key, properties(attributes, key, self._reading.key)
            except ValueError as error:
                raise SourceError(f"{self.name}, node {show(node)}: {error}") from None

    def edges(self) -> Iterator[EdgeRecord]:
        """The edges, in the order of the graph.

        Raises:
            SourceError: an edge that no store can hold, or without a weight.
        """
        name = self._reading.weight
        for source, target, attributes in self._made().edges(data=True):
            try:
                converted = properties(attributes)
                if name is not None:
                    converted[name] = weight(attributes.get(name))
            except ValueError as error:
                where = f"{show(source)} to {show(target)}"
                raise SourceError(f"{self.name}, edge {where}: {error}") from None
            yield source, target, converted

    def _made(self) -> _Graph:
        if self._graph is None:
            self._graph = self._build()
        return self._graph


def _key(node: object) -> NodeKey:
    if isinstance(node, int) and not isinstance(node, bool) and node in INT64:
        return node
    if isinstance(node, str):
        return check_id(node)
    raise ValueError("not a string or a 64-bit integer")


# Parameters


@dataclass(frozen=True)
class GeneratorParameter:
    """A parameter of a generator: how its text is read, and which values make sense."""

    name: str
    parse: Callable[[str], Any]
    expected: str
    allowed: Callable[[Any], bool]
    default: Any = None


def _sizes(text: str) -> list[int]:
    return [_plain_int(size) for size in text.split("/")]


def _plain_int(text: str) -> int:
    if not re.fullmatch("-?[0-9]{1,18}", text):
        raise ValueError(text)
    return int(text)


def _probability(name: str) -> GeneratorParameter:
    return GeneratorParameter(name, float, "a number from 0 to 1", lambda value: 0 <= value <= 1)


def _whole(name: str, least: int) -> GeneratorParameter:
    expected = f"an integer from {least} to {MOST:,}"
    return GeneratorParameter(name, _plain_int, expected, lambda value: least <= value <= MOST)


_SEED = GeneratorParameter(
    "seed", _plain_int, "an integer from 0 on", lambda value: value >= 0, default=0
)


@dataclass(frozen=True)
class Generator:
    """A family of random graphs.

    Attributes:
        example: a spec of one, shown when another is wrong.
        parameters: what it needs and may have.
        problem: what is wrong with parameters that are fine one by one, or "".
        edges: about how many edges there will be.
        build: makes the graph.
    """

    example: str
    parameters: tuple[GeneratorParameter, ...]
    problem: Callable[[_Values], str]
    edges: Callable[[_Values], float]
    build: Callable[[_Values], _Graph]


def _grid(values: _Values) -> _Graph:
    rows, columns = values["rows"], values["columns"]
    grid: _Graph = nx.grid_2d_graph(rows, columns)
    graph: _Graph = nx.relabel_nodes(grid, {(r, c): r * columns + c for r, c in grid})
    nx.set_node_attributes(graph, {r * columns + c: {"row": r, "col": c} for r, c in grid})
    return graph


def _sbm(values: _Values) -> _Graph:
    sizes = values["sizes"]
    inside, between = values["p_in"], values["p_out"]
    density = [
        [inside if a == b else between for b in range(len(sizes))] for a in range(len(sizes))
    ]
    graph: _Graph = nx.stochastic_block_model(sizes, density, seed=values["seed"])
    return graph


def _sbm_edges(values: _Values) -> float:
    nodes: int = sum(values["sizes"])
    pairs: float = sum(size * (size - 1) / 2 for size in values["sizes"])
    inside: float = pairs * values["p_in"]
    between: float = (nodes * (nodes - 1) / 2 - pairs) * values["p_out"]
    return inside + between


GENERATORS: Final[dict[str, Generator]] = {
    "ba": Generator(
        "ba:n=1000,m=3,seed=0",
        (_whole("n", 2), _whole("m", 1), _SEED),
        lambda v: "" if v["m"] < v["n"] else f"m={v['m']} is not less than n={v['n']}",
        lambda v: v["n"] * v["m"],
        lambda v: nx.barabasi_albert_graph(v["n"], v["m"], seed=v["seed"]),
    ),
    "ws": Generator(
        "ws:n=2000,k=10,p=0.1,seed=0",
        (_whole("n", 3), _whole("k", 2), _probability("p"), _SEED),
        lambda v: (
            "" if v["k"] < v["n"] and v["k"] % 2 == 0 else f"k={v['k']} is not even and less than n"
        ),
        lambda v: v["n"] * v["k"] / 2,
        lambda v: nx.watts_strogatz_graph(v["n"], v["k"], v["p"], seed=v["seed"]),
    ),
    "er": Generator(
        "er:n=1000,p=0.01,seed=0",
        (_whole("n", 1), _probability("p"), _SEED),
        lambda _: "",
        lambda v: v["n"] * (v["n"] - 1) / 2 * v["p"],
        lambda v: nx.fast_gnp_random_graph(v["n"], v["p"], seed=v["seed"]),
    ),
    "sbm": Generator(
        "sbm:sizes=50/50/50,p_in=0.2,p_out=0.01,seed=0",
        (
            GeneratorParameter(
                "sizes",
                _sizes,
                f"positive integers with / between them, at most {MOST:,} in all",
                lambda sizes: min(sizes) > 0 and sum(sizes) <= MOST and len(sizes) <= 1000,
            ),
            _probability("p_in"),
            _probability("p_out"),
            _SEED,
        ),
        lambda _: "",
        _sbm_edges,
        _sbm,
    ),
    "grid": Generator(
        "grid:50x50",
        (_whole("rows", 1), _whole("columns", 1)),
        lambda v: "" if v["rows"] * v["columns"] <= MOST else f"more than {MOST:,} nodes",
        lambda v: 2 * v["rows"] * v["columns"],
        _grid,
    ),
}


def open_generator(spec: str, reading: Reading) -> GraphSource:
    """The source for a spec such as ``ba:n=1000,m=3``.

    Raises:
        SourceError: an unknown, missing, repeated or impossible parameter, or a weight, which no
            generator has.
    """
    family, _, text = spec.partition(":")
    generator = GENERATORS[family]
    try:
        values = _parse(generator, _assignments(family, text))
        _check_together(generator, values)
    except ValueError as error:
        raise SourceError(
            f"{show(spec, 100)}: {error}; expected as in {generator.example}"
        ) from None
    if reading.weight is not None:
        raise SourceError(
            f"{spec}: its edges have no weight", Remedy.LEAVE_OUT_WEIGHT, weight=reading.weight
        )
    return GraphSource(spec, lambda: generator.build(values), reading)


def _check_together(generator: Generator, values: _Values) -> None:
    edges = generator.edges(values)
    problem = generator.problem(values)
    if not problem and edges > MOST:
        problem = f"about {edges:.1e} edges, at most {MOST:,} are possible"
    if problem:
        raise ValueError(problem)


def _assignments(family: str, text: str) -> dict[str, str]:
    if family == "grid":
        rows, separator, columns = text.partition("x")
        if not separator:
            raise ValueError("no ROWSxCOLUMNS")
        return {"rows": rows, "columns": columns}
    return assignments(text)


def _parse(generator: Generator, given: Mapping[str, str]) -> dict[str, Any]:
    known = {parameter.name: parameter for parameter in generator.parameters}
    for name in given:
        if name not in known:
            raise ValueError(f"unknown parameter {show(name)}")
    values = {}
    for name, parameter in known.items():
        if name in given:
            values[name] = _value(parameter, given[name])
        elif parameter.default is None:
            raise ValueError(f"{name} is missing")
        else:
            values[name] = parameter.default
    return values


def _value(parameter: GeneratorParameter, text: str) -> Any:
    try:
        value = parameter.parse(text)
        possible = parameter.allowed(value)
    except ValueError:
        possible = False
    if not possible:
        raise ValueError(f"{parameter.name} is {show(text)}, not {parameter.expected}")
    return value
