"""A database out of a dump, put in the place of the one that a home has.

::

    HOME/incoming/         only while a dump is being loaded
      conf/  java.args     for neo4j-admin
      admin.log            what it prints
      new/                 what it has written so far
      ready/               the whole database, about to take its place
      old/                 what was in its place, until the server answers with the new one

Whatever kills us, the home has one of the two databases whole. Until ``new`` becomes ``ready`` it is the old one,
and what is in ``new`` is thrown away. From then on it is the new one: the next start moves it into its place, however
far that had come.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from graphbo.errors import ServerError
from graphbo.stores.neo4j.server.home import DATABASE
from graphbo.types.text import cut

__all__ = ["Contents", "Incoming", "open_dump"]

#: How dumps begin: those of Neo4j 5, by the way they are packed, and those of Neo4j 4, which are packed tar archives.
_MAGIC: Final = re.compile(rb"D[A-Z]V\d|\x1f\x8b|\x28\xb5\x2f\xfd")

#: The directories that hold a database each.
_PARTS: Final = ("databases", "transactions")

_FULL: Final = "No space left on device"


@dataclass(frozen=True)
class Contents:
    """What a database holds."""

    nodes: int
    relationships: int
    labels: tuple[str, ...]
    types: tuple[str, ...]
    rules: int
    """Constraints, and indexes that are not there from the beginning."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be lost with it."""
        return not (self.nodes or self.relationships or self.rules)


def open_dump(path: Path) -> Path:
    """The path of a file that looks like a dump.

    Raises:
        ServerError: It cannot be read, or is something else.
    """
    try:
        with path.open("rb") as file:
            head = file.read(4)
    except OSError as error:
        raise ServerError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # a NUL in the path
        raise ServerError(f"{str(path)!a} cannot be read: {error}") from None
    if not _MAGIC.match(head):
        raise ServerError(f"{path} is not a dump: expected what neo4j-admin database dump writes")
    return path


class Incoming:
    """The database that is on its way into a home.

    Args:
        home: The home's directory. Whoever changes something here holds its lock.
    """

    def __init__(self, home: Path) -> None:
        self._data = home / "data"
        self.path = home / "incoming"
        self._log = self.path / "admin.log"

    def load(self, dump: Path, java: Sequence[str], settings: Mapping[str, str], lock: int) -> None:
        """Let neo4j-admin unpack a dump, in the format that the server has.

        Args:
            dump: The file.
            java: The program and its arguments, up to the class.
            settings: What neo4j-admin is told beside where to write.
            lock: The home's lock. neo4j-admin inherits it, so that nobody comes in its way if we are killed.

        Raises:
            ServerError: The dump is damaged, of a version that is too new, or there is no room for it.
        """
        for name in ("new", "conf"):
            _remove(self.path / name)
        (self.path / "conf").mkdir(parents=True, mode=0o700)
        lines = {**settings, "server.directories.data": str(self.path / "new")}
        (self.path / "conf" / "neo4j.conf").write_text(
            "".join(f"{name}={value}\n" for name, value in lines.items()), encoding="utf-8"
        )
        admin = [*java, "org.neo4j.cli.AdminTool", "database"]
        try:
            with dump.open("rb") as file:
                # From a stream: it would take the name of the file for that of the database.
                self._run([*admin, "load", "--from-stdin", DATABASE], dump, lock, file.fileno())
            self._run([*admin, "migrate", DATABASE], dump, lock, subprocess.DEVNULL)
        except BaseException:
            _remove(self.path / "new")
            raise

    def accept(self) -> None:
        """From now on the home's database is the one that was loaded."""
        _remove(self.path / "ready")
        (self.path / "new").rename(self.path / "ready")

    def take_place(self) -> None:
        """Put what was accepted into its place, or go on with that; the server does not run."""
        for part in _PARTS:
            ready, place, old = self._places(part)
            if ready.exists():
                if place.exists():
                    _move(place, old)
                _move(ready, place)

    def give_back(self) -> None:
        """Put what was there before into its place again; the server does not run."""
        old = self.path / "old"
        if old.exists():
            _remove(self.path / "ready")
            old.rename(self.path / "ready")
            self.take_place()
        self.clear()

    def clear(self) -> None:
        """Forget what was there before: the server answers with the new one."""
        _remove(self.path)

    def _places(self, part: str) -> tuple[Path, Path, Path]:
        """Where a directory of the database comes from, where it belongs, and where the old one goes."""
        return (
            self.path / "ready" / part / DATABASE,
            self._data / part / DATABASE,
            self.path / "old" / part / DATABASE,
        )

    def _run(self, command: Sequence[str], dump: Path, lock: int, stdin: int) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NEO4J_")}
        environment["NEO4J_HOME"] = str(self.path)
        environment["NEO4J_CONF"] = str(self.path / "conf")
        with self._log.open("wb") as log:
            child = subprocess.Popen(  # noqa: S603 - our own command, no shell
                command,
                stdin=stdin,
                stdout=log,
                stderr=log,
                cwd=self.path,
                env=environment,
                pass_fds=(lock,),
            )
            try:
                code = child.wait()
            except BaseException:
                child.kill()
                child.wait()
                raise
        if code:
            raise ServerError(self._why(dump))

    def _why(self, dump: Path) -> str:
        """What neo4j-admin says is wrong, in one line."""
        printed = self._log.read_text(encoding="utf-8", errors="replace")
        if _FULL in printed:
            free = shutil.disk_usage(self.path).free
            return (
                f"{self.path} has no room for the database in {dump}: make some more than the"
                f" {free / 1e6:,.0f} MB that are free"
            )
        told, _, _ = printed.partition("Full exception details")
        lines = [line.strip() for line in told.splitlines() if line.strip(" \t-")]
        last = lines[-1] if lines else "it printed nothing"
        return f"{dump} cannot be loaded: neo4j-admin says: {cut(last, 300)}"


def _move(source: Path, target: Path) -> None:
    """Rename a directory; what is in its place already is of a database that never answered."""
    if target.exists():
        _remove(source)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)


def _remove(path: Path) -> None:
    if path.exists():
        shutil.rmtree(path)
