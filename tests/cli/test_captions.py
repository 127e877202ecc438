"""``--caption``: what people call nodes stands beside the key wherever a node is named."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from graphbo.cli.captions import namer
from graphbo.runs.captions import Captions
from graphbo.types import View
from tests.backends import Backend, Neo4jBackend
from tests.cli.runs import OPTIONS, VIEW, InProcess, in_this_process, load

RUN = ("run", *OPTIONS, "--objective", "property:score", "--name", "named", "--budget", 6)
SMALL = ("--strategy", "random", "--caption", "name")


@pytest.fixture
def small(
    sqlite_backend: Backend, in_process: Callable[[Backend], InProcess]
) -> tuple[Backend, InProcess]:
    """The graph, where one node has no name and one has a hostile one."""
    load(sqlite_backend)
    with sqlite_backend.open() as store:
        store.write_nodes(VIEW, [(key, {"name": ""}) for key in range(0, 60, 2)])
        store.write_nodes(VIEW, [(key, {"name": f"n\x1b[31m<b>{key}"}) for key in range(1, 60, 6)])
    return sqlite_backend, in_process(sqlite_backend)


def expected(key: int) -> str:
    if key % 2 == 0:
        return str(key)
    return f"{key} ('n\\x1b[31m<b>{key}')" if key % 6 == 1 else f"{key} (node {key})"


def test_every_command_names_nodes_by_their_captions(
    small: tuple[Backend, InProcess], tmp_path: Path
) -> None:
    _, here = small
    answer = here(*RUN, *SMALL)
    assert answer.code == 0, answer
    told = here("history", "named", "--json").json
    assert len({one["key"] for one in told}) == 6
    lines = [line for line in answer.err.splitlines() if "  best " in line]
    for line, one in zip(lines, told, strict=True):
        assert f"  {expected(one['key'])}  {one['value']:.6g}" in line
    best = max(told, key=lambda one: float(one["value"]))["key"]
    assert f"Best: {expected(best)} with" in answer.out
    assert f"Best: {expected(best)} with" in here("best", "named").out
    assert f"best       {expected(best)} with" in here("status", "named").out
    assert all(f"  {expected(one['key'])}  " in here("history", "named").out for one in told[:2])
    header, first, *_ = here("history", "named", "--csv").out.splitlines()
    assert ",caption," in header
    assert f",{told[0]['key']}," in first
    asked = here("ask", "named", "--budget", 9).out
    pending = here("status", "named", "--json").json["pending"][0]
    assert f"Measure: {expected(pending['key'])} (step 7)" in asked
    assert pending["caption"] == (None if pending["key"] % 2 == 0 else told_caption(pending["key"]))
    assert here("report", "named", "-o", "r.html").code == 0
    data = json.loads(
        (tmp_path / "r.html").read_text().split('id="data">', 1)[1].split("</script>", 1)[0]
    )
    assert data["steps"]["key"] == [
        f"{one['key']} ({one['caption']})" if one["caption"] else str(one["key"]) for one in told
    ]


def told_caption(key: int) -> str:
    return f"n\x1b[31m<b>{key}" if key % 6 == 1 else f"node {key}"


def test_the_caption_of_a_run_is_kept_and_another_can_be_asked_for(
    small: tuple[Backend, InProcess],
) -> None:
    _, here = small
    assert here(*RUN, *SMALL).code == 0
    kept = here("best", "named", "--json").json
    other = here("best", "named", "--caption", "score", "--json").json
    assert kept["caption"] in (None, kept["properties"]["name"])
    assert other["caption"] == str(other["value"])
    # No reason to refuse to go on.
    again = here(*RUN[:-1], 8, "--strategy", "random", "--caption", "score")
    assert again.code == 0, again
    assert f"({again.out.split(' with ')[1].split()[0]})" in again.out


def test_without_a_caption_nothing_is_said_of_it(small: tuple[Backend, InProcess]) -> None:
    _, here = small
    assert here(*RUN, "--strategy", "random").code == 0
    assert "caption" not in here("best", "named", "--json").json
    assert "caption" not in here("history", "named", "--csv").out.splitlines()[0]


@pytest.mark.neo4j
def test_steps_do_not_wait_for_captions_of_a_server(
    neo4j_backend: Neo4jBackend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    load(neo4j_backend)
    here = in_this_process(neo4j_backend, tmp_path, monkeypatch, capsys)
    answer = here(*RUN, *SMALL)
    assert answer.code == 0, answer
    told = here("history", "named", "--json").json
    lines = [line for line in answer.err.splitlines() if "  best " in line]
    assert [line.split()[1:4] for line in lines] == [
        [str(one["key"]), "(node", f"{one['key']})"] for one in told
    ]
    said: list[tuple[str | None, bool]] = []
    with neo4j_backend.open() as store, namer(store, VIEW, "name") as names:

        def say(captions: Captions) -> None:
            elsewhere = threading.current_thread() is not threading.main_thread()
            said.append((captions.of(3), elsewhere))

        names.later([3], say)
    assert said == [("node 3", True)]


def test_a_run_does_not_end_for_want_of_a_caption(small: tuple[Backend, InProcess]) -> None:
    backend, _ = small
    with backend.open() as store, namer(store, View(("X",), ("R",), key="id"), "name") as names:
        names.later([1])
        assert names.named(1) == "1"
