"""What people do on the page is in the database, and what cannot be done is said in one line and changes nothing."""

import csv
import html
import io
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graphbo.runs import Run
from graphbo.runs.registry import runs_in
from tests.backends import Backend, SqliteBackend, on_sqlite
from tests.cli.runs import load
from tests.dashboard.served import Served, begin, served


@pytest.fixture
def desk(backend: Backend) -> Iterator[Served]:
    load(backend)
    begin(backend, caption="name", budget=20)
    with served(backend) as found:
        yield found


def run_of(backend: Backend) -> Run:
    with backend.open() as store:
        run = Run.open(store, "mine")
        run.refresh()
        return run


def test_a_day_of_an_investigation(backend: Backend, desk: Served) -> None:
    """On every database: ask, tell, fail, give back, leave alone, choose, know, amend, retract, note."""
    said = desk.act("ask", count="3", token="t" * 20)
    assert said.startswith("You took 3 nodes: ")
    assert len(desk.cards()) == 4
    first, second, third, fourth = sorted(run_of(backend).pending, key=lambda one: one.step)
    assert {one.worker for one in (second, third, fourth)} == {"Ann"}

    assert desk.act("tell", step=first.step, value="7.5", note="in the rain").endswith(
        "best so far"
    )
    desk.act("fail", step=second.step, note="nobody at home")
    desk.act("release", step=third.step)
    desk.act("exclude", step=fourth.step, key=json.dumps(fourth.key), note="under repair")
    free = next(
        key for key in range(60) if key not in {one.key for one in (first, second, third, fourth)}
    )
    desk.act("measure", key=json.dumps(free))
    desk.act("known", key=json.dumps((free + 30) % 60), value="1.25")
    chosen = run_of(backend).pending[0]
    desk.act("tell", step=chosen.step, value="9")
    desk.act("amend", step=first.step, value="8", note="misread")
    desk.act("amend", step=second.step, value="3", note="at home in the evening")
    desk.act("note", step=second.step, note="very kind")
    desk.act("retract", step=chosen.step, reason="the neighbour's")

    run = run_of(backend)
    values = {one.key: one.value for one in run.history}
    assert values == {first.key: 8.0, second.key: 3.0, (free + 30) % 60: 1.25}
    assert [one.note for one in run.history if one.key == second.key] == ["very kind"]
    assert [(one.key, one.reason) for one in run.excluded] == [(fourth.key, "under repair")]
    assert run.pending == ()
    best = run.best()
    assert best is not None
    assert best.key == first.key
    desk.act("include", key=json.dumps(fourth.key))
    assert run_of(backend).excluded == ()


@on_sqlite
def test_the_same_request_twice_gives_the_same_nodes(backend: Backend, desk: Served) -> None:
    first = desk.act("ask", count="2", token="same" * 5)
    second = desk.act("ask", count="2", token="same" * 5)

    assert first == second
    assert len(run_of(backend).pending) == 3


@on_sqlite
def test_the_same_value_twice_is_recorded_once(backend: Backend, desk: Served) -> None:
    desk.act("tell", step="1", value="4")
    assert "nothing changed" in desk.act("tell", step="1", value="4")

    assert len(run_of(backend).history) == 1


@on_sqlite
def test_two_people_who_tell_different_values(backend: Backend, desk: Served) -> None:
    desk.act("tell", step="1", value="4")
    said = desk.act("tell", 409, step="1", value="5", person="Bob")

    assert "has the value 4.0 already" in said
    assert "look at the node" in said
    assert [one.value for one in run_of(backend).history] == [4.0]


@on_sqlite
def test_many_people_at_once_lose_and_double_nothing(backend: SqliteBackend, desk: Served) -> None:
    start = threading.Barrier(8, timeout=60)

    def work(number: int) -> None:
        start.wait()
        for turn in range(2):
            desk.act("ask", count="1", token=f"person-{number}-turn-{turn}", person=f"P{number}")
        for one in run_of(backend).pending:
            if one.worker == f"P{number}":
                desk.act("tell", step=one.step, value=str(number), person=f"P{number}")

    with ThreadPoolExecutor(8) as people:
        list(people.map(work, range(8)))

    run = run_of(backend)
    assert sorted(one.value for one in run.history if one.value is not None) == sorted(
        [float(number) for number in range(8)] * 2
    )
    assert len({one.key for one in run.history}) == 16
    assert [one.worker for one in run.pending] == ["Ann"]


