"""What every store understands by a filter: what Cypher does."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from graphbo.errors import InvalidView
from graphbo.stores import GraphStore, open_store, ready_view
from graphbo.stores.neo4j.statements import quote
from graphbo.stores.sqlite.predicates import Predicates, index_on
from graphbo.types import NodeKey, Property, View
from graphbo.types.conditions import And, Comparison, Condition, HasLabel, IsIn, IsNull, Not, Or
from graphbo.types.notation import read_condition
from tests.backends import Backend, Neo4jBackend, on_every_version, on_sqlite
from tests.stores.property_graphs import holds

VIEW = View(("N",), ("R",), key="id")

#: Names that are spelled in different ways, in JSON and in statements.
HOSTILE = [
    "p",
    "it's",
    'a "b"',
    "$.p[0]",
    "x`y",
    "🚉 \t\n",
    "a.b",
    "%",
    "",
    "'; DROP TABLE node; --",
]
NAMES = [name for name in HOSTILE if name]

VALUES: list[Property] = [
    True,
    False,
    0,
    1,
    -1,
    2,
    1.0,
    0.5,
    1e300,
    2**53,
    2**53 + 1,
    float(2**53),
    2**63 - 1,
    -(2**63),
    "",
    "1",
    "true",
    "null",
    "EU",
    "eu",
    "EUROPE",
    "Eu",
    "É",
    "🚉",
    "\ue000",
    "a_b",
    "a%",
    'say "x"',
    "[1]",
    [1],
    [1, 2],
    ["EU"],
    [True],
    [0.5],
    [],
]


def write(store: GraphStore, name: str) -> dict[int, dict[str, Property]]:
    """A node for each value, and one without."""
    rows: dict[int, dict[str, Property]] = {i: {name: value} for i, value in enumerate(VALUES)}
    rows[len(VALUES)] = {}
    store.create_key(VIEW)
    store.write_nodes(VIEW, [(i, dict(rest)) for i, rest in rows.items() if i % 2])
    store.write_nodes(VIEW, [(i, dict(rest)) for i, rest in rows.items() if not i % 2], ["Even"])
    return rows


def kept(store: GraphStore, condition: Condition) -> set[object]:
    """The nodes of which it is true."""
    view = replace(VIEW, where=condition)
    found: set[object] = set(store.random_keys(view, 999, [0]))
    assert store.count_nodes(view) == len(found)
    return found


CASES = [
    'p = "EU"', 'p <> "EU"', "p = 1", "p = 1.0", "p <> 1", "p = true", "p <> true", "p < true", "p <= true",
    "p > 0", "p >= 9007199254740993", "p = 9007199254740993", "p < 1e300", 'p < "a"', 'p > "É"', 'p >= ""',
    'p STARTS WITH "EU"', 'p STARTS WITH ""', 'p STARTS WITH "a_"', 'p STARTS WITH "%"', 'NOT p STARTS WITH "E"',
    "p IN [1, true]", 'p IN ["EU", 2, 0.5]', "p IN []", "NOT p IN []", "NOT p IN [1]", "p IS NULL",
    "p IS NOT NULL", "NOT p = 1", "NOT (p < 1 OR p > 1)", "p = 1 OR p IS NULL", "p > 0 AND NOT p = 2",
    ":Even", "NOT :Even AND p > 0", ":Even|N", ":Nobody OR p = 1", "missing = 1", "missing <> 1", "missing IS NULL",
    'p = "1" OR p = "null"', 'NOT (p = 1 AND missing = 1)', 'NOT (p = 1 OR missing = 1)',
]  # fmt: skip


class TestConditions:
    @on_every_version
    def test_are_what_they_are_in_cypher(self, store: GraphStore) -> None:
        rows = write(store, "p")
        for text in CASES:
            condition = read_condition(text)
            expected = {
                i
                for i, properties in rows.items()
                if holds(condition, properties, ["N"] if i % 2 else ["N", "Even"])
            }
            assert kept(store, condition) == expected, text

    @pytest.mark.parametrize("name", NAMES)
    def test_know_properties_of_any_name(self, store: GraphStore, name: str) -> None:
        rows = write(store, name)
        for condition in (Comparison(name, "<", 1), IsNull(name), IsIn(name, ("EU", 2))):
            assert kept(store, condition) == {i for i, one in rows.items() if holds(condition, one)}

    def test_may_have_a_thousand_parts(self, store: GraphStore) -> None:
        rows = write(store, "p")
        many = Or(tuple(Comparison("p", "=", 7_000 + i) for i in range(1200)))
        view = replace(VIEW, where=Or((many, Comparison("p", "=", 2))))
        assert store.count_nodes(view) == sum(
            holds(Comparison("p", "=", 2), one) is True for one in rows.values()
        )


VALUE = st.one_of(
    st.sampled_from([one for one in VALUES if not isinstance(one, list)]),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    # To Neo4j, -0.0 is equal to 0 and less than it; that is left to itself.
    st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3),
)
TEXT = st.one_of(
    st.sampled_from([one for one in VALUES if isinstance(one, str)]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=2),
)
PROPERTY = st.sampled_from(["p", "missing"])
ATOM = st.one_of(
    st.builds(HasLabel, st.sampled_from(["N", "Even", "Nobody"])),
    st.builds(Comparison, PROPERTY, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), VALUE),
    st.builds(Comparison, PROPERTY, st.just("STARTS WITH"), TEXT),
    st.builds(IsIn, PROPERTY, st.lists(VALUE, max_size=4).map(tuple)),
    st.builds(IsNull, PROPERTY),
)
CONDITION = st.recursive(
    ATOM,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
    ),
    max_leaves=6,
)


def cypher(condition: Condition, values: dict[str, object]) -> str:
    """The condition on ``n`` in Cypher's own words."""
    if isinstance(condition, HasLabel):
        return f"n:{quote(condition.name)}"
    if isinstance(condition, Not):
        return f"NOT ({cypher(condition.part, values)})"
    if isinstance(condition, (And, Or)):
        word = " AND " if isinstance(condition, And) else " OR "
        return "(" + word.join(cypher(part, values) for part in condition.parts) + ")"
    one = f"n.{quote(condition.property)}"
    if isinstance(condition, IsNull):
        return f"{one} IS NULL"
    name = f"v{len(values)}"
    values[name] = list(condition.values) if isinstance(condition, IsIn) else condition.value
    return f"{one} {condition.operator if isinstance(condition, Comparison) else 'IN'} ${name}"


