"""The Java archives a Neo4j server is made of: listed in a lock file, fetched, checked.

Working out which archives a server needs takes more than a minute, so it is done once per version,
by ``python -m graphbo.stores.neo4j.server.lock``, and kept in ``locks/``. Starting a server then only fetches
what the lock lists, straight into the local Maven repository: what another tool has already
fetched is not fetched again, and what graphbo fetches others may use.

Every archive is hashed before its first use. As hashing 180 MB at each start would be slow, a stamp
outside the repository remembers size and modification time of what was found good; an archive that
differs from its stamp is hashed again.
"""

import hashlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graphbo.errors import ServerError
from graphbo.stores.neo4j.server._extra import extra
from graphbo.stores.neo4j.server.listener import StartListener
from graphbo.types.text import cut

__all__ = ["Artefact", "Repository", "parse_lock", "provide", "read_lock", "versions"]

_CHUNK = 1 << 18
_WORKERS = 8
_ATTEMPTS = 3
_STALE_SECONDS = 3600.0
_LOCKS = resources.files("graphbo.stores.neo4j.server") / "locks"


@dataclass(frozen=True, order=True)
class Artefact:
    """One file of a Maven repository, with what it must contain."""

    group: str
    name: str
    version: str
    classifier: str
    size: int
    sha256: str

    @property
    def coordinate(self) -> str:
        """The usual notation, ``group:name:version`` and the classifier if there is one."""
        parts = [self.group, self.name, self.version, self.classifier]
        return ":".join(part for part in parts if part)

    @property
    def path(self) -> str:
        """Where a Maven repository keeps it, relative to the repository's root."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        file = f"{self.name}-{self.version}{suffix}.jar"
        return "/".join([*self.group.split("."), self.name, self.version, file])

    @property
    def line(self) -> str:
        """Its line of a lock file."""
        return f"{self.coordinate} {self.size} {self.sha256}"


def parse_lock(text: str) -> tuple[Artefact, ...]:
    """Read the text of a lock file: a coordinate, a size and a SHA-256 per line.

    Raises:
        ServerError: A line is not of that form, or there is none.
    """
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    if not lines:
        raise ServerError("a lock file that lists nothing")
    return tuple(_parse_line(line) for line in lines)


def _parse_line(line: str) -> Artefact:
    try:
        coordinate, size, sha256 = line.split()
        group, name, version, *classifier = coordinate.split(":")
        (classifier_or_none,) = classifier or [""]
        artefact = Artefact(group, name, version, classifier_or_none, int(size), sha256)
        length = len(bytes.fromhex(sha256))
    except ValueError as error:
        raise ServerError(f"not a line of a lock file: {line!r}") from error
    if length != hashlib.sha256().digest_size:
        raise ServerError(f"a lock file's line without a SHA-256: {line!r}")
    if any(part in {"", ".", ".."} or "\\" in part for part in artefact.path.split("/")):
        raise ServerError(f"a lock file's line leads out of the repository: {line!r}")
    return artefact


def versions() -> tuple[str, ...]:
    """The versions of Neo4j that have a lock, newest first."""
    names = [item.name for item in _LOCKS.iterdir() if item.name.endswith(".lock")]
    found = [name.removeprefix("neo4j-").removesuffix(".lock") for name in names]
    return tuple(sorted(found, key=_version_order, reverse=True))


def _version_order(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def read_lock(version: str) -> tuple[Artefact, ...]:
    """The archives of a version of Neo4j.

    Raises:
        ServerError: graphbo has no lock for this version.
    """
    if version not in versions():
        raise ServerError(
            f"Neo4j {version} is not among the versions that can be started here: "
            f"{', '.join(versions())}"
        )
    return parse_lock((_LOCKS / f"neo4j-{version}.lock").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Repository:
    """Where archives are fetched from and kept."""

    root: Path
    """The local Maven repository."""
    remotes: tuple[str, ...]
    """Addresses to fetch from, the first one first."""
    stamps: Path
    """Where graphbo remembers which archives it found good."""

    @classmethod
    def default(cls) -> "Repository":
        """The repository of this user, as configured for jgo (its settings file, ``M2_REPO``).

        Raises:
            ServerError: The extra ``graphbo[server]`` is not installed.
        """
        settings = extra("jgo.config").GlobalSettings.load()
        central = {"central": extra("jgo.constants").MAVEN_CENTRAL_URL}
        remotes = {**central, **settings.repositories}
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return cls(
            root=Path(settings.repo_cache),
            remotes=tuple(str(address).rstrip("/") for address in remotes.values()),
            stamps=Path(cache) / "graphbo" / "artefacts.json",
        )

    def file(self, artefact: Artefact) -> Path:
        """Where an archive is kept."""
        return self.root / artefact.path


def provide(
    artefacts: Iterable[Artefact], repository: Repository, progress: StartListener
) -> tuple[Path, ...]:
    """Make sure that every archive is there and is the right one; fetch what is not.

    Each archive appears in the repository whole and checked, or not at all: when this is
    interrupted, the next call goes on with what is still missing.

    Returns:
        The archives' files, in the order given.

    Raises:
        ServerError: An archive cannot be fetched, or is not what the lock says.
    """
    wanted = tuple(artefacts)
    stamps = _Stamps(repository.stamps)
    missing = [item for item in wanted if not _is_good(item, repository.file(item), stamps)]
    if missing:
        try:
            _fetch_all(missing, repository, stamps, progress)
        finally:
            stamps.save()
    stamps.save()
    return tuple(repository.file(item) for item in wanted)


class _Stamps:
    """Remembers, per file, the size, time and hash it had when it was found good."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = self._load()
        self._changed = False

    def _load(self) -> dict[str, list[Any]]:
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}  # the price of a lost stamp file is that archives are hashed once more
        return known if isinstance(known, dict) else {}

    def holds(self, file: Path, sha256: str) -> bool:
        return self._known.get(str(file)) == _stamp(file, sha256)

    def add(self, file: Path, sha256: str) -> None:
        self._known[str(file)] = _stamp(file, sha256)
        self._changed = True

    def save(self) -> None:
        if not self._changed:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            partial = self._path.with_suffix(f".{os.getpid()}")
            partial.write_text(json.dumps(self._known, indent=0), encoding="utf-8")
            partial.replace(self._path)
        except OSError:
            return  # a cache that cannot be written makes the next start slower, not wrong
        self._changed = False


