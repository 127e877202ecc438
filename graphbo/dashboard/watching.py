"""Runs that people look at: each is read once, and from then on only what is new; figures are drawn when it changed."""

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbo.errors import GraphboError, StoreUnavailable
from graphbo.runs import Run
from graphbo.runs.records import RunRecord
from graphbo.runs.registry import runs_in
from graphbo.runs.why import Why
from graphbo.seeing.data import page_data
from graphbo.seeing.layout import layout
from graphbo.seeing.map import map_of
from graphbo.seeing.run_facts import facts_with, latest_belief
from graphbo.seeing.series import best_so_far, evaluations
from graphbo.stores import GraphStore
from graphbo.types import FloatArray, IntArray, NodeKey

if TYPE_CHECKING:
    from graphbo.search.strategies.model import Belief
    from graphbo.seeing.map import Map

__all__ = ["Curve", "Watched", "Watching", "version_of", "why_of"]

#: So many runs are kept in memory: of the others, what was read is forgotten.
MOST_RUNS, MOST_DRAWN = 64, 8
#: After this a run is read again that does not seem to have changed.
OLD_SECONDS = 15.0
#: Drawing takes at most this share of the time, however quickly values come in.
SHARE = 0.15
#: A map is drawn anew when so much of it was not there before.
MOST_NEW = 0.3
#: Most points of a curve on the page of all runs.
CURVE = 60


def version_of(*records: RunRecord) -> str:
    """What changes whenever anything of these runs does."""
    facts = [
        (
            one.name,
            one.state,
            one.budget,
            one.seq,
            one.steps,
            one.pending,
            one.amended,
            one.updated_at,
            one.prefix,
        )
        for one in records
    ]
    return blake2b(repr(facts).encode(), digest_size=9).hexdigest()


@dataclass(frozen=True)
class Curve:
    """The best value so far, by evaluation, at as many places as can be told apart."""

    x: tuple[int, ...]
    y: tuple[float, ...]


@dataclass
class _Places:
    """Where nodes were drawn: they stay there while others come."""

    known: dict[NodeKey, tuple[float, float]] = field(default_factory=dict)

    def __call__(self, keys: Sequence[NodeKey], edges: IntArray) -> FloatArray:
        new = [row for row, key in enumerate(keys) if key not in self.known]
        if len(new) > MOST_NEW * len(keys):
            places = layout(len(keys), edges)
        else:
            places = np.array([self.known.get(key, (np.nan, np.nan)) for key in keys])
            _beside_neighbours(places.reshape(-1, 2), new, edges)
        self.known = {key: (float(x), float(y)) for key, (x, y) in zip(keys, places, strict=True)}
        return places.reshape(-1, 2)


def _beside_neighbours(places: FloatArray, new: Sequence[int], edges: IntArray) -> None:
    """Put each new node between its neighbours that have a place, and a little aside, so that none hides another."""
    rng = np.random.default_rng(0)
    gap = 0.6 / np.sqrt(max(1, len(places)))
    both = np.concatenate([edges, edges[:, ::-1]])
    waiting = list(new)
    while waiting:
        later = []
        for row in waiting:
            around = places[both[both[:, 0] == row, 1]]
            around = around[~np.isnan(around[:, 0])]
            if len(around):
                angle = rng.uniform(0, 2 * np.pi)
                places[row] = around.mean(axis=0) + gap * np.array([np.cos(angle), np.sin(angle)])
            else:
                later.append(row)
        if len(later) == len(waiting):
            places[later] = rng.uniform(-0.5, 0.5, size=(len(later), 2))
            return
        waiting = later


@dataclass
class _Drawing:
    """Figures, of what version of the run they are, when they were made and how long that took."""

    version: str
    data: bytes
    at: float
    took: float

    @property
    def is_fresh(self) -> bool:
        """Whether it is too early to draw again."""
        return time.monotonic() - self.at < max(1.0, self.took / SHARE)


