"""What went wrong can be mended: failures are given back or replaced, nobody evaluates a node for ever."""

import time

import pytest

from graphbo.errors import NotAsked, ReportRefused
from graphbo.runs import Run
from graphbo.runs.records import AskAnswer, RunRecord
from graphbo.runs.registry import runs_in
from graphbo.runs.telling import Report
from graphbo.stores import GraphStore
from graphbo.types import Candidate, NodeKey, Proposal, View
from tests.backends import Backend, on_sqlite
from tests.runs.support import finish, hand_out, news_in, tell

VIEW = View(("N",), ("R",), key="id")
RECORD = RunRecord("search", True, VIEW, {"strategy": "random"}, seed=7, prefix="", budget=5)


@pytest.fixture
def run(store: GraphStore) -> GraphStore:
    store.create_key(VIEW)
    store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(40)])
    runs_in(store).create(RECORD)
    return store


def ask(
    store: GraphStore,
    *keys: NodeKey,
    token: str,
    worker: str = "me",
    lease: float | None = None,
    adopt: tuple[str, ...] = (),
) -> AskAnswer:
    proposal = Proposal(tuple(Candidate(key) for key in keys), "initial")
    return hand_out(store, proposal, token=token, worker=worker, lease=lease, adopt=adopt)


def fail(store: GraphStore, key: NodeKey, error: str = "no answer") -> int:
    pending = ask(store, key, token=f"t{key}").pending
    assert pending is not None
    tell(store, None, step=pending.step, error=error)
    return pending.step


class TestGivingBack:
    def test_a_failure_may_be_tried_again(self, run: GraphStore) -> None:
        fail(run, 3)
        assert ask(run, 3, token="again").outcome == "taken"
        (given_back,) = Run.open(run, "search").retry([3])
        assert (given_back.key, given_back.error) == (3, "no answer")
        answer = ask(run, 3, token="again")
        assert answer.pending is not None
        assert answer.pending.step == 2
        tell(run, 4.0, step=2)
        news = news_in(run)
        assert [(one.step, one.value) for one in news.observations] == [(2, 4.0)]
        assert (news.record.told, news.record.failed, news.record.in_history) == (1, 0, 1)
        # Both are on record.
        (kept,) = Run.open(run, "search").retried()
        assert (kept.step, kept.key, kept.error) == (1, 3, "no answer")

    @on_sqlite
    def test_again_and_again(self, run: GraphStore) -> None:
        for number in range(3):
            fail(run, 3, f"no answer {number}")
            Run.open(run, "search").retry()
        assert [one.error for one in Run.open(run, "search").retried()] == [
            f"no answer {number}" for number in range(3)
        ]
        assert runs_in(run).get("search").evaluations == 0

    def test_all_of_them_without_a_name_and_the_budget_has_room_for_them(
        self, run: GraphStore
    ) -> None:
        for key in range(5):
            fail(run, key)
        assert ask(run, 9, token="x").outcome == "ended"
        assert runs_in(run).get("search").state == "finished"
        assert [one.key for one in Run.open(run, "search").retry()] == list(range(5))
        record = runs_in(run).get("search")
        assert (record.left, record.state) == (5, "stopped")
        assert Run.open(run, "search").retry() == ()

    def test_everybody_learns_of_it(self, run: GraphStore) -> None:
        fail(run, 3)
        before = runs_in(run).get("search").amended
        Run.open(run, "search").retry()
        assert runs_in(run).get("search").amended == before + 1

    def test_what_has_not_failed_is_no_failure(self, run: GraphStore, backend: Backend) -> None:
        fail(run, 3)
        with pytest.raises(NotAsked, match=r"4 has not failed.*: 3"):
            Run.open(run, "search").retry([3, 4])
        assert runs_in(run).get("search").failed == 1

    def test_cleaning_leaves_no_trace_of_it(self, store: GraphStore, backend: Backend) -> None:
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(9)])
        before = backend.dump()
        runs_in(store).create(RECORD)
        fail(store, 3)
        Run.open(store, "search").retry()
        fail(store, 3)
        runs_in(store).clean("search")
        assert backend.dump() == before


class TestReplacing:
    def test_a_value_replaces_a_failure_and_both_are_kept(self, run: GraphStore) -> None:
        step = fail(run, 3, "not at home")
        told = tell(run, 9.0, key=3, note="called again")
        assert told.outcome == "amended"
        (found,) = news_in(run).observations
        assert (found.step, found.value, found.error, found.note) == (
            step,
            9.0,
            "not at home",
            "called again",
        )
        assert not found.failed
        record = runs_in(run).get("search")
        assert (record.told, record.failed, record.best_value, record.amended) == (1, 0, 9.0, 1)
        assert run.properties(VIEW, [3])[3]["graphboValue"] == 9.0
        assert tell(run, 9.0, key=3).outcome == "repeated"

    @on_sqlite
    def test_a_worse_value_does_not_become_the_best(self, run: GraphStore) -> None:
        fail(run, 3)
        pending = ask(run, 4, token="t").pending
        assert pending is not None
        tell(run, 5.0, step=pending.step)
        tell(run, 1.0, key=3)
        assert runs_in(run).get("search").best_step == pending.step

    def test_a_worker_that_is_late_does_not(self, run: GraphStore) -> None:
        step = fail(run, 3)
        assert tell(run, 9.0, step=step, token="dead").outcome == "late"


