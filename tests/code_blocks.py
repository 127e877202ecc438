"""Running the code blocks of a document, one after the other, in this process and in a directory of their own.

What a block is for is said by its language, or by a comment before it that readers do not see:

- ``sh``: commands of graphbo, which are run; ``python``: executed, all blocks of a page in one module
- no language: what the block before it printed, or a part of it; a line ``…`` stands for lines that are left out
- ``text``: no code
- ``<!-- not run: WHY -->``: is only shown
- ``<!-- file: NAME -->``: the block is the content of a file; a comment that goes on has the content itself
- ``<!-- run first: LANGUAGE``, and code on the lines that follow: what has to be there before
- ``<!-- fails -->``: the commands end with exit code 1
"""

import contextlib
import io
import re
import shlex
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import graphbo.cli

__all__ = ["Block", "BlockError", "blocks_of", "masked", "mended", "run_blocks"]

#: Languages whose blocks are run, or that say that there is nothing to run.
SHELL, PYTHON, OUTPUT, TEXT = "sh", "python", "", "text"
#: What builds the site, and no code of anybody's.
DIRECTIVE = re.compile(r"\{[\w-]+\}")

FENCE = re.compile(r"^( *)(`{3,}|~{3,})(.*)$")
COMMENT = re.compile(r"^ *<!-- (not run|file|run first|fails)(?:: (.*?))?(?: -->)?$")

#: What differs from one time to the next: how long something took, and what time it is.
VARYING = re.compile(
    r"[\d.,]+ (?:s|ms|min|k records/s|records/s)\b|\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?"
)
LEFT_OUT = "…"
#: Commands that do not end by themselves.
GO_ON = {"dashboard", "mcp"}


class BlockError(AssertionError):
    """A block that does not do what the page says."""


@dataclass(frozen=True)
class Block:
    """A block of code, or what a comment says.

    Attributes:
        language: as the page says.
        text: without the fences.
        line: of the page on which the text begins, from 1.
        mark: what the comment before it says, and of what.
    """

    language: str
    text: str
    line: int
    mark: str = ""
    about: str = ""

    @property
    def is_run(self) -> bool:
        """Whether there is something to do, or to compare."""
        return not (
            self.mark == "not run" or self.language == TEXT or DIRECTIVE.match(self.language)
        )


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks of a page in their order, with those of comments that have code."""
    lines = enumerate(text.splitlines(), 1)
    mark, about = "", ""
    for number, line in lines:
        if found := COMMENT.match(line):
            mark, about = found[1], found[2] or ""
            if not line.endswith("-->"):
                code = "\n".join(_until(lines, lambda one: one == "-->"))
                language = about if mark == "run first" else ""
                yield Block(language, code, number + 1, mark, about)
                mark, about = "", ""
        elif found := FENCE.match(line):
            indent, fence = len(found[1]), found[2]
            inside = _until(lines, lambda one, fence=fence: one.strip() == fence)
            code = "\n".join(one[indent:] for one in inside)
            yield Block(found[3].strip(), code, number + 1, mark, about)
            mark, about = "", ""
        elif line.strip():
            mark, about = "", ""


def _until(lines: Iterator[tuple[int, str]], is_end: Any) -> list[str]:
    found: list[str] = []
    for _, line in lines:
        if is_end(line):
            return found
        found.append(line)
    raise BlockError("a block or a comment does not end")


# Running


@dataclass
class Runner:
    """Runs blocks in the current directory."""

    namespace: dict[str, Any]
    printed: str | None = None

    def do(self, block: Block) -> None:
        """Run a block, write it to its file, or compare it with what was printed.

        Raises:
            BlockError: something else comes out than the page says.
        """
        if block.mark == "file":
            Path(block.about).write_text(block.text + "\n", encoding="utf-8")
        elif block.language == SHELL:
            self.printed = "".join(_command(words, block.mark) for words in commands(block.text))
        elif block.language == PYTHON:
            self.printed = self._python(block)
        elif block.language == OUTPUT and self.printed is not None:
            if not is_shown_in(block.text, self.printed):
                raise BlockError(f"what comes out is\n\n{self.printed}")
        else:
            raise BlockError(
                "it is neither run nor marked: put `<!-- not run: WHY -->` on the line before it, or `text` if it "
                "is no code (tests/code_blocks.py has the other marks)"
            )

    def _python(self, block: Block) -> str:
        code = compile("\n" * (block.line - 1) + block.text, "<page>", "exec")
        with _printing() as printed:
            exec(code, self.namespace)
        return printed.getvalue()


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command of a block."""
    for line in text.replace("\\\n", " ").splitlines():
        for command in re.split(r" && ", line):
            words = shlex.split(command, comments=True)
            if words:
                yield words


