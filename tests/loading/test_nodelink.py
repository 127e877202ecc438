"""Node-link JSON: both spellings, all types of values, and where it breaks."""

import json
import random
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from graphbo.errors import SourceError
from graphbo.loading import Reading, Source, open_source
from graphbo.loading.nodelink import _SurrogateCheck


def node_link(folder: Path, data: object, **reading: Any) -> Source:
    path = folder / "g.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return open_source(str(path), Reading(**reading))


def reasons(source: Source) -> list[str]:
    return [str(bad) for bad in source.survey().examples]


@pytest.mark.parametrize("edges", ["edges", "links"])
def test_what_networkx_writes_comes_back(tmp_path: Path, edges: str) -> None:
    graph: nx.Graph[int] = nx.Graph(name="friends")
    graph.add_node(1, name="Anna", tags=["a", "b"])
    graph.add_node(2)
    graph.add_edge(1, 2, w=2, kind="friend")
    source = node_link(tmp_path, nx.node_link_data(graph, edges=edges), weight="w")
    assert list(source.nodes()) == [(1, {"name": "Anna", "tags": ["a", "b"]}), (2, {})]
    assert list(source.edges()) == [(1, 2, {"w": 2.0, "kind": "friend"})]
    assert source.survey().directed is False


def test_a_directed_multigraph(tmp_path: Path) -> None:
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    graph.add_edge("a", "b", kind=1)
    graph.add_edge("a", "b", kind=2)
    source = node_link(tmp_path, nx.node_link_data(graph, edges="links"))
    assert list(source.edges()) == [("a", "b", {"kind": 1}), ("a", "b", {"kind": 2})]
    assert source.survey().directed is True


def test_ids_keep_their_types(tmp_path: Path) -> None:
    ids = [1, "1", "01", -5, 2**63 - 1, [0, 1], "ü"]
    source = node_link(tmp_path, {"nodes": [{"id": value} for value in ids]})
    assert [key for key, _ in source.nodes()] == [1, "1", "01", -5, 2**63 - 1, "[0, 1]", "ü"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", "text"),
        ("a\0b", "a\0b"),
        ("😀", "😀"),
        (3, 3),
        (2**70, str(2**70)),
        (1.5, 1.5),
        (1e22, 1e22),
        (True, True),
        ([1, 2], [1, 2]),
        ([1, 2.5], [1.0, 2.5]),
        ([True, False], [True, False]),
        (["a", "b"], ["a", "b"]),
        ([], []),
        ([1, "a"], '[1, "a"]'),
        ([1, True], "[1, true]"),
        ([1, None], "[1, null]"),
        ([[1.5], [2]], "[[1.5], [2]]"),
        ({"a": {"b": [1, 2.5]}}, '{"a": {"b": [1, 2.5]}}'),
        ({"ü": "😀"}, '{"ü": "😀"}'),
    ],
)
def test_values_become_what_stores_can_hold(
    tmp_path: Path, value: object, expected: object
) -> None:
    source = node_link(tmp_path, {"nodes": [{"id": 1, "x": value}]})
    ((_, found),) = source.nodes()
    assert found == {"x": expected}
    assert type(found["x"]) is type(expected)


@pytest.mark.parametrize("value", ["null", "1e999", "-1e999"])
def test_values_without_a_counterpart_are_left_out(tmp_path: Path, value: str) -> None:
    source = node_link(tmp_path, f'{{"nodes": [{{"id": 1, "x": {value}}}]}}')
    assert list(source.nodes()) == [(1, {})]


@pytest.mark.parametrize(
    ("section", "item", "reason"),
    [
        ("nodes", 3, "not an object"),
        ("nodes", {}, "its id is missing"),
        ("nodes", {"id": None}, "its id is missing"),
        ("nodes", {"id": 1.5}, "its id is '1.5', not a string or an integer"),
        ("nodes", {"id": True}, "not a string or an integer"),
        ("nodes", {"id": {"a": 1}}, "not a string or an integer"),
        ("nodes", {"id": ""}, "an id is empty"),
        ("nodes", {"id": "a\0b"}, "NUL"),
        ("nodes", {"id": 2**63}, "more than 64 bits"),
        ("nodes", {"id": "x", "": 1}, "attribute name is empty"),
        ("nodes", {"id": "x", "a\\b": 1}, "attribute name"),
        ("nodes", {"id": "x", "name": "y"}, "the key property: choose another"),
        ("links", {"source": "a"}, "its target is missing"),
        ("links", {"source": "a", "target": "b"}, "the weight is missing"),
        ("links", {"source": "a", "target": "b", "w": None}, "the weight is missing"),
        ("links", {"source": "a", "target": "b", "w": "much"}, "not a number"),
        ("links", {"source": "a", "target": "b", "w": True}, "not a number"),
        ("links", {"source": "a", "target": "b", "w": [1]}, "not a number"),
        ("links", {"source": "a", "target": "b", "w": -2}, "negative"),
        ("links", {"source": "a", "target": "b", "w": 10**400}, "not finite"),
    ],
)
def test_malformed_items_are_told_with_their_place(
    tmp_path: Path, section: str, item: object, reason: str
) -> None:
    data: dict[str, list[object]] = {
        "nodes": [{"id": "a", "name": "a"}],
        "links": [{"source": "a", "target": "a", "w": 1}],
    }
    data[section].append(item)
    source = node_link(tmp_path, data, weight="w", key="name")
    (found,) = reasons(source)
    assert found.startswith(f"{section}[1]: ")
    assert reason in found
    assert list(source.nodes()) == [("a", {})]
    assert list(source.edges()) == [("a", "a", {"w": 1.0})]


