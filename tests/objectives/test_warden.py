"""What an evaluation started does not outlive the process that evaluates."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from graphbo.objectives.warden import _Warden
from tests.objectives.processes import all_gone, is_gone


@pytest.fixture
def warden() -> Iterator[_Warden]:
    found = _Warden()
    yield found
    found.close()


@pytest.fixture
def groups() -> "Iterator[list[subprocess.Popen[bytes]]]":
    """Three programs, each with one of its own."""
    words = ["sh", "-c", "sleep 60 & wait"]
    found = [subprocess.Popen(words, start_new_session=True) for _ in range(3)]
    yield found
    for process in found:
        if process.poll() is None:
            os.killpg(process.pid, 9)
        process.wait()


def test_ends_what_it_was_told_and_nothing_else(
    warden: _Warden, groups: "list[subprocess.Popen[bytes]]"
) -> None:
    first, second, other = groups
    for process in (first, second, other):
        warden.add(process.pid)
    warden.discard(other.pid)
    warden.discard(99_999_999)
    warden.close()
    assert all_gone([first.pid, second.pid])
    assert not is_gone(other.pid)


def test_one_that_was_killed_is_replaced(
    warden: _Warden, groups: "list[subprocess.Popen[bytes]]"
) -> None:
    first, second, _ = groups
    warden.add(first.pid)
    assert warden._process is not None
    warden._process.kill()
    warden._process.wait()
    warden.add(second.pid)
    warden.close()
    assert all_gone([first.pid, second.pid])


def test_a_fork_does_not_hold_it_up() -> None:
    program = (
        "import os, subprocess, time\n"
        "from graphbo.objectives.warden import guard\n"
        "endless = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "guard(endless)\n"
        "if os.fork() == 0:\n"
        "    os.close(1)\n"
        "    time.sleep(20)\n"
        "print(endless.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True
    ) as parent:
        assert parent.stdout is not None
        endless = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
        assert all_gone([endless], 5.0)
        os.killpg(parent.pid, 9)
