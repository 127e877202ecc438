"""Which objective ``graphbo run`` evaluates: none because a database says so, and no secret is stored."""

import contextlib
import fcntl
import http.server
import json
import os
import pty
import shlex
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.backends import Backend, SqliteBackend, environment_for
from tests.cli.commands import COMMAND, run_graphbo
from tests.cli.runs import (
    OPTIONS,
    InProcess,
    end_group,
    history,
    in_this_process,
    load,
    started,
    wait_for_lines,
    write_objective,
)

RANDOM = (*OPTIONS, "--strategy", "random")
NAME = ("--name", "theirs")


@pytest.fixture
def loaded(sqlite_backend: SqliteBackend) -> Backend:
    """One database will do: what a run keeps is the same in each, and has a contract of its own."""
    return load(sqlite_backend)


@pytest.fixture
def here(
    loaded: Backend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> InProcess:
    return in_this_process(loaded, tmp_path, monkeypatch, capsys)


def planted(here: InProcess, own_pins: Path, spec: str) -> None:
    """A run that somebody else put into the database: this user has agreed to nothing."""
    assert here("run", *RANDOM, *NAME, "--objective", spec, "--budget", 2).code == 0
    (own_pins / "pins.json").unlink(missing_ok=True)


class TestTrust:
    def test_what_a_database_names_is_not_run(
        self, loaded: Backend, here: InProcess, own_pins: Path, tmp_path: Path
    ) -> None:
        spec = f"command:sh -c 'touch {tmp_path}/pwned; echo 1'"
        planted(here, own_pins, spec)
        (tmp_path / "pwned").unlink()
        before = loaded.dump()
        for more in ((), ("--json",), ("--workers", 2)):
            line = here("run", *NAME, "--budget", 4, *more).failed_with_one_line()
            assert "the run 'theirs' in the database would run command:sh -c" in line
            assert "--objective" in line
            assert "--trust" in line
        assert not (tmp_path / "pwned").exists()
        assert loaded.dump() == before

        assert here("run", *NAME, "--budget", 4, "--trust").code == 0
        assert (tmp_path / "pwned").exists()
        # That was for once.
        assert "--trust" in here("run", *NAME, "--budget", 6).failed_with_one_line()
        assert here("run", *NAME, "--budget", 6, "--objective", spec).code == 0
        # And this is for good.
        assert here("run", *NAME, "--budget", 8).code == 0

    @pytest.mark.parametrize("spec", ["python:measuring:score", "cypher:score.cypher"])
    def test_of_every_kind_that_runs_something(
        self, loaded: Backend, here: InProcess, own_pins: Path, tmp_path: Path, spec: str
    ) -> None:
        planted(here, own_pins, "property:score")
        _rewrite_objective(loaded, spec)
        write_objective(tmp_path, "raise SystemExit")
        assert "--trust" in here("run", *NAME, "--budget", 4).failed_with_one_line()

    def test_a_property_needs_none(self, here: InProcess, own_pins: Path) -> None:
        planted(here, own_pins, "property:score")
        assert here("run", *NAME, "--budget", 4).code == 0
        assert list(own_pins.iterdir()) == []

    def test_another_text_or_another_database_is_another_pin(
        self, loaded: Backend, here: InProcess, tmp_path: Path
    ) -> None:
        spec = write_objective(tmp_path)
        assert here("run", *RANDOM, *NAME, "--objective", spec, "--budget", 2).code == 0
        _rewrite_objective(loaded, "command:sh -c 'echo 1'")
        assert "--trust" in here("run", *NAME, "--budget", 4).failed_with_one_line()
        _rewrite_objective(loaded, spec)
        copy = load(SqliteBackend(tmp_path / "copy.db"))
        place = ("--uri", copy.uri)
        assert here("run", *RANDOM, *NAME, "--objective", "property:score", *place).code == 0
        _rewrite_objective(copy, spec)
        more = ("run", *NAME, "--budget", 200, *place)
        assert "--trust" in here(*more).failed_with_one_line()
        assert here("run", *NAME, "--budget", 4).code == 0

    def test_a_pin_does_not_depend_on_where_a_command_is_given(
        self, loaded: Backend, here: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec = "command:sh -c 'echo 1'"
        assert here("run", *RANDOM, *NAME, "--objective", spec, "--budget", 2).code == 0
        assert here("run", *NAME, "--budget", 3, "--uri", "sqlite:graph.db").code == 0
        (tmp_path / "below").mkdir()
        monkeypatch.chdir(tmp_path / "below")
        assert here("run", *NAME, "--budget", 4, "--uri", "sqlite:../graph.db").code == 0

    @pytest.mark.slow
    @pytest.mark.parametrize("answer", ["y", "n"])
    def test_on_a_terminal_all_of_it_is_shown_and_one_is_asked(
        self, loaded: Backend, here: InProcess, own_pins: Path, tmp_path: Path, answer: str
    ) -> None:
        hidden_at_the_end = f"command:sh -c 'echo 1; # {'x' * 300} \x1b[2K and more'"
        planted(here, own_pins, hidden_at_the_end)
        code, said = _on_a_terminal(loaded, tmp_path, answer, "run", *NAME, "--budget", "4")
        assert ascii(hidden_at_the_end) in said
        assert "\x1b[2K and" not in said
        assert code == (0 if answer == "y" else 1), said
        assert len(history(here, "theirs")) == (4 if answer == "y" else 2)
        again = here("run", *NAME, "--budget", 6)
        assert again.code == (0 if answer == "y" else 1)

    def test_pins_that_cannot_be_kept_are_no_reason_to_stop(
        self, here: InProcess, tmp_path: Path, own_pins: Path
    ) -> None:
        (own_pins / "file").touch()
        environment = {"GRAPHBO_CONFIG_DIR": str(own_pins / "file")}
        spec = write_objective(tmp_path)
        options = ("run", *RANDOM, *NAME, "--objective", spec, "--budget", 2)
        answer = here(*options, environment=environment)
        assert answer.code == 0
        assert "will have to be named again" in answer.err

    def test_damaged_pins_are_none_and_one_line_says_so(
        self, loaded: Backend, here: InProcess, own_pins: Path, tmp_path: Path
    ) -> None:
        planted(here, own_pins, "command:sh -c 'echo 1'")
        (own_pins / "pins.json").write_text("{")
        more = ("run", *NAME, "--budget", 4, "--uri", loaded.uri)
        answer = run_graphbo(loaded, tmp_path, *more)
        assert answer.code == 1
        _, damaged, refused = answer.err.splitlines()
        assert damaged == f"the pins in {own_pins}/pins.json are not used: it is damaged"
        assert "--trust" in refused

    def test_looking_runs_and_imports_nothing(
        self, here: InProcess, own_pins: Path, tmp_path: Path
    ) -> None:
        spec = "python:planted_module:" + "x" * 90
        (tmp_path / "planted_module.py").write_text(
            f"open('imported', 'w').close()\ndef {'x' * 90}(key): return 1.0\n"
        )
        planted(here, own_pins, spec)
        (tmp_path / "imported").unlink()
        del sys.modules["planted_module"]
        assert f"maximize {spec}\n" in here("status", "theirs").out
        for more in ((), ("--objective", spec)):
            dry = ("run", *NAME, "--budget", 9, "--dry-run", *more)
            assert spec in here(*dry).out
            assert here(*dry, "--json").json["objective"] == spec
        new = ("run", *OPTIONS, "--name", "new", "--dry-run", "--objective")
        assert here(*new, spec).code == 0
        assert "names no function" in here(*new, "python:delays").failed_with_one_line()
        assert "of no known kind" in here(*new, "magic").failed_with_one_line()
        assert not (tmp_path / "imported").exists()


def _rewrite_objective(backend: Backend, spec: str) -> None:
    _change_config(backend, objective=spec)


def _change_config(backend: Backend, **changes: object) -> None:
    """What somebody does who may write to the database."""
    connection = sqlite3.connect(backend.uri.removeprefix("sqlite:"))
    ((text,),) = connection.execute("SELECT properties FROM run").fetchall()
    properties = json.loads(text)
    properties["config"] = json.dumps(json.loads(properties["config"]) | changes)
    connection.execute("UPDATE run SET properties = ?", (json.dumps(properties),))
    connection.commit()
    connection.close()


def _on_a_terminal(
    backend: Backend, directory: Path, typed: str, *arguments: str
) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 1000, 0, 0))
    process = subprocess.Popen(
        [str(COMMAND), *arguments, "--uri", backend.uri],
        cwd=directory,
        env=environment_for(backend),
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, f"{typed}\n".encode())
    said = b""
    with contextlib.suppress(OSError):  # what Linux says when nobody has the other end any more
        while piece := os.read(ours, 65_536):
            said += piece
    os.close(ours)
    return process.wait(60), said.decode()