def _command(words: list[str], mark: str) -> str:
    if words[0] != "graphbo":
        raise BlockError(f"{words[0]} is not run here: mark the block as `not run`")
    if words[1] in GO_ON and "--help" not in words:
        raise BlockError(f"{shlex.join(words)} goes on until Ctrl-C: mark the block as `not run`")
    with _printing() as printed, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            graphbo.cli.main()
    code = int(ended.value.code or 0)
    if code != (1 if mark == "fails" else 0):
        raise BlockError(f"{shlex.join(words)} ended with {code}\n\n{printed.getvalue()}")
    return printed.getvalue()


@contextlib.contextmanager
def _printing() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        yield stream


def run_blocks(
    path: Path, monkeypatch: pytest.MonkeyPatch, directory: Path, environment: Mapping[str, str]
) -> list[Block]:
    """Run all blocks of a page; those whose output is another one, with the right one, if they are to be mended.

    Raises:
        BlockError: a block does not do what the page says.
    """
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(directory)
    monkeypatch.syspath_prepend(str(directory))
    # What is pickled looks its class up in a module.
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    runner = Runner(vars(module))
    before = set(sys.modules)
    stale = []
    try:
        for block in blocks_of(path.read_text(encoding="utf-8")):
            if not block.is_run:
                continue
            try:
                runner.do(block)
            except BlockError as error:
                if block.language == OUTPUT and runner.printed is not None and not block.mark:
                    stale.append(replace(block, text=aligned(block.text, runner.printed)))
                    continue
                raise BlockError(f"{path.name}, line {block.line}: {error}") from None
    finally:
        for name in set(sys.modules) - before:
            if (directory / f"{name}.py").exists():
                del sys.modules[name]
    return stale


# Outputs


def masked(text: str) -> list[str]:
    """Lines without what differs from one time to the next."""
    return [VARYING.sub("~", line).rstrip() for line in text.strip("\n").splitlines()]


def is_shown_in(shown: str, printed: str) -> bool:
    """Whether the lines that a page shows are among those that were printed, in a row but for those left out."""
    lines = masked(printed)
    wanted = masked(shown)
    pattern = "".join(
        r"(?:.*\n)*?" if line == LEFT_OUT else re.escape(line) + r"\n" for line in wanted
    )
    return (
        re.search(f"^{pattern}", "".join(f"{line}\n" for line in lines), re.MULTILINE) is not None
    )


def aligned(shown: str, printed: str) -> str:
    """As many lines of what was printed as the page shows, from the one that begins like the first of them."""
    lines, wanted = printed.strip("\n").splitlines(), shown.splitlines()
    start = [n for n, line in enumerate(lines) if line[:5] == wanted[0][:5]]
    first = start[-1] if start else 0
    return "\n".join(line.rstrip() for line in lines[first : first + len(wanted)])


def mended(text: str, stale: list[Block]) -> str:
    """A page with the outputs that come out."""
    lines = text.splitlines()
    old = {block.line: block for block in blocks_of(text)}
    for block in sorted(stale, key=lambda one: one.line, reverse=True):
        count = len(old[block.line].text.splitlines())
        lines[block.line - 1 : block.line - 1 + count] = block.text.splitlines()
    return "\n".join(lines) + "\n"
