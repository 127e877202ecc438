"""command:…"""

import os
import shlex
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from graphbo.errors import InvalidObjective
from graphbo.objectives import Node, Objective, evaluate, parse_objective
from tests.objectives.processes import all_gone, is_gone


def script(text: str, timeout: float | None = None, retries: int = 0) -> Objective:
    """An objective that runs Python code."""
    return parse_objective(
        shlex.join(["command:" + sys.executable, "-c", text]), timeout=timeout, retries=retries
    )


def error_of(objective: Objective, key: str | int = "a") -> str:
    error = evaluate(objective, Node(key)).error
    assert error is not None
    assert "\n" not in error
    return error


def test_the_key_is_the_last_argument() -> None:
    objective = script("import sys; print(len(sys.argv[-1]))")
    assert objective.needs_properties
    assert objective(Node("'; rm -rf $HOME `x` |")) == 21.0


def test_the_node_is_on_standard_input() -> None:
    objective = script("import json, sys; print(sum(json.load(sys.stdin)['properties']['xs']))")
    assert objective(Node("ä", {"xs": [1, 2.5], "text": "\ud800"})) == 3.5


def test_a_program_may_ignore_standard_input() -> None:
    assert script("print(1)")(Node("a", {"text": "x" * 1_000_000})) == 1.0


def test_the_last_line_counts() -> None:
    assert script("print('loading …'); print(' -2.5e3 '); print()")(Node(1)) == -2500.0


def test_there_is_no_shell() -> None:
    assert "'1; echo 2 5'" in error_of(parse_objective("command:echo '1;' echo 2"), 5)


def test_it_runs_in_the_given_directory(tmp_path: Path) -> None:
    program = tmp_path / "score.sh"
    program.write_text("#!/bin/sh\ncat score.txt\n")
    program.chmod(0o755)
    (tmp_path / "score.txt").write_text("12")
    assert parse_objective("command:./score.sh", directory=tmp_path)(Node(1)) == 12.0


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("command:", "names no program"),
        ("command:   ", "names no program"),
        ("command:''", "names no program"),
        ("command:echo 'x", "cannot be split: No closing quotation"),
        (
            "command:no-such-program-anywhere -v",
            "there is no program 'no-such-program-anywhere' in any",
        ),
        ("command:./no-such-program", "there is no program './no-such-program' in /"),
        ("command:/etc/passwd", "there is no program '/etc/passwd'"),
    ],
)
def test_what_cannot_be_run(spec: str, message: str) -> None:
    with pytest.raises(InvalidObjective, match=message):
        parse_objective(spec)


def test_an_exit_code_is_a_failure_with_what_it_said() -> None:
    text = "import sys; print(3); print('no licence\\nline 2', file=sys.stderr); sys.exit(4)"
    error = error_of(script(text))
    assert error.endswith("ended with exit code 4: no licence")


def test_all_that_it_said_is_known_to_who_has_to_mend_it() -> None:
    evaluation = evaluate(script("def f():\n    raise ValueError('no\\nsensor')\nf()"), Node(1))
    assert evaluation.error is not None
    assert evaluation.error.endswith("Traceback (most recent call last):")
    assert evaluation.detail.startswith("Traceback (most recent call last):")
    assert evaluation.detail.endswith("ValueError: no\nsensor")


def test_a_signal_is_a_failure() -> None:
    error = error_of(script("import os; os.kill(os.getpid(), 11)"))
    assert error.endswith("ended with signal SIGSEGV")


def test_no_output() -> None:
    error = error_of(script("import sys; print(); print('hm', file=sys.stderr)"))
    assert error.endswith("printed nothing, expected a number: hm")


@pytest.mark.parametrize("output", ["nan", "inf", "twelve", "1 2", "True", "0x10", "\\xff"])
def test_output_that_is_no_number(output: str) -> None:
    text = f"import sys; sys.stdout.buffer.write(b'{output}'); print('why', file=sys.stderr)"
    error = error_of(script(text))
    assert "is not a number" in error
    assert error.endswith(": why")


