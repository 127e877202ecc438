"""What the documentation says is there: files, anchors, commands, options, make targets, Python names.

What its code does is tested in ``tests/test_code_blocks.py``.
"""

import ast
import importlib
import pkgutil
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from itertools import takewhile, zip_longest
from pathlib import Path
from urllib.parse import unquote

import click
import pytest
import yaml

import graphbo
from graphbo.cli import graphbo as command_line
from graphbo.cli.parameter_types import NameOf
from graphbo.search.strategies import STRATEGIES, create_strategy

ROOT = Path(__file__).parent.parent
DOCS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "docker/*.md", "cypher/*.md", "examples/**/*.md")
    for path in ROOT.glob(pattern)
    if path.parent.name != "tables"  # of results: pages show them
)

#: Where packages come from is the reader's business: a mirror, or an index behind a firewall. Written in two parts, so
#: that this file does not name them either.
REGISTRIES = [
    f"{name}.{ending}"
    for name, ending in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("maven", "org"),
        ("maven.apache", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("crates", "io"),
        ("anaconda", "org"),
    )
]

#: Where people keep their work. /home/graphbo is in the image of the command line.
PRIVATE_PATH = re.compile(
    r"(?<![\w.~$}])/(?:Users|root|work|home(?!/(?:graphbo|somebody)\b))/[\w.]"
)

FENCE = re.compile(r"^ *(`{3,}|~{3,})(.*)$")
INLINE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
# What ends a command on a line of shell, and what may stand before it.
SHELL_ENDS = {"|", "||", "&&", ";", "&", ">", ">>", "2>", "<"}
#: What the plugin of the guide calls all that it adds.
PLUGIN = "mine"
PLACEHOLDER = re.compile(r"…|\.\.\.|^[A-Z]+$")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    """A fenced block of code."""

    language: str
    text: str


@cache
def parts_of(path: Path) -> tuple[str, tuple[Block, ...]]:
    """A document's prose, and its blocks of code."""
    prose: list[str] = []
    blocks: list[Block] = []
    fence, language, lines = "", "", list[str]()
    for line in path.read_text(encoding="utf-8").splitlines():
        found = FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                blocks.append(Block(language, "\n".join(lines)))
                fence, lines = "", []
            else:
                lines.append(line)
        elif found:
            fence, language = found[1], found[2].strip()
        else:
            prose.append(line)
    assert not fence, f"{name_of(path)}: a block of code does not end"
    return "\n".join(prose), tuple(blocks)


# Links


@cache
def anchors_of(path: Path) -> frozenset[str]:
    """The anchors that GitHub gives to headings."""
    seen: dict[str, int] = {}
    anchors = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", parts_of(path)[0], re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        anchors.add(f"{slug}-{count}" if count else slug)
    return frozenset(anchors)


def links_of(path: Path) -> list[str]:
    prose = INLINE.sub("", parts_of(path)[0])
    return LINK.findall(prose) + re.findall(r"<(?:img|a)\b[^>]*?(?:src|href)=\"([^\"]+)\"", prose)


@pytest.mark.parametrize("path", DOCS, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    for link in links_of(path):
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        file, _, anchor = unquote(link).partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.is_relative_to(ROOT), f"{link} leads out of the repository"
        assert target.exists(), f"{link} leads nowhere"
        if anchor:
            assert anchor in anchors_of(target), f"{link}: {name_of(target)} has no such heading"


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in links_of(index)}
    pages = {path for path in DOCS if path.is_relative_to(index.parent)} - {index}

    assert not sorted(name_of(path) for path in pages - linked)


# Commands


@dataclass(frozen=True)
class Mention:
    """A command line in a document."""

    where: str
    words: tuple[str, ...]


def shell_lines(text: str) -> Iterator[str]:
    """The lines that somebody would type: continued ones joined, without a prompt."""
    for line in text.replace("\\\n", " ").splitlines():
        yield re.sub(r"^\s*(?:\$ |> )?", "", line)


