"""The command line on each database in turn."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.backends import Backend
from tests.cli.commands import Graphbo, run_graphbo
from tests.cli.runs import InProcess, in_this_process, load


@pytest.fixture
def graphbo(backend: Backend, tmp_path: Path) -> Graphbo:
    """``graphbo("load", "ba:n=10,m=2", "--uri", backend.uri, …)`` runs the installed command."""
    return partial(run_graphbo, backend, tmp_path)


@pytest.fixture
def loaded(backend: Backend) -> Backend:
    """Each database with the small graph that the tests of runs work on."""
    return load(backend)


@pytest.fixture
def in_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[Backend], InProcess]:
    """The command on a database, in this process: much quicker than starting one."""
    return lambda backend: in_this_process(backend, tmp_path, monkeypatch, capsys)


@pytest.fixture
def here(loaded: Backend, in_process: Callable[[Backend], InProcess]) -> InProcess:
    """The command on the small graph."""
    return in_process(loaded)
