"""What commands say of runs is true and whole: one thing is one, nobody is nobody, and names are as they were given."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import rich.console

from graphbo.cli.as_printed import state_of
from graphbo.cli.output import print_table
from graphbo.runs import RunSettings
from graphbo.stores import open_store
from graphbo.stores.checks import key_problem
from graphbo.stores.contract import KeyReport
from graphbo.types import Candidate, Pending, Proposal, View
from tests.backends import Backend, on_sqlite
from tests.cli.runs import OPTIONS, VIEW, InProcess

SCORE = ("--objective", "property:score", "--strategy", "random")
RANDOM = (*OPTIONS, "--strategy", "random")
WHY = "the sensor of the third mast has been away for repair since the storm of last week"


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (KeyReport("id", False, 0, 1), "1 of its values belongs to several nodes"),
        (KeyReport("id", False, 0, 2), "2 of its values belong to several nodes"),
        (KeyReport("id", False, 1, 0), "1 node does not have it"),
        (KeyReport("id", False, 1200, 0), "1,200 nodes do not have it"),
    ],
    ids=["one value", "two values", "one node", "many nodes"],
)
def test_one_is_no_plural(report: KeyReport, expected: str) -> None:
    with open_store("sqlite::memory:") as store:
        assert expected in str(key_problem(store, View(("N",), ("R",), key="id"), report))


@on_sqlite
def test_a_key_is_told_as_it_is_written(
    backend: Backend, in_process: Callable[[Backend], InProcess]
) -> None:
    with backend.open() as store:
        store.create_key(VIEW)
        store.write_nodes(VIEW, [("ann", {}), ("bob", {})])
        store.write_relationships(VIEW, [("ann", "bob", {})])
    here = in_process(backend)
    (asked,) = here("ask", "hand", *RANDOM, "--json").json["pending"]
    other = "bob" if asked["key"] == "ann" else "ann"
    assert here("tell", "hand", other, 1, "--known").out.startswith(f"{other} = 1 is known now. ")
    assert here("tell", "hand", other, 1, "--known").out.startswith(
        f"The run knows {other} already"
    )
    assert here("tell", "hand", asked["key"], 2).out.startswith(f"Step 1: {asked['key']} = 2, ")


@on_sqlite
def test_a_run_that_no_worker_is_at_is_open(here: InProcess) -> None:
    (asked,) = here("ask", "hand", *RANDOM, "--json").json["pending"]
    assert "state      open, 0 evaluations\n" in here("status", "hand").out
    here("tell", "hand", asked["key"], 2)
    assert "state      open, 1 evaluation, nobody is at work\n" in here("status", "hand").out
    assert "hand  open   " in here("runs").out
    assert "After 1 evaluation; the run is open." in here("best", "hand").out
    assert here("status", "hand", "--json").json["state"] == "running"  # for programs, as ever


def test_a_worker_that_is_gone_is_not_at_work() -> None:
    record, candidate = RunSettings().record("town", VIEW), Candidate("ann")
    proposal = Proposal((candidate,), "initial")
    for left, state in ((30.0, "running"), (-1.0, "open"), (None, "open")):
        pending = Pending(1, candidate, proposal, "elsewhere:1:x", "token", left)
        assert state_of(record, [pending]) == state


@on_sqlite
def test_what_earlier_processes_looked_at_is_not_claimed(here: InProcess) -> None:
    first = here("run", *OPTIONS, *SCORE, "--budget", 5)
    assert "5 of 5 evaluations, " in first.out.splitlines()[-5]
    assert " nodes looked at, " in first.out
    second = here("run", "--name", "n-score", "--budget", 8)
    line = next(one for one in second.out.splitlines() if one.startswith("The budget"))
    assert "8 of 8 evaluations. Of them, 3 by this command, with " in line


@on_sqlite
def test_why_an_evaluation_failed_is_said_in_full(here: InProcess, tmp_path: Path) -> None:
    (tmp_path / "away.py").write_text(f"def score(key):\n    raise OSError({WHY!r})\n")
    spec = ("--objective", "python:away:score", "--strategy", "random", "--name", "away")
    told = here("run", *OPTIONS, *spec, "--budget", 3, "--max-failures", 1)
    assert told.err.splitlines()[-1].startswith("graphbo: 1 evaluation failed; the last one, at ")
    assert f"failed: OSError: {WHY}" in told.err
    for command in ("status", "history"):
        assert f"OSError: {WHY}" in here(command, "away").out, command
    (asked,) = here("ask", "away", "--json").json["pending"]
    assert f"failed ({WHY})" in here("tell", "away", asked["key"], "--failed", WHY).out


def test_a_narrow_terminal_folds_remarks_and_loses_none(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = io.StringIO()
    real = rich.console.Console

    def narrow(**options: Mapping[str, object]) -> rich.console.Console:
        return real(file=drawn, width=60, force_terminal=True, color_system=None)

    monkeypatch.setattr(rich.console, "Console", narrow)
    print_table(("step", "node", "value", ""), [("1", "ann", "failed", WHY)])
    assert (
        WHY.split()
        == [word for line in drawn.getvalue().splitlines()[1:] for word in line.split()][3:]
    )
