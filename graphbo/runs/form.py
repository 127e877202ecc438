"""The database as a form: somebody sets a property on a node that is waiting, and that is its answer.

From Neo4j Browser, or from any program. What stands there is read here; ``collecting`` has it told.
"""

from dataclasses import dataclass

from graphbo.errors import EvaluationFailed, RunError
from graphbo.objectives.number import as_number, decimal_hint, shorten
from graphbo.runs.written_names import answer_properties, why_written
from graphbo.stores.log import Properties
from graphbo.types import Pending

__all__ = [
    "Answer",
    "as_answer",
    "is_unread",
    "mark_of",
    "number_in",
    "without_answer",
    "without_request",
]

#: What an answer begins with that is no value; what follows says why.
FAILED = "failed"
#: So much of an answer is kept, to know it again.
LONGEST_MARK = 200


@dataclass(frozen=True)
class Answer:
    """What somebody answered: a value, or why there is none."""

    value: float | None
    error: str | None = None


def as_answer(answer: object) -> Answer:
    """What an answer says: a number, as a number or as text, or ``failed`` and why.

    Raises:
        RunError: it says nothing of the kind.
    """
    if isinstance(answer, str) and answer.strip().lower().startswith(FAILED):
        why = answer.strip()[len(FAILED) :].lstrip(" :,;-").strip()
        return Answer(None, shorten(why) or FAILED)
    try:
        return Answer(as_number(answer))
    except EvaluationFailed as error:
        hint = decimal_hint(answer) or (
            f": set a number, or text that begins with {FAILED!r}"
            if isinstance(answer, str)
            else ""
        )
        raise RunError(f"{error}{hint}") from None


def number_in(answer: object) -> float | None:
    """The value that an answer says, if it says one."""
    try:
        return None if answer is None else as_answer(answer).value
    except RunError:
        return None


def mark_of(answer: object) -> str | None:
    """What an answer is known again by."""
    return None if answer is None else repr(answer)[:LONGEST_MARK]


def is_unread(pending: Pending) -> bool:
    """Whether an answer was set, changed or removed since somebody looked."""
    return mark_of(pending.answer) != pending.refused


def without_request(prefix: str, pending: Pending) -> Properties:
    """What takes off a node what is there of a request: an answer, what was said of it, why it was asked for."""
    why = dict.fromkeys(why_written(prefix, pending.why))
    return without_answer(prefix, pending) | why


def without_answer(prefix: str, pending: Pending) -> Properties:
    """What takes an answer off its node again, and what was said of it; nothing where there is none."""
    if pending.answer is None and pending.refused is None:
        return {}
    return dict.fromkeys(answer_properties(prefix).values())
