"""The kinds of faults, by name."""

from collections.abc import Mapping

from tests.faults.kinds.base import Attempt, Impossible, Kind, Limits, Try
from tests.faults.kinds.cleaning import CLEAN_BESIDE_WORKERS
from tests.faults.kinds.clocks import CLOCKS
from tests.faults.kinds.commands import ANNOTATE, CLEAN, LOAD
from tests.faults.kinds.containers import CONTAINERS
from tests.faults.kinds.disk import DISK
from tests.faults.kinds.kills import KILLS
from tests.faults.kinds.network import NETWORK
from tests.faults.kinds.races import CREATE_BESIDE_CLEAN
from tests.faults.kinds.server import SERVER

__all__ = ["KINDS", "Attempt", "Impossible", "Kind", "Limits", "Try"]

KINDS: Mapping[str, Kind] = {
    "kills": KILLS,
    "server": SERVER,
    "network": NETWORK,
    "containers": CONTAINERS,
    "clocks": CLOCKS,
    "disk": DISK,
    "load": LOAD,
    "annotate": ANNOTATE,
    "clean": CLEAN,
    "clean-beside-workers": CLEAN_BESIDE_WORKERS,
    "create-beside-clean": CREATE_BESIDE_CLEAN,
}
