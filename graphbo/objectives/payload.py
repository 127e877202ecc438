"""A node as JSON, for objectives that are other programs."""

import json
import math
from collections.abc import Iterable, Mapping

from graphbo.objectives.base import Node
from graphbo.objectives.number import unwrapped

__all__ = ["to_json"]


def to_json(node: Node) -> bytes:
    """``{"key": …, "properties": {…}}`` in ASCII."""
    return json.dumps({"key": node.key, "properties": _plain(node.properties)}).encode("ascii")


def _plain(value: object) -> object:
    """The nearest thing that JSON has: databases also hold dates, points, bytes and NaN."""
    value = unwrapped(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    return _listed(value)


def _listed(value: object) -> object:
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    for name in ("isoformat", "iso_format"):  # Python's dates, and Neo4j's durations
        if hasattr(value, name):
            return getattr(value, name)()
    if isinstance(value, Iterable):
        return [_plain(inner) for inner in value]
    return str(value)
