"""GraphML: types, defaults, namespaces, and what is dangerous in XML."""

import gzip
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from graphbo.errors import SourceError
from graphbo.loading import Reading, Source, open_source

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'


def graphml(folder: Path, body: str, name: str = "g.graphml", **reading: Any) -> Source:
    path = folder / name
    path.write_text(HEAD + body + "</graphml>", encoding="utf-8")
    return open_source(str(path), Reading(**reading))


def reasons(source: Source) -> list[str]:
    return [str(bad) for bad in source.survey().examples]


def test_what_networkx_writes_comes_back(tmp_path: Path) -> None:
    graph: nx.Graph[int] = nx.Graph()
    graph.add_node(1, name="Anna", age=30, height=1.7, member=True)
    graph.add_node(2, name="Ben")
    graph.add_edge(1, 2, w=2, since=1999, kind="friend")
    for name in ("g.graphml", "g.graphml.gz"):
        nx.write_graphml(graph, tmp_path / name)
        source = open_source(str(tmp_path / name), Reading(weight="w"))
        assert list(source.nodes()) == [
            (1, {"name": "Anna", "age": 30, "height": 1.7, "member": True}),
            (2, {"name": "Ben"}),
        ]
        assert list(source.edges()) == [(1, 2, {"w": 2.0, "since": 1999, "kind": "friend"})]
        assert source.survey().directed is False


def test_the_direction_is_told(tmp_path: Path) -> None:
    assert graphml(tmp_path, '<graph><node id="a"/></graph>').survey().directed is None
    body = '<graph edgedefault="directed"><node id="a"/></graph>'
    assert graphml(tmp_path, body).survey().directed is True


def test_defaults_fill_in_and_do_not_override(tmp_path: Path) -> None:
    source = graphml(
        tmp_path,
        '<key id="c" for="node" attr.name="colour" attr.type="string"><default>red</default></key>'
        '<key id="w" for="edge" attr.name="w" attr.type="double"><default>3</default></key>'
        '<graph><node id="a"/><node id="b"><data key="c">blue</data></node>'
        '<edge source="a" target="b"/><edge source="b" target="c"><data key="w">1</data></edge></graph>',
        weight="w",
    )
    assert list(source.nodes()) == [("a", {"colour": "red"}), ("b", {"colour": "blue"})]
    assert list(source.edges()) == [("a", "b", {"w": 3.0}), ("b", "c", {"w": 1.0})]


def test_an_attribute_of_two_types_is_one_property(tmp_path: Path) -> None:
    source = graphml(
        tmp_path,
        '<key id="d0" for="node" attr.name="x" attr.type="int"/>'
        '<key id="d1" for="all" attr.name="x" attr.type="double"/>'
        '<graph><node id="a"><data key="d0">1</data></node>'
        '<node id="b"><data key="d1">1.5</data></node></graph>',
    )
    assert [rest for _, rest in source.nodes()] == [{"x": 1}, {"x": 1.5}]


def test_what_drawing_programs_add_is_passed_over(tmp_path: Path) -> None:
    source = graphml(
        tmp_path,
        '<key id="d6" for="node" yfiles.type="nodegraphics"/>'
        '<graph xmlns:y="http://www.yworks.com/xml/graphml"><desc>text</desc>'
        '<node id="a"><data key="d6"><y:node id="z"><y:NodeLabel>A</y:NodeLabel></y:node></data></node>'
        '<node id="b"><port name="n"/></node><edge id="e" source="a" target="b"/></graph>',
    )
    assert list(source.nodes()) == [("a", {}), ("b", {})]
    assert list(source.edges()) == [("a", "b", {})]
    assert source.survey().bad == 0


def test_nested_graphs_are_flattened(tmp_path: Path) -> None:
    source = graphml(
        tmp_path,
        '<graph><node id="a"><graph><node id="b"/><edge source="a" target="b"/></graph></node></graph>',
    )
    assert sorted(key for key, _ in source.nodes()) == ["a", "b"]
    assert list(source.edges()) == [("a", "b", {})]


