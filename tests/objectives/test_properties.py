"""property:NAME"""

from collections.abc import Iterator, Mapping

import pytest

from graphbo.errors import InvalidObjective
from graphbo.objectives import Node, evaluate, parse_objective


def test_it_reads_the_property() -> None:
    objective = parse_objective("property:load:mean")
    assert objective.name == "property:load:mean"
    assert objective.needs_properties
    assert not objective.needs_neo4j
    assert objective(Node("a", {"load:mean": 3, "load": 4})) == 3.0


def test_it_reads_no_other() -> None:
    class Watched(Mapping[str, object]):
        def __init__(self) -> None:
            self.read: list[str] = []

        def __getitem__(self, name: str) -> object:
            self.read.append(name)
            return 1.0

        def __iter__(self) -> Iterator[str]:
            raise AssertionError

        def __len__(self) -> int:
            raise AssertionError

    properties = Watched()
    assert parse_objective("property:load")(Node("a", properties)) == 1.0
    assert properties.read == ["load"]


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({}, "node 'a' has no property 'load'"),
        ({"load": None}, "node 'a' has no property 'load'"),
        ({"load": "high"}, "property 'load' of node 'a': 'high' is not a number"),
        ({"load": True}, "property 'load' of node 'a': the value is True, of type bool"),
        ({"load": [1.0]}, "property 'load' of node 'a': the value is [1.0], of type list"),
        ({"load": float("nan")}, "property 'load' of node 'a': the value is nan"),
    ],
)
def test_what_has_no_value_is_not_tried_twice(properties: dict[str, object], message: str) -> None:
    evaluation = evaluate(parse_objective("property:load", retries=3), Node("a", properties))
    assert evaluation.error is not None
    assert evaluation.error.startswith(message)
    assert evaluation.attempts == 1


def test_no_name() -> None:
    with pytest.raises(InvalidObjective, match="expected property:NAME"):
        parse_objective("property:")
