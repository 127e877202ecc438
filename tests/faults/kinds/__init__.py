"""The kinds of faults, by name."""

from collections.abc import Mapping

from tests.faults.kinds.base import Attempt, Impossible, Kind, Limits, Try
from tests.faults.kinds.kills import KILLS

__all__ = ["KINDS", "Attempt", "Impossible", "Kind", "Limits", "Try"]

KINDS: Mapping[str, Kind] = {
    "kills": KILLS,
}
