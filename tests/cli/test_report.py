"""``graphbo report`` and ``graphbo plot``."""

from pathlib import Path

import pytest

from graphbo.cli.report import FIGURES
from graphbo.seeing.plots import PLOTS
from tests.backends import Backend, on_sqlite
from tests.cli.commands import Graphbo
from tests.cli.runs import OPTIONS, InProcess, write_objective


@pytest.fixture
def ran(here: InProcess, tmp_path: Path) -> InProcess:
    """The command, where there is a run of twenty evaluations."""
    objective = write_objective(tmp_path)
    answer = here("run", *OPTIONS, "--objective", objective, "--name", "found", "--budget", 20)
    assert answer.code == 0, answer
    return here


@on_sqlite
def test_a_report_is_one_file(ran: InProcess, loaded: Backend, tmp_path: Path) -> None:
    before = loaded.dump()

    answer = ran("report", "found", "-o", "out.html")

    assert answer.code == 0, answer
    assert answer.out.startswith("Written: out.html (")
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert "graphbo run --name found" in text
    assert loaded.dump() == before


@on_sqlite
def test_a_report_is_named_after_its_run_and_may_be_replaced(
    ran: InProcess, tmp_path: Path
) -> None:
    for _ in range(2):
        answer = ran("report", "found", "--json", "--optimum", "10")
        assert answer.code == 0, answer
        assert answer.json["file"] == "found.html"
        assert answer.json["bytes"] == (tmp_path / "found.html").stat().st_size
        assert answer.json["nodes"] > 20


@on_sqlite
def test_every_kind_of_plot(ran: InProcess, tmp_path: Path) -> None:
    for kind in FIGURES:
        answer = ran("plot", "found", "--kind", kind, "-o", f"{kind}.png", "--json")

        assert answer.code == 0, answer
        assert answer.json["kind"] == kind
        assert (tmp_path / f"{kind}.png").read_bytes().startswith(b"\x89PNG")


@on_sqlite
def test_figures_may_be_vectors(ran: InProcess, tmp_path: Path) -> None:
    assert ran("plot", "found", "-o", "one.svg").code == 0
    assert ran("plot", "found", "-o", "one.pdf").code == 0
    assert (tmp_path / "one.svg").read_bytes().startswith(b"<?xml")
    assert (tmp_path / "one.pdf").read_bytes().startswith(b"%PDF")


def test_the_command_knows_every_kind() -> None:
    assert tuple(PLOTS) == FIGURES


@on_sqlite
def test_mistakes_are_one_clear_line(ran: InProcess, tmp_path: Path) -> None:
    (tmp_path / "graph.db.bak").write_text("precious")

    assert "no run 'lost'" in ran("report", "lost").failed_with_one_line()
    assert "no run 'lost'" in ran("plot", "lost").failed_with_one_line()
    assert "ends in .html" in ran("report", "found", "-o", "graph.db.bak").failed_with_one_line()
    assert "ends in .png" in ran("plot", "found", "-o", "a.gif").failed_with_one_line()
    assert "no directory" in ran("report", "found", "-o", "no/where.html").failed_with_one_line()
    assert "which is better" in ran("report", "found", "--optimum", "1").failed_with_one_line()
    assert "finite" in ran("report", "found", "--optimum", "nan").failed_with_one_line()
    assert ran("plot", "found", "--kind", "pie").code == 2
    assert (tmp_path / "graph.db.bak").read_text() == "precious"
    assert not list(tmp_path.glob("*.html"))


@on_sqlite
def test_what_cannot_be_drawn_leaves_no_file(here: InProcess, tmp_path: Path) -> None:
    assert here("ask", "by-hand", *OPTIONS).code == 0

    for kind in ("convergence", "kernel", "region", "calibration"):
        assert "'by-hand'" in here("plot", "by-hand", "--kind", kind).failed_with_one_line()
    assert not list(tmp_path.glob("*.png"))


@on_sqlite
def test_names_of_runs_become_names_of_files(here: InProcess, tmp_path: Path) -> None:
    assert here("ask", "../<script>alert(1)</script>", *OPTIONS).code == 0

    answer = here("report", "../<script>alert(1)</script>")

    assert answer.code == 0, answer
    (file,) = tmp_path.glob("*.html")
    assert file.name.startswith("script-alert-1-script-")


@on_sqlite
def test_reports_of_different_runs_are_different_files(here: InProcess, tmp_path: Path) -> None:
    names = ("a/b", "a-b", "A-b", "a b")
    for name in names:
        assert here("ask", name, *OPTIONS).code == 0
        assert here("report", name).code == 0
    assert len({path.name.lower() for path in tmp_path.glob("*.html")}) == len(names)


@pytest.mark.slow
def test_as_a_person_would(
    graphbo: Graphbo, here: InProcess, loaded: Backend, tmp_path: Path
) -> None:
    assert here("ask", "hand", *OPTIONS).code == 0

    answer = graphbo("report", "hand", "--uri", loaded.uri)

    assert answer.code == 0, answer
    assert (tmp_path / "hand.html").exists()