@pytest.mark.slow
@pytest.mark.parametrize("pool", [(), ("--workers", 2), ("--timeout", 60)], ids=str)
def test_json_is_alone_on_standard_output(
    loaded: Backend, here: InProcess, tmp_path: Path, pool: tuple[object, ...]
) -> None:
    (tmp_path / "chatty.py").write_text(
        "import os, subprocess, sys\n\nprint('imported')\n\n\ndef score(key):\n"
        "    print('printed')\n    os.write(1, b'written\\n')\n"
        "    subprocess.run(['echo', 'echoed'])\n    sys.__stdout__.write('kept\\n')\n"
        "    return key\n"
    )
    options = ("run", *RANDOM, *NAME, "--objective", "python:chatty:score", "--budget", 2)
    answer = run_graphbo(loaded, tmp_path, *options, "--json", *pool, "--uri", loaded.uri)
    assert answer.code == 0, answer
    assert answer.json["evaluations"] == 2
    for said in ("imported", "printed", "written", "echoed", "kept"):
        assert said in answer.err


@dataclass
class Service:
    """Answers with 1 whoever knows its key, and keeps the questions."""

    port: int = 0
    status: int = 200
    says: str = "1"
    asked: list[str] = field(default_factory=list)
    delay: threading.Event = field(default_factory=threading.Event)

    def address(self, query: str = "token=s3cret-key", user: str = "") -> str:
        return f"http://{user}127.0.0.1:{self.port}/score?{query}".rstrip("?")


