"""The results file: one row per evaluation of each cell, in a table that anything can read."""

import csv
import gzip
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphbo.bench.cells import Cell, Finished
from graphbo.errors import BenchError
from graphbo.types import FloatArray, IntArray

__all__ = ["COLUMNS", "RESULTS", "Curve", "read_results", "write_results"]

#: Its name in the directory of results.
RESULTS = "results.csv.gz"

COLUMNS = (
    "cell",
    "task",
    "method",
    "seed",
    "budget",
    "evaluation",
    "regret",
    "spread",
    "normalised_regret",
    "observed_regret",
    "milliseconds",
    "revealed",
)


@dataclass(frozen=True, eq=False)
class Curve:
    """A finished cell by the names that tables and figures use; see :class:`~graphbo.bench.search.Curves`.

    Attributes:
        spread: the unit of normalised regret.
    """

    key: str
    task: str
    method: str
    seed: int
    budget: int
    spread: float
    regret: FloatArray
    observed_regret: FloatArray
    milliseconds: FloatArray
    revealed: IntArray

    @classmethod
    def of(cls, cell: Cell, finished: Finished) -> "Curve":
        """A cell with what came out."""
        return cls(
            cell.key,
            cell.task,
            cell.method.label,
            cell.seed,
            cell.budget,
            finished.spread,
            finished.regret,
            finished.observed_regret,
            finished.milliseconds,
            finished.revealed,
        )

    @property
    def normalised(self) -> FloatArray:
        """Regret relative to the distance from a typical node to the best."""
        return self.regret / self.spread

    def finished(self) -> Finished:
        """What the journal would have of it."""
        return Finished(
            self.key,
            self.regret,
            self.observed_regret,
            self.milliseconds,
            self.revealed,
            self.spread,
            float(self.milliseconds.sum() / 1e3),
        )


def write_results(path: Path, curves: Iterable[Curve]) -> None:
    """Write the file, all of it or nothing; equal results give equal bytes.

    Raises:
        BenchError: it cannot be written.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for curve in curves:
        writer.writerows(_rows(curve))
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_bytes(gzip.compress(buffer.getvalue().encode(), mtime=0))
        partial.replace(path)
    except OSError as error:
        raise BenchError(f"{path} cannot be written: {error.strerror}") from None


def _rows(curve: Curve) -> Iterator[list[object]]:
    head = [curve.key, curve.task, curve.method, curve.seed, curve.budget]
    columns = zip(
        curve.regret.tolist(),
        curve.normalised.tolist(),
        curve.observed_regret.tolist(),
        curve.milliseconds.tolist(),
        curve.revealed.tolist(),
        strict=True,
    )
    for number, (regret, normalised, observed, took, seen) in enumerate(columns, start=1):
        yield [
            *head,
            number,
            f"{regret:.6g}",
            f"{curve.spread:.6g}",
            f"{normalised:.5g}",
            f"{observed:.6g}",
            f"{took:.3g}",
            seen,
        ]


def read_results(path: Path) -> list[Curve]:
    """What ``write_results`` wrote.

    Raises:
        BenchError: there is no such file, or it is something else.
    """
    rows: defaultdict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                rows[row["cell"], row["method"]].append(row)
        return [_curve(group) for group in rows.values()]
    except FileNotFoundError:
        raise BenchError(f"there is no {path}: run the comparison first") from None
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise BenchError(f"{path} is not a file of results: {error}") from None


def _curve(rows: list[Mapping[str, str]]) -> Curve:
    def column(name: str, kind: Any = np.float64) -> Any:
        return np.array([row[name] for row in rows]).astype(kind)

    first = rows[0]
    return Curve(
        first["cell"],
        first["task"],
        first["method"],
        int(first["seed"]),
        int(first["budget"]),
        float(first["spread"]),
        column("regret"),
        column("observed_regret"),
        column("milliseconds"),
        column("revealed", np.int64),
    )
