"""What ``graphbo run`` says in the end: the answer, what it took, and what to do next."""

from dataclasses import dataclass

import click

from graphbo.cli.as_printed import (
    best_facts,
    describe_best,
    duration,
    evaluations_of,
    hubs_skipped,
    next_commands,
    number,
    record_facts,
    run_again,
)
from graphbo.cli.captions import captions_of
from graphbo.cli.options import Place, print_json
from graphbo.errors import ObjectiveBroken
from graphbo.runs import Best, Run
from graphbo.runs.captions import labels_of
from graphbo.runs.records import RunRecord
from graphbo.runs.worker import Ending, all_failed, broken_objective, last_failure
from graphbo.stores import GraphStore
from graphbo.types.text import plural

__all__ = ["DEFAULT_BUDGET", "Worked", "explain_broken", "tell_outcome"]

DEFAULT_BUDGET = 100

_ENDINGS = {
    "budget": "The budget is used up",
    "unaffordable": "What is left to spend pays for no node that was looked at",
    "exhausted": "Every node that may be looked at has been measured",
    "ended": "The run was stopped",
    "time": "The time is over",
    "patience": "Nothing better was found for a while",
}


@dataclass(frozen=True)
class Worked:
    """What this command did itself."""

    run: Run
    ending: Ending
    seconds: float


def tell_outcome(
    store: GraphStore,
    place: Place,
    name: str,
    worked: Worked | None,
    *,
    caption: str | None = None,
    as_json: bool,
) -> None:
    """Print the answer of a run, also of one that had nothing left to do."""
    run = worked.run if worked else Run.open(store, name)
    run.refresh()
    record = run.record
    if record.state == "finished" and all_failed(record):
        last = last_failure(run.history)
        error = broken_objective("not one evaluation gave a value", last)
        explain_broken(error, place, name)
        raise error
    best = run.best()
    properties = run.properties(best.key) if best else {}
    captions = captions_of(store, record, caption)
    labels: list[str] = []
    if best is not None:
        captions.take(best.key, properties)
        labels = labels_of(store, run.view, [best.key]).get(best.key, [])
    regret = _regret_of(store, record, best) if best else None
    if as_json:
        answer = best_facts(best, properties, captions=captions, labels=labels)
        facts = record_facts(record) | {"best": answer, "regret": regret}
        print_json(facts | (_work_facts(worked) if worked else {}))
        return
    if best is not None:
        for line in describe_best(best, record, properties, captions=captions, labels=labels):
            click.echo(line)
    if regret is not None:
        optimum = number(record.config["optimum"])
        click.echo(f"Regret: {number(regret)} (the best node of the graph has {optimum})")
    for line in _describe_work(worked, record) if worked else _describe_rest(place, record):
        click.echo(line)
    for line in next_commands(place, name, "report", "history", "best", "clean"):
        click.echo(line)


def explain_broken(error: ObjectiveBroken, place: Place, name: str) -> None:
    """Say all that is known about the last failure, and how to try again what has failed."""
    for line in "\n".join(getattr(error, "__notes__", ())).splitlines():
        click.echo(_printable(line), err=True)
    click.echo(f"Once the objective is mended: {place.command('retry', name)}", err=True)
    click.echo("Another objective takes a run of its own, with another --name.", err=True)


def _printable(line: str) -> str:
    """A line of somebody else's program without what could change the rest of the terminal."""
    return "".join(one if one.isprintable() else " " for one in line)


def _regret_of(store: GraphStore, record: RunRecord, best: Best) -> float | None:
    if record.config.get("optimum") is None:
        return None
    from graphbo.bench.tasks import regrets_of  # noqa: PLC0415 - takes a second

    regrets = regrets_of(store, record, [best.key])
    return regrets[0] if regrets else None


def _work_facts(worked: Worked) -> dict[str, object]:
    return {
        "ending": worked.ending.reason,
        "evaluated_here": worked.ending.evaluations,
        "revealed": worked.run.graph.revealed,
        "hubs_skipped": worked.run.graph.hubs,
        "seconds": round(worked.seconds, 3),
    }


def _used(record: RunRecord) -> str:
    failed = f", {record.failed} of which failed" if record.failed else ""
    return f"{evaluations_of(record)}{failed}"


def _describe_work(worked: Worked, record: RunRecord) -> list[str]:
    looked, took = (
        f"{plural(worked.run.graph.revealed, 'node')} looked at",
        duration(worked.seconds),
    )
    here = worked.ending.evaluations
    # What other processes looked at is not recorded: where they had a part in it, these numbers are of this one alone.
    own = (
        f", {looked}, {took}."
        if here == record.evaluations
        else f". Of them, {here:,} by this command, with {looked}, in {took}."
    )
    return [
        f"{_ENDINGS[worked.ending.reason]}: {_used(record)}{own}",
        *hubs_skipped(worked.run),
    ]


def _describe_rest(place: Place, record: RunRecord) -> list[str]:
    """Of a run that had nothing left to do."""
    finished = record.state == "finished"
    more: list[object] = []
    if finished and record.budget_cost is not None:
        more = ["--budget-cost", f"{record.spent + record.budget_cost:g}"]
    elif finished:
        more = ["--budget", record.evaluations + DEFAULT_BUDGET]
    return [
        f"The run {record.name!r} is {record.state}: {_used(record)}.",
        f"To go on: {run_again(place, record, *more)}",
        "Another one: the same command with --name NAME",
    ]