@pytest.fixture(scope="module")
def values_in_sqlite() -> Iterator[GraphStore]:
    with open_store("sqlite::memory:") as store:
        write(store, "p")
        yield store


@given(CONDITION)
def test_sqlite_answers_what_is_expected(
    values_in_sqlite: GraphStore, condition: Condition
) -> None:
    for one in (condition, Not(condition)):
        expected = {
            i
            for i in range(len(VALUES) + 1)
            if holds(
                one,
                {"p": VALUES[i]} if i < len(VALUES) else {},
                ["N"] if i % 2 else ["N", "Even"],
            )
        }
        assert kept(values_in_sqlite, one) == expected


def ordered_texts(condition: Condition) -> Iterator[str]:
    """The texts that something is to be larger or smaller than."""
    if isinstance(condition, Not):
        yield from ordered_texts(condition.part)
    elif isinstance(condition, (And, Or)):
        for part in condition.parts:
            yield from ordered_texts(part)
    elif isinstance(condition, Comparison) and condition.operator not in ("=", "<>", "STARTS WITH"):
        yield from [condition.value] if isinstance(condition.value, str) else []


def is_ordered_alike(condition: Condition) -> bool:
    """Not where pairs of UTF-16 begin: Neo4j compares by those, though ORDER BY goes by code points, as SQLite does."""
    return all(letter < "\ud800" for text in ordered_texts(condition) for letter in text)


@pytest.mark.neo4j
def test_sqlite_answers_what_a_server_answers(
    values_in_sqlite: GraphStore, neo4j_backend: Neo4jBackend
) -> None:
    with neo4j_backend.open() as store:
        store.create_key(VIEW)
        store.write_nodes(VIEW, [(len(VALUES), {})])
        store.write_nodes(VIEW, [(i, {"p": value}) for i, value in enumerate(VALUES)])
    neo4j_backend.run("MATCH (n:N) WHERE n.id % 2 = 0 SET n:Even")

    # A statement is planned anew each time, so each asks for many conditions, of every node.
    @settings(max_examples=10, phases=(Phase.explicit, Phase.generate))
    @given(st.lists(CONDITION.filter(is_ordered_alike), min_size=30, max_size=30))
    def compare(conditions: list[Condition]) -> None:
        values: dict[str, object] = {}
        truths = ", ".join(cypher(one, values) for one in conditions)
        rows = neo4j_backend.run(f"MATCH (n:N) RETURN n.id AS id, [{truths}] AS truths", **values)
        for number, condition in enumerate(conditions):
            said = {row["id"]: row["truths"][number] for row in rows}
            yes, no = kept(values_in_sqlite, condition), kept(values_in_sqlite, Not(condition))
            assert yes == {key for key, truth in said.items() if truth is True}, condition
            assert no == {key for key, truth in said.items() if truth is False}, condition

    compare()