def test_a_program_that_went_away(tmp_path: Path) -> None:
    program = tmp_path / "score.sh"
    program.write_text("#!/bin/sh\necho 1\n")
    program.chmod(0o755)
    objective = parse_objective("command:./score.sh", directory=tmp_path)
    program.unlink()
    assert error_of(objective) == "./score.sh cannot be run: No such file or directory"


def test_a_key_that_cannot_be_an_argument() -> None:
    assert "cannot be run: embedded null byte" in error_of(script("print(1)"), "a\0b")


def test_a_time_out_ends_the_program_and_all_it_started(tmp_path: Path) -> None:
    said = tmp_path / "pids"
    objective = parse_objective(
        f"command:sh -c 'sleep 60 & echo $$ $! > {said}; wait'", timeout=0.5
    )
    error = error_of(objective)
    assert error == "sh gave no answer within 0.5 s and was ended"
    assert all_gone([int(pid) for pid in said.read_text().split()])


def test_a_process_that_left_the_group_does_not_hold_us_up(tmp_path: Path) -> None:
    # It keeps standard output open, in a session of its own.
    said = tmp_path / "pid"
    text = (
        "import pathlib, subprocess, time\n"
        "left = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        f"pathlib.Path({str(said)!r}).write_text(str(left.pid))\n"
        "time.sleep(600)\n"
    )
    assert "gave no answer" in error_of(script(text, timeout=3))
    left = int(said.read_text())
    assert not is_gone(left)
    os.kill(left, signal.SIGKILL)


@pytest.mark.slow
def test_ctrl_c_ends_the_program(tmp_path: Path) -> None:
    said = tmp_path / "pid"
    waiting = (
        "from graphbo.objectives import *\n"
        f"""parse_objective("command:sh -c 'echo $$ > {said}; sleep 60'")(Node(1))\n"""
    )
    with subprocess.Popen([sys.executable, "-c", waiting], stderr=subprocess.PIPE) as parent:
        deadline = time.monotonic() + 30
        while not (said.exists() and said.read_text().strip()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.kill(parent.pid, signal.SIGINT)
        assert b"KeyboardInterrupt" in parent.communicate(timeout=20)[1]
    assert all_gone([int(said.read_text())])


def test_retries(tmp_path: Path) -> None:
    tried = tmp_path / "tried"
    objective = parse_objective(
        f"command:sh -c 'test -e {tried} && echo 5 || {{ touch {tried}; exit 1; }}'", retries=2
    )
    evaluation = evaluate(objective, Node(1))
    assert (evaluation.value, evaluation.attempts) == (5.0, 2)


def test_a_program_may_talk_a_lot() -> None:
    text = (
        "import sys\nfor _ in range(3000):\n"
        "    sys.stdout.write('x' * 999 + chr(10)); sys.stderr.write('y' * 1000)\nprint(7)"
    )
    assert script(text)(Node(1)) == 7.0


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_program_that_prints_for_ever_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stream: str
) -> None:
    said = tmp_path / "pid"
    text = (
        f"import os, sys\nopen({str(said)!r}, 'w').write(str(os.getpid()))\n"
        f"while True: sys.{stream}.write('7' * 10_000)"
    )
    tracemalloc.start()
    error = error_of(script(text))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert error.endswith("printed more than 100 MB and was ended")
    assert peak < 10_000_000
    assert all_gone([int(said.read_text())])


@pytest.mark.parametrize("key", ["-rf", "--help", -5, "-"])
def test_a_key_cannot_become_an_option(key: str | int) -> None:
    text = "import sys; print(len(sys.argv))"
    evaluation = evaluate(script(text, retries=3), Node(key))
    assert evaluation.attempts == 1
    assert evaluation.error is not None
    assert "would be an option" in evaluation.error
    marked = parse_objective(shlex.join(["command:" + sys.executable, "-c", text, "--"]))
    assert marked(Node(key)) == 3.0
    assert script(text)(Node("a-b")) == 2.0
