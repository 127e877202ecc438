"""What whoever holds a search should know of its values, and would not see in its answer."""

import logging
from collections import Counter

from graphbo.runs.worker import Progress
from graphbo.types.text import number, plural

__all__ = ["Remarks"]

#: So many equal values are no chance.
MANY = 10
#: So many of them, if there are no more.
FEW = 3
#: Kinds of failures that are named.
MOST_NAMED = 3

log = logging.getLogger(__name__)


class Remarks:
    """Watches a search, and warns: of values that are all the same, and in the end of all that failed."""

    def __init__(self) -> None:
        self._values: set[float] = set()
        self._valued = 0
        self._failures: Counter[str] = Counter()
        self._said = False

    def __call__(self, progress: Progress) -> None:
        """Something was asked for, or told."""
        if progress.told is None:
            return
        one = progress.told.observation
        if one.value is None:
            self._failures[one.error or "no value"] += 1
            return
        self._valued += 1
        self._values.add(one.value)
        if self._valued == MANY:
            self._remark()

    def conclude(self) -> None:
        """Say what was not said yet."""
        if self._valued >= FEW:
            self._remark()
        count = self._failures.total()
        if not count:
            return
        kinds = [
            f"{error}{f' ({times} times)' if times > 1 else ''}"
            for error, times in self._failures.most_common(MOST_NAMED)
        ]
        more = len(self._failures) - MOST_NAMED
        log.warning(
            "%s of %s failed and gave no value: %s%s",
            f"{count:,}",
            plural(count + self._valued, "evaluation"),
            "; ".join(kinds),
            f"; and {plural(more, 'other error')}" if more > 0 else "",
        )

    def _remark(self) -> None:
        if len(self._values) > 1 or self._said:
            return
        self._said = True
        (value,) = self._values
        log.warning(
            "all %d values so far are %s: is the function meant to be the same at every node?",
            self._valued,
            number(value),
        )
