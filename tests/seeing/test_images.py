"""The pictures of the documentation."""

from pathlib import Path

import pytest

from graphbo.seeing.plots import PLOTS

IMAGES = Path(__file__).parents[2] / "docs" / "images"
NAMES = [f"plot-{kind}.png" for kind in PLOTS] + [
    f"report-{sort}.png" for sort in ("light", "dark", "phone")
]


@pytest.mark.parametrize("name", NAMES)
def test_every_picture_is_there_and_small(name: str) -> None:
    content = (IMAGES / name).read_bytes()

    assert content.startswith(b"\x89PNG")
    assert len(content) < 300_000
