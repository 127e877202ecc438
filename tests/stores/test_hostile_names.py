"""Names that try to break out of a statement, at every place where a name can enter one."""

import contextlib
import re
from collections.abc import Callable, Iterator

import pytest

from graphbo.errors import GraphboError
from graphbo.stores import GraphStore
from graphbo.stores.neo4j.statements import statement, statement_names
from graphbo.types import Ego, View
from graphbo.types.conditions import And, Comparison, HasLabel, IsIn, IsNull, Not, Or
from graphbo.types.paths import Path, Step
from graphbo.types.view_texts import ViewTexts
from tests.backends import Backend

HOSTILE = {
    "backtick": "a`b",
    "closing": "N`) DETACH DELETE (n:`N",
    "comment": "N` //",
    "escape": r"N\u0060) DETACH DELETE n //",
    "double escape": r"N\uu0060) DETACH DELETE n //",
    "backslash": "N\\",
    "single quote": "N' OR 1=1 --",
    "double quote": 'N" OR 1=1 --',
    "semicolon": "N; DROP TABLE node;",
    "newline": "N\nDETACH DELETE n",
    "nul": "N\0",
    "emoji": "🚉🏳️‍🌈",
    "json path": '$."a"[0]',
    "percent": "%s{0}{{label}}$limit:p",
    "long": "N" * 20_000,
    "empty": "",
    "surrogate": "N\ud800",
}
#: Those that end what a name is written in, in one language or another. Every statement is tried with them.
BREAKING_OUT = ("closing", "comment", "escape", "double escape", "single quote", "double quote")


def in_every_part(name: str) -> View:
    """A view that has the name, and a text that reads like it, wherever paths, filters and weights have any."""
    one, other = Comparison(name, "=", name), Comparison(name, "STARTS WITH", name)
    label, plain = HasLabel(name), HasLabel("N")
    inner = And((label, Or((IsNull(name), IsIn(name, (name, 1)), Not(other)))))
    steps = (Step((name, "R"), "out", Comparison(name, ">", 1)), Step((name,), "in", one))
    return View(
        ("N", name),
        ("R", name),
        weight=name,
        key="id",
        candidates=("N",),
        where=Or((Not(one), label)),
        candidates_where=Not(And((other, label))),
        paths=(Path((And((plain, Not(label))), inner, Or((plain, plain))), steps),),
        factors=((name, 2.0),),
        default_weight=1.0,
    )


PLACES: dict[str, Callable[[str], View]] = {
    "label": lambda name: View((name,), ("R",), key="id"),
    "second label": lambda name: View(("N", name), ("R",), key="id"),
    "relationship type": lambda name: View(("N",), (name,), key="id"),
    "key": lambda name: View(("N",), ("R",), key=name),
    "weight": lambda name: View(("N",), ("R",), weight=name, key="id"),
    "paths and filters": in_every_part,
}


#: What ends a name in the language of a store. The longest statements are tried with it alone: planning takes seconds.
ENDING = {"neo4j": "closing", "sqlite": "single quote"}


def reads(store: GraphStore, view: View, what: str, ending: str) -> Iterator[Callable[[], object]]:
    """A server plans statements anew for every name: only some are tried with all, and the longest with one."""
    yield lambda: store.resolve(view)
    yield lambda: store.check_key(view)
    if what in BREAKING_OUT:
        yield lambda: store.count_nodes(view)
        yield lambda: store.count_relationships(view)
        yield lambda: store.properties(view, [1])
        yield lambda: store.random_keys(view, 2, [0])
    if what == ending:
        yield lambda: store.ego_networks(view, [Ego(1, 5)], [0])
        yield lambda: store.neighbours(view, [1], [0])
        yield lambda: store.around(view, [1], 5)


@pytest.mark.parametrize("place", PLACES)
def test_reading_changes_nothing(store: GraphStore, backend: Backend, place: str) -> None:
    plain = View(("N",), ("R",), key="id")
    store.create_key(plain)
    store.write_relationships(plain, [(1, 2, {"w": 1.0}), (2, 3, {"w": 1.0})])
    before = backend.dump()
    for what, name in HOSTILE.items():
        try:
            view = PLACES[place](name)
        except GraphboError:
            continue  # refused before any statement was made
        for read in reads(store, view, what, ENDING[backend.name]):
            with contextlib.suppress(GraphboError):
                read()
    assert backend.dump() == before


def unnamed(text: str) -> str:
    """A statement's text without what stands in backticks."""
    return re.sub("`(?:[^`]|``)*`", "``", text)


