"""What the library says is for whoever calls it from Python: the command line adds the words of a terminal."""

import re
from pathlib import Path

import pytest

import graphbo
from tests.cli.fuzz import every_command

PACKAGE = Path(graphbo.__file__).parent

#: What the command line calls things.
FLAGS = {flag for _, command in every_command() for one in command.params for flag in one.opts}
#: These write commands: that is what they are for.
WRITERS = {"seeing/command.py"}

FILES = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}
LIBRARY = [name for name in FILES if not name.startswith("cli/") and name not in WRITERS]


def spoken(text: str) -> set[str]:
    """The words of a terminal in a text."""
    commands = set(re.findall(r"`+(graphbo [a-z][a-z0-9 _-]*)", text))
    return commands | FLAGS.intersection(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def test_words_of_a_terminal_are_found() -> None:
    text = "add --key, not --add-opens, or run `graphbo neo4j up`, but not graphbo.load"
    assert spoken(text) == {"--key", "graphbo neo4j up"}


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_speaks_of_no_option_and_no_command(name: str) -> None:
    assert spoken(FILES[name].read_text(encoding="utf-8")) == set()
