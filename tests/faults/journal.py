"""An objective that writes down every evaluation, and what it wrote, read again.

Workers import this file for each evaluation, so it needs nothing but Python.
"""

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["OBJECTIVE", "Evaluation", "journal_environment", "measure", "read_journal", "value_of"]

#: How a worker is told to evaluate with it.
OBJECTIVE = "python:tests.faults.journal:measure"

_JOURNAL, _RUN, _WORKER, _SECONDS = (
    f"GRAPHBO_FAULTS_{name}" for name in ("JOURNAL", "RUN", "WORKER", "SECONDS")
)


@dataclass(frozen=True)
class Evaluation:
    """One call of the objective.

    Attributes:
        worker: who called; unique, while process ids are not in containers.
        start, end: by the clock that all processes of a machine share and nobody can set; no end if it died.
    """

    run: str
    node: int
    worker: str
    pid: int
    start: float
    end: float | None = None


def journal_environment(journal: Path, run: str, worker: str, seconds: float) -> dict[str, str]:
    """What the environment of a worker has to say."""
    return {_JOURNAL: str(journal), _RUN: run, _WORKER: worker, _SECONDS: str(seconds)}


def value_of(node: int) -> float:
    """Something with no pattern to it, and few enough digits that commands print all of them."""
    return float(node * 7919 % 1009)


def measure(node: int) -> float:
    """The objective."""
    _write("start", node)
    time.sleep(float(os.environ[_SECONDS]))
    _write("end", node)
    return value_of(node)


def _write(what: str, node: int) -> None:
    words = (what, os.environ[_RUN], node, os.environ[_WORKER], os.getpid(), time.monotonic())
    # One write to the end of the file: whole lines, whoever else writes and whoever is killed.
    file = os.open(os.environ[_JOURNAL], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(file, (" ".join(map(str, words)) + "\n").encode())
    finally:
        os.close(file)


def read_journal(journal: Path, run: str) -> list[Evaluation]:
    """The evaluations of a run, in the order in which they began."""
    if not journal.exists():
        return []
    ends: dict[tuple[str, int], list[float]] = {}
    starts = []
    for what, word, node, worker, pid, at in _lines(journal):
        if word != run:
            continue
        if what == "end":
            ends.setdefault((worker, int(node)), []).append(float(at))
        else:
            starts.append(Evaluation(run, int(node), worker, int(pid), float(at)))
    return sorted((_ended(one, ends) for one in starts), key=lambda one: one.start)


def _lines(journal: Path) -> Iterator[list[str]]:
    for line in journal.read_text().splitlines():
        yield line.split(" ")


def _ended(one: Evaluation, ends: Mapping[tuple[str, int], list[float]]) -> Evaluation:
    """With its end: the first of the same worker and node that is not before its start."""
    later = [at for at in ends.get((one.worker, one.node), ()) if at >= one.start]
    return Evaluation(one.run, one.node, one.worker, one.pid, one.start, min(later, default=None))
