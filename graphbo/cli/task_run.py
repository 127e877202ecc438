"""``graphbo run --task``: a run on a problem whose best node is known."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from graphbo.bench.tasks import Instance, parse_instance
from graphbo.bench.tasks.connected import write_connectors
from graphbo.bench.tasks.instances import VALUE
from graphbo.cli.load import load_progress
from graphbo.cli.options import print_json
from graphbo.cli.settings import Chosen
from graphbo.errors import RunMismatch
from graphbo.loading.load import load
from graphbo.loading.tasks import SCHEME, ProblemSource
from graphbo.runs.records import RunRecord
from graphbo.search.features import AUTO, scale_of
from graphbo.stores import GraphStore
from graphbo.types.text import plural
from graphbo.types.view_texts import ViewTexts

__all__ = ["TaskRun", "task_of"]

#: A task brings these itself.
_OWN = {
    "labels": "--label",
    "relationships": "--rel",
    "candidates": "--candidates",
    "paths": "--path",
    "hop": "--hop",
    "where": "--where",
    "candidates_where": "--candidates-where",
    "key": "--key",
    "weight": "--weight",
    "weight_as": "--weight-as",
    "default_weight": "--default-weight",
    "hub_limit": "--hub-limit",
    "direction": "--direction",
}


@dataclass(frozen=True)
class TaskRun:
    """A problem that was made, and a run on it."""

    instance: Instance
    source: ProblemSource

    @property
    def name(self) -> str:
        """The name of a run that was given none."""
        return re.sub(r"\W+", "-", self.instance.spec).lower()

    @property
    def objective(self) -> str:
        """The value is at the nodes."""
        return f"property:{VALUE}"

    def chosen(self, chosen: Chosen) -> Chosen:
        """The options of the run, with what the task brings."""
        view, problem = self.instance.view, self.source.problem
        return replace(
            chosen,
            graph=ViewTexts(
                view.labels,
                dict.fromkeys(view.relationships, 1.0),
                key=view.key,
                candidates=view.candidates,
                paths=tuple(map(str, view.paths)),
            ),
            noise=chosen.noise or problem.noise or None,
            features=self._features(chosen),
            hides_degrees=problem.hides_degrees,
            optimum=problem.optimum,
        )

    def _features(self, chosen: Chosen) -> tuple[str, ...]:
        """What is known of nodes: not the value without noise, which the graph has as well."""
        if chosen.features != (AUTO,):
            return chosen.features
        known = self.source.problem.properties.items()
        fit = [name for name, column in known if not isinstance(scale_of(column), str)]
        return tuple(name for name in fit if name != chosen.prior)

    def is_loaded(self, store: GraphStore) -> bool:
        """Whether the database has all of the graph."""
        view, problem = self.instance.own_view, self.source.problem
        types = (*view.relationships, *self.instance.view.types)
        written = store.count_relationships(replace(view, relationships=types))
        return store.count_nodes(view) == problem.n and written == problem.relationships

    def load(self, store: GraphStore, record: RunRecord | None, *, quiet: bool) -> None:
        """Write the graph, or what is missing of it.

        Args:
            store: where to.
            record: the run as it is, if there is one of that name.
            quiet: whether to keep the progress to oneself.

        Raises:
            RunMismatch: the run is on another graph.
            StoreError: the database does not take it.
        """
        if record is not None and record.view.labels != self.instance.view.labels:
            raise RunMismatch(
                f"the run {record.name!r} is on {record.view}, not on the graph of {self.source.name}: "
                "choose another --name"
            )
        with load_progress(quiet=quiet) as watch:
            report = load(store, self.instance.own_view, self.source, watch=watch)
            write_connectors(store, self.source.problem, *self.instance.names)
        click.echo(
            f"Loaded {self.source.name}: {plural(report.nodes, 'node')} and "
            f"{plural(self.source.problem.relationships, 'relationship')} as {self.instance.view}",
            err=True,
        )

    def describe_load(self, *, as_json: bool) -> None:
        """Say what would be loaded, when nothing is to be written."""
        view, problem = str(self.instance.view), self.source.problem
        if as_json:
            size = {"nodes": problem.n, "relationships": problem.relationships}
            print_json({"exists": False, "loads": {"task": self.source.name, "view": view, **size}})
            return
        click.echo(
            f"Nothing is written. The graph of {self.source.name} would be loaded first: "
            f"{plural(problem.n, 'node')} and {plural(problem.relationships, 'relationship')} as {view}. "
            "With the graph there, --dry-run says what the run writes."
        )


def task_of(
    spec: str, data_dir: Path | None, chosen: Chosen, options: Mapping[str, Any]
) -> TaskRun:
    """The problem that ``--task`` names, made.

    Raises:
        click.UsageError: options that contradict it.
        TaskError, SourceError: there is no such task, or a data set is missing.
    """
    graph = asdict(chosen.graph)
    given = [option for name, option in _OWN.items() if graph[name] not in (None, (), {})]
    if chosen.minimize:
        given.append("--minimize")
    if options["objective"] is not None:
        given.append("--objective")
    if given:
        raise click.UsageError(
            f"--task brings its own graph and objective, and large values are wanted: leave out {', '.join(given)}"
        )
    instance = parse_instance(spec, data_dir, seed=chosen.seed or 0)
    source = ProblemSource(f"{SCHEME}:{instance.spec}", instance.problem, instance.view.key)
    source.survey()
    return TaskRun(instance, source)
