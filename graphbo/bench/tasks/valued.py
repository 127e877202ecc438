"""Graphs with measured values, and what is known of each node: those that the user has, and one that is made."""

import csv
import gzip
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, NamedTuple

import numpy as np

from graphbo.bench.tasks.base import Problem, Task
from graphbo.bench.tasks.datasets import VARIABLE
from graphbo.bench.tasks.graphs import watts_strogatz
from graphbo.bench.tasks.parameters import Within
from graphbo.errors import Remedy, TaskError
from graphbo.types import FloatArray, IntArray, Property

__all__ = ["ALL", "MADE", "Valued", "data_sets_in"]

#: The one that needs no file, and what stands for all that there are files of.
MADE: Final = "made"
ALL: Final = "all"

#: Those that this was written for; any other of the same form will do.
USUAL: Final = (
    "counties-income",
    "twitch-es",
    "twitch-ptbr",
    "twitch-ru",
    "wikipedia-chameleon",
    "wikipedia-squirrel",
)

_ORIGIN = "MUSAE (Twitch, Wikipedia), US Census and USDA tables (counties)"
_NODES, _EDGES = "-nodes.csv.gz", "-edges.csv.gz"

#: Values whose largest is so many times a typical one are compared by their logarithms.
_HEAVY = 10.0

#: How many useless columns ``known=noise`` adds.
_USELESS = 5


class _Graph(NamedTuple):
    edges: IntArray
    values: FloatArray
    columns: dict[str, list[Property | None]]


@dataclass(frozen=True)
class Valued(Task):
    """The node with the largest measured value; each has the properties that the data knows of it.

    Regret is that of the logarithm of values with a heavy tail. The seed decides nothing but how the nodes are
    numbered, and what is drawn. A data set NAME is NAME-nodes.csv.gz (id, value, columns; lists separated by ``;``)
    and NAME-edges.csv.gz (source, target).
    """

    name: ClassVar[str] = "valued"

    data: Annotated[str, "the graph: made, or the name of a data set of the user's"] = MADE
    value: Annotated[
        Literal["log", "raw"],
        "what a measurement gives where values have a heavy tail: the logarithm, or the value as it is",
    ] = "log"
    known: Annotated[
        Literal["columns", "noise", "answer", "belief", "shuffled", "negated"],
        "what is known of nodes: the data's columns; also five columns of noise; only the value itself; or the columns "
        "and somebody's belief: right, of other nodes, or the contrary",
    ] = "columns"
    n: Annotated[int, Within(50, 10**6), "how many nodes, of the graph that is made"] = 1000
    #: Where the data sets are.
    data_dir: Path | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data != MADE:
            self._only_with("n", "data=made")

    def problem(self, seed: int) -> Problem:
        """The graph, with what is known."""
        if self.data == ALL:
            raise self._refuse(f"data={ALL} is one task for each data set, in a comparison")
        rng = self._generator(seed)
        graph = self._made(rng) if self.data == MADE else _read(self.data, self.data_dir)
        raw = graph.values
        heavy = raw.min() >= 0 and raw.max() > _HEAVY * np.median(raw)
        values = np.log10(1.0 + raw) if heavy else raw
        errors = raw - values if heavy and self.value == "raw" else None
        columns = {} if self.known == "answer" else dict(graph.columns)
        columns |= self._added(values if errors is None else raw, values, rng)
        return Problem(
            graph.edges,
            values,
            errors=errors,
            properties={name: list(column) for name, column in columns.items()},
        ).shuffled(rng)

    def _added(
        self, measured: FloatArray, values: FloatArray, rng: np.random.Generator
    ) -> dict[str, list[Property | None]]:
        if self.known == "answer":
            return {"answer": measured.tolist()}
        if self.known == "noise":
            return {f"noise{i}": rng.normal(size=len(values)).tolist() for i in range(_USELESS)}
        if self.known == "columns":
            return {}
        # In its own units, and as much in error as it is right.
        belief = 100 * (values + values.std() * rng.normal(size=len(values)))
        if self.known == "shuffled":
            belief = rng.permutation(belief)
        return {"belief": (-belief if self.known == "negated" else belief).tolist()}

    def _made(self, rng: np.random.Generator) -> _Graph:
        """A small world; what is known explains half of a value, neighbours and chance the rest."""
        graph = watts_strogatz(self.n, 10, 0.1, int(rng.integers(2**32)))
        embedding, age = rng.normal(size=(self.n, 8)), rng.normal(45, 12, size=self.n)
        smooth = rng.normal(size=self.n)
        for _ in range(3):
            total = smooth.copy()
            np.add.at(total, graph[:, 0], smooth[graph[:, 1]])
            np.add.at(total, graph[:, 1], smooth[graph[:, 0]])
            smooth = total / total.std()
        values = embedding[:, 0] + embedding[:, 1] + (age - 45) / 12 + 1.5 * smooth
        values += 0.5 * rng.normal(size=self.n)
        columns: dict[str, list[Property | None]] = {
            "embedding": [one.round(4).tolist() for one in embedding],
            "age": age.round().tolist(),
        }
        return _Graph(graph, 10.0 + values, columns)


def data_sets_in(directory: Path | None) -> list[str]:
    """The data sets that there are; where there is no directory, those that there usually are."""
    found = _directory(directory)
    names = (
        sorted(one.name.removesuffix(_NODES) for one in found.glob(f"*{_NODES}")) if found else []
    )
    return names or list(USUAL)


def _directory(directory: Path | None) -> Path | None:
    """Where the files are: in the directory that was named, or in its ``real``."""
    named = directory or os.environ.get(VARIABLE)
    if not named:
        return None
    inner = Path(named) / "real"
    return inner if inner.is_dir() else Path(named)


def _read(name: str, directory: Path | None) -> _Graph:
    place = _directory(directory)
    details = {"variable": VARIABLE, "origin": _ORIGIN}
    if place is None:
        raise TaskError(
            f"the data set {name} is read from {name}{_NODES}", Remedy.NAME_DATA, **details
        )
    for ending in (_NODES, _EDGES):
        if not (place / (name + ending)).exists():
            raise TaskError(f"there is no {name + ending} in {place}", Remedy.FETCH_DATA, **details)
    nodes, edges = _rows(place / (name + _NODES)), _rows(place / (name + _EDGES))
    rows = {row["id"]: place for place, row in enumerate(nodes)}
    try:
        values = np.array([float(row["value"]) for row in nodes])
        ends = {
            (min(a, b), max(a, b))
            for a, b in ((rows[row["source"]], rows[row["target"]]) for row in edges)
            if a != b
        }
    except (KeyError, ValueError, TypeError) as error:
        raise TaskError(f"the data set {name} in {place} cannot be used: {error!r}") from None
    if not len(values) or not ends or not np.isfinite(values).all():
        raise TaskError(f"the data set {name} in {place} has no edges, or nodes without a value")
    names = [column for column in nodes[0] if column not in ("id", "value")]
    columns = {column: [_property(row[column]) for row in nodes] for column in names}
    return _Graph(np.array(sorted(ends), dtype=np.int64), values, columns)


def _rows(path: Path) -> Sequence[dict[str, str]]:
    try:
        text = gzip.decompress(path.read_bytes()).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise TaskError(f"{path} cannot be read: {error}") from None
    return list(csv.DictReader(text.splitlines()))


def _property(text: str | None) -> Property | None:
    """A number, a list of numbers, or text; None where there is nothing."""
    if not text:
        return None
    try:
        if ";" in text:
            return [float(one) for one in text.split(";")]
        return float(text)
    except ValueError:
        return text
