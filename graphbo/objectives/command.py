"""``command:…``: a program that prints the value of a node."""

import contextlib
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from graphbo.errors import EvaluationFailed, InvalidObjective
from graphbo.objectives.base import Evaluator, Node, Permanent
from graphbo.objectives.number import LONGEST_DETAIL, as_number, shorten
from graphbo.objectives.payload import to_json
from graphbo.objectives.pipes import MOST, TooMuch, converse
from graphbo.objectives.process import describe_exit, kill_group
from graphbo.objectives.warden import guarded

__all__ = ["CommandEvaluator", "open_command", "split_command"]


@dataclass(frozen=True)
class CommandEvaluator(Evaluator):
    """Runs a program without a shell: the key is its last argument, the node comes as JSON on standard input.

    Attributes:
        directory: where it runs.
    """

    arguments: tuple[str, ...]
    directory: str

    def measure(self, node: Node, timeout: float | None) -> float:
        """The number on the last line that it prints.

        Raises:
            Permanent: the key would be an option.
            EvaluationFailed: it cannot be started, fails, takes too long, prints without end or prints no number.
        """
        self._refuse_option(str(node.key))
        process = self._start(node)
        with guarded(process):
            output, errors = self._communicate(process, node, timeout)
        return self._read(process.returncode, output, errors)

    def _communicate(
        self, process: "subprocess.Popen[bytes]", node: Node, timeout: float | None
    ) -> tuple[bytes, bytes]:
        try:
            return converse(process, to_json(node), timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            raise EvaluationFailed(
                f"{self.arguments[0]} gave no answer within {timeout:g} s and was ended"
            ) from None
        except TooMuch:
            _end(process)
            raise EvaluationFailed(
                f"{self.arguments[0]} printed more than {MOST // 10**6} MB and was ended"
            ) from None
        except BaseException:
            _end(process)
            raise

    def _refuse_option(self, key: str) -> None:
        """Whoever names the nodes must not choose the options of a program; after ``--`` there are none."""
        if key.startswith("-") and self.arguments[-1] != "--":
            raise Permanent(
                f"the key {shorten(key, 80)!r} would be an option of {self.arguments[0]}: end the objective with --, "
                "if the program knows what that means"
            )

    def _start(self, node: Node) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                [*self.arguments, str(node.key)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.directory,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # ValueError: a key with a NUL in it
            reason = shorten(getattr(error, "strerror", None) or str(error))
            raise EvaluationFailed(f"{self.arguments[0]} cannot be run: {reason}") from None

    def _read(self, code: int, output: bytes, errors: bytes) -> float:
        first_error = shorten(errors.decode(errors="replace"))
        said = f": {first_error}" if first_error else ""
        detail = errors.decode(errors="replace")[-LONGEST_DETAIL:].strip()
        if code != 0:
            raise EvaluationFailed(
                f"{self.arguments[0]} ended with {describe_exit(code)}{said}", detail
            )
        lines = [line for line in output.decode(errors="replace").splitlines() if line.strip()]
        if not lines:
            raise EvaluationFailed(
                f"{self.arguments[0]} printed nothing, expected a number{said}", detail
            )
        try:
            return as_number(lines[-1])
        except EvaluationFailed as error:
            raise EvaluationFailed(
                f"the last line of {self.arguments[0]}: {error}{said}", detail
            ) from None


def split_command(rest: str) -> tuple[str, ...]:
    """The words of ``command:rest``. The program is not looked for.

    Raises:
        InvalidObjective: there are none.
    """
    try:
        arguments = tuple(shlex.split(rest))
    except ValueError as error:
        raise InvalidObjective(f"command:{shorten(rest, 80)} cannot be split: {error}") from None
    if not arguments or not arguments[0]:
        raise InvalidObjective("command: names no program: expected command:PROGRAM [ARGUMENT …]")
    return arguments


def open_command(rest: str, directory: Path) -> CommandEvaluator:
    """The evaluator for ``command:rest``.

    Raises:
        InvalidObjective: there is no command in it, or no such program.
    """
    arguments = split_command(rest)
    directory = directory.resolve()
    if not _exists(arguments[0], directory):
        where = directory if os.sep in arguments[0] else "any directory of PATH"
        raise InvalidObjective(f"there is no program {arguments[0]!r} in {where}")
    return CommandEvaluator(arguments, str(directory))


def _exists(program: str, directory: Path) -> bool:
    # Joining an absolute path to the directory leaves it as it is.
    wanted = str(directory / program) if os.sep in program else program
    return shutil.which(wanted) is not None


def _end(process: "subprocess.Popen[bytes]") -> None:
    kill_group(process)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
