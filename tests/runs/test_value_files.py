"""Values in a CSV file: what could not be told, and what people write."""

from pathlib import Path

import pytest

from graphbo.errors import RunError
from graphbo.runs.value_files import Measured, keep_untold, read_values


def written(path: Path, text: str | bytes) -> Path:
    file = path / "values.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_what_is_kept_can_be_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = keep_untold("a run/../ß", 'x,"y"\nz', 0.1 + 0.2, None)
    assert path == Path("graphbo-a_run_.._ß-untold.csv")
    assert keep_untold("a run/../ß", 7, -1e-300, None) == path
    keep_untold("a run/../ß", "gone", None, "no; it, was")
    assert [(one.node, one.value, one.note) for one in read_values(path)] == [
        ('x,"y"\nz', 0.1 + 0.2, ""),
        ("7", -1e-300, ""),
        ("gone", None, "no; it, was"),
    ]
    assert path.read_text().count("node,value,note") == 1


@pytest.mark.parametrize(
    "text",
    [
        "node,value,note\na,1.5,\n\nb,,gone\n",
        "node;value;note\r\na;1.5;\r\n;;\r\nb;;gone\r\n",
        "\ufeffNode, Value ,note\na, 1.5\n\nb,,gone",
        "value;note;node\n1.5;;a\n\n;gone;b\n",
    ],
)
def test_dialects(tmp_path: Path, text: str) -> None:
    assert read_values(written(tmp_path, text)) == [
        Measured(2, "a", 1.5),
        Measured(4, "b", None, "gone"),
    ]


def test_a_note_is_not_needed(tmp_path: Path) -> None:
    assert read_values(written(tmp_path, "node,value\na,1\n")) == [Measured(2, "a", 1.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no column is called 'node', of none"),
        ("a,1.5\n", "line 1: no column is called 'node', of a, 1.5"),
        ("node,note\n", "line 1: no column is called 'value'"),
        ("node,value,value\n", "line 1: 2 columns are called 'value': keep one"),
        ("node,value,note\n\n", "has no values"),
        ("node,value,note\na,1,\nb,high,\n", "line 3: 'high' is not a number"),
        ("node,value\na,nan\n", "line 2: 'nan' is not a number"),
        ("node,value\na,1e999\n", "line 2: the value is inf"),
        ("node;value\na;1,5\n", "line 2: '1,5' is not a number: write it with a point"),
        ("node,value\na,1,5\n", "line 2: 3 cells, but 2 columns: write numbers with a point"),
        ("node,value,note\na,,\n", "line 2: there is neither a value nor a note"),
        ("node,value,note\n,1,\n", "line 2: there is no node"),
        ("node,value\na,1\nb,2\na,1\n", "line 4: 'a' is in line 2 already"),
        ('node,value\n"a,1\n', "line 2: unexpected end of data"),
        (b"node,value\n\xe4,1\n", "is not in UTF-8"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    file = written(tmp_path, text)
    with pytest.raises(RunError) as caught:
        read_values(file)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be read: No such file"):
        read_values(tmp_path / "nothing.csv")
