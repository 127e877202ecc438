"""What a run is started with, and whether it may be resumed with something else."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from graphbo import __version__
from graphbo.errors import InvalidName, Remedy, RunDamaged, RunError, RunMismatch
from graphbo.runs.encoding import is_amount, is_count, schema_of, view_properties
from graphbo.runs.fingerprint import Fingerprint
from graphbo.runs.records import SCHEMA, RunRecord
from graphbo.search.features import AUTO
from graphbo.search.graph import Reveal
from graphbo.search.strategies import OPTIONS_SINCE, Strategy, create_strategy
from graphbo.search.strategies.base import LARGEST_NOISE
from graphbo.types import LARGEST_INTEGER, NodeKey, View, check_name
from graphbo.types.text import cut

__all__ = ["RunSettings", "as_begun", "refuse_difference"]

#: A run is called by its name: more than this nobody types.
LONGEST_NAME = 200


@dataclass(frozen=True)
class RunSettings:
    """What a run is started with. All of it is kept in the database; resuming with anything else is refused.

    Attributes:
        strategy: what proposes nodes, by its name in ``graphbo.search.strategies``, or one of your own. Of that the
            database has its name and its options; whoever resumes the run gives it again.
        options: of the strategy that has the name.
        seed: of every random choice.
        maximize: whether large values are wanted.
        start: the nodes to begin with, in an unknown graph.
        reveal: how much of the graph may be used.
        objective: what is measured, for people and for resuming.
        fingerprint: of what was taken out of the objective's name, such as the query of an address; None if nothing
            was. With it, the objective cannot be made of its name.
        noise: the standard deviation of a measurement, where it is known. Strategies that model it are told.
        budget: how many evaluations; may be changed later.
        prefix: of the node properties that are written; one is found without it. May be changed later.
        labelled: whether observed and best nodes get labels.
        optimum: how good the best node is, where it is known; nothing but the report of regret depends on it.
        cost: the node property with what a measurement costs, where that counts.
        budget_cost: how much may be spent in all; may be changed later.
        caption: the node property that people know nodes by: it is shown beside the key, and nothing depends on it.

    Raises:
        RunError: a number is out of range, or options are given to a strategy that has its own.
    """

    strategy: str | Strategy = "bayes"
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    maximize: bool = True
    start: tuple[NodeKey, ...] = ()
    reveal: Reveal = "all"
    objective: str | None = None
    fingerprint: Fingerprint | None = None
    noise: float | None = None
    budget: int | None = None
    prefix: str = ""
    labelled: bool = True
    optimum: float | None = None
    caption: str | None = None
    cost: str | None = None
    budget_cost: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.strategy, str) and self.options:
            raise RunError(
                f"the strategy {self.strategy.name!r} is given as an object, which has its options: "
                f"make it with {', '.join(self.options)}, or name it"
            )
        if not isinstance(self.maximize, bool):
            raise RunError(f"maximize is {cut(repr(self.maximize), 60)}: expected True or False")
        if self.caption is not None:
            check_name(self.caption, "caption property")
        for what, count in {"seed": self.seed, "budget": self.budget}.items():
            if count is not None and (not is_count(count) or count > LARGEST_INTEGER):
                raise RunError(
                    f"the {what} is {cut(repr(count), 60)}: expected a whole number from 0 to {LARGEST_INTEGER}"
                )
        self._check_costs()
        if self.noise is not None and not 0 <= self.noise <= LARGEST_NOISE:
            raise RunError(
                f"the noise is {self.noise:g}: expected a number from 0 to {LARGEST_NOISE:g}"
            )

    def _check_costs(self) -> None:
        if self.cost is not None:
            check_name(self.cost, "cost property")
        if self.budget_cost is None:
            return
        if not is_amount(self.budget_cost) or not self.budget_cost > 0:
            raise RunError(
                f"the budget is a cost of {cut(repr(self.budget_cost), 60)}: expected a number above 0"
            )
        if self.cost is None:
            raise RunError(
                f"the budget is a cost of {self.budget_cost:g}, and nothing says what a measurement costs",
                Remedy.NAME_COST,
            )

    @property
    def config(self) -> dict[str, Any]:
        """What has no property of its own on the run."""
        config = {
            "strategy": self.strategy_name,
            "options": dict(self.create_strategy().options),
            "start": list(self.start),
            "reveal": self.reveal,
            "objective": self.objective,
            "noise": self.noise,
            "optimum": self.optimum,
        }
        if self.fingerprint is not None:
            config["fingerprint"] = self.fingerprint.text
        if self.cost is not None:
            config["cost"] = self.cost
        if self.caption is not None:
            config["caption"] = self.caption
        return config

    @property
    def strategy_name(self) -> str:
        """What the strategy is called."""
        return self.strategy if isinstance(self.strategy, str) else self.strategy.name

    def create_strategy(self) -> Strategy:
        """The strategy, with its options; the noise is one of them where there is a model.

        Raises:
            ModelError: there is no such strategy, it has no such option, or a value is out of range.
        """
        if not isinstance(self.strategy, str):
            return self.strategy
        options = dict(self.options)
        if options.get("noise") is None and "noise" in create_strategy(self.strategy).options:
            options["noise"] = self.noise
        return create_strategy(self.strategy, options)

    def record(self, name: str, view: View) -> RunRecord:
        """A new run with these settings.

        Raises:
            InvalidName: nobody could type the name.
        """
        if not name.isprintable() or len(name) > LONGEST_NAME:
            raise InvalidName(
                f"the run name {name[:60]!a} cannot be typed: use at most {LONGEST_NAME} letters, digits and signs"
            )
        return RunRecord(
            name=name,
            maximize=self.maximize,
            view=view,
            config=self.config,
            seed=self.seed,
            prefix=self.prefix,
            labelled=self.labelled,
            budget=self.budget,
            budget_cost=None if self.budget_cost is None else float(self.budget_cost),
            schema=schema_of(view) if self.cost is None else SCHEMA,
        )

    @classmethod
    def of(cls, record: RunRecord, given: "RunSettings | None" = None) -> "RunSettings":
        """The settings that a run was started with.

        Args:
            record: as the database has it.
            given: the same settings as they were given: the database has no more than the names of a strategy or a
                kernel of one's own.

        Raises:
            RunDamaged: it has settings that this graphbo does not know.
        """
        config = dict(record.config)
        text = config.pop("fingerprint", None)
        unknown = sorted(config.keys() - {field.name for field in fields(cls)})
        if unknown:
            by = f"graphbo {record.written_by} started it" if record.written_by else "another did"
            raise RunDamaged(
                f"the run {record.name!r} has the setting {unknown[0]!r}, which graphbo {__version__} does not know: "
                f"{by}; use that version, or a newer one"
            )
        # A run has all options of its strategy: those that it has not are newer than it is.
        before = OPTIONS_SINCE.get(str(config.get("strategy")), {})
        known = {**before, **config.get("options", {})}
        found = cls(
            **config | {"start": tuple(config.get("start", ())), "options": known},
            fingerprint=Fingerprint(str(text)) if text else None,
            seed=record.seed,
            maximize=record.maximize,
            budget=record.budget,
            budget_cost=record.budget_cost,
            prefix=record.prefix,
            labelled=record.labelled,
        )
        if given is None:
            return found
        if not isinstance(given.strategy, str):
            return replace(found, strategy=given.strategy, options={})
        return replace(found, options={**found.options, **given.options})


def as_begun(record: RunRecord, settings: RunSettings) -> RunSettings:
    """The settings for going on with a run: ``auto`` means the features that it began with."""
    if settings.options.get("features") != AUTO:
        return settings
    begun = RunSettings.of(record).options.get("features", [])
    return replace(settings, options={**settings.options, "features": begun})


def _differences(before: View, now: View) -> dict[str, tuple[object, object]]:
    """In what two views differ: how they read, and what else there is to them. Statements are too long for a line."""
    old, new = view_properties(before), view_properties(now)
    differing = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    found: dict[str, tuple[object, object]] = {}
    if str(before) != str(now):
        found["view"] = (str(before), str(now))
        # What is read in the view needs not be said again.
        differing &= _UNREAD
    return found | {
        _CALLED.get(name, name.replace("_", " ")): (getattr(before, name), getattr(now, name))
        for name in sorted(differing - {"hop"})
    }


#: What else of a run has these names.
_CALLED = {"labels": "node labels", "direction": "direction of edges"}
#: The parts of a view that cannot be read in it.
_UNREAD = {"hub_limit", "default_weight", "factors", "weight_as"}


def refuse_difference(record: RunRecord, view: View, settings: RunSettings) -> None:
    """Check that a run can be resumed with these settings.

    Raises:
        RunMismatch: it was started with others.
    """
    before, settings = RunSettings.of(record), as_begun(record, settings)
    pairs: dict[str, tuple[object, object]] = {
        **_differences(record.view, view),
        "direction": (
            "maximize" if before.maximize else "minimize",
            "maximize" if settings.maximize else "minimize",
        ),
        "seed": (before.seed, settings.seed),
        "labels": (before.labelled, settings.labelled),
        "cost": (before.cost, settings.cost),
    }
    new = settings.config
    for name, value in record.config.items():
        if name == "options":
            # Another strategy has other options, which would only hide that.
            if before.strategy == settings.strategy_name:
                pairs |= {
                    option: (old, new[name].get(option)) for option, old in before.options.items()
                }
        # The optimum follows from the view, but for its last digits; fingerprints have their own way to be compared;
        # a caption may be another one each time.
        elif name in ("optimum", "fingerprint", "caption", "cost"):
            continue
        # A run that was begun by hand has no objective, and may get one.
        elif name != "objective" or None not in (value, new[name]):
            pairs[name] = (value, new[name])
    different = [
        f"{name} was {old!r}, not {now!r}" for name, (old, now) in pairs.items() if old != now
    ]
    if record.view.hop != view.hop and None not in (record.view.hop, view.hop):
        different.append("the statement for the edges was another one")
    if before.objective == settings.objective and not _same_hidden(before, settings):
        different.append("the objective's query or user name was another one")
    if different:
        raise RunMismatch(
            f"the run {record.name!r} was started with other options ({'; '.join(different)})",
            Remedy.REPEAT_OPTIONS,
        )


def _same_hidden(before: RunSettings, now: RunSettings) -> bool:
    """Whether what the objectives' names do not show is the same, too. Runs of older versions do not know."""
    if before.fingerprint is None:
        return True
    return now.fingerprint is not None and now.fingerprint.matches(before.fingerprint)
