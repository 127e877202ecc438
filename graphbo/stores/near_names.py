"""Names that are nearly right: what somebody may have meant who wrote one that is not there."""

import difflib
from collections.abc import Iterable, Sequence

from graphbo.types.text import cut

__all__ = ["did_you_mean", "nearest"]

#: Names that are less alike are others.
ALIKE = 0.6
#: Comparing more than these takes longer than anybody wants to wait for a hint.
MOST_COMPARED, LONGEST_COMPARED = 2_000, 200


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name among those that there are which is most like this one, in whatever case; None if none is."""
    there = [one for one in known if len(one) <= LONGEST_COMPARED][:MOST_COMPARED]
    if name in there or len(name) > LONGEST_COMPARED:
        return None
    folded: dict[str, str] = {}
    for one in there:
        folded.setdefault(one.casefold(), one)
    found = difflib.get_close_matches(name.casefold(), list(folded), 1, ALIKE)
    return folded[found[0]] if found else None


def did_you_mean(names: Sequence[str], known: Iterable[str]) -> str:
    """A hint for a sentence that says which of these names are not there; empty if there is nothing to say."""
    there = list(known)
    meant = [found for name in names if (found := nearest(name, there)) is not None]
    if not meant:
        return ""
    return f" (did you mean {' and '.join(repr(cut(one, 60)) for one in dict.fromkeys(meant))}?)"
