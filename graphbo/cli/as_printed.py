"""Runs as commands print them: the same facts as JSON and in words."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from graphbo.cli.options import Place
from graphbo.errors import ModelError
from graphbo.runs import Best, Part, Run, Why, is_abandoned
from graphbo.runs.captions import Captions
from graphbo.runs.costs import spending_of
from graphbo.runs.encoding import view_properties
from graphbo.runs.records import RunRecord
from graphbo.search.regions import Region, TrustRegion
from graphbo.search.strategies import Folding, Regional, create_strategy
from graphbo.stores import GraphStore
from graphbo.stores.checks import hubs_skipped as hubs_clause
from graphbo.types import NodeKey, Observation, Pending
from graphbo.types.text import cut, duration, number, plural

__all__ = [
    "age",
    "best_facts",
    "called",
    "caption_names",
    "centre_of",
    "describe_best",
    "describe_region",
    "duration",
    "evaluations_of",
    "hubs_skipped",
    "json_ready",
    "label_line",
    "named",
    "next_commands",
    "number",
    "observation_facts",
    "pending_facts",
    "printable",
    "record_facts",
    "region_facts",
    "region_of",
    "run_again",
    "run_of",
    "shown",
    "state_of",
    "who",
    "why_facts",
    "with_caption",
]

_LONGEST_SHOWN = 60


# In words


def printable(key: object) -> str:
    """The whole of a text, without what could change what else is on the terminal."""
    text = str(key)
    return text if text.isprintable() and text else ascii(key)


def shown(key: object) -> str:
    """A key or a property as it may stand in a line on a terminal."""
    return cut(printable(key), _LONGEST_SHOWN)


def evaluations_of(record: RunRecord) -> str:
    """What was used of a budget, and what was spent in a run with costs."""
    cost = spending_of(record)
    return f"{_used(record)}, {cost}" if cost else _used(record)


def _used(record: RunRecord) -> str:
    if record.budget is None:
        return plural(record.evaluations, "evaluation")
    if record.evaluations > record.budget:
        return f"{plural(record.evaluations, 'evaluation')} on a budget of {record.budget:,}"
    return f"{record.evaluations:,} of {plural(record.budget, 'evaluation')}"


def state_of(record: RunRecord, pending: Iterable[Pending]) -> str:
    """How a run stands, in a word: one that no worker is at does not run, it is open."""
    leased = [one for one in pending if one.lease_left is not None]
    if record.state != "running" or not all(map(is_abandoned, leased)):
        return record.state
    return "open"


def who(pending: Pending) -> str:
    """Who measures a node."""
    # The last part only tells processes apart that had the same number.
    return pending.worker.rpartition(":")[0] or pending.worker


def age(at: str) -> float | None:
    """Seconds since a time of the database; None if it is not known."""
    try:
        then = datetime.fromisoformat(at)
    except ValueError:
        return None
    return max(0.0, (datetime.now(UTC) - then).total_seconds())


def next_commands(place: Place, name: str, *commands: str) -> list[str]:
    """Commands to try next, one line each."""
    lines = [place.command(command, name) for command in commands]
    return [f"{'Next:' if not row else '':5} {line}" for row, line in enumerate(lines)]


def run_again(place: Place, record: RunRecord, *more: object) -> str:
    """The command that goes on with a run; where the database does not have all of its objective, with … in it."""
    hidden = ["--objective", record.config["objective"]] if record.config.get("fingerprint") else []
    return place.command("run", "--name", record.name, *more, *hidden)


def hubs_skipped(run: Run) -> list[str]:
    """What of the graph a run has not looked through; nothing where nothing was skipped."""
    count = run.graph.hubs
    if not count:
        return []
    return [f"{hubs_clause(run.view, count)}: --hub-limit"]


# Answers


def named(key: NodeKey, captions: Captions | None) -> str:
    """A node as it may stand in a line on a terminal: its key, and its caption where it has one."""
    caption = captions and captions.of(key)
    return f"{shown(key)} ({shown(caption)})" if caption else shown(key)


def called(key: NodeKey, captions: Captions | None) -> str:
    """What people call a node: its caption where it has one, and its key where it has none."""
    return shown((captions and captions.of(key)) or key)


def describe_best(
    best: Best,
    record: RunRecord,
    properties: Mapping[str, object] | None = None,
    *,
    captions: Captions | None = None,
    labels: Sequence[str] = (),
) -> list[str]:
    """The answer in words."""
    when = "known value" if best.step < 0 else f"evaluation {best.step}"
    believed = "" if best.mean is None else f", believed to be {number(best.mean)}"
    lines = [f"Best: {named(best.key, captions)} with {number(best.value)} ({when}{believed})"]
    lines += [f"      {label_line(labels)}"] if labels else []
    rest = {name: value for name, value in (properties or {}).items() if name != record.view.key}
    lines += [f"      {shown(name)}: {shown(value)}" for name, value in rest.items()]
    return lines


def label_line(labels: Sequence[str]) -> str:
    """Which labels a node has, in words."""
    return f"{'labels' if len(labels) > 1 else 'label'}: {', '.join(map(shown, labels))}"


# Regions


def region_of(
    record: RunRecord,
    history: Sequence[Observation],
    folding: Folding[Region] | None = None,
) -> Region | None:
    """Where a run looks now; None for strategies that have no region, or that only their owner has.

    Whoever asks again and again brings a folding, which remembers what it was asked before.
    """
    try:
        strategy = create_strategy(record.config["strategy"], record.config["options"])
    except ModelError:
        return None
    if not isinstance(strategy, Regional):
        return None
    return (folding or Folding()).fold(strategy.region_rules(record.maximize), history)


def centre_of(region: Region | None) -> Observation | None:
    """What a region lies around; None where it has not begun."""
    return None if region is None else region.centre


def region_facts(region: Region) -> dict[str, object]:
    """A region as JSON."""
    facts: dict[str, object] = {
        "number": region.restart,
        "centre": region.centre.key if region.centre else None,
        "failures": region.failures,
    }
    if isinstance(region, TrustRegion):
        facts |= {"size": region.size, "successes": region.successes}
    return facts


def describe_region(region: Region, captions: Captions | None = None) -> str:
    """A region in words."""
    centre = f"around {named(region.centre.key, captions)}" if region.centre else "not begun"
    size = f", {plural(region.size, 'node')}" if isinstance(region, TrustRegion) else ""
    failures = f", {region.failures} in a row no better" if region.failures else ""
    return f"{region.restart + 1}, {centre}{size}{failures}"


# JSON


def json_ready(value: object) -> object:
    """A property as JSON: what JSON has no word for, as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return str(value)
    return value


