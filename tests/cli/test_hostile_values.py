"""Values that are out of every range: one clear line each, on every store, and nothing is changed."""

from pathlib import Path

import pytest

from graphbo.cli.lines import LONGEST_LINE, as_line
from graphbo.cli.options import parse_key
from tests.backends import Backend, on_sqlite
from tests.cli.commands import Answer
from tests.cli.runs import OPTIONS, InProcess

BEYOND = "99999999999999999999"
DIGITS = "9" * 5000
ASK = ("ask", "new", *OPTIONS)
RUN = ("run", *OPTIONS, "--name", "new", "--objective", "property:score", "--budget", "2")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("7", 7),
        ("-7", -7),
        ("0", 0),
        ("9223372036854775807", 2**63 - 1),
        *((text, text) for text in ("-0", "07", "--5", "-", "", "+7", "٣", BEYOND, DIGITS)),
    ],
)
def test_keys_are_integers_if_a_database_could_hold_them(text: str, key: str | int) -> None:
    assert parse_key(text) == key
    assert type(parse_key(text)) is type(key)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (*ASK, "--seed", BEYOND),
            "the seed is 99999999999999999999: expected a whole number from 0 to",
        ),
        (
            (*ASK, "--budget", BEYOND),
            "the budget is 99999999999999999999: expected a whole number from 0 to",
        ),
        ((*ASK, "--noise", "1e308"), "the noise is 1e+308: expected a number from 0 to 1e+150"),
        ((*ASK, "--noise", "inf"), "the noise is inf"),
        ((*ASK, "--noise", "nan"), "the noise is nan"),
        ((*ASK, "--option", "noise=1e999"), "noise is '1e999': expected a number"),
        ((*ASK, "--option", f"size={BEYOND}"), "expected an integer"),
        ((*ASK, "--start=--5"), "no node of"),
        ((*ASK, "--start", DIGITS), "no node of"),
        (("ask", "a\nb", *OPTIONS), r"the run name 'a\nb' cannot be typed"),
        (("ask", "a" * 300, *OPTIONS), "cannot be typed: use at most 200"),
    ],
)
@on_sqlite
def test_runs_that_cannot_be_started(
    here: InProcess, loaded: Backend, arguments: tuple[str, ...], message: str
) -> None:
    before = loaded.dump()
    assert message in here(*arguments).failed_with_one_line()
    assert loaded.dump() == before


@pytest.mark.parametrize("key", ["--5", DIGITS, f"-{DIGITS}", BEYOND, "\n"])
@on_sqlite
def test_keys_that_nobody_has(here: InProcess, loaded: Backend, key: str) -> None:
    assert here(*ASK, "--strategy", "random", "--start", "7").code == 0
    place = ("--uri", loaded.uri)
    tell, release = ("tell", "new", *place, "--", key, "1"), ("release", "new", *place, "--", key)
    for arguments in (tell, release):
        assert "no node of" in here(*arguments).failed_with_one_line()


def usage(answer: Answer) -> str:
    assert answer.code == 2, answer
    assert answer.out == ""
    return answer.err.splitlines()[-1]


@pytest.mark.parametrize(
    "arguments",
    [
        (*RUN, "--lease", DIGITS),
        (*RUN, "--lease", "9999999999h"),
        (*RUN, "--time", "9" * 400),
        (*RUN, "--timeout", "1000000001"),
    ],
)
@on_sqlite
def test_times_that_no_clock_knows(here: InProcess, arguments: tuple[str, ...]) -> None:
    assert "expected at most 1,000,000,000 seconds" in usage(here(*arguments))


@on_sqlite
def test_times_that_are_too_short(here: InProcess) -> None:
    assert "expected more than 0 seconds" in usage(here(*RUN, "--lease", "0"))
    watch = ("status", "new", "--watch", "--interval", "0.01")
    assert "expected more than 0.01 seconds" in usage(here(*watch))


@pytest.mark.parametrize("interval", ["nan", "inf", "1e300", "-1"])
@on_sqlite
def test_intervals_that_are_none(here: InProcess, interval: str) -> None:
    assert "is no time" in usage(here("status", "new", "--watch", "--interval", interval))


@pytest.mark.parametrize("command", [("tell", "new", "1"), ("release", "new")])
@on_sqlite
def test_steps_that_nobody_counts(here: InProcess, command: tuple[str, ...]) -> None:
    assert "is not in the range" in usage(here(*command, "--step", BEYOND))


@on_sqlite
def test_files_that_never_end_or_cannot_be(here: InProcess, tmp_path: Path) -> None:
    line = here("runs", "--credentials", "/dev/zero").failed_with_one_line()
    assert "is too large for a credentials file" in line
    line = here("runs", "--uri", f"sqlite:{'a' * 300}").failed_with_one_line()
    assert "cannot be opened: File name too long" in line
    line = here("runs", "--uri", "sqlite:a\nb").failed_with_one_line()
    assert r"there is no database file a\nb" in line


@pytest.mark.parametrize("uri", ["bolt://a\nb", "neo4j://localhost\t", "bolt://\x1b[31mhost"])
@on_sqlite
def test_addresses_with_control_characters(here: InProcess, uri: str) -> None:
    line = here("runs", "--uri", uri).failed_with_one_line()
    assert "the address has control characters in it" in line


def test_a_line_is_one_line_whatever_it_quotes() -> None:
    assert as_line("a\nb\x1b[31m\udcff é") == r"a\nb\x1b[31m\udcff é"
    long = as_line("begins " + "a" * 20_000 + " ends")
    assert long.startswith("begins a")
    assert long.endswith("a ends")
    assert len(long) < LONGEST_LINE + 10