def test_edges_may_come_before_nodes(tmp_path: Path) -> None:
    source = graphml(tmp_path, '<graph><edge source="1" target="2"/><node id="x"/></graph>')
    assert list(source.edges()) == [("1", "2", {})]
    assert list(source.nodes()) == [("x", {})]


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        ("<node/>", "<node> has no id"),
        ('<node id=""/>', "an id is empty"),
        ('<edge source="a"/>', "<edge> has no target"),
        ('<edge target="a"/>', "<edge> has no source"),
        ('<edge source="a" target="b"/>', "the weight is missing"),
        ('<edge source="a" target="b"><data key="w">-1</data></edge>', "is negative"),
        ('<edge source="a" target="b"><data key="w">NaN</data></edge>', "is not finite"),
        ('<edge source="a" target="b"><data key="w">x</data></edge>', "'w' is 'x', not double"),
        ('<node id="b"><data key="age">old</data></node>', "its 'age' is 'old', not int"),
        ('<node id="b"><data key="age">1_0</data></node>', "not int"),
        ('<node id="b"><data key="in">yes</data></node>', "not boolean"),
        ('<node id="b"><data key="d9">1</data></node>', "'d9' of its data is not declared"),
        ('<hyperedge><endpoint node="a"/></hyperedge>', "hyperedge"),
        ('<node id="b"><data key="key">c</data></node>', "the key property: choose another"),
    ],
)
def test_malformed_elements_are_told_with_their_line(
    tmp_path: Path, element: str, reason: str
) -> None:
    source = graphml(
        tmp_path,
        '<key id="w" for="edge" attr.name="w" attr.type="double"/>'
        '<key id="age" for="node" attr.name="age" attr.type="int"/>'
        '<key id="in" for="node" attr.name="in" attr.type="boolean"/>'
        '<key id="key" for="node" attr.name="id" attr.type="string"/>'
        f'<graph>\n<node id="a"><data key="key">a</data></node>\n{element}\n</graph>',
        weight="w",
        key="id",
    )
    (found,) = reasons(source)
    assert found.startswith("line 5: ")
    assert reason in found
    assert list(source.nodes()) == [("a", {})]


def test_an_endless_value_is_malformed(tmp_path: Path) -> None:
    source = graphml(
        tmp_path,
        '<key id="t" for="node" attr.name="t" attr.type="string"/>'
        f'<graph><node id="a"/><node id="b"><data key="t">{"x" * 2_000_000}</data></node></graph>',
    )
    assert "more than 1,048,576 characters" in reasons(source)[0]


def test_a_second_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="line 4: a second graph begins"):
        graphml(tmp_path, '<graph><node id="a"/></graph>\n<graph/>').survey()


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE graphml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE graphml [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE graphml [<!ENTITY % x SYSTEM "http://127.0.0.1/x"> %x;]>',
    ],
)
def test_entities_are_refused(tmp_path: Path, doctype: str) -> None:
    path = tmp_path / "g.graphml"
    path.write_text(
        f'<?xml version="1.0"?>\n{doctype}<graphml><graph><node id="&x;"/></graph></graphml>'
    )
    with pytest.raises(SourceError, match="line 2: XML entities are not read"):
        open_source(str(path)).survey()


def test_a_document_type_alone_is_harmless(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    start = '<!DOCTYPE graphml SYSTEM "http://127.0.0.1:1/graphml.dtd">'
    path.write_text(f'{start}<graphml><graph><node id="a"/></graph></graphml>')
    assert open_source(str(path)).survey().nodes == 1
    path.write_text(f'{start}<graphml><graph><node id="&x;"/></graph></graphml>')
    with pytest.raises(SourceError, match="an id is empty"):
        open_source(str(path)).survey()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<graphml>\n<graph><node id="a"></graph></graphml>', "line 2, column 23: not XML: mismat"),
        ('<graphml>\n<graph><node id="a"/>', "line 2, column 22: not XML: no element found"),
        ('<graphml>\n<graph><node id="&#xD800;"/></graph></graphml>', "line 2, column 18: not XML"),
        ('<?xml version="1.0" encoding="nonsense"?><graphml/>', "unknown encoding"),
        ('<?xml version="1.0" encoding="shift_jis"?><graphml/>', "cannot be decoded"),
        ("<graphml/>", "holds no edge"),
    ],
)
def test_broken_xml_is_told_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "g.graphml"
    path.write_text(text)
    with pytest.raises(SourceError, match=expected.replace("?", r"\?")):
        open_source(str(path)).survey()


def test_xml_says_its_own_encoding(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="{}"?><graphml><graph><node id="ä"/></graph></graphml>'
    for encoding in ("utf-16", "iso-8859-1"):
        (tmp_path / "g.graphml").write_bytes(text.format(encoding).encode(encoding))
        assert list(open_source(str(tmp_path / "g.graphml")).nodes()) == [("ä", {})]


def test_a_cut_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml.gz"
    nodes = "".join(f'<node id="{i * 7919}"/>' for i in range(50_000))
    path.write_bytes(gzip.compress(f"<graphml><graph>{nodes}</graph></graphml>".encode())[:-1000])
    with pytest.raises(SourceError, match="ends too early"):
        open_source(str(path)).survey()
