"""``--caption``: what people call nodes, beside their keys, in all that commands print."""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

import click

from graphbo.cli.as_printed import named
from graphbo.errors import GraphboError
from graphbo.runs.captions import Captions, caption_remark
from graphbo.runs.records import RunRecord
from graphbo.stores import Address, GraphStore, open_store
from graphbo.types import NodeKey, View

__all__ = ["Namer", "caption_option", "captions_of", "namer"]

Command = TypeVar("Command", bound=Callable[..., Any])

#: How long the end of a command waits for captions that are still being looked up.
PATIENCE = 5.0


def caption_option(command: Command) -> Command:
    """``--caption``."""
    return click.option(
        "--caption",
        metavar="PROPERTY",
        help="Node property to show beside the key.  [default: what the run was started with]",
    )(command)


def captions_of(store: GraphStore, record: RunRecord, given: str | None = None) -> Captions:
    """The captions of a run's nodes, by the property that is given, else by that of the run."""
    kept = record.config.get("caption")
    if given is not None and given != kept:
        remark = caption_remark(store, record.view, given)
        if remark is not None:
            click.echo(remark, err=True)
    return Captions(store, record.view, given or kept)


# While a run works


class Namer(Protocol):
    """Calls nodes by their captions without anybody's having to wait for them."""

    @property
    def known(self) -> Captions | None:
        """The captions that are known now."""

    def named(self, key: NodeKey) -> str:
        """A node as it may stand in a line, by what is known now."""

    def later(
        self, keys: Iterable[NodeKey], say: Callable[[Captions], None] = lambda _: None
    ) -> None:
        """Look these up, and then say something; what is said stays in order."""


class _AtOnce:
    """Asks a database that is no trip away."""

    def __init__(self, captions: Captions) -> None:
        self.known: Captions | None = captions
        self._captions = captions

    def named(self, key: NodeKey) -> str:
        return named(key, self.known)

    def later(
        self, keys: Iterable[NodeKey], say: Callable[[Captions], None] = lambda _: None
    ) -> None:
        # A run does not end for want of a caption.
        with contextlib.suppress(GraphboError):
            self._captions.read(keys)
        say(self._captions)


class _InThread:
    """Asks over a connection of its own, in a thread of its own: a step does not wait for the trip."""

    def __init__(self, store: GraphStore, address: Address, view: View, name: str) -> None:
        self._store = store
        self._address = address
        self._wanted: SimpleQueue[tuple[list[NodeKey], Callable[[Captions], None]] | None] = (
            SimpleQueue()
        )
        self._view, self._name = view, name
        self.known: Captions | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def named(self, key: NodeKey) -> str:
        return named(key, self.known)

    def later(
        self, keys: Iterable[NodeKey], say: Callable[[Captions], None] = lambda _: None
    ) -> None:
        self._wanted.put((list(keys), say))

    def close(self) -> None:
        self._wanted.put(None)
        self._thread.join(PATIENCE)

    def _work(self) -> None:
        try:
            with open_store(self._address) as store:
                self._answer(Captions(store, self._view, self._name))
        except GraphboError:
            # There is no connection for this: nodes are called by their keys.
            self._answer(Captions(self._store, self._view, None))

    def _answer(self, captions: Captions) -> None:
        self.known = captions
        while (wanted := self._wanted.get()) is not None:
            keys, say = wanted
            with contextlib.suppress(GraphboError):
                captions.read(keys)
            say(captions)


@contextmanager
def namer(store: GraphStore, view: View, caption: str | None) -> Iterator[Namer]:
    """What names nodes while a run works."""
    if caption is None or store.access is None or not store.access.is_neo4j:
        yield _AtOnce(Captions(store, view, caption))
        return
    thread = _InThread(store, store.access, view, caption)
    try:
        yield thread
    finally:
        thread.close()
