"""Copies tables and figures of results into the pages of the experiments.

    graphbo bench paper --data-dir DIR -o docs/experiments/paper
    python benchmarks/experiment_pages.py

A page has places like ``<!-- paper/tables/teams.md -->`` … ``<!-- end -->``: what is between is the file of that name,
beside the page. An image is shown with what follows its name as its description. Nothing else of a page is touched.
"""

import argparse
import re
from pathlib import Path

PAGES = Path(__file__).parent.parent / "docs" / "experiments"
PLACE = re.compile(
    r"<!-- (?P<file>[\w/-]+\.(?:md|png))(?:: (?P<about>[^\n]+?))? -->\n.*?<!-- end -->", re.DOTALL
)
NOTHING = "*Not run yet.*\n"


def shown(directory: Path, name: str, about: str) -> str:
    """What a page shows of a file."""
    path = directory / name
    if not path.exists():
        return NOTHING
    return f"![{about}]({name})\n" if path.suffix == ".png" else path.read_text(encoding="utf-8")


def filled(page: Path) -> str:
    """The text of a page with every place filled."""

    def fill(found: re.Match[str]) -> str:
        begin = found[0].partition("\n")[0]
        content = shown(page.parent, found["file"], found["about"] or "")
        return f"{begin}\n\n{content}\n<!-- end -->"

    return PLACE.sub(fill, page.read_text(encoding="utf-8"))


def main() -> None:
    """Fill all pages, and say which have changed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=Path, default=PAGES, help="the directory of the pages")
    directory: Path = parser.parse_args().pages
    for page in sorted(directory.glob("*.md")):
        text = filled(page)
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(page.name)


if __name__ == "__main__":
    main()
