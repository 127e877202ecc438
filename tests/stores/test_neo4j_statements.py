"""Names in statements: quoted, or refused."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphbo.errors import GraphboError, InvalidName, InvalidView
from graphbo.stores.neo4j.statements import quote, statement, statement_names
from graphbo.types import View
from graphbo.types.notation import read_condition
from tests.backends import Neo4jBackend


def test_backticks_are_doubled() -> None:
    assert quote("a`b``c") == "`a``b````c`"


@pytest.mark.parametrize("name", ["", "a\0b", "\\", r"\u0060", r"\uu0060", "x" * 20_000, "\ud800"])
def test_what_cannot_be_quoted_is_refused(name: str) -> None:
    with pytest.raises(InvalidName):
        quote(name, "label")


def test_a_refusal_is_one_short_line() -> None:
    with pytest.raises(InvalidName) as caught:
        quote("\\" + "y" * 10_000 + "\n", "label")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.neo4j
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=st.text(min_size=1, max_size=40))
def test_neo4j_reads_back_every_name_that_is_accepted(
    neo4j_session: Neo4jBackend, name: str
) -> None:
    try:
        quoted = quote(name)
    except InvalidName:
        return
    with neo4j_session.session() as session:
        result = session.run(f"RETURN 1 AS {quoted}")
        assert list(result.keys()) == [name]
        result.consume()


def test_an_unlocal_copyment_is_an_error_that_lists_them() -> None:
    with pytest.raises(GraphboError, match="ego_networks"):
        statement("nonsense")


def test_a_statement_for_browser_has_a_value_for_each_parameter() -> None:
    view = View(("Station",), ("LINK",), key="id")
    for name in statement_names():
        text = statement(name).for_browser(view, {"keys": ["a'b", 3], "limit": 5})
        for parameter in statement(name).parameters:
            assert f":param {parameter} => " in text
        assert text.endswith(";")
        assert "{{" not in text


def test_all_parameters_are_sent_in_one_and_names_are_left_alone() -> None:
    view = View(("N`$keys",), ("R",), key="it's $keys", where=read_condition("x > 1"))
    text, parameters = statement("candidates").call({"keys": [1]}, view)
    assert text == (
        "UNWIND $given.keys AS key\n"
        "MATCH (n:`N``$keys`) WHERE n.`it's $keys` = key AND (n.`x` > $given.values[0])\n"
        "RETURN id(n) AS id, n.`it's $keys` AS key"
    )
    assert parameters == {"given": {"keys": [1], "values": [1]}}


def test_what_is_about_the_schema_takes_parameters_as_they_are() -> None:
    parameters = {"labels": ["N"]}
    constraints = statement("constraints")
    assert constraints.call(parameters) == (constraints.text(), parameters)
    assert statement("ping").call({}) == (statement("ping").text(), {})


def test_a_statement_that_needs_a_view_says_so() -> None:
    with pytest.raises(InvalidView, match="needs a view"):
        statement("count_nodes").text(None)
