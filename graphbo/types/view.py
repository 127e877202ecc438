"""What a run takes for its graph: nodes, edges, and which of the nodes may be measured."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from graphbo.errors import InvalidName, InvalidView, Remedy
from graphbo.types.conditions import (
    And,
    Comparison,
    Condition,
    HasLabel,
    IsIn,
    IsNull,
    Not,
    Or,
    both,
    pattern,
    spelled,
)
from graphbo.types.paths import Direction, Path

__all__ = ["DEFAULT_HUB_LIMIT", "View", "WeightMeaning", "check_name"]

#: What a larger weight says of the two ends of a relationship: that they are more alike, or further apart.
WeightMeaning: TypeAlias = Literal["similarity", "distance"]

#: A connector with more neighbours than this says next to nothing about any two of them.
DEFAULT_HUB_LIMIT = 1_000

#: Neo4j's own limit for the name of a label, a relationship type or a property.
LONGEST_NAME = 16_383


def check_name(name: str, what: str) -> str:
    """Return ``name`` if it may become an identifier in a statement.

    Backslashes are refused because Cypher turns Unicode escapes into characters, a backtick among them,
    before it looks at quotes.

    Raises:
        InvalidName: it is empty, too long, or holds a NUL, a backslash or half a surrogate pair.
    """
    if not name:
        raise InvalidName(f"the {what} is empty: give it a name")
    if len(name) > LONGEST_NAME:
        raise InvalidName(
            f"the {what} has {len(name):,} characters: at most {LONGEST_NAME:,} are possible"
        )
    bad = re.search("[\0\\\\\ud800-\udfff]", name)
    if bad:
        raise InvalidName(f"the {what} {name[:60]!a} contains {bad[0]!a}: use a name without it")
    return name


@dataclass(frozen=True)
class View:
    """The graph inside the database that a run works on.

    Its nodes are **candidates**, which may be measured, and **connectors**, which are walked and modelled. Its edges
    are relationships of some types, paths, and what a statement of the user's answers, all added up.

    Attributes:
        labels: nodes with any of these labels are the nodes of the graph. Those that ``candidates`` and the ends of
            ``paths`` name belong to them without being named again.
        relationships: relationships of any of these types are edges.
        direction: which edges lead from a node to its neighbours. The model is symmetric all the same.
        weight: the relationship property that holds the weight; every relationship weighs 1 without it.
        key: the node property that identifies a candidate; the database's internal id without it.
        candidates: nodes with any of these labels are candidates; all nodes of the graph without it.
        where: what every node of the graph has to fulfil.
        candidates_where: what a candidate has to fulfil, too.
        paths: ways of fixed length that are edges.
        hop: the text of a Cypher statement that answers with edges.
        hub_limit: connectors with more neighbours than this are skipped.
        default_weight: of a relationship that has no weight; None to refuse it.
        factors: what the weights of a type are multiplied with, where it is not 1.
        weight_as: what a larger weight says.

    Raises:
        InvalidView: no label, no edge, or an unknown direction.
        InvalidName: a name that cannot go into a statement.
    """

    labels: tuple[str, ...]
    relationships: tuple[str, ...] = ()
    direction: Direction = "both"
    weight: str | None = None
    key: str | None = None
    candidates: tuple[str, ...] = ()
    where: Condition | None = None
    candidates_where: Condition | None = None
    paths: tuple[Path, ...] = ()
    hop: str | None = None
    hub_limit: int = DEFAULT_HUB_LIMIT
    default_weight: float | None = None
    factors: tuple[tuple[str, float], ...] = ()
    weight_as: WeightMeaning = "similarity"

    def __post_init__(self) -> None:
        for what in ("labels", "relationships", "candidates"):
            given: Any = getattr(self, what)
            # A text is a sequence, too: of names of one letter.
            if isinstance(given, str) or given is None:
                object.__setattr__(self, what, (given,) if given is not None else ())
            elif not isinstance(given, Iterable):
                raise InvalidView(f"the {what} are {given!r}: expected a name, or several")
        ends = (label for path in self.paths for label in path.labels)
        # What paths lead to belongs to the graph, unless somebody says what does.
        labels = (*(self.labels or tuple(ends)), *self.candidates)
        object.__setattr__(self, "labels", tuple(dict.fromkeys(labels)))
        object.__setattr__(self, "relationships", tuple(dict.fromkeys(self.relationships)))
        if set(self.candidates) == set(self.labels):
            object.__setattr__(self, "candidates", ())
        self._check()

    def _check(self) -> None:
        if not self.labels:
            raise InvalidView("the view names no node label", Remedy.NAME_LABEL)
        if not (self.relationships or self.paths or self.hop):
            raise InvalidView("the view names no relationship type", Remedy.NAME_RELATIONSHIP)
        if self.direction not in ("both", "out", "in"):
            raise InvalidView(f"the direction is {self.direction!r}: expected both, out or in")
        if self.hub_limit < 1:
            raise InvalidView(f"the hub limit is {self.hub_limit}: expected at least 1")
        if self.weight_as not in get_args(WeightMeaning):
            raise InvalidView(
                f"weights are taken as {self.weight_as!r}: expected similarity or distance"
            )
        self._check_numbers()
        for what, name in self._names():
            check_name(name, what)

    def _check_numbers(self) -> None:
        """What weights are made of."""
        for kind, factor in self.factors:
            if kind not in self.relationships:
                raise InvalidView(f"there is a factor for {kind!r}, which is no type of the view")
            if not (math.isfinite(factor) and factor > 0):
                raise InvalidView(f"the factor of {kind!r} is {factor:g}: expected more than 0")
        default = self.default_weight
        distance = self.weight_as == "distance"
        if distance and self.weight is None:
            raise InvalidView(
                "weights are taken as distances, and there is no weight", Remedy.NAME_DISTANCE
            )
        if default is None:
            return
        if self.weight is None:
            raise InvalidView("there is a default weight, and no weight", Remedy.NAME_WEIGHT)
        if not math.isfinite(default) or default < 0 or (distance and default == 0):
            needed = "more than 0, as it is a distance" if distance else "0 or more"
            raise InvalidView(f"the default weight is {default:g}: expected {needed}")

    def _names(self) -> Iterator[tuple[str, str]]:
        """Every name that goes into a statement, and what it is."""
        yield from (("label", name) for name in self.labels)
        yield from (("relationship type", name) for name in self.relationships)
        yield from (("weight property", name) for name in (self.weight,) if name is not None)
        yield from (("key property", name) for name in (self.key,) if name is not None)
        for condition in (self.where, self.candidates_where):
            yield from _names_in(condition)
        for path in self.paths:
            for node in path.nodes:
                yield from _names_in(node)
            for step in path.steps:
                yield from (("relationship type", name) for name in step.types)
                yield from _names_in(step.where)

    @property
    def types(self) -> tuple[str, ...]:
        """Every type of relationship that its edges are made of."""
        steps = (kind for path in self.paths for step in path.steps for kind in step.types)
        return tuple(dict.fromkeys((*self.relationships, *steps)))

    @property
    def candidate_labels(self) -> tuple[str, ...]:
        """Labels one of which each candidate has: where its key is looked up."""
        return self.candidates or self.labels

    @property
    def candidate_condition(self) -> Condition | None:
        """What a node with one of the candidates' labels has to fulfil to be one."""
        return both(self.where, self.candidates_where)

    @property
    def has_connectors(self) -> bool:
        """Whether some of its nodes are not candidates."""
        return bool(self.candidates) or self.candidates_where is not None

    @property
    def is_plain(self) -> bool:
        """Whether every node with the labels is a candidate, and every edge a relationship."""
        return not (self.paths or self.hop or self.has_connectors or self.where is not None)

    def __str__(self) -> str:
        left, right = {"both": ("-", "-"), "out": ("-", "->"), "in": ("<-", "-")}[self.direction]
        weight = f" {{{spelled(self.weight)}}}" if self.weight else ""
        node = pattern(self.where, self.labels, self.key)
        types = "|".join(map(spelled, self.relationships))
        edges = [f"({node}){left}[:{types}{weight}]{right}()"]
        text = " + ".join([*(edges if self.relationships else []), *map(str, self.paths)])
        if self.paths and not self.relationships and self.where is not None:
            text = f"({node}) by {text}"
        if self.hop is not None:
            text += " + a statement" if text else f"({node}) by a statement"
        if self.has_connectors:
            text += f", candidates ({pattern(self.candidates_where, self.candidate_labels)})"
        return text


def _names_in(condition: Condition | None) -> Iterator[tuple[str, str]]:
    if isinstance(condition, HasLabel):
        yield "label", condition.name
    elif isinstance(condition, (Comparison, IsIn, IsNull)):
        yield "property", condition.property
    elif isinstance(condition, Not):
        yield from _names_in(condition.part)
    elif isinstance(condition, (And, Or)):
        for part in condition.parts:
            yield from _names_in(part)
