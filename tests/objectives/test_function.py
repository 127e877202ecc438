"""python:MODULE:FUNCTION, and functions given to the API."""

import functools
import math
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from graphbo.errors import EvaluationFailed, InvalidObjective
from graphbo.objectives import Node, Objective, evaluate, from_callable, parse_objective
from graphbo.objectives import child as child_module
from tests.objectives import functions
from tests.objectives.processes import all_gone

MODULE = "tests.objectives.functions"


def python(name: str, timeout: float | None = None, retries: int = 0) -> Objective:
    return parse_objective(f"python:{MODULE}:{name}", timeout=timeout, retries=retries)


@pytest.fixture(autouse=True, scope="module")
def no_children_left() -> Iterator[None]:
    yield
    child_module._idle.close()


@pytest.fixture
def own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Directories that an objective adds are gone after the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))


# With what it is called


def test_it_gets_the_key() -> None:
    objective = python("double")
    assert not objective.needs_properties
    assert not objective.needs_neo4j
    assert objective(Node(4)) == 8.0


def test_it_gets_key_and_properties_if_it_takes_two() -> None:
    objective = python("weigh")
    assert objective.needs_properties
    assert objective(Node("a", {"weight": 2.5})) == 2.5


class Method:
    def one(self, key: int) -> float:
        return key

    def two(self, key: int, properties: dict[str, object]) -> float:
        return len(properties)

    def __call__(self, key: int, properties: dict[str, object]) -> float:
        return len(properties)


table = {1: 1.5}


@pytest.mark.parametrize(
    ("function", "properties"),
    [
        (lambda key: 1, False),
        (lambda key, properties: 1, True),
        (lambda key, anything: 1, True),
        (lambda key, properties=None: 1, True),
        (lambda key, table=table: 1, False),
        (lambda key, scale=2.0, properties=None: 1, False),
        (lambda *arguments: 1, False),
        (lambda key, *arguments: 1, False),
        (lambda key, **options: 1, False),
        (lambda key, *, scale=2.0: 1, False),
        (Method().one, False),
        (Method().two, True),
        (Method(), True),
        (functools.partial(lambda scale, key: 1, 2.0), False),
        (functools.partial(lambda scale, key, properties: 1, 2.0), True),
        (functools.cache(lambda key, properties: 1), True),
        (table.get, False),
        (table.__getitem__, False),
        (math.sqrt, False),
        (int, False),
        (functions.Scale, False),
    ],
)
def test_who_gets_the_properties(function: Callable[..., object], properties: bool) -> None:
    assert from_callable(function).needs_properties is properties


@pytest.mark.parametrize(
    "function", [lambda: 1, lambda a, b, c: 1, lambda key, *, scale: 1, lambda *, key: 1]
)
def test_functions_that_cannot_be_called_with_a_key(function: Callable[..., object]) -> None:
    with pytest.raises(InvalidObjective, match="expected a function of the key"):
        from_callable(function)


def test_what_cannot_be_called() -> None:
    with pytest.raises(InvalidObjective, match="expected a function of the key"):
        from_callable(3)  # type: ignore[arg-type]


def test_asynchronous_functions() -> None:
    async def later(key: int) -> float:
        return 1.0

    with pytest.raises(InvalidObjective, match="is asynchronous"):
        from_callable(later)


def test_names_of_functions() -> None:
    assert from_callable(functions.double).name == f"python:{MODULE}:double"
    assert from_callable(functions.Scale(2)).name == f"python:{MODULE}:Scale"
    assert from_callable(math.sqrt).name == "python:math:sqrt"


# Finding it


def test_it_is_found_in_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_path: None
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "found_here.py").write_text("class Lab:\n    measure = staticmethod(len)\n")
    assert parse_objective("python:found_here:Lab.measure")(Node("four")) == 4.0


