"""One problem of a task, in a database: what its graph is called there, and how far a run is from the optimum."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from graphbo.bench.tasks.base import Problem, Task
from graphbo.bench.tasks.parameters import Parameter, Within
from graphbo.bench.tasks.specs import make_task, split_spec
from graphbo.errors import TaskError
from graphbo.runs.records import RunRecord
from graphbo.stores import GraphStore
from graphbo.types import NodeKey, View

__all__ = ["TRUTH", "VALUE", "Instance", "parse_instance", "regrets_of"]

#: The node property with what a measurement gives.
VALUE: Final = "value"
#: The node property with the value without noise, where there is noise.
TRUTH: Final = "truth"

_SEED: Final = Parameter("seed", "which problem", 0, number=int, within=Within(0))


@dataclass(frozen=True)
class Instance:
    """The problem of a task and a seed."""

    task: Task
    seed: int

    @property
    def spec(self) -> str:
        """How to name it on the command line: the task's spec, and the seed."""
        joint = "," if ":" in self.task.spec else ":"
        return f"{self.task.spec}{joint}seed={self.seed}"

    @property
    def names(self) -> tuple[str, str]:
        """The label of its nodes and the type of its edges in a database that holds many, each its own."""
        label = re.sub(r"\W+", "_", f"Task_{self.spec}", flags=re.ASCII)
        return label, f"{label}_LINK".upper()

    @property
    def view(self) -> View:
        """Its graph, in a database that holds many."""
        return self.task.view(*self.names)

    @property
    def own_view(self) -> View:
        """Its candidates, and the edges between them: what is loaded before anything that connects them otherwise."""
        label, relationship = self.names
        return View((label,), (relationship,), key="id")

    def problem(self) -> Problem:
        """The graph and the values.

        Raises:
            TaskError: a data set that it needs is not there.
        """
        return self.task.problem(self.seed)


def parse_instance(spec: str, data_dir: Path | None = None, seed: int = 0) -> Instance:
    """The problem that ``spec`` names, like ``centrality:n=500,seed=3``.

    Args:
        spec: as for ``parse_task``, with the seed as one more parameter.
        data_dir: where the data sets are; without it, where ``GRAPHBO_DATA`` says.
        seed: the seed where the spec has none.

    Raises:
        TaskError: there is no such task or parameter, or a parameter may not have that value.
    """
    name, given = split_spec(spec)
    text = given.pop("seed", str(seed))
    try:
        chosen = _SEED.parse(text)
    except TaskError as error:
        raise TaskError(f"{name}: {error}") from None
    return Instance(make_task(name, given, data_dir), int(chosen))


def regrets_of(store: GraphStore, record: RunRecord, keys: Sequence[NodeKey]) -> list[float] | None:
    """How much each of these nodes is worth less than the best there is, without noise.

    Returns:
        Numbers from 0 on; None if it is not known how good the best node is.

    Raises:
        NoSuchNode: a node is not there any more.
    """
    optimum = record.config.get("optimum")
    if optimum is None:
        return None
    found = store.properties(record.view, list(keys))
    regrets = []
    for key in keys:
        worth = found[key].get(TRUTH, found[key].get(VALUE))
        if not isinstance(worth, int | float):
            return None
        # Never negative: another machine may round the values and the optimum in different ways.
        regrets.append(max(0.0, optimum - worth))
    return regrets
