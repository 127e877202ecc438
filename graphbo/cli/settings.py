"""What a run is started with, as options that ``graphbo run`` and ``graphbo ask`` share.

An option that is not given says nothing: a run that is resumed keeps what it was started with, and only what is given
can contradict it.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self, TypeVar

import click

from graphbo.cli.captions import caption_option
from graphbo.cli.hop import allow_hop
from graphbo.cli.lines import as_line
from graphbo.cli.options import view_options, view_texts
from graphbo.cli.parameter_types import KERNEL_NAME, STRATEGY_NAME
from graphbo.errors import ModelError, NoSuchRun, RunError
from graphbo.runs import Fingerprint, Run, RunSettings
from graphbo.runs.node_names import key_at
from graphbo.runs.records import RunRecord
from graphbo.search.features import AUTO
from graphbo.search.graph import Reveal
from graphbo.search.strategies import Option, create_strategy
from graphbo.stores import GraphStore
from graphbo.types import LARGEST_INTEGER, NodeKey, View
from graphbo.types.text import assignment, plural
from graphbo.types.view_texts import ViewTexts

__all__ = ["Chosen", "default_name", "known_values", "open_run", "settings_options"]

#: More known values than this would slow down every step: each process reads them all.
MOST_KNOWN = 10_000

Command = TypeVar("Command", bound=Callable[..., Any])


def settings_options(command: Command) -> Command:
    """What makes a run: its view, its strategy, where it begins and what it writes."""
    for option in (
        caption_option,
        click.option(
            "--no-labels", is_flag=True, help="Give no labels to the evaluated and the best nodes."
        ),
        click.option(
            "--write-prefix",
            "prefix",
            metavar="PREFIX",
            help="Of the node properties that are written.  [default: the first free one of "
            "graphbo, graphbo2, …]",
        ),
        click.option(
            "--cost",
            metavar="PROPERTY",
            help="Node property with what measuring the node costs, a number above 0.",
        ),
        click.option(
            "--budget-cost",
            type=click.FloatRange(min=0.0, min_open=True),
            metavar="X",
            help="Most that may be spent; needs --cost.  [default: no limit]",
        ),
        click.option(
            "--warm-start",
            metavar="PROPERTY",
            help="Node property with values that are known already; they cost no budget.",
        ),
        click.option(
            "--noise",
            type=click.FloatRange(min=0.0, min_open=True),
            metavar="SD",
            help="Standard deviation of a measurement, where it is known.",
        ),
        click.option(
            "--prior",
            metavar="PROPERTY",
            help="Node property that is somebody's belief about the answer, in any units.",
        ),
        click.option(
            "--features",
            metavar="PROPERTY,…",
            multiple=True,
            help="Node properties that values may depend on: numbers, true or false, texts with few values, lists of "
            "numbers. May be repeated. auto takes those that a sample shows to be fit.",
        ),
        click.option(
            "--reveal",
            type=click.Choice(["ego", "evaluated", "all"]),
            help="What may be used of the graph: ego-networks of evaluated nodes, only their "
            "neighbours, or all of it.  [default: ego with --start, else all]",
        ),
        click.option(
            "--start",
            metavar="KEY",
            multiple=True,
            help="A node to begin with, in a graph that is unknown at first; may be repeated.",
        ),
        click.option(
            "--option",
            metavar="NAME=VALUE",
            multiple=True,
            help="An option of the strategy; may be repeated.",
        ),
        click.option(
            "--kernel",
            type=KERNEL_NAME,
            help="Kernel of the model.  [default: auto]",
        ),
        click.option(
            "--strategy",
            type=STRATEGY_NAME,
            help="What proposes the next node.  [default: bayes]",
        ),
        click.option("--seed", type=click.IntRange(min=0), help="[default: 0]"),
        click.option(
            "--minimize/--maximize",
            "minimize",
            default=None,
            help="Whether small values are wanted, or large ones.  [default: --maximize]",
        ),
        view_options,
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class Chosen:
    """The options of ``settings_options`` that were given; None, or nothing, for those that were not."""

    graph: ViewTexts
    strategy: str | None
    kernel: str | None
    option: tuple[str, ...]
    seed: int | None
    minimize: bool | None
    start: tuple[str, ...]
    reveal: Reveal | None
    noise: float | None
    prefix: str | None
    no_labels: bool
    caption: str | None = None
    features: tuple[str, ...] = ()
    prior: str | None = None
    cost: str | None = None
    budget_cost: float | None = None
    optimum: float | None = None
    hides_degrees: bool = False

    @classmethod
    def from_options(cls, options: dict[str, Any]) -> Self:
        """Take what belongs here out of the options of a command."""
        graph = view_texts(options)
        # The last ones are no options: a task brings them.
        values = {
            field.name: options.pop(field.name) for field in fields(cls) if field.name in options
        }
        return cls(graph, **values)

    @property
    def hop(self) -> str | None:
        """The statement that was given for the edges, as it is kept."""
        return self.graph.hop

    @property
    def names_a_graph(self) -> bool:
        """Whether there is enough to start a run with."""
        return self.graph.names_a_graph

    def view(self, record: RunRecord | None) -> View:
        """The view of a new run, or of one that exists as far as nothing else is given.

        Raises:
            InvalidName, InvalidView: there is no such view.
        """
        return self.graph.view(record.view if record else None)

    def settings(
        self,
        store: GraphStore,
        record: RunRecord | None,
        *,
        objective: str | None,
        budget: int | None,
        fingerprint: Fingerprint | None = None,
    ) -> RunSettings:
        """The settings of a new run, or of one that exists as far as nothing else is given.

        Raises:
            ModelError: the strategy does not take these options.
            NoSuchNode: a start node is not there.
        """
        old = (
            RunSettings(reveal="ego" if self.start else "all")
            if record is None
            else RunSettings.of(record)
        )
        strategy = self.strategy or old.strategy_name
        options = dict(old.options) if strategy == old.strategy_name else {}
        start = self._start(store, record)
        return RunSettings(
            strategy=strategy,
            options=self._hidden(strategy) | options | self._options(strategy),
            seed=old.seed if self.seed is None else self.seed,
            maximize=old.maximize if self.minimize is None else not self.minimize,
            start=start or old.start,
            reveal=self.reveal or old.reveal,
            objective=objective or old.objective,
            fingerprint=fingerprint if objective else old.fingerprint,
            noise=old.noise if self.noise is None else self.noise,
            budget=old.budget if budget is None else budget,
            prefix=self.prefix or old.prefix,
            labelled=old.labelled and not self.no_labels,
            optimum=old.optimum if self.optimum is None else self.optimum,
            caption=self.caption or old.caption,
            cost=self.cost or old.cost,
            budget_cost=old.budget_cost if self.budget_cost is None else self.budget_cost,
        )

    def _start(self, store: GraphStore, record: RunRecord | None) -> tuple[str | int, ...]:
        if not self.start:
            return ()
        view = store.resolve(self.view(record))
        return tuple(key_at(store, view, text) for text in self.start)

    def _hidden(self, strategy: str) -> dict[str, Option]:
        """What the strategy may not use if a task is to be what it says."""
        hides = self.hides_degrees and "degrees" in create_strategy(strategy).options
        return {"degrees": False} if hides else {}

    def _options(self, strategy: str) -> dict[str, Option]:
        """The strategy's options, each of the type that its default has."""
        known = create_strategy(strategy).options
        given = dict(_pair(text) for text in self.option)
        chosen = {name: _typed(strategy, name, text, known) for name, text in given.items()}
        if self.kernel is not None:
            chosen["kernel"] = self.kernel
        if self.features:
            names = _names(",".join(self.features))
            chosen["features"] = AUTO if names == [AUTO] else names
        if self.prior:
            chosen["prior"] = self.prior
        for name in ("features", "prior"):
            if name in chosen and name not in known:
                raise ModelError(
                    f"the strategy {strategy} has no model of features: leave out --{name}"
                )
        return chosen


