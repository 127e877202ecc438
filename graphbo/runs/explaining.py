"""Why nodes are measured, written on them for people who look at the graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphbo.runs.encoding import as_news
from graphbo.runs.transaction import Transaction
from graphbo.runs.written_names import written_properties
from graphbo.stores.log import NO_NEWS, Lookup, Revise, Snapshot, Write
from graphbo.types import View
from graphbo.types.text import cut

__all__ = ["Explain"]

#: A sentence that names four nodes by long names is shorter than this.
LONGEST_WHY = 1_000


@dataclass(frozen=True)
class Explain(Transaction[tuple[int, ...]]):
    """Why the nodes of some steps are, or were, to be measured, is written on them.

    What was written before stays, and so does what a node has of its own there.

    Attributes:
        whys: in words, by step.
    """

    whys: Mapping[int, str]
    grows = True

    def lookup(self, view: View, since: int) -> Lookup:
        """What is pending, and what was told at these steps, with what the nodes have."""
        del since
        return Lookup(view, "why", NO_NEWS, steps=list(self.whys))

    def decide(self, found: Snapshot) -> tuple[tuple[int, ...], Sequence[Write]]:
        """Write it; the steps that have it now, and had not before."""
        name = written_properties(as_news(found).record.prefix)["why"]
        told = [one for one in found.told if "value" in one and not one.get("unwritten")]
        steps = [
            int(one["step"])
            for one in (*found.pending, *told)
            if one["step"] in self.whys and not one.get("why") and name not in (one["held"] or ())
        ]
        whys = {step: cut(self.whys[step], LONGEST_WHY) for step in steps}
        return tuple(steps), [Revise(step, {"why": why}, {name: why}) for step, why in whys.items()]
