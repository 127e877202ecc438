"""Small runs of every sort, on any store."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np

from graphbo.runs import Best, Run, RunSettings
from graphbo.seeing.map import Map
from graphbo.seeing.run_facts import RunFacts
from graphbo.stores import GraphStore
from graphbo.types import NodeKey, Observation, View

__all__ = ["NASTY", "VIEW", "finished", "large_facts", "load_graph", "score", "small_run"]

VIEW = View(("N",), ("R",), key="id")

#: Names that have broken pages before.
NASTY = (
    "<script>window.broken = true</script>",
    "</script><script>window.broken = true</script>",
    "<!--",
    '"><img src=x onerror="window.broken = true">',
    "😀 ünïcode \u2028 line",
    "$x_{broken$",
    "long " * 200,
    "@DATA@",
)


def score(node: int) -> float:
    """Largest at node 42."""
    return 10.0 - abs(node - 42) / 10


def load_graph(
    store: GraphStore, names: Mapping[int, NodeKey] | None = None, size: int = 60
) -> None:
    """A ring with shortcuts and two nodes that nothing leads to."""
    name: Callable[[int], NodeKey] = (names or {}).get if names else lambda node: node  # type: ignore[assignment]
    store.create_key(VIEW)
    store.write_nodes(
        VIEW, [(name(node), {"label": f"node {node}", "n": node}) for node in range(size + 2)]
    )
    edges = nx.connected_watts_strogatz_graph(size, 4, 0.1, seed=1).edges()
    store.write_relationships(VIEW, [(name(a), name(b), {}) for a, b in edges])


def small_run(
    store: GraphStore,
    count: int = 25,
    *,
    name: str = "small",
    fail: Callable[[NodeKey], bool] = lambda key: False,
    value: Callable[[Any], float] = score,
    **settings: Any,
) -> Run:
    """A run with so many evaluations, still open."""
    run = Run.create(store, VIEW, name, RunSettings(**{"budget": count, **settings}))
    while (pending := run.ask().pending) is not None:
        if fail(pending.key):
            run.tell(None, step=pending.step, error=f"no value at {pending.key}")
        else:
            run.tell(value(pending.key), step=pending.step)
    return run


def finished(run: Run) -> Run:
    """The run, over."""
    run.finish()
    return run


def large_facts(count: int = 1000, nodes: int = 1500) -> RunFacts:
    """A run that is as large as reports get, without the work: every text in it is long."""
    rng = np.random.default_rng(0)
    history = tuple(
        Observation(
            step=step,
            seq=step,
            key=f"{'k' * 200}{step}",
            value=float(rng.normal()),
            mean=float(rng.normal()),
            std=1.0,
            acquisition=0.1,
            restart=step // 100,
            phase="model" if step > 10 else "initial",
            modelled=tuple(range(max(1, step - 50), step)),
            at=f"2026-01-01T{step // 60 % 24:02}:{step % 60:02}:00+00:00",
        )
        for step in range(1, count + 1)
    )
    best = max(history, key=lambda one: one.value or 0.0)
    keys = tuple(one.key for one in history) + tuple(f"other {row}" for row in range(nodes - count))
    drawn = Map(
        keys=keys,
        places=rng.uniform(-0.5, 0.5, size=(nodes, 2)),
        edges=rng.integers(0, nodes, size=(6000, 2)),
        properties=tuple({f"property {n}": "😀" * 500 for n in range(30)} for _ in keys),
        whole=False,
        nodes=10**6,
    )
    return RunFacts(
        name="large",
        settings=RunSettings(budget=count),
        history=history,
        best=Best(best.key, float(best.value or 0.0), best.step),
        best_properties={f"property {n}": "😀" * 9999 for n in range(100)},
        state="finished",
        view=VIEW,
        address="sqlite:large.db",
        started_at="2026-01-01T00:00:00+00:00",
        taken_at="2026-01-02T00:00:00+00:00",
        map=drawn,
    )


def without_times(run: Run) -> tuple[Observation, ...]:
    """What was told, without when."""
    return tuple(replace(one, at="") for one in run.history)
