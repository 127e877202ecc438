"""All that is known of a run, collected once: what reports and plots are made from."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Protocol, TypeAlias

from graphbo.errors import RunError
from graphbo.runs import Best, Run, RunSettings
from graphbo.runs.captions import Captions, labels_of
from graphbo.runs.records import total
from graphbo.runs.why import whys_in
from graphbo.search.strategies import Believing, Option, Strategy
from graphbo.search.strategies.model import Belief
from graphbo.seeing.kernel import LearnedKernel, learned_kernel
from graphbo.seeing.map import Map, map_of
from graphbo.seeing.series import (
    Calibration,
    RegionStep,
    best_so_far,
    calibration,
    evaluations,
    region_steps,
    seconds_between,
)
from graphbo.types import NodeKey, Observation, Pending, View, is_better
from graphbo.types.text import cut

__all__ = [
    "RunFacts",
    "RunLike",
    "Shown",
    "facts_of",
    "facts_of_history",
    "facts_with",
    "latest_belief",
]


def _itself(key: NodeKey) -> object:
    return key


@dataclass(frozen=True, eq=False)
class RunFacts:
    """A run at one moment.

    Attributes:
        name: of the run.
        settings: what it was started with.
        history: every observation, in the order in which they were told.
        best: the answer so far.
        best_properties: of that node.
        state: ``running``, ``finished`` or ``stopped``; empty for a result, whose run is over.
        pending: what was being evaluated.
        excluded: nodes that are left alone.
        view: the graph; None for a result.
        address: of the database, without a secret; empty for a result.
        started_at, taken_at: when the run began and when this was collected, in ISO 8601.
        optimum: the best value there is, where somebody knows it.
        belief: what the latest model makes of its region.
        map: what is drawn of the graph.
        caption: the node property that is shown beside keys.
        captions: of the nodes that are shown, as far as they have one.
        best_why: why the best node was measured, in words; empty where there is nothing to say.
        reasons: in words what speaks for and against each node of the latest model that is not measured.
        best_labels: which of the view's labels the best node has, where there are several.
        outward: what people call a node of this key.
    """

    name: str
    settings: RunSettings
    history: tuple[Observation, ...]
    best: Best | None
    best_properties: Mapping[str, object] = field(default_factory=dict)
    state: str = ""
    pending: tuple[Pending, ...] = ()
    excluded: frozenset[NodeKey] = frozenset()
    view: View | None = None
    address: str = ""
    started_at: str = ""
    taken_at: str = ""
    optimum: float | None = None
    belief: Belief | None = None
    map: Map | None = None
    caption: str | None = None
    captions: Mapping[NodeKey, str] = field(default_factory=dict)
    best_labels: Sequence[str] = ()
    best_why: str = ""
    reasons: Mapping[NodeKey, str] = field(default_factory=dict)
    outward: Callable[[NodeKey], object] = _itself

    def named(self, key: NodeKey, longest: int = 80) -> str:
        """A node, by its key, and its caption where it has one; each part cut where it is too long."""
        caption = self.captions.get(key)
        return cut(str(self.outward(key)), longest) + (
            "" if caption is None else f" ({cut(caption, longest)})"
        )

    def called(self, key: NodeKey, longest: int = 40) -> str:
        """What people call a node: its caption where it has one, and its key where it has none."""
        return cut(str(self.captions.get(key) or self.outward(key)), longest)

    @property
    def maximize(self) -> bool:
        """Whether large values are wanted."""
        return self.settings.maximize

    @cached_property
    def strategy(self) -> Strategy:
        """What proposed the nodes."""
        return self.settings.create_strategy()

    @property
    def options(self) -> Mapping[str, Option]:
        """The options of the strategy, with its defaults."""
        return self.strategy.options

    @property
    def is_open(self) -> bool:
        """Whether the run goes on: more may have been told by now."""
        return self.state == "running"

    @cached_property
    def evaluations(self) -> list[int]:
        """How many had been used when each observation was told."""
        return evaluations(self.history)

    @property
    def used(self) -> int:
        """How many evaluations were used."""
        return self.evaluations[-1] if self.history else 0

    @property
    def spent(self) -> float:
        """What they have cost."""
        return total(*(one.cost or 0.0 for one in self.history))

    @property
    def failed(self) -> int:
        """How many of them gave no value."""
        return sum(one.failed for one in self.history)

    @property
    def warm(self) -> int:
        """How many known values there are."""
        return sum(one.source == "warm" for one in self.history)

    @cached_property
    def best_so_far(self) -> list[float | None]:
        """The best value when each observation was told."""
        return best_so_far(self.history, maximize=self.maximize)

    @property
    def regret(self) -> float | None:
        """How far the best value is from the best there is; None where that is not known."""
        if self.optimum is None or not self.history or self.best_so_far[-1] is None:
            return None
        return self.regret_of(self.best_so_far[-1])

    def regret_of(self, value: float) -> float:
        """How far a value is from the best there is."""
        gap = (self.optimum or 0.0) - value
        return min(max(0.0, gap if self.maximize else -gap), sys.float_info.max)

    @cached_property
    def calibration(self) -> Calibration:
        """Predictions against what came."""
        return calibration(self.history)

    @cached_property
    def region(self) -> tuple[RegionStep, ...]:
        """How the region went."""
        return region_steps(self.history, self.strategy, maximize=self.maximize)

    @cached_property
    def seconds(self) -> list[float | None]:
        """From one result to the next."""
        return seconds_between(self.history, self.started_at)

    @cached_property
    def kernel(self) -> LearnedKernel | None:
        """The kernel of the latest model; None without one."""
        if self.belief is None:
            return None
        return learned_kernel(str(self.options.get("kernel", "")), self.belief)


class Shown(Protocol):
    """What knows its facts itself: searches and results of the Python interface, whose nodes are the user's own."""

    def facts(
        self, *, optimum: float | None = None, graph: bool = True, caption: str | None = None
    ) -> RunFacts:
        """What is known of it; the arguments are those of ``facts_of``."""


