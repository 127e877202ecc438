"""What the extra ``graphbo[server]`` brings, imported only when a local server is asked for."""

import importlib
from typing import Any

from graphbo.errors import ServerError


def extra(module: str) -> Any:
    """Import a module that comes with ``graphbo[server]``.

    Args:
        module: Its full name, such as ``jgo.constants``.

    Raises:
        ServerError: The extra is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        raise ServerError(
            f"a local Neo4j needs the Python package {missing.name!r}: "
            "pip install 'graphbo[server]'"
        ) from missing
