"""For maintainers: ``python -m graphbo.stores.neo4j.server.lock VERSION`` writes a lock file.

It resolves the server and Neo4j Browser to their archives (a minute or more), fetches them, and
writes coordinate, size and SHA-256 of each to ``locks/neo4j-VERSION.lock``. Read the difference
before you commit it: from then on exactly these files are what graphbo starts.
"""

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from graphbo.stores.neo4j.server._extra import extra
from graphbo.stores.neo4j.server.artefacts import Artefact

BROWSER = "org.neo4j.client:neo4j-browser:5.24.0"
_LOCKS = Path(__file__).parent / "locks"


def resolve(version: str) -> list[Artefact]:
    """Find and fetch everything that a version of Neo4j with Browser consists of.

    Raises:
        ServerError: The extra ``graphbo[server]`` is not installed.
    """
    environment = extra("jgo").build(f"org.neo4j:neo4j:{version}+{BROWSER}")
    root = extra("jgo.config").GlobalSettings.load().repo_cache
    return sorted(_measure(item, Path(root)) for item in environment.lockfile.dependencies)


def _measure(dependency: Any, root: Path) -> Artefact:
    named = Artefact(
        dependency.groupId,
        dependency.artifactId,
        dependency.version,
        dependency.classifier or "",
        size=0,
        sha256="",
    )
    content = (root / named.path).read_bytes()
    return Artefact(
        named.group,
        named.name,
        named.version,
        named.classifier,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )


def render(version: str, artefacts: Iterable[Artefact]) -> str:
    """The text of a lock file."""
    head = (
        f"# Neo4j Community {version} with Browser: group:name:version[:classifier] size sha256\n"
    )
    how = f"# written by: python -m graphbo.stores.neo4j.server.lock {version}\n"
    return head + how + "".join(f"{artefact.line}\n" for artefact in artefacts)


def main(arguments: list[str]) -> int:
    """Write one lock file per version named."""
    if not arguments:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    for version in arguments:
        artefacts = resolve(version)
        file = _LOCKS / f"neo4j-{version}.lock"
        file.write_text(render(version, artefacts), encoding="utf-8")
        size = sum(artefact.size for artefact in artefacts) / 1e6
        sys.stdout.write(f"{file}: {len(artefacts)} archives, {size:.0f} MB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
