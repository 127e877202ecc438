"""Tasks by name: what is read is what is shown, and what is wrong is told."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbo.bench.tasks import TASKS, Parameter, Task, parse_instance, parse_task
from graphbo.errors import TaskError


def values_of(parameter: Parameter) -> st.SearchStrategy[Any]:
    """What a parameter may be."""
    found: list[st.SearchStrategy[Any]] = [st.just(parameter.default)]
    if parameter.choices:
        found.append(st.sampled_from(parameter.choices))
    if parameter.word:
        found.append(st.from_regex("[a-z][a-z0-9.-]{0,9}", fullmatch=True))
    least, most = parameter.within.least, min(parameter.within.most, 1e9)
    if parameter.number is int:
        found.append(st.integers(int(least), int(most)))
    elif parameter.number is float:
        found.append(st.floats(least, most))
    return st.one_of(found)


@st.composite
def tasks(draw: st.DrawFn) -> Task | None:
    """Any task; None for parameters that do not go together."""
    kind = TASKS[draw(st.sampled_from(sorted(TASKS)))]
    given = {name: draw(values_of(one)) for name, one in kind.parameters().items()}
    try:
        return kind(**given)
    except TaskError:
        return None


@given(task=tasks())
@settings(max_examples=300)
def test_what_is_shown_can_be_read(task: Task | None) -> None:
    if task is not None:
        assert parse_task(task.spec) == task
        assert hash(parse_task(task.spec)) == hash(task)


@given(task=tasks(), seed=st.integers(0, 10**9))
def test_instances_have_views_of_their_own(task: Task | None, seed: int) -> None:
    if task is not None:
        instance = parse_instance(task.spec, seed=seed)
        assert parse_instance(instance.spec) == instance
        assert instance.view != parse_instance(task.spec, seed=seed + 1).view


@pytest.mark.parametrize("name", TASKS)
def test_every_task_works_as_it_is(name: str) -> None:
    task = parse_task(name)
    assert task.spec == task.name == name
    one, same, other = (task.problem(seed) for seed in (1, 1, 2))
    assert np.array_equal(one.edges, same.edges)
    assert np.array_equal(one.noisy, same.noisy)
    assert one.properties == same.properties
    assert not np.array_equal(one.values, other.values)
    ends = np.concatenate([one.edges.ravel(), *(links.links[:, 0] for links in one.connectors)])
    assert ends.min() >= 0
    assert ends.max() < one.n
    assert (one.edges[:, 0] != one.edges[:, 1]).all()
    assert len(np.unique(np.sort(one.edges, axis=1), axis=0)) == len(one.edges)
    assert np.isfinite(one.values).all()
    assert one.spread > 0


def test_parameters_are_typed() -> None:
    assert parse_task("teams:threshold=median,alpha=10").spec == "teams:alpha=10,threshold=median"
    assert parse_task("teams:alpha=1.0,").spec == "teams"
    assert parse_task("grid:noise=1e-3, side=7").spec == "grid:side=7,noise=0.001"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("", "there is no task '': expected one of centrality, grid"),
        ("nothing:n=3", "there is no task 'nothing'"),
        ("grid:sides=3", "grid: there is no 'sides': expected one of function, side, noise"),
        ("grid:side", "grid: 'side' is not NAME=VALUE"),
        ("grid:side=3,side=4", "grid: 'side' is there twice"),
        ("grid:side=three", "grid: side is three: expected an integer from 2 to 3,000"),
        ("grid:side=1_0", "side is 1_0"),
        ("grid:side=5.0", "side is 5.0"),
        ("grid:side=", "side is : expected an integer"),
        ("grid:noise=-1", "noise is -1.0: expected a number from 0 on"),
        ("grid:noise=inf", "noise is inf"),
        ("grid:function=ackly", "function is ackly: expected ackley, rosenbrock, sphere"),
        ("teams:threshold=mean", "threshold is mean: expected median or a number from 0 to 1"),
        ("patient-zero:graph=contacts,n=20", "n is 20, but it is only for graph=town"),
        ("grid:data_dir=x", "there is no 'data_dir'"),
        ("influence:data_dir=x", "there is no 'data_dir'"),
        ("grid:seed=3", "there is no 'seed'"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(spec: str, expected: str) -> None:
    with pytest.raises(TaskError) as raised:
        parse_task(spec)
    assert expected in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_seed_of_an_instance() -> None:
    assert parse_instance("grid", seed=4).seed == 4
    assert parse_instance("grid:seed=2", seed=4).spec == "grid:seed=2"
    with pytest.raises(TaskError, match="grid: seed is -1: expected an integer from 0 on"):
        parse_instance("grid:seed=-1")
