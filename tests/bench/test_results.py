"""The results file is what tables and figures are made of."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from graphbo.bench.results import COLUMNS, read_results, write_results
from graphbo.errors import BenchError
from tests.bench.support import curve

CURVES = [
    curve("ring:nodes=40,noise=0", "paper:kernel=diffusion,size=50", 3, [2.5, 0.125], spread=5.0),
    curve("ring:nodes=40,noise=0", "local", 3, [1 / 3, 0.0], spread=5.0),
]


def test_it_is_a_table_with_a_row_per_evaluation(tmp_path: Path) -> None:
    path = tmp_path / "results.csv.gz"
    write_results(path, CURVES)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 4
    assert rows[1]["method"] == "paper:kernel=diffusion,size=50"
    assert [rows[1][name] for name in ("evaluation", "regret", "normalised_regret")] == [
        "2",
        "0.125",
        "0.025",
    ]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "results.csv.gz"
    write_results(path, CURVES)
    found = read_results(path)

    for one, other in zip(CURVES, found, strict=True):
        assert (one.key, one.task, one.method, one.seed, one.budget, one.spread) == (
            other.key,
            other.task,
            other.method,
            other.seed,
            other.budget,
            other.spread,
        )
        assert np.allclose(one.regret, other.regret, rtol=1e-5)
        assert other.finished().key == one.key


def test_equal_results_are_equal_bytes(tmp_path: Path) -> None:
    one, other = tmp_path / "one.csv.gz", tmp_path / "other.csv.gz"
    write_results(one, CURVES)
    write_results(other, read_results(one))

    assert one.read_bytes() == other.read_bytes()


def test_anything_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="run the comparison first"):
        read_results(tmp_path / "nothing.csv.gz")
    path = tmp_path / "results.csv.gz"
    path.write_text("not packed")
    with pytest.raises(BenchError, match="is not a file of results"):
        read_results(path)
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    with pytest.raises(BenchError, match="is not a file of results"):
        read_results(path)
