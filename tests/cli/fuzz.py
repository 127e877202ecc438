"""Random command lines: every command and option that there is, with values that are good, odd or hostile."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Final

import click

from graphbo.cli import graphbo
from graphbo.cli.parameter_types import NameOf
from graphbo.search.strategies import STRATEGIES, create_strategy

__all__ = ["HOME", "command_line"]

#: What starts servers, or compares methods for hours.
LEFT_OUT: Final = {("bench",), ("dashboard",), ("mcp",), ("neo4j", "up")}
#: Where there is no server, so that none of this machine's own is ever touched.
HOME: Final = "no-server-here"

#: Good for what they are called, or nearly so; the first is taken most often.
NAMED: Final[Mapping[str, Sequence[str]]] = {
    "name": ("finished", "extreme", "by-hand", "new"),
    "run name": ("new", "finished", "by-hand"),
    "ask name": ("new", "finished", "by-hand"),
    "tell name": ("by-hand", "finished", "new"),
    "release name": ("by-hand", "finished", "new"),
    "cypher name": ("ego_networks", "run_lock", "create_key"),
    "tasks name": ("grid", "centrality", "teams"),
    "release key": ("7", "text"),
    "spec": ("ba:n=8,m=2", "edges.csv", "grid:2x3", "ws:n=8,k=2,p=1e-3", "task:grid:n=4", "er:n=-1,p=2"),
    "key": ("id", "score", "name"),
    "uri": ("sqlite:graphbo.db", "sqlite::memory:", "sqlite:edges.csv", "bolt://127.0.0.1:1"),
    "credentials": ("edges.csv", "credentials.txt", "/dev/zero"),
    "database": ("neo4j",),
    "labels": ("N", "M"),
    "label": ("M", "N"),
    "relationships": ("R", "S", "R=0.5"),
    "rel": ("S", "R"),
    "weight": ("weight",),
    "candidates": ("N", "M", "N&!M"),
    "paths": ("(:N)-[:R]-(:N)", "(:N)-[:R]->()<-[:R]-(:N)", "(:N)-[r:R WHERE r.weight > 1]-(:N)", "(:N)"),
    "hop": ("edges.csv", "missing.cypher", "/dev/zero"),
    "where": ("score > 1", ":N AND NOT name IS NULL", "score >", "id IN [1, 2]"),
    "candidates_where": ("score > 1", "name STARTS WITH 'n'"),
    "hub_limit": ("1000", "3"),
    "default_weight": ("1", "0.5", "-1"),
    "objective": ("property:score", "property:name", "python:math:sqrt", "command:false", "cypher:x"),
    "task": ("grid:n=4,m=4", "centrality:graph=ba,n=20", "teams:n=-1", "grid:n=1e9"),
    "budget": ("3", "12", "61"),
    "option": ("size=20", "kernel=matern", "patience=2", "initial=1", "acquisition=ucb", "degrees=false"),
    "kernel": ("auto", "matern", "diffusion"),
    "start": ("7", "text"),
    "warm_start": ("score", "name"),
    "prefix": ("mine", "graphbo"),
    "seconds": ("10", "1m"),
    "timeout": ("10", "1m"),
    "lease": ("60", "1h"),
    "retries": ("0", "1"),
    "batch_size": ("1", "3"),
    "interval": ("0.1",),
    "output": ("out", "out.html", "out.png", "missing/out.svg"),
    "optimum": ("10", "-3.5"),
    "home": (HOME,),
    "data_dir": (".",),
    "node": ("7",),
}  # fmt: skip

NUMBERS: Final = (
    "", "-", "-0", "0", "-1", "1.5", "1_000", "٣", "³", "0x10", "1e3", "nan", "-nan", "inf", "-inf", "1e308",
    "-1e308", "1.7976931348623157e308", "1e400", "5e-324", "1e-300", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "99999999999999999999", "1" + "0" * 400,
    "9" * 5000, "-" + "9" * 5000, "0." + "9" * 5000, "0." + "0" * 400 + "1", "1e300", "9" * 18, "2147483648",
    "1e99999h", "9" * 400 + "h", "9" * 30 + "m", "0.0000000001s",
)  # fmt: skip
WORDS: Final = (
    " ", "--", "--5", "\n", "a\nb", "\t", "\x1b[31mred", "\x7f", "\u202e", "\ufeff", "\udcff", "é", "😀",
    "a" * 20_000, "a" * 255, "\\", "`", "'", '"', "'; DROP TABLE node; --", "\\u0060", "{}", "{0}", "%s", "%(x)s",
    "$key", "[bold]x[/]", "x=y", "=", "a=", "=b", ",", "/", "..", "/dev/null", "/dev/zero", "/proc/self/mem",
    "true", "null", "[]", '{"a": 1}', "[" * 2000, "*", "~", "file:x?mode=rw", "sqlite:", "sqlite://x", "sqlite:\n",
    "sqlite:.", "sqlite:/dev/null", "bolt://", "bolt://[", "bolt://127.0.0.1:99999", "bolt://a b", "neo4j://\n",
    "bolt://127.0.0.1:1/?x=y", "http://", "ftp://x", "http://127.0.0.1:1/x", "python:", "python:nothing:x",
    "python:..:x", "command:", "command:'", "property:", "cypher:/", "task:", "task:x", "grid:", "grid:0x0",
    "grid:n=nan", "grid:n=" + "9" * 5000, "ba:", "ba:n=1e400,m=nan", "ba:n=8,m=" + "9" * 5000, "er:n=inf,p=1",
    "er:n=5,p=1e400", "ws:n=0,k=0,p=0", "sbm:sizes=,p_in=2", "tolerance=1e999", "size=1e400", "size=-1",
    "size=99999999999999999999", "size=" + "9" * 5000, "noise=nan", "noise=1e308", "noise=NaN", "noise=Infinity",
    "order=99999999999", "beta=1e308", "initial=99999999999999999999", "patience=0",
)  # fmt: skip

#: What strategies can be told.
OPTIONS: Final = sorted({name for one in STRATEGIES for name in create_strategy(one).options})

#: All that is tried: a machine full of processes helps nobody, nor does waiting for a cluster.
UNTRIED: Final = {"workers": ("1", "0", "-1", "x", "nan"), "executor": ("x", "dask://", "")}
#: What most commands cannot do without.
ALWAYS: Final = {"labels", "relationships", "objective", "budget", "words", "home"}
#: What makes most commands end before they have begun.
SELDOM: Final = {"credentials", "data_dir", "executor", "task", "hop"}


def every_command() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """All that there are, with the words that call them."""

    def below(
        path: tuple[str, ...], command: click.Command
    ) -> Iterator[tuple[tuple[str, ...], click.Command]]:
        if not isinstance(command, click.Group):
            yield path, command
            return
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from below((*path, name), found)

    yield from below((), graphbo)


COMMANDS: Final = tuple(one for one in every_command() if one[0] not in LEFT_OUT)


def command_line(random: Random) -> list[str]:
    """A command line that is mostly in order: what is wrong everywhere is refused at once, and shows little."""
    path, command = random.choice(COMMANDS)
    hostile = set(
        random.sample(command.params, min(random.choice((0, 1, 1, 1, 2)), len(command.params)))
    )
    words: list[str] = []
    # Options first: what looks like one may be a key, after two dashes.
    for one in sorted(command.params, key=lambda one: isinstance(one, click.Argument)):
        if isinstance(one, click.Argument) and one in hostile and random.random() < 0.5:
            words.append("--")
        likely = 1.0 if one.required or one.name in ALWAYS else 0.0 if one.name in SELDOM else 0.12
        if one in hostile or random.random() < likely:
            words += _given(one, path[0], random, hostile=one in hostile)
    # Following a run that nobody works on has no end.
    return [*path, *(word for word in words if word != "--watch" or "finished" in words)]


def _given(one: click.Parameter, command: str, random: Random, *, hostile: bool) -> list[str]:
    """The words that give a parameter its value."""
    if isinstance(one, click.Option) and one.is_flag:
        return [random.choice([*one.opts, *one.secondary_opts])]
    if one.name == "words":
        words = ["7", random.choice(NUMBERS)]
        return (
            words
            if not hostile
            else [random.choice((*WORDS, *NUMBERS)), *words[random.choice((0, 1)) :]]
        )
    count = random.choice((0, 1, 2)) if one.nargs == -1 else 1
    values = [_value(one, command, random, hostile=hostile) for _ in range(count)]
    if isinstance(one, click.Argument):
        return values
    return [word for value in values for word in (one.opts[-1], value)]


def _value(one: click.Parameter, command: str, random: Random, *, hostile: bool) -> str:
    name = one.name or ""
    if name in UNTRIED:
        return random.choice(UNTRIED[name])
    if hostile and name == "option" and random.random() < 0.7:
        return f"{random.choice(OPTIONS)}={random.choice(NUMBERS)}"
    if hostile and name != "home":
        numeric = not isinstance(one.type, click.types.StringParamType | click.Path)
        return random.choice(NUMBERS if numeric or random.random() < 0.3 else WORDS)
    if isinstance(one.type, click.Choice | NameOf):
        return str(random.choice(list(one.type.choices)))
    good = NAMED.get(f"{command} {name}") or NAMED.get(name, ("1", "2", "3"))
    return good[0] if random.random() < 0.7 else random.choice(good)
