"""Points at which a process can be made to die, put into it from outside."""

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphbo.runs import Run
from graphbo.runs.records import AskAnswer, Told
from graphbo.stores.log import HandOut, Observe, TakeOver, Write
from graphbo.stores.neo4j import at_once
from graphbo.stores.neo4j import locked_run as on_neo4j
from graphbo.stores.neo4j import log as neo4j_log
from graphbo.stores.sqlite import locked_run as on_sqlite
from graphbo.stores.sqlite import log as sqlite_log

__all__ = ["POINTS", "die_at"]

Reach = Callable[[], None]


def die_at(point: str) -> None:
    """Let this process die, without any tidying up, at ``NAME:COUNT``: when the point is reached for that time."""
    name, _, count = point.partition(":")
    left = int(count or 1)

    def reach() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    POINTS[name](reach)


def _after(owner: Any, method: str, reach: Reach, concerns: Callable[..., bool]) -> None:
    """Reach the point after a method, if its arguments or its answer show that this is the moment."""
    inner = getattr(owner, method)

    def wrapped(self: object, *args: Any, **kwargs: Any) -> object:
        answer = inner(self, *args, **kwargs)
        if concerns(self, answer, *args):
            reach()
        return answer

    setattr(owner, method, wrapped)


def _before_commit(*kinds: type[Write]) -> Callable[[Reach], None]:
    """What is written is written, and not committed."""

    def written(_: object, __: object, writes: Sequence[Write]) -> bool:
        return any(isinstance(write, kinds) for write in writes)

    def guessed(self: Any, *_: object) -> bool:
        return isinstance(self._guess, kinds)

    def install(reach: Reach) -> None:
        for store in (on_sqlite, on_neo4j):
            _after(store.LockedRun, "write", reach, written)
        _after(at_once.AtOnce, "checked", reach, guessed)

    return install


def _after_commit(kind: type) -> Callable[[Reach], None]:
    def install(reach: Reach) -> None:
        for owner in (sqlite_log.SqliteLog, neo4j_log.Neo4jLog):
            _after(owner, "transact", reach, lambda _, done, *__: isinstance(done[0], kind))

    return install


def _evaluated(reach: Reach) -> None:
    """Something was measured, and nobody has been told."""
    inner = Run.report

    def report(self: Run, *args: Any, **kwargs: Any) -> Told:
        reach()
        return inner(self, *args, **kwargs)

    Run.report = report  # type: ignore[method-assign]


def _answered(method: str) -> Callable[[Reach], None]:
    return lambda reach: _after(Run, method, reach, lambda *_: True)


#: What puts each point into this process.
POINTS: Mapping[str, Callable[[Reach], None]] = {
    "ask.before_commit": _before_commit(HandOut, TakeOver),
    "ask.after_commit": _after_commit(AskAnswer),
    "ask.answered": _answered("ask"),
    "objective.done": _evaluated,
    "tell.before_commit": _before_commit(Observe),
    "tell.after_commit": _after_commit(Told),
    "tell.answered": _answered("report"),
}
