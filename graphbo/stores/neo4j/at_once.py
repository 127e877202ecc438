"""Writing what will probably be decided, in the statement that takes the lock and looks: two trips in place of four.

A worker that is alone with its run knows how it stands, so it knows what the rules will say. That guess is written
at once, and committed if the rules, applied to what was found, say just that. Otherwise it is rolled back: a wrong
guess costs time and nothing else.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Generic, TypeVar

import neo4j

from graphbo.stores.log import Decide, Free, HandOut, Lookup, Observe, Write
from graphbo.stores.neo4j.connection import rows_of
from graphbo.stores.neo4j.locked_run import found_node, parameters_of, snapshot_of, time_of
from graphbo.stores.neo4j.statements import statement

__all__ = ["AtOnce", "WrongGuess"]

#: What can be written as the run is locked and looked at, by which statement.
STATEMENTS: Mapping[type[Write], str] = {
    HandOut: "run_ask_at_once",
    Observe: "run_observe_at_once",
}

Answer = TypeVar("Answer")


class WrongGuess(Exception):
    """What was written in advance is not what is to be written: it must not be committed."""


class AtOnce(Generic[Answer]):
    """One statement that locks a run, looks, and writes a guess, and the check that decides whether it is committed."""

    def __init__(self, run: str, lookup: Lookup, decide: Decide[Answer], guess: Write) -> None:
        asked: dict[str, object] = {"run": run, "token": lookup.by, "since": lookup.since}
        self._view = lookup.view
        self._decide = decide
        self._guess = guess
        written = statement(STATEMENTS[type(guess)])
        self.text, self.parameters = written.call(parameters_of(guess) | asked, lookup.view)

    @staticmethod
    def fits(guess: Write | None) -> bool:
        """Whether there is a guess that a statement can write at once."""
        return type(guess) in STATEMENTS

    def checked(self, result: neo4j.Result) -> tuple[Answer, str]:
        """The answer, and when the guess was written.

        Raises:
            WrongGuess: something else is to be written. Raising it ends the transaction without a commit.
        """
        rows = rows_of(result)
        found = snapshot_of(rows[0], self._view) if rows else None
        if found is None or rows[0]["written"] != 1:
            raise WrongGuess
        # What was written when a node was asked for shows that the first candidate was free.
        nodes = [found_node(node) for node in rows[0].get("found", ())]
        answer, writes = self._decide(replace(found, free=Free(0, nodes)))
        if list(writes) != [self._guess]:
            raise WrongGuess
        return answer, time_of(rows[0])
