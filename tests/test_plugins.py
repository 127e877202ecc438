"""What installed packages add: the package of the guide, as its user meets it, and packages that are broken."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphbo.bench.tasks import TASKS, parse_task
from graphbo.errors import GraphboError, InvalidObjective, TaskError
from graphbo.objectives import KINDS, Node, parse_objective, read_spec
from graphbo.types.plugins import Names
from tests.cli.commands import COMMAND, Answer

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tests" / "plugin"

Installed = Callable[..., Answer]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package of the guide is installed."""
    folder = tmp_path_factory.mktemp("site")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
    options = ("--no-index", "--no-deps", "--no-build-isolation", "--target", folder)
    subprocess.run([*pip, *options, PACKAGE], check=True)
    return folder


@pytest.fixture
def graphbo(site: Path, tmp_path: Path) -> Installed:
    """``graphbo ARGUMENTS`` where the package is installed, on an embedded store of its own."""

    def run(*arguments: object, config: str = "config") -> Answer:
        clean = {name: value for name, value in os.environ.items() if "NEO4J" not in name}
        paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
        done = subprocess.run(
            [str(COMMAND), *map(str, arguments)],
            cwd=tmp_path,
            env=clean
            | {
                "PYTHONPATH": os.pathsep.join(paths),
                "GRAPHBO_CONFIG_DIR": str(tmp_path / config),
                "NO_COLOR": "1",
                "COLUMNS": "200",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return run


TASK = ("--task", "mine:beads=20", "--budget", "12", "--json")
VIEW = ("--label", "N", "--rel", "R")


def load(graphbo: Installed) -> None:
    """A graph that is not a task's."""
    assert graphbo("load", "ba:n=30,m=2", *VIEW).code == 0


@pytest.mark.slow
class TestThePackageOfTheGuide:
    """Installed, and used by the names that it gives."""

    def test_the_guide_shows_all_of_it(self) -> None:
        page = (ROOT / "docs" / "guide" / "plugins.md").read_text(encoding="utf-8")

        assert (PACKAGE / "pyproject.toml").read_text(encoding="utf-8") in page
        assert (PACKAGE / "graphbo_mine.py").read_text(encoding="utf-8") in page

    def test_its_strategy_kernel_and_task_are_compared(self, graphbo: Installed) -> None:
        methods = "mine:every=3 bayes:initial=4,kernel=mine random"
        answer = graphbo(
            *("bench", "mine:beads=20", "-m", methods, "--seeds", "2", "--budget", "12"),
            *("--jobs", "2", "--json"),
        )

        assert answer.code == 0, answer.err
        assert [one["method"] for one in answer.json["methods"]] == [
            "mine:every=3",
            "bayes:initial=4,kernel=mine",
            "random",
        ]
        assert [one["task"] for one in answer.json["tasks"]] == ["mine:beads=20"]

    def test_its_strategy_runs(self, graphbo: Installed) -> None:
        answer = graphbo("run", *TASK, "--strategy", "mine", "--option", "every=3")

        assert answer.code == 0, answer.err
        assert answer.json["evaluations"] == 12
        # And goes on, by what the database says.
        again = graphbo("run", "--name", "mine-beads-20-seed-0", "--budget", "14", "--json")
        assert again.json["evaluations"] == 14, again.err

    def test_its_kernel_runs(self, graphbo: Installed) -> None:
        answer = graphbo("run", *TASK, "--kernel", "mine", "--option", "initial=4")

        assert answer.code == 0, answer.err
        assert answer.json["regret"] >= 0

    def test_its_objective_runs_and_asks_for_trust(self, graphbo: Installed) -> None:
        load(graphbo)
        view = (*VIEW, "--name", "near", "--json")
        answer = graphbo("run", *view, "--objective", "mine:7", "--budget", "30")
        assert (answer.json["best"]["key"], answer.json["best"]["value"]) == (7, 0.0), answer.err

        # Somebody else, who has installed the same package, did not name it.
        goes_on = ("run", "--name", "near", "--budget", "31")
        assert "nobody here has agreed to" in graphbo(*goes_on, config="other").err
        assert graphbo(*goes_on, "--trust", config="other").code == 0

    def test_its_objective_runs_in_other_processes(self, graphbo: Installed) -> None:
        load(graphbo)
        several = ("--workers", "2", "--timeout", "60s", "--budget", "8", "--json")
        answer = graphbo("run", *VIEW, "--objective", "mine:7", "--strategy", "mine", *several)

        assert answer.code == 0, answer.err
        assert answer.json["evaluations"] == 8

    def test_its_names_are_listed(self, graphbo: Installed) -> None:
        listed = graphbo("tasks", "--json").json
        assert "mine" in [one["name"] for one in listed]
        assert "beads=50" in graphbo("tasks", "mine").out
        # Where a name is wrong, and where all are shown.
        load(graphbo)
        assert "'dfs', 'mine'" in graphbo("run", *TASK, "--strategy", "none").err
        assert "'sum-inverse', 'mine'" in graphbo("run", *TASK, "--kernel", "none").err
        assert "dfs|mine]" in graphbo("run", "--help").out
        assert "mine:…" in graphbo("run", *VIEW, "--objective", "none:x").err

    def test_what_it_cannot_do_is_one_line(self, graphbo: Installed) -> None:
        load(graphbo)
        refused = graphbo("run", *VIEW, "--objective", "mine:seven").failed_with_one_line()
        assert "mine:seven: ValueError: could not convert string to float" in refused


Provide = Callable[..., None]


@pytest.fixture
def provide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provide]:
    """``provide("package", "strategies", "name = module:thing")`` installs a package with that entry point."""
    monkeypatch.syspath_prepend(str(tmp_path))
    forget()

    def install(package: str, group: str, entry: str) -> None:
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[graphbo.{group}]\n{entry}\n")

    yield install
    forget()


def forget() -> None:
    """Have installed packages looked at again."""
    for names in (KINDS, TASKS):
        vars(names).pop("_plugins", None)


class TestNames:
    """Our own names, and those of plugins."""

    def test_those_of_plugins_come_after_ours(self, provide: Provide) -> None:
        provide("one", "things", "z = math:sqrt\nb = math:cos")
        names: Names[object] = Names("things", {"y": abs})

        assert list(names) == ["y", "b", "z"]
        assert len(names) == 3
        assert "z" in names
        assert names["z"] is __import__("math").sqrt
        assert "other" not in names
        assert names.get("other") is None

    def test_ours_win(self, provide: Provide) -> None:
        provide("one", "things", "mine = nowhere:nothing")
        names: Names[object] = Names("things", {"mine": abs})

        assert names["mine"] is abs
        assert list(names) == ["mine"]

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            ("no_such_module:thing", "ModuleNotFoundError: No module named 'no_such_module'"),
            ("math:no_such_thing", "AttributeError"),
            ("math:pi", "is a float: expected something to be called"),
        ],
    )
    def test_what_cannot_be_used_is_said_with_its_package(
        self, provide: Provide, value: str, message: str
    ) -> None:
        provide("their-package", "things", f"mine = {value}")
        names: Names[object] = Names("things", {})

        assert list(names) == ["mine"]
        expected = f"'mine' in graphbo.things, of the package their-package, .*{message}"
        with pytest.raises(GraphboError, match=expected):
            names["mine"]

    def test_two_of_one_name_are_refused_when_it_is_used(self, provide: Provide) -> None:
        provide("one", "things", "mine = math:sin\nother = math:tan")
        provide("two", "things", "mine = math:cos")
        names: Names[object] = Names("things", {})

        assert list(names) == ["mine", "other"]
        assert names["other"] is __import__("math").tan
        with pytest.raises(
            GraphboError, match=r"several packages provide 'mine'.*: one, two; keep"
        ):
            names["mine"]

    @pytest.mark.slow
    def test_the_commands_look_for_none_without_need(self) -> None:
        """Looking takes as long as reading what every installed package is."""
        program = (
            "import importlib.metadata as metadata\n"
            "look = metadata.entry_points\n"
            "def refuse(group):\n"
            "    assert not group.startswith('graphbo'), group\n"
            "    return look(group=group)\n"
            "metadata.entry_points = refuse\n"
            "import graphbo.cli.run, graphbo.cli.bench\n"
            "from graphbo.cli.parameter_types import KERNEL_NAME, STRATEGY_NAME\n"
            "from graphbo.bench.methods import parse_methods\n"
            "from graphbo.bench.tasks import parse_task\n"
            "from graphbo.objectives import read_spec\n"
            "KERNEL_NAME.convert('matern', None, None), STRATEGY_NAME.convert('bfs', None, None)\n"
            "parse_methods(['all']), parse_task('teams'), read_spec('property:x')\n"
        )
        subprocess.run([sys.executable, "-c", program], check=True)