def test_it_is_found_in_a_given_directory_by_other_processes(
    tmp_path: Path, own_path: None
) -> None:
    (tmp_path / "found_there.py").write_text("import os\ndef measure(key): return os.getpid()\n")
    objective = parse_objective("python:found_there:measure", directory=tmp_path)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        value = pool.submit(evaluate, objective, Node(1)).result().value
    assert value != objective(Node(1)) == os.getpid()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("python:", "names no function: expected python:MODULE:FUNCTION"),
        ("python:os", "names no function"),
        ("python:os:", "names no function"),
        ("python::f", "names no function"),
        ("python:a b:f", "not made of Python names"),
        ("python:../x:f", "not made of Python names"),
        (
            "python:no_such_module:f",
            "there is no module 'no_such_module' in .* or on Python's path",
        ),
        ("python:os.no_such:f", "there is no module 'os.no_such'"),
        (f"python:{MODULE}:no_such", "there is no 'no_such' in .*functions.py"),
        (f"python:{MODULE}:NOT_A_FUNCTION", "is a dict: expected a function of the key"),
        ("python:builtins:no_such", "there is no 'no_such' in builtins"),
    ],
)
def test_what_is_not_there(spec: str, message: str) -> None:
    with pytest.raises(InvalidObjective, match=message) as caught:
        parse_objective(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import no_such_dependency", "ModuleNotFoundError: No module named 'no_such_dependency'"),
        ("1 +", "SyntaxError: invalid syntax"),
        ("raise SystemExit('bye')", "SystemExit: bye"),
        ("raise GeneratorExit('bye')", "GeneratorExit: bye"),
    ],
)
def test_modules_that_cannot_be_imported(
    tmp_path: Path, own_path: None, text: str, message: str
) -> None:
    (tmp_path / "broken_module.py").write_text(text)
    with pytest.raises(InvalidObjective, match=f"importing 'broken_module' fails with {message}"):
        parse_objective("python:broken_module:f", directory=tmp_path)


def test_a_process_that_does_not_find_it_says_so(tmp_path: Path, own_path: None) -> None:
    path = tmp_path / "gone_soon.py"
    path.write_text("def measure(key): return 1\n")
    plain = parse_objective("python:gone_soon:measure", directory=tmp_path)
    limited = parse_objective("python:gone_soon:measure", directory=tmp_path, timeout=10)
    path.unlink()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for objective in (plain, limited):
            error = pool.submit(evaluate, objective, Node(1)).result().error
            assert error is not None
            assert "there is no module 'gone_soon'" in error


# Failures


@pytest.mark.parametrize("timeout", [None, 20.0])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fail", "ValueError: no such station"),
        ("leave", "SystemExit: that is it"),
        ("unusual", "Unusual: that is it"),
        ("refusing", "GeneratorExit: not me"),
    ],
)
def test_exceptions_are_failures(name: str, message: str, timeout: float | None) -> None:
    evaluation = evaluate(python(name, timeout), Node(1))
    assert evaluation.value is None
    assert evaluation.error == message
    assert evaluation.attempts == 1
    # All of it, for who has to mend the function; and none of what is graphbo's own.
    assert evaluation.detail.startswith("Traceback (most recent call last):")
    assert "functions.py" in evaluation.detail
    assert message in evaluation.detail
    assert "call.py" not in evaluation.detail


@pytest.mark.parametrize("timeout", [None, 20.0])
def test_ctrl_c_passes(timeout: float | None) -> None:
    with pytest.raises(KeyboardInterrupt):
        evaluate(python("interrupt", timeout), Node(1))


def test_long_messages_are_cut() -> None:
    def shout(key: int) -> float:
        raise ValueError("x" * 5000)

    error = evaluate(from_callable(shout), Node(1)).error
    assert error is not None
    assert len(error) < 600


