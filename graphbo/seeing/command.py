"""The command that does a run again."""

import shlex

from graphbo.errors import ModelError
from graphbo.runs import RunSettings
from graphbo.search.strategies import create_strategy
from graphbo.types import View

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
    words = [part for label in view.labels for part in ("--label", label)]
    words += [part for kind in view.relationships for part in ("--rel", kind)]
    if view.key is not None:
        words += ["--key", view.key]
    if view.weight is not None:
        words += ["--weight", view.weight]
    return words if view.direction == "both" else [*words, "--direction", view.direction]


def _settings(settings: RunSettings) -> list[str]:
    given: dict[str, object] = {
        "--objective": settings.objective,
        "--budget": settings.budget,
        "--seed": settings.seed,
        "--strategy": settings.strategy_name,
        "--noise": settings.noise,
        "--reveal": settings.reveal if settings.start else None,
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
