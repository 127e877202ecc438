"""Numbers and names as text for people, and short texts that hold parameters: one way for all that is printed."""

import math
import re

__all__ = [
    "assignment",
    "assignments",
    "cut",
    "duration",
    "number",
    "plural",
    "rounded",
    "spellings",
]

_INTEGER = re.compile("0|-?[1-9][0-9]{0,18}")
_LARGEST_INTEGER = 2**63 - 1


def cut(text: str, longest: int) -> str:
    """Text that fits, with a mark where it was cut."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def rounded(value: float | None) -> float | None:
    """A value with as many digits as a person reads; None if it is no finite number."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")


def number(value: float | None) -> str:
    """A value with as many digits as a person reads."""
    return "–" if value is None else f"{value:.6g}"


def plural(count: int, one: str) -> str:
    """``1 node``, ``1,200 nodes``, ``2 properties``."""
    several = f"{one.removesuffix('y')}ies" if one.endswith("y") else f"{one}s"
    return f"{count:,} {one if count == 1 else several}"


def duration(seconds: float) -> str:
    """A time with the unit that fits."""
    if seconds < 1:
        return f"{1e3 * seconds:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours = round(seconds / 3600)
    return f"{hours} h" if hours < 72 else f"{round(seconds / 86_400)} days"


def assignment(text: str) -> tuple[str, str]:
    """The name and the value in ``NAME=VALUE``.

    Raises:
        ValueError: it is something else.
    """
    name, equals, value = text.strip().partition("=")
    if not equals or not name:
        raise ValueError(f"{cut(repr(text.strip()), 60)} is not NAME=VALUE")
    return name, value


def assignments(text: str) -> dict[str, str]:
    """The values in ``NAME=VALUE,NAME=VALUE``, by name.

    Raises:
        ValueError: a part is something else, or a name is there twice.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        if part.strip():
            name, value = assignment(part)
            if name in found:
                raise ValueError(f"{cut(repr(name), 60)} is there twice")
            found[name] = value
    return found


def spellings(text: str) -> tuple[int | str, ...]:
    """What a text may mean as a key, the likeliest first: a whole number, if it is spelt like one, or itself."""
    if not _INTEGER.fullmatch(text) or not -_LARGEST_INTEGER <= int(text) <= _LARGEST_INTEGER:
        return (text,)
    return (int(text), text)
