"""A view in the texts that people describe one with, on a command line and in Python; and back."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphbo.errors import InvalidView
from graphbo.types.conditions import And, Condition, both, only_labels
from graphbo.types.notation import EXPRESSION, read_condition, read_labels, read_path
from graphbo.types.paths import Direction
from graphbo.types.view import DEFAULT_HUB_LIMIT, View, WeightMeaning

__all__ = ["ViewTexts", "label_text", "read_hop", "read_relationship", "relationship_text"]

#: A statement that is longer is no description of a graph.
LONGEST_HOP = 100_000

#: What the end of ``CODESHARE=0.2`` has to look like for it to be a factor; anything else belongs to the name.
_FACTOR = re.compile(r"(?P<kind>.+)=(?P<factor>[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_KEYS = re.compile(r"\$(keys\b|`keys`)")


def read_relationship(text: str) -> tuple[str, float]:
    """A relationship type and its factor: ``ROUTE``, or ``CODESHARE=0.2``.

    The factor is what stands behind the last ``=``, if that is a number. A type whose own name ends like that is
    written with a factor: ``A=1`` is the type ``A`` times 1, ``A=1=1`` the type ``A=1``.
    """
    found = _FACTOR.fullmatch(text)
    return (found["kind"], float(found["factor"])) if found else (text, 1.0)


def relationship_text(kind: str, factor: float) -> str:
    """The text that is read as this type and factor."""
    return kind if factor == 1 and not _FACTOR.fullmatch(kind) else f"{kind}={factor:.15g}"


def label_text(name: str) -> str:
    """The text that is read as this label."""
    return "`" + name.replace("`", "``") + "`" if EXPRESSION.search(name) else name


def read_hop(text: str, what: str = "the statement") -> str:
    """A statement that answers with edges, as it is kept.

    Raises:
        InvalidView: it is too long, empty, or does not look at ``$keys``.
    """
    if len(text) > LONGEST_HOP:
        raise InvalidView(
            f"{what} has {len(text):,} characters: at most {LONGEST_HOP:,} are possible"
        )
    kept = text.strip().removesuffix(";").strip()
    bare = _COMMENT.sub("", kept).strip()
    if not bare or "\0" in kept:
        raise InvalidView(f"{what} holds no statement")
    if not _KEYS.search(bare):
        raise InvalidView(
            f"{what} does not use $keys: it has to answer with the edges of the nodes that have these keys"
        )
    return kept


@dataclass(frozen=True)
class ViewTexts:
    """What was said of a view; None, or nothing, of what was not.

    Attributes:
        labels: labels and label expressions.
        relationships: types with their factors.
        hop: the text of the statement.

    The others are as in ``View``, before they are read.
    """

    labels: tuple[str, ...] = ()
    relationships: Mapping[str, float] = field(default_factory=dict)
    direction: Direction | None = None
    weight: str | None = None
    key: str | None = None
    candidates: tuple[str, ...] = ()
    where: str | None = None
    candidates_where: str | None = None
    paths: Sequence[str] = ()
    hop: str | None = None
    hub_limit: int | None = None
    default_weight: float | None = None
    weight_as: WeightMeaning | None = None

    @property
    def names_a_graph(self) -> bool:
        """Whether there is enough for a view: nodes and edges."""
        nodes = self.labels or self.candidates or self.paths
        return bool(nodes and (self.relationships or self.paths or self.hop))

    @property
    def names_anything(self) -> bool:
        """Whether any nodes or edges are named."""
        named = (self.labels, self.candidates, self.paths, self.relationships, self.hop)
        return any(named)

    def view(self, old: View | None = None) -> View:
        """The view that this means.

        Args:
            old: a view that has what was not said.

        Raises:
            InvalidName, InvalidView: there is no such view.
        """
        labels, where = _nodes("the label", self.labels, "the filter", self.where)
        candidates, candidates_where = _nodes(
            "the label of candidates",
            self.candidates,
            "the filter of candidates",
            self.candidates_where,
        )
        factors = tuple((kind, one) for kind, one in self.relationships.items() if one != 1)
        paths = tuple(map(read_path, self.paths))
        hop = None if self.hop is None else read_hop(self.hop)
        if old is None:
            return View(
                labels,
                tuple(self.relationships),
                self.direction or "both",
                self.weight,
                self.key,
                candidates,
                both(*where),
                both(*candidates_where),
                paths,
                hop,
                DEFAULT_HUB_LIMIT if self.hub_limit is None else self.hub_limit,
                self.default_weight,
                factors,
                self.weight_as or "similarity",
            )
        return View(
            labels or old.labels,
            tuple(self.relationships) or old.relationships,
            self.direction or old.direction,
            self.weight or old.weight,
            self.key or old.key,
            candidates or old.candidates,
            _kept(old.where, where, bool(self.labels), self.where is not None),
            _kept(
                old.candidates_where,
                candidates_where,
                bool(self.candidates),
                self.candidates_where is not None,
            ),
            paths or old.paths,
            hop or old.hop,
            old.hub_limit if self.hub_limit is None else self.hub_limit,
            old.default_weight if self.default_weight is None else self.default_weight,
            factors if self.relationships else old.factors,
            self.weight_as or old.weight_as,
        )


#: What a label expression asks for beside labels, and a filter.
_Parts = tuple[Condition | None, Condition | None]


def _nodes(
    label: str, labels: Sequence[str], filtered: str, where: str | None
) -> tuple[tuple[str, ...], _Parts]:
    plain, rest = read_labels(labels, label)
    return plain, (rest, None if where is None else read_condition(where, filtered))


def _kept(old: Condition | None, given: _Parts, labels: bool, where: bool) -> Condition | None:
    """A condition of which the label expression was given, or the filter, or both, or neither.

    What was given first is not known any more: whatever agrees with it will do.
    """
    splits = _splits(old)
    for split in splits:
        if (not labels or given[0] == split[0]) and (not where or given[1] == split[1]):
            return old
    first, second = splits[-1]
    return both(given[0] if labels else first, given[1] if where else second)


def _splits(condition: Condition | None) -> list[_Parts]:
    """What a label expression and a filter may have been that became this condition."""
    splits: list[_Parts] = [(None, condition)]
    if condition is not None and only_labels(condition):
        splits.append((condition, None))
    if isinstance(condition, And) and only_labels(condition.parts[0]):
        splits.append((condition.parts[0], both(*condition.parts[1:])))
    return splits
