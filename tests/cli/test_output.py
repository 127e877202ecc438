"""Where results go."""

import re
import unicodedata

import pytest

from graphbo.cli.output import file_stem


@pytest.mark.parametrize(
    "name",
    ["a/b", "../../etc/passwd", "..", ".", "-o", "a\nb", "x" * 9999, "日" * 400, "con:", " "],
)
def test_file_names_are_safe(name: str) -> None:
    stem = file_stem(name)
    assert re.fullmatch(r"[\w-]+", stem)
    assert not stem.startswith("-")
    assert len(f"{stem}.cypher".encode()) <= 255
    assert stem == file_stem(name) != file_stem(name + "!")


def test_file_names_tell_runs_apart() -> None:
    assert file_stem("patient-zero_2") == "patient-zero_2"
    names = ["a/b", "a-b", "a b", "a:b", "A/b", "A-b", "é", "e\u0301", "É", "ß", "ss"]
    files = {unicodedata.normalize("NFC", file_stem(name)).casefold() for name in names}
    assert len(files) == len(names)
