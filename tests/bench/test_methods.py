"""What can be compared, by its name."""

from pathlib import Path

import pytest

from graphbo.bench.methods import (
    BASELINES,
    METHODS,
    Prototype,
    StrategyMethod,
    parse_method,
    parse_methods,
)
from graphbo.errors import BenchError


def test_a_strategy_with_options() -> None:
    method = parse_method("paper:size=50,kernel=diffusion,growth=1.25")

    assert isinstance(method, StrategyMethod)
    assert method.label == "paper:growth=1.25,kernel=diffusion,size=50"
    options = method.create().options
    assert (options["size"], options["kernel"], options["growth"]) == (50, "diffusion", 1.25)


def test_the_identity_has_the_defaults_too() -> None:
    """So that results of an older default are not taken for those of a newer one."""
    default = parse_method("bayes")
    size = dict(default.identity["options"])["size"]

    assert default.identity == parse_method(f"bayes:size={size}").identity
    assert default.identity != parse_method(f"bayes:size={size + 1}").identity


def test_short_names_mean_several_each_once() -> None:
    found = [method.label for method in parse_methods(["local", "baselines", "all"])]

    assert found[:4] == ["local", "random", "bfs", "dfs"]
    assert sorted(found) == sorted({*METHODS["all"], *BASELINES})


def test_the_whole_graph_keeps_its_name() -> None:
    method = parse_method("whole-graph")

    assert method.label == "whole-graph"
    assert dict(method.identity["options"])["size"] == 10_000


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nonesuch", "no method is called 'nonesuch': choose from bayes"),
        ("bayes:colour=red", "has no option colour"),
        ("bayes:size=1", "expected at least 2"),
        ("bayes:size", "'size' is not NAME=VALUE"),
        ("bayes:size=many", "the method bayes:size=many"),
        ("prototype:nowhere.py", "nowhere.py cannot be read"),
    ],
)
def test_wrong_ones_are_refused(spec: str, message: str) -> None:
    with pytest.raises(BenchError, match=message):
        parse_methods([spec])


def test_a_prototype_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    for path in (one, other):
        path.write_text("def search(n, edges, seed): ...\n")
    same = parse_method(f"prototype:{one}")
    assert isinstance(same, Prototype)
    assert same.identity == parse_method(f"prototype:{other}").identity
    other.write_text("def search(n, edges, seed): raise NotImplementedError\n")
    assert same.identity != parse_method(f"prototype:{other}").identity


def test_a_prototype_without_its_function_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("")
    method = parse_method(f"prototype:{path}")
    assert isinstance(method, Prototype)
    with pytest.raises(BenchError, match="has no function search"):
        method.load()
