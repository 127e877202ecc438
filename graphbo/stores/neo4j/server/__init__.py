"""A local Neo4j with Browser, for people and for the tests (extra ``graphbo[server]``).

::

    server = LocalServer("some/directory")
    info = server.start()
    ...          # info.uri, info.username, info.password, info.browser_url
    server.stop()

Its modules::

    local      starts and stops it
    artefacts  the archives it is made of: listed in locks/, fetched, checked
    lock       writes a new lock
    home       the directory it lives in
    dump       a database out of a dump, put in the place of the home's
    process    its process: started to outlive us, recognised later, ended
    probe      asks it how it is, without a driver
    ports      which ports are free
    listener   how it tells what it is doing
    _extra     what the extra brings, imported when it is asked for
"""

from graphbo.stores.neo4j.server.artefacts import Repository
from graphbo.stores.neo4j.server.dump import Contents
from graphbo.stores.neo4j.server.home import default_home
from graphbo.stores.neo4j.server.listener import Silent, StartListener
from graphbo.stores.neo4j.server.local import (
    DEFAULT_VERSION,
    VERSIONS,
    Loaded,
    LocalServer,
    ServerInfo,
    ServerStatus,
)

__all__ = [
    "DEFAULT_VERSION",
    "VERSIONS",
    "Contents",
    "Loaded",
    "LocalServer",
    "Repository",
    "ServerInfo",
    "ServerStatus",
    "Silent",
    "StartListener",
    "default_home",
]
