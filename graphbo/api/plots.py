"""``search.plot.map()`` and the others: figures of a search."""

from typing import TYPE_CHECKING, Protocol

from graphbo.seeing.run_facts import RunFacts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Plots"]


class _Shown(Protocol):
    """What has facts to draw."""

    def facts(
        self, *, optimum: float | None = None, graph: bool = True, caption: str | None = None
    ) -> RunFacts: ...


class Plots:
    """Figures, each a matplotlib figure of its own that shows itself in a notebook.

    Args:
        shown: what they show.
    """

    def __init__(self, shown: _Shown) -> None:
        self._shown = shown

    def __repr__(self) -> str:
        return "Plots: convergence(), map(), kernel(), region(), calibration()"

    def convergence(self, *, optimum: float | None = None) -> "Figure":
        """The best value so far, and every measurement; see :func:`graphbo.seeing.plots.convergence`."""
        return self._drawn("convergence", optimum)

    def map(self, *, optimum: float | None = None) -> "Figure":
        """The graph around the search; see :func:`graphbo.seeing.plots.search_map`."""
        return self._drawn("map", optimum)

    def kernel(self, *, optimum: float | None = None) -> "Figure":
        """What the model learned; see :func:`graphbo.seeing.plots.kernel`."""
        return self._drawn("kernel", optimum)

    def region(self, *, optimum: float | None = None) -> "Figure":
        """Where the search looked; see :func:`graphbo.seeing.plots.region`."""
        return self._drawn("region", optimum)

    def calibration(self, *, optimum: float | None = None) -> "Figure":
        """What was expected, against what was measured; see :func:`graphbo.seeing.plots.calibration`."""
        return self._drawn("calibration", optimum)

    def _drawn(self, kind: str, optimum: float | None) -> "Figure":
        from graphbo.seeing.plots import PLOTS  # noqa: PLC0415 - matplotlib takes a second

        return PLOTS[kind](self._shown, optimum=optimum)
