"""What people install: the built wheel, alone in an empty environment, outside the working copy."""

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Mapping
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

import graphbo

# A slow index, or one whose files are not in pip's cache yet, may take minutes.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).parent.parent

#: Only imported by a command that says which extra is missing.
IN_EXTRAS = ("graphbo.dashboard", "graphbo.cli.assistant")

#: Imports every other module of the package.
IMPORT_ALL = f"""
import importlib, pkgutil, graphbo
modules = [one.name for one in pkgutil.walk_packages(graphbo.__path__, "graphbo.")]
for name in modules:
    if not name.startswith({IN_EXTRAS}):
        importlib.import_module(name)
print(graphbo.__file__, len(modules))
"""


def call(*command: object, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """What a command prints; all that it said, if it fails."""
    parts = [str(part) for part in command]
    done = subprocess.run(parts, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (
        f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    )
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by the build backend that pyproject.toml names."""
    folder = tmp_path_factory.mktemp("dist")
    call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def contents(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def metadata(wheel: Path, contents: list[str]) -> Message:
    (name,) = [one for one in contents if one.endswith(".dist-info/METADATA")]
    with zipfile.ZipFile(wheel) as archive:
        return message_from_bytes(archive.read(name))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an empty environment in which the wheel was installed, with what it needs at run time."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    programs = folder / "bin"
    # Files are not compiled: most of them will not be imported, and compiling takes longer than all the rest.
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--python")
    install = (*pip, programs / "python", "install", "--no-compile")
    lock = ROOT / "requirements" / "run.txt"
    call(*install, "--require-hashes", "--requirement", lock, cwd=folder)
    call(*install, "--no-deps", wheel, cwd=folder)
    return programs


@pytest.fixture
def clean_environment(tmp_path: Path) -> dict[str, str]:
    """No database, no server and no Python path of the person who runs the tests."""
    private = ("NEO4J_", "GRAPHBO_", "PYTHON", "XDG_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(private)}
    return kept | {"HOME": str(tmp_path), "NO_COLOR": "1"}


def test_every_statement_is_in_the_wheel(contents: list[str]) -> None:
    folder = ROOT / "cypher"
    statements = [path.relative_to(folder).as_posix() for path in folder.rglob("*.cypher")]
    packed = [name for name in contents if name.endswith(".cypher")]

    assert statements
    assert sorted(packed) == sorted(f"graphbo/cypher/{name}" for name in statements)


def test_every_module_and_its_data_are_in_the_wheel(contents: list[str]) -> None:
    package = ROOT / "graphbo"
    wanted = {
        path.relative_to(ROOT).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }

    assert "graphbo/py.typed" in wanted
    assert any(name.startswith("graphbo/stores/neo4j/server/locks/") for name in wanted)
    assert wanted <= set(contents)


def test_nothing_else_is_in_the_wheel(contents: list[str]) -> None:
    tops = {name.split("/")[0] for name in contents}

    assert tops == {"graphbo", f"graphbo-{graphbo.__version__}.dist-info"}
    assert not [name for name in contents if re.search(r"test|benchmark|example|\.pyc$", name)]


def test_says_what_it_is(metadata: Message) -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]

    assert metadata["Version"] == graphbo.__version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["License-File"] == "LICENSE"
    assert metadata["Requires-Python"] == project["requires-python"]
    assert metadata.get_payload(), "README.md is what the package's page shows"


def test_requires_what_pyproject_says_and_no_tools(metadata: Message) -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    needs = metadata.get_all("Requires-Dist", [])
    always = {re.split(r"[^\w-]", need)[0] for need in needs if "extra ==" not in need}

    assert always == {re.split(r"[^\w-]", need)[0] for need in project["dependencies"]}
    assert set(metadata.get_all("Provides-Extra", [])) == set(project["optional-dependencies"])


def test_the_command_knows_its_version(
    installed: Path, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    printed = call(installed / "graphbo", "--version", cwd=tmp_path, env=clean_environment)

    assert printed.split()[-1] == graphbo.__version__


def test_every_module_can_be_imported_without_an_extra(
    installed: Path, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    printed = call(installed / "python", "-c", IMPORT_ALL, cwd=tmp_path, env=clean_environment)
    where, count = printed.split()

    assert Path(where).is_relative_to(installed.parent)
    assert int(count) > 30


def test_statements_are_found(
    installed: Path, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    view = ("--label", "A", "--rel", "B", "--key", "id")
    command = installed / "graphbo", "cypher", "ego_networks"
    printed = call(*command, *view, cwd=tmp_path, env=clean_environment)

    assert ":param egos" in printed
    assert "`A`" in printed
    assert "`B`" in printed


def test_loads_a_graph_and_finds_it_fit(
    installed: Path, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    command = installed / "graphbo"
    view = ("--label", "N", "--rel", "R", "--uri", "sqlite:x.db", "--json")

    loaded = call(command, "load", "ba:n=50,m=2", *view, cwd=tmp_path, env=clean_environment)
    found = call(command, "doctor", *view, cwd=tmp_path, env=clean_environment)

    assert json.loads(loaded)["nodes_created"] == 50
    assert json.loads(found)["ok"]
    assert (tmp_path / "x.db").exists()


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("neo4j", "up", "--home", "neo4j"), "server"),
        (("dashboard",), "dashboard"),
        (("mcp",), "mcp"),
    ],
)
def test_a_command_names_the_extra_that_it_needs(
    words: tuple[str, ...],
    extra: str,
    installed: Path,
    tmp_path: Path,
    clean_environment: dict[str, str],
) -> None:
    done = subprocess.run(
        [installed / "graphbo", *words],
        cwd=tmp_path,
        env=clean_environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1, done
    assert f"pip install 'graphbo[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
