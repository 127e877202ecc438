"""Who works on a run: processes are told apart even where host names and numbers are the same."""

import os
import shutil
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphbo.cli.as_printed import who
from graphbo.runs import is_abandoned, worker_name
from graphbo.types import Candidate, Pending, Proposal
from tests.backends import Backend, environment_for
from tests.cli.commands import COMMAND
from tests.cli.runs import OPTIONS, load, write_objective

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the lease decides")

#: Runs a program as the first process of a namespace, as a container does.
CONTAINER = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]


def pending(worker: str, lease_left: float | None = 60.0) -> Pending:
    return Pending(1, Candidate(1), Proposal((), "initial"), worker, "token", lease_left)


def name_in(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture
def other() -> Iterator["subprocess.Popen[str]"]:
    """A process that says its name and stays until its standard input is closed."""
    program = "from graphbo.runs import worker_name; print(worker_name(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield process
        process.kill()


def test_names_differ_and_are_readable() -> None:
    assert worker_name() != worker_name()
    assert who(pending(worker_name())) == f"{socket.gethostname()}:{os.getpid()}"


def test_a_process_is_known_to_be_gone_when_it_is(other: "subprocess.Popen[str]") -> None:
    left = pending(name_in(other))
    assert not is_abandoned(left)
    other.kill()
    os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
    assert is_abandoned(left), "nobody waited for it, but it has ended"
    other.wait()
    assert is_abandoned(left)


def test_a_process_of_the_same_number_is_another(other: "subprocess.Popen[str]") -> None:
    name = name_in(other)
    origin, _, started = name.rpartition(".")
    assert not is_abandoned(pending(name))
    assert is_abandoned(pending(f"{origin}.{int(started) - 1}"))


def test_what_a_worker_gave_up_is_abandoned() -> None:
    name = worker_name()
    mine = pending(name)
    assert not is_abandoned(mine, held={"token"}, worker=name)
    assert is_abandoned(mine, held=(), worker=name)
    assert not is_abandoned(mine), "another worker of this process may be at it"


def test_what_cannot_be_seen_is_left_to_its_lease() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    place, unique = f"{socket.gethostname()}:{ended.pid}", worker_name().rpartition(":")[2]
    token, origin, started = unique.split(".")
    gone = f"{place}:{token}.{origin}.{started}"
    assert is_abandoned(pending(gone))
    for unseen in (
        f"{place}:{token}",  # names of earlier versions, and of systems that do not tell
        f"{place}:{token}.{origin}",
        f"{place}:{token}.{origin}0.{started}",  # another namespace
        f"{place}:{token}.0{origin}.{started}",  # another start of the system
        f"not-{gone}",
        "somebody",
    ):
        assert not is_abandoned(pending(unseen)), unseen
        assert is_abandoned(pending(unseen, lease_left=-1.0)), unseen
    assert not is_abandoned(pending(gone, lease_left=None))


def test_without_proc_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, other: "subprocess.Popen[str]"
) -> None:
    name = name_in(other)
    other.kill()
    other.wait()
    assert is_abandoned(pending(name))
    monkeypatch.setattr("graphbo.runs.worker_names._PROC", tmp_path)
    assert not is_abandoned(pending(name))
    assert "." not in worker_name().rpartition(":")[2]


@pytest.mark.slow
def test_workers_in_containers_of_one_host_name_evaluate_each_node_once(
    sqlite_backend: Backend, tmp_path: Path
) -> None:
    if not shutil.which("unshare") or subprocess.run([*CONTAINER, "true"], check=False).returncode:
        pytest.skip("no namespaces here")
    load(sqlite_backend)
    spec = write_objective(tmp_path, "print(key, file=open('log', 'a')); time.sleep(0.05)")
    words = ["run", *OPTIONS, "--strategy", "random", "--objective", spec, "--name", "shared"]
    command = [str(COMMAND), *words, "--budget", "30", "--uri", sqlite_backend.uri]
    workers = [
        subprocess.Popen(
            [*CONTAINER, *command],
            cwd=tmp_path,
            env=environment_for(sqlite_backend),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(2)
    ]
    for worker in workers:
        out, _ = worker.communicate(timeout=100)
        assert worker.returncode == 0, out
    evaluated = Counter((tmp_path / "log").read_text().split())
    assert len(evaluated) == 30
    assert set(evaluated.values()) == {1}