@pytest.fixture
def service() -> Iterator[Service]:
    with _serving() as service:
        yield service


@contextmanager
def _serving() -> Iterator[Service]:
    service = Service()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            service.asked.append(self.path)
            if len(service.asked) > 2:
                service.delay.wait(0.2)
            self.send_response(service.status)
            self.end_headers()
            self.wfile.write(service.says.encode())

        def log_request(self, code: object = "-", size: object = "-") -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield service
        service.delay.set()
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            ("--objective", "http://127.0.0.1:9/x?key=hunter2"),
            "nobody listens at http://127.0.0.1:9",
        ),
        (("--objective", "http://no-such.invalid/"), "nobody listens at http://no-such.invalid/"),
        (("--objective", "python:nowhere:f"), "no module 'nowhere'"),
        (("--objective", "command:./nowhere"), "no program './nowhere'"),
        (("--objective", "cypher:nowhere.cypher"), "cannot be read"),
        (
            ("--objective", "property:score", "--executor", "dask://a:hunter2@127.0.0.1:9"),
            "answers",
        ),
        (("--objective", "property:score", "--executor", "dask://a:hunter2@x"), "dask://x"),
        (("--objective", "property:score", "--executor", "a:hunter2@x:1"), "'\\u2026'"),
    ],
    ids=lambda value: str(value[-1]) if isinstance(value, tuple) else "",
)
def test_what_is_wrong_is_found_before_a_run_is_created(
    loaded: Backend,
    here: InProcess,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    expected: str,
) -> None:
    monkeypatch.setattr("graphbo.runs.executors.CONNECT_SECONDS", 0.3)
    before = loaded.dump()
    line = here("run", *RANDOM, *NAME, *options).failed_with_one_line()
    assert expected in line
    assert "hunter2" not in line
    assert loaded.dump() == before