def test_exceptions_that_cannot_be_printed() -> None:
    class Rude(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def fail(key: int) -> float:
        raise Rude

    assert evaluate(from_callable(fail), Node(1)).error == "Rude"


@pytest.mark.parametrize("value", [None, math.nan, math.inf, True, 1j, "many", [1]])
def test_results_that_are_no_numbers(value: object) -> None:
    evaluation = evaluate(from_callable(lambda key: value), Node(1))
    assert evaluation.value is None
    assert evaluation.error is not None
    with pytest.raises(EvaluationFailed):
        from_callable(lambda key: value)(Node(1))


@pytest.mark.parametrize("timeout", [None, 20.0])
def test_retries(tmp_path: Path, timeout: float | None) -> None:
    evaluation = evaluate(python("third_time", timeout, retries=4), Node(str(tmp_path / "once")))
    assert (evaluation.value, evaluation.attempts) == (7.0, 3)


def test_retries_that_do_not_help(tmp_path: Path) -> None:
    evaluation = evaluate(python("third_time", retries=1), Node(str(tmp_path / "once")))
    assert evaluation.error == "RuntimeError: not yet (after 2 attempts)"
    assert evaluation.attempts == 2


# Time-outs


def test_a_function_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    said = tmp_path / "pids"
    evaluation = evaluate(python("hang", timeout=1.0), Node(str(said)))
    assert evaluation.error == "the function gave no answer within 1 s and was ended"
    assert all_gone([int(pid) for pid in said.read_text().split()])


def test_the_process_is_used_again_until_it_is_killed() -> None:
    pids = [python("own_pid", timeout=20)(Node(n)) for n in range(3)]
    assert len(set(pids)) == 1
    assert pids[0] != os.getpid()
    limited = python("hang_if_negative", timeout=1.0)
    assert [evaluate(limited, Node(n)).value for n in (1, -1, 2)] == [1.0, None, 2.0]


def test_its_state_lasts_between_evaluations() -> None:
    counting = python("count_calls", timeout=20)
    assert [counting(Node(n)) for n in range(3)] == [1.0, 2.0, 3.0]
    assert functions.calls == []


def test_a_process_that_died_while_idle_is_replaced() -> None:
    objective = python("own_pid", timeout=20)
    first = int(objective(Node(1)))
    os.kill(first, 9)
    assert all_gone([first])
    assert objective(Node(1)) not in (first, os.getpid())


def test_a_function_that_takes_its_process_down() -> None:
    evaluation = evaluate(python("crash", timeout=20), Node(1))
    assert evaluation.error == "the function's process ended while evaluating (signal SIGSEGV)"


def test_what_it_prints_is_not_on_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert python("talk", timeout=20)(Node(1)) == 1.0
    out, err = capfd.readouterr()
    assert out == ""
    assert err == "a line that is no part of the result\n"


def test_threads_get_a_process_each() -> None:
    objective = python("slow_pid", timeout=20)
    with ThreadPoolExecutor(2) as pool:
        pids = list(pool.map(objective, [Node(1), Node(2)]))
    assert len({*pids, float(os.getpid())}) == 3


@pytest.mark.slow
def test_idle_processes_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "MOST_IDLE", 1)
    first = int(python("own_pid", timeout=20)(Node(1)))
    python("double", timeout=20)(Node(1))
    assert all_gone([first])


def test_callables_with_state_go_to_the_process_too() -> None:
    objective = from_callable(functions.Scale(2.5), timeout=20)
    assert objective(Node(4)) == 10.0
    assert pickle.loads(pickle.dumps(objective))(Node(2)) == 5.0


def test_callables_that_cannot_be_loaded_there() -> None:
    evaluation = evaluate(from_callable(functions.Unloadable(), timeout=20), Node(1))
    assert evaluation.error == "the function cannot be loaded: OSError: the licence server is away"


def test_a_local_function_that_hangs_is_left_alone() -> None:
    release = threading.Event()
    objective = from_callable(lambda key: release.wait(30), timeout=0.2)
    evaluation = evaluate(objective, Node(1))
    release.set()
    assert evaluation.error == "the function gave no answer within 0.2 s and was left alone"


def test_a_local_function_in_time() -> None:
    assert from_callable(lambda key: key + 1, timeout=20)(Node(1)) == 2.0
    evaluation = evaluate(from_callable(lambda key: 1 / key, timeout=20), Node(0))
    assert evaluation.error == "ZeroDivisionError: division by zero"


SCRIPT = """
import sys, time
from graphbo.objectives import Node, from_callable, parse_objective

def own(key):
    return key + 1

print(from_callable(own, timeout=20)(Node(1)))  # unguarded, as people write scripts
print(parse_objective("python:tests.objectives.functions:double", timeout=20)(Node(2)))
if len(sys.argv) > 1:
    parse_objective("python:tests.objectives.functions:hang", timeout=50)(Node(sys.argv[1]))
"""


@pytest.mark.slow
def test_a_script_without_a_main_guard() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("2.0\n4.0\n", "")


@pytest.mark.slow
def test_nothing_stays_when_the_parent_is_killed(tmp_path: Path) -> None:
    said = tmp_path / "pids"
    with subprocess.Popen([sys.executable, "-c", SCRIPT, str(said)]) as parent:
        deadline = time.monotonic() + 30
        while not (said.exists() and len(said.read_text().split()) == 2):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        parent.kill()
    assert all_gone([int(pid) for pid in said.read_text().split()])


@pytest.mark.filterwarnings(
    "ignore:.*fork:DeprecationWarning"
)  # this is what a fork is dangerous for
@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.slow
def test_it_can_be_sent_to_a_process_pool(method: str) -> None:
    limited = python("own_pid", timeout=20)
    here = limited(Node(0))  # a child that a fork must not talk to
    with ProcessPoolExecutor(1, mp_context=get_context(method)) as pool:
        plain = pool.submit(evaluate, from_callable(functions.double), Node(3)).result()
        there = pool.submit(evaluate, limited, Node(1)).result()
    assert plain.value == 6.0
    assert there.value not in (here, None)
    assert limited(Node(2)) == here
