"""What a kind of fault is: something that can be tried again and again on a site."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from tests.faults.checker import Findings
from tests.faults.site import Site

__all__ = ["Attempt", "Impossible", "Kind", "Limits", "Try"]


class Impossible(Exception):
    """This machine does not let us try it; says why."""


@dataclass(frozen=True)
class Limits:
    """How much to try at once.

    Attributes:
        faults: at most so many.
        workers: at most so many share a run.
    """

    faults: int
    workers: int = 8


@dataclass
class Attempt:
    """Some faults on one run or command, and what was wrong afterwards."""

    faults: int
    findings: Findings = field(default_factory=Findings)


#: Tries it once: one run or command with at least one fault, all choices by the random numbers given.
Try: TypeAlias = Callable[[Random, Limits], Attempt]


@dataclass(frozen=True)
class Kind:
    """A kind of fault.

    Attributes:
        title: what it is called in the table.
        faults: how many a full run tries, for each store that can have it.
        prepare: makes a site ready; raises ``Impossible`` where it cannot.
    """

    title: str
    faults: Mapping[str, int]
    prepare: Callable[[Site], AbstractContextManager[Try]]
