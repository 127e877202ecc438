"""Ask which node to measure next, measure it yourself, tell the result: for objectives that are no Python function.

The run lives in a file. Start the program again: it goes on where it was, as a person would who measures over days.

Run it with ``python examples/ask_and_tell.py [FILE]``.
"""

import sys
from pathlib import Path

import networkx as nx

import graphbo
from graphbo.stores import GraphStore

VIEW = graphbo.View(("Station",), ("LINK",), key="name")


def load(store: GraphStore) -> None:
    """A grid of stations; loading it again changes nothing."""
    grid = nx.grid_2d_graph(15, 15)
    store.create_key(VIEW)
    store.write_relationships(VIEW, [(f"{a}-{b}", f"{c}-{d}", {}) for (a, b), (c, d) in grid.edges])


def measure(station: str) -> float:
    """Stands for a person who goes there and comes back with a number."""
    row, column = map(int, station.split("-"))
    return -((row - 11) ** 2) - (column - 4) ** 2


def main() -> None:
    """Measure five stations more than the last time."""
    file = Path(sys.argv[1] if len(sys.argv) > 1 else "stations.db")
    with graphbo.open_store(f"sqlite:{file}", create=True) as store:
        load(store)
        settings = graphbo.RunSettings(options={"initial": 3}, seed=1)
        run = graphbo.Run.open_or_create(store, VIEW, "survey", settings)
        for _ in range(5):
            asked = run.ask()
            if asked.pending is None:
                print(f"nothing left to measure: {asked.why_not}")
                break
            station = str(asked.pending.key)
            run.tell(measure(station), step=asked.pending.step)
            print(f"step {asked.pending.step}: {station} = {measure(station):g}")
        best = run.best()
        if best is not None:
            print(f"Best so far: {best.key} with {best.value:g}, of {len(run.history)} measured")


if __name__ == "__main__":
    main()