def _stamp(file: Path, sha256: str) -> list[Any]:
    status = file.stat()
    return [status.st_size, status.st_mtime_ns, sha256]


def _is_good(artefact: Artefact, file: Path, stamps: _Stamps) -> bool:
    try:
        if file.stat().st_size != artefact.size:
            return False
        if stamps.holds(file, artefact.sha256):
            return True
        if _sha256(file) != artefact.sha256:
            return False
        stamps.add(file, artefact.sha256)
    except OSError:
        return False
    return True


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch_all(
    missing: list[Artefact], repository: Repository, stamps: _Stamps, progress: StartListener
) -> None:
    progress.fetching(len(missing), sum(item.size for item in missing))
    lock = threading.Lock()
    stop = threading.Event()
    session = _session()

    def arrived(size: int) -> None:
        with lock:
            progress.fetched(size)

    def fetch(artefact: Artefact) -> None:
        file = _fetch(artefact, repository, _Download(session, arrived, stop))
        with lock:
            stamps.add(file, artefact.sha256)

    # Long downloads first, so that none of them is what everybody waits for in the end.
    ordered = sorted(missing, key=lambda item: item.size, reverse=True)
    with session, ThreadPoolExecutor(_WORKERS) as pool:
        try:
            for done in [pool.submit(fetch, item) for item in ordered]:
                done.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _session() -> Any:
    """A connection pool with patience for a busy or flaky repository."""
    requests = extra("requests")
    retry = extra("urllib3").Retry(
        total=4,
        connect=1,  # whoever is offline wants to know it soon
        backoff_factor=0.5,
        status_forcelist=(429, 500, 502, 503, 504),
    )
    session = requests.Session()
    adapter = extra("requests.adapters").HTTPAdapter(max_retries=retry, pool_maxsize=_WORKERS)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


class _StoppedError(Exception):
    """Another download failed, or the user has had enough."""


class _Download:
    """Reads addresses through a session, tells what arrives, ends early when asked to."""

    def __init__(self, session: Any, arrived: Any, stop: threading.Event) -> None:
        self._session = session
        self.arrived = arrived
        self._stop = stop

    def chunks(self, address: str) -> Iterator[bytes]:
        with self._session.get(address, stream=True, timeout=(10, 20)) as response:
            response.raise_for_status()
            for chunk in response.iter_content(_CHUNK):
                if self._stop.is_set():
                    raise _StoppedError
                yield chunk


def _fetch(artefact: Artefact, repository: Repository, download: _Download) -> Path:
    problem: Exception | None = None
    for address in repository.remotes:
        for _ in range(_ATTEMPTS):
            try:
                return _fetch_from(f"{address}/{artefact.path}", artefact, repository, download)
            except extra("requests").HTTPError as error:
                problem = error
                break  # the session has tried again where that makes sense
            except (OSError, ServerError) as error:  # requests' errors are OSErrors
                problem = error
    if isinstance(problem, ServerError):
        raise problem
    raise ServerError(f"cannot fetch {artefact.coordinate}: {_one_line(problem)}") from problem


def _one_line(problem: Exception | None) -> str:
    response = getattr(problem, "response", None)
    if response is not None:
        # The text of this error has the whole address, where users may have put a password.
        return f"{urlsplit(response.url).hostname} answers {response.status_code}"
    return cut(" ".join(str(problem).split()), 300)


def _fetch_from(
    address: str, artefact: Artefact, repository: Repository, download: _Download
) -> Path:
    file = repository.file(artefact)
    file.parent.mkdir(parents=True, exist_ok=True)
    _sweep(file)
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".part", dir=file.parent)
    partial = Path(name)
    size = 0
    digest = hashlib.sha256()
    try:
        with os.fdopen(handle, "wb") as stream:
            for chunk in download.chunks(address):
                stream.write(chunk)
                digest.update(chunk)
                size += len(chunk)
                download.arrived(len(chunk))
        _refuse_wrong(artefact, size, digest.hexdigest())
        partial.chmod(0o644)  # mkstemp is for secrets; a Maven repository is shared reading
        partial.replace(file)
    except BaseException:
        partial.unlink(missing_ok=True)
        download.arrived(-size)
        raise
    return file


def _refuse_wrong(artefact: Artefact, size: int, sha256: str) -> None:
    if (size, sha256) != (artefact.size, artefact.sha256):
        raise ServerError(
            f"{artefact.coordinate} is not what graphbo was tested with and was not used: expected "
            f"{artefact.size} bytes with SHA-256 {artefact.sha256}, got {size} with {sha256}"
        )


def _sweep(file: Path) -> None:
    """Remove what downloads of this file left behind when they were killed."""
    for partial in file.parent.glob(f".{file.name}.*.part"):
        try:
            if time.time() - partial.stat().st_mtime > _STALE_SECONDS:
                partial.unlink()
        except OSError:
            continue  # another process may sweep as well