def _names(text: str) -> list[str]:
    """Names with commas between them."""
    return [name for part in text.split(",") if (name := part.strip())]


def _pair(text: str) -> tuple[str, str]:
    try:
        return assignment(text)
    except ValueError as error:
        raise ModelError(f"--option {error}") from None


def _typed(strategy: str, name: str, text: str, known: Any) -> Option:
    if name not in known:
        create_strategy(strategy, {name: text})  # raises, and says which options there are
    default = known[name]
    if isinstance(default, str):
        return text
    if isinstance(default, list):
        names = _names(text)
        return AUTO if names == [AUTO] else names
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if not _is_like(value, default) or not abs(value) <= LARGEST_INTEGER:
        raise ModelError(f"{name} is {text[:60]!a}: expected {_kind(default)}")
    found: bool | int | float = value
    return found


def _is_like(value: object, default: Option) -> bool:
    """Whether a value is of the kind of an option's default; None stands for a number that is not known."""
    if isinstance(value, bool) or isinstance(default, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    return isinstance(value, int if isinstance(default, int) else (int, float))


def _kind(default: Option) -> str:
    if isinstance(default, bool):
        return "true or false"
    return "an integer" if isinstance(default, int) else "a number"


def default_name(view: View, objective: str) -> str:
    """The name of a run that was given none: the same for the same candidates and objective.

    ``Station`` and ``python:delays:measure`` give ``station-delays-measure``.
    """
    kind, _, rest = objective.partition(":")
    if kind in ("cypher", "command"):
        # The program or the file, without its folder, its ending and its arguments.
        rest = re.split(r"[\\/]", rest.split()[0] if kind == "command" else rest)[-1]
        rest = rest.rpartition(".")[0] or rest
    text = "-".join((*view.candidate_labels, rest))
    name = re.sub(r"[^\w]+", "-", text).strip("-_").lower()
    if not name:
        raise RunError("the label and the objective give no name for the run: add --name NAME")
    return name[:80]


def open_run(
    store: GraphStore,
    name: str,
    record: RunRecord | None,
    chosen: Chosen,
    *,
    objective: str | None,
    budget: int | None,
    warm_start: str | None,
    fingerprint: Fingerprint | None = None,
    trust: bool = False,
) -> Run:
    """Go on with a run that was just read, or start it, and tell it the known values.

    Raises:
        NoSuchRun: there is none, and too little is given to start one.
        RunMismatch: it was started with other options.
    """
    if record is None and not chosen.names_a_graph:
        raise NoSuchRun(
            f"there is no run {ascii(name)[:80]} in this database: add --label and --rel (or --path) to start it, "
            "or look for its name with `graphbo runs`"
        )
    allow_hop(store, record, chosen.hop, trust=trust)
    view = chosen.view(record)
    settings = chosen.settings(
        store, record, objective=objective, budget=budget, fingerprint=fingerprint
    )
    # Read before anything is written: a value that is no number must not leave a run behind.
    known = known_values(store, view, warm_start) if warm_start else {}
    run = (
        Run.open_or_create(store, view, name, settings)
        if record is None
        else Run.resume(store, record, view, settings)
    )
    if run.usable is not None and (chosen.features or chosen.prior):
        click.echo(as_line(str(run.usable)), err=True)
    if known:
        count = run.tell_known(known)
        click.echo(f"{plural(len(known), 'known value')} ({count:,} new to the run)", err=True)
    return run


def known_values(store: GraphStore, view: View, name: str) -> dict[NodeKey, float]:
    """The values in a node property.

    Raises:
        RunError: there is none, there are too many, or one is not a number.
    """
    found = store.nodes_with_property(store.resolve(view), name, MOST_KNOWN + 1)
    if not found:
        raise RunError(f"no node of {view} has a property {name!r} to start from")
    if len(found) > MOST_KNOWN:
        raise RunError(
            f"more than {MOST_KNOWN:,} nodes have the property {name!r}: --warm-start is for values that are few"
        )
    for key, value in found.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise RunError(
                f"{name!r} of the node {key!r} is {str(value)[:60]!r}: expected a number"
            )
        if not math.isfinite(value):
            raise RunError(f"{name!r} of the node {key!r} is {value}: expected a finite number")
    return {key: float(value) for key, value in found.items()}  # type: ignore[arg-type]  # checked above
