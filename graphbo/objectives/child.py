"""Python functions with a time limit: they run in a child process, which can be killed.

A thread cannot be stopped, and a signal does not interrupt a function that is busy in C. So the function gets an
interpreter of its own, which serves one evaluation after the other (importing a user's module may take longer than
an evaluation) and is killed, with everything it started, when one takes too long. The next evaluation starts a new
one.

This is a plain child and no ``multiprocessing.Process``, which would run the user's main script a second time and is
forbidden inside the daemonic workers of Dask. The two ends talk through a socket, so that what the function prints does
no harm; it goes to standard error, since the standard output of a command belongs to its result.
"""

import atexit
import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from graphbo.errors import EvaluationFailed
from graphbo.objectives.call import call_function, describe_error
from graphbo.objectives.process import describe_exit, kill_group
from graphbo.objectives.warden import guard, unguard

__all__ = ["Prepared", "call_in_child", "serve"]

#: Seconds to start an interpreter and import a function, which is not part of an evaluation's time.
START_SECONDS = 120.0
#: Seconds for a child to end by itself when its parent has gone.
GRACE_SECONDS = 1.0
#: Most children that wait for another evaluation.
MOST_IDLE = 16

#: Safe path (-P): a user's random.py in the current directory must not stand in for the standard library's.
BOOT = (
    "import sys; from multiprocessing.connection import Connection; "
    "link = Connection(int(sys.argv[1])); sys.path[:] = link.recv(); "
    "from graphbo.objectives.child import serve; serve(link)"
)


class Prepared:
    """A callable that has something to do once, before the first call's time begins."""

    def prepare(self) -> None:
        """Do it.

        Raises:
            EvaluationFailed: it cannot be done.
        """


@dataclass(frozen=True)
class Reply:
    """What a child answers: a value, or why there is none."""

    value: float | None = None
    error: str | None = None
    detail: str = ""
    interrupted: bool = False


def call_in_child(payload: bytes, arguments: tuple[object, ...], timeout: float | None) -> float:
    """The number that a pickled function returns, from a child that is killed after ``timeout`` seconds.

    Raises:
        EvaluationFailed: it cannot be loaded, raises, returns no number, takes too long or takes its process down.
        KeyboardInterrupt: it raises that.
    """
    child = _idle.take(payload) or Child(payload)
    try:
        reply = child.ask(arguments, timeout)
    except BaseException:
        child.kill()
        raise
    _idle.give(child)
    if reply.interrupted:
        raise KeyboardInterrupt
    if reply.value is None:
        raise EvaluationFailed(reply.error, reply.detail)
    return reply.value


# The parent's side


