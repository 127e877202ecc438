"""What was told is corrected: a value for the wrong node is retracted, a note is added."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphbo.errors import NotAsked, Remedy, RunError
from graphbo.runs.encoding import as_news, as_observation, without_nothing
from graphbo.runs.records import SCHEMA, News, RunRecord
from graphbo.runs.telling import (
    find_pending,
    move_best,
    not_asked,
    refuse_nothing_meant,
    spent,
)
from graphbo.runs.transaction import Transaction
from graphbo.runs.written_names import written_labels, written_properties
from graphbo.stores.log import (
    NO_NEWS,
    Lookup,
    Properties,
    Retract,
    Revise,
    Snapshot,
    Write,
)
from graphbo.stores.subgraphs import show_key
from graphbo.types import NodeKey, Observation, View, best_of

__all__ = ["NoteDown", "RetractValue"]


@dataclass(frozen=True)
class RetractValue(Transaction[Observation]):
    """A value was told for the wrong node: it counts no more, its record stays, and the node may be asked for again.

    Attributes:
        reason: why it is retracted.
    """

    step: int | None = None
    key: NodeKey | None = None
    reason: str | None = None
    grows = True

    def __post_init__(self) -> None:
        refuse_nothing_meant(self.step, self.key)

    def lookup(self, view: View, since: int) -> Lookup:
        """What was told there, and the whole history: which value is the best then depends on all of them."""
        del since
        return _lookup(view, "retract", 0, self.step, self.key)

    def decide(self, found: Snapshot) -> tuple[Observation, Sequence[Write]]:
        """Take it out of the history.

        Raises:
            NotAsked: nothing was told there.
            RunError: there is no value but a failure.
        """
        news = as_news(found)
        before = _told_at(found, news, self.step, self.key)
        observation = as_observation(before)
        if observation.failed:
            raise RunError(
                f"step {observation.step} ({show_key(observation.key)}) has failed, and no value to retract",
                Remedy.RETRY,
            )
        others = [one for one in news.observations if one.step != observation.step]
        best = best_of(others, maximize=news.record.maximize)
        write = Retract(
            observation.step,
            without_nothing({"retraction": self.reason}),
            *_taken_off(news.record, before),
            _counters(news.record, observation, best),
        )
        # The node that had the label loses it with the others.
        moved = best and move_best(
            news.record, best.step, unwritten=best.unwritten, gone=observation.step
        )
        return observation, (write, *(moved or ()))


def _counters(record: RunRecord, gone: Observation, best: Observation | None) -> Properties:
    counters: Properties = {
        "amended": record.amended + 1,
        "schema": SCHEMA,
        "bestStep": best.step if best else None,
        "bestValue": best.value if best else None,
        # There is something left to do.
        "state": "stopped" if record.state == "finished" else record.state,
    }
    if gone.source == "warm":
        return counters | {
            "warm": record.warm - 1,
            "knownRetracted": record.known_retracted + 1,
        }
    return counters | {"told": record.told - 1} | spent(record, -(gone.cost or 0.0))


def _taken_off(record: RunRecord, told: Properties) -> tuple[Properties, list[str]]:
    """The properties and labels that a node has of what was told there."""
    if told.get("unwritten"):
        return {}, []
    names = written_properties(record.prefix)
    labels = written_labels(record.prefix) if record.labelled else {}
    return (
        {names[what]: None for what in names if told.get(what) is not None},
        [labels[what] for what in ("observed", "best") if what in labels],
    )


@dataclass(frozen=True)
class NoteDown(Transaction[None]):
    """Something is noted about a node that is pending, or was told; nothing removes what was noted."""

    text: str | None
    step: int | None = None
    key: NodeKey | None = None

    def __post_init__(self) -> None:
        refuse_nothing_meant(self.step, self.key)

    def lookup(self, view: View, since: int) -> Lookup:
        """What was told there."""
        del since
        return _lookup(view, "note", NO_NEWS, self.step, self.key)

    def decide(self, found: Snapshot) -> tuple[None, Sequence[Write]]:
        """Note it.

        Raises:
            NotAsked: the run has neither asked for it nor been told of it.
        """
        news = as_news(found)
        noted = {"note": self.text or None}
        pending = find_pending(news, self.step, self.key)
        if pending is not None:
            return None, (Revise(pending.step, noted),)
        before = _told_at(found, news, self.step, self.key)
        counters = {"amended": news.record.amended + 1}
        return None, (Revise(before["step"], noted, counters=counters),)


def _lookup(view: View, by: str, since: int, step: int | None, key: NodeKey | None) -> Lookup:
    steps = [] if step is None else [step]
    return Lookup(view, by, since, steps=steps, keys=[] if key is None else [key])


def _told_at(found: Snapshot, news: News, step: int | None, key: NodeKey | None) -> Properties:
    """What was told at a step or a node.

    Raises:
        NotAsked: nothing was.
    """
    for one in found.told:
        if step in (None, one["step"]) and key in (None, one["key"]):
            return one
    if find_pending(news, step, key) is not None:
        what = f"step {step}" if key is None else show_key(key)
        raise NotAsked(f"nothing was told for {what} yet: it is pending")
    raise not_asked(news, step, key)
