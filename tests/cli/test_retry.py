"""``graphbo retry``: failures that were mended are tried again."""

from pathlib import Path

import pytest

from tests.backends import on_sqlite
from tests.cli.runs import OPTIONS, InProcess, history

ASK = ("ask", "visits", *OPTIONS, "--strategy", "random", "--budget", 4)


@pytest.fixture
def failed(here: InProcess) -> tuple[InProcess, list[int]]:
    """A run by hand of which two nodes have failed, and one has a value."""
    keys = []
    for why in ("moved away", "not at home", None):
        key = here(*ASK, "--json").json["pending"][0]["key"]
        words = [2.5] if why is None else ["--failed", why]
        assert here("tell", "visits", key, *words).code == 0
        keys.append(key)
    return here, keys


def test_all_failures_are_given_back(failed: tuple[InProcess, list[int]]) -> None:
    here, keys = failed
    answer = here("retry", "visits")
    assert answer.code == 0, answer
    assert all(str(key) in answer.out for key in keys[:2])
    assert "1 of 4 evaluations" in answer.out
    assert "graphbo ask visits" in answer.out
    told = history(here, "visits")
    assert [(one["key"], one["error"], one["retried"]) for one in told] == [
        (keys[0], "moved away", True),
        (keys[1], "not at home", True),
        (keys[2], None, False),
    ]
    assert "retried" in here("history", "visits").out
    assert "Nothing has failed" in here("retry", "visits").out
    # They may be proposed again.
    seen = set()
    for _ in range(3):
        key = here("ask", "visits", "--json").json["pending"][0]["key"]
        seen.add(key)
        here("tell", "visits", key, 1)
    assert here("status", "visits", "--json").json["evaluations"] == 4


@on_sqlite
def test_or_those_of_some_nodes(failed: tuple[InProcess, list[int]]) -> None:
    here, keys = failed
    given_back = here("retry", "visits", keys[1], "--json").json["given_back"]
    assert [one["key"] for one in given_back] == [keys[1]]
    assert here("status", "visits", "--json").json["failed"] == 1
    line = here("retry", "visits", keys[2]).failed_with_one_line()
    assert f"{keys[2]} has not failed" in line
    assert str(keys[0]) in line
    assert "no node" in here("retry", "visits", "nobody").failed_with_one_line()


@on_sqlite
def test_or_replaced_by_a_value(failed: tuple[InProcess, list[int]]) -> None:
    here, keys = failed
    answer = here("tell", "visits", keys[1], 7.5)
    assert "= 7.5 now, the best so far" in answer.out
    told = {one["key"]: one for one in history(here, "visits")}
    assert (told[keys[1]]["value"], told[keys[1]]["error"]) == (7.5, "not at home")
    assert "first: not at home" in here("history", "visits").out


@on_sqlite
def test_a_mended_objective_measures_what_had_failed(here: InProcess, tmp_path: Path) -> None:
    (tmp_path / "flaky.py").write_text(
        "from pathlib import Path\n\n\ndef score(key):\n"
        "    if key % 2 and not Path('mended').exists():\n        raise OSError('down')\n    return key\n"
    )
    run = ("run", "--name", "flaky", "--budget", 12)
    begin = (*run, *OPTIONS, "--objective", "python:flaky:score", "--strategy", "random")
    assert here(*begin).code == 0
    failed = {one["key"] for one in history(here, "flaky") if one["value"] is None}
    assert failed
    (tmp_path / "mended").touch()
    assert here("retry", "flaky").code == 0
    assert here(*run, "--objective", "python:flaky:score").code == 0
    facts = here("status", "flaky", "--json").json
    assert (facts["evaluations"], facts["failed"]) == (12, 0)
