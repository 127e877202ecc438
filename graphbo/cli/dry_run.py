"""``graphbo run --dry-run``: exactly what a run would write, and nothing is written."""

import re
from dataclasses import dataclass

import click

from graphbo.cli.as_printed import printable, shown
from graphbo.runs import RunSettings, refuse_difference
from graphbo.runs.records import RunRecord
from graphbo.runs.registry import runs_in
from graphbo.runs.written_names import (
    answer_properties,
    region_properties,
    written_labels,
    written_properties,
)
from graphbo.stores import Address, GraphStore, ready_view
from graphbo.stores.neo4j.statements import statement, statement_names
from graphbo.types import View

__all__ = ["Writes", "describe_writes", "writes_of"]


@dataclass(frozen=True)
class Writes:
    """What a run leaves in a database, and what it is for."""

    nodes: dict[str, str]
    properties: dict[str, str]
    labels: dict[str, str]
    relationships: dict[str, str]
    constraints: dict[str, str]


def writes_of(
    store: GraphStore,
    address: Address,
    view: View,
    name: str,
    settings: RunSettings,
    record: RunRecord | None,
) -> Writes:
    """What a new run, or one that exists, would write.

    Raises:
        RunMismatch: it was started with other options.
        PrefixTaken, NameInUse: another run, or somebody, has properties of this prefix.
        StoreError: the view cannot be worked on.
    """
    view = ready_view(store, view)
    if record is not None:
        refuse_difference(record, view, settings)
    prefix = settings.prefix or (record.prefix if record else "")
    if record is None or prefix != record.prefix:
        prefix = runs_in(store).choose_prefix(view, prefix)
    labels = written_labels(prefix) if settings.labelled else {}
    return Writes(
        nodes={"GraphboRun": f"one, the run {name!r}"},
        properties={
            property_: f"on each evaluated :{'|'.join(view.labels)} node: {_MEANINGS[what]}"
            for what, property_ in written_properties(prefix).items()
        }
        | {
            property_: f"on what is being evaluated, {_MEANINGS_OF_ANSWERS[what]}"
            for what, property_ in answer_properties(prefix).items()
        }
        | {
            property_: f"on each node of the region, {_ANNOTATED}: {_MEANINGS_NOW[what]}"
            for what, property_ in region_properties(prefix).items()
        },
        labels={label: f"on {_WHERE[what]}" for what, label in labels.items()},
        relationships={
            "GRAPHBO_OBSERVED": "from the run to each evaluated node",
            "GRAPHBO_FAILED": "from the run to each node whose evaluation failed",
            "GRAPHBO_RETRIED": "from the run to each node whose failure was retried with `graphbo retry`",
            "GRAPHBO_RETRACTED": "from the run to each node whose value was retracted with `graphbo retract`",
            "GRAPHBO_EXCLUDED": "from the run to each node that is excluded with `graphbo exclude`",
            "GRAPHBO_PENDING": "from the run to what is being evaluated, for that long",
            "GRAPHBO_REGION": f"from the run to each node of the region, {_ANNOTATED}",
        },
        constraints=_constraints() if address.is_neo4j else {},
    )


_MEANINGS = {
    "value": "what was measured",
    "step": "its step in the run",
    "mean": "what was expected",
    "std": "the standard deviation of that",
    "acquisition": "how much was expected to be gained",
    "why": "why it was asked for, in words, where a person asks for it, or by `graphbo annotate --why`",
}

_MEANINGS_OF_ANSWERS = {
    "answer": "if somebody sets it there: its value, which is told and taken off again",
    "error": "for as long as such an answer cannot be told: why",
}

#: What no run does by itself.
_ANNOTATED = "by `graphbo annotate --posterior` only"

_MEANINGS_NOW = {
    "mean": "what is expected then",
    "std": "the standard deviation of that",
    "acquisition": "how promising it is",
    "why": "what speaks for it and against it",
}

_WHERE = {
    "observed": "each evaluated node",
    "best": "the best of them",
    "pending": "what is being evaluated, for that long",
    "region": f"each node of the region, {_ANNOTATED}",
}


def _constraints() -> dict[str, str]:
    """From the statements that create them."""
    found = {}
    for name in statement_names():
        if name.startswith("run_schema_"):
            text = " ".join(statement(name).text().split())
            match = re.fullmatch(r"CREATE CONSTRAINT (\w+) IF NOT EXISTS (.+)", text)
            if match:
                found[match[1]] = match[2]
    return found


def describe_writes(name: str, address: Address, objective: str, writes: Writes) -> None:
    """Say it, part by part."""
    click.echo(f"Nothing is written. The run {shown(name)!r} would evaluate {printable(objective)}")
    click.echo(f"and write to {address.public}:")
    for part in ("nodes", "properties", "labels", "relationships", "constraints"):
        found: dict[str, str] = getattr(writes, part)
        if not found:
            click.echo(f"{part}: none")
            continue
        click.echo(f"{part}:")
        for what, meaning in found.items():
            click.echo(f"  {what}  {meaning}")
    click.echo(f"All of it is removed with `graphbo clean {shown(name)}`.")
