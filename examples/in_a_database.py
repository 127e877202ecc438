"""Optimise over a graph that stays in its database: Neo4j, or an embedded file.

Run it with ``python examples/in_a_database.py [URI]``, for instance with ``neo4j://localhost`` (NEO4J_USERNAME and
NEO4J_PASSWORD in the environment). What it wrote stays there until ``graphbo clean cheapest``.
"""

import sys
from collections.abc import Mapping

import graphbo
from graphbo.stores import GraphStore

VIEW = graphbo.View(("Depot",), ("ROAD",), weight="trucks", key="code")


def load(store: GraphStore) -> None:
    """A ring of depots with a few shortcuts. Your graph is in your database already."""
    count = 200
    store.create_key(VIEW)
    store.write_nodes(
        VIEW,
        [(f"D{n}", {"rent": 900 + 5 * abs(n - 130), "city": f"City {n}"}) for n in range(count)],
    )
    store.write_relationships(
        VIEW,
        [
            (f"D{n}", f"D{(n + step) % count}", {"trucks": 40 // step})
            for n in range(count)
            for step in (1, 7)
        ],
    )


def cost(_code: str, properties: Mapping[str, object]) -> float:
    """What a depot would cost: stands for a quotation that somebody has to be asked for."""
    rent = properties["rent"]
    return float(rent) if isinstance(rent, (int, float)) else float("nan")


def main() -> None:
    """Find the depot with the lowest cost in 60 quotations."""
    uri = sys.argv[1] if len(sys.argv) > 1 else "sqlite:depots.db"
    with graphbo.open_store(uri, create=True) as store:
        load(store)
        result = graphbo.optimize(
            cost,
            store,
            label="Depot",
            relationship="ROAD",
            weight="trucks",
            key="code",
            budget=60,
            maximize=False,
            name="cheapest",
        )
        if result.best is None:
            raise SystemExit("nothing was measured")
        properties = store.properties(VIEW, [result.best.key])[result.best.key]
        print(f"Best: {result.best.key} in {properties['city']} for {result.best.value:g}")
        print(f"{len(result.history)} of {store.count_nodes(VIEW)} depots were asked for a price;")
        print(f"each of them has it in the property {properties_written(properties)} now.")


def properties_written(properties: Mapping[str, object]) -> str:
    """Which of a node's properties hold what was measured."""
    return ", ".join(sorted(name for name in properties if name.startswith("graphbo")))


if __name__ == "__main__":
    main()
