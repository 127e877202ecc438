"""Leases are renewed from another process: when it is time, for those that are held, and while the worker lives."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphbo.runs import Run, RunSettings
from graphbo.runs.leases import Leases
from graphbo.stores import Address, GraphStore, open_store
from graphbo.types import View
from tests.cli.runs import wait_until
from tests.objectives.processes import all_gone
from tests.runs.support import news_in

VIEW = View(("N",), ("R",), key="id")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[GraphStore]:
    with open_store(f"sqlite:{tmp_path / 'graph.db'}", create=True) as opened:
        opened.create_key(VIEW)
        opened.write_relationships(VIEW, [(1, 2, {}), (2, 3, {})])
        Run.create(opened, VIEW, "r", RunSettings(strategy="random"))
        yield opened


@pytest.fixture
def left(store: GraphStore) -> Callable[[str], float]:
    """How many seconds are left of the lease of a request."""

    def look(token: str) -> float:
        (found,) = (one for one in news_in(store, name="r").pending if one.token == token)
        assert found.lease_left is not None
        return found.lease_left

    return look


def ask(store: GraphStore, token: str, lease: float = 1.0) -> None:
    assert Run.open(store, "r").ask(lease=lease, token=token).pending


def test_what_is_held_is_renewed_and_nothing_else(
    store: GraphStore, left: Callable[[str], float]
) -> None:
    with Leases("r", 3.0, store.access) as leases:
        for token in ("held", "dropped"):
            leases.hold(token)
            ask(store, token)
        leases.drop("dropped")
        assert leases.held == {"held"}
        wait_until(lambda: left("held") > 1.5)
        assert left("dropped") < 1.0


def test_nothing_is_imported_before_something_is_to_be_renewed(store: GraphStore) -> None:
    with Leases("r", 60.0, store.access) as leases:
        leases.hold("held")
        renewer = pid_of(leases)
        time.sleep(0.5)
        assert "numpy" not in Path(f"/proc/{renewer}/maps").read_text()


def test_nobody_can_read_the_password() -> None:
    address = Address("neo4j://localhost:1", "neo4j", "s3cret")
    with Leases("r", 60.0, address) as leases:
        renewer = pid_of(leases)
        for file in ("cmdline", "environ"):
            assert b"s3cret" not in Path(f"/proc/{renewer}/{file}").read_bytes()


def test_what_goes_wrong_is_said_and_tried_again(
    store: GraphStore,
    left: Callable[[str], float],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert store.access is not None
    elsewhere = tmp_path / "elsewhere.db"
    with Leases("r", 1.5, Address(f"sqlite:{elsewhere}")) as leases:
        leases.hold("held")
        ask(store, "held", lease=0.0)
        said = ""
        while "could not be renewed" not in said:
            time.sleep(0.05)
            said += capfd.readouterr().err
        elsewhere.symlink_to(store.access.path)
        wait_until(lambda: left("held") > 0)


def test_a_renewer_that_was_killed_is_replaced(
    store: GraphStore, left: Callable[[str], float], caplog: pytest.LogCaptureFixture
) -> None:
    with Leases("r", 1.5, store.access) as leases:
        leases.hold("first")
        ask(store, "first", lease=0.0)
        renewer = pid_of(leases)
        os.kill(renewer, 9)
        assert all_gone([renewer])
        leases.hold("second")
        wait_until(lambda: left("first") > 0)
    assert "another one is started" in caplog.text


def test_it_does_not_outlive_its_worker() -> None:
    program = (
        "import os, time\n"
        "from graphbo.runs.leases import Leases\n"
        "from graphbo.stores import Address\n"
        "with Leases('r', 0.3, Address('sqlite:nowhere.db')) as leases:\n"
        "    leases.hold('held')\n"
        "    print(leases._process.pid, flush=True)\n"
        "    if not os.fork(): time.sleep(20)\n"  # it holds the pipe open
        "    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as worker:
        assert worker.stdout is not None
        renewer = int(worker.stdout.readline())
        worker.kill()
        assert all_gone([renewer], 2.0)
        os.killpg(worker.pid, 9)


def test_without_a_database_that_others_reach_nothing_is_started() -> None:
    with Leases("r", 60.0, None) as leases:
        leases.hold("held")
        leases.drop("held")
        assert leases._process is None


def pid_of(leases: Leases) -> int:
    """The process that renews."""
    assert leases._process is not None
    return leases._process.pid
