"""Archives are fetched once, checked always, and refused when they are not the right ones."""

import functools
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path

import pytest

from graphbo.errors import ServerError
from graphbo.stores.neo4j.server import DEFAULT_VERSION, VERSIONS, Silent
from graphbo.stores.neo4j.server.artefacts import (
    Artefact,
    Repository,
    parse_lock,
    provide,
    read_lock,
)
from graphbo.stores.neo4j.server.lock import render

CONTENT = {"alpha": b"first archive" * 1000, "beta": b"second archive" * 3000, "gamma": b"third"}


def artefact(name: str) -> Artefact:
    content = CONTENT[name]
    digest = hashlib.sha256(content).hexdigest()
    return Artefact("org.example", name, "1.0", "", len(content), digest)


ALL = tuple(artefact(name) for name in CONTENT)


@dataclass
class Remote:
    """A Maven repository whose answers a test can change."""

    files: dict[str, bytes]
    requests: list[str] = field(default_factory=list)
    cut_short: set[str] = field(default_factory=set)
    address: str = ""


class Handler(BaseHTTPRequestHandler):
    def __init__(self, remote: Remote, *rest: object) -> None:
        self.remote = remote
        super().__init__(*rest)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        name = self.path.removeprefix("/maven/")
        self.remote.requests.append(name)
        content = self.remote.files.get(name)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if name in self.remote.cut_short:
            self.remote.cut_short.remove(name)
            content = content[: len(content) // 2]
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


@pytest.fixture
def remote() -> Iterator[Remote]:
    found = Remote({item.path: CONTENT[item.name] for item in ALL})
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, found))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    found.address = f"http://127.0.0.1:{server.server_address[1]}/maven"
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def repository(tmp_path: Path, remote: Remote) -> Repository:
    return Repository(tmp_path / "m2", (remote.address,), tmp_path / "cache" / "stamps.json")


class Recorder(Silent):
    def __init__(self) -> None:
        self.announced: list[tuple[int, int]] = []
        self.arrived = 0

    def fetching(self, files: int, size: int) -> None:
        self.announced.append((files, size))

    def fetched(self, size: int) -> None:
        self.arrived += size


def test_everything_missing_is_fetched_and_told(repository: Repository) -> None:
    progress = Recorder()

    files = provide(ALL, repository, progress)

    assert [file.read_bytes() for file in files] == list(CONTENT.values())
    size = sum(map(len, CONTENT.values()))
    assert progress.announced == [(3, size)]
    assert progress.arrived == size


def test_nothing_is_fetched_twice(repository: Repository, remote: Remote) -> None:
    provide(ALL, repository, Silent())
    remote.requests.clear()
    progress = Recorder()

    provide(ALL, repository, progress)

    assert remote.requests == []
    assert progress.announced == []


def test_a_file_that_another_tool_fetched_is_hashed_and_used(
    repository: Repository, remote: Remote
) -> None:
    file = repository.file(artefact("alpha"))
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENT["alpha"])

    provide(ALL, repository, Silent())

    assert artefact("alpha").path not in remote.requests


def swap(file: Path) -> None:
    """Other content of the same size."""
    file.write_bytes(bytes(len(file.read_bytes())))


@pytest.mark.parametrize("damage", [swap, lambda file: file.write_bytes(b""), Path.unlink])
def test_a_cached_file_that_changed_is_fetched_again(
    repository: Repository, remote: Remote, damage: Callable[[Path], None]
) -> None:
    files = provide(ALL, repository, Silent())
    remote.requests.clear()
    damage(files[1])

    provide(ALL, repository, Silent())

    assert remote.requests == [artefact("beta").path]
    assert files[1].read_bytes() == CONTENT["beta"]


def test_a_wrong_file_put_there_before_the_first_use_is_not_used(
    repository: Repository, remote: Remote
) -> None:
    file = repository.file(artefact("beta"))
    file.parent.mkdir(parents=True)
    file.write_bytes(bytes(len(CONTENT["beta"])))

    provide(ALL, repository, Silent())

    assert file.read_bytes() == CONTENT["beta"]


def test_a_tampered_download_is_refused_and_leaves_nothing(
    repository: Repository, remote: Remote
) -> None:
    bad = artefact("beta")
    remote.files[bad.path] = bytes(bad.size)
    progress = Recorder()

    with pytest.raises(ServerError, match=r"org\.example:beta:1\.0 is not what graphbo") as caught:
        provide([bad], repository, progress)

    assert bad.sha256 in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(repository.file(bad).parent.iterdir())
    assert progress.arrived == 0


def test_a_tampered_cache_is_not_used_when_offline(repository: Repository) -> None:
    files = provide(ALL, repository, Silent())
    swap(files[0])
    offline = Repository(repository.root, ("http://127.0.0.1:9/maven",), repository.stamps)

    with pytest.raises(ServerError, match=r"cannot fetch org\.example:alpha:1\.0") as caught:
        provide(ALL, offline, Silent())

    assert "\n" not in str(caught.value)


