"""The tour in Python: the notebook has the code of the page, and what comes out when it is run."""

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.code_blocks import masked
from tests.test_docs import ROOT

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "guide" / "tour.md"
NOTEBOOK = ROOT / "examples" / "tour.ipynb"
AGAIN = "run docs/images/make_tour.py"


@pytest.fixture(scope="module")
def maker() -> dict[str, Any]:
    """What makes the notebook of the page."""
    return runpy.run_path(str(ROOT / "docs" / "images" / "make_tour.py"))


@pytest.fixture(scope="module")
def notebook() -> dict[str, Any]:
    """The notebook, as it is in the repository."""
    found: dict[str, Any] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return found


def without_pictures(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Texts without what takes long and how long, and of pictures that there is one."""
    shown: list[dict[str, Any]] = []
    for one in outputs:
        texts = {"stdout": one["text"]} if "text" in one else dict(one["data"])
        if "image/png" in texts:
            texts["image/png"] = [texts["image/png"][:8]]
        shown.append({what: masked("".join(text)) for what, text in texts.items()})
    return shown


def test_the_notebook_has_the_page(maker: dict[str, Any], notebook: dict[str, Any]) -> None:
    cells = maker["cells_of"](PAGE.read_text(encoding="utf-8"))
    kinds = {True: "code", False: "markdown"}

    assert [(kinds[cell.is_code], cell.text) for cell in cells] == [
        (cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]
    ], AGAIN
    assert "pip install" in cells[0].text


def test_the_notebook_shows_what_comes_out(
    maker: dict[str, Any],
    notebook: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, 1):
        found = maker["run"]("".join(cell["source"]), namespace, number)

        assert without_pictures(found) == without_pictures(cell["outputs"]), AGAIN
        assert cell["execution_count"] == number
    assert (tmp_path / "town.db").exists()


def test_the_page_has_the_pictures_of_the_notebook(notebook: dict[str, Any]) -> None:
    on_the_page = re.findall(
        r"\]\((\.\./images/tour-[\w-]+\.png)\)", PAGE.read_text(encoding="utf-8")
    )
    outputs = [one for cell in notebook["cells"] for one in cell.get("outputs", ())]
    drawn = [one for one in outputs if "image/png" in one.get("data", {})]

    assert len(on_the_page) == len(drawn) >= 3
    for name in on_the_page:
        content = (PAGE.parent / name).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) < 300_000
