"""``graphbo run``: find the best node; start a run, or go on with one, alone or among several workers."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphbo.cli.as_printed import (
    evaluations_of,
    number,
    shown,
    who,
)
from graphbo.cli.dry_run import describe_writes, writes_of
from graphbo.cli.hop import allow_hop
from graphbo.cli.objective import Wanted, wanted_objective
from graphbo.cli.options import (
    Place,
    connection_options,
    data_dir_option,
    json_option,
    place_at,
    print_json,
)
from graphbo.cli.outcome import DEFAULT_BUDGET, Worked, explain_broken, tell_outcome
from graphbo.cli.output import kept_for_the_result
from graphbo.cli.parameter_types import Seconds
from graphbo.cli.run_progress import watching
from graphbo.cli.settings import Chosen, default_name, open_run, settings_options
from graphbo.errors import ObjectiveBroken, RunMismatch
from graphbo.objectives import KINDS
from graphbo.runs import Run, RunSettings, is_abandoned, refuse_difference
from graphbo.runs.executors import open_executor
from graphbo.runs.records import RunRecord
from graphbo.runs.registry import runs_in
from graphbo.runs.worker import LEASE_SECONDS, Limits, work
from graphbo.search.graph import Graph
from graphbo.stores import GraphStore, open_store
from graphbo.stores.address import public_uri

__all__ = ["run_command"]

_IN_MEMORY = "sqlite::memory:"

if TYPE_CHECKING:
    from graphbo.cli.task_run import TaskRun


_COUNT = click.IntRange(min=1)
_SECONDS = Seconds()


@click.command("run")
@connection_options
@click.option(
    "--objective",
    metavar="SPEC",
    help=f"What gives a node its value: {', '.join(kind.usage for kind in KINDS.own.values())}; or of a plugin.",
)
@click.option(
    "--task",
    metavar="SPEC",
    help="Instead of --label, --rel and --objective: a problem whose best node is known, see `graphbo tasks`; its "
    "graph is loaded if it is not there.",
)
@data_dir_option
@click.option(
    "--name", metavar="NAME", help="Of the run.  [default: from the label and the objective]"
)
@click.option(
    "--budget",
    type=_COUNT,
    metavar="N",
    help=f"Most evaluations.  [default: {DEFAULT_BUDGET}; no limit with --budget-cost]",
)
@click.option("--time", "seconds", type=_SECONDS, help="Most time, like 90s, 10m or 2h.")
@click.option(
    "--patience", type=_COUNT, metavar="N", help="Stop after N evaluations with nothing better."
)
@click.option(
    "--max-failures", type=_COUNT, metavar="N", help="Give up when N evaluations have failed."
)
@click.option(
    "--keep-going",
    is_flag=True,
    help=f"Go on after {Limits.failures_in_a_row} failed evaluations in a row.",
)
@settings_options
@click.option("--timeout", type=_SECONDS, help="Most time for each evaluation.")
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Further attempts at an evaluation that failed.",
)
@click.option(
    "--workers",
    type=_COUNT,
    metavar="N",
    help="Evaluate N nodes at once, in processes of this machine.",
)
@click.option(
    "--executor",
    metavar="dask://HOST:PORT",
    help="Evaluate on a Dask cluster; needs graphbo[dask].",
)
@click.option(
    "--batch-size",
    type=_COUNT,
    metavar="K",
    help="Ask for K nodes at a time, and for the next when all of them are told.",
)
@click.option(
    "--worker",
    is_flag=True,
    help="Join a run as one of several workers: it is neither continued after a stop nor changed.",
)
@click.option(
    "--lease",
    type=_SECONDS,
    default=LEASE_SECONDS,
    show_default=True,
    help="Others take over the node of a worker that is silent for so long.",
)
@click.option(
    "--trust",
    is_flag=True,
    help="Run the objective, and the statement for edges, that the database names, also if nobody here has agreed.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@json_option
def run_command(
    uri: str | None,
    credentials: Path | None,
    database: str | None,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the best node of a graph.

    \b
    graphbo run --label Station --rel LINK --objective python:delays:measure --budget 80

    Everything is kept in the database. The same command again, or `graphbo run --name NAME`,
    goes on where a run was interrupted.
    """
    place = place_at(uri, credentials, database)
    chosen = Chosen.from_options(options)
    task = _task_of(options.pop("task"), options.pop("data_dir"), chosen, options)
    if task is not None:
        chosen = task.chosen(chosen)
        options |= {"objective": task.objective, "name": options["name"] or task.name}
    request = _Request(
        chosen=chosen,
        warm_start=options.pop("warm_start"),
        as_json=as_json,
        **options,
    )
    if task is not None and not place.exists:
        _refuse_before_creating(request)
    with place.open(create=task is not None and not dry_run) as store:
        plan = _plan(store, request)
        if task is not None and not task.is_loaded(store):
            if dry_run:
                task.describe_load(as_json=as_json)
                return
            _refuse_wrong_options(store, request, plan)
            task.load(store, plan.record, quiet=as_json)
        if dry_run:
            _dry_run(store, place, request, plan)
        elif plan.record is not None and _nothing_to_do(plan, request):
            wanted = _settings(store, request.chosen, plan)
            refuse_difference(plan.record, store.resolve(request.chosen.view(plan.record)), wanted)
            tell_outcome(
                store,
                place,
                plan.name,
                None,
                caption=request.chosen.caption,
                as_json=request.as_json,
            )
        else:
            _run(store, place, request, plan)


