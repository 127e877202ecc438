"""Find the node of a networkx graph at which an expensive function is largest, with few calls.

Run it with ``python examples/networkx_graph.py``.
"""

import networkx as nx

import graphbo

# The function to be maximized. Here it is quick, and its values are known, so that the answer can be judged; think
# of a simulation that takes an hour, or of an API that costs money.
GRAPH = nx.barabasi_albert_graph(1000, 3, seed=1)
BETWEENNESS = nx.betweenness_centrality(GRAPH, k=200, seed=1)


def traffic(node: int) -> float:
    """How much goes through a node."""
    return BETWEENNESS[node]


def main() -> None:
    """Optimise, and compare with the truth."""
    result = graphbo.optimize(traffic, GRAPH, budget=60, seed=0)
    if result.best is None:
        raise SystemExit("nothing was measured")

    rank = sorted(BETWEENNESS.values(), reverse=True).index(result.best.value) + 1
    print(
        f"Best node: {result.best.key} with {result.best.value:.4f}, at evaluation {result.best.step}"
    )
    print(f"It is number {rank} of {len(GRAPH):,} nodes; {len(result.history)} were measured.")
    for observation in result.history[-3:]:
        print(f"  step {observation.step}: {observation.key} = {observation.value:.4f}")


if __name__ == "__main__":
    main()