class TestTellingTogether:
    def reports(self, *rows: tuple[NodeKey, float | None]) -> list[Report]:
        return [Report(value, key=key, error=None if value else "broken") for key, value in rows]

    def test_all(self, run: GraphStore) -> None:
        for key in (1, 2, 3):
            ask(run, key, token=f"t{key}")
        told = Run.open(run, "search").report_all(self.reports((2, 4.0), (1, None), (3, 6.0)))
        assert [one.outcome for one in told] == ["recorded"] * 3
        news = news_in(run)
        assert [(one.seq, one.key, one.value) for one in news.observations] == [
            (1, 2, 4.0),
            (2, 1, None),
            (3, 3, 6.0),
        ]
        assert (news.record.told, news.record.failed, news.record.best_value) == (2, 1, 6.0)

    def test_or_none(self, run: GraphStore) -> None:
        for key in (1, 2):
            ask(run, key, token=f"t{key}")
        with pytest.raises(ReportRefused, match="nobody asked for 7") as refused:
            Run.open(run, "search").report_all(self.reports((2, 4.0), (7, 1.0), (1, 2.0)))
        assert refused.value.position == 1
        news = news_in(run)
        assert (news.observations, len(news.pending)) == ((), 2)
        assert run.properties(VIEW, [2])[2] == {"id": 2}


class TestTries:
    def test_a_node_is_handed_out_three_times_at_most(self, run: GraphStore) -> None:
        ask(run, 3, token="0", lease=60.0, worker="host:1")
        for number in (1, 2):
            answer = ask(
                run,
                9,
                token=str(number),
                lease=60.0,
                worker=f"host:{number + 1}",
                adopt=(str(number - 1),),
            )
            assert answer.outcome == "taken over"
            assert answer.pending is not None
            assert (answer.pending.key, answer.pending.tries) == (3, number + 1)
        answer = ask(run, 9, token="3", lease=60.0, adopt=("2",))
        assert answer.pending is not None
        assert (answer.outcome, answer.pending.key) == ("new", 9)
        (failed,) = news_in(run).observations
        assert (failed.key, failed.value) == (3, None)
        assert failed.error is not None
        assert "3 times; the last was host:3" in failed.error
        assert answer.news.observations[0].key == 3
        record = runs_in(run).get("search")
        assert (record.failed, record.pending, record.seq, record.steps) == (1, 1, 1, 2)

    def test_leases_that_ran_out_count_as_well(self, run: GraphStore) -> None:
        for number in range(3):
            ask(run, 3, token=str(number), lease=0.0, worker=f"w{number}")
            time.sleep(0.01)
        assert ask(run, 9, token="x", worker="other").outcome == "new"
        assert runs_in(run).get("search").failed == 1

    @on_sqlite
    def test_whoever_leaves_is_no_death(self, run: GraphStore) -> None:
        for number in range(6):
            answer = ask(run, 3, token=str(number), lease=60.0, worker=f"w{number}")
            assert answer.pending is not None
            assert (answer.pending.key, answer.pending.tries) == (3, 1)
            run.log.renew("search", [str(number), "unknown"], -1e-3, tries=-1)
            time.sleep(0.01)
        assert runs_in(run).get("search").steps == 1

    @on_sqlite
    def test_the_budget_is_exact_all_the_same(self, run: GraphStore) -> None:
        runs_in(run).change("search", budget=1)
        for number in range(4):
            answer = ask(run, 3, 4, token=str(number), lease=0.0, worker=f"w{number}")
            time.sleep(0.01)
        assert (answer.outcome, answer.pending) == ("budget", None)
        assert runs_in(run).get("search").evaluations == 1


class TestFinishing:
    def test_a_run_that_was_stopped_stays_stopped(self, run: GraphStore) -> None:
        pending = ask(run, 5, token="t").pending
        assert pending is not None
        for key in range(4):
            fail(run, key)
        runs_in(run).change("search", state="stopped")
        tell(run, 1.0, step=pending.step)
        finish(run)
        assert runs_in(run).get("search").state == "stopped"

    @on_sqlite
    def test_a_raised_budget_goes_on(self, run: GraphStore) -> None:
        runs_in(run).change("search", budget=6)
        for key in range(5):
            fail(run, key)
        finish(run)
        assert runs_in(run).get("search").state == "running"
        finish(run, whatever_is_left=True)
        assert runs_in(run).get("search").state == "finished"

    def test_what_is_pending_is_waited_for(self, run: GraphStore) -> None:
        ask(run, 1, token="t")
        finish(run, whatever_is_left=True)
        assert runs_in(run).get("search").state == "running"


def test_records_say_who_wrote_them(run: GraphStore) -> None:
    """So that whoever cannot read one knows what can."""
    assert runs_in(run).get("search").written_by
    assert runs_in(run).get("search").schema == 2
