"""Tables and figures of a comparison."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from graphbo.bench.analysis import Table
from graphbo.bench.documents import write_documents
from graphbo.bench.figures import short
from graphbo.bench.methods import METHODS
from graphbo.bench.results import Curve
from graphbo.bench.suites import Group
from graphbo.bench.tables import overall_table, regret_table
from tests.bench.support import curve

BUDGET = 20
TASKS = tuple(f"centrality:n={100 * size}" for size in range(2, 10))
LARGEST = 200_000


def curves(tasks: tuple[str, ...], methods: tuple[str, ...]) -> list[Curve]:
    rng = np.random.default_rng(0)
    return [
        curve(task, method, seed, np.sort(rng.random(BUDGET))[::-1].tolist())
        for task in tasks
        for method in methods
        for seed in range(3)
    ]


@pytest.mark.parametrize("log", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_group_has_its_tables_and_figure(tmp_path: Path, log: bool) -> None:
    methods = METHODS["all"]
    groups = [Group("one", TASKS, methods, log=log), Group("centrality-ba", TASKS[:1], methods)]
    write_documents(tmp_path, curves(TASKS, methods), groups)

    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        "summary.png",
        "ranks.png",
        "costs.png",
        "one.png",
        "centrality-ba.png",
    }
    assert {"overall.md", "claims.md", "numbers.csv", "one.md", "centrality-ba-claims.md"} <= {
        path.name for path in (tmp_path / "tables").iterdir()
    }
    for path in (tmp_path / "figures").iterdir():
        assert path.stat().st_size < LARGEST
        assert imread(path).std() > 0.05, "something is drawn"


@pytest.mark.slow
def test_many_variants_are_drawn_as_differences(tmp_path: Path) -> None:
    methods = tuple(f"bayes:size={size}" for size in range(10, 30))
    write_documents(tmp_path, curves(TASKS[:2], methods), [Group("variants", TASKS[:2], methods)])

    height, width, _ = imread(tmp_path / "figures" / "variants.png").shape
    assert height > width * 0.8, "a row for each"


def test_groups_of_one_name_are_one(tmp_path: Path) -> None:
    both = [*curves(TASKS[:2], ("bayes",)), *curves(TASKS[:1], ("local",))]
    write_documents(
        tmp_path, both, [Group("x", TASKS[:2], ("bayes",)), Group("x", TASKS[:1], ("local",))]
    )
    text = (tmp_path / "tables" / "x-costs.md").read_text()

    assert text.splitlines()[0] == "| ms per step, median / mean | `bayes` | `local` |"
    assert text.splitlines()[3] == "| `centrality:n=300` | 1.0 / 1.0 |  |"


def test_groups_that_have_nothing_in_common(tmp_path: Path) -> None:
    """As in the ablation: no method meets all tasks, so there are no ranks."""
    both = [*curves(TASKS[:1], ("bayes",)), *curves(TASKS[1:2], ("paper", "local"))]
    groups = [Group("x", TASKS[:1], ("bayes",)), Group("y", TASKS[1:2], ("paper", "local"))]
    write_documents(tmp_path, both, groups)

    assert not (tmp_path / "figures" / "ranks.png").exists()
    assert not (tmp_path / "tables" / "claims.md").exists()
    assert "nan" not in (tmp_path / "tables" / "overall.md").read_text()


def test_a_table_has_the_best_in_bold_and_a_row_for_all() -> None:
    found = Table(
        [
            curve(task, method, seed, [value], spread=2.0)
            for task in ("t", "u")
            for method, values in (("a", (1.0, 3.0)), ("b", (4.0, 4.0)))
            for seed, value in enumerate(values)
        ]
    )
    lines = regret_table(found, 1).splitlines()

    assert lines[0] == "| after 1 | `a` | `b` |"
    assert lines[2] == "| `t` | **1.000 ± 0.500** | 2.000 ± 0.000 |"
    assert lines[4].startswith("| all | **1.000 ± 0.354**")
    assert "| +1.000 ± 0.354 |" in overall_table(found)


def test_names_of_methods_in_figures() -> None:
    assert short("paper:kernel=diffusion-ard") == "paper, diffusion-ard"
    assert short("bayes") == "bayes"
    assert short("paper:growth=2.0,size=50") == "paper, growth=2.0, size=50"
