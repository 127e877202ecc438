"""Where the data sets are that cannot be in the repository, if they are anywhere."""

import os
from pathlib import Path

import pytest

from graphbo.bench.tasks.datasets import DATA_SETS, VARIABLE, file_of
from graphbo.errors import TaskError

__all__ = ["DATA", "needs_data"]

DATA = Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None


def _missing() -> str:
    for name in DATA_SETS:
        try:
            file_of(name, DATA)
        except TaskError as error:
            return str(error)
    return ""


#: Skips a test where they are not, with what to do about it.
needs_data = pytest.mark.skipif(bool(_missing()), reason=_missing())
