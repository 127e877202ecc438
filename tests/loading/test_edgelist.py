"""Edge lists: what is read as what, and what is refused."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from graphbo.errors import SourceError
from graphbo.loading import Note, Reading, Survey, open_source
from graphbo.loading.edgelist import find_separator, split_lines
from graphbo.types import NodeKey


def write(folder: Path, text: str | bytes, name: str = "graph.csv") -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def pairs(path: str, **reading: Any) -> list[tuple[NodeKey, NodeKey]]:
    return [(a, b) for a, b, _ in open_source(path, Reading(**reading)).edges()]


def weights(path: str, **reading: Any) -> list[object]:
    name = reading["weight"]
    return [rest[name] for _, _, rest in open_source(path, Reading(**reading)).edges()]


def survey(path: str, **reading: Any) -> Survey:
    return open_source(path, Reading(**reading)).survey()


def reasons(path: str, **reading: Any) -> list[str]:
    return [str(bad) for bad in survey(path, **reading).examples]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("comma.csv", "a,b\nb,c\n"),
        ("semicolon.csv", "a;b\nb;c\n"),
        ("tab.csv", "a\tb\nb\tc\n"),
        ("space.csv", "a b\nb c\n"),
        ("tab.tsv", "a\tb\nb\tc\n"),
        ("space.txt", "a b\nb c\n"),
        ("spaces.txt", "  a \t b  \n\tb    c\t\n"),
        ("tab.edges", "a\tb\nb\tc\n"),
        ("comma.txt", "a, b\nb, c"),
        ("crlf.csv", "a,b\r\nb,c\r\n"),
        ("cr.csv", "a,b\rb,c\r"),
        ("blank lines.csv", "\n\na,b\n  \n\t\nb,c\n\n"),
        ("byte order mark.csv", "\ufeffa,b\nb,c\n"),
        ("quotes.csv", '"a","b"\n"b","c"\n'),
        ("snap.txt", "# Nodes: 3 Edges: 2\n# From\tTo\na\tb\nb\tc\n"),
        ("konect", "% sym unweighted\na b\nb c\n"),
        ("spaces around quotes.csv", ' "a" , "b" \nb, "c"'),
        ("trailing separators.csv", "a,b,\nb,c\n"),
    ],
)
def test_every_dialect_gives_the_same_edges(tmp_path: Path, name: str, text: str) -> None:
    assert pairs(write(tmp_path, text, name)) == [("a", "b"), ("b", "c")]


@pytest.mark.parametrize(
    ("name", "text", "separator"),
    [
        ("g.csv", "New York,Los Angeles\nSan Diego,El Paso\ntwo words\n", ","),
        ("g.csv", "a,b\n" + "alone\n" * 12, ","),
        ("g.csv", "1,5;2\n3;4\n", ";"),
        ("g.txt", "New York\tLos Angeles\nSan Diego\tEl Paso\ntwo words\n", "\t"),
        ("g.txt", "a b\nc d\ne,e f\n", ""),
        ("g.tsv", "a b\tc, d\n", "\t"),
        ("g.tsv", "a b\n", ""),
        ("g.csv", "a\n", ","),
    ],
)
def test_the_separator_is_found(name: str, text: str, separator: str) -> None:
    assert find_separator(text.splitlines(), Path(name).suffix) == separator


@pytest.mark.parametrize("name", ["graph.csv.gz", "graph.CSV.GZ", "graph.csv"])
def test_gzip_is_recognised_by_its_content(tmp_path: Path, name: str) -> None:
    assert pairs(write(tmp_path, gzip.compress(b"1,2\n2,3\n"), name)) == [(1, 2), (2, 3)]


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("1", 1),
        ("-7", -7),
        ("0", 0),
        (str(2**63 - 1), 2**63 - 1),
        (str(-(2**63)), -(2**63)),
        (str(2**63), str(2**63)),
        ("007", "007"),
        ("+7", "+7"),
        ("-0", "-0"),
        ("1_0", "1_0"),
        ("1.0", "1.0"),
        ("٣", "٣"),
        ("9" * 5000, None),
    ],
)
def test_ids_are_integers_only_if_they_print_the_same(
    tmp_path: Path, first: str, expected: NodeKey | None
) -> None:
    path = write(tmp_path, f"{first},2\n3,4\n")
    if expected is None:
        assert "characters" in reasons(path)[0]
    else:
        other: NodeKey = 2 if isinstance(expected, int) else "2"
        assert pairs(path)[0] == (expected, other)


def test_one_text_anywhere_makes_all_ids_texts(tmp_path: Path) -> None:
    path = write(tmp_path, "".join(f"{i},{i + 1}\n" for i in range(1000)) + "1000,x\n")
    assert pairs(path)[0] == ("0", "1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("source,target\na,b\n", [("a", "b")]),
        ("Source,Target,Type,Id\na,b,Undirected,1\n", [("a", "b")]),
        ("from\tto\na\tb\n", [("a", "b")]),
        ("weight,target,source\n1,b,a\n", [("a", "b")]),
        ("anything,goes\n1,2\n2,3\n", [(1, 2), (2, 3)]),
        ("u v\nu w\n", [("u", "v"), ("u", "w")]),
        ("a,b\nb,c\n", [("a", "b"), ("b", "c")]),
        ("1,2\na,b\n", [("1", "2"), ("a", "b")]),
        ("x,1\n2,3\n", [("x", "1"), ("2", "3")]),
        ("a,b\n", [("a", "b")]),
    ],
)
def test_a_header_is_found(
    tmp_path: Path, text: str, expected: list[tuple[NodeKey, NodeKey]]
) -> None:
    assert pairs(write(tmp_path, text)) == expected


def test_a_found_header_is_mentioned(tmp_path: Path) -> None:
    path = write(tmp_path, "source,target\na,b\n")
    assert survey(path).notes == (Note.HEADER,)
    assert survey(path, header=True).notes == ()


def test_the_header_can_be_told(tmp_path: Path) -> None:
    path = write(tmp_path, "source,target\na,b\n")
    assert pairs(path, header=False) == [("source", "target"), ("a", "b")]
    path = write(tmp_path, "anna,ben\na,b\n")
    assert pairs(path, header=True) == [("a", "b")]


@pytest.mark.parametrize(
    "text",
    [
        "a,b,2\nb,c,0.5\n",
        "source,target,w\na,b,2\nb,c,.5\n",
        "source,target,when,w\na,b,9,2\nb,c,9,5e-1\n",
        "w,source,target\n2,a,b\n0.5,b,c\n",
        "source,target,W\na,b,2\nb,c,0.5\n",
        "some,thing,w\na,b,+2\nb,c,0.5\n",
    ],
)
def test_weights_are_found_by_name_or_in_the_third_column(tmp_path: Path, text: str) -> None:
    assert weights(write(tmp_path, text), weight="w") == [2.0, 0.5]


def test_a_header_without_the_weight_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "source,target,when\na,b,1999\n")
    with pytest.raises(SourceError, match=r"no column 'w'.*'source', 'target', 'when'"):
        survey(path, weight="w")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "missing"),
        ("x", "'x' is not a number"),
        ("-1", "'-1' is negative"),
        ("nan", "'nan' is not finite"),
        ("inf", "'inf' is not finite"),
        ("1e999", "not finite"),
        ("1_000", "not a number"),
        ("1,5", "4 fields where 3 are expected"),
    ],
)
def test_a_bad_weight_makes_the_line_malformed(tmp_path: Path, text: str, reason: str) -> None:
    path = write(tmp_path, f"a,b,1\nb,c,{text}\nc,d,1\n")
    (found,) = reasons(path, weight="w")
    assert found.startswith("line 2: ")
    assert reason in found
    assert weights(path, weight="w") == [1.0, 1.0]


def test_a_weight_of_minus_zero_is_zero(tmp_path: Path) -> None:
    assert str(weights(write(tmp_path, "a,b,-0.0\n"), weight="w")) == "[0.0]"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"alone", "1 field where an edge needs two ends: 'alone'"),
        (b"a,", "an id is empty"),
        (b",b", "an id is empty"),
        (b'"",b', "an id is empty"),
        (b"a,b,c,d", "4 fields where 2 are expected"),
        (b"a\0,b", "NUL"),
        (b"\xff\xfe,b", "not UTF-8"),
        (b"\xed\xa0\x80,b", "not UTF-8"),  # half a surrogate pair
        (b'"a"b,c', "'b,c' follows a closing quote"),
        (b'"a,b', "a quote is not closed"),
        (b"a" * 2_001 + b",b", "2,001 characters"),
        (b"a" * (1 << 20) + b"," + b"b" * (1 << 20), "longer than 1,048,576 bytes"),
    ],
)
def test_a_malformed_line_is_told_with_its_number(tmp_path: Path, line: bytes, reason: str) -> None:
    path = write(tmp_path, b"# comment\n1,2\n" + line + b"\n3,4\n")
    (found,) = reasons(path)
    assert found.startswith("line 3: ")
    assert reason in found
    assert pairs(path) == [(1, 2), (3, 4)]


def test_all_malformed_lines_are_counted_and_five_are_kept(tmp_path: Path) -> None:
    found = survey(write(tmp_path, "a,b\n" + "alone\n" * 12 + "b,c\n"))
    assert (found.edges, found.bad, found.unit) == (2, 12, "line")
    assert [bad.where for bad in found.examples] == [f"line {n}" for n in range(2, 7)]


def test_a_title_does_not_decide_how_many_fields_there_are(tmp_path: Path) -> None:
    path = write(tmp_path, "friends\na,b\nb,c\n")
    assert reasons(path) == ["line 1: 1 field where an edge needs two ends: 'friends'"]


def test_an_adjacency_list_is_not_taken_for_an_edge_list(tmp_path: Path) -> None:
    found = survey(write(tmp_path, "1 2\n2 3 4 5 6\n3 4\n4 1 3 5\n5 1\n", "list.txt"))
    assert found.bad == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a,1",b\n', ("a,1", "b")),
        ('"say ""hi""",b\n', ('say "hi"', "b")),
        ('5" pipe,b\n', ('5" pipe', "b")),
        ('" a ",b\n', (" a ", "b")),
        ('"two\nlines",b\n', ("two\nlines", "b")),
        ('"two\r\nlines",b\r\n', ("two\r\nlines", "b")),
        ('"# not a comment",b\n', ("# not a comment", "b")),
        ('a,"x\n# inside\ny"\n', ("a", "x\n# inside\ny")),
    ],
)
def test_quotes(tmp_path: Path, text: str, expected: tuple[str, str]) -> None:
    assert pairs(write(tmp_path, text + "c,d\n")) == [expected, ("c", "d")]


