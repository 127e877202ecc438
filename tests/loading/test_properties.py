"""What must hold for any file: edges that are written come back, and no bytes raise anything else."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graphbo.errors import SourceError
from graphbo.loading import Reading, open_source

#: Each example writes its file over that of the last one.
in_one_directory = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

#: Characters that mean something to some reader, and a few that only look it.
TRICKY = "ab01-+_.,;:\t \"'#%\\\n\r{}[]<>&äß€😀\u00a0\u2028\x85\x0b\x1c\ufeff"
texts = st.text(
    st.one_of(st.sampled_from(TRICKY), st.characters(codec="utf-8", exclude_characters="\0")),
    max_size=8,
)
ids = st.one_of(
    texts.filter(bool),
    st.integers(-(2**64), 2**64).map(str),
    st.sampled_from(["0", "00", "-0", "007", "+1", "1e3", "source", "target", "nan"]),
)
weights = st.floats(0, 1e300, allow_nan=False)
line_ends = st.sampled_from(["\n", "\r\n", "\r"])
#: Where a field may stand without quotes, per separator: nothing of this is in it.
SPECIAL = {",": ",", "\t": "\t", ";": ";,", " ": " ,;"}
FORMATS = [("g.csv", ","), ("g.tsv", "\t"), ("g.txt", "\t"), ("g.csv", ";"), ("g.txt", " ")]


def needs_quotes(field: str, separator: str) -> bool:
    return (
        any(character in field for character in SPECIAL[separator] + "\r\n\t")
        or field[0] in '"#%\ufeff'
        or field != field.strip(" ")
    )


def as_field(field: str, separator: str, quote: bool) -> str:
    if quote or needs_quotes(field, separator):
        return '"' + field.replace('"', '""') + '"'
    return field


def is_integer(text: str) -> bool:
    try:
        return str(int(text)) == text and -(2**63) <= int(text) < 2**63
    except ValueError:
        return False


@pytest.mark.parametrize(("name", "separator"), FORMATS)
@given(
    edges=st.lists(st.tuples(ids, ids, weights), min_size=1, max_size=30),
    line_end=line_ends,
    quotes=st.randoms(use_true_random=False),
    weighted=st.booleans(),
    header=st.booleans(),
    packed=st.booleans(),
    last_line_ends=st.booleans(),
)
@in_one_directory
def test_edges_come_back(
    tmp_path: Path,
    name: str,
    separator: str,
    edges: list[tuple[str, str, float]],
    line_end: str,
    quotes: Any,
    weighted: bool,
    header: bool,
    packed: bool,
    last_line_ends: bool,
) -> None:
    rows = [(a, b, repr(w)) if weighted else (a, b) for a, b, w in edges]
    if header:
        rows.insert(0, ("source", "target", "w") if weighted else ("source", "target"))
    lines = [
        separator.join(as_field(field, separator, quotes.random() < 0.3) for field in row)
        for row in rows
    ]
    data = (line_end.join(lines) + line_end * last_line_ends).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if packed else data)
    source = open_source(str(path), Reading(weight="w" if weighted else None, header=header))
    assert source.survey().bad == 0, source.survey().examples
    integers = all(is_integer(a) and is_integer(b) for a, b, _ in edges)
    key: Callable[[str], str | int] = int if integers else str
    expected = [(key(a), key(b), {"w": w} if weighted else {}) for a, b, w in edges]
    assert list(source.edges()) == expected


names = st.text("abcdefgh", min_size=1, max_size=3)
plain = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), texts)
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)


@given(
    attributes=st.dictionaries(names, values, max_size=4),
    edges=st.lists(st.tuples(ids, ids, weights), min_size=1, max_size=10),
    spelling=st.sampled_from(["links", "edges"]),
    ascii_only=st.booleans(),
)
@in_one_directory
def test_node_link_graphs_come_back(
    tmp_path: Path,
    attributes: dict[str, Any],
    edges: list[tuple[str, str, float]],
    spelling: str,
    ascii_only: bool,
) -> None:
    keys = list(dict.fromkeys(key for a, b, _ in edges for key in (a, b)))
    data = {
        "nodes": [{"id": key, **attributes} for key in keys],
        spelling: [{"source": a, "target": b, "w": w} for a, b, w in edges],
    }
    try:
        text = json.dumps(data, allow_nan=False, ensure_ascii=ascii_only)
    except ValueError:  # an infinity, which JSON does not have
        return
    path = tmp_path / "g.json"
    path.write_text(text, encoding="utf-8")
    source = open_source(str(path), Reading(weight="w"))
    assert source.survey().bad == 0, source.survey().examples
    assert [key for key, _ in source.nodes()] == keys
    assert list(source.edges()) == [(a, b, {"w": w}) for a, b, w in edges]
    for _, found in source.nodes():
        assert set(found) == {name for name, value in attributes.items() if value is not None}
        for name, value in found.items():
            if isinstance(attributes[name], str | bool | float):
                assert value == attributes[name]


@given(
    edges=st.lists(st.tuples(names, names, weights), min_size=1, max_size=10),
    integer=st.integers(-(2**31), 2**31),
    text=st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"]), max_size=8),
)
@in_one_directory
def test_graphml_comes_back(
    tmp_path: Path, edges: list[tuple[str, str, float]], integer: int, text: str
) -> None:
    graph: Any = nx.MultiDiGraph()
    for a, b, w in edges:
        graph.add_edge(a, b, w=w, integer=integer, text=text)
    buffer = io.BytesIO()
    nx.write_graphml(graph, buffer)
    path = tmp_path / "g.graphml"
    path.write_bytes(buffer.getvalue())
    source = open_source(str(path), Reading(weight="w"))
    assert [key for key, _ in source.nodes()] == list(graph)
    expected = [
        (a, b, {"integer": integer, "text": text, "w": w}) for a, b, w in graph.edges(data="w")
    ]
    assert list(source.edges()) == expected


# Whatever the bytes are


PIECES = [
    b'{"nodes": [{"id": 1}], "links": [',
    b'{"source": 1, "target": 2, "w": 3}',
    b"]}",
    b",",
    b"<graphml><graph>",
    b'<node id="a"/>',
    b'<edge source="a" target="b">',
    b"</edge>",
    b"</graph></graphml>",
    b"<!DOCTYPE x [<!ENTITY a 'b'>]>",
    b"a,b,1\n",
    b'"a",b,\r\n',
    b"1 2 3\n",
    b"# c\n",
    b'"',
    b"\0",
    b"\\ud800",
    b"\x1f\x8b\x08",
    b"\xff\xfe",
]
junk = st.one_of(
    st.binary(max_size=200),
    st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=3)), max_size=12).map(b"".join),
)


@pytest.mark.parametrize("name", ["g.csv", "g.tsv", "g", "g.json", "g.graphml", "g.csv.gz"])
@given(data=junk, weighted=st.booleans(), packed=st.booleans())
@example(data=b'"\n' * 300, weighted=False, packed=False)
@example(data=b'"""\n' * 300, weighted=False, packed=False)
@example(data=b"{" * 3000, weighted=False, packed=False)
@example(data=b"<a>" * 3000, weighted=False, packed=True)
@in_one_directory
def test_any_bytes_are_a_graph_or_a_clear_error(
    tmp_path: Path, name: str, data: bytes, weighted: bool, packed: bool
) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if packed else data)
    try:
        source = open_source(str(path), Reading(weight="w" if weighted else None, key="id"))
        survey = source.survey()
        nodes, edges = list(source.nodes()), list(source.edges())
    except SourceError as error:
        refused = str(error)
        assert "\n" not in refused
        assert name in refused
    else:
        assert (len(nodes), len(edges)) == (survey.nodes, survey.edges)
        assert all("\n" not in str(bad) for bad in survey.examples)
        for key in [key for key, _ in nodes] + [end for edge in edges for end in edge[:2]]:
            assert isinstance(key, int) or (key.encode() and "\0" not in key)
