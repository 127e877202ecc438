"""Which test process runs which tests, and in which order, when there are several.

Files stay together, as they share what is set up in them. All that need a server of the long-term release stay
together, too. What takes long comes first: in the end, no process should have much left when the other is done.
"""

from collections.abc import Sequence

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

__all__ = ["LONG_TERM", "ORDER", "Scheduling", "in_order"]

#: The files with tests on the long-term release.
LONG_TERM = (
    "tests/stores/test_contract.py",
    "tests/stores/test_statements.py",
    "tests/stores/server/test_local.py",
    "tests/runs/test_contract.py",
)
#: The longest first; what is not named follows.
ORDER = (
    *LONG_TERM,
    "tests/faults/test_outages.py",
    "tests/test_wheel.py",
    "tests/faults/",
    "tests/cli/",
    "tests/runs/",
    "tests/test_examples.py",
    "tests/test_docs.py",
    "tests/search/",
    "tests/seeing/",
)


class Scheduling(LoadFileScheduling):  # type: ignore[misc]
    """Tests by files, in the order in which they were collected."""

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return "long term" if nodeid.startswith(LONG_TERM) else str(super()._split_scope(nodeid))


def in_order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The slow ones first."""

    def rank(item: pytest.Item) -> int:
        ranks = (number for number, path in enumerate(ORDER) if item.nodeid.startswith(path))
        return next(ranks, len(ORDER))

    return sorted(items, key=rank)