class TestKinds:
    """What is asked of a plugin beyond being there."""

    def test_a_task_is_a_class_of_that_name(self, provide: Provide) -> None:
        provide("theirs", "tasks", "theirs = collections:Counter")
        with pytest.raises(TaskError, match="of the package theirs, is no class of tasks"):
            parse_task("theirs:n=3")

    def test_an_objective_makes_a_function_of_the_key(self, provide: Provide) -> None:
        provide("theirs", "objectives", "length = builtins:len\nbroken = nowhere:nothing")
        with pytest.raises(InvalidObjective, match="length:abc is a int: expected a function"):
            parse_objective("length:abc")
        with pytest.raises(InvalidObjective, match="of the package theirs, cannot be imported"):
            parse_objective("broken:abc")

    def test_what_a_database_names_is_not_imported_before_it_is_opened(
        self, provide: Provide
    ) -> None:
        provide("theirs", "objectives", "broken = nowhere:nothing")
        spec = read_spec("broken:abc")

        assert not spec.kind.harmless
        assert spec.name == "broken:abc"

    def test_a_function_may_take_the_key_alone(self, provide: Provide) -> None:
        provide("theirs", "objectives", "part = operator:attrgetter")
        objective = parse_objective("part:real")

        assert objective(Node(3)) == 3.0
        assert not objective.needs_properties
