"""``graphbo tasks``, and runs on tasks, on each database."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphbo.bench.tasks import TASKS, parse_instance, parse_task, regrets_of
from graphbo.cli import main
from graphbo.runs.registry import runs_in
from graphbo.runs.settings import RunSettings
from tests.backends import Backend, on_sqlite
from tests.cli.commands import Answer, Graphbo
from tests.cli.runs import InProcess

SMALL = "teams:people=4,threshold=0.4"


@pytest.fixture
def empty(
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
    in_process: Callable[[Backend], InProcess],
) -> InProcess:
    """The command on an empty database, in this process."""
    monkeypatch.delenv("GRAPHBO_DATA", raising=False)
    return in_process(backend)


@pytest.fixture
def listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Answer]:
    """``graphbo tasks``, which needs no database."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["graphbo", "tasks", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Answer(int(ended.value.code or 0), out, err)

    return run


class TestList:
    def test_names_all_with_their_parameters(
        self, listed: Callable[..., Answer], tmp_path: Path
    ) -> None:
        answer = listed()
        assert answer.code == 0
        for name in TASKS:
            assert f"\n{name} " in f"\n{answer.out}"
        assert "graph=ba|ws, n=1000, m=3" in answer.out
        assert [one["name"] for one in listed("--json").json] == list(TASKS)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", TASKS)
    def test_says_all_about_one(self, listed: Callable[..., Answer], name: str) -> None:
        answer = listed(name)
        assert answer.out.startswith(f"{name}: ")
        for one in listed(name, "--json").json["parameters"]:
            assert f"  {one['name']}=" in answer.out
            assert one["help"] in answer.out
            parse_task(f"{name}:{one['name']}={one['default']}")
        example = answer.out.splitlines()[-1].split("--task ")[1].split()[0]
        assert parse_task(example) == parse_task(name)

    def test_knows_no_other(self, listed: Callable[..., Answer]) -> None:
        line = listed("gird").failed_with_one_line()
        assert "there is no task 'gird': expected one of centrality" in line


@pytest.mark.slow
def test_a_run_loads_its_task_and_says_the_regret(
    backend: Backend, graphbo: Graphbo, empty: InProcess
) -> None:
    command = ("run", "--task", SMALL, "--seed", 3, "--uri", backend.uri)
    answer = graphbo(*command, "--budget", 15)
    assert answer.code == 0, answer
    assert "Loaded task:teams:people=4,threshold=0.4,seed=3: 15 nodes and" in answer.err
    assert (
        "maximize property:value on (:Task_teams_people_4_threshold_0_4_seed_3 {id})" in answer.err
    )
    # All of it was measured: the best node is found.
    assert "Regret: 0 (the best node of the graph has" in answer.out

    again = empty(*command, "--name", "second", "--strategy", "random", "--budget", 4, "--json")
    assert again.code == 0, again
    assert "Loaded" not in again.err
    problem = parse_task(SMALL).problem(3)
    assert again.json["optimum"] == pytest.approx(problem.optimum)
    found = again.json["best"]
    assert again.json["regret"] == pytest.approx(problem.optimum - problem.values[found["key"]])

    # The database knows all that is needed to go on, and what to compare with.
    more = empty("run", "--name", "second", "--budget", 15, "--json")
    assert (more.json["evaluations"], more.json["regret"]) == (15, 0)
    with backend.open() as store:
        record = runs_in(store).get("second")
        expected = (problem.optimum - problem.values[[4, 9]]).tolist()
        assert regrets_of(store, record, [4, 9]) == pytest.approx(expected)


@on_sqlite
def test_regret_is_against_the_truth_where_measurements_are_noisy(
    backend: Backend, empty: InProcess
) -> None:
    task = "grid:side=5,function=sphere,noise=3"
    answer = empty("run", "--task", task, "--budget", 12, "--json")
    assert answer.code == 0, answer
    problem = parse_task(task).problem(0)
    key = answer.json["best"]["key"]
    assert answer.json["noise"] == 3
    assert answer.json["best"]["value"] == pytest.approx(problem.noisy[key])
    assert answer.json["regret"] == pytest.approx(-problem.values[key])
    assert answer.json["best"]["properties"]["truth"] == pytest.approx(problem.values[key])


@on_sqlite
def test_other_runs_have_no_regret(loaded: Backend, here: InProcess) -> None:
    options = ("--label", "N", "--rel", "R", "--objective", "property:score", "--budget", 3)
    answer = here("run", *options, "--strategy", "random", "--json")
    assert (answer.json["optimum"], answer.json["regret"]) == (None, None)
    assert "Regret" not in here("run", *options, "--name", "x", "--strategy", "random").out
    with loaded.open() as store:
        assert regrets_of(store, runs_in(store).get("x"), [1]) is None


@on_sqlite
def test_a_graph_that_is_half_there_is_completed(backend: Backend, empty: InProcess) -> None:
    command = ("run", "--task", SMALL, "--strategy", "random", "--budget", 2)
    assert empty(*command).code == 0
    view = parse_instance(SMALL).view
    backend.delete_nodes(view.labels[0], [0, 1, 2])
    answer = empty(*command, "--name", "again")
    assert "Loaded task:" in answer.err
    with backend.open() as store:
        assert store.count_nodes(view) == 15


