"""When leases end in a SQLite file."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphbo.stores.sqlite import clock
from graphbo.stores.sqlite.clock import leased, with_time_left


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    clock._boot.cache_clear()
    yield
    clock._boot.cache_clear()


def test_setting_the_clock_ends_no_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    if clock._boot() is None:
        pytest.skip("this system does not say when it was started")
    lease = leased({"step": 1}, 60.0)
    monkeypatch.setattr(time, "time", lambda: 4e9)
    found = with_time_left(dict(lease))
    assert found == {"step": 1, "left": pytest.approx(60_000, abs=5_000)}


def test_a_lease_of_before_the_machine_was_started_has_ended() -> None:
    lease = leased({}, 60.0) | {"boot": "another"}
    assert with_time_left(lease) == {"left": -1.0}


def test_leases_of_the_first_schema_are_by_the_clock_on_the_wall() -> None:
    old = {"leaseUntil": 1e3 * (time.time() + 30)}
    assert with_time_left(old)["left"] == pytest.approx(30_000, abs=5_000)


def test_so_are_all_where_nothing_else_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(clock, "_BOOT_ID", tmp_path / "none")
    lease = leased({}, 60.0)
    assert lease["boot"] is None
    assert with_time_left(lease)["left"] == pytest.approx(60_000, abs=5_000)


def test_by_hand_there_is_none() -> None:
    assert with_time_left(leased({"step": 1}, None)) == {"step": 1, "left": None}
