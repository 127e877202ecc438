"""The checker finds each thing that may go wrong, in histories and journals that were made up."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults import __main__ as program
from tests.faults.checker import Evidence, Findings, Recorded, Said, check
from tests.faults.fleet import Worker, read_untold
from tests.faults.journal import Evaluation, journal_environment, measure, read_journal, value_of
from tests.faults.kinds import Attempt, Kind, Try
from tests.faults.processes import Command
from tests.faults.site import Site
from tests.faults.table import Row, markdown


def evaluation(node: int, worker: str, start: float, end: float | None) -> Evaluation:
    return Evaluation("run", node, worker, 1, start, end)


#: Two nodes, each evaluated and told by a worker that is well.
WELL = Evidence(
    "run",
    budget=2,
    recorded=[Recorded(1, 10, value_of(10)), Recorded(2, 20, value_of(20))],
    evaluated=[evaluation(10, "a", 1.0, 2.0), evaluation(20, "b", 1.5, 2.5)],
    said=[Said("a", 10, value_of(10)), Said("b", 20, value_of(20))],
)


def found(evidence: Evidence) -> dict[str, int]:
    return {name: len(all_) for name, all_ in vars(check(evidence)).items() if all_}


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    assert found(WELL) == {}
    assert not check(WELL)


def test_what_was_said_to_be_recorded_and_is_not_is_lost() -> None:
    assert found(replace(WELL, said=[*WELL.said, Said("a", 30, 7.0)])) == {"lost": 1}
    assert found(replace(WELL, said=[Said("a", 10, value_of(10) + 1)])) == {"lost": 1}
    assert found(replace(WELL, said=[Said("a", 10, None)])) == {"lost": 1}


def test_what_was_evaluated_and_is_nowhere_is_lost_unless_its_worker_was_killed() -> None:
    nowhere = replace(WELL, evaluated=[*WELL.evaluated, evaluation(30, "c", 3.0, 4.0)])
    assert found(nowhere) == {"lost": 1}
    assert found(replace(nowhere, gave_up={"c": 4.0})) == {"lost": 1}
    assert found(replace(nowhere, gave_up={"c": 4.0}, untold={30: value_of(30)})) == {}
    assert found(replace(nowhere, gave_up={"c": 4.0}, untold={30: 0.5})) == {"lost": 1}
    assert found(replace(nowhere, killed={"c": 4.0})) == {}


def test_two_records_of_a_node_or_of_a_step_are_doubled() -> None:
    again = Recorded(3, 10, value_of(10))
    assert found(replace(WELL, budget=3, recorded=[*WELL.recorded, again])) == {"doubled": 1}
    same_step = [WELL.recorded[0], replace(WELL.recorded[1], step=1)]
    assert found(replace(WELL, recorded=same_step)) == {"doubled": 1}


def test_more_records_than_the_budget_are_over_it() -> None:
    assert found(replace(WELL, budget=1)) == {"over_budget": 1}
    assert found(replace(WELL, budget=0)) == {"over_budget": 2}


def test_a_node_is_evaluated_twice_while_its_worker_is_alive() -> None:
    during = [*WELL.evaluated, evaluation(10, "b", 1.9, 3.0)]
    after = [*WELL.evaluated, evaluation(10, "b", 9.0, 9.5)]
    for evaluated in (during, after):
        assert found(replace(WELL, evaluated=evaluated)) == {"evaluated_twice": 1}
        assert found(replace(WELL, evaluated=evaluated[::-1])) == {"evaluated_twice": 1}
    by_itself = [*WELL.evaluated, evaluation(10, "a", 9.0, 9.5)]
    assert found(replace(WELL, evaluated=by_itself)) == {"evaluated_twice": 1}


def test_a_node_may_be_evaluated_again_after_the_death_of_who_had_it_and_not_before() -> None:
    again = replace(WELL, evaluated=[*WELL.evaluated, evaluation(10, "b", 3.0, 3.5)])
    assert found(replace(again, killed={"a": 2.5})) == {}
    assert found(replace(again, gave_up={"a": 2.5})) == {}
    assert found(replace(again, killed={"a": 3.1})) == {"evaluated_twice": 1}
    assert found(replace(again, killed={"b": 2.5})) == {"evaluated_twice": 1}


def test_the_death_of_one_does_not_excuse_the_next() -> None:
    thrice = [*WELL.evaluated, evaluation(10, "b", 3.0, 3.5), evaluation(10, "c", 4.0, 4.5)]
    assert found(replace(WELL, evaluated=thrice, killed={"a": 2.5})) == {"evaluated_twice": 1}


def test_values_that_the_objective_did_not_give() -> None:
    other = [Recorded(1, 10, 0.5), WELL.recorded[1]]
    assert found(replace(WELL, recorded=other, said=())) == {"other": 1}
    never = replace(WELL, evaluated=WELL.evaluated[:1])
    assert found(never) == {"other": 1}


def test_a_failure_is_one_unless_three_workers_died() -> None:
    failed = replace(WELL, recorded=[Recorded(1, 10, None), WELL.recorded[1]], said=())
    assert found(failed) == {"other": 1}
    assert found(replace(failed, killed={"x": 0.1, "y": 0.2})) == {"other": 1}
    assert found(replace(failed, killed={"x": 0.1, "y": 0.2, "z": 0.3})) == {}


def test_a_finding_is_counted_once_for_each_run() -> None:
    findings = Findings(lost=["one"])
    findings.add_new(Findings(lost=["one", "two"], strays=["three"]))
    assert findings.sentences() == ["lost: one", "lost: two", "strays: three"]
    findings.add(Findings(lost=["one"]))
    assert findings.lost == ["one", "two", "one"]


# Where the evidence comes from


def test_the_journal_has_evaluations_that_ended_and_those_that_did_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "journal"
    assert read_journal(journal, "run") == []
    for name, value in journal_environment(journal, "run", "a", 0.0).items():
        monkeypatch.setenv(name, value)
    assert measure(10) == value_of(10)
    first = journal.read_text()
    journal.write_text(first + "start run 20 b 7 1e9\nstart other 30 b 7 1e9\n")
    ended, other = read_journal(journal, "run")
    assert (ended.node, ended.worker) == (10, "a")
    assert ended.end is not None
    assert ended.start <= ended.end
    assert other == Evaluation("run", 20, "b", 7, 1e9, None)


class Ended:
    code = 1

    def kill(self) -> None:
        pass


def test_what_a_worker_said_is_read_from_its_lines(tmp_path: Path) -> None:
    command = Command([], tmp_path, {}, tmp_path / "worker")
    worker = Worker("a", command, Ended())
    assert list(worker.said()) == []
    command.err.write_text(
        "Using the embedded store sqlite:graph.db (--uri)\n"
        "Resuming run: 3 of 20 evaluations, best 17\n"
        "     4/20  173  754  best 754 at 173\n"
        "     5/20  12  3  best 754 at 173  (late)\n"
        "     6/20  13  failed: its process died 3 times  best 754 at 173\n"
        "graphbo: the database is gone\n"
    )
    said = [Said("a", 173, 754.0), Said("a", 12, 3.0), Said("a", 13, None)]
    assert list(worker.said()) == said
    assert worker.endings() == ["graphbo: the database is gone"]
    command.err.write_text("Traceback (most recent call last):\n  …\nKeyError: 'view'\n")
    assert worker.endings() == ["a traceback and KeyError: 'view'"]


def test_untold_values_are_read_from_their_file(tmp_path: Path) -> None:
    path = tmp_path / "graphbo-run-untold.csv"
    assert read_untold(path) == {}
    path.write_text("node,value,note\n10,0.5,disk full\n")
    assert read_untold(path) == {10: 0.5}


# What becomes of it


def test_a_row_holds_when_something_was_tried_and_nothing_found() -> None:
    row = Row("workers killed", "sqlite")
    assert not row.held
    row.add(Attempt(1000))
    assert row.held
    row.add(Attempt(5, Findings(lost=["one"], evaluated_twice=["two", "three"])))
    assert not row.held
    assert list(markdown([row])) == [
        "| fault | store | tried | survived | lost | doubled | over budget | evaluated twice, nobody dead "
        "| strays after clean |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| workers killed | SQLite | 1,005 | 1,000 | 1 | 0 | 0 | 2 | 0 |",
    ]


def test_what_is_wrong_in_another_way_is_not_survived_either() -> None:
    row = Row("workers killed", "neo4j")
    row.add(Attempt(5, Findings(other=["it did not come to its end"])))
    assert (row.tried, row.survived, row.held) == (5, 0, False)


def test_the_program_fails_and_says_how_to_see_it_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def outcome(findings: Findings) -> int:
        @contextmanager
        def prepare(_: Site) -> Iterator[Try]:
            yield lambda rng, limits: Attempt(1, findings)

        monkeypatch.setattr(program, "KINDS", {"made-up": Kind("made up", {"sqlite": 1}, prepare)})
        return program.main()

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["faults", "--store", "sqlite", "--seed", "7"])
    assert outcome(Findings()) == 0
    assert list(tmp_path.iterdir()) == []
    assert "| made up | SQLite | 1 | 1 | 0 | 0 | 0 | 0 | 0 |" in capsys.readouterr().out
    assert outcome(Findings(lost=["a value"])) == 1
    err = capsys.readouterr().err
    assert "made-up on sqlite: lost: a value" in err
    assert "python -m tests.faults --only made-up --store sqlite --workers 8 --seed 7" in err
