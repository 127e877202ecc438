"""Reading what people write about a graph: filters, label expressions and paths, in a part of Cypher's notation.

A grammar of our own: nothing of the text gets into a statement but names, which are quoted, and values, which are
parameters.

::

    filter      = all {"OR" all}                      all  = one {"AND" one}
    one         = "NOT" one | "(" filter ")" | ":" labels | property test
    test        = ("=" | "<>" | "<" | "<=" | ">" | ">=") value | "STARTS" "WITH" text
                | "IN" "[" [value {"," value}] "]" | "IS" ["NOT"] "NULL"
    labels      = together {"|" together}             together = label {"&" label}
    label       = "!" label | "(" labels ")" | name
    path        = node step node {step node}
    node        = "(" [variable] [":" labels] ["WHERE" filter] ")"
    step        = ("-" | "<-") "[" [variable] ":" name {"|" name} ["WHERE" filter] "]" ("-" | "->")
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Final, cast

from graphbo.errors import InvalidView
from graphbo.types.conditions import (
    NAME,
    WORDS,
    And,
    Comparison,
    Condition,
    HasLabel,
    IsIn,
    IsNull,
    Not,
    Operator,
    Or,
    Value,
    any_label,
    both,
    required_labels,
)
from graphbo.types.paths import Direction, Path, Step
from graphbo.types.text import cut

__all__ = ["read_condition", "read_labels", "read_path"]

#: More is no notation but an accident.
LONGEST_TEXT, DEEPEST = 10_000, 40

#: What makes a label expression of the value of an option; everything else is the name of a label as it stands.
EXPRESSION = re.compile(r"[&|!()]|\A`")

_SPACE = re.compile(r"\s*")
_QUOTED = re.compile(r"`((?:[^`]|``)+)`")
_WORD = re.compile(NAME)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?(?![\w.])")
_TEXT = re.compile(r""""((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'""", re.DOTALL)
_OPERATOR = re.compile(r"<>|<=|>=|=|<|>")
#: What comes after the name `Data` of a `Data Centre`, or of a `Data-Centre`, without backticks.
_GOES_ON = re.compile(r"\s*(\w|[-/.#$@]\w)")
_ESCAPE = re.compile(r"""\\(["'\\/bfnrt]|u[0-9a-fA-F]{4})""")

_A_VALUE: Final = 'a value, such as "EU", 12.5 or true'
_LARGEST = 2**63
#: Python reads no longer whole numbers.
_MOST_DIGITS = 4_000


