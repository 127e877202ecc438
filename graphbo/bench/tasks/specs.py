"""Tasks by name: ``centrality:graph=ws,n=2000,p=0.2``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from graphbo.bench.tasks.base import Task
from graphbo.bench.tasks.centrality import Centrality
from graphbo.bench.tasks.grid import Grid
from graphbo.bench.tasks.influence import Influence
from graphbo.bench.tasks.machines import Machines
from graphbo.bench.tasks.papers import Papers
from graphbo.bench.tasks.patient_zero import PatientZero
from graphbo.bench.tasks.teams import Teams
from graphbo.bench.tasks.valued import Valued
from graphbo.bench.tasks.visits import Visits
from graphbo.errors import TaskError
from graphbo.types.plugins import Names, Plugin
from graphbo.types.text import assignments

__all__ = ["TASKS", "make_task", "parse_task", "split_spec"]


def _of_plugin(plugin: Plugin) -> type[Task]:
    task = plugin.load()
    if not (isinstance(task, type) and issubclass(task, Task) and task.name == plugin.name):
        raise TaskError(f"{plugin} is no class of tasks with the name {plugin.name!r}")
    return task


_OWN: Final[dict[str, type[Task]]] = {
    task.name: task
    for task in (
        Centrality,
        Grid,
        PatientZero,
        Influence,
        Teams,
        Machines,
        Visits,
        Papers,
        Valued,
    )
}
#: By name. A new task is one more entry, or a plugin.
TASKS: Final = Names("tasks", _OWN, _of_plugin)


def parse_task(spec: str, data_dir: Path | None = None) -> Task:
    """The task that ``spec`` names.

    Args:
        spec: ``NAME`` or ``NAME:PARAMETER=VALUE,…``.
        data_dir: where the data sets are; without it, where ``GRAPHBO_DATA`` says.

    Raises:
        TaskError: there is no such task or parameter, or a parameter may not have that value.
    """
    return make_task(*split_spec(spec), data_dir)


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """The name and the parameters, as text.

    Raises:
        TaskError: there is no such task, a part is no ``NAME=VALUE``, or a parameter is there twice.
    """
    name, _, rest = spec.partition(":")
    if name not in TASKS:
        raise TaskError(f"there is no task {name[:60]!r}: expected one of {', '.join(TASKS)}")
    try:
        return name, assignments(rest)
    except ValueError as error:
        raise TaskError(f"{name}: {error}") from None


def make_task(name: str, given: Mapping[str, str], data_dir: Path | None = None) -> Task:
    """The task of that name with these parameters, as text.

    Raises:
        TaskError: there is no such parameter, or it may not have that value.
    """
    kind = TASKS[name]
    known = kind.parameters()
    values: dict[str, Any] = {}
    for parameter, text in given.items():
        if parameter not in known:
            expected = ", ".join(known)
            raise TaskError(f"{name}: there is no {parameter[:60]!r}: expected one of {expected}")
        try:
            values[parameter] = known[parameter].parse(text)
        except TaskError as error:
            raise TaskError(f"{name}: {error}") from None
    if "data_dir" in kind.__dataclass_fields__:
        values["data_dir"] = data_dir
    return kind(**values)
