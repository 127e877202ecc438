"""The command that does a run again."""

import shlex

from graphbo.errors import ModelError
from graphbo.runs import RunSettings
from graphbo.search.strategies import create_strategy
from graphbo.types import View
from graphbo.types.view import DEFAULT_HUB_LIMIT
from graphbo.types.view_texts import label_text, relationship_text

__all__ = ["command_of"]


def command_of(name: str, view: View, settings: RunSettings, address: str = "") -> str:
    """A command that starts a run like this one, ready to be pasted, without any secret in it.

    A run whose values were told by hand begins with ``graphbo ask``.
    """
    by_hand = settings.objective is None
    words = ["graphbo", "ask", name] if by_hand else ["graphbo", "run", "--name", name]
    if address:
        words += ["--uri", address]
    words += [*_view(view), *_settings(settings)]
    return shlex.join(words)


def _view(view: View) -> list[str]:
    factors = dict(view.factors)
    types = [relationship_text(kind, factors.get(kind, 1.0)) for kind in view.relationships]
    several = {
        "--label": map(label_text, view.labels),
        "--rel": types,
        "--candidates": map(label_text, view.candidates),
        "--path": map(str, view.paths),
    }
    words = [part for option, values in several.items() for one in values for part in (option, one)]
    given: dict[str, object] = {
        # The database has the text of it, and no name.
        "--hop": None if view.hop is None else "HOP.cypher",
        "--where": view.where,
        "--candidates-where": view.candidates_where,
        "--key": view.key,
        "--weight": view.weight,
        "--weight-as": None if view.weight_as == "similarity" else view.weight_as,
        "--default-weight": view.default_weight,
        "--hub-limit": None if view.hub_limit == DEFAULT_HUB_LIMIT else view.hub_limit,
        "--direction": None if view.direction == "both" else view.direction,
    }
    return words + [
        part for option, one in given.items() if one is not None for part in (option, str(one))
    ]


def _settings(settings: RunSettings) -> list[str]:
    given: dict[str, object] = {
        "--objective": settings.objective,
        "--budget": settings.budget,
        "--cost": settings.cost,
        "--budget-cost": settings.budget_cost,
        "--seed": settings.seed,
        "--strategy": settings.strategy_name,
        "--noise": settings.noise,
        "--reveal": settings.reveal if settings.start else None,
        "--caption": settings.caption,
    }
    words = [
        part for name, value in given.items() if value is not None for part in (name, str(value))
    ]
    words += [part for key in settings.start for part in ("--start", str(key))]
    words += [
        part
        for name, value in _chosen(settings).items()
        for part in ("--option", f"{name}={value}")
    ]
    return words if settings.maximize else [*words, "--minimize"]


def _chosen(settings: RunSettings) -> dict[str, object]:
    """The strategy's options that are not its defaults; the noise is an option of the run."""
    try:
        defaults = create_strategy(settings.strategy_name).options
    except ModelError:  # somebody's own, whose defaults nobody else knows
        defaults = {}
    return {
        name: value
        for name, value in settings.create_strategy().options.items()
        if name != "noise" and value is not None and value != defaults.get(name)
    }