class _Reader:
    """A text, and the place up to which it was read."""

    def __init__(self, text: str, what: str) -> None:
        self._text = text
        self._what = what
        self._at = 0
        self._depth = 0
        #: Where the last name ended that stood in no backticks.
        self._named = -1
        #: What a property may be written as a property of: ``v.hours``.
        self.variable: str | None = None
        if len(text) > LONGEST_TEXT:
            raise InvalidView(
                f"{what} has {len(text):,} characters: at most {LONGEST_TEXT:,} can be read"
            )

    # The text

    def refusal(self, expected: str) -> InvalidView:
        """An error that says where the text cannot be read, and what would do."""
        self._skip()
        rest = self._text[self._at :]
        place = f"at character {self._at + 1}, {cut(rest, 30)!r}" if rest else "at its end"
        after_name = self._named >= 0 and not self._text[self._named : self._at].strip()
        hint = (
            "; if that is still the name, put all of it in backticks"
            if after_name and _GOES_ON.match(rest)
            else ""
        )
        return InvalidView(
            f"{self._what} {cut(self._text, 120)!r} cannot be read {place}: expected {expected}{hint}"
        )

    def _skip(self) -> None:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What comes next, if it is like this."""
        self._skip()
        found = pattern.match(self._text, self._at)
        if found:
            self._at = found.end()
        return found

    def symbol(self, symbol: str) -> bool:
        """Whether this comes next; it is read then."""
        self._skip()
        found = self._text.startswith(symbol, self._at)
        self._at += len(symbol) if found else 0
        return found

    def need(self, symbol: str, expected: str = "") -> None:
        """Read this, or raise."""
        if not self.symbol(symbol):
            raise self.refusal(expected or f"{symbol!r}")

    def word(self, *words: str) -> bool:
        """Whether these words come next, in whatever case; they are read then."""
        start = self._at
        for word in words:
            found = self.take(_WORD)
            if found is None or found[0].upper() != word:
                self._at = start
                return False
        return True

    def end(self, expected: str) -> None:
        """Nothing may be left."""
        self._skip()
        if self._at < len(self._text):
            raise self.refusal(expected)

    def name(self, expected: str) -> str:
        """A name, in backticks or without."""
        quoted = self.take(_QUOTED)
        if quoted:
            return quoted[1].replace("``", "`")
        start = self._at
        found = self.take(_WORD)
        if found is None or found[0].lower() in WORDS:
            self._at = start
            raise self.refusal(expected)
        self._named = self._at
        return found[0]

    def nested(self, read: Callable[[], Condition], close: str) -> Condition:
        """What stands in parentheses."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise self.refusal(f"at most {DEEPEST} parentheses inside each other")
        found = read()
        self.need(close, f"{close!r}, or AND or OR" if read == self.condition else f"{close!r}")
        self._depth -= 1
        return found

    # Filters

    def condition(self) -> Condition:
        """Alternatives."""
        parts = [self._all()]
        while self.word("OR"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _all(self) -> Condition:
        parts = [self._one()]
        while self.word("AND"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _one(self) -> Condition:
        nots = 0
        while self.word("NOT"):
            nots += 1
        found = self._atom()
        # Two of them say nothing, even of what is unknown.
        return Not(found) if nots % 2 else found

    def _atom(self) -> Condition:
        if self.symbol("("):
            return self.nested(self.condition, ")")
        if self.symbol(":"):
            return self.labels()
        name = self.name("a property, as in altitude > 1000, or in backticks: `my property`")
        if name == self.variable:
            if self.symbol(":"):
                return self.labels()
            if self.symbol("."):
                name = self.name("a property")
        elif self.symbol("."):
            raise self.refusal(
                "a property alone"
                if self.variable is None
                else f"a property of {self.variable!r}, or a property alone"
            )
        return self._test(name)

    def _test(self, name: str) -> Condition:
        if self.word("IS"):
            negated = self.word("NOT")
            if not self.word("NULL"):
                raise self.refusal("NULL or NOT NULL after IS")
            return Not(IsNull(name)) if negated else IsNull(name)
        if self.word("IN"):
            return IsIn(name, self._values())
        if self.word("STARTS", "WITH"):
            start = self._value('a text, such as "EU"')
            if not isinstance(start, str):
                raise self.refusal(
                    'a text before this, such as "EU": only a text starts with something'
                )
            return Comparison(name, "STARTS WITH", start)
        found = self.take(_OPERATOR)
        if found is None:
            raise self.refusal("=, <>, <, <=, >, >=, IN, IS NULL or STARTS WITH after a property")
        return Comparison(name, cast(Operator, found[0]), self._value(_A_VALUE))

    def _values(self) -> tuple[Value, ...]:
        self.need("[", "a list of values, such as [1, 2, 3]")
        values: list[Value] = []
        if self.symbol("]"):
            return ()
        while True:
            values.append(self._value(_A_VALUE))
            if self.symbol("]"):
                return tuple(values)
            self.need(",", "',' or ']'")

    def _value(self, expected: str) -> Value:
        text = self.take(_TEXT)
        if text:
            inner = text[1] if text[1] is not None else text[2]
            return self._checked(_ESCAPE.sub(_unescaped, inner))
        start = self._at
        number = self.take(_NUMBER)
        if number:
            fraction = number[1] or number[2]
            whole = not fraction and len(number[0]) <= _MOST_DIGITS
            value: int | float = int(number[0]) if whole else float(number[0])
            if not -_LARGEST <= value < _LARGEST and not (fraction and abs(value) < 1e308):
                self._at = start
                raise self.refusal("a number that a database can hold")
            return value
        if self.word("TRUE"):
            return True
        if self.word("FALSE"):
            return False
        if self.word("NULL"):
            self._at = start
            raise self.refusal(f"{expected}: what is not there is found by IS NULL")
        raise self.refusal(expected)

    def _checked(self, text: str) -> str:
        if re.search("[\0\ud800-\udfff]", text):
            raise self.refusal("a text without NUL and half characters before this")
        return text

    # Label expressions

    def labels(self) -> Condition:
        """Alternatives."""
        parts = [self._labels_together()]
        while self.symbol("|"):
            self.symbol(":")
            parts.append(self._labels_together())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _labels_together(self) -> Condition:
        parts = [self._label()]
        while self.symbol("&") or self.symbol(":"):
            parts.append(self._label())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _label(self) -> Condition:
        nots = 0
        while self.symbol("!"):
            nots += 1
        found = self._plain_label()
        return Not(found) if nots % 2 else found

    def _plain_label(self) -> Condition:
        if self.symbol("("):
            return self.nested(self.labels, ")")
        return HasLabel(self.name("a label, or in backticks: `my label`"))

    # Paths

    def path(self) -> Path:
        """Nodes, and relationships between them."""
        nodes, steps = [self._node()], []
        while True:
            self._skip()
            if self._at == len(self._text):
                break
            steps.append(self._step())
            nodes.append(self._node())
        if not steps:
            raise self.refusal("a relationship, as in -[:VISITS]->")
        return Path(tuple(nodes), tuple(steps))

    def _node(self) -> Condition | None:
        self.need("(", "a node, as in (:Person)")
        self._take_variable()
        labels = self.labels() if self.symbol(":") else None
        found = both(labels, self._where())
        self.need(")", "')', or WHERE and a filter")
        return found

    def _step(self) -> Step:
        inward = self.symbol("<-")
        if not inward:
            self.need("-", "a relationship, as in -[:VISITS]-> or <-[:VISITS]-")
        self.need("[", "'[' and the type of a relationship, as in -[:VISITS]->")
        self._take_variable()
        self.need(":", "':' and the type of a relationship, as in -[:VISITS]->")
        types = [self.name("the type of a relationship")]
        while self.symbol("|"):
            self.symbol(":")
            types.append(self.name("the type of a relationship"))
        if self._text.startswith("*", self._at):
            raise self.refusal(
                "']': paths have a fixed length, so give several paths in place of *"
            )
        where = self._where()
        self.need("]", "']', or WHERE and a filter")
        outward = self.symbol("->")
        if not outward:
            self.need("-", "'-' or '->'")
        direction: Direction = "both" if inward == outward else "out" if outward else "in"
        return Step(tuple(dict.fromkeys(types)), direction, where)

    def _take_variable(self) -> None:
        start = self._at
        found = self.take(_WORD)
        if found is not None and found[0].lower() in WORDS:
            self._at, found = start, None
        self.variable = None if found is None else found[0]

    def _where(self) -> Condition | None:
        return self.condition() if self.word("WHERE") else None


def _unescaped(match: re.Match[str]) -> str:
    """What an escape in a text stands for."""
    if match[1] == "'":
        return "'"
    return str(json.loads(f'"{match[0]}"'))


def read_condition(text: str, what: str = "the filter") -> Condition:
    """A filter, such as ``continent = "EU" AND altitude > 1000``.

    Raises:
        InvalidView: it cannot be read; the message says where.
    """
    reader = _Reader(text, what)
    found = reader.condition()
    reader.end("AND, OR or the end")
    return found


def read_labels(
    texts: Sequence[str], what: str = "the label"
) -> tuple[tuple[str, ...], Condition | None]:
    """Labels and label expressions, such as ``Application&!Retired``, of which a node fulfils any.

    Returns:
        Labels one of which each such node has, and what else it has to fulfil.

    Raises:
        InvalidView: one cannot be read, or names no label that a node has to have.
    """
    if not any(EXPRESSION.search(text) for text in texts):
        return tuple(texts), None
    conditions = [_label_condition(text, what) for text in texts]
    labels = tuple(dict.fromkeys(name for one in conditions for name in required_labels(one)))
    parts = [part for one in conditions for part in (one.parts if isinstance(one, Or) else (one,))]
    whole = parts[0] if len(parts) == 1 else Or(tuple(parts))
    return labels, None if whole == any_label(labels) else whole


def _label_condition(text: str, what: str) -> Condition:
    if not EXPRESSION.search(text):
        return HasLabel(text)
    reader = _Reader(text, what)
    found = reader.labels()
    reader.end("&, | or the end")
    if not required_labels(found):
        raise InvalidView(
            f"{what} {cut(text, 120)!a} says which labels a node does not have: name one that it has, "
            f"as in Station&{cut(text, 40)}"
        )
    return found


def read_path(text: str, what: str = "the path") -> Path:
    """A path, such as ``(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)``.

    Raises:
        InvalidView: it cannot be read; the message says where.
    """
    return _Reader(text, what).path()
