"""What proposes the next node to measure.

::

    base    what a strategy is
    situation  what it is given, from step to step
    bayes   the default: expected improvement on two ego-networks
    scouts  nodes from anywhere, judged by what is known of them
    known_nodes  what is known of nodes: the scales of features, and those of what was measured
    paper   the published algorithm
    random, local, traversal  what they have to beat
    model   from observations to what is believed of nodes
    folded_history  a history, as strategies ask about it
    answer  which node is the best when measurements are noisy
"""

from collections.abc import Callable, Mapping
from typing import Any

from graphbo.errors import ModelError
from graphbo.search.strategies.base import (
    Believing,
    KernelOption,
    Option,
    Purpose,
    Regional,
    Scouting,
    Strategy,
)
from graphbo.search.strategies.folded_history import Folding
from graphbo.search.strategies.local import LocalSearch
from graphbo.search.strategies.random import RandomSearch
from graphbo.search.strategies.situation import Situation, Situations
from graphbo.search.strategies.traversal import BreadthFirstSearch, DepthFirstSearch
from graphbo.types.plugins import Names

__all__ = [
    "DEFAULT_STRATEGY",
    "OPTIONS_SINCE",
    "STRATEGIES",
    "Believing",
    "Folding",
    "KernelOption",
    "Option",
    "Purpose",
    "Regional",
    "Scouting",
    "Situation",
    "Situations",
    "Strategy",
    "create_strategy",
]


def _bayes(**options: Any) -> Strategy:
    # The model takes a second to import, which a list of names need not pay.
    from graphbo.search.strategies.bayes import BayesConfig, BayesStrategy  # noqa: PLC0415

    return BayesStrategy(BayesConfig(**options))


def _paper(**options: Any) -> Strategy:
    from graphbo.search.strategies.paper import PaperConfig, PaperStrategy  # noqa: PLC0415

    return PaperStrategy(PaperConfig(**options))


#: From a name to what makes the strategy from its options. A new strategy is one more entry, or a plugin.
STRATEGIES: Names[Callable[..., Strategy]] = Names(
    "strategies",
    {
        "bayes": _bayes,
        "paper": _paper,
        "random": RandomSearch,
        "local": LocalSearch,
        "bfs": BreadthFirstSearch,
        "dfs": DepthFirstSearch,
    },
)

DEFAULT_STRATEGY = "bayes"

#: What strategies did before they had an option: what a run goes on with that is older than the option.
OPTIONS_SINCE: Mapping[str, Mapping[str, Option]] = {
    "bayes": {"features": [], "prior": "", "scouts": 0}
}


def create_strategy(
    name: str = DEFAULT_STRATEGY, options: Mapping[str, Option] | None = None
) -> Strategy:
    """The strategy of this name, with these options and its defaults for the others.

    Raises:
        ModelError: there is no such strategy, it has no such option, or a value is out of range.
    """
    if name not in STRATEGIES:
        raise ModelError(f"no strategy is called {name!r}: choose from {', '.join(STRATEGIES)}")
    chosen = dict(options or {})
    unknown = chosen.keys() - STRATEGIES[name]().options.keys()
    if unknown:
        known = ", ".join(STRATEGIES[name]().options) or "none at all"
        raise ModelError(
            f"the strategy {name} has no option {', '.join(sorted(unknown))}: it has {known}"
        )
    return STRATEGIES[name](**chosen)