def _task_of(
    spec: str | None, data_dir: Path | None, chosen: Chosen, options: Mapping[str, Any]
) -> "TaskRun | None":
    if spec is not None:
        from graphbo.cli.task_run import task_of  # noqa: PLC0415 - takes a second

        return task_of(spec, data_dir, chosen, options)
    if data_dir is not None:
        raise click.UsageError("--data-dir is for --task: add it, or leave both out")
    return None


@dataclass(frozen=True)
class _Request:
    """What was asked for on the command line."""

    chosen: Chosen
    warm_start: str | None
    as_json: bool
    objective: str | None
    name: str | None
    budget: int | None
    seconds: float | None
    patience: int | None
    max_failures: int | None
    keep_going: bool
    timeout: float | None
    retries: int
    workers: int | None
    executor: str | None
    batch_size: int | None
    worker: bool
    lease: float
    trust: bool

    @property
    def limits(self) -> Limits:
        """When to stop, beside the budget."""
        limits = Limits(self.seconds, self.patience, self.max_failures)
        return replace(limits, failures_in_a_row=None) if self.keep_going else limits


@dataclass(frozen=True)
class _Plan:
    """What that means in this database."""

    name: str
    record: RunRecord | None
    objective: Wanted
    budget: int | None
    budget_cost: float | None = None

    @property
    def is_used_up(self) -> bool:
        """Whether there is nothing left to do."""
        if self.record is None:
            return False
        wanted = replace(self.record, budget=self.budget, budget_cost=self.budget_cost)
        return replace(wanted, pending=0, reserved=0.0).left <= 0


def _plan(store: GraphStore, request: _Request) -> _Plan:
    name, chosen = request.name, request.chosen
    record = None if name is None else runs_in(store).find(name)
    if record is None and not chosen.names_a_graph:
        if name is None:
            raise click.UsageError(
                "give --label, --rel (or --path) and --objective to start a run, or --name to go on with one"
            )
        runs_in(store).get(name)  # raises, and says which runs there are
    objective = wanted_objective(request.objective, record)
    if name is None:
        name = default_name(chosen.view(None), objective.name)
        record = runs_in(store).find(name)
    stored = record.budget if record else None
    cost = chosen.budget_cost or (record.budget_cost if record else None)
    usual = DEFAULT_BUDGET if cost is None else None
    return _Plan(name, record, objective, request.budget or stored or usual, cost)


def _settings(store: GraphStore, chosen: Chosen, plan: _Plan) -> RunSettings:
    return chosen.settings(
        store,
        plan.record,
        objective=plan.objective.name,
        budget=plan.budget,
        fingerprint=plan.objective.fingerprint,
    )


def _refuse_before_creating(request: _Request) -> None:
    """A new file would be as empty as this: what is wrong must not leave one behind."""
    with open_store(_IN_MEMORY) as nothing:
        _refuse_wrong_options(nothing, request, _plan(nothing, request))


def _refuse_wrong_options(store: GraphStore, request: _Request, plan: _Plan) -> None:
    """Before a graph is loaded for nothing; start nodes cannot be looked for yet."""
    chosen = replace(request.chosen, start=())
    settings = _settings(store, chosen, plan)
    if plan.record is not None:
        return
    view = chosen.view(None)
    Graph(store, view, seed=settings.seed, start=request.chosen.start, reveal=settings.reveal)
    with open_store(_IN_MEMORY) as nothing:
        runs_in(nothing).create(settings.record(plan.name, view))


def _nothing_to_do(plan: _Plan, request: _Request) -> bool:
    """Whether the run is over, or none of a worker's business any more."""
    record = plan.record
    if record is None or record.state == "running":
        return False
    return request.worker or (record.state == "finished" and plan.is_used_up)


def _dry_run(store: GraphStore, place: Place, request: _Request, plan: _Plan) -> None:
    allow_hop(store, plan.record, request.chosen.hop, trust=request.trust)
    view = request.chosen.view(plan.record)
    settings = _settings(store, request.chosen, plan)
    writes = writes_of(store, place.address, view, plan.name, settings, plan.record)
    objective = plan.objective.name
    if request.as_json:
        about = {"name": plan.name, "exists": plan.record is not None, "objective": objective}
        print_json(about | asdict(writes))
    else:
        describe_writes(plan.name, place.address, objective, writes)


# Working


