"""Which runs a database has: they are created, found, listed, stopped and removed here."""

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from graphbo.errors import (
    InvalidName,
    NameInUse,
    NoSuchRun,
    PrefixTaken,
    Remedy,
    RunError,
    RunExists,
)
from graphbo.runs.encoding import (
    as_record,
    as_record_or_reason,
    refuse_unreadable,
    run_properties,
)
from graphbo.runs.marks import Cleaned, Cleaning
from graphbo.runs.records import RunRecord, UnreadableRun
from graphbo.runs.telling import Change
from graphbo.runs.transaction import Transaction
from graphbo.runs.written_names import all_properties, written_labels
from graphbo.stores import GraphStore
from graphbo.stores.log import NO_NEWS, Found, RunLog
from graphbo.stores.subgraphs import show_key
from graphbo.types import NodeKey, View, check_name

__all__ = ["RunRegistry", "runs_in"]

#: How nodes are called by whoever needs no view: by internal ids, whatever graph a run is of, and whether or not its
#: record can still be read.
_ANY_VIEW = View(("GraphboRun",), ("GRAPHBO_OBSERVED",))

#: Most nodes that are listed at once of what an earlier clean has left.
MOST_STRAYS = 100_000


Answer = TypeVar("Answer")


def runs_in(store: GraphStore) -> "RunRegistry":
    """The runs of a database."""
    return RunRegistry(store.log)


