"""From what somebody asks for to the cells that it takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from graphbo.bench.cells import Cell
from graphbo.bench.methods import METHODS, Method, parse_methods
from graphbo.bench.suites import SUITES, Group
from graphbo.bench.tasks import TASKS, parse_task
from graphbo.bench.tasks.base import Task
from graphbo.bench.tasks.valued import ALL, data_sets_in
from graphbo.errors import BenchError

__all__ = ["Plan", "each_task", "plan"]

#: How many problems of each task, where no suite says.
SEEDS = 10


@dataclass(frozen=True)
class Plan:
    """A comparison.

    Attributes:
        groups: what belongs together; their tasks and methods are specs in full, as results have them.
        seeds: the problems of each task.
        tasks: by their specs.
        cells: all of it.
    """

    groups: tuple[Group, ...]
    seeds: range
    tasks: Mapping[str, Task] = field(repr=False)
    cells: tuple[Cell, ...] = field(repr=False)

    @property
    def methods(self) -> list[str]:
        """The labels of all methods, in their order."""
        return list(dict.fromkeys(cell.method.label for cell in self.cells))


def plan(
    names: Sequence[str],
    *,
    methods: Sequence[str] = (),
    seeds: int | None = None,
    first_seed: int = 0,
    budget: int | None = None,
    data_dir: Path | None = None,
) -> Plan:
    """The comparison that these mean.

    Args:
        names: suites and specs of tasks.
        methods: specs of methods, instead of those of the suites.
        seeds: how many problems of each task, instead of what the first suite says.
        first_seed: the seed of the first problem.
        budget: how many evaluations, instead of what the suites say.
        data_dir: where data sets are.

    Raises:
        BenchError: there is no such method, or nothing to compare.
        TaskError: there is no such suite or task, or a parameter is wrong.
    """
    groups = _groups(names, tuple(methods))
    groups = [replace(group, tasks=each_task(group.tasks, data_dir)) for group in groups]
    if budget is not None:
        groups = [replace(group, budget=budget) for group in groups]
    known = {spec: _task(spec, data_dir) for group in groups for spec in group.tasks}
    parsed = {group: parse_methods(group.methods) for group in groups}
    chosen = seeds if seeds is not None else _seeds(names)
    numbers = range(first_seed, first_seed + chosen)
    full = tuple(
        replace(
            group,
            tasks=tuple(known[spec].spec for spec in group.tasks),
            methods=tuple(method.label for method in parsed[group]),
        )
        for group in groups
    )
    tasks = {task.spec: task for task in known.values()}
    cells = [
        cell
        for group, shown in zip(groups, full, strict=True)
        for cell in _cells(shown, parsed[group], numbers)
    ]
    unique = {(cell.key, cell.method.label): cell for cell in cells}
    return Plan(full, numbers, tasks, tuple(unique.values()))


def _groups(names: Sequence[str], methods: tuple[str, ...]) -> list[Group]:
    single = tuple(name for name in names if name not in SUITES)
    groups = [group for name in names if name in SUITES for group in SUITES[name].groups]
    unknown = [name for name in single if name.partition(":")[0] not in TASKS]
    if unknown:
        raise BenchError(
            f"there is no suite or task {unknown[0]!r}: the suites are {', '.join(SUITES)}, "
            f"the tasks {', '.join(TASKS)}"
        )
    if single:
        groups.append(Group("tasks", single, METHODS["all"]))
    if not groups:
        raise BenchError(f"nothing to compare: name a suite ({', '.join(SUITES)}) or tasks")
    return [replace(group, methods=methods) for group in groups] if methods else groups


def each_task(tasks: Sequence[str], data_dir: Path | None = None) -> tuple[str, ...]:
    """These tasks; in place of one for all data sets, one for each that there is."""
    every = f"data={ALL}"
    return tuple(
        spec.replace(every, f"data={name}")
        for spec in tasks
        for name in (data_sets_in(data_dir) if every in spec else [""])
    )


def _seeds(names: Sequence[str]) -> int:
    return next((SUITES[name].seeds for name in names if name in SUITES), SEEDS)


def _task(spec: str, data_dir: Path | None) -> Task:
    return parse_task(spec, data_dir)


def _cells(group: Group, methods: Sequence[Method], seeds: range) -> list[Cell]:
    return [
        Cell(task, method, seed, group.budget)
        for task in group.tasks
        for seed in seeds
        for method in methods
    ]