def record_facts(record: RunRecord) -> dict[str, object]:
    """A run as JSON."""
    return {
        "name": record.name,
        "state": record.state,
        "direction": "maximize" if record.maximize else "minimize",
        "view": view_properties(record.view),
        **{name: value for name, value in record.config.items() if name != "fingerprint"},
        "seed": record.seed,
        "prefix": record.prefix,
        "labelled": record.labelled,
        "budget": record.budget,
        **(_spending_facts(record) if "cost" in record.config else {}),
        "evaluations": record.evaluations,
        "failed": record.failed,
        "warm": record.warm,
        "pending": record.pending,
        "best_value": record.best_value,
        "started_at": record.started_at,
        "updated_at": record.updated_at,
    }


def _spending_facts(record: RunRecord) -> dict[str, object]:
    return {
        "budget_cost": record.budget_cost,
        "spent": record.spent,
        "reserved": record.reserved,
    }


def observation_facts(one: Observation) -> dict[str, object]:
    """An observation as JSON."""
    facts = asdict(one) | {"modelled": list(one.modelled), "theta": list(one.theta)}
    if one.cost is None:
        del facts["cost"]
    return facts


def pending_facts(one: Pending) -> dict[str, object]:
    """What is being evaluated, as JSON."""
    return {
        "step": one.step,
        "key": one.key,
        "by_hand": one.lease_left is None,
        "worker": one.worker,
        "asked_at": one.at,
        "lease_left": one.lease_left,
        "mean": one.candidate.mean,
        "std": one.candidate.std,
        "acquisition": one.candidate.acquisition,
        "restart": one.proposal.restart,
        "phase": one.proposal.phase,
        **({} if one.cost is None else {"cost": one.cost}),
    }


def with_caption(facts: Mapping[str, Any], captions: Captions | None) -> dict[str, Any]:
    """What is known of a node, as JSON, with its caption if captions are wanted."""
    if captions is None or captions.name is None:
        return dict(facts)
    return {**facts, "caption": captions.of(facts["key"])}


def caption_names(why: Why) -> list[NodeKey]:
    """The nodes that are called by name when this is said."""
    return [why.key, *(part.key for part in why.parts if part.key is not None)]


def why_facts(why: Why, captions: Captions | None = None) -> dict[str, object]:
    """Why a node, as JSON."""
    facts = asdict(why) | {
        "parts": [_part_facts(part, captions) for part in why.parts],
        "text": why.text(lambda key: called(key, captions)),
    }
    del facts["because"]
    if why.cost is None:
        del facts["cost"]
    return with_caption(facts, captions)


def _part_facts(part: Part, captions: Captions | None) -> dict[str, object]:
    facts: dict[str, object] = {"kind": part.kind, "amount": part.amount}
    if part.kind == "node":
        facts |= {"key": part.key, "value": part.value, "near": part.near}
        return with_caption(facts, captions)
    return facts | ({"name": part.name, "value": json_ready(part.value)} if part.name else {})


def best_facts(
    best: Best | None,
    properties: Mapping[str, object] | None = None,
    *,
    captions: Captions | None = None,
    labels: Sequence[str] = (),
) -> dict[str, object] | None:
    """The answer as JSON."""
    if best is None:
        return None
    facts: dict[str, object] = {
        "key": best.key,
        "value": best.value,
        "step": best.step,
        "mean": best.mean,
    }
    facts = with_caption(facts, captions)
    if labels:
        facts["labels"] = list(labels)
    if properties is not None:
        facts["properties"] = {name: json_ready(value) for name, value in properties.items()}
    return facts


def run_of(store: GraphStore, name: str) -> Run:
    """A run with all of its history.

    Raises:
        NoSuchRun: there is none of that name.
    """
    run = Run.open(store, name)
    run.refresh()
    return run