@on_sqlite
def test_the_seed_of_the_problem_may_differ_from_that_of_the_run(empty: InProcess) -> None:
    answer = empty(
        *("run", "--task", f"{SMALL},seed=7", "--seed", 2, "--strategy", "random"),
        *("--budget", 2, "--json"),
    )
    assert answer.json["seed"] == 2
    assert answer.json["name"] == "teams-people-4-threshold-0-4-seed-7"
    assert answer.json["optimum"] == pytest.approx(parse_task(SMALL).problem(7).optimum)


@on_sqlite
def test_a_strategy_may_not_know_what_a_task_hides(backend: Backend, empty: InProcess) -> None:
    """How many others somebody knows is what is asked."""
    command = ("run", "--task", "influence:data=karate", "--budget", 2)
    for name, more, expected in [
        ("default", (), False),
        ("told", ("--option", "degrees=true"), True),
        ("other", ("--strategy", "local"), None),
    ]:
        assert empty(*command, *more, "--name", name).code == 0
        assert empty(*command, "--name", name, "--budget", 3).code == 0
        with backend.open() as store:
            assert RunSettings.of(runs_in(store).get(name)).options.get("degrees") is expected
    assert empty("run", "--task", SMALL, "--budget", 2, "--name", "shown").code == 0
    with backend.open() as store:
        assert RunSettings.of(runs_in(store).get("shown")).options.get("degrees", True) is True


@on_sqlite
def test_a_dry_run_loads_nothing(backend: Backend, empty: InProcess) -> None:
    backend.open().close()
    before = backend.dump()
    answer = empty("run", "--task", SMALL, "--dry-run")
    assert answer.code == 0, answer
    assert "would be loaded first: 15 nodes" in answer.out
    facts = empty("run", "--task", SMALL, "--dry-run", "--json").json
    assert facts["loads"]["nodes"] == 15
    assert backend.dump() == before
    assert empty("run", "--task", SMALL, "--budget", 2).code == 0
    assert "GraphboRun" in empty("run", "--task", SMALL, "--name", "x", "--dry-run").out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--task", "gird"), "there is no task 'gird'"),
        (("--task", "grid:side=1"), "side is 1: expected"),
        (("--task", "grid:seed=-1"), "seed is -1"),
        (("--task", "influence:data=enron"), "--data-dir or GRAPHBO_DATA"),
        (("--task", "influence:data=enron", "--data-dir", "."), "there is no enron.csv.gz in"),
    ],
)
@on_sqlite
def test_a_wrong_task_is_one_line_and_no_change(
    backend: Backend, empty: InProcess, options: tuple[str, ...], expected: str
) -> None:
    before = backend.dump()
    assert expected in empty("run", *options).failed_with_one_line()
    assert backend.dump() == before


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--label", "N"), "leave out --label"),
        (("--rel", "R", "--key", "id"), "leave out --rel, --key"),
        (("--objective", "property:x"), "leave out --objective"),
        (("--minimize",), "leave out --minimize"),
        (("--direction", "out"), "leave out --direction"),
    ],
)
@on_sqlite
def test_options_that_a_task_brings_itself(
    backend: Backend, empty: InProcess, options: tuple[str, ...], expected: str
) -> None:
    before = backend.dump()
    answer = empty("run", "--task", SMALL, *options)
    assert answer.code == 2
    assert expected in answer.err
    assert backend.dump() == before


@on_sqlite
def test_wrong_options_load_nothing(backend: Backend, empty: InProcess) -> None:
    command = ("run", "--strategy", "random", "--budget", 2, "--task")
    assert empty(*command, SMALL, "--name", "mine").code == 0
    before = backend.dump()
    line = empty(*command, f"{SMALL},seed=1", "--name", "mine").failed_with_one_line()
    assert "the run 'mine' is on (:Task_teams_people_4_threshold_0_4_seed_0 {id})" in line
    line = empty(*command, f"{SMALL},seed=1", "--option", "magic=3").failed_with_one_line()
    assert "magic" in line
    assert backend.dump() == before


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--option", "magic=3"), "magic"),
        (("--option", "size=-1"), "size"),
        (("--option", "size"), "NAME=VALUE"),
        (("--strategy", "random", "--kernel", "diffusion"), "kernel"),
        (("--write-prefix", "not a word"), "write prefix"),
        (("--name", "a\0b"), "name"),
        (("--reveal", "ego"), "name a start node"),
    ],
)
@on_sqlite
def test_wrong_options_create_nothing(
    backend: Backend, empty: InProcess, tmp_path: Path, options: tuple[str, ...], expected: str
) -> None:
    before, files = backend.dump(), sorted(tmp_path.iterdir())
    assert expected in empty("run", "--task", SMALL, *options).failed_with_one_line()
    assert backend.dump() == before
    assert sorted(tmp_path.iterdir()) == files


@on_sqlite
def test_a_directory_without_a_task(empty: InProcess) -> None:
    answer = empty("run", "--name", "x", "--data-dir", ".")
    assert (answer.code, "--task" in answer.err) == (2, True)


@on_sqlite
def test_a_task_is_loaded_like_any_graph(backend: Backend, empty: InProcess) -> None:
    words = ("load", f"task:{SMALL},seed=3", "--label", "Team", "--rel", "LIKE")
    answer = empty(*words)
    assert answer.code == 0, answer
    assert "15 nodes" in answer.out
    assert "Nothing changed" in empty(*words).out
    options = ("--label", "Team", "--rel", "LIKE", "--objective", "property:value")
    found = empty("run", *options, "--budget", 15, "--json").json
    assert found["best_value"] == pytest.approx(parse_task(SMALL).problem(3).optimum)
    assert isinstance(found["best"]["properties"]["members"], list)
