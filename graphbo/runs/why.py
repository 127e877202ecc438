"""Why a node: what is expected of it as a sum of parts that add up, and in words."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from graphbo.types import NodeKey, Observation, Phase
from graphbo.types.text import number

if TYPE_CHECKING:  # it takes a second to import
    from graphbo.search.strategies.model import Belief
    from graphbo.search.strategies.scouts import Scouted

__all__ = ["Part", "Standing", "Why", "parts_of", "parts_of_scout", "whys_in"]

#: How a run stands to a node: it would be proposed next, is being measured, was measured, has failed, has a known
#: value, or none of these.
Standing: TypeAlias = Literal["next", "pending", "measured", "failed", "known", "excluded", "open"]

#: A part is worth a word if it is at least so much of the largest one, and of the standard deviation.
WORTH_A_WORD = 0.15
#: At most so many nodes are named for a node, and against it.
MOST_NAMED = 2
#: What was expected at another time is said if it differs by this much of the standard deviation.
DIFFERS = 0.02


@dataclass(frozen=True)
class Part:
    """One of the numbers that an expected value is the sum of, in the units of the values.

    Attributes:
        kind: the ``level`` is what is expected of any node here; to it add a ``node`` that was measured, or is being
            measured, and a ``feature`` of the node itself, such as its degree.
        amount: how much.
        key: of a node.
        value: what was measured there, None if it is still being measured; of a feature, what the node has.
        name: of a feature.
        near: whether a high value of that node raises what is expected here; what is far away may lower it.
    """

    kind: Literal["level", "node", "feature"]
    amount: float
    key: NodeKey | None = None
    value: object = None
    name: str = ""
    near: bool = False


@dataclass(frozen=True)
class Why:
    """Why a node is, was or is not to be measured.

    Attributes:
        key: the node.
        standing: how the run stands to it.
        maximize: whether large values are wanted.
        phase: how the node came to be proposed; None if it was not.
        step: its number in the run, if it has one.
        value: what was measured there.
        mean, std: what is expected of a measurement, or was before it was made; None where nothing is known.
        acquisition: how much a measurement promises by that.
        parts: what the mean is the sum of: the level, then nodes and features, the largest first. Empty where nothing
            is known, and for a model that cannot say.
        best: the best value that was known.
        place, candidates: its place among the candidates of the region, from 1, and how many those are.
        asked_mean: what was expected when it was asked for: more may have been told since then.
        cost: what a measurement costs, or did, in a run with costs; None where nobody looked.
        because: in words what there is to say where there is no expectation.
    """

    key: NodeKey
    standing: Standing
    maximize: bool
    phase: Phase | None = None
    step: int | None = None
    value: float | None = None
    mean: float | None = None
    std: float | None = None
    acquisition: float | None = None
    parts: tuple[Part, ...] = ()
    best: float | None = None
    place: int | None = None
    candidates: int = 0
    asked_mean: float | None = None
    cost: float | None = None
    because: str = ""

    def __str__(self) -> str:
        return self.text()

    def text(self, named: Callable[[NodeKey], str] = str) -> str:
        """In a line.

        Args:
            named: what nodes are called.
        """
        if self.mean is None:
            return self.because
        expected = f"Expected {self._shown(self.mean)} ± {self._shown(self.std)}"
        return f"{expected}: {self.reasons(named)}{self._asked()}"

    @property
    def digits(self) -> int:
        """How many digits after the point say something, where values are as uncertain as this."""
        return 6 if not self.std else 1 - math.floor(math.log10(self.std))

    def _shown(self, value: float | None) -> str:
        """With as many digits as what is only expected deserves."""
        return number(None if value is None else round(value, self.digits))

    def reasons(self, named: Callable[[NodeKey], str] = str) -> str:
        """What speaks for it and against it, without the numbers that are expected."""
        if not self.parts:
            return "the model does not say why"
        worth = self._worth_a_word()
        nodes = [one for one in worth if one.kind == "node" and one.near]
        speaking = [_called(one, named) for one in nodes if self._for(one)][:MOST_NAMED]
        against = [_called(one, named) for one in nodes if not self._for(one)][:MOST_NAMED]
        # A scout may be anywhere: nodes speak for it that have the same features.
        word = "like" if self.phase == "scout" else "near"
        said = [f"{word} {' and '.join(speaking)}"] * bool(speaking)
        if against and self.phase == "scout":
            said.append(f"being like {' and '.join(against)} speaks against it")
        elif against:
            verb = "speaks" if len(against) == 1 else "speak"
            said.append(f"{' and '.join(against)} near by {verb} against it")
        said += [
            f"{one.name} speaks {'for' if self._for(one) else 'against'} it ({_signed(one.amount)})"
            for one in worth
            if one.kind == "feature"
        ]
        if not said:
            level = next(one.amount for one in self.parts if one.kind == "level")
            return f"little is known of it; {self._shown(level)} is usual here"
        return "; ".join(said)

    def _worth_a_word(self) -> list[Part]:
        others = [one for one in self.parts if one.kind != "level" and one.value is not None]
        largest = max((abs(one.amount) for one in others), default=0.0)
        least = WORTH_A_WORD * max(largest, self.std or 0.0)
        return [one for one in others if abs(one.amount) >= least and one.amount]

    def _for(self, part: Part) -> bool:
        return (part.amount > 0) == self.maximize

    def _asked(self) -> str:
        if self.asked_mean is None or self.mean is None:
            return ""
        if abs(self.asked_mean - self.mean) <= DIFFERS * (self.std or 0.0):
            return ""
        return f" (expected {self._shown(self.asked_mean)} when it was asked for)"


def _called(part: Part, named: Callable[[NodeKey], str]) -> str:
    value = part.value if isinstance(part.value, int | float) else None
    return f"{named(part.key if part.key is not None else '')} ({number(value)})"


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{number(float(f'{value:.2g}'))}"


def parts_of(
    belief: "Belief", keys: Sequence[NodeKey], measured: Mapping[NodeKey, Observation]
) -> list[tuple[Part, ...]]:
    """What the model's means at some nodes are the sums of; nothing for a model that does not say.

    Args:
        belief: what the model makes of a region.
        keys: nodes in it.
        measured: what was told, by node.
    """
    if belief.fitted is None or not keys:
        return [()] * len(keys)
    rows = [belief.subgraph.row(key) for key in keys]
    found = belief.fitted.parts(rows)
    others = [belief.subgraph.keys[int(row)] for (row,) in belief.fitted.rows.tolist()]
    values = [measured[other].value if other in measured else None for other in others]
    sums = []
    for place, row in enumerate(rows):
        nodes = zip(
            others, values, found.observations[:, place], found.weights[:, place], strict=True
        )
        features = zip(belief.features, found.features[:, place], strict=True)
        parts = [
            *(
                Part("node", float(amount), other, value, near=bool(weight > 0))
                for other, value, amount, weight in nodes
            ),
            *(
                Part("feature", float(amount), value=belief.feature_of(name, row), name=name)
                for name, amount in features
            ),
        ]
        level = Part("level", float(found.level[place]))
        sums.append((level, *sorted(parts, key=lambda one: -abs(one.amount))))
    return sums


def parts_of_scout(
    scouted: "Scouted", known: Mapping[str, object], measured: Mapping[NodeKey, Observation]
) -> tuple[Part, ...]:
    """What is expected of a scout, as a sum.

    Args:
        scouted: what is expected.
        known: what the node has of the features.
        measured: what was told, by node.
    """
    found = scouted.parts
    parts = [
        *(
            Part("node", float(amount), key, measured[key].value, near=bool(weight > 0))
            for key, amount, weight in zip(
                scouted.observed, found.observations[:, 0], found.weights[:, 0], strict=True
            )
        ),
        *(
            Part("feature", float(amount), value=known.get(name), name=name)
            for name, amount in zip(scouted.features, found.features[:, 0], strict=True)
        ),
    ]
    level = Part("level", float(found.level[0]))
    return (level, *sorted(parts, key=lambda one: -abs(one.amount)))


def whys_in(belief: "Belief", history: Sequence[Observation], *, maximize: bool) -> list[Why]:
    """Why any node of a region that is not measured might be, by what is known now."""
    measured = {one.key: one for one in history}
    keys = [key for key in belief.subgraph if key not in measured]
    found = []
    for key, parts in zip(keys, parts_of(belief, keys, measured), strict=True):
        row = belief.subgraph.row(key)
        mean, std = float(belief.posterior.mean[row]), float(belief.posterior.std[row])
        found.append(Why(key, "open", maximize, mean=mean, std=std, parts=parts))
    return found
