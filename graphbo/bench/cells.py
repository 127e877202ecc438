"""The unit of a comparison, and the file that remembers which of them are done."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from graphbo.bench.methods import Method
from graphbo.bench.search import Curves
from graphbo.bench.tasks.base import Problem
from graphbo.errors import BenchError
from graphbo.types import FloatArray, IntArray

__all__ = ["JOURNAL", "Cell", "Finished", "Journal"]

#: Its name in the directory of results: one line of JSON per cell.
JOURNAL = "cells.jsonl"

#: Digits that are kept: more than any conclusion needs.
DIGITS = 6


@dataclass(frozen=True)
class Cell:
    """One method on one problem.

    Attributes:
        task: its spec.
        method: what searches.
        seed: of the problem and of the search.
        budget: how many evaluations.
    """

    task: str
    method: Method
    seed: int
    budget: int

    @cached_property
    def key(self) -> str:
        """The same for what gives the same results, whatever it is called."""
        what = [self.task, dict(self.method.identity), self.seed, self.budget]
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Finished:
    """What is known of a cell: its curves, or an error.

    Attributes:
        key: the cell's.
        spread: the unit of normalised regret.
        seconds: how long it took in all.
        error: why there are no curves.
        traceback: where that happened.
    """

    key: str
    regret: FloatArray
    observed_regret: FloatArray
    milliseconds: FloatArray
    revealed: IntArray
    spread: float = 1.0
    seconds: float = 0.0
    error: str | None = None
    traceback: str = ""

    @classmethod
    def of(cls, cell: Cell, problem: Problem, curves: Curves, seconds: float) -> "Finished":
        """A cell that went well."""
        return cls(
            cell.key,
            curves.regret,
            curves.observed_regret,
            curves.milliseconds,
            curves.revealed,
            problem.spread,
            seconds,
        ).rounded()

    @classmethod
    def failed(cls, cell: Cell, error: BaseException, traceback: str) -> "Finished":
        """A cell that did not."""
        nothing = np.empty(0)
        message = f"{type(error).__name__}: {error}"
        empty = nothing.astype(np.int64)
        return cls(cell.key, nothing, nothing, nothing, empty, error=message, traceback=traceback)

    def rounded(self) -> "Finished":
        """As it will be read: whether a cell was run now or before makes no difference to results."""
        return Finished.from_line(self.line())

    def line(self) -> str:
        """As a line of the journal."""
        fields: dict[str, Any] = {
            "cell": self.key,
            "spread": _rounded(self.spread),
            "seconds": _rounded(self.seconds),
        }
        if self.error is not None:
            return json.dumps({**fields, "error": self.error, "traceback": self.traceback})
        return json.dumps(
            {
                **fields,
                "regret": _list(self.regret),
                "observed_regret": _list(self.observed_regret),
                "milliseconds": _list(self.milliseconds, 3),
                "revealed": self.revealed.tolist(),
            }
        )

    @classmethod
    def from_line(cls, line: str) -> "Finished":
        """From a line of the journal.

        Raises:
            ValueError, KeyError: it is not one.
        """
        fields: Mapping[str, Any] = json.loads(line)

        def column(name: str) -> FloatArray:
            return np.array(fields.get(name, ()), dtype=np.float64)

        return cls(
            fields["cell"],
            column("regret"),
            column("observed_regret"),
            column("milliseconds"),
            column("revealed").astype(np.int64),
            fields["spread"],
            fields["seconds"],
            fields.get("error"),
            fields.get("traceback", ""),
        )


def _rounded(value: float, digits: int = DIGITS) -> float:
    return float(f"{value:.{digits}g}")


def _list(values: FloatArray, digits: int = DIGITS) -> list[float]:
    return [_rounded(value, digits) for value in values.tolist()]


class Journal:
    """The cells that are finished, in a directory. A line that was cut off by a kill does not count.

    Raises:
        BenchError: the directory cannot be used.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / JOURNAL
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BenchError(
                f"the directory {directory} cannot be used: {error.strerror}"
            ) from None

    def read(self) -> dict[str, Finished]:
        """Every cell that has a result, by its key. What failed may be tried again.

        Raises:
            BenchError: the file cannot be read.
        """
        found = {}
        for line in self._lines():
            try:
                one = Finished.from_line(line)
            except (ValueError, KeyError, TypeError):
                continue
            if one.error is None:
                found[one.key] = one
        return found

    def append(self, finished: Finished) -> None:
        """Remember a cell, whatever happens to this process afterwards.

        Raises:
            BenchError: the file cannot be written.
        """
        # In one piece, so that several processes may share a file. It begins a line of its own: the last one may
        # have been cut off.
        start = "\n" if self._is_torn() else ""
        data = f"{start}{finished.line()}\n".encode()
        try:
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                os.write(file, data)
            finally:
                os.close(file)
        except OSError as error:
            raise BenchError(f"{self._path} cannot be written: {error.strerror}") from None

    def _is_torn(self) -> bool:
        if not self._path.exists() or not self._path.stat().st_size:
            return False
        with self._path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"

    def _lines(self) -> list[str]:
        if not self._path.exists():
            return []
        try:
            return self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            raise BenchError(f"{self._path} cannot be read: {error.strerror}") from None
