"""Tasks as sources."""

import numpy as np
import pytest

from graphbo.bench.tasks import parse_task
from graphbo.errors import SourceError
from graphbo.loading import Reading, open_source


def test_every_node_has_its_value_and_what_is_known_of_it() -> None:
    source = open_source("task:grid:side=6,function=sphere,seed=2")
    problem = parse_task("grid:side=6,function=sphere").problem(2)
    survey = source.survey()
    assert (survey.nodes, survey.edges) == (36, 60)
    nodes = list(source.nodes())
    assert [key for key, _ in nodes] == list(range(36))
    assert [found["value"] for _, found in nodes] == problem.values.tolist()
    assert [found["row"] for _, found in nodes] == problem.properties["row"]
    assert all(set(found) == {"row", "col", "value"} for _, found in nodes)
    assert [(a, b) for a, b, _ in source.edges()] == list(map(tuple, problem.edges.tolist()))
    assert {type(end) for a, b, _ in source.edges() for end in (a, b)} == {int}


def test_noisy_values_have_the_truth_beside_them() -> None:
    nodes = dict(open_source("task:grid:side=5,noise=2").nodes())
    problem = parse_task("grid:side=5,noise=2").problem(0)
    assert np.array_equal([nodes[key]["value"] for key in range(25)], problem.noisy)
    assert np.array_equal([nodes[key]["truth"] for key in range(25)], problem.values)


@pytest.mark.parametrize(
    ("spec", "reading", "expected"),
    [
        ("task:", Reading(), "there is no task ''"),
        ("task:gird", Reading(), "there is no task 'gird'.*TASKS has what there is"),
        ("task:grid:side=0", Reading(), "side is 0"),
        ("task:grid:seed=x", Reading(), "seed is x"),
        ("task:grid", Reading(weight="w"), "leave out the weight 'w'"),
        ("task:grid", Reading(header=True), "not an edge list"),
        ("task:grid", Reading(key="row"), "a property 'row'.*choose another key property"),
        ("task:grid", Reading(key="value"), "a property 'value'.*choose another key property"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(spec: str, reading: Reading, expected: str) -> None:
    with pytest.raises(SourceError, match=expected) as raised:
        open_source(spec, reading).survey()
    assert "\n" not in str(raised.value)


def test_a_missing_data_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHBO_DATA", raising=False)
    with pytest.raises(SourceError, match=r"enron\.csv\.gz.*name its directory"):
        open_source("task:influence:data=enron").survey()
