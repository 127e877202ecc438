"""A suite that could not test Neo4j must not look like one that did."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NEEDS_A_SERVER = "tests/server/test_local.py::test_a_server_that_cannot_start_says_why_in_one_line"


def run_without_neo4j(directory: Path, required: str) -> "subprocess.CompletedProcess[str]":
    """Run a test that needs a server, where nothing is cached and nothing can be fetched."""
    settings = directory / "jgo.conf"
    settings.write_text("[repositories]\ncentral = http://127.0.0.1:9\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", NEEDS_A_SERVER],
        env={
            **os.environ,
            "GRAPHBO_REQUIRE_NEO4J": required,
            "JGO_CONFIG_FILE": str(settings),
            "M2_REPO": str(directory / "m2"),
            "XDG_CACHE_HOME": str(directory / "cache"),
        },
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(("required", "code"), [("0", 0), ("1", 1)], ids=["optional", "required"])
def test_having_no_neo4j_is_told_in_one_loud_line(tmp_path: Path, required: str, code: int) -> None:
    pytest.importorskip("jgo")

    done = run_without_neo4j(tmp_path, required)

    assert done.returncode == code, done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("!!!")]
    assert "NEO4J WAS NOT TESTED" in line
    assert "cannot fetch" in line
    assert ("1 failed" if code else "1 skipped") in done.stdout