def split(line: str) -> list[str]:
    """The words of a line of shell, or as near as a line of prose can come to that."""
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.split()


def starting_with(program: str, line: str) -> Iterator[tuple[str, ...]]:
    """The command lines of a program that a line has: at its beginning, and after && and the like."""
    words = split(line)
    while words:
        while words and re.fullmatch(r"[A-Z_][A-Z0-9_]*=.*", words[0]):
            words = words[1:]
        if words and words[0] in ("nohup", "time", "sudo"):
            words = words[1:]
        command = list(takewhile(lambda word: word not in SHELL_ENDS, words))
        if command and command[0].rsplit("/", 1)[-1] == program:
            yield tuple(command)
        words = words[len(command) + 1 :]


def mentions(program: str) -> list[Mention]:
    found = []
    for path in DOCS:
        prose, blocks = parts_of(path)
        lines = [line for block in blocks for line in shell_lines(block.text)]
        lines += [" ".join(code.split()) for _, code in INLINE.findall(prose)]
        for line in lines:
            found += [Mention(name_of(path), words) for words in starting_with(program, line)]
    return found


def resolve(words: tuple[str, ...]) -> tuple[click.Command, list[str]]:
    """The command that words after ``graphbo`` name, and the words that are left."""
    command: click.Command = command_line
    rest = list(words)
    context = click.Context(command_line)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        # `up|down|status` and `up, down` in prose
        names = [name for name in re.split(r"[|,]", rest[0]) if name]
        for name in names:
            assert command.get_command(context, name), f"there is no command {name!r}"
        found = command.get_command(context, names[0])
        assert found is not None
        command, rest = found, rest[1:]
    return command, rest


def options_of(command: click.Command) -> dict[str, click.Parameter]:
    parameters = command.get_params(click.Context(command, help_option_names=["-h", "--help"]))
    return {
        name: parameter
        for parameter in parameters
        if isinstance(parameter, click.Option)
        for name in (*parameter.opts, *parameter.secondary_opts)
    }


GRAPHBO = mentions("graphbo")


def test_the_documents_show_commands() -> None:
    assert len(GRAPHBO) > 30


@pytest.mark.parametrize("mention", GRAPHBO, ids=lambda one: f"{one.where}: {' '.join(one.words)}")
def test_commands_options_and_choices_exist(mention: Mention) -> None:
    command, rest = resolve(mention.words[1:])
    known = options_of(command)
    for word, following in zip_longest(rest, rest[1:], fillvalue=""):
        option, _, attached = word.strip("[],").partition("=")
        if not re.match(r"--?[a-z]", option) or PLACEHOLDER.search(option):
            continue
        assert option in known, f"graphbo {command.name} has no option {option}"
        choice = known[option].type
        value = attached or following
        if isinstance(choice, NameOf) and value == PLUGIN:
            continue
        if isinstance(choice, click.Choice | NameOf) and not PLACEHOLDER.search(value):
            assert value in choice.choices, f"{option} {value}: expected one of {choice.choices}"


def test_every_command_is_described() -> None:
    described = {mention.words[1] for mention in GRAPHBO if len(mention.words) > 1}

    assert set(command_line.list_commands(click.Context(command_line))) <= described


@pytest.mark.parametrize("mention", mentions("make"), ids=lambda one: " ".join(one.words))
def test_make_targets_exist(mention: Mention) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z0-9-]+):", makefile, re.MULTILINE))
    wanted = {
        word for word in mention.words[1:] if not re.search(r"=|…", word) and not word.isupper()
    }

    assert wanted <= targets


@pytest.mark.parametrize("path", DOCS, ids=name_of)
def test_python_names_exist(path: Path) -> None:
    for block in parts_of(path)[1]:
        if block.language != "python":
            continue
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("graphbo"):
                module = importlib.import_module(node.module or "")
                for alias in node.names:
                    assert hasattr(module, alias.name), f"{node.module} has no {alias.name}"
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "graphbo":
                assert hasattr(importlib.import_module("graphbo"), node.attr), node.attr


