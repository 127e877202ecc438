"""What a search found."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphbo.api.plots import Plots
from graphbo.errors import GraphboError
from graphbo.runs import Best, RunSettings
from graphbo.runs.card import card
from graphbo.seeing.run_facts import RunFacts, facts_of_history
from graphbo.types import Observation
from graphbo.types.text import number, plural

if TYPE_CHECKING:
    import pandas as pd

    from graphbo.api.search import Search

__all__ = ["Result", "table_of"]

_COLUMNS = (
    "step",
    "seq",
    "key",
    "value",
    "mean",
    "std",
    "acquisition",
    "restart",
    "phase",
    "source",
    "error",
)


@dataclass(frozen=True)
class Result:
    """What a run found.

    Attributes:
        name: of the run, under which the database has it.
        best: the best node, its value and the step at which it was measured; None if nothing was measured.
        history: every observation, in the order in which they were told. Failed ones have an error and no value.
        maximize: whether large values were wanted.
        ending: why it ended.
        revealed: how many nodes of the graph were looked at.
        search: what it came from, to go on with and to draw; None for a result that was pickled.
    """

    name: str
    best: Best | None
    history: tuple[Observation, ...]
    maximize: bool
    ending: str = ""
    revealed: int = 0
    settings: RunSettings = field(default_factory=RunSettings, repr=False)
    search: "Search | None" = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"Result({self.name!r}, {summary(self.history, self.best)}, ended by {self.ending})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        ending = f", ended by {self.ending}" if self.ending else ""
        count = sum(one.source == "run" for one in self.history)
        return card(
            f"Result {self.name}",
            self.history,
            maximize=self.maximize,
            best=None if self.best is None else (self.best.key, self.best.value, self.best.step),
            note=f"{plural(count, 'evaluation')}{ending}",
        )

    def __getstate__(self) -> dict[str, Any]:
        # A connection stays where it is.
        return {**self.__dict__, "search": None}

    def to_dataframe(self) -> "pd.DataFrame":
        """The history as a table, with the best value so far.

        Raises:
            GraphboError: pandas is not installed.
        """
        return table_of(self.history, maximize=self.maximize)

    @property
    def plot(self) -> Plots:
        """Figures, as in ``plot.map()`` and ``plot.convergence()``."""
        return Plots(self)

    def facts(
        self, *, optimum: float | None = None, graph: bool = True, caption: str | None = None
    ) -> RunFacts:
        """What reports and plots are made from; see :func:`graphbo.seeing.facts_of`."""
        search = self.search
        if graph and search is not None and search.is_open and search.history == self.history:
            return search.facts(optimum=optimum, caption=caption)
        return facts_of_history(self.name, self.settings, self.history, self.best, optimum)


def summary(history: Sequence[Observation], best: Best | None) -> str:
    """How far a search is, in a few words."""
    count = plural(sum(one.source == "run" for one in history), "evaluation")
    if best is None:
        return f"{count}, no value yet"
    return f"{count}, best {best.key!r} with {number(best.value)}"


def table_of(history: Sequence[Observation], *, maximize: bool) -> "pd.DataFrame":
    """A history as a table, with the best value so far.

    Raises:
        GraphboError: pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415 - an extra
    except ImportError:
        raise GraphboError("to_dataframe needs pandas: pip install 'graphbo[pandas]'") from None
    # A column that is empty in most searches is left out of them.
    costs = ["cost"] if any(one.cost is not None for one in history) else []
    columns = [*_COLUMNS, *costs]
    frame = pd.DataFrame(
        [{name: getattr(one, name) for name in columns} for one in history], columns=columns
    )
    values = frame["value"].astype(float)
    frame["best"] = values.cummax() if maximize else values.cummin()
    frame["best"] = frame["best"].ffill()
    return frame
