"""Talking to a program without believing that it will ever stop."""

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Iterator

__all__ = ["MOST", "TooMuch", "converse"]

#: Bytes that are kept: the end of what it prints, where the value is, and the beginning of what it complains about.
KEPT = 1_000_000
#: Bytes that it may print in all. A program that says more than that says the same for ever.
MOST = 100_000_000

CHUNK = 65_536


class TooMuch(Exception):
    """The program prints without end."""


def converse(
    process: "subprocess.Popen[bytes]", text: bytes, timeout: float | None
) -> tuple[bytes, bytes]:
    """Give a program its standard input, and wait for its end.

    Returns:
        The last of what it printed on standard output, and the first of standard error.

    Raises:
        subprocess.TimeoutExpired: it takes longer than ``timeout`` seconds.
        TooMuch: it prints more than anybody reads.
    """
    end = None if timeout is None else time.monotonic() + timeout
    output, errors, total = bytearray(), bytearray(), 0
    with _watching(process) as selector:
        while len(selector.get_map()) > 0:
            for key, _ in selector.select(_left(process, end)):
                if key.fileobj is process.stdin:
                    text = _give(selector, key, text)
                    continue
                piece = _take(selector, key)
                total += len(piece)
                if key.fileobj is process.stdout:
                    output += piece
                    del output[: -KEPT if len(output) > 2 * KEPT else 0]
                else:
                    errors += piece[: KEPT - len(errors)]
            if total > MOST:
                raise TooMuch
    process.wait(_left(process, end))
    return bytes(output[-KEPT:]), bytes(errors)


@contextlib.contextmanager
def _watching(process: "subprocess.Popen[bytes]") -> Iterator[selectors.BaseSelector]:
    with selectors.DefaultSelector() as selector:
        pipes = {
            process.stdin: selectors.EVENT_WRITE,
            process.stdout: selectors.EVENT_READ,
            process.stderr: selectors.EVENT_READ,
        }
        for pipe, event in pipes.items():
            assert pipe is not None  # noqa: S101 - for the type checker
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, event)
        yield selector


def _left(process: "subprocess.Popen[bytes]", end: float | None) -> float | None:
    if end is None:
        return None
    left = end - time.monotonic()
    if left <= 0:
        raise subprocess.TimeoutExpired(process.args, left)
    return left


def _give(selector: selectors.BaseSelector, key: selectors.SelectorKey, text: bytes) -> bytes:
    """Write as much as it takes; what is left."""
    with contextlib.suppress(BlockingIOError):
        try:
            text = text[os.write(key.fd, text[:CHUNK]) :]
        except BrokenPipeError:  # it does not read, which is its right
            text = b""
    if not text:
        _close(selector, key)
    return text


def _take(selector: selectors.BaseSelector, key: selectors.SelectorKey) -> bytes:
    piece = os.read(key.fd, CHUNK)
    if not piece:
        _close(selector, key)
    return piece


def _close(selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    selector.unregister(key.fileobj)
    key.fileobj.close()  # type: ignore[union-attr]  # a pipe of subprocess