PARTS = "|".join(path.parent.name for path in (ROOT / "graphbo").glob("*/__init__.py"))


@pytest.mark.parametrize("path", DOCS, ids=name_of)
def test_files_that_are_named_exist(path: Path) -> None:
    folders = "benchmarks|cypher|docker|docs|examples|graphbo|requirements|tests"
    for _, code in INLINE.findall(parts_of(path)[0]):
        if re.fullmatch(rf"(?:{folders})/[\w./-]*", code) and "NAME" not in code:
            assert (ROOT / code).exists(), f"{code} does not exist"
        if re.fullmatch(rf"(?:{PARTS})/[\w./-]*", code):
            assert (ROOT / "graphbo" / code).exists(), f"there is no {code} in graphbo"


# Names of the code in pages about the code

ABOUT_THE_CODE = [ROOT / "CONTRIBUTING.md", ROOT / "docs/design.md", ROOT / "docs/glossary.md"]
CODE_NAME = re.compile(r"([A-Za-z]\w*(?:\.\w+)*)(?:\(.*\))?", re.DOTALL)
#: What is written like names of ours and is none: of numpy, of Neo4j, and of the headers in cypher/.
NOT_OURS = {"SeedSequence", "GraphboObserved", "Unavoidable"}
VARIABLES = ("GRAPHBO_", "NEO4J_")


