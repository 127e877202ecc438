"""Makes ``examples/tour.ipynb``, and the pictures of ``docs/guide/tour.md``, from the code of that page.

``python docs/images/make_tour.py`` from a clone with the development requirements.
"""

import ast
import base64
import contextlib
import io
import json
import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from matplotlib.figure import Figure

from graphbo.seeing import plots

__all__ = ["Cell", "cells_of", "notebook_of", "run"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guide" / "tour.md"
NOTEBOOK = ROOT / "examples" / "tour.ipynb"

FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^!\[[^\]]*\]\(\.\./images/([\w-]+\.png)\)\n", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@dataclass(frozen=True)
class Cell:
    """A cell of the notebook, and the picture that comes out of it on the page."""

    is_code: bool
    text: str
    picture: str = ""


def main() -> None:
    """Make the notebook and the pictures."""
    cells = cells_of(PAGE.read_text(encoding="utf-8"))
    with TemporaryDirectory() as directory, contextlib.chdir(directory):
        notebook = notebook_of(cells, {})
    for cell, made in zip(cells, notebook["cells"], strict=True):
        if cell.picture:
            (picture,) = (one["data"]["image/png"] for one in made["outputs"] if "data" in one)
            (PAGE.parent.parent / "images" / cell.picture).write_bytes(base64.b64decode(picture))
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def cells_of(page: str) -> list[Cell]:
    """The cells of a page: its Python, and what stands between; outputs and pictures come out by themselves."""
    page = re.sub(r"<!--.*?-->\n", "", page, flags=re.DOTALL)
    cells: list[Cell] = []
    prose, end = "", 0
    for found in FENCE.finditer(page):
        prose += page[end : found.start()]
        end = found.end()
        if found[1] == "python":
            cells += _as_prose(prose, cells)
            cells.append(Cell(is_code=True, text=found[2].strip("\n")))
            prose = ""
        elif found[1]:
            prose += found[0]
    return cells + _as_prose(prose + page[end:], cells)


def _as_prose(text: str, before: list[Cell]) -> list[Cell]:
    """A cell of prose, without the picture of the code before it."""
    if found := PICTURE.search(text):
        before[-1] = Cell(is_code=True, text=before[-1].text, picture=found[1])
        text = PICTURE.sub("", text)
    text = LINK.sub(lambda link: f"]({_from_examples(link[1])}", text).strip()
    return [Cell(is_code=False, text=re.sub(r"\n{3,}", "\n\n", text))] if text else []


def _from_examples(link: str) -> str:
    target = (PAGE.parent / link).resolve()
    return os.path.relpath(target, NOTEBOOK.parent)


def notebook_of(cells: list[Cell], namespace: dict[str, Any]) -> dict[str, Any]:
    """The notebook, its code run in the current directory."""
    made: list[dict[str, Any]] = []
    for cell in cells:
        source = cell.text.splitlines(keepends=True)
        if not cell.is_code:
            made.append({"cell_type": "markdown", "metadata": {}, "source": source})
            continue
        count = 1 + sum(one["cell_type"] == "code" for one in made)
        made.append(
            {
                "cell_type": "code",
                "execution_count": count,
                "metadata": {},
                "outputs": run(cell.text, namespace, count),
                "source": source,
            }
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": made,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 4,
    }


def run(code: str, namespace: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """What a kernel would answer: what is printed, and what the last line is worth."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(tree, "<cell>", "exec"), namespace)  # noqa: S102 - a page of ours
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)  # noqa: S307 - the same
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        outputs.append(
            {
                "data": _shown(value),
                "execution_count": count,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs


def _shown(value: object) -> dict[str, Any]:
    """What a notebook shows of a value."""
    if isinstance(value, Figure):
        picture = base64.b64encode(plots.image_of(value, ".png")).decode("ascii")
        return {"image/png": picture, "text/plain": ["<Figure>"]}
    shown: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    html = getattr(value, "_repr_html_", lambda: None)()
    if html:
        shown["text/html"] = html.splitlines(keepends=True)
    return shown


if __name__ == "__main__":
    main()
