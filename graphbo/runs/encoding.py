"""Between the properties that a database holds and our values."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from graphbo import __version__
from graphbo.errors import GraphboError, Remedy, RunDamaged, RunError, RunTooNew
from graphbo.runs.records import (
    PLAIN_SCHEMA,
    SCHEMA,
    VIEW_SCHEMA,
    Exclusion,
    News,
    RunRecord,
    SetAside,
    UnreadableRun,
)
from graphbo.runs.written_names import written_properties
from graphbo.stores.log import COUNTERS, RUN_PROPERTIES, Properties, Snapshot, is_whole
from graphbo.types import Candidate, Observation, Pending, Proposal, View
from graphbo.types.notation import read_condition, read_path
from graphbo.types.text import cut

__all__ = [
    "FIELDS",
    "RECORD_NAMES",
    "as_news",
    "as_observation",
    "as_record",
    "as_record_or_reason",
    "as_set_aside",
    "belief_properties",
    "finite",
    "is_amount",
    "is_count",
    "node_properties",
    "refuse_unreadable",
    "run_properties",
    "schema_of",
    "view_properties",
    "without_nothing",
]

#: What the run's counters are called in the database, and in a record.
RECORD_NAMES = {
    **{name: name for name in COUNTERS},
    "bestStep": "best_step",
    "bestValue": "best_value",
}
#: The same, with what only some runs have, and what people change.
FIELDS = {
    **RECORD_NAMES,
    "knownRetracted": "known_retracted",
    "budgetCost": "budget_cost",
    "spent": "spent",
}


def is_count(value: object) -> bool:
    """Whether it is a whole number from 0 up."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_amount(value: object) -> bool:
    """Whether it is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


#: What the properties of a run have to be, as far as anything depends on it.
_FITS: Mapping[str, Callable[[Any], bool]] = {
    "direction": lambda value: value in ("maximize", "minimize"),
    "state": lambda value: value in ("running", "stopped", "finished"),
    "seed": is_count,
    "budget": is_count,
    "budgetCost": lambda value: is_amount(value) and value > 0,
    "spent": lambda value: is_amount(value) and value >= 0,
    "schema": is_count,
    "prefix": lambda value: isinstance(value, str) and value.isidentifier(),
    "labelled": lambda value: isinstance(value, bool),
    "bestStep": lambda value: isinstance(value, int),
    "bestValue": lambda value: isinstance(value, (int, float)),
    **dict.fromkeys((*COUNTERS, "knownRetracted"), is_count),
}


def refuse_unreadable(properties: Properties) -> None:
    """Check properties of a run before they are written: what cannot be read must not get into a database.

    Raises:
        RunError: one is not what it has to be.
    """
    for name, value in properties.items():
        if value is not None and name in _FITS and not _FITS[name](value):
            raise RunError(f"{cut(repr(value), 60)} cannot be the {name} of a run")


def run_properties(record: RunRecord) -> Properties:
    """A run, for the database."""
    return without_nothing(
        {
            "name": record.name,
            "direction": "maximize" if record.maximize else "minimize",
            "state": record.state,
            "view": json.dumps(view_properties(record.view), ensure_ascii=False),
            "config": json.dumps(dict(record.config), ensure_ascii=False),
            "seed": record.seed,
            "schema": record.schema,
            "writtenBy": record.written_by or __version__,
            "prefix": record.prefix,
            "labelled": record.labelled,
            "budget": record.budget,
            "budgetCost": record.budget_cost,
            **{name: getattr(record, field) for name, field in RECORD_NAMES.items()},
        }
    )


#: The parts of a view that every run has noted from the beginning; what came later is noted where it says something.
_EVERY_VIEW = ("labels", "relationships", "direction", "weight", "key")


def view_properties(view: View) -> Properties:
    """A view, as JSON: conditions and paths as the text that was read."""
    plain: Properties = {name: getattr(view, name) for name in _EVERY_VIEW}
    others = (field for field in fields(View) if field.name not in _EVERY_VIEW)
    for field in others:
        value = getattr(view, field.name)
        if value != field.default:
            plain[field.name] = value
    for name in {"where", "candidates_where"} & plain.keys():
        plain[name] = str(plain[name])
    if "paths" in plain:
        plain["paths"] = list(map(str, view.paths))
    return plain


def schema_of(view: View) -> int:
    """The oldest schema that has all that a run on this view is made of: older versions must not touch it."""
    return PLAIN_SCHEMA if view_properties(view).keys() <= {*_EVERY_VIEW} else VIEW_SCHEMA


def _as_view(plain: dict[str, Any]) -> View:
    """A view, from JSON."""
    for name in {"labels", "relationships", "candidates"} & plain.keys():
        plain[name] = tuple(plain[name])
    for name in {"where", "candidates_where"} & plain.keys():
        plain[name] = read_condition(plain[name])
    if "paths" in plain:
        plain["paths"] = tuple(map(read_path, plain["paths"]))
    if "factors" in plain:
        plain["factors"] = tuple((name, factor) for name, factor in plain["factors"])
    return View(**plain)


def belief_properties(candidate: Candidate, proposal: Proposal) -> Properties:
    """What was believed of a node when it was proposed, for the database."""
    return without_nothing(
        {
            "mean": finite(candidate.mean),
            "std": finite(candidate.std),
            "acquisition": finite(candidate.acquisition),
            "cost": candidate.cost,
            "restart": proposal.restart,
            "phase": proposal.phase,
            "modelled": list(proposal.modelled),
            "theta": list(proposal.theta),
        }
    )


def node_properties(prefix: str, told: Properties) -> Properties:
    """What a node shows of an observation, for the database."""
    names = written_properties(prefix)
    return without_nothing({names[name]: told.get(name) for name in names})


def as_record(run: Properties, pending: int) -> RunRecord:
    """A run, from the database.

    Raises:
        RunTooNew: a newer graphbo wrote it.
        RunDamaged: somebody changed what graphbo wrote.
    """
    _refuse_newer(run)
    missing = [name for name in RUN_PROPERTIES if run.get(name) is None]
    if missing:
        raise _damaged(run, f"has lost its {missing[0]}")
    wrong = [name for name, fits in _FITS.items() if name in run and not fits(run[name])]
    if wrong:
        raise _damaged(run, f"has {str(run[wrong[0]])[:60]!r} as its {wrong[0]}")
    try:
        return RunRecord(
            name=run["name"],
            maximize=run["direction"] == "maximize",
            view=_as_view(json.loads(run["view"])),
            config=_config(run["config"]),
            seed=run["seed"],
            prefix=run["prefix"],
            labelled=run["labelled"],
            budget=run.get("budget"),
            budget_cost=run.get("budgetCost"),
            spent=run.get("spent", 0.0),
            state=run["state"],
            schema=run["schema"],
            **{field: run.get(name) for name, field in RECORD_NAMES.items()},  # type: ignore[arg-type]
            known_retracted=run.get("knownRetracted", 0),
            pending=pending,
            started_at=str(run.get("startedAt", "")),
            updated_at=str(run.get("updatedAt", "")),
            written_by=str(run.get("writtenBy", "")),
        )
    except (ValueError, TypeError, KeyError, GraphboError) as error:
        raise _damaged(run, f"has a view or settings that cannot be read ({error})") from None


def _config(text: str) -> dict[str, Any]:
    config = dict(json.loads(text))
    for name, kind in {
        "strategy": str,
        "objective": str,
        "options": dict,
        "start": list,
        "cost": str,
    }.items():
        if not isinstance(config.get(name), (kind, type(None))):
            raise TypeError(f"{name} is {str(config[name])[:60]!r}")
    return config


def as_record_or_reason(run: Properties, pending: int) -> RunRecord | UnreadableRun:
    """A run, or why it cannot be read."""
    try:
        return as_record(run, pending)
    except (RunTooNew, RunDamaged) as error:
        return UnreadableRun(str(run.get("name", "")), str(error))


def _refuse_newer(run: Properties) -> None:
    schema = run.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        by = run.get("writtenBy")
        version = f"graphbo {by}" if by else "a newer graphbo"
        raise RunTooNew(
            f"the run {run.get('name')!r} was written by {version} (schema {schema}; this one, {__version__}, reads up "
            f"to {SCHEMA}): use that version or a newer one"
        )


def _damaged(run: Properties, what: str) -> RunDamaged:
    name = run.get("name")
    return RunDamaged(
        f"the record of the run {name!r} is damaged: it {what}, which graphbo wrote",
        Remedy.RESTORE_RUN,
    )


def as_news(snapshot: Snapshot) -> News:
    """How a run stands, from the database.

    Raises:
        RunTooNew: a newer graphbo wrote it.
        RunDamaged: somebody changed what graphbo wrote.
    """
    _refuse_newer(snapshot.run)
    if not is_whole(snapshot):
        as_record(snapshot.run, 0)  # raises, and says what is missing
        raise _damaged(snapshot.run, "has a request or an observation without its step")
    observations = tuple(as_observation(one) for one in snapshot.news)
    # Who looks without a lock may find a node on both sides, as it is told.
    told = {one.step for one in observations}
    pending = tuple(_as_pending(one) for one in snapshot.pending if one["step"] not in told)
    excluded = None
    if snapshot.excluded is not None:
        excluded = tuple(map(_as_exclusion, snapshot.excluded))
    record = as_record(snapshot.run, len(pending)).with_pending(pending)
    return News(record, observations, pending, excluded)


def _as_exclusion(properties: Properties) -> Exclusion:
    return Exclusion(
        properties["key"],
        str(properties.get("by", "")),
        str(properties.get("at", "")),
        properties.get("reason"),
    )


def _as_pending(properties: Properties) -> Pending:
    candidate = Candidate(
        properties["key"],
        properties.get("mean"),
        properties.get("std"),
        properties.get("acquisition"),
        properties.get("cost"),
    )
    proposal = Proposal(
        candidates=(candidate,),
        phase=properties.get("phase", "initial"),
        restart=properties.get("restart", 0),
        modelled=tuple(properties.get("modelled", ())),
        theta=tuple(properties.get("theta", ())),
    )
    left = properties.get("left")
    return Pending(
        step=properties["step"],
        candidate=candidate,
        proposal=proposal,
        worker=properties["worker"],
        token=properties["token"],
        lease_left=None if left is None else left / 1e3,
        at=str(properties.get("at", "")),
        tries=properties.get("tries", 1),
        note=properties.get("note"),
        excluded=bool(properties.get("excluded")),
        answer=properties.get("answer"),
        refused=properties.get("refused"),
        why=properties.get("why"),
    )


def as_observation(properties: Properties) -> Observation:
    """What was told, from the database."""
    return Observation(
        step=properties["step"],
        seq=properties["seq"],
        key=properties["key"],
        value=properties.get("value"),
        mean=properties.get("mean"),
        std=properties.get("std"),
        acquisition=properties.get("acquisition"),
        restart=properties.get("restart", 0),
        phase=properties.get("phase", "initial"),
        modelled=tuple(properties.get("modelled", ())),
        theta=tuple(properties.get("theta", ())),
        source=properties.get("source", "run"),
        at=str(properties.get("at", "")),
        error=properties.get("error"),
        note=properties.get("note"),
        unwritten=bool(properties.get("unwritten")),
        cost=properties.get("cost"),
    )


def as_set_aside(properties: Properties) -> SetAside:
    """What was retried or retracted, from the database."""
    retracted = properties.get("retractedAt") is not None
    at = properties.get("retractedAt" if retracted else "retriedAt", "")
    return SetAside(as_observation(properties), retracted, str(at), properties.get("retraction"))


def finite(value: float | None) -> float | None:
    """Beliefs that are not finite are left out: not every database can hold them."""
    return value if value is not None and math.isfinite(value) else None


def without_nothing(properties: Properties) -> Properties:
    """Those that have a value."""
    return {name: value for name, value in properties.items() if value is not None}
