"""Reading filters, label expressions and paths, and where it says that it cannot."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbo.errors import GraphboError, InvalidView
from graphbo.types.conditions import (
    And,
    Comparison,
    Condition,
    HasLabel,
    IsIn,
    IsNull,
    Not,
    Or,
    label_expression,
    required_labels,
    values_in,
)
from graphbo.types.notation import read_condition, read_labels, read_path
from graphbo.types.paths import Path, Step
from tests.types.strategies import CONDITIONS, LABEL_CONDITIONS, NAMES, paths


class TestConditions:
    @given(CONDITIONS)
    def test_are_read_as_they_are_written(self, condition: Condition) -> None:
        read = read_condition(str(condition))
        assert str(read) == str(condition)
        assert list(values_in(read)) == list(values_in(condition))

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("a = 1", Comparison("a", "=", 1)),
            ("a=1.0", Comparison("a", "=", 1.0)),
            ("a <> -3e2", Comparison("a", "<>", -300.0)),
            ("`my key` >= 'it\\'s'", Comparison("my key", ">=", "it's")),
            ('a starts with "E\\u00dc"', Comparison("a", "STARTS WITH", "EÜ")),
            ("a in [1, true, 'x']", IsIn("a", (1, True, "x"))),
            ("a IN []", IsIn("a", ())),
            ("a is not null", Not(IsNull("a"))),
            ("NOT NOT a IS NULL", IsNull("a")),
            (":A&!B", And((HasLabel("A"), Not(HasLabel("B"))))),
            (":A:B", And((HasLabel("A"), HasLabel("B")))),
            (
                "a = 1 OR b = 2 AND c = 3",
                Or(
                    (
                        Comparison("a", "=", 1),
                        And((Comparison("b", "=", 2), Comparison("c", "=", 3))),
                    )
                ),
            ),
            (
                "(a = 1 OR b = 2) AND NOT c = 3",
                And(
                    (
                        Or((Comparison("a", "=", 1), Comparison("b", "=", 2))),
                        Not(Comparison("c", "=", 3)),
                    )
                ),
            ),
        ],
    )
    def test_mean_what_they_mean_in_cypher(self, text: str, expected: Condition) -> None:
        read = read_condition(text)
        assert read == expected
        # 1, 1.0 and true are equal in Python.
        assert [type(one) for one in values_in(read)] == [type(one) for one in values_in(expected)]

    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ("", "at its end: expected a property"),
            ("altitude", "at its end: expected =, <>"),
            ("altitude >", "at its end: expected a value"),
            ("altitude > high", "at character 12, 'high': expected a value"),
            ("altitude == 3", "at character 11, '= 3': expected a value"),
            ("a = 1 b = 2", "at character 7, 'b = 2': expected AND, OR or the end"),
            ("a = 1 AND", "at its end: expected a property"),
            ("(a = 1", r"at its end: expected '\)'"),
            ("a = 1)", r"at character 6, '\)'"),
            ("a IS 3", "at character 6, '3': expected NULL or NOT NULL"),
            ("a = null", "at character 5, 'null': .*IS NULL"),
            ("a IN 3", "at character 6, '3': expected a list"),
            ("a IN [1", "at its end: expected ',' or ']'"),
            ('a = "x', "at character 5"),
            ("a STARTS WITH 3", "a text"),
            ("n.a = 1", "at character 3, 'a = 1': expected a property alone"),
            pytest.param(
                "a = " + "9" * 5000, "a number that a database can hold", id="thousands of digits"
            ),
            ("a = 9223372036854775808", "at character 5, .*a number that a database can hold"),
            ("a = 1e999", "at character 5"),
            ("and = 1", "at character 1, 'and = 1': expected a property"),
            ("a = 1; DROP TABLE node", "at character 6, '; DROP"),
            ("a = $x", r"at character 5, '\$x'"),
            ("a = exists((n)--())", "at character 5"),
            ("(" * 60 + "a = 1" + ")" * 60, "at most 40 parentheses"),
            ("serial no = 5", "at character 8, 'no = 5': .* put all of it in backticks"),
            ("serial-no = 5", "at character 7, '-no = 5': .* put all of it in backticks"),
            ("höhe über 5", "'höhe über 5' cannot be read at character 6"),
            ("a = 1 AND " * 1200, "characters: at most 10,000"),
        ],
    )
    def test_that_cannot_be_read_are_refused_with_the_place(self, text: str, place: str) -> None:
        with pytest.raises(InvalidView, match=place) as caught:
            read_condition(text, "the filter")
        assert str(caught.value).startswith("the filter ")
        assert "\n" not in str(caught.value)

    @given(st.text(max_size=40))
    def test_any_text_is_read_or_refused(self, text: str) -> None:
        for read in (read_condition, read_path, lambda it: read_labels([it])):
            with suppress(GraphboError):
                read(text)


class TestLabels:
    def test_that_are_plain_stay_as_they_are(self) -> None:
        assert read_labels(["Person", "a label; of any kind"]) == (
            ("Person", "a label; of any kind"),
            None,
        )

    @given(LABEL_CONDITIONS)
    def test_expressions_are_read_as_they_are_written(self, condition: Condition) -> None:
        text = label_expression(condition)
        if not required_labels(condition):
            with pytest.raises(InvalidView):
                read_path(f"(:{text})-[:R]->(:{text})")
            return
        path = read_path(f"(:{text})-[:R]->(:A)")
        assert label_expression(path.nodes[0]) == text  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("texts", "labels", "condition"),
        [
            (["A&B"], ("A",), And((HasLabel("A"), HasLabel("B")))),
            (["A&!B"], ("A",), And((HasLabel("A"), Not(HasLabel("B"))))),
            (["A|B"], ("A", "B"), None),
            (["A|B", "C"], ("A", "B", "C"), None),
            (["`a b`"], ("a b",), None),
            (
                ["A", "B&C"],
                ("A", "B"),
                Or((HasLabel("A"), And((HasLabel("B"), HasLabel("C"))))),
            ),
        ],
    )
    def test_every_node_has_one_of_the_labels_found(
        self, texts: list[str], labels: tuple[str, ...], condition: Condition | None
    ) -> None:
        assert read_labels(texts) == (labels, condition)

    @pytest.mark.parametrize("text", ["!Retired", "!A&!B", "A|!B"])
    def test_one_positive_label_is_required(self, text: str) -> None:
        with pytest.raises(InvalidView, match="name one that it has"):
            read_labels([text])

    @pytest.mark.parametrize("text", ["A&", "A&&B", "(A", "A)", "A|", "`A"])
    def test_that_cannot_be_read_are_refused(self, text: str) -> None:
        with pytest.raises(InvalidView, match=r"the label .* cannot be read at"):
            read_labels([text])


class TestPaths:
    @given(paths())
    def test_are_read_as_they_are_written(self, path: Path) -> None:
        read = read_path(str(path))
        assert str(read) == str(path)
        assert read.turned.turned == read

    @given(paths())
    def test_turned_are_read_as_they_are_written(self, path: Path) -> None:
        assert str(read_path(str(path.turned))) == str(path.turned)

    def test_of_cypher_are_paths(self) -> None:
        person = HasLabel("Person")
        text = "(a:Person)-[v:VISITS WHERE v.hours > 1]->(:Place)<-[:VISITS|:KNOWS]-(:Person)"
        path = read_path(text)
        assert path == Path(
            (person, HasLabel("Place"), person),
            (
                Step(("VISITS",), "out", Comparison("hours", ">", 1)),
                Step(("VISITS", "KNOWS"), "in"),
            ),
        )
        assert path.labels == ("Person",)
        both = read_path("(:A)-[:R]-()<-[:S]->(:B)")
        assert [step.direction for step in both.steps] == ["both", "both"]
        assert both.nodes[1] is None

    @given(NAMES, NAMES)
    def test_names_are_names_whatever_is_in_them(self, label: str, kind: str) -> None:
        path = Path((HasLabel(label), HasLabel(label)), (Step((kind,)),))
        assert read_path(str(path)) == path

    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ("", "at its end: expected '\\('|at its end: expected a node"),
            ("(:A)", "at its end: expected a relationship"),
            ("(:A)-[:R]->", "at its end: expected a node"),
            ("(:A)-->(:B)", "at character 6"),
            ("(:A)-[r]->(:B)", "at character 8"),
            ("(:A)-[:R*2]->(:B)", r"at character 9, '\*2.*fixed length"),
            ("(:A)-[:R*]->(:B)", "fixed length"),
            ("(:A)-[:R {w: 1}]->(:B)", "at character 10"),
            ("(:A {x: 1})-[:R]->(:B)", "at character 5"),
            ("(A)-[:R]->(:B)", "end without a label"),
            ("(:!A)-[:R]->(:B)", "end without a label"),
            ("(:A)-[:R]->(:B) RETURN 1", "at character 17, 'RETURN 1'"),
            ("(:A)-[:R]->(:B)//", "at character 16"),
            ("(:A)" + "-[:R]->(:A)" * 7, "7 relationships: expected 1 to 6"),
            ("(:A)-[:`R]->(:B)", "at character 8"),
        ],
    )
    def test_that_cannot_be_read_are_refused_with_the_place(self, text: str, place: str) -> None:
        with pytest.raises(InvalidView, match=place) as caught:
            read_path(text)
        assert "\n" not in str(caught.value)
