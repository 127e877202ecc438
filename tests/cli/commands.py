"""Running graphbo as a person would: the installed command, in a process and a directory of its own."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.backends import Backend, environment_for

__all__ = ["Answer", "Graphbo", "run_graphbo"]

COMMAND = Path(sys.executable).with_name("graphbo")
TIMEOUT = 120


@dataclass(frozen=True)
class Answer:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)

    def failed_with_one_line(self) -> str:
        """The one line of a clear failure: exit code 1, nothing on standard output, no traceback."""
        assert self.code == 1, self
        assert self.out == "", self
        lines = [line for line in self.err.splitlines() if not line.startswith("Using ")]
        assert len(lines) == 1, self.err
        assert lines[0].startswith("graphbo: "), self.err
        return lines[0]


#: Runs ``graphbo ARGUMENTS`` on a backend; options of ``environment`` are added.
Graphbo = Callable[..., Answer]


def run_graphbo(
    backend: Backend, directory: Path, *arguments: object, environment: dict[str, str] | None = None
) -> Answer:
    """Run the command and wait for its end."""
    result = subprocess.run(
        [str(COMMAND), *map(str, arguments)],
        cwd=directory,
        env=environment_for(backend) | (environment or {}),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return Answer(result.returncode, result.stdout, result.stderr)
