"""What is done to a run, as a value: what is looked at under its lock, and what is written, given what was found."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from graphbo.runs.records import News
from graphbo.stores.log import Lookup, Snapshot, Write
from graphbo.types import View

__all__ = ["Transaction"]

Answer = TypeVar("Answer")


class Transaction(ABC, Generic[Answer]):
    """Made once by whoever wants something of a run, and handed down to the store, which carries it out.

    Attributes:
        survives_power_cut: whether the disk is waited for.
        grows: whether it takes the longer the more there is to write.
    """

    survives_power_cut: bool = True
    grows: ClassVar[bool] = False

    @abstractmethod
    def lookup(self, view: View, since: int) -> Lookup:
        """What has to be looked at. ``since`` is the seq up to which the caller knows the history."""

    @abstractmethod
    def decide(self, found: Snapshot) -> tuple[Answer, Sequence[Write]]:
        """The rule: what is answered, and what is written. Pure: a store may apply it more than once.

        Raises:
            GraphboError: it cannot be done; then nothing is written.
        """

    def guess(self, believed: News) -> Write | None:
        """The only thing that will be written if the run is as the caller believes; None where that is not known."""
        del believed
        return None
