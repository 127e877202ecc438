"""Tasks as graphs: ``task:centrality:graph=ba,n=1000,seed=3``. Every node has its value as a property."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from graphbo.bench.tasks import Problem, parse_instance
from graphbo.bench.tasks.instances import TRUTH, VALUE
from graphbo.errors import Remedy, SourceError, TaskError
from graphbo.loading.base import NO_PROPERTIES, EdgeRecord, NodeRecord, OnRead, Reading, Survey
from graphbo.types import Property

__all__ = ["SCHEME", "ProblemSource", "open_task"]

SCHEME: Final = "task"

#: How many rows of an array become Python's own numbers at a time.
_ROWS: Final = 10_000


class ProblemSource:
    """The graph of a problem. What a measurement gives is the property ``value`` of each node.

    Where measurements are noisy, the property ``truth`` has the value without the noise.

    Args:
        name: what to call it in messages.
        build: makes the problem when it is first needed.
        key: the node property that will hold the ids.
    """

    def __init__(self, name: str, build: Callable[[], Problem], key: str | None = None) -> None:
        self.name = name
        self._build = build
        self._key = key
        self._problem: Problem | None = None

    @property
    def problem(self) -> Problem:
        """The problem, made once.

        Raises:
            SourceError: a data set that it needs is not there.
        """
        if self._problem is None:
            try:
                self._problem = self._build()
            except TaskError as error:
                raise SourceError(error.problem, error.remedy, **error.facts) from None
        return self._problem

    def survey(self, progress: OnRead | None = None) -> Survey:
        """Make the problem and count.

        Raises:
            SourceError: a data set is not there, or a property has the name of the key.
        """
        problem = self.problem
        if self._key in self._columns():
            raise SourceError(
                f"{self.name}: its nodes have a property {self._key!r}, which cannot be the key as well",
                Remedy.RENAME_KEY,
            )
        if progress is not None:
            progress(1, 1)
        return Survey(
            nodes=problem.n, edges=len(problem.edges), edge_properties=False, directed=False
        )

    def nodes(self) -> Iterator[NodeRecord]:
        """The nodes, by their numbers."""
        columns = self._columns()
        for number, row in enumerate(zip(*columns.values(), strict=True)):
            found = dict(zip(columns, row, strict=True))
            yield number, {name: value for name, value in found.items() if value is not None}

    def edges(self) -> Iterator[EdgeRecord]:
        """The edges, none of which has properties."""
        edges = self.problem.edges
        for first in range(0, len(edges), _ROWS):
            for a, b in edges[first : first + _ROWS].tolist():
                yield a, b, NO_PROPERTIES

    def _columns(self) -> Mapping[str, Sequence[Property | None]]:
        problem = self.problem
        values: dict[str, Sequence[Property | None]] = {VALUE: problem.noisy.tolist()}
        if problem.errors is not None:
            values[TRUTH] = problem.values.tolist()
        return {**problem.properties, **values}


def open_task(spec: str, reading: Reading) -> ProblemSource:
    """The source for a spec such as ``task:grid:side=20,seed=1``.

    Raises:
        SourceError: an unknown task, or a wrong parameter; or a weight, which no task has.
    """
    try:
        instance = parse_instance(spec.partition(":")[2], reading.data_dir)
    except TaskError as error:
        raise SourceError(str(error), Remedy.LOOK_AT_TASKS) from None
    if not instance.view.relationships or instance.view.has_connectors:
        raise SourceError(
            f"{spec}: its nodes hang together through others, which are not loaded from here",
            Remedy.RUN_TASK,
            task=instance.spec,
        )
    if reading.weight is not None:
        raise SourceError(
            f"{spec}: its edges have no weight", Remedy.LEAVE_OUT_WEIGHT, weight=reading.weight
        )
    return ProblemSource(spec, instance.problem, reading.key)