@pytest.mark.parametrize("what", HOSTILE)
def test_a_name_is_in_backticks_wherever_it_stands_in_a_statement(what: str) -> None:
    """Apart from what is in backticks, the statement is that of a name that does no harm."""
    try:
        view = in_every_part(HOSTILE[what])
    except GraphboError:
        return  # refused before any statement was made
    harmless = in_every_part("harmless")
    for name in statement_names():
        found, expected = (statement(name).call({}, one)[0] for one in (view, harmless))
        assert unnamed(found) == unnamed(expected), name
        assert statement(name).values(harmless).keys() == statement(name).values(view).keys()


@pytest.mark.parametrize(
    "text",
    [
        "(:N)-[:R]->(:N) DETACH DELETE n",
        "(:N`) DETACH DELETE (n:`N)-[:R]->(:N)",
        "(:N)-[:R`]->() DETACH DELETE (n)-[:`R]->(:N)",
        "(:N)-[:R WHERE w > 1] DELETE r //]->(:N)",
        "(:N WHERE EXISTS { MATCH (n) DETACH DELETE n })-[:R]->(:N)",
        "(:N)-[:R WHERE w = $keys]->(:N)",
        "(:N)-[:R]->(:N); MATCH (n) DETACH DELETE n",
        "(:N {id: 1})-[:R]->(:N)",
        "(:N)-[:R]->(:N) // rest",
        "(:$($keys))-[:R]->(:N)",
    ],
)
def test_what_is_more_than_a_path_is_refused(text: str) -> None:
    with pytest.raises(GraphboError) as caught:
        ViewTexts(paths=(text,)).view()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1) DETACH DELETE (n",
        "x = 1 OR EXISTS { MATCH (m) }",
        "x = 'a' OR true",
        "x = 1; DROP TABLE node",
        "x = (SELECT 1)",
        "x = $values[0]",
        "x = y",
        "size(x) > 1",
        "x =~ '.*'",
        "x = 'it''s' -- '",
        "`x` = 1 /* ",
        "x IN [1, load_extension('a')]",
    ],
)
def test_what_is_more_than_a_filter_is_refused(text: str) -> None:
    with pytest.raises(GraphboError) as caught:
        ViewTexts(labels=("N",), relationships={"R": 1.0}, where=text).view()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("place", ["label", "relationship type", "key"])
def test_writing_uses_the_name_as_it_is_or_refuses_it(
    store: GraphStore, backend: Backend, place: str
) -> None:
    plain = View(("N",), ("R",), key="id")
    store.create_key(plain)
    store.write_relationships(plain, [(1, 2, {})])
    for name in ("a`b", "N`) DETACH DELETE (n:`N", 'N" OR 1=1 --', "N; DROP TABLE node;", "🚉"):
        label = name if place == "label" else f"Of {place}"
        kind = name if place == "relationship type" else "R"
        key = name if place == "key" else "id"
        view = View((f"{label} {key}" if place == "key" else label,), (kind,), key=key)
        store.create_key(view)
        store.write_relationships(view, [("x", "y", {name: 1})])
        assert store.properties(view, ["x"]) == {"x": {key: "x"}}
        labels, types = store.names()
        assert view.labels[0] in labels
        assert kind in types
        store.delete_graph(view)
    assert store.count_nodes(plain) == 2
    assert store.count_relationships(plain) == 1


@pytest.mark.parametrize("value", ["a`b", "'; DROP TABLE node; --", "$limit", "{{label}}", ""])
def test_values_are_values(store: GraphStore, value: str) -> None:
    view = View(("N",), ("R",), key="id")
    store.create_key(view)
    store.write_nodes(view, [(value, {"name": value})])
    assert store.properties(view, [value]) == {value: {"id": value, "name": value}}
    assert store.random_keys(view, 1, [0]) == [value]


@pytest.mark.parametrize("bad", [2**63, "\ud800", "a\0b", True, 1.5, None])
def test_keys_that_no_database_can_hold_are_refused(
    store: GraphStore, backend: Backend, bad: object
) -> None:
    view = View(("N",), ("R",), key="id")
    store.create_key(view)
    before = backend.dump()
    with pytest.raises(GraphboError):
        store.write_nodes(view, [("fine", {}), (bad, {})])  # type: ignore[list-item]
    with pytest.raises(GraphboError):
        store.write_relationships(view, [("fine", "too", {"x": float("nan")})])
    with pytest.raises(GraphboError):
        store.write_nodes(view, [("fine", {"": 1})])
    assert backend.dump() == before