def test_links_by_position_are_refused(tmp_path: Path) -> None:
    data = {"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": 0, "target": 1}]}
    with pytest.raises(SourceError, match="name nodes by number"):
        node_link(tmp_path, data).survey()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"nodes": [{"id": 1},\n{"id": NaN}]}', "line 2, byte 30: not JSON: invalid char"),
        ('{"nodes": [{"id": 1}', "line 1, byte 20: not JSON: premature EOF"),
        ('{"nodes": [{"id": 1}]} x', "line 1, byte 24: not JSON: trailing garbage"),
        ('{"nodes": 1}', "'nodes' is not a list"),
        ('{"nodes": {"id": 1}}', "'nodes' is not a list"),
        ('{"nodes": []}', "holds no edge"),
        ('{"nodes": [{"id": "\\ud800"}]}', "byte 20: half a surrogate pair"),
        ('{"nodes": [{"id": "\\ude00\\ud83d"}]}', "byte 20: half a surrogate pair"),
        ('{"nodes": [{"id": 1, "x": ' + "[" * 200 + "]" * 200 + "}]}", "100 levels"),
        ('{"nodes": [{"id": 1, "x": [' + "1," * 100_000 + "1]}]}", "more than 100,000 values"),
    ],
)
def test_broken_json_is_told_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(SourceError, match=expected) as raised:
        node_link(tmp_path, text).survey()
    assert "\n" not in str(raised.value)


def test_the_place_is_right_in_a_large_file(tmp_path: Path) -> None:
    good = json.dumps({"nodes": [{"id": i} for i in range(20_000)]}, indent=0)
    broken = good[:200_000] + "\n  ?" + good[200_000:]
    line = broken[:200_004].count("\n") + 1
    with pytest.raises(SourceError, match=f"line {line}, byte 200,004: not JSON"):
        node_link(tmp_path, broken).survey()


def test_text_that_is_not_utf8_is_told(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_bytes(b'{"nodes": [{"id": "\xff"}]}')
    with pytest.raises(SourceError, match="not JSON: invalid bytes in UTF8 string"):
        open_source(str(tmp_path / "g.json")).survey()


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_bytes(b'\xef\xbb\xbf{"nodes": [{"id": 1}]}')
    assert open_source(str(tmp_path / "g.json")).survey().nodes == 1


def test_whole_pairs_and_escaped_backslashes_are_no_halves(tmp_path: Path) -> None:
    text = r'{"nodes": [{"id": "\ud83d\ude00\\ud800\\\\ud800"}]}'
    assert [key for key, _ in node_link(tmp_path, text).nodes()] == [r"😀\ud800\\ud800"]


def test_halves_are_found_wherever_the_chunks_end() -> None:
    def halves(text: bytes, size: int) -> str:
        check = _SurrogateCheck("g")
        try:
            for at in range(0, len(text), size):
                check.feed(text[at : at + size])
            check.finish()
        except SourceError as error:
            return str(error)
        return ""

    draw = random.Random(0)
    pieces = [b"a", b"\\\\", b"\\n", b"\\ud83d\\ude00", b"\\u00e4", b'\\"', b"ud800"]
    for _ in range(200):
        text = b"".join(draw.choices(pieces, k=12))
        if draw.random() < 0.5:
            text += draw.choice([b"\\ud800", b"\\uDEAD", b"\\ud800\\u0041"])
        text += b"".join(draw.choices(pieces[:2], k=draw.randrange(3)))
        whole = halves(text, len(text))
        try:
            json.loads(b'"' + text + b'"').encode()
        except UnicodeEncodeError:
            assert whole
        else:
            assert not whole
        assert {halves(text, size) for size in range(1, len(text))} == {whole}


def test_other_members_may_be_anything(tmp_path: Path) -> None:
    data = {
        "graph": {"nodes": [1], "deep": [[{"links": []}]]},
        "nodes.item": {"id": 9},
        "links": [{"source": 1, "target": 2}],
        "nodes": [{"id": 1}],
        "directed": True,
    }
    source = node_link(tmp_path, data)
    assert list(source.nodes()) == [(1, {})]
    assert list(source.edges()) == [(1, 2, {})]
    assert source.survey().directed is True
