"""The command line on each database in turn."""

from functools import partial
from pathlib import Path

import pytest

from tests.backends import Backend
from tests.cli.commands import Graphbo, run_graphbo


@pytest.fixture
def graphbo(backend: Backend, tmp_path: Path) -> Graphbo:
    """``graphbo("load", "ba:n=10,m=2", "--uri", backend.uri, …)`` runs the installed command."""
    return partial(run_graphbo, backend, tmp_path)