class TestWhatIsNotStored:
    def begin(self, here: InProcess, address: str) -> None:
        options = ("run", *RANDOM, *NAME, "--objective", address, "--budget", 2)
        assert here(*options).code == 0

    @pytest.mark.parametrize(
        ("query", "user"), [("token=s3cret-key", ""), ("", "ann:s3cret-key@"), ("", ":s3cret-key@")]
    )
    def test_a_run_does_not_go_on_without_it(
        self, loaded: Backend, here: InProcess, service: Service, query: str, user: str
    ) -> None:
        address = service.address(query, user)
        self.begin(here, address)
        before, asked = loaded.dump(), len(service.asked)
        more = ("run", *NAME, "--budget", 40)
        for options in ((), ("--trust",)):
            line = here(*more, *options).failed_with_one_line()
            assert "never stored: add --objective with the whole address" in line
        shown = f"http://127.0.0.1:{service.port}/score" + ("?…" if query else "")
        incomplete = here(*more, "--objective", shown).failed_with_one_line()
        assert "incomplete" in incomplete or "another one" in incomplete
        assert (
            "incomplete"
            in here(*more, "--objective", shown.replace("//", "//:…@")).failed_with_one_line()
        )
        assert (loaded.dump(), len(service.asked)) == (before, asked)
        assert "s3cret" not in str(before)
        assert here("run", *NAME, "--budget", 4, "--objective", address).code == 0
        assert len(service.asked) == asked + 2

    def test_another_query_or_user_is_another_objective(
        self, loaded: Backend, here: InProcess, service: Service
    ) -> None:
        self.begin(here, service.address("model=a&token=x", "ann:one@"))
        before, asked = loaded.dump(), len(service.asked)
        for other in (
            service.address("model=b&token=x", "ann:one@"),
            service.address("model=a&token=x", "bob:one@"),
            service.address("model=a&token=x"),
        ):
            for dry in ((), ("--dry-run",)):
                more = ("run", *NAME, "--budget", 4, "--objective", other)
                line = here(*more, *dry).failed_with_one_line()
                assert "the objective's query or user name was another one" in line
        assert (loaded.dump(), len(service.asked)) == (before, asked)
        # A password may be changed.
        same = service.address("model=a&token=x", "ann:two@")
        assert here("run", *NAME, "--budget", 4, "--objective", same).code == 0

    def test_a_run_of_an_older_version_goes_on(
        self, loaded: Backend, here: InProcess, service: Service
    ) -> None:
        self.begin(here, service.address())
        _change_config(loaded, fingerprint=None)
        more = ("run", *NAME, "--budget", 4)
        assert "incomplete" in here(*more, "--trust").failed_with_one_line()
        assert here(*more, "--objective", service.address()).code == 0

    def test_a_run_that_is_over_needs_nothing(self, here: InProcess, service: Service) -> None:
        self.begin(here, service.address())
        answer = here("run", *NAME)
        assert answer.code == 0
        assert f"--objective 'http://127.0.0.1:{service.port}/score?…'" in answer.out
        assert "fingerprint" not in here("status", "theirs", "--json").json

    @pytest.mark.slow
    def test_ctrl_c_says_what_to_give(
        self, loaded: Backend, here: InProcess, service: Service, tmp_path: Path
    ) -> None:
        address = service.address(user="ann:pass-word@")
        options = ("run", *RANDOM, *NAME, "--objective", address, "--budget", 40)
        with started(loaded, tmp_path, *options, "--timeout", "10m") as process:
            wait_for_lines(process, 2)
            _, err = end_group(process, signal.SIGINT)
        assert process.returncode == 130
        assert "s3cret" not in err
        assert "pass-word" not in err
        (command,) = (line for line in err.splitlines() if line.startswith("Resume: "))
        words = shlex.split(command.removeprefix("Resume: graphbo "))
        template = words[words.index("--objective") + 1]
        assert template == f"http://…@127.0.0.1:{service.port}/score?…"
        assert "Put what stands for … back into --objective" in err
        asked = len(service.asked)
        assert "is incomplete" in here(*words).failed_with_one_line()
        assert len(service.asked) == asked
        words[words.index(template)] = address
        assert here(*words, "--budget", len(history(here, "theirs")) + 1).code == 0

    @pytest.mark.parametrize("status", [200, 400])
    def test_what_the_service_repeats_is_stored_and_printed_nowhere(
        self, loaded: Backend, here: InProcess, service: Service, tmp_path: Path, status: int
    ) -> None:
        service.status = status
        service.says = (
            '"not s3cret+key, s3cret%2Bkey, s3cret%2bkey, p@ssword, p%40ssword of annabel"'
        )
        address = service.address("mode=fast&token=s3cret%2Bkey", "annabel:p%40ssword@")
        options = ("run", *RANDOM, *NAME, "--objective", address, "--budget", 2)
        answers = [here(*options, "--json")]
        commands = ("status", "history", "report")
        answers += [
            here(command, "theirs", *json) for command in commands for json in ((), ("--json",))
        ]
        # Not one evaluation gave a value.
        assert [answer.code for answer in answers] == [1, 0, 0, 0, 0, 0, 0]
        said = [answer.out + answer.err for answer in answers]
        for text in (*said, str(loaded.dump()), (tmp_path / "theirs.html").read_text()):
            for secret in ("s3cret", "p@ss", "p%40ss", "annabel", "mode=fast"):
                assert secret not in text
        assert "not …" in history(here, "theirs")[0]["error"]
