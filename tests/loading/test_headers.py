"""The first line of a table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbo.errors import SourceError
from graphbo.loading.headers import Column, Role, read_header


@pytest.mark.parametrize(
    ("cell", "column"),
    [
        ("name", Column(Role.PROPERTY, "name")),
        ("id:ID", Column(Role.ID, "id")),
        (":ID", Column(Role.ID)),
        ("personId:ID(Person)", Column(Role.ID, "personId", group="Person")),
        (
            "id:ID(P q){id-type:string, label:X}",
            Column(Role.ID, "id", group="P q", options=(("id-type", "string"), ("label", "X"))),
        ),
        (":START_ID(Person)", Column(Role.START, group="Person")),
        ("who:end_id", Column(Role.END)),
        (":LABEL", Column(Role.LABEL)),
        (":TYPE", Column(Role.TYPE)),
        ("junk:IGNORE", Column(Role.IGNORE)),
        (":IGNORE", Column(Role.IGNORE)),
        ("age:int", Column(Role.PROPERTY, "age", "int")),
        ("embedding:float[]", Column(Role.PROPERTY, "embedding", "float", array=True)),
        ("dc:title:string", Column(Role.PROPERTY, "dc:title")),
        ("at:datetime{timezone:Europe/Rome}", Column(Role.PROPERTY, "at", "datetime")),
    ],
)
def test_a_column(cell: str, column: Column) -> None:
    (found,) = read_header([cell]).columns
    if found.type == "datetime":
        assert found.as_text
        return
    assert found == column


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (["a", ""], "column 2, '', has no name"),
        ([":int"], "the property name is empty"),
        (["a:integer"], "unknown type: expected one of byte"),
        (["a:int(G)"], "only ids have a group"),
        ([":ID[]"], "cannot be a list"),
        (["a:int]"], "is not NAME:TYPE"),
        (["id:ID{id-type}"], "'id-type' is not OPTION:VALUE"),
        (["a:ID", "b:ID"], "several columns :ID"),
        ([":TYPE", ":TYPE"], "several columns :TYPE"),
        (["a:ID", "a:int"], "2 columns are called 'a'"),
        (["a\\b"], "column 1: the property name"),
    ],
)
def test_what_is_no_column(cells: list[str], why: str) -> None:
    with pytest.raises(SourceError) as caught:
        read_header(cells)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "text", "value"),
    [
        ("x:int", "-7", -7),
        ("x:byte", "127", 127),
        ("x:long", str(2**63 - 1), 2**63 - 1),
        ("x:double", "1e3", 1000.0),
        ("x:float", "2", 2.0),
        ("x:boolean", "TRUE", True),
        ("x:char", "é", "é"),
        ("x", "007", "007"),
        ("x:date", "1990-01-02", "1990-01-02"),
        ("x:float[]", "0.5;1", [0.5, 1.0]),
        ("x:int[]", "5", [5]),
        ("x:string[]", "a;;b", ["a", "", "b"]),
    ],
)
def test_a_value(cell: str, text: str, value: object) -> None:
    (column,) = read_header([cell]).columns
    found = column.read(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("cell", "text", "why"),
    [
        ("x:int", "1.5", "x: '1.5' is not an integer"),
        ("x:int", "1_000", "is not an integer"),
        ("x:int", str(2**31), "does not fit into 32 bits"),
        ("x:byte", "128", "does not fit into 8 bits"),
        ("x:float", "nan", "is not finite"),
        ("x:float", "1_0", "is not a number"),
        ("x:boolean", "yes", "is neither true nor false"),
        ("x:char", "ab", "is not one character"),
        ("x:float[]", "1;;2", "'' is not a number"),
    ],
)
def test_what_is_no_value(cell: str, text: str, why: str) -> None:
    (column,) = read_header([cell]).columns
    with pytest.raises(ValueError, match=r"^x: ") as caught:
        column.read(text)
    assert why in str(caught.value)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_any_line_is_a_header_or_refused(cells: list[str]) -> None:
    try:
        header = read_header(cells)
    except SourceError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert len(header.columns) == len(cells)


PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="\\\0:(){}[]"), min_size=1)


@given(PLAIN, st.sampled_from(["int", "float", "string", "boolean"]), st.booleans())
def test_what_is_written_is_read(name: str, kind: str, array: bool) -> None:
    (column,) = read_header([f"{name}:{kind}{'[]' * array}"]).columns
    assert column == Column(Role.PROPERTY, name, kind, array)
