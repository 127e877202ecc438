"""What to do about an error, in the words of a terminal: options and commands.

The library says what is wrong, and what to do in words for whoever calls it from Python; this is the one place that
knows how the command line calls the same things.
"""

import logging
from collections.abc import Mapping
from typing import Final

import click

from graphbo.errors import GraphboError, Remedy

__all__ = ["ADVICE", "AdvisingHandler", "advised"]

#: In braces are names of the error's facts, as in the remedies themselves.
ADVICE: Final[Mapping[Remedy, str]] = {
    # A view
    Remedy.NAME_LABEL: ": add --label LABEL",
    Remedy.NAME_RELATIONSHIP: ": add --rel TYPE",
    Remedy.NAME_KEY: ": add --key PROPERTY",
    Remedy.NAME_WEIGHT: ": add --weight PROPERTY, or leave out --default-weight",
    Remedy.NAME_DISTANCE: ": add --weight PROPERTY, or leave out --weight-as",
    Remedy.CHOOSE_LABEL: ": choose --label among {labels}, or load a graph with `graphbo load`",
    Remedy.CHECK_LABEL: ": check --label, or load a graph with `graphbo load`",
    Remedy.CHOOSE_RELATIONSHIP: ": choose --rel among {types}",
    Remedy.CHECK_RELATIONSHIP: ": check --rel",
    Remedy.CHANGE_FILTER: ": change --where or --candidates-where",
    Remedy.CREATE_INDEX: Remedy.CREATE_INDEX,
    Remedy.NAME_RAREST: Remedy.NAME_RAREST,
    Remedy.ASK_OTHERWISE: Remedy.ASK_OTHERWISE,
    Remedy.CONNECT_BY_PATH: "; {way}: --path {path}",
    Remedy.RAISE_HUB_LIMIT: ": raise --hub-limit",
    Remedy.FILTER_CANDIDATES: (
        ": --where leaves out what connects them; with --candidates-where in its place they hang together"
    ),
    Remedy.CONNECT: ": other --rel, or a --path, would have to connect them",
    # Keys and weights
    Remedy.CHECK_KEY: ": check its spelling, and --label and --key",
    Remedy.CHOOSE_KEY: ", or choose another property with --key",
    Remedy.REPLACE_INDEX: (
        ": {drop} first, and create one with `graphbo cypher create_key`, or choose another property "
        "with --key"
    ),
    Remedy.KEEP_UNIQUE: (
        ": a constraint would; {drop}, then what `graphbo cypher create_key` prints"
    ),
    Remedy.CHOOSE_UNIQUE: ": choose --key among those that a constraint makes unique, {keys}",
    Remedy.GIVE_UNIQUE: ": a --key with a uniqueness constraint is better",
    Remedy.CREATE_KEY: (
        ": create one with `graphbo cypher create_key`, or choose another property with --key"
    ),
    Remedy.MAKE_UNIQUE: ": give each node a value of its own first, or choose another property with --key",
    Remedy.LOAD_WITH_KEY: ": load the graph with it as its key, or leave out --key",
    Remedy.USE_KEY: ": use --key {key}",
    Remedy.USE_KEY_OR_FILE: ": use --key {key}, another label, or --replace in a new file",
    Remedy.RENAME_KEY: ": choose another --key",
    Remedy.GIVE_DEFAULT_WEIGHT: "; --default-weight W is for those that have none",
    Remedy.LEAVE_OUT_WEIGHT: ": leave out --weight {weight}",
    Remedy.NAME_COST: ": add --cost PROPERTY",
    Remedy.LEAVE_OUT_COSTLESS: ": set it, or leave such nodes out with --candidates-where",
    Remedy.CHECK_COST: ": check --cost",
    Remedy.SET_COST: ": set it, or leave the node alone with `graphbo exclude`",
    # Databases
    Remedy.LOAD_FIRST: (
        ": load a graph first (`graphbo load --help`), or name another with --uri sqlite:FILE"
    ),
    Remedy.NAME_FILE: ": name another file with --uri sqlite:FILE",
    Remedy.NAME_DATABASE: ": name another with --database or NEO4J_DATABASE",
    Remedy.GIVE_CREDENTIALS: (
        ": set NEO4J_USERNAME and NEO4J_PASSWORD, or give a file with --credentials"
    ),
    Remedy.EXPECT_CREDENTIALS: ": expected the file that Neo4j Aura or `graphbo neo4j up` wrote",
    Remedy.CHECK_SERVER: (
        ": check the address and that the server runs (`graphbo neo4j up` starts one here)"
    ),
    Remedy.GIVE_PAGE: (
        ": give --browser-url one like http://HOST:7474/browser/ (or https), without a user in it"
    ),
    # A local Neo4j
    Remedy.CHOOSE_HOME: ": choose another --home",
    Remedy.KEEP_VERSION: ": use --version {version}, or another --home",
    Remedy.START_SERVER: ": start one with `graphbo neo4j up`, or choose another --home",
    Remedy.REPLACE_DATABASE: ": replace all of it with --overwrite, or choose another --home",
    Remedy.CHOOSE_PORT: ": choose another --{purpose}-port, or leave it out",
    # Loading
    Remedy.REMOVE_RUN_OF_NODES: (
        ": remove it first with `graphbo clean {run}`, or load under another --label"
    ),
    Remedy.SKIP_BAD: ": nothing was loaded; correct {them} or add --skip-bad",
    Remedy.LOAD_TABLES: ": give it with --nodes or --edges (`graphbo load --help`)",
    Remedy.SAY_HEADER: (
        ": give it with --nodes, its ids in a column id:ID, or say with --header that these are edges"
    ),
    Remedy.LOOK_AT_TASKS: "; `graphbo tasks` lists what there is",
    Remedy.RUN_TASK: (
        ": `graphbo run --task {task}` loads all of it, or choose through=projection"
    ),
    Remedy.NAME_DATA: (
        ": name its directory with --data-dir or {variable}; the data are from {origin}, as a packed list of edges "
        "with the header source,target"
    ),
    Remedy.FETCH_DATA: (
        " (--data-dir or {variable}): download it from {origin}, and pack its edges under that name, with the header "
        "source,target"
    ),
    # Objectives
    Remedy.GIVE_WHOLE_ADDRESS: ", give the whole address with --objective",
    Remedy.USE_NEO4J: ": give --uri neo4j://HOST, or another objective",
    Remedy.MEND: Remedy.MEND,
    Remedy.MEND_OR_ALLOW: "; mend the objective and run again, or raise --max-failures",
    # Runs
    Remedy.RESUME: ": resume it, or choose another --name",
    Remedy.GIVE_HOP: (
        ": see all of it with `graphbo runs --json`, and name it with --hop FILE, or go on with `graphbo run --trust`"
    ),
    Remedy.REPEAT_OPTIONS: ": repeat those, or choose another --name",
    Remedy.RESTORE_RUN: "; restore it from a backup, or remove the run with `graphbo clean`",
    Remedy.REMOVE_RUN: ": remove that with `graphbo clean`",
    Remedy.CHOOSE_PREFIX: ": use --write-prefix {prefix}",
    Remedy.CHOOSE_PREFIX_OR_REMOVE: (
        ": use --write-prefix {prefix}, or remove that run with `graphbo clean`"
    ),
    Remedy.GO_ON_WITH_PREFIX: ": the node is as it was; go on with --write-prefix {prefix}",
    Remedy.NAME_COLUMN: ": name it with --{what}-column",
    Remedy.COLLECT: ": tell it with `graphbo collect`, or remove it there",
    Remedy.RETRY: ": give it back with `graphbo retry`",
    Remedy.INCLUDE_FIRST: ": include it first with `graphbo include`",
    Remedy.NARROW_CANDIDATES: ": start a run whose --candidates-where leaves them out",
    Remedy.ASK_FIRST: ": nothing is pending; ask first with `graphbo ask`",
    Remedy.AMEND: ": add --amend to replace it",
    Remedy.TELL_LATER: ", for `graphbo tell {run} --from {file}` on this database",
    Remedy.TELL_ANOTHER_RUN: "; `graphbo tell --known --from` tells it to another run",
    # Comparisons
    Remedy.USE_FEWER_PROCESSES: (
        ": the same command goes on from what is finished; try fewer --jobs"
    ),
}


class AdvisingHandler(logging.Handler):
    """Prints what the library warns of, with what to do about it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a line."""
        remedy: Remedy | None = getattr(record, "remedy", None)
        advice = ADVICE[remedy].format(**getattr(record, "facts", {})) if remedy else ""
        click.echo(f"{record.getMessage()}{advice}", err=True)


def advised(error: GraphboError) -> str:
    """The line that a person at a terminal reads of an error."""
    if error.remedy is None:
        return str(error)
    return error.problem + ADVICE[error.remedy].format(**error.facts)
