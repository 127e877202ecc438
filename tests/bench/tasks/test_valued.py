"""Graphs with measured values, from files and made."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from graphbo.bench.methods import parse_method
from graphbo.bench.plan import plan
from graphbo.bench.search import loaded, search
from graphbo.bench.tasks import parse_task
from graphbo.errors import TaskError

NODES = "id,value,size,vector,kind\na,0,1,0.5;1,x\nb,9,,0;0,y\nc,999,3,1;1,x\n"
EDGES = "source,target\na,b\nb,c\nc,b\na,a\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write(tmp_path, "tiny", NODES, EDGES)
    return tmp_path


def write(directory: Path, name: str, nodes: str, edges: str) -> None:
    (directory / f"{name}-nodes.csv.gz").write_bytes(gzip.compress(nodes.encode()))
    (directory / f"{name}-edges.csv.gz").write_bytes(gzip.compress(edges.encode()))


def test_a_data_set_is_read_with_all_that_is_known(data: Path) -> None:
    problem = parse_task("valued:data=tiny", data).problem(0)

    assert sorted(problem.values.tolist()) == pytest.approx([0, 1, 3])
    assert len(problem.edges) == 2
    best = int(np.argmax(problem.values))
    assert problem.known_of(best) == {"size": 3.0, "vector": [1.0, 1.0], "kind": "x"}
    middle = int(np.argsort(problem.values)[1])
    assert problem.known_of(middle) == {"vector": [0.0, 0.0], "kind": "y"}


def test_heavy_tails_are_measured_raw_and_compared_by_their_logarithms(data: Path) -> None:
    problem = parse_task("valued:data=tiny,value=raw", data).problem(0)

    assert sorted(problem.noisy.tolist()) == pytest.approx([0, 9, 999])
    assert problem.optimum == pytest.approx(3)
    assert not problem.noise


def test_a_suite_has_a_task_for_each_data_set(data: Path) -> None:
    write(data, "other", NODES, EDGES)

    tasks = plan(["real"], data_dir=data).groups[0].tasks
    assert tasks == ("valued:data=other", "valued:data=tiny")
    (data / "real").mkdir()
    write(data / "real", "inner", NODES, EDGES)
    assert plan(["real"], data_dir=data).groups[0].tasks == ("valued:data=inner",)


@pytest.mark.parametrize("known", ["columns", "noise", "answer", "belief", "shuffled", "negated"])
def test_what_is_known(known: str) -> None:
    problem = parse_task(f"valued:n=300,known={known}").problem(1)
    columns = {"columns": set(), "noise": {f"noise{i}" for i in range(5)}}
    own = {"age", "embedding"} | columns.get(known, {"belief"})
    assert set(problem.properties) == ({"answer"} if known == "answer" else own)
    if "belief" in own and known != "answer":
        belief = np.array(problem.properties["belief"], dtype=float)
        correlation = np.corrcoef(belief, problem.values)[0, 1]
        expected = {"belief": 0.7, "shuffled": 0.0, "negated": -0.7}[known]
        assert correlation == pytest.approx(expected, abs=0.2)


def test_features_are_read_in_a_comparison() -> None:
    problem = parse_task("valued:n=500,known=answer").problem(0)
    with loaded(problem) as store:
        found = search(parse_method("bayes:features=auto"), problem, store, seed=0, budget=15)
    assert found.observed_regret[-1] <= problem.optimum - np.quantile(problem.values, 0.99)


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        ("id,value\na,1\n", "source,target\na,b\n", "cannot be used: KeyError"),
        ("id,value\na,one\nb,2\n", "source,target\na,b\n", "cannot be used: ValueError"),
        ("id,value\na,1\nb,nan\n", "source,target\na,b\n", "nodes without a value"),
        ("id,value\na,1\n", "source,target\n", "has no edges"),
    ],
    ids=["unknown node", "no number", "not finite", "no edges"],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, nodes: str, edges: str, message: str) -> None:
    write(tmp_path, "bad", nodes, edges)
    with pytest.raises(TaskError, match=message):
        parse_task("valued:data=bad", tmp_path).problem(0)
    with pytest.raises(TaskError, match=r"there is no missing-nodes\.csv\.gz"):
        parse_task("valued:data=missing", tmp_path).problem(0)