@on_sqlite
@pytest.mark.parametrize(
    ("action", "form", "said"),
    [
        ("tell", {"step": "1", "value": ""}, "there is no value"),
        ("tell", {"step": "1", "value": "3,5"}, "3.5"),
        ("tell", {"step": "1", "value": "nan"}, "not a number"),
        ("tell", {"step": "1", "value": "1e999"}, "finite"),
        ("tell", {"step": "99", "value": "1"}, "nobody asked for step 99"),
        ("tell", {"step": "one", "value": "1"}, "whole number"),
        ("tell", {"step": "9" * 40, "value": "1"}, "whole number"),
        ("tell", {"value": "1"}, "whole number"),
        ("ask", {"count": "0"}, "at least one"),
        ("ask", {"count": "51"}, "up to 50"),
        ("ask", {"count": "1", "person": "x" * 61}, "person"),
        ("ask", {"count": "1", "person": "a\u0007b"}, "cannot be printed"),
        ("ask", {"count": "1", "person": 7}, "person"),
        ("measure", {"key": "[1]"}, "no such node"),
        ("measure", {"key": "{"}, "no such node"),
        ("measure", {"key": "true"}, "no such node"),
        ("measure", {"key": "1000"}, "1000"),
        ("known", {"key": "1000", "value": "1"}, "1000"),
        ("exclude", {"key": "1000"}, "1000"),
        ("include", {"key": "5"}, "not excluded"),
        ("retract", {"step": "1"}, "1"),
        ("retry", {"key": "5"}, "has not failed"),
        ("note", {"step": "77", "note": "x"}, "77"),
        ("note", {"step": "1", "note": "x" * 2001}, "at most 2,000"),
        ("budget", {"budget": "0"}, "at least one"),
        ("budget", {"budget": "many"}, "whole number"),
        ("drop", {}, "cannot be done"),
        ("tell", {"run": "other", "step": "1", "value": "1"}, "no run 'other'"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    backend: SqliteBackend, desk: Served, action: str, form: dict[str, object], said: str
) -> None:
    before = backend.dump()
    status = 404 if form.get("run") or "1000" in str(form) else 409

    error = desk.act(action, status, **form)

    assert said in error
    assert len(error.splitlines()) == 1
    assert backend.dump() == before


@on_sqlite
def test_a_run_is_stopped_goes_on_and_gets_more_budget(backend: Backend, desk: Served) -> None:
    desk.act("stop")
    assert "stopped" in desk.act("ask", 409, count="1")
    desk.act("go-on")
    desk.act("budget", budget="1")
    desk.act("tell", step="1", value="4")
    assert run_of(backend).record.state == "finished"
    assert "budget" in desk.act("ask", 409, count="1")
    assert "raise it" in desk.act("go-on", 409)

    desk.act("budget", budget="2")

    assert run_of(backend).record.state == "running"
    desk.act("ask", count="1")


@on_sqlite
def test_an_answer_in_the_database_can_be_collected(backend: Backend, desk: Served) -> None:
    run = run_of(backend)
    with backend.open() as store:
        store.write_nodes(run.view, [(run.pending[0].key, {f"{run.record.prefix}Answer": 6.5})])
        runs_in(store).change(
            "mine", budget=21
        )  # what somebody else does to the database is seen with what runs do

    page = desk.get("/api/run", name="mine", rows="25")
    assert "waits to be collected" in page["cards"][0]["html"]
    assert desk.act("collect") == "1 answer collected"

    assert [one.value for one in run_of(backend).history] == [6.5]


@on_sqlite
def test_pages_are_sent_again_only_when_something_changed(backend: Backend, desk: Served) -> None:
    for path, query in (("/api/runs", {}), ("/api/run", {"name": "mine", "rows": "25"})):
        version = desk.get(path, **query)["version"]
        unchanged = desk.client.get(
            path, params={**query, "version": version}, headers=desk.headers
        )
        assert (unchanged.status_code, unchanged.content) == (204, b"")
        desk.act("note", step="1", note=f"seen on {path}")
        assert desk.get(path, **query, version=version)["version"] != version


@on_sqlite
def test_a_run_that_is_gone_and_one_that_took_its_name(backend: Backend, desk: Served) -> None:
    desk.act("tell", step="1", value="4")
    assert "4" in json.dumps(desk.get("/api/runs"))
    with backend.open() as store:
        runs_in(store).clean("mine")
    gone = desk.client.get("/api/run", params={"name": "mine"}, headers=desk.headers)
    assert gone.status_code == 404
    assert "there is no run 'mine'" in gone.json()["error"]

    begin(backend)

    assert len(desk.cards()) == 1
    assert "Nothing yet" in desk.get("/api/run", name="mine", rows="25")["parts"]["history"]


@on_sqlite
def test_a_node_is_found_as_people_type_it(desk: Served) -> None:
    assert desk.get("/api/find", name="mine", text="42") == {"key": "42"}

    missing = desk.client.get(
        "/api/find", params={"name": "mine", "text": "x"}, headers=desk.headers
    )

    assert missing.status_code == 404


@on_sqlite
def test_the_figures_know_every_node_that_can_be_pointed_at(backend: Backend, desk: Served) -> None:
    desk.act("exclude", key="7")
    figures = desk.get("/api/figures", name="mine")
    pending = run_of(backend).pending[0].key

    ids = [json.loads(one) for one in figures["map"]["id"]]
    assert sorted(ids) == list(range(60))
    assert [ids[row] for row in figures["map"]["pending"]] == [pending]
    assert [ids[row] for row in figures["map"]["excluded"]] == [7]


@on_sqlite
def test_runs_are_compared(backend: Backend, desk: Served) -> None:
    desk.act("tell", step="1", value="4")

    (curve,) = desk.get("/api/compare", name=["mine"])["runs"]

    assert curve == {"name": "mine", "x": [1], "y": [4.0]}


@on_sqlite
def test_a_spreadsheet_is_taken_out_with_the_properties_of_the_nodes(desk: Served) -> None:
    desk.act("tell", step="1", value="4", note="=1+1")

    answer = desk.client.get("/api/sheet", params={"name": "mine"}, headers=desk.headers)
    lines = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))

    assert answer.headers["content-type"].startswith("text/csv")
    assert len(lines) == 1
    assert lines[0]["value"] == "4.0"
    assert lines[0]["name"] == f"node {lines[0]['key']}"