@cache
def defined() -> dict[str, set[str]]:
    """What modules define on their outermost level, with the members of classes, inherited ones included."""
    members: dict[str, set[str]] = {}
    bases: dict[str, set[str]] = {}
    for folder in ("graphbo", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                for name in bound_by(node):
                    members.setdefault(name, set())
                if isinstance(node, ast.ClassDef):
                    inside = (name for part in ast.walk(node) for name in bound_by(part))
                    members[node.name].update(inside)
                    bases.setdefault(node.name, set()).update(map(ast.unparse, node.bases))

    def inherited(name: str) -> set[str]:
        above = (inherited(base) for base in bases.get(name, set()) - {name})
        return members.get(name, set()).union(*above)

    return {name: inherited(name) for name in members}


def bound_by(node: ast.AST) -> Iterator[str]:
    """The names, of modules or of members, that a statement binds."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Attribute):
            yield target.attr


def is_defined(name: str) -> bool:
    """Whether ``Class``, ``CONSTANT``, ``Class.member`` or ``package.module.name`` is there; others may be anything."""
    first, *rest = name.split(".")
    if first == "graphbo" or (ROOT / "graphbo" / first / "__init__.py").exists():
        if first != "graphbo":
            name = f"graphbo.{name}"
        try:
            pkgutil.resolve_name(name)
        except (ImportError, AttributeError):
            return False
        return True
    if first[0].islower() or first in NOT_OURS or first.startswith(VARIABLES):
        return True
    return first in defined() and set(rest) <= defined()[first]


@pytest.mark.parametrize("path", ABOUT_THE_CODE, ids=name_of)
def test_classes_constants_and_members_that_are_named_exist(path: Path) -> None:
    named = [CODE_NAME.fullmatch(code) for _, code in INLINE.findall(parts_of(path)[0])]
    names = {found[1] for found in named if found}

    assert len(names) > 10
    assert not sorted(name for name in names if not is_defined(name))


@pytest.mark.parametrize(
    "name",
    ["Ledger", "LEDGERS", "RunLog.ask", "Annotation.ask", "stores.log.Ledger", "graphbo.ledger"],
)
def test_a_name_that_is_gone_is_found(name: str) -> None:
    assert not is_defined(name)


# The layout

PACKAGES = sorted(path.parent for path in (ROOT / "graphbo").rglob("__init__.py"))


@pytest.mark.parametrize("package", PACKAGES, ids=name_of)
def test_a_package_says_what_is_in_it(package: Path) -> None:
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    modules = {path.stem for path in package.glob("*.py") if not path.stem.startswith("__")}
    modules |= {path.parent.name for path in package.glob("*/__init__.py")}

    # At the beginning of a line of a list, perhaps after others, or in the text as code.
    listed = set(re.findall(r"``(\w+)``", text))
    for line in re.findall(r"^    ((?:\w+, )*\w+)/? +\S", text, re.MULTILINE):
        listed |= set(line.split(", "))
    assert not sorted(modules - listed)


# Dependencies


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_dependency_is_explained() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        settings = tomllib.load(file)
    project = settings["project"]
    groups = (
        project["dependencies"],
        *project["optional-dependencies"].values(),
        *settings["dependency-groups"].values(),
    )
    wanted = {normal(re.split(r"[^\w.-]", need)[0]) for group in groups for need in group}
    prose = parts_of(ROOT / "docs" / "dependencies.md")[0]
    cells = [
        cell for row in re.findall(r"^\|(.+)\|$", prose, re.MULTILINE) for cell in row.split("|")
    ]
    explained = {normal(name.strip()) for cell in cells for name in cell.split(",")}

    assert not sorted(wanted - explained)


def test_nothing_that_users_get_is_under_the_gpl() -> None:
    lock = (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8")
    names = re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)

    assert len(names) > 10
    for name in names:
        try:
            about = metadata(name)
        except PackageNotFoundError:
            continue  # it is for another platform or another Python
        fields = ("License-Expression", "License", "Classifier")
        lines = [line for field in fields for line in about.get_all(field, [])]
        # Some packages have the whole text of all their licences here: its first line says which it is.
        declared = [line.strip().split("\n")[0] for line in lines]
        assert any("Licen" in line or len(line) < 40 for line in declared), f"{name} has no licence"
        assert not re.search(r"GPL|General Public", " ".join(declared)), f"{name}: {declared}"


# Whom to cite

AUTHORS = (
    "Xingchen Wan, Pierre Osselin, Henry Kenlay, Binxin Ru, Michael A. Osborne and Xiaowen Dong"
)


def test_graphbo_and_the_paper_can_be_cited() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    (paper,) = citation["references"]
    names = [f"{one['given-names']} {one['family-names']}" for one in paper["authors"]]

    assert (citation["title"], citation["version"]) == ("graphbo", graphbo.__version__)
    assert paper["title"] == "Bayesian Optimisation of Functions on Graphs"
    assert f"{', '.join(names[:-1])} and {names[-1]}" == AUTHORS


@pytest.mark.parametrize("name", ["README.md", "docs/index.md"])
def test_the_paper_is_named_with_its_authors(name: str) -> None:
    text = " ".join((ROOT / name).read_text(encoding="utf-8").split())

    assert "*Bayesian Optimisation of Functions on Graphs*" in text
    assert AUTHORS in text


# What must not be in any file


@cache
def tracked_files() -> tuple[Path, ...]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a working copy of git")
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return tuple(path for path in paths if path.is_file())


def offences(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for path in tracked_files():
        text = path.read_text(encoding="utf-8", errors="replace")
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{name_of(path)}:{line}: {match[0]}")
    return found


def test_no_file_names_a_package_registry() -> None:
    hosts = "|".join(re.escape(host) for host in REGISTRIES)

    assert not offences(re.compile(rf"\b(?:[\w-]+\.)*(?:{hosts})\b"))


def test_no_file_names_a_directory_of_its_author() -> None:
    assert not offences(PRIVATE_PATH)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_option_of_a_strategy_is_explained_with_its_default(name: str) -> None:
    page = (ROOT / "docs" / "guide" / "strategies.md").read_text(encoding="utf-8")
    assert f"`{name}`" in page
    _, _, section = page.partition(f"## {name}\n")
    for option, default in create_strategy(name).options.items():
        shown = "" if default is None else str(default)
        cell = re.search(
            rf"^\| `{option}` \| `?(.*?)`? ?\|", section.split("\n## ")[0], re.MULTILINE
        )
        assert cell, f"{option} is not on the page"
        assert cell[1].strip().lower() == shown.lower()