class Child:
    """A process that evaluates one function."""

    def __init__(self, payload: bytes) -> None:
        self.payload = payload
        self._link, other = Pipe()
        with other:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
                [sys.executable, "-P", "-c", BOOT, str(other.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=2,
                pass_fds=[other.fileno()],
                start_new_session=True,
            )
        _children.add(self)
        guard(self._process)
        try:
            self._load()
        except BaseException:
            self.kill()
            raise

    def _load(self) -> None:
        reply = self._exchange([sys.path, self.payload], START_SECONDS, "starting")
        if reply.error is not None:
            raise EvaluationFailed(reply.error)

    def ask(self, arguments: tuple[object, ...], timeout: float | None) -> Reply:
        """Evaluate.

        Raises:
            EvaluationFailed: there is no answer in time, or the process ended.
        """
        return self._exchange([arguments], timeout, "evaluating")

    def _exchange(self, messages: list[object], timeout: float | None, doing: str) -> Reply:
        try:
            for message in messages:
                self._link.send(message)
            if not self._link.poll(timeout):
                raise EvaluationFailed(
                    f"the function gave no answer within {timeout:g} s and was ended"
                )
            reply = self._link.recv()
        except (EOFError, ConnectionError):
            self.kill()
            how = describe_exit(self._process.returncode)
            raise EvaluationFailed(f"the function's process ended while {doing} ({how})") from None
        assert isinstance(reply, Reply)  # noqa: S101 - for the type checker
        return reply

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it at once, with everything it started."""
        self._link.close()
        kill_group(self._process)
        unguard(self._process)

    def close(self) -> None:
        """Let it end by itself, as it does when nobody is at the other end."""
        self._link.close()
        try:
            self._process.wait(GRACE_SECONDS * 2)
        except subprocess.TimeoutExpired:
            kill_group(self._process)
        unguard(self._process)

    def disown(self) -> None:
        """Forget it in a fork: it belongs to the parent, and must see when that one ends."""
        self._link.close()
        self._process.returncode = 0


class Idle:
    """Children that wait for another evaluation, the most recent last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._children: list[Child] = []

    def take(self, payload: bytes) -> Child | None:
        """A living child with this function, if there is one."""
        with self._lock:
            dead = [child for child in self._children if not child.alive]
            self._children = [child for child in self._children if child not in dead]
            found = next((c for c in reversed(self._children) if c.payload == payload), None)
            if found is not None:
                self._children.remove(found)
        for child in dead:
            child.kill()
        return found

    def give(self, child: Child) -> None:
        """Keep a child for later; those unused for longest end when there are too many."""
        with self._lock:
            self._children.append(child)
            excess = self._children[:-MOST_IDLE]
            del self._children[:-MOST_IDLE]
        for old in excess:
            old.close()

    def forget(self) -> None:
        """Start afresh in a fork, where a thread that held the lock does not exist."""
        self._lock = threading.Lock()
        self._children = []

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            children, self._children = self._children, []
        for child in children:
            child.close()


_idle = Idle()
_children: "weakref.WeakSet[Child]" = weakref.WeakSet()


def _forget() -> None:
    """In a fork: two processes that talk to one child would get each other's answers."""
    _idle.forget()
    for child in list(_children):
        child.disown()
    _children.clear()


atexit.register(_idle.close)
os.register_at_fork(after_in_child=_forget)


# The child's side


def serve(link: Connection) -> None:
    """Load the function that comes first, then answer until the other end is closed."""
    requests: queue.SimpleQueue[object] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(link, requests), daemon=True).start()
    try:
        function = _load(requests.get())
    except EvaluationFailed as error:
        _send(link, Reply(error=str(error)))
        return
    _send(link, Reply())
    while (arguments := requests.get()) is not None:
        assert isinstance(arguments, tuple)  # noqa: S101 - for the type checker
        _send(link, _answer(function, arguments))


def _load(payload: object) -> Callable[..., object]:
    assert isinstance(payload, bytes)  # noqa: S101 - for the type checker
    function: Callable[..., object]
    try:
        function = pickle.loads(payload)  # noqa: S301 - from our own parent
    except BaseException as error:  # noqa: BLE001 - unpickling runs the user's code
        raise EvaluationFailed(f"the function cannot be loaded: {describe_error(error)}") from None
    if isinstance(function, Prepared):
        function.prepare()
    return function


def _answer(function: Callable[..., object], arguments: tuple[object, ...]) -> Reply:
    try:
        return Reply(value=call_function(function, arguments))
    except EvaluationFailed as error:
        return Reply(error=str(error), detail=error.detail)
    except KeyboardInterrupt:
        return Reply(interrupted=True)


def _send(link: Connection, reply: Reply) -> None:
    with contextlib.suppress(ConnectionError):  # nobody wants to know any more
        link.send(reply)


def _listen(link: Connection, requests: "queue.SimpleQueue[object]") -> None:
    """Pass requests on. When the parent has gone, even by SIGKILL, nothing of the evaluation may stay."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            requests.put(link.recv())
    requests.put(None)
    time.sleep(GRACE_SECONDS)
    os.killpg(0, signal.SIGKILL)
