"""What is known of nodes before they are measured, as numbers: properties and degrees become columns.

Their scales come from a sample of the nodes, so that a column means the same wherever a node is: what is usual is 0,
and a whole property, be it one number or an embedding of a thousand, varies by about 1. A value that is missing is as
if it was what is usual.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from graphbo.types import FloatArray, IntArray, Sample, Subgraph

__all__ = ["AUTO", "DEGREE", "NUMBERS", "Features", "Scale", "scale_of"]

#: In place of the names of properties: those that are fit to be features. A run looks which they are when it begins.
AUTO = "auto"

#: What kind of property numbers are, in words.
NUMBERS = "numbers"

#: What the feature is called that every graph has.
DEGREE = "degree"

#: A text with more different values is a name, not a feature; so is one that hardly any two nodes share.
MOST_TEXTS, NODES_PER_TEXT = 20, 4

#: A property that fewer of the nodes have says too little.
LEAST_PRESENT = 0.1

#: What varies less does not vary: it is rounding.
SMALLEST_SPREAD = 1e-9

#: The distance between the quartiles of a normal distribution, in standard deviations.
QUARTILES_APART = 1.349

#: The name and the columns of each feature, of the same nodes.
Columns: TypeAlias = Mapping[str, FloatArray]


class Scale(Protocol):
    """How the values of one property become columns."""

    @property
    def about(self) -> str:
        """What kind of property it is, for people."""

    def columns(self, values: Sequence[object]) -> FloatArray:
        """One row for each value."""


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Numbers, true and false among them: straight where most of them are, and the logarithm far out.

    So income in dollars, in thousands and on a logarithmic scale are much the same feature.
    """

    centre: float
    spread: float
    mean: float
    deviation: float
    about: str = NUMBERS

    def columns(self, values: Sequence[object]) -> FloatArray:
        given = np.array([_number(value) for value in values], dtype=np.float64)
        found = (self.bent(given) - self.mean) / self.deviation
        return np.where(np.isnan(given), 0.0, found)[:, None]

    def bent(self, given: FloatArray) -> FloatArray:
        # Halves, as a difference of the largest numbers there are is none.
        bent: FloatArray = np.arcsinh((given / 2 - self.centre / 2) / (self.spread / 2))
        return bent


@dataclass(frozen=True, eq=False)
class _Texts:
    """Texts with few values: a column for each of them."""

    frequencies: Mapping[str, float]

    @property
    def about(self) -> str:
        return f"{len(self.frequencies)} texts"

    def columns(self, values: Sequence[object]) -> FloatArray:
        shares = np.array(list(self.frequencies.values()))
        places = {text: place for place, text in enumerate(self.frequencies)}
        found = np.zeros((len(values), len(shares)))
        for row, value in enumerate(values):
            if isinstance(value, str) and value in places:
                found[row] = -shares
                found[row, places[value]] += 1.0
        return found / math.sqrt(float(np.sum(shares * (1 - shares))))


@dataclass(frozen=True, eq=False)
class _Vectors:
    """Lists of numbers, all of one length, such as embeddings: each is one feature, whole."""

    means: FloatArray
    deviations: FloatArray

    @property
    def about(self) -> str:
        return f"lists of {len(self.means)} numbers"

    def columns(self, values: Sequence[object]) -> FloatArray:
        given = np.array([_vector(value, len(self.means)) for value in values])
        given = given.reshape(len(values), len(self.means))
        found = (given - self.means) / self.deviations / math.sqrt(len(self.means))
        return np.where(np.isnan(given), 0.0, found)


def scale_of(values: Sequence[object]) -> Scale | str:
    """How the values that a sample of nodes has of a property become columns; or, in words, why they cannot.

    Args:
        values: one of each node, None where it is missing.
    """
    present = [value for value in values if value is not None]
    kinds = Counter(map(_kind, present))
    kind = min(kinds, key=lambda one: (-kinds[one], one), default="")
    if not kind:
        return "no node has it"
    if kinds[kind] < LEAST_PRESENT * len(values):
        return "few nodes have it"
    usable = [value for value in present if _kind(value) == kind]
    if kind == "number":
        return _scale_of_numbers(usable)
    if kind == "text":
        return _scale_of_texts(usable)
    if kind.startswith("list"):
        return _scale_of_vectors(usable)
    return f"it holds {kind}"


