"""A run as the JSON that a report's page draws from. Long texts are cut, so that its size is bounded."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from graphbo import __version__
from graphbo.runs import is_abandoned
from graphbo.seeing.command import command_of
from graphbo.seeing.map import Map
from graphbo.seeing.run_facts import RunFacts
from graphbo.seeing.sentences import (
    captions,
    configuration,
    shortened,
    state_in_words,
    tiles,
)
from graphbo.types import NodeKey
from graphbo.types.text import plural, rounded

__all__ = ["page_data"]

#: Of a node on the map; the best node shows more.
MOST_PROPERTIES, LONGEST_PROPERTY, LONGEST_NAME = 8, 80, 40
LONGEST_OF_BEST, MOST_OF_BEST = 500, 60
LONGEST_ERROR = 600
LONGEST_WHY = 240
#: So many nodes are named that might be next: those that wait first, then those that the model would propose.
MOST_WAITING, MOST_PROMISING = 20, 3
#: Places are whole numbers within this.
GRID = 10_000

Data = dict[str, Any]


def page_data(facts: RunFacts) -> Data:
    """Everything that the page shows."""
    view = "" if facts.view is None else f" on {facts.view}"
    objective = shortened(facts.settings.objective or "values that were told", 120)
    return {
        "version": __version__,
        "name": shortened(facts.name),
        "subtitle": f"{'Maximize' if facts.maximize else 'Minimize'} {objective}{shortened(view, 160)}",
        "state": facts.state or "finished",
        "stateText": state_in_words(facts),
        "atWork": not all(map(is_abandoned, facts.pending)),
        "maximize": facts.maximize,
        "optimum": rounded(facts.optimum),
        "budget": facts.settings.budget,
        "best": _best(facts),
        "next": _next(facts) if facts.is_open else None,
        "tiles": tiles(facts),
        "steps": _steps(facts),
        "map": None if facts.map is None else _map(facts, facts.map),
        "kernel": _kernel(facts),
        "region": _region(facts),
        "coverage": [[one.level, one.inside, one.count] for one in facts.calibration.coverages],
        "captions": captions(facts),
        "configuration": configuration(facts),
        "command": _command(facts),
    }


def _numbers(values: Iterable[float | None]) -> list[float | None]:
    return [rounded(value) for value in values]


def _pairs(
    properties: Mapping[str, object], most: int, longest: int, skip: str | None
) -> list[tuple[str, str]]:
    rest = [(name, value) for name, value in properties.items() if name != skip]
    return [
        (shortened(name, LONGEST_NAME), shortened(value, longest)) for name, value in rest[:most]
    ]


def _label_pairs(labels: Sequence[str]) -> list[tuple[str, str]]:
    named = shortened(", ".join(labels), LONGEST_PROPERTY)
    return [("labels" if len(labels) > 1 else "label", named)] if labels else []


def _key_name(facts: RunFacts) -> str | None:
    return None if facts.view is None else facts.view.key


def _best(facts: RunFacts) -> Data | None:
    best = facts.best
    if best is None:
        return None
    return {
        "key": facts.named(best.key, LONGEST_OF_BEST),
        "value": rounded(best.value),
        "mean": rounded(best.mean),
        "why": shortened(facts.best_why, LONGEST_WHY),
        "index": next((row for row, one in enumerate(facts.history) if one.step == best.step), 0),
        "properties": [
            *_label_pairs(facts.best_labels),
            *_pairs(facts.best_properties, MOST_OF_BEST, LONGEST_OF_BEST, _key_name(facts)),
        ],
    }


def _next(facts: RunFacts) -> list[Data]:
    """What is being measured, and what would be proposed then."""
    found = [
        {
            "key": facts.named(one.key),
            "how": f"being measured, step {one.step}",
            # By what was known when it was asked for: the model takes what is being measured for measured.
            "why": _hopes(facts, one.key, one.candidate.mean, one.candidate.std),
        }
        for one in facts.pending[:MOST_WAITING]
    ]
    if facts.belief is None:
        return found
    measured, pending = facts.history, facts.pending
    taken = {*(one.key for one in measured), *(one.key for one in pending), *facts.excluded}
    graph, believed = facts.belief.subgraph, facts.belief.posterior
    rows = [int(row) for row in facts.belief.ranking.rows if graph.keys[row] not in taken]
    for row in rows[:MOST_PROMISING]:
        key, mean, std = graph.keys[row], float(believed.mean[row]), float(believed.std[row])
        why = _hopes(facts, key, mean, std)
        found.append({"key": facts.named(key), "how": "promising", "why": why})
    return found


def _hopes(facts: RunFacts, key: NodeKey, mean: float | None, std: float | None) -> str:
    """What is expected of a node, and why."""
    if mean is None or std is None:
        return ""
    why = facts.reasons.get(key, "")
    return shortened(f"expected {mean:.3g} ± {std:.2g}" + (f": {why}" if why else ""), LONGEST_WHY)


def _steps(facts: RunFacts) -> Data:
    history = facts.history
    return {
        "key": [facts.named(one.key) for one in history],
        "step": [one.step for one in history],
        "x": facts.evaluations,
        "value": _numbers(one.value for one in history),
        "best": _numbers(facts.best_so_far),
        "mean": _numbers(one.mean for one in history),
        "std": _numbers(one.std for one in history),
        "acquisition": _numbers(one.acquisition for one in history),
        "phase": ["known" if one.source == "warm" else one.phase for one in history],
        "region": [one.restart + 1 for one in history],
        "seconds": _numbers(facts.seconds),
        "cost": _numbers(one.cost for one in history) if facts.settings.cost else None,
        "error": {
            row: shortened(one.error, LONGEST_ERROR)
            for row, one in enumerate(history)
            if one.error is not None
        },
    }


def _map(facts: RunFacts, drawn: Map) -> Data:
    told: dict[object, int] = {one.key: row for row, one in enumerate(facts.history)}
    pending = {one.key for one in facts.pending}
    places = np.rint(drawn.places * GRID).astype(int)
    belief = facts.belief
    now: dict[str, list[float | None]] = {"mean": [], "std": [], "acquisition": []}
    for key in drawn.keys if belief is not None else ():
        row = belief.subgraph.row(key) if belief is not None and key in belief.subgraph else None
        arrays = belief and (belief.posterior.mean, belief.posterior.std, belief.acquisition)
        for name, array in zip(now, arrays or (), strict=False):
            now[name].append(None if row is None else rounded(float(array[row])))
    return {
        "key": [facts.named(key) for key in drawn.keys],
        "connectors": drawn.connectors,
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "edges": drawn.edges.ravel().tolist(),
        "index": [told.get(key, -1) for key in drawn.keys],
        "pending": [row for row, key in enumerate(drawn.keys) if key in pending],
        "now": now if belief is not None else None,
        "why": {
            row: shortened(facts.reasons[key], LONGEST_WHY)
            for row, key in enumerate(drawn.keys)
            if key in facts.reasons
        },
        "properties": [
            [
                *_label_pairs(drawn.labels.get(key, ())),
                *_pairs(one, MOST_PROPERTIES, LONGEST_PROPERTY, _key_name(facts)),
            ]
            for key, one in zip(drawn.keys, drawn.properties, strict=True)
        ],
        "summary": f"A map of {plural(len(drawn.keys), 'node')} and "
        f"{plural(len(drawn.edges), 'edge')}"
        + (f", with {plural(drawn.connectors, 'connector')}" if drawn.connectors else ""),
    }


def _kernel(facts: RunFacts) -> Data | None:
    kernel = facts.kernel
    if kernel is None:
        return None
    return {
        "x": _numbers(kernel.eigenvalues.tolist()),
        "y": _numbers(kernel.weights.tolist()),
        "zeros": kernel.zeros,
    }


def _region(facts: RunFacts) -> Data | None:
    if not facts.region:
        return None
    grows = facts.region[-1].size is not None
    return {
        "x": [step.evaluation for step in facts.region],
        "size": [step.size if grows else step.known for step in facts.region],
        "failures": [step.failures for step in facts.region],
        "restart": [step.restart for step in facts.region],
        "label": "nodes in the region" if grows else "measured nodes in the region",
    }


def _command(facts: RunFacts) -> str:
    if facts.view is None or not facts.address:
        return ""
    return command_of(facts.name, facts.view, facts.settings, facts.address)
