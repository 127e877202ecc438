"""The documentation as a site: it is built strictly, has everything, and works from a directory without a network."""

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import graphbo
from tests.seeing.conftest import chromium
from tests.test_docs import DOCS, ROOT, name_of

__all__ = ["chromium"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, "subprocess.CompletedProcess[str]"]:
    """The site, as `make docs` builds it, and what was said about it."""
    target = tmp_path_factory.mktemp("site")
    options = ("-q", "--fail-on-warning", "--keep-going", "-b", "html", "-c", "docs")
    places = ("-d", str(target / "cache"), ".", str(target / "html"))
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, *places],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return target / "html", done


@pytest.fixture(scope="module")
def site(built: tuple[Path, object]) -> Path:
    """Where the site is."""
    return built[0]


def test_there_is_nothing_to_warn_of(
    built: tuple[Path, "subprocess.CompletedProcess[str]"],
) -> None:
    done = built[1]

    assert (done.returncode, done.stderr) == (0, "")


def test_every_document_is_a_page(site: Path) -> None:
    missing = [path for path in DOCS if not (site / name_of(path)).with_suffix(".html").exists()]

    assert not [name_of(path) for path in missing]


def test_the_first_page_leads_to_everybody(site: Path) -> None:
    assert 'url=docs/index.html"' in read(site / "index.html")
    first = read(site / "docs" / "index.html")

    for reader in ("analyst", "investigator", "data scientist", "researcher"):
        assert f"<strong>{reader}</strong>" in first


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_the_public_names_are_described(site: Path) -> None:
    pages = (site / "docs" / "api").glob("*.html")
    described = set(re.findall(r'id="graphbo\.([\w.]+)"', "".join(map(read, pages))))
    # By the last part of their names: errors and kernels are described as what is in their modules.
    names = {name.rpartition(".")[2] for name in described}

    assert not sorted(set(graphbo.__all__) - names - {"__version__", "kernels"})
    assert {"kernels.Diffusion", "errors.GraphboError"} <= described


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    loaded = re.compile(r'<(?:script|img|link)\b[^>]*?\b(?:src|href)="((?:https?:)?//[^"]*)"')
    for page in site.rglob("*.html"):
        assert not loaded.findall(read(page)), page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", read(style))


@pytest.mark.chromium
def test_it_can_be_searched_in_a_directory(site: Path, chromium: Browser) -> None:
    page = chromium.new_page()
    problems: list[str] = []
    page.on("console", lambda said: problems.append(said.text))
    page.on("requestfailed", lambda request: problems.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.wait_for_url("**/docs/index.html")
    page.get_by_role("textbox", name="Search").fill("ego-network")
    page.keyboard.press("Enter")
    page.locator("#search-results li a", has_text="Glossary").first.click()
    page.wait_for_url("**/glossary.html*")

    assert page.locator("h1").inner_text().startswith("Glossary")
    assert problems == []


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """What ``docs/conf.py`` defines."""
    return runpy.run_path(str(ROOT / "docs" / "conf.py"))


@pytest.mark.parametrize(
    "name", ["int", "nx.Graph", "collections.abc.Mapping", "graphbo.runs.run.Run", "RunRecord"]
)
def test_a_name_that_is_there_may_be_mentioned(settings: dict[str, Any], name: str) -> None:
    assert settings["exists"](name)


@pytest.mark.parametrize("name", ["Ledger", "graphbo.Ledger", "graphbo.runs.Ledger", "nx.Grpah"])
def test_a_name_that_is_gone_may_not(settings: dict[str, Any], name: str) -> None:
    assert not settings["exists"](name)