def test_a_download_that_breaks_off_is_tried_again(repository: Repository, remote: Remote) -> None:
    remote.cut_short = {artefact("beta").path}
    progress = Recorder()

    files = provide(ALL, repository, progress)

    assert files[1].read_bytes() == CONTENT["beta"]
    assert remote.requests.count(artefact("beta").path) == 2
    assert progress.arrived == sum(map(len, CONTENT.values()))


def test_what_was_fetched_before_a_failure_is_kept(repository: Repository, remote: Remote) -> None:
    missing = remote.files.pop(artefact("gamma").path)
    with pytest.raises(ServerError, match="gamma"):
        provide(ALL, repository, Silent())
    remote.requests.clear()
    remote.files[artefact("gamma").path] = missing

    provide(ALL, repository, Silent())

    assert remote.requests == [artefact("gamma").path]


def test_what_a_killed_download_left_is_swept_once_it_is_old(repository: Repository) -> None:
    file = repository.file(artefact("alpha"))
    file.parent.mkdir(parents=True)
    old, new = (file.with_name(f".{file.name}.{name}.part") for name in ("old", "new"))
    for partial in (old, new):
        partial.write_bytes(b"half")
    os.utime(old, (0, 0))

    provide(ALL, repository, Silent())

    assert not old.exists()
    assert new.exists()


def test_the_next_repository_is_asked_when_one_does_not_have_it(
    repository: Repository, remote: Remote
) -> None:
    other = remote.address.replace("/maven", "/elsewhere")
    both = Repository(repository.root, (other, remote.address), repository.stamps)

    files = provide(ALL, both, Silent())

    assert all(file.exists() for file in files)


def test_a_password_in_a_repositorys_address_is_not_shown(
    repository: Repository, remote: Remote
) -> None:
    secret = remote.address.replace("http://", "http://me:hunter2@")
    private = Repository(repository.root, (secret,), repository.stamps)
    remote.files.clear()

    with pytest.raises(ServerError, match=r"127\.0\.0\.1 answers 404") as caught:
        provide(ALL, private, Silent())

    assert "hunter2" not in str(caught.value)


def test_a_damaged_stamp_file_only_costs_hashing(repository: Repository, remote: Remote) -> None:
    provide(ALL, repository, Silent())
    repository.stamps.write_text("{not json")
    remote.requests.clear()

    provide(ALL, repository, Silent())

    assert remote.requests == []


def test_the_users_own_jgo_settings_are_honoured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jgo")
    settings = tmp_path / "jgo.conf"
    settings.write_text("[repositories]\ncentral = https://mirror.example/maven/\n")
    monkeypatch.setenv("JGO_CONFIG_FILE", str(settings))
    monkeypatch.setenv("M2_REPO", str(tmp_path / "m2"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    found = Repository.default()

    assert found.remotes == ("https://mirror.example/maven",)
    assert found.root == tmp_path / "m2"
    assert found.stamps.is_relative_to(tmp_path / "cache")


def test_a_lock_is_read_as_it_was_written() -> None:
    classified = Artefact("io.example", "native", "2.0.Final", "linux-x86_64", 5, "0" * 64)

    assert parse_lock(render("1.2.3", [*ALL, classified])) == (*ALL, classified)
    assert classified.path == "io/example/native/2.0.Final/native-2.0.Final-linux-x86_64.jar"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "# nothing but a comment",
        "org.example:alpha:1.0 12",
        "org.example:alpha 12 " + "0" * 64,
        "org.example:alpha:1.0:a:b 12 " + "0" * 64,
        "org.example:alpha:1.0 many " + "0" * 64,
        "org.example:alpha:1.0 12 " + "0" * 63,
        "org.example:alpha:1.0 12 " + "0" * 62,
        "org.example:../../etc:1.0 12 " + "0" * 64,
        "org.example:alpha:.. 12 " + "0" * 64,
        "org..example:alpha:1.0 12 " + "0" * 64,
    ],
)
def test_a_lock_that_is_none_is_refused(line: str) -> None:
    with pytest.raises(ServerError):
        parse_lock(line)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_shipped_locks_name_a_server_with_browser_and_no_address(version: str) -> None:
    artefacts = read_lock(version)

    coordinates = [item.coordinate for item in artefacts]
    assert f"org.neo4j:neo4j:{version}" in coordinates
    assert any(name.startswith("org.neo4j.client:neo4j-browser:") for name in coordinates)
    assert len(set(coordinates)) == len(coordinates)
    assert (
        "://"
        not in (
            resources.files("graphbo.stores.neo4j.server") / f"locks/neo4j-{version}.lock"
        ).read_text()
    )


def test_the_newest_version_is_the_default() -> None:
    assert VERSIONS == ("2026.08.1", "5.26.16")
    assert DEFAULT_VERSION == "2026.08.1"


def test_an_unknown_version_is_refused_with_what_there_is() -> None:
    with pytest.raises(ServerError, match=r"Neo4j 4\.4\.0 is not among .*: 2026\.08\.1, 5\.26\.16"):
        read_lock("4.4.0")