def _kind(value: object) -> str:
    if isinstance(value, bool | int | float):
        return "number" if not math.isnan(_number(value)) else "numbers that are none"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple):
        numbers = value and all(isinstance(one, int | float) for one in value)
        return f"list of {len(value)}" if numbers else "no lists of numbers"
    return f"values of the type {type(value).__name__}"


def _number(value: object) -> float:
    """As a number; NaN if it is none."""
    if not isinstance(value, bool | int | float):
        return math.nan
    try:
        found = float(value)
    except OverflowError:
        return math.nan
    return found if math.isfinite(found) else math.nan


def _vector(value: object, length: int) -> list[float]:
    if not isinstance(value, list | tuple) or len(value) != length:
        return [math.nan] * length
    return [_number(one) for one in value]


def _scale_of_numbers(values: Sequence[object]) -> Scale | str:
    given = np.array([_number(value) for value in values])
    lower, centre, upper = np.quantile(given, [0.25, 0.5, 0.75]).tolist()
    # Where most are the same, as with true and false, all of them tell the scale. In units of the largest, as squares
    # of the largest numbers there are overflow.
    largest = float(np.abs(given).max()) or 1.0
    spread = (upper / largest - lower / largest) / QUARTILES_APART
    if spread <= SMALLEST_SPREAD:
        spread = float((given / largest).std())
    if spread <= SMALLEST_SPREAD:
        return "it is the same everywhere"
    scale = _Numbers(centre, spread * largest, 0.0, 1.0)
    bent = scale.bent(given)
    about = "true or false" if all(isinstance(value, bool) for value in values) else scale.about
    return _Numbers(centre, scale.spread, float(bent.mean()), float(bent.std()), about)


def _scale_of_texts(values: Sequence[object]) -> Scale | str:
    counts = Counter(str(value) for value in values)
    if len(counts) == 1:
        return "it is the same everywhere"
    if len(counts) > MOST_TEXTS or len(counts) * NODES_PER_TEXT > len(values):
        return f"its texts are too many: {len(counts)} among {len(values)} nodes"
    return _Texts({text: counts[text] / len(values) for text in sorted(counts)})


def _scale_of_vectors(values: Sequence[object]) -> Scale | str:
    first = values[0]
    length = len(first) if isinstance(first, list | tuple) else 0
    given = np.array([_vector(value, length) for value in values])
    with np.errstate(over="ignore", invalid="ignore"):
        means, deviations = np.nanmean(given, axis=0), np.nanstd(given, axis=0)
    varies = deviations > SMALLEST_SPREAD * np.maximum(np.abs(means), 1e-300)
    if not varies.any():
        return "it is the same everywhere"
    return _Vectors(means, np.where(varies, deviations, np.inf))


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a run, with the scales of a sample of its nodes.

    Attributes:
        scales: of the properties that can be used, by name.
        degree: that of the logarithm of the degree: its mean and its deviation; None where degrees are not known, or
            all the same.
    """

    scales: Mapping[str, Scale]
    degree: tuple[float, float] | None = None

    @classmethod
    def of(cls, names: Sequence[str], sample: Sample | Subgraph) -> "Features":
        """Those of these properties that can be used, and the degree where it is known."""
        found = {name: scale_of(sample.properties.get(name, ())) for name in names}
        scales = {name: one for name, one in found.items() if not isinstance(one, str)}
        if sample.degrees is None or not len(sample.degrees) or DEGREE in scales:
            return cls(scales)  # a property of that name says what it is called after
        logarithm = np.log1p(sample.degrees)
        mean, deviation = float(logarithm.mean()), float(logarithm.std())
        return cls(scales, (mean, deviation) if deviation > SMALLEST_SPREAD else None)

    @property
    def names(self) -> tuple[str, ...]:
        """What the features are called: the degree first, where it is one."""
        return (*(() if self.degree is None else (DEGREE,)), *self.scales)

    def properties(self, known: Mapping[str, tuple[object, ...]]) -> dict[str, FloatArray]:
        """The columns of each property, of nodes that have these values."""
        return {name: scale.columns(known[name]) for name, scale in self.scales.items()}

    def columns(
        self, degrees: IntArray | None, known: Mapping[str, tuple[object, ...]]
    ) -> dict[str, FloatArray]:
        """The same, with the degree."""
        found = {}
        if self.degree is not None and degrees is not None:
            mean, deviation = self.degree
            found[DEGREE] = ((np.log1p(degrees) - mean) / deviation)[:, None]
        return found | self.properties(known)
