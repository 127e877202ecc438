"""A local Neo4j with Browser, for people and for the tests (extra ``graphbo[server]``).

::

    server = LocalServer("some/directory")
    info = server.start()
    ...          # info.uri, info.username, info.password, info.browser_url
    server.stop()
"""

from graphbo.stores.neo4j.server.artefacts import Repository
from graphbo.stores.neo4j.server.home import default_home
from graphbo.stores.neo4j.server.listener import Silent, StartListener
from graphbo.stores.neo4j.server.local import (
    DEFAULT_VERSION,
    VERSIONS,
    LocalServer,
    ServerInfo,
    ServerStatus,
)

__all__ = [
    "DEFAULT_VERSION",
    "VERSIONS",
    "LocalServer",
    "Repository",
    "ServerInfo",
    "ServerStatus",
    "Silent",
    "StartListener",
    "default_home",
]
