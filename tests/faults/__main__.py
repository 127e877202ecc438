"""Faults on real processes and databases, and a table of what survived them.

    python -m tests.faults                                               # all of it
    python -m tests.faults --store sqlite --only kills --kills 50        # some of it, in seconds

Each fault strikes processes of ``graphbo`` that work on a database. What they evaluated and said is compared with
what the database has afterwards. The program fails if anything is lost, doubled, over budget, evaluated twice while
nobody was dead, or left behind. Neo4j is started in a temporary directory, or is the one of GRAPHBO_TEST_NEO4J_URI,
which is emptied.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path

from graphbo.stores import Address
from graphbo.stores.neo4j.server import LocalServer
from tests.backends import Backend, Neo4jBackend, SqliteBackend
from tests.faults.kinds import KINDS, Limits
from tests.faults.site import Site
from tests.faults.table import Row, markdown, try_out
from tests.neo4j_fixture import Servers

STORES = ("sqlite", "neo4j")
MOST_SENTENCES = 10


def main() -> int:
    """Try what the command line asks for; 1 if anything did not hold."""
    options = _options()
    print(f"seed {options.seed}", file=sys.stderr, flush=True)
    directory = Path(tempfile.mkdtemp(prefix="graphbo-faults-"))
    databases = _Databases(directory)
    try:
        rows = [_row(name, store, options, databases) for name, store in _wanted(options)]
    finally:
        databases.close()
    print(*markdown(rows), sep="\n")
    if all(row.held for row in rows):
        shutil.rmtree(directory)
        return 0
    print(f"What the commands said is in {directory}", file=sys.stderr)
    return 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--store", choices=(*STORES, "both"), default="both")
    add("--only", choices=tuple(KINDS), action="append", metavar="KIND", help=", ".join(KINDS))
    add("--kills", type=int, metavar="N", help="faults in each row  [default: the row's own]")
    add("--seconds", type=float, default=3600.0, metavar="S", help="most time for each row")
    add("--workers", type=int, default=8, metavar="N", help="most workers that share a run")
    add("--seed", type=int, default=random.SystemRandom().randrange(10**6), metavar="N")
    return parser.parse_args()


def _wanted(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    stores = STORES if options.store == "both" else (options.store,)
    for name in options.only or KINDS:
        for store in stores:
            if store in KINDS[name].faults:
                yield name, store


def _row(name: str, store: str, options: argparse.Namespace, databases: "_Databases") -> Row:
    kind = KINDS[name]
    limits = Limits(options.kills or kind.faults[store], options.workers)
    rng = random.Random(f"{options.seed} {name} {store}")
    began = time.monotonic()
    row = try_out(kind, partial(databases.site, name, store), rng, limits, options.seconds)
    tell = _Telling(f"{name} on {store}")
    tell(f"{row.survived:,} of {row.tried:,} survived, {time.monotonic() - began:.0f} s")
    if row.impossible:
        tell(f"not tried: {row.impossible}")
    for sentence in row.findings.sentences()[:MOST_SENTENCES]:
        tell(sentence)
    if not row.held:
        again = f"--only {name} --store {store} --workers {options.workers} --seed {options.seed}"
        tell(f"again: python -m tests.faults {again}")
    return row


class _Telling:
    """Says what happens as it happens; the table comes last."""

    def __init__(self, subject: str) -> None:
        self._subject = subject

    def __call__(self, sentence: str) -> None:
        print(f"{self._subject}: {sentence}", file=sys.stderr, flush=True)


class _Databases:
    """A new file for each row that needs one, and one Neo4j for all others."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._servers = Servers(lambda: directory / "server")

    def site(self, kind: str, store: str) -> Site:
        """Where a row is tried."""
        directory = Path(tempfile.mkdtemp(prefix=f"{kind}-{store}-", dir=self._directory))
        if store == "sqlite":
            return Site(SqliteBackend(directory / "graph.db"), directory)
        backend, server = self._neo4j
        return Site(backend, directory, server)

    @cached_property
    def _neo4j(self) -> tuple[Backend, LocalServer | None]:
        uri = os.environ.get("GRAPHBO_TEST_NEO4J_URI")
        if uri:
            user, password, database = map(
                os.environ.get, ("NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE")
            )
            return Neo4jBackend(Address(uri, user, password, database)), None
        found = self._servers.start()
        address = Address(found.uri, found.username, found.password, found.database)
        return Neo4jBackend(address), found.local

    def close(self) -> None:
        """Stop what was started."""
        if "_neo4j" in vars(self):
            backend, _ = self._neo4j
            assert isinstance(backend, Neo4jBackend)
            backend.close()
        self._servers.stop()


if __name__ == "__main__":
    # Ended by an exception, so that no server and no disk is left behind.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    sys.exit(main())
