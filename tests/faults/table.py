"""Rows of the table: a kind of fault on a store, how often it was tried, and what went wrong."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random

from tests.faults.checker import Findings
from tests.faults.kinds import Attempt, Impossible, Kind, Limits
from tests.faults.site import Site

__all__ = ["COLUMNS", "Row", "markdown", "try_out"]

#: What is counted, and what the columns are called.
COLUMNS = {
    "lost": "lost",
    "doubled": "doubled",
    "over_budget": "over budget",
    "evaluated_twice": "evaluated twice, nobody dead",
    "strays": "strays after clean",
}


@dataclass
class Row:
    """A kind of fault on a store."""

    title: str
    store: str
    tried: int = 0
    survived: int = 0
    findings: Findings = field(default_factory=Findings)
    #: Why it could not be tried here.
    impossible: str = ""

    def add(self, attempt: Attempt) -> None:
        """Count it in."""
        self.tried += attempt.faults
        self.survived += attempt.faults * (not attempt.findings)
        self.findings.add(attempt.findings)

    @property
    def held(self) -> bool:
        """Whether nothing went wrong, and something was tried."""
        return bool(self.impossible) or (self.tried > 0 and not self.findings)


def try_out(
    kind: Kind, sites: Callable[[], Site], rng: Random, limits: Limits, seconds: float
) -> Row:
    """Try a kind of fault until it was tried often enough, or the time is over.

    Args:
        kind: what to try.
        sites: gives a new site: for the first try, and whenever something went wrong on the last one.
        rng: makes all choices.
        limits: how many faults, and how many workers.
        seconds: when these are over, nothing more is begun.
    """
    site = sites()
    row = Row(kind.title, site.backend.name)
    deadline = time.monotonic() + seconds

    def unfinished() -> bool:
        return row.tried < limits.faults and (not row.tried or time.monotonic() < deadline)

    try:
        while unfinished():
            with kind.prepare(site) as attempt:
                broken = False
                while unfinished() and not broken:
                    outcome = attempt(rng, Limits(limits.faults - row.tried, limits.workers))
                    row.add(outcome)
                    broken = bool(outcome.findings)
            site = sites() if broken else site
    except Impossible as error:
        row.impossible = str(error)
    return row


def markdown(rows: Iterable[Row]) -> Iterator[str]:
    """The table as documents have it."""
    titles = ("fault", "store", "tried", "survived", *COLUMNS.values())
    yield _line(titles)
    yield _line(["---", "---", *["---:"] * (len(titles) - 2)])
    for row in rows:
        counts = [row.tried, row.survived, *(len(getattr(row.findings, name)) for name in COLUMNS)]
        shown = ["–" if row.impossible else f"{count:,}" for count in counts]
        yield _line([row.title, {"sqlite": "SQLite", "neo4j": "Neo4j"}[row.store], *shown])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
