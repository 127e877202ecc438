"""A TCP proxy on loopback that adds a delay and counts round trips: a far server on one machine."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

__all__ = ["Wire", "wire_to"]

CHUNK = 1 << 16


@dataclass
class Wire:
    """What went over it. A trip is a burst from the client that the server answered.

    Attributes:
        loses: tells, of what a client just said, whether the answer gets lost: the server hears it and acts, then
            the connection ends.
        lost: called each time an answer was lost, before the client can notice.
        cuts: tells, of what a client just said, whether the line is cut: the server never hears it, nor anything after
            it, and neither end is told until it is ``mended``.
        ends: tells, each time that something goes by, whether the connection ends before it arrives.
        holds_up: tells for how many seconds it is held up, and all that follows it.
    """

    uri: str
    trips: int = 0
    bytes_to_client: int = 0
    loses: Callable[[bytes], bool] = lambda _: False
    lost: Callable[[], None] = lambda: None
    cuts: Callable[[bytes], bool] = lambda _: False
    mended: threading.Event = field(default_factory=threading.Event)
    ends: Callable[[], bool] = lambda: False
    holds_up: Callable[[], float] = lambda: 0.0

    def reset(self) -> None:
        """Count from zero again."""
        self.trips = self.bytes_to_client = 0


class _Proxy:
    def __init__(self, host: str, port: int, delay: float) -> None:
        self._target = host, port
        self._one_way = delay / 2
        self.wire = Wire("")
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, limit=CHUNK)
        )
        self.wire.uri = f"bolt://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(*self._target)
        turn = _Turn()
        # Ended by stop(): there is nothing to tidy up after.
        with contextlib.suppress(asyncio.CancelledError, ConnectionError):
            await asyncio.gather(
                self._pump(reader, to_server, turn, from_client=True),
                self._pump(from_server, writer, turn, from_client=False),
            )
        writer.close()
        to_server.close()

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        turn: "_Turn",
        *,
        from_client: bool,
    ) -> None:
        while (data := await reader.read(CHUNK)) and not self.wire.ends():
            await asyncio.sleep(self.wire.holds_up())
            if from_client and self.wire.cuts(data):
                while not self.wire.mended.is_set():
                    await asyncio.sleep(0.05)
                break
            if from_client:
                self.wire.trips += not turn.clients
                turn.deaf = turn.deaf or self.wire.loses(data)
            elif turn.deaf:
                self.wire.lost()
                break
            else:
                self.wire.bytes_to_client += len(data)
            turn.clients = from_client
            # In order, and all of it late by the same time: chunks that follow are under way already.
            self._loop.call_later(self._one_way, writer.write, data)
        self._loop.call_later(self._one_way, writer.close)


@dataclass
class _Turn:
    """Who spoke last on a connection, and whether its client hears nothing any more."""

    clients: bool = False
    deaf: bool = False


@contextmanager
def wire_to(uri: str, delay: float) -> Iterator[Wire]:
    """A proxy to the server at ``uri`` whose round trips take ``delay`` seconds longer."""
    parts = urlsplit(uri)
    proxy = _Proxy(parts.hostname or "127.0.0.1", parts.port or 7687, delay)
    proxy.start()
    try:
        yield proxy.wire
    finally:
        proxy.stop()
