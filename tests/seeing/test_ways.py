"""Edges of a view as Cypher for people: what is between two nodes, with every name quoted."""

import re

import pytest

from graphbo.seeing.ways import alternatives, connector, edge_types, ways_between, ways_from
from graphbo.types import View
from graphbo.types.notation import read_condition, read_path

SHARED = read_path("(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)")


def test_relationships_are_ways_to_any_node_of_the_view() -> None:
    view = View(("A", "B"), ("R", "S"), where=read_condition('size > 1 AND kind = "x"'))
    (way,) = ways_from(view)
    assert way.pattern == "(n)-[:`R`|`S`]-(m:`A`|`B`)"
    assert way.conditions == ('(m.`size` > 1 AND m.`kind` = "x")',)
    assert ways_between(view) == []
    assert edge_types(view) == "`R`|`S`"


def test_a_path_that_is_alike_from_both_ends_is_one_way() -> None:
    view = View((), paths=(SHARED,), hub_limit=50)
    assert ways_from(view) == ways_between(view)
    (way,) = ways_from(view)
    assert way.pattern == "(n)-[:`VISITS`]->(c1)<-[:`VISITS`]-(m)"
    assert way.conditions == (
        "n:`Person`",
        "c1:`Place`",
        "m:`Person`",
        "COUNT { (c1)<-[:`VISITS`]-() } <= 50",
    )


def test_another_path_is_walked_from_either_end() -> None:
    path = read_path('(:A)-[r:R WHERE r.hours > 1]->(:B)-[:S|T]->(:C WHERE NOT x IN ["y", 2])')
    forth, back = ways_from(View((), paths=(path,)))
    assert forth.pattern == "(n)-[s1:`R`]->(c1)-[:`S`|`T`]->(m)"
    assert back.pattern == "(n)<-[:`S`|`T`]-(c1)<-[s2:`R`]-(m)"
    assert "s1.`hours` > 1" in forth.conditions
    assert "s2.`hours` > 1" in back.conditions
    assert '(m:`C` AND NOT (m.`x` IN ["y", 2]))' in forth.conditions
    # How many come to it and how many leave it: either may be too many.
    degrees = [one for one in forth.conditions if one.startswith("COUNT")]
    assert degrees == [
        "COUNT { (c1)<-[:`R`]-() } <= 1000",
        "COUNT { (c1)-[:`S`|`T`]->() } <= 1000",
    ]


def test_relationships_lead_through_connectors_that_are_no_candidates() -> None:
    view = View(("Machine", "Rack"), ("IN",), candidates=("Machine",))
    (way,) = ways_between(view)
    assert way.pattern == "(n)-[:`IN`]-(c1:`Machine`|`Rack`)-[:`IN`]-(m)"
    assert way.conditions[0] == "NOT coalesce((c1:`Machine`), false)" == connector(view, "c1")


def test_alternatives_answer_even_where_there_is_no_way() -> None:
    assert alternatives([], "RETURN way") == "  RETURN null AS way"
    two = ways_from(View(("Person",), ("MET",), paths=(SHARED,)))
    text = alternatives(two, "RETURN way LIMIT 3", "m.x")
    assert text.count("UNION") == 1
    assert text.count("AND m.x") + text.count("WHERE m.x") == 2


@pytest.mark.parametrize("name", ["`", "a`b", "}) DETACH DELETE (n", "x\u2028y", "$run {{ways}}"])
def test_no_name_and_no_value_gets_out_of_its_quotes(name: str) -> None:
    quoted = f"`{name.replace('`', '``')}`"
    text = f'(:{quoted})-[:{quoted} WHERE {quoted} = "q\\"{name}"]->(:{quoted})<-[:R]-(:B)'
    plain = '(:x)-[:x WHERE x = "x"]->(:x)<-[:R]-(:B)'

    def bare(path: str) -> str:
        inside = alternatives(ways_from(View((), paths=(read_path(path),))), "RETURN way")
        return re.sub(r'`(?:[^`]|``)+`|"(?:[^"\\]|\\.)*"', "x", inside)

    assert bare(text) == bare(plain)
