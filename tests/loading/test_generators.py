"""Generated graphs, and parameters that make no sense."""

import networkx as nx
import pytest

from graphbo.errors import SourceError
from graphbo.loading import GraphSource, Reading, open_source


@pytest.mark.parametrize(
    ("spec", "nodes", "edges"),
    [
        ("ba:n=100,m=3", 100, 291),
        ("ba:n=100,m=3,seed=7", 100, 291),
        ("ws:n=40,k=4,p=0.1", 40, 80),
        ("er:n=20,p=1", 20, 190),
        ("er:n=1,p=0", 1, 0),
        ("sbm:sizes=5/6,p_in=1,p_out=0", 11, 25),
        ("grid:3x4", 12, 17),
        ("grid:1x1", 1, 0),
    ],
)
def test_sizes(spec: str, nodes: int, edges: int) -> None:
    source = open_source(spec)
    survey = source.survey()
    assert (survey.nodes, survey.edges) == (nodes, edges)
    assert len(list(source.nodes())) == nodes
    assert len(list(source.edges())) == edges
    assert source.name == spec


def test_the_seed_decides_and_is_zero_by_default() -> None:
    edges = {
        spec: list(open_source(spec).edges())
        for spec in ("er:n=30,p=0.3", "er:n=30,p=0.3,seed=0", "er:n=30,p=0.3,seed=1")
    }
    assert edges["er:n=30,p=0.3"] == edges["er:n=30,p=0.3,seed=0"] != edges["er:n=30,p=0.3,seed=1"]


def test_grid_nodes_know_their_place() -> None:
    nodes = dict(open_source("grid:3x4").nodes())
    assert nodes == {
        4 * row + col: {"row": row, "col": col} for row in range(3) for col in range(4)
    }
    assert all(int(b) - int(a) in (1, 4) for a, b, _ in open_source("grid:3x4").edges())


def test_block_nodes_know_their_block() -> None:
    nodes = dict(open_source("sbm:sizes=2/3,p_in=1,p_out=0").nodes())
    assert [rest["block"] for rest in nodes.values()] == [0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("ba:", "n is missing; expected as in ba:n=1000,m=3,seed=0"),
        ("ba:n=10", "m is missing"),
        ("ba:n=10,m=3,k=4", "unknown parameter 'k'"),
        ("ba:n=10,m", "'m' is not NAME=VALUE"),
        ("ba:n=10,n=11,m=1", "'n' is there twice"),
        ("ba:n=ten,m=3", "n is 'ten', not an integer from 2 to 10,000,000"),
        ("ba:n=1_0,m=3", "n is '1_0'"),
        ("ba:n=10.5,m=3", "n is '10.5'"),
        ("ba:n=1,m=3", "n is '1'"),
        ("ba:n=3,m=3", "m=3 is not less than n=3"),
        ("ba:n=99999999999,m=3", "n is '99999999999'"),
        ("ba:n=9999999,m=999", "about 1.0e+10 edges, at most 10,000,000 are possible"),
        ("ba:n=10,m=3,seed=-1", "seed is '-1', not an integer from 0 on"),
        ("ws:n=10,k=3,p=0.1", "k=3 is not even and less than n"),
        ("ws:n=10,k=10,p=0.1", "k=10 is not even and less than n"),
        ("ws:n=10,k=2,p=1.5", "p is '1.5', not a number from 0 to 1"),
        ("ws:n=10,k=2,p=nan", "p is 'nan'"),
        ("er:n=1000000,p=1", "edges, at most"),
        ("sbm:sizes=,p_in=1,p_out=0", "sizes is ''"),
        ("sbm:sizes=3/0,p_in=1,p_out=0", "sizes is '3/0', not positive integers"),
        ("sbm:sizes=3/x,p_in=1,p_out=0", "sizes is '3/x'"),
        ("grid:50", "no ROWSxCOLUMNS; expected as in grid:50x50"),
        ("grid:5x", "columns is ''"),
        ("grid:0x5", "rows is '0'"),
        ("grid:99999x99999", "more than 10,000,000 nodes"),
    ],
)
def test_wrong_parameters_are_told_in_one_line(spec: str, expected: str) -> None:
    with pytest.raises(SourceError) as raised:
        open_source(spec)
    message = str(raised.value)
    assert expected in message
    assert "expected as in " in message
    assert "\n" not in message


def test_generated_edges_have_no_weight() -> None:
    with pytest.raises(SourceError, match="leave out the weight 'w'"):
        open_source("grid:2x2", Reading(weight="w"))


def test_generators_have_no_header() -> None:
    with pytest.raises(SourceError, match="not an edge list"):
        open_source("grid:2x2", Reading(header=False))


def test_a_networkx_graph_is_a_source() -> None:
    graph = nx.DiGraph([("a", "b", {"w": 2, "note": None})])
    graph.nodes["a"]["size"] = 3
    source = GraphSource("mine", lambda: graph, Reading(weight="w"))
    assert source.survey().directed is True
    assert list(source.nodes()) == [("a", {"size": 3}), ("b", {})]
    assert list(source.edges()) == [("a", "b", {"w": 2.0})]


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (nx.Graph(), "has no nodes"),
        (nx.Graph([((0, 1), (1, 1))]), "not a string or a 64-bit integer"),
        (nx.Graph([(2**64, 1)]), "not a string or a 64-bit integer"),
        (nx.Graph([("", "a")]), "an id is empty"),
        (nx.Graph([(1, 2)]), "edge '1' to '2': the weight is missing"),
    ],
)
def test_a_networkx_graph_that_no_store_can_hold(graph: nx.Graph, expected: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(SourceError, match=expected):
        GraphSource("mine", lambda: graph, Reading(weight="w")).survey()