@contextmanager
def indexes(backend: Backend, lines: Iterable[str]) -> Iterator[None]:
    """The indexes that these statements make, for a while."""
    if not isinstance(backend, Neo4jBackend):
        with closing(sqlite3.connect(backend.uri.removeprefix("sqlite:"))) as file:
            for line in lines:
                file.execute(line)
            yield
        return
    before = {row["name"] for row in backend.run("SHOW INDEXES YIELD name")}
    for line in lines:
        backend.run(line)
    backend.run("CALL db.awaitIndexes()")
    yield
    for row in backend.run("SHOW INDEXES YIELD name"):
        if row["name"] not in before:
            backend.run(f"DROP INDEX {quote(row['name'])}")


class TestRareCandidates:
    @pytest.fixture
    def large(self, backend: Backend) -> Backend:
        """12,000 nodes with a rank."""
        with backend.open() as store:
            store.create_key(VIEW)
            rows: list[tuple[NodeKey, dict[str, Property]]] = [
                (i, {"rank": i, "it's": i % 1000, "class": "rare" if i < 12 else "usual"})
                for i in range(12_000)
            ]
            store.write_nodes(VIEW, rows)
            store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(40)])
        return backend

    def test_are_refused_with_the_index_that_helps(self, large: Backend) -> None:
        texts = ("rank < 12 AND NOT rank = 3", "class STARTS WITH 'ra'", "rank IN [1, 5, 11]")
        views = [replace(VIEW, candidates_where=read_condition(text)) for text in texts]
        lines: dict[str, None] = {}
        with large.open() as store:
            for view in views:
                assert not store.finds_by_index(view)
                with pytest.raises(InvalidView) as caught:
                    ready_view(store, view)
                message = str(caught.value)
                assert "fewer than one node in 100 of 12,000 :N nodes" in message
                lines[message[message.index("CREATE INDEX") :]] = None
            with pytest.raises(InvalidView, match="CREATE INDEX"):
                store.random_keys(views[0], 5, [0])
        with indexes(large, lines), large.open() as store:
            for view in views:
                assert store.finds_by_index(view)
                assert ready_view(store, view) == view
                found = set(store.random_keys(view, 99, [0]))
                assert len(found) == store.count_nodes(view) < 13
                assert set(store.random_keys(view, 2, [0])) < found

    def test_that_are_one_in_a_hundred_are_drawn(self, large: Backend) -> None:
        view = replace(VIEW, where=read_condition("`it's` < 12"))
        with large.open() as store:
            assert ready_view(store, view) == view
            found = store.random_keys(view, 50, [1])
        assert len(found) == 50
        assert all(isinstance(key, int) and key % 1000 < 12 for key in found)

    @on_sqlite
    def test_where_no_index_helps_it_is_said(self, large: Backend) -> None:
        with large.open() as store:
            for text, advice in [
                ("rank < 3 OR rank > 11998", "no index could find them"),
                ("rank <> 5 AND :Rare", "the label that the fewest nodes have"),
            ]:
                view = replace(VIEW, where=read_condition(text))
                if "Rare" in text:
                    store.write_nodes(VIEW, [(8, {})], ["Rare"])
                with pytest.raises(InvalidView, match=advice):
                    ready_view(store, view)

    @on_sqlite
    def test_of_a_small_graph_are_looked_for_one_by_one(self, store: GraphStore) -> None:
        store.create_key(VIEW)
        store.write_nodes(VIEW, [(i, {"rank": i}) for i in range(2_000)])
        view = replace(VIEW, where=read_condition("rank = 77"))
        assert store.random_keys(view, 3, [0]) == [77]

    @on_sqlite
    def test_a_run_does_not_end_when_they_become_rare(self, large: Backend) -> None:
        view = replace(VIEW, where=read_condition("rank < 120"))
        with large.open() as store:
            assert ready_view(store, view) == view
            # Most of them are used up, and some have left the filter.
            store.write_nodes(VIEW, [(i, {"rank": 99_999}) for i in range(20)])
            left = store.random_keys(view, 9, [0], exclude=range(25, 120))
        assert sorted(left) == list(range(20, 25))


@pytest.mark.parametrize("name", NAMES)
def test_an_index_is_used_whatever_the_property_is_called(name: str) -> None:
    line = index_on(Comparison(name, "=", 1))
    if line is None:
        # Neither a JSON path nor, so, an index of SQLite's can spell it.
        assert json.dumps(name, ensure_ascii=False) != f'"{name}"'
        return
    file = sqlite3.connect(":memory:")
    file.execute("CREATE TABLE node (id INTEGER PRIMARY KEY, properties TEXT)")
    file.execute(line)
    predicates = Predicates({})
    (seek,) = predicates.seeks(Comparison(name, "=", 1), "n")
    plan = file.execute(
        f"EXPLAIN QUERY PLAN SELECT id FROM node AS n WHERE {seek}", predicates.parameters
    ).fetchall()
    file.close()
    assert "<expr>" in plan[0][3]
