"""The code of the documentation does what its pages say, and prints what they show.

``GRAPHBO_MEND_DOCS=1 pytest tests/test_code_blocks.py`` writes what comes out into the pages: look at what it changed.
"""

import os
from pathlib import Path

import pytest

from tests.code_blocks import (
    Block,
    BlockError,
    aligned,
    blocks_of,
    is_shown_in,
    mended,
    run_blocks,
)
from tests.test_docs import DOCS, name_of


def unmarked(path: Path) -> list[Block]:
    return [block for block in blocks_of(path.read_text(encoding="utf-8")) if block.is_run]


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in DOCS if unmarked(path)], ids=name_of)
def test_code_does_what_the_page_says(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith(("NEO4J_", "GRAPHBO_DATA"))]:
        monkeypatch.delenv(name)
    monkeypatch.setattr("builtins.input", lambda question: "1.5")
    environment = {"NO_COLOR": "1", "COLUMNS": "120", "OPENBLAS_NUM_THREADS": "1"}
    stale = run_blocks(path, monkeypatch, tmp_path, environment)
    if stale and os.environ.get("GRAPHBO_MEND_DOCS"):
        path.write_text(mended(path.read_text(encoding="utf-8"), stale), encoding="utf-8")
    else:
        found = "\n\n".join(
            f"line {block.line}, where now comes out\n{block.text}" for block in stale
        )
        assert not stale, f"{name_of(path)}: {found}"


# The machinery

PAGE = """\
<!-- run first: python
x = 1
-->

Look:

```python
print("found", x)
print("in", 0.5, "s")
print("done")
```

```
found 1
in 3 s
```

<!-- not run: it takes a day -->
```sh
graphbo bench paper
```

<!-- file: a.txt -->

```
content
```
"""


def written(directory: Path, text: str) -> Path:
    page = directory / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


def run(directory: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> list[Block]:
    return run_blocks(written(directory, text), monkeypatch, directory, {})


def test_blocks_are_run_compared_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tmp_path, monkeypatch, PAGE) == []
    assert (tmp_path / "a.txt").read_text() == "content\n"


def test_an_output_that_is_stale_is_found_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = PAGE.replace("found 1\nin 3 s", "found 2\nin 3 s")
    stale = run(tmp_path, monkeypatch, old)

    assert [block.line for block in stale] == [14]
    assert mended(old, stale) == PAGE.replace("in 3 s", "in 0.5 s")


def test_code_that_is_neither_run_nor_marked_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BlockError, match=r"page\.md, line 2: it is neither run nor marked"):
        run(tmp_path, monkeypatch, "```cypher\nMATCH (n) RETURN n\n```\n")
    with pytest.raises(BlockError, match="neither run nor marked"):
        run(tmp_path, monkeypatch, "```\nfound 1\n```\n")
    with pytest.raises(BlockError, match="docker is not run here"):
        run(tmp_path, monkeypatch, "```sh\ndocker compose up\n```\n")
    with pytest.raises(BlockError, match="graphbo dashboard goes on until Ctrl-C"):
        run(tmp_path, monkeypatch, "```sh\ngraphbo dashboard\n```\n")


def test_a_command_that_fails_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = "```sh\ngraphbo best nothing\n```\n"
    with pytest.raises(BlockError, match="graphbo best nothing ended with 1"):
        run(tmp_path, monkeypatch, page)
    assert run(tmp_path, monkeypatch, f"<!-- fails -->\n{page}") == []


@pytest.mark.parametrize("shown", ["a\nb", "b\n…\nd", "a\n…\nd"])
def test_a_part_of_what_is_printed_may_be_shown(shown: str) -> None:
    assert is_shown_in(shown, "a\nb\nc\nd\n")


@pytest.mark.parametrize("shown", ["a\nc", "d\n…\na", "b c"])
def test_another_output_is_not_shown(shown: str) -> None:
    assert not is_shown_in(shown, "a\nb\nc\nd\n")


def test_the_right_lines_are_taken_over() -> None:
    assert aligned("Best: 1", "first\nBest: 2\nlast\n") == "Best: 2"
