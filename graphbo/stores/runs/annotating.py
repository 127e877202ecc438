"""What people see of a run on the nodes of the graph. Pure: it says what to write."""

from collections.abc import Sequence
from dataclasses import asdict

from graphbo.stores.runs.ledger import Annotate, MarkRegion, Properties
from graphbo.stores.runs.properties import finite, without_nothing
from graphbo.stores.runs.records import (
    News,
    RunRecord,
    region_properties,
    written_labels,
    written_properties,
)
from graphbo.types import Candidate, NodeKey

__all__ = ["marks_of", "region_of"]

#: The labels that follow from the record; the region is the model's.
_TOLD = ("observed", "best", "pending")


def marks_of(news: News) -> Annotate:
    """What should be seen on every node that the run has touched."""
    record = news.record
    rows = [_mark(record, one.key, {}, "pending") for one in news.pending]
    for one in news.observations:
        best = ("best",) if one.step == record.best_step else ()
        told = () if one.failed else ("observed", *best)
        rows.append(_mark(record, one.key, {} if one.failed else asdict(one), *told))
    return Annotate(rows)


def _mark(record: RunRecord, key: NodeKey, told: Properties, *wanted: str) -> Properties:
    names = written_properties(record.prefix)
    labels = written_labels(record.prefix) if record.labelled else {}
    return {
        "key": key,
        "node": {names[name]: told.get(name) for name in names},
        "add": [label for what, label in labels.items() if what in wanted],
        "remove": [labels[what] for what in _TOLD if what in labels and what not in wanted],
    }


def region_of(record: RunRecord, region: Sequence[Candidate]) -> MarkRegion:
    """What should be seen on the nodes of the region."""
    names = region_properties(record.prefix)
    rows: list[Properties] = [
        {
            "key": one.key,
            "node": without_nothing({names[what]: finite(getattr(one, what)) for what in names}),
        }
        for one in region
    ]
    labels = [written_labels(record.prefix)["region"]] if record.labelled else []
    return MarkRegion(rows, dict.fromkeys(names.values()), labels)