@on_sqlite
def test_what_is_left_alone_is_listed_with_its_reason(desk: Served) -> None:
    assert desk.get("/api/run", name="mine", rows="25")["parts"]["excluded"] == ""
    for key in range(55):
        desk.act("exclude", key=str(key), reason="a <b>bridge</b>")

    part = desk.get("/api/run", name="mine", rows="25")["parts"]["excluded"]

    assert "55 nodes left alone" in part
    assert part.count("by Ann: a &lt;b&gt;bridge&lt;/b&gt;") == 50
    assert "and 5 more" in part
    assert "node 7" in part


# Spreadsheets


SHEET = "Platz;Value (mg);Why\r\n{one};1.5;\r\n{two};;not at home\r\n"
COLUMNS: dict[str, Any] = {"node": "Platz", "value": "Value (mg)", "note": "why", "person": "Ann"}


def bring_in(
    desk: Served, what: str, text: str, expected: int = 200, **options: Any
) -> tuple[str, bool]:
    """What is said of a file, and whether it can be recorded."""
    answer = desk.client.post(
        f"/api/sheet/{what}",
        params={"name": "mine", **options},
        content=text.encode(),
        headers={**desk.headers, "content-type": "text/csv"},
    )
    assert answer.status_code == expected, answer.text
    said = "".join(answer.json().values())
    assert len(said.splitlines()) == 1
    return said, "sheet-tell" in said


def test_a_spreadsheet_is_looked_at_and_then_brought_in(backend: Backend, desk: Served) -> None:
    desk.act("ask", count="1")
    one, two = (one.key for one in sorted(run_of(backend).pending, key=lambda one: one.step))
    sheet, before = SHEET.format(one=one, two=two), backend.dump()

    said, fine = bring_in(desk, "look", sheet, **COLUMNS)
    assert fine
    assert "is recorded at step 1" in said
    assert "has failed, at step 2" in said
    assert backend.dump() == before

    assert bring_in(desk, "tell", sheet, **COLUMNS)[0] == "2 lines recorded"
    assert [one.value for one in run_of(backend).history] == [1.5, None]
    assert "has all of it already" in bring_in(desk, "look", sheet, **COLUMNS)[0]
    assert bring_in(desk, "tell", sheet, **COLUMNS)[0] == "0 lines recorded"
    # A failure may be replaced by a value; a value only on purpose.
    later = f"node,value\n{one},2\n{two},3\n"
    assert not bring_in(desk, "look", later)[1]
    assert "line 2" in bring_in(desk, "tell", later, 409)[0]
    assert bring_in(desk, "tell", later, amend="on")[0] == "2 lines recorded"
    assert [one.value for one in run_of(backend).history] == [2.0, 3.0]


@on_sqlite
def test_known_values_from_a_spreadsheet(backend: Backend, desk: Served) -> None:
    pending = run_of(backend).pending[0].key
    free = next(key for key in range(60) if key != pending)
    sheet = f"node,value\n{free},4\n{pending},5\n"

    assert bring_in(desk, "look", sheet, known="on")[1]
    assert bring_in(desk, "tell", sheet, known="on")[0] == "1 value known now"
    assert [(one.key, one.source) for one in run_of(backend).history] == [(free, "warm")]


