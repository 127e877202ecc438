"""Files with data sets, and those that are missing or are none."""

import gzip
from pathlib import Path

import pytest

from graphbo.bench.tasks import parse_task
from graphbo.bench.tasks.datasets import VARIABLE, downloaded
from graphbo.errors import TaskError


def write(folder: Path, text: str) -> Path:
    (folder / "twitch.csv.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def test_each_edge_is_there_once_and_nodes_keep_their_names(tmp_path: Path) -> None:
    network = downloaded("twitch", write(tmp_path, "source,target\nb,a\na,b\na,7\n7,7\n"))
    assert network.names == ["b", "a", "7"]
    assert network.edges.tolist() == [[0, 1], [1, 2]]


def test_the_directory_is_an_argument_or_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "source,target\na,b\n")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert parse_task("influence:data=twitch").problem(0).n == 2
    monkeypatch.setenv(VARIABLE, str(tmp_path / "elsewhere"))
    assert parse_task("influence:data=twitch", tmp_path).problem(0).n == 2
    with pytest.raises(TaskError, match=f"no twitch.csv.gz in .*elsewhere .*{VARIABLE}.*SNAP"):
        parse_task("influence:data=twitch").problem(0)


def test_nobody_said_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(TaskError, match=rf"or set {VARIABLE}.*Copenhagen Networks Study"):
        parse_task("patient-zero:graph=contacts").problem(0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "does not begin with the header"),
        ("a,b\n", "does not begin with the header"),
        ("source,target\n", "holds no edge"),
        ("source,target\na\n", "line 2: 'a' is no edge"),
        ("source,target\na,b\na,b,c\n", "line 3"),
        ("source,target\n,b\n", "line 2"),
    ],
)
def test_what_is_no_list_of_edges(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(TaskError, match=expected):
        downloaded("twitch", write(tmp_path, text))


@pytest.mark.parametrize(
    "content", [b"source,target\na,b\n", gzip.compress(b"source", mtime=0)[:-3]]
)
def test_what_is_not_packed_or_only_half_there(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "twitch.csv.gz").write_bytes(content)
    with pytest.raises(TaskError, match="cannot be read"):
        downloaded("twitch", tmp_path)