#: What can be shown: a run; a search or a result; or what was collected before.
RunLike: TypeAlias = Run | Shown | RunFacts


def facts_of(
    run: RunLike,
    *,
    optimum: float | None = None,
    graph: bool = True,
    caption: str | None = None,
    outward: Callable[[NodeKey], object] | None = None,
) -> RunFacts:
    """Collect what is known of a run, in a handful of questions to its database.

    Args:
        run: what is to be shown.
        optimum: the best value there is, where it is known; a run on a task knows it itself.
        graph: whether the map and the model are wanted.
        caption: the node property to show beside keys, if not the one that the run was started with.
        outward: what whoever runs it calls a node of this key, where that is something else.

    Raises:
        StoreError: the database does not answer.
        RunError: the optimum is worse than a value that was measured without noise.
    """
    if isinstance(run, Run):
        found = _of_run(run, optimum, graph, caption, outward or _itself)
    elif isinstance(run, RunFacts):
        found = run if optimum is None else replace(run, optimum=optimum)
    else:
        found = run.facts(optimum=optimum, graph=graph, caption=caption)
    _refuse_worse(found)
    return found


def facts_of_history(
    name: str,
    settings: RunSettings,
    history: tuple[Observation, ...],
    best: Best | None,
    optimum: float | None = None,
) -> RunFacts:
    """The facts of a history alone, without graph and model."""
    return RunFacts(
        name=name,
        settings=settings,
        history=history,
        best=best,
        taken_at=_now(),
        optimum=_known_optimum(settings, optimum),
    )


def _of_run(
    run: Run,
    optimum: float | None,
    graph: bool,
    caption: str | None,
    outward: Callable[[NodeKey], object],
) -> RunFacts:
    # As the database has it: whoever told a value does not know when that was by the database's clock.
    run = Run.open(run.store, run.name, settings=run.settings)
    run.refresh()
    belief = latest_belief(run) if graph else None
    drawn = map_of(run, belief) if graph else None
    return facts_with(run, belief, drawn, optimum, caption, outward)


def facts_with(
    run: Run,
    belief: Belief | None,
    drawn: Map | None,
    optimum: float | None = None,
    caption: str | None = None,
    outward: Callable[[NodeKey], object] = _itself,
) -> RunFacts:
    """The facts of a run as far as it is known here, with a belief and a map that were made before.

    Raises:
        StoreError: the database does not answer.
    """
    best = run.best()
    caption = caption or run.settings.caption
    captions = Captions(run.store, run.view, caption)
    if drawn is not None:
        for key, properties in zip(drawn.keys, drawn.properties, strict=True):
            captions.take(key, properties)
    shown = [*(one.key for one in run.history), *(one.key for one in run.pending)]
    captions.read(shown)
    facts = RunFacts(
        name=run.name,
        settings=run.settings,
        history=run.history,
        best=best,
        best_properties={} if best is None else run.properties(best.key),
        state=run.record.state,
        pending=run.pending,
        excluded=frozenset(one.key for one in run.excluded),
        view=run.view,
        address=run.store.address,
        started_at=run.record.started_at,
        taken_at=_now(),
        optimum=_known_optimum(run.settings, optimum),
        belief=belief,
        map=drawn,
        caption=caption,
        captions={
            key: text
            for key in (*shown, *(drawn.keys if drawn else ()))
            if (text := captions.of(key)) is not None
        },
        best_labels=labels_of(run.store, run.view, [best.key]).get(best.key, ()) if best else (),
        outward=outward,
    )
    return facts if drawn is None else _with_reasons(facts, run)


def _with_reasons(facts: RunFacts, run: Run) -> RunFacts:
    """The same, and what the model says of why."""
    if facts.best is None or not isinstance(run.strategy, Believing):
        return facts
    best_why = run.why(facts.best.key).text(facts.called)
    if facts.belief is None:
        return replace(facts, best_why=best_why)
    whys = whys_in(facts.belief, facts.history, maximize=facts.maximize)
    return replace(
        facts, best_why=best_why, reasons={why.key: why.reasons(facts.called) for why in whys}
    )


def _known_optimum(settings: RunSettings, given: float | None) -> float | None:
    """The one that was given; else that of the run's task, which noisy measurements cannot be compared with."""
    if given is not None or settings.noise:
        return given
    return settings.optimum


def latest_belief(run: Run) -> Belief | None:
    """What the model says now; between two regions, what it said when it last chose a node."""
    belief = run.belief()
    chosen = [row for row, one in enumerate(run.history) if one.phase == "model"]
    if belief is None and chosen:
        belief = run.belief(told=chosen[-1])
    return belief


def _refuse_worse(facts: RunFacts) -> None:
    """An optimum that was beaten is a mistake, unless noise did it."""
    if facts.optimum is None or facts.settings.noise or not facts.history:
        return
    best = facts.best_so_far[-1]
    if best is not None and is_better(best, facts.optimum, maximize=facts.maximize):
        raise RunError(
            f"the optimum is {facts.optimum:g}, and {best:g} was measured, which is better: "
            "give the best value there is, or leave it out"
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