def test_quotes_in_a_list_with_spaces(tmp_path: Path) -> None:
    path = write(tmp_path, '"New York"\t  "São Paulo"\nx "y z"\n', "cities.txt")
    assert pairs(path) == [("New York", "São Paulo"), ("x", "y z")]


def test_a_stray_quote_costs_one_line_only(tmp_path: Path) -> None:
    rest = "".join(f"{i},{i + 1}\n" for i in range(20_000))
    path = write(tmp_path, 'a,"b\n' + rest)
    assert reasons(path) == ["line 1: a quote is not closed"]
    assert len(pairs(path)) == 20_000


def test_line_numbers_count_the_lines_inside_quotes(tmp_path: Path) -> None:
    assert reasons(write(tmp_path, 'a,"b\n\n\nc"\nalone\n'))[0].startswith("line 5: ")


def test_comments_are_counted_anywhere(tmp_path: Path) -> None:
    found = survey(write(tmp_path, "# one\na,b\n% two\n  # three\nb,c\n"))
    assert (found.comments, found.edges) == (3, 2)


def test_columns_that_are_not_read_are_mentioned(tmp_path: Path) -> None:
    assert survey(write(tmp_path, "a,b,3\n")).notes == (Note.ENDS_ONLY,)


def test_nothing_but_comments_is_no_graph(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no edge"):
        survey(write(tmp_path, "# Nodes: 0\n"))


def test_nothing_but_malformed_lines_is_no_graph(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"none of its 3 lines is an edge \(line 1: an id"):
        survey(write(tmp_path, "Dear Sir,\nplease find enclosed\nthe graph\n"))


def test_lines_are_cut_right_wherever_the_chunks_end(tmp_path: Path) -> None:
    data = "ä,b\r\nc,d\r\r\ne,f\n\nlast".encode()
    whole = list(split_lines([data]))
    for size in range(1, len(data)):
        chunks = [data[at : at + size] for at in range(0, len(data), size)]
        assert list(split_lines(chunks)) == whole
    assert [number for number, _, _ in whole] == list(range(1, 7))