@on_sqlite
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column is called"),
        ("a,b\n1,2\n", "no column is called"),
        ("node,value\n", "has no values"),
        ('node,value\n1,"3,5"\n', "3.5"),
        ("node,value\n<script>alert(1)</script>,1\n", "has the key"),
        ("node,value\n1,1\n1,2\n", "is in line 2 already"),
        ("node,value\n1,1,2\n", "3 cells, but 2 columns"),
        ("node,value\n1,\n", "neither a value nor a note"),
    ],
)
def test_a_bad_spreadsheet_changes_nothing(
    backend: SqliteBackend, desk: Served, text: str, said: str
) -> None:
    before = backend.dump()
    status = 200 if text.partition("\n")[2] and "node" in text else 409

    looked, fine = bring_in(desk, "look", text, status)
    told, _ = bring_in(desk, "tell", text, 409)

    assert not fine
    assert said in told
    assert said in html.unescape(looked)
    assert "<script" not in looked
    assert backend.dump() == before


# Starting a run


FORM = {
    "name": "ours",
    "label": "N",
    "rel": "R",
    "goal": "minimize",
    "budget": "7",
    "person": "Ann",
}


def test_a_form_shows_what_is_found_and_starts_a_run(backend: Backend) -> None:
    load(backend)
    with served(backend) as desk:
        form = desk.get("/api/form")["html"]
        found = desk.post("/api/examine", FORM)
        before = backend.dump()
        wrong = desk.post("/api/examine", {**FORM, "label": "Nn"})
        assert backend.dump() == before
        started = desk.post("/api/start", FORM)
        again = desk.post("/api/start", FORM, 409)

    # There is one label, and one type.
    assert 'name="label"' in form
    assert 'value="N"' in form
    assert found["fine"]
    assert "60 nodes with the label N" in found["html"]
    assert not wrong["fine"]
    assert "choose “Label of the nodes” among N" in wrong["html"]
    assert "--" not in wrong["html"]
    assert started["name"] == "ours"
    assert "ours" in again["error"]
    with backend.open() as store:
        record = Run.open(store, "ours").record
    assert (record.maximize, record.budget, record.state) == (False, 7, "running")


@on_sqlite
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": ""}, "no name"),
        ({"label": "", "rel": ""}, "the graph is not named"),
        ({"label": "Nn"}, "Nn"),
        ({"rel": "Rr"}, "Rr"),
        ({"goal": "both"}, "the goal is 'both'"),
        ({"budget": "many"}, "whole number"),
        ({"budget": "-3"}, "at least one"),
        ({"budget": "0"}, "at least one"),
        ({"seed": "x"}, "whole number"),
        ({"where": "no such thing"}, "no such thing"),
        ({"path": "(:N)-->("}, "("),
        ({"key": "nokey"}, "nokey"),
        ({"caption": "x" * 3000}, "at most 2,000"),
        ({"name": "x" * 1999}, "name"),
        ({"name": "a\nb"}, "name"),
    ],
    ids=lambda one: "" if isinstance(one, str) else ",".join(one),
)
def test_a_run_that_cannot_be_started_leaves_nothing(
    backend: SqliteBackend, changed: dict[str, str], said: str
) -> None:
    load(backend)
    before = backend.dump()
    with served(backend) as desk:
        error = desk.post("/api/start", {**FORM, **changed}, 409)["error"]

    assert said in error
    assert len(error.splitlines()) == 1
    assert backend.dump() == before


@on_sqlite
def test_a_run_with_costs_shows_them_and_gets_more_to_spend(backend: Backend) -> None:
    load(backend)
    begin(backend, cost="score", budget_cost=12.0)
    with served(backend) as desk:
        cost = run_of(backend).pending[0].cost or 0.0
        page = desk.get("/api/run", name="mine", rows="25")
        assert f", costs {cost:g}" in page["cards"][0]["html"]
        assert f"0 of 12 spent, {cost:g} reserved" in "".join(page["parts"].values())
        assert 'name="budget_cost"' in page["parts"]["controls"]
        desk.act("tell", step="1", value="4")
        assert "what is left to spend pays for no node" in desk.act("ask", 409, count="1")
        for wrong in ("", "0", "-1", "much", "1,5"):
            assert len(desk.act("budget-cost", 409, budget_cost=wrong).splitlines()) == 1
        assert desk.act("budget-cost", budget_cost="50.5") == "50.5 may be spent now"
        assert run_of(backend).record.budget_cost == 50.5
        desk.act("ask", count="1")
    taken = run_of(backend).pending[0]
    assert taken.why is not None
    with backend.open() as store:
        found = store.properties(run_of(backend).view, [taken.key])[taken.key]
    assert found["graphboWhy"] == taken.why