class Watched:
    """A run that somebody looks at, by one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._drawing = threading.Lock()
        self._run: Run | None = None
        self._read_at = 0.0
        self._places = _Places()
        self._whys: dict[int, Why] = {}
        self._drawn: _Drawing | None = None

    def refreshed(self, store: GraphStore, name: str) -> Run:
        """The run with all that is new. It is never refreshed again: others may look at what it knows.

        Raises:
            NoSuchRun: there is none of that name.
        """
        with self._lock:
            record = runs_in(store).get(name)
            # A run that was removed and begun anew has nothing to do with the one before.
            if self._run is None or record.started_at != self._run.record.started_at:
                self._places, self._drawn, self._whys = _Places(), None, {}
                run = Run.open(store, name).through(store)
                run.refresh()
            else:
                run = self._run.through(store)
                # Leases run out, and answers are set on nodes, without a change of the run.
                if version_of(record) != version_of(run.record) or self._is_old():
                    run.refresh()
                    self._read_at = time.monotonic()
            self._run = run
            return run

    def _is_old(self) -> bool:
        return time.monotonic() - self._read_at > OLD_SECONDS

    def why(self, run: Run, key: NodeKey, step: int) -> Why | None:
        """Why a node was chosen that is being measured; None where the model cannot be asked.

        It is worked out when somebody first looks at the node: what was told since then had no part in it.
        """
        found = self._whys.get(step)
        if found is None:
            found = why_of(run, key)
            waiting = {one.step for one in run.pending}
            kept = {old: why for old, why in self._whys.items() if old in waiting}
            self._whys = kept if found is None else {**kept, step: found}
        return found

    def curve(self, store: GraphStore, name: str) -> Curve:
        """The best value so far."""
        run = self.refreshed(store, name)
        best = best_so_far(run.history, maximize=run.record.maximize)
        points = [
            (used, value)
            for used, value in zip(evaluations(run.history), best, strict=True)
            if value is not None
        ]
        if len(points) > CURVE:
            chosen = np.unique(np.linspace(0, len(points) - 1, CURVE).round().astype(int))
            points = [points[row] for row in chosen]
        return Curve(tuple(x for x, _ in points), tuple(y for _, y in points))

    def figures(self, store: GraphStore, name: str) -> bytes:
        """What the page draws, as JSON, with the version of the run that it is of.

        It may be a little old: it is not drawn anew for every value of a run whose values come quickly.
        """
        with self._drawing:
            record = runs_in(store).get(name)
            drawn = self._drawn
            if drawn is not None and (drawn.version == version_of(record) or drawn.is_fresh):
                return drawn.data
            began = time.monotonic()
            run = self.refreshed(store, name)
            version, data = version_of(run.record), _figures(run, self._places)
            text = json.dumps(
                data | {"version": version},
                ensure_ascii=True,
                allow_nan=False,
                separators=(",", ":"),
            ).encode()
            now = time.monotonic()
            self._drawn = _Drawing(version, text, now, now - began)
            return text

    def forget_drawing(self) -> None:
        """Give back what takes most memory."""
        self._drawn = None


class Watching:
    """The runs that people look at, the latest ones only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: OrderedDict[str, Watched] = OrderedDict()

    def of(self, name: str) -> Watched:
        """The run of that name, whether there is one or not."""
        with self._lock:
            found = self._watched.setdefault(name, Watched())
            self._watched.move_to_end(name)
            while len(self._watched) > MOST_RUNS:
                self._watched.popitem(last=False)
            for old in list(self._watched)[:-MOST_DRAWN]:
                self._watched[old].forget_drawing()
            return found


def why_of(run: Run, key: NodeKey) -> Why | None:
    """What is expected of a node, and why; None where nobody can say, as of a strategy of somebody's own.

    Raises:
        StoreUnavailable: the database does not answer.
    """
    try:
        return run.why(key)
    except StoreUnavailable:
        raise
    except GraphboError:
        return None


def _figures(run: Run, places: _Places) -> dict[str, Any]:
    """What the report's page has, and what is needed to point at nodes."""
    belief: Belief | None = None
    drawn: Map | None = None
    why = ""
    try:
        belief = latest_belief(run)
        drawn = map_of(run, belief, places)
    except StoreUnavailable:
        raise
    except (
        GraphboError
    ) as error:  # its edges come from a statement that nobody here has agreed to, or nodes are gone
        why = str(error)
    data = page_data(facts_with(run, belief, drawn))
    for unused in ("command", "configuration", "tiles", "kernel", "region", "next"):
        data.pop(unused, None)
    data["mapless"] = why
    if drawn is not None:
        data["map"]["id"] = [json.dumps(key) for key in drawn.keys]
        left_alone = {one.key for one in run.excluded}
        data["map"]["excluded"] = [row for row, key in enumerate(drawn.keys) if key in left_alone]
    return data
