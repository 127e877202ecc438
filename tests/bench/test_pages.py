"""The pages of the experiments show what the results beside them say."""

from pathlib import Path

import pytest

from benchmarks.experiment_pages import NOTHING, PAGES, PLACE, filled

PLACES = [
    (page, found)
    for page in sorted(PAGES.glob("*.md"))
    for found in PLACE.finditer(page.read_text())
]


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda path: path.name)
def test_a_page_is_up_to_date(page: Path) -> None:
    assert filled(page) == page.read_text(encoding="utf-8"), "run benchmarks/experiment_pages.py"


def test_there_are_places() -> None:
    assert len(PLACES) > 20


def test_places_are_filled_and_nothing_else_is_touched(tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "table.md").write_text("| a |\n| --- |\n")
    (tmp_path / "suite" / "figure.png").write_bytes(b"")
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n\n<!-- suite/table.md -->\nold\n<!-- end -->\n\nmine\n\n"
        "<!-- suite/figure.png: What it shows -->\n<!-- end -->\n\n<!-- suite/later.md -->\n<!-- end -->\n"
    )
    text = filled(page)

    assert text == (
        "# Title\n\n<!-- suite/table.md -->\n\n| a |\n| --- |\n\n<!-- end -->\n\nmine\n\n"
        "<!-- suite/figure.png: What it shows -->\n\n![What it shows](suite/figure.png)\n\n<!-- end -->\n\n"
        f"<!-- suite/later.md -->\n\n{NOTHING}\n<!-- end -->\n"
    )
    page.write_text(text)
    assert filled(page) == text