def _run(store: GraphStore, place: Place, request: _Request, plan: _Plan) -> None:
    with kept_for_the_result(request.as_json):
        worked = _work(store, place, request, plan)
    tell_outcome(
        store, place, plan.name, worked, caption=request.chosen.caption, as_json=request.as_json
    )


def _work(store: GraphStore, place: Place, request: _Request, plan: _Plan) -> Worked:
    if request.worker and plan.record is not None:
        _refuse_other_budget(plan, plan.record)
    objective = plan.objective.open(
        place, plan.name, trust=request.trust, timeout=request.timeout, retries=request.retries
    ).bind(store)
    if request.executor is None:
        # A cluster may reach what this machine does not.
        objective.check()
    with open_executor(request.executor, request.workers) as pool:
        run = open_run(
            store,
            plan.name,
            plan.record,
            request.chosen,
            objective=plan.objective.name,
            budget=plan.budget,
            warm_start=request.warm_start,
            fingerprint=plan.objective.fingerprint,
            trust=request.trust,
        )
        plan.objective.remember(place)
        run.refresh()
        _introduce(run, plan.record)
        # Processes open connections of their own; an open one cannot be sent to them.
        objective = objective.bind(place.address) if pool.executor else objective
        began = time.monotonic()
        with (
            _explaining_the_end(run, place, request, plan.objective),
            watching(run, quiet=request.as_json, caption=request.chosen.caption) as watch,
        ):
            ending = work(
                run,
                objective,
                limits=request.limits,
                executor=pool.executor,
                parallel=request.batch_size or pool.size,
                batch=request.batch_size is not None,
                lease=request.lease,
                watch=watch,
            )
    return Worked(run, ending, time.monotonic() - began)


def _refuse_other_budget(plan: _Plan, record: RunRecord) -> None:
    for option, before, now in (
        ("--budget", record.budget, plan.budget),
        ("--budget-cost", record.budget_cost, plan.budget_cost),
    ):
        if before != now:
            raise RunMismatch(
                f"the run {plan.name!r} has a budget of {before}, not {now}: a worker does not change it; leave out "
                f"{option}, or --worker"
            )


def _introduce(run: Run, before: RunRecord | None) -> None:
    record = run.record
    if before is None:
        goal = "maximize" if record.maximize else "minimize"
        line = f"Run {shown(run.name)}: {goal} {shown(record.config['objective'])} on {run.view}"
    else:
        best = "" if record.best_value is None else f", best {number(record.best_value)}"
        was = "" if before.state == "running" else f" (it was {before.state})"
        line = f"Resuming {shown(run.name)}{was}: {evaluations_of(record)}{best}"
    click.echo(line, err=True)
    others = {who(one) for one in run.pending if one.lease_left is not None}
    gone = {who(one) for one in run.pending if is_abandoned(one)}
    if others - gone:
        click.echo(f"Others are at work on it: {', '.join(sorted(others - gone))}", err=True)


@contextmanager
def _explaining_the_end(
    run: Run, place: Place, request: _Request, wanted: Wanted
) -> Iterator[None]:
    try:
        yield
    except ObjectiveBroken as error:
        explain_broken(error, place, run.name)
        _say_how_to_go_on("Then:  ", run, place, request, wanted)
        raise
    except KeyboardInterrupt:
        record = run.record
        mine = [one for one in run.pending if one.worker == run.worker]
        named = ", ".join(shown(one.key) for one in mine[:3])
        kept = f" What was being evaluated ({named}) comes first then." if mine else ""
        click.echo(f"Saved: {evaluations_of(record)}.{kept}", err=True)
        _say_how_to_go_on("Resume:", run, place, request, wanted)
        raise


def _say_how_to_go_on(word: str, run: Run, place: Place, request: _Request, wanted: Wanted) -> None:
    click.echo(f"{word} {_resume_command(run, place, request, wanted)}", err=True)
    for line in (wanted.to_fill_in, place.to_fill_in):
        if line:
            click.echo(line, err=True)


def _resume_command(run: Run, place: Place, request: _Request, wanted: Wanted) -> str:
    """What goes on with the run in the same way: the database knows all but how it is worked on."""
    by_hand = run.settings.objective is None
    options: dict[str, object] = {
        "--objective": wanted.template if by_hand or wanted.to_fill_in else None,
        "--time": request.seconds,
        "--patience": request.patience,
        "--max-failures": request.max_failures,
        "--timeout": request.timeout,
        "--retries": request.retries or None,
        "--workers": request.workers,
        "--executor": request.executor and public_uri(request.executor),
        "--batch-size": request.batch_size,
        "--lease": request.lease if request.lease != LEASE_SECONDS else None,
    }
    words: list[object] = ["run", "--name", run.name]
    for option, value in options.items():
        if value is not None:
            words += [option, f"{value:g}" if isinstance(value, float) else value]
    flags = {
        "--keep-going": request.keep_going,
        "--worker": request.worker,
        "--trust": request.trust,
    }
    words += [flag for flag, given in flags.items() if given]
    return place.command(*words)
