"""Functions that another process can import: what a user's module may hold."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from graphbo.types import NodeKey

NOT_A_FUNCTION = {"a": 1}

calls: list[NodeKey] = []


def double(key: int) -> int:
    return 2 * key


def weigh(key: NodeKey, properties: dict[str, float]) -> float:
    return properties["weight"]


def pid_when_four_are_here(node: object) -> int:
    """Whose process this is, once four of its evaluations are at it."""
    here = Path(os.environ["GRAPHBO_TEST_GATE"])
    (here / str(os.getpid())).touch()
    until = time.monotonic() + 120
    while len(list(here.iterdir())) < 4:
        assert time.monotonic() < until
        time.sleep(0.01)
    return os.getpid()


def own_pid(key: NodeKey) -> int:
    return os.getpid()


def slow_pid(key: NodeKey) -> int:
    time.sleep(0.5)
    return os.getpid()


def count_calls(key: NodeKey) -> int:
    calls.append(key)
    return len(calls)


def hang(key: str) -> float:
    """Says who it is in the file that its key names, and starts a process that hangs too."""
    child = subprocess.Popen(["sleep", "60"])
    Path(key).write_text(f"{os.getpid()} {child.pid}")
    time.sleep(60)
    return 1.0


def hang_if_negative(key: int) -> float:
    if key < 0:
        time.sleep(60)
    return float(key)


def crash(key: NodeKey) -> float:
    os.kill(os.getpid(), signal.SIGSEGV)
    return 1.0


def fail(key: NodeKey) -> float:
    raise ValueError("no such station\nin the second line")


class Unusual(BaseException):
    """Nothing that ``except Exception`` catches."""


def unusual(key: object) -> float:
    """Raises something that few expect."""
    raise Unusual("that is it")


class Refusing:
    """Something like a number."""

    def __float__(self) -> float:
        raise GeneratorExit("not me")


def refusing(key: object) -> Refusing:
    """Returns something that cannot be made a number of."""
    return Refusing()


def leave(key: NodeKey) -> float:
    sys.exit("that is it")


def interrupt(key: NodeKey) -> float:
    raise KeyboardInterrupt


def talk(key: NodeKey) -> float:
    print("a line that is no part of the result")
    return 1.0


def third_time(key: str) -> float:
    """Fails twice for each key, which names a file."""
    with Path(key).open("a") as file:
        file.write("x")
    if len(Path(key).read_text()) < 3:
        raise RuntimeError("not yet")
    return 7.0


class Scale:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, key: int) -> float:
        return self.factor * key


class Unloadable:
    """Can be pickled, but not unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return (Unloadable._refuse, ())

    @staticmethod
    def _refuse() -> None:
        raise OSError("the licence server is away")

    def __call__(self, key: int) -> float:
        return 1.0