class RunRegistry:
    """Which runs a database has."""

    def __init__(self, log: RunLog) -> None:
        self._log = log

    def create(self, record: RunRecord) -> RunRecord:
        """Start a run. Without a prefix of its own it gets the first free one of graphbo, graphbo2, ….

        Raises:
            RunExists, PrefixTaken: its name or its prefix is taken.
            NameInUse: nodes have something of their own under names of that prefix.
            InvalidName: its name or its prefix cannot be used.
        """
        check_name(record.name, "run name")
        while True:
            prefix = self.choose_prefix(record.view, record.prefix)
            if self._log.create_run(run_properties(replace(record, prefix=prefix))):
                return self.get(record.name)
            # Somebody else was quicker to take the name, or the prefix.
            if self._log.list_runs(record.name):
                raise RunExists(f"there is a run {record.name!r} already", Remedy.RESUME)

    def choose_prefix(self, view: View, wanted: str = "") -> str:
        """A prefix whose names nobody uses on the nodes of a view, as far as can be told at a glance.

        Args:
            view: of the run that is to write them.
            wanted: the prefix to use; without it the first free one of graphbo, graphbo2, ….

        Raises:
            PrefixTaken: another run has it.
            NameInUse: nodes have something of their own under one of its names.
            InvalidName: it cannot be used.
        """
        taken = {str(run.get("prefix", "")).casefold(): run for run, _ in self._log.list_runs()}
        if not wanted:
            numbered = (f"graphbo{number}" for number in itertools.count(2))
            free = (one for one in itertools.chain(["graphbo"], numbered) if one not in taken)
            return next(one for one in free if not self._in_use(view, one))
        for name in (*all_properties(wanted), *written_labels(wanted).values()):
            check_name(name, "write prefix")
        if not wanted.isidentifier():
            raise InvalidName(
                f"the write prefix {ascii(wanted)[:60]} is not a word: use letters and digits"
            )
        if wanted.casefold() in taken:
            other = taken[wanted.casefold()]
            raise PrefixTaken(
                f"the run {other.get('name')!r} has the prefix {other.get('prefix')!r}, whose labels are the same",
                Remedy.CHOOSE_PREFIX_OR_REMOVE,
                prefix=self.choose_prefix(view),
            )
        names = self._in_use(view, wanted)
        if names:
            raise NameInUse(
                f"nodes of {view} have {_list(names)} of their own, which a run of the prefix {wanted!r} "
                "would overwrite",
                Remedy.CHOOSE_PREFIX,
                prefix=self.choose_prefix(view),
            )
        return wanted

    def _in_use(self, view: View, prefix: str) -> list[str]:
        """The names of a prefix that somebody uses.

        Raises:
            NameInUse: somebody uses a relationship type of runs, which another prefix would not help against.
        """
        properties, labels = all_properties(prefix), list(written_labels(prefix).values())
        used = self._log.names_in_use(view, properties, labels)
        types = [name for name in used if name not in properties and name not in labels]
        if types:
            raise NameInUse(
                f"there are relationships of the type {_list(types)} that no run has written: graphbo keeps its record "
                "under this name; rename them first"
            )
        # Not every node has its key.
        return sorted({*used, *({view.key} & {*properties})})  # type: ignore[arg-type]

    def occurs(self, view: View, name: str) -> bool:
        """Whether a node of a view has a property of that name, as far as a sample of them shows."""
        return name in self._log.names_in_use(view, [name], [])

    def get(self, name: str) -> RunRecord:
        """The run of that name.

        Raises:
            NoSuchRun: there is none.
            RunDamaged, RunTooNew: it cannot be read.
        """
        found = self._log.list_runs(name)
        if not found:
            raise self.no_such_run(name)
        return as_record(*found[0])

    def find(self, name: str) -> RunRecord | None:
        """The run of that name, if there is one.

        Raises:
            RunDamaged, RunTooNew: it cannot be read.
        """
        found = self._log.list_runs(name)
        return as_record(*found[0]) if found else None

    def all(self) -> list[RunRecord]:
        """All runs that can be read, oldest first."""
        return [one for one in self.listed() if isinstance(one, RunRecord)]

    def listed(self) -> list[RunRecord | UnreadableRun]:
        """All runs, oldest first, also those that cannot be read."""
        return [as_record_or_reason(run, pending) for run, pending in self._log.list_runs()]

    def written(self) -> frozenset[str]:
        """The names of the node properties that any run writes: what people and objectives should not see as data."""
        prefixes = [run.get("prefix") for run, _ in self._log.list_runs()]
        return frozenset(name for prefix in prefixes if prefix for name in all_properties(prefix))

    def change(self, name: str, **properties: object) -> None:
        """Change what may be changed of a run that has begun: its ``state`` or its ``budget``.

        Raises:
            NoSuchRun: there is none.
            RunError: it cannot have that value.
        """
        refuse_unreadable(properties)
        self._transact(name, Change(properties))

    def name_in_use(
        self, record: RunRecord, names: Iterable[str], key: NodeKey | None = None
    ) -> NameInUse:
        """What is said when a node has something of its own where a run would write."""
        which = "a node" if key is None else f"the node {show_key(key)}"
        return NameInUse(
            f"{which} has {_list(names)} of its own, where the run {record.name!r} would write",
            Remedy.GO_ON_WITH_PREFIX,
            prefix=self.choose_prefix(record.view),
        )

    def no_such_run(self, name: str) -> NoSuchRun:
        """What is said when there is no run of that name."""
        names = [str(run.get("name")) for run, _ in self._log.list_runs()]
        known = "there is none yet"
        if names:
            known = f"{'there is' if len(names) == 1 else 'there are'} {', '.join(map(repr, names[:8]))}"
        return NoSuchRun(f"there is no run {ascii(name)[:80]} in this database: {known}")

    # What goes

    def clean(self, name: str) -> Cleaned:
        """Remove every trace of a run from the database, also of one whose record cannot be read.

        Raises:
            NoSuchRun: there is none.
        """
        try:
            return self._transact(name, Cleaning())
        finally:
            # Also if there is no such run: whoever cleaned it may have been killed before it came to this.
            self._log.drop_schema()

    def strays(self, prefix: str, *, scan: bool = False) -> list[Found]:
        """Nodes that still carry what a run of that prefix wrote, though there is no such run any more.

        Args:
            prefix: of the names.
            scan: whether every node may be looked at: otherwise only those with one of the labels are found.

        Raises:
            RunError: there is a run of that prefix.
        """
        labels = list(written_labels(self._unowned(prefix)).values())
        return self._log.strays(all_properties(prefix), labels, scan, MOST_STRAYS)

    def remove_strays(self, prefix: str, strays: Iterable[Found]) -> None:
        """Take the names of a prefix off these nodes.

        Raises:
            RunError: there is a run of that prefix.
        """
        labels = list(written_labels(self._unowned(prefix)).values())
        self._log.remove_strays([node.id for node in strays], all_properties(prefix), labels)

    def _transact(self, name: str, wanted: Transaction[Answer]) -> Answer:
        done = self._log.transact(
            name, wanted.lookup(_ANY_VIEW, NO_NEWS), wanted.decide, grows=wanted.grows
        )
        if done is None:
            raise self.no_such_run(name)
        return done[0]

    def _unowned(self, prefix: str) -> str:
        for run, _ in self._log.list_runs():
            if str(run.get("prefix", "")).casefold() == prefix.casefold():
                raise RunError(
                    f"the prefix {prefix!r} belongs to the run {run.get('name')!r}",
                    Remedy.REMOVE_RUN,
                )
        return prefix


def _list(names: Iterable[str]) -> str:
    return " and ".join(show_key(name) for name in sorted(names))
