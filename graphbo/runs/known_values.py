"""Values that were known before a run began, or that somebody learned elsewhere: they cost no budget."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphbo.errors import NoSuchNode, RunError
from graphbo.runs.encoding import as_news, node_properties
from graphbo.runs.records import RunRecord
from graphbo.runs.telling import move_best, names_to_write
from graphbo.runs.transaction import Transaction
from graphbo.runs.written_names import in_use, written_labels
from graphbo.stores.checks import refuse_several
from graphbo.stores.log import NO_NEWS, Found, Lookup, Properties, Snapshot, Warm, Write
from graphbo.stores.subgraphs import show_key
from graphbo.types import NodeKey, View

__all__ = ["Known", "KnownValues"]


@dataclass(frozen=True)
class Known:
    """What became of known values.

    Attributes:
        new: how many the run did not have.
        in_use: what a node has of its own where the run would write: then none of them is recorded.
        record: the run.
    """

    new: int
    in_use: tuple[str, ...]
    record: RunRecord


@dataclass(frozen=True)
class KnownValues(Transaction[Known]):
    """Values that are known already, by node. Nodes that the run knows are left alone."""

    values: Mapping[NodeKey, float]
    grows = True

    def __post_init__(self) -> None:
        for key, value in self.values.items():
            if not math.isfinite(value):
                raise RunError(f"the value of {key!r} is {value}: expected a finite number")

    def lookup(self, view: View, since: int) -> Lookup:
        """The nodes."""
        del since
        return Lookup(view, "warm start", NO_NEWS, nodes=list(self.values))

    def decide(self, found: Snapshot) -> tuple[Known, Sequence[Write]]:
        """Record what is new, all of it or none.

        Raises:
            NoSuchNode: a key that matches no node.
            KeyNotUnique: a key that matches several.
        """
        record = as_news(found).record
        for key in found.nodes:
            refuse_several(key, found.nodes[key])
        missing = [key for key in self.values if key not in found.nodes]
        if missing:
            raise NoSuchNode(
                f"no node of {record.view} has the key {show_key(missing[0])}: no value was recorded"
            )
        new = {key: found.nodes[key][0] for key in self.values if not found.nodes[key][0].in_run}
        for node in new.values():
            names = in_use(names_to_write(record), node.held)
            if names:
                return Known(0, names, record), ()
        return Known(len(new), (), record), self._writes(record, new) if new else ()

    def _writes(self, record: RunRecord, new: Mapping[NodeKey, Found]) -> Sequence[Write]:
        rows, best = [], record
        before = record.warm + record.known_retracted
        for number, (key, node) in enumerate(new.items(), start=1):
            value, step = self.values[key], -(before + number)
            told: Properties = {
                "run": record.name,
                "step": step,
                "seq": record.seq + number,
                "value": value,
                "source": "warm",
            }
            shown = node_properties(record.prefix, told)
            rows.append({"id": node.id, "properties": told, "node": shown})
            if best.beats(value, best.best_value):
                best = replace(best, best_step=step, best_value=value)
        counters: Properties = {"seq": record.seq + len(rows), "warm": record.warm + len(rows)}
        if best.best_step != record.best_step:
            counters |= {"bestStep": best.best_step, "bestValue": best.best_value}
        labels = [written_labels(record.prefix)["observed"]] if record.labelled else []
        return (Warm(rows, labels, counters), *move_best(record, best.best_step))
