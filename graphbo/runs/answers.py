"""What a run answers: a node to measure, the best one so far, where the time went."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from graphbo.types import NodeKey, Pending, best_of

__all__ = ["Asked", "AskedMany", "Best", "Clock", "best_of"]


@dataclass
class Clock:
    """Where the time of a run went, in seconds.

    Attributes:
        proposals: of the processor, for all that it took to propose nodes, whatever else the machine did.
    """

    database: float = 0.0
    model: float = 0.0
    objective: float = 0.0
    proposals: float = 0.0

    @contextmanager
    def asking_database(self) -> Iterator[None]:
        """What is done here is done by the database."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.database += time.perf_counter() - began

    def minus(self, earlier: "Clock") -> "Clock":
        """The time since then."""
        return Clock(
            self.database - earlier.database,
            self.model - earlier.model,
            self.objective - earlier.objective,
            self.proposals - earlier.proposals,
        )

    def copy(self) -> "Clock":
        """The time until now."""
        return replace(self)


@dataclass(frozen=True)
class Asked:
    """A node to measure, or why there is none.

    Attributes:
        why_not: ``budget`` used up, run ``ended``, nothing left (``exhausted``), nothing that what is left of the
            budget pays for (``unaffordable``), or everything that is left is being measured by others (``waiting``).
    """

    pending: Pending | None
    why_not: str = ""


@dataclass(frozen=True)
class AskedMany:
    """Several nodes to measure, and why there are no more of them, as in :class:`Asked`."""

    pending: tuple[Pending, ...]
    why_not: str = ""


@dataclass(frozen=True)
class Best:
    """The answer of a run: a node that was measured.

    Attributes:
        value: what was measured there.
        mean: under noise, what the model believes of it.
    """

    key: NodeKey
    value: float
    step: int
    mean: float | None = None
