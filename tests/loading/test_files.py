"""Files that are no graphs: one clear line each."""

import gzip
import json
import os
import sqlite3
import zipfile
from pathlib import Path

import pytest

from graphbo.errors import SourceError
from graphbo.loading import Reading, open_source

JSON = json.dumps({"nodes": [{"id": i * i} for i in range(20_000)]}).encode()


def refusal(path: Path | str) -> str:
    with pytest.raises(SourceError) as raised:
        open_source(str(path)).survey()
    message = str(raised.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("empty.csv", b"", "is empty"),
        ("blank.csv", b" \n\r\n\t", "is empty"),
        ("page.csv", b"<!DOCTYPE html>\n<html><body>404</body></html>", "web page"),
        ("page.graphml", b"  <html><body>404</body></html>", "web page"),
        ("utf16.csv", "a,b\n".encode("utf-16"), "UTF-16"),
        ("paper.csv", b"%PDF-1.7\n\xe2\xe3\xcf\xd3\n", "PDF"),
        ("noise.csv", bytes(range(256)) * 40, "binary"),
        ("noise.json", bytes(range(256)) * 40, "binary"),
        ("packed.csv", b"BZh91AY&SY\x00\xff", "bzip2"),
        ("cut.csv.gz", gzip.compress(b"1,2\n" * 10_000, mtime=0)[:40], "ends too early"),
        ("cut.json.gz", gzip.compress(JSON, mtime=0)[:-50], "ends too early"),
        ("damaged.csv.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff garbage", "is damaged"),
        ("header.csv.gz", b"\x1f\x8b\x08", "ends too early"),
        ("crc.csv.gz", gzip.compress(b"1,2\n2,3\n", mtime=0)[:-8] + b"\0" * 8, "is damaged"),
        ("graph.json", b"", "is empty"),
        ("svg.xml", b"<svg xmlns='x'></svg>", "<svg> is not <graphml>"),
        ("list.json", b"[1, 2]", "not an object"),
        ("text.json", b'"hello"', "not an object"),
        ("other.json", b'{"a": {"nodes": []}}', 'neither "nodes"'),
    ],
)
def test_what_is_no_graph_is_refused(
    tmp_path: Path, name: str, content: bytes, expected: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    message = refusal(path)
    assert expected in message
    assert name in message


def test_a_missing_file(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.csv") == f"there is no file {tmp_path / 'none.csv'}"


def test_a_misspelt_generator() -> None:
    assert refusal("bb:n=3") == (
        "there is no such file, and 'bb' is none of ba, ws, er, sbm, grid, task"
    )


def test_a_directory(tmp_path: Path) -> None:
    assert "is a directory" in refusal(tmp_path)


def test_a_path_that_no_file_can_have() -> None:
    assert "cannot be read" in refusal("a\0b")
    assert "\n" not in refusal("a\nb")


def test_a_pipe_cannot_be_read_twice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "cannot be read twice" in refusal(tmp_path / "pipe")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "secret.csv"
    path.write_text("1,2\n")
    path.chmod(0)
    assert "Permission denied" in refusal(path)


def test_a_database_and_an_archive(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "graph.csv") as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    assert "SQLite" in refusal(tmp_path / "graph.csv")
    with zipfile.ZipFile(tmp_path / "sheet.csv", "w") as archive:
        archive.writestr("a", "b" * 1000)
    assert "ZIP" in refusal(tmp_path / "sheet.csv")


@pytest.mark.parametrize("start", ["PAR1", "BZhang", "%PDF"])
def test_text_may_begin_like_something_else(tmp_path: Path, start: str) -> None:
    path = tmp_path / "graph.csv"
    path.write_text(f"{start},b\nc,d\n")
    assert open_source(str(path)).survey().edges > 0


def test_a_file_that_changes_in_between_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.csv"
    path.write_text("1,2\n2,3\n")
    source = open_source(str(path))
    source.survey()
    path.write_text("1,2\n2,3\nx,y\n")
    with pytest.raises(SourceError, match="changed while it was read"):
        list(source.edges())


def test_a_file_that_goes_away_in_between_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.csv"
    path.write_text("1,2\n2,3\n")
    source = open_source(str(path))
    source.survey()
    path.unlink()
    with pytest.raises(SourceError, match="there is no file"):
        list(source.edges())


def test_formats_are_recognised_without_their_suffix(tmp_path: Path) -> None:
    (tmp_path / "a").write_text('{\n "nodes": [{"id": 1}], "links": []}')
    (tmp_path / "b").write_text('<graphml><graph><node id="1"/></graph></graphml>')
    for name in "ab":
        assert list(open_source(str(tmp_path / name)).nodes()) == [(1, {})]


def test_ids_may_begin_like_a_format(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("{ <\n")
    assert list(open_source(str(tmp_path / "g.txt")).edges()) == [("{", "<", {})]


@pytest.mark.parametrize("name", ["g.json", "g.graphml"])
def test_only_edge_lists_have_headers(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(SourceError, match="not an edge list"):
        open_source(str(tmp_path / name), Reading(header=True))


def test_progress_goes_from_start_to_end(tmp_path: Path) -> None:
    path = tmp_path / "graph.csv"
    path.write_text("".join(f"{i},{i + 1}\n" for i in range(30_000)))
    seen: list[tuple[int, int]] = []
    source = open_source(str(path))
    source.survey(lambda done, total: seen.append((done, total)))
    size = path.stat().st_size
    assert seen[-1] == (size, size)
    assert seen == sorted(seen)
    assert len(seen) > 2
