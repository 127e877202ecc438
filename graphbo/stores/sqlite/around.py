"""What relationships lead from a few nodes in a SQLite file, of whatever type."""

import json
from collections.abc import Sequence

from graphbo.stores.contract import Surrounding
from graphbo.stores.sqlite.file import SqliteFile
from graphbo.stores.sqlite.nodes import LABELS_OF_N

__all__ = ["surroundings"]


def surroundings(file: SqliteFile, nodes: Sequence[int], limit: int) -> list[Surrounding]:
    """What leads from these nodes; of each node, so many relationships are looked at."""
    seen: dict[tuple[str, bool, tuple[str, ...]], set[int]] = {}
    names: dict[tuple[str, bool, tuple[str, ...]], set[str]] = {}
    for node in nodes:
        # A range of the primary key each: it ends after its first rows.
        rows = file.all(
            f"""SELECT t.name AS type, r.outgoing, {LABELS_OF_N} AS labels, r.properties
                FROM (SELECT type, outgoing, other, properties FROM relationship WHERE node = :node LIMIT :limit) AS r
                CROSS JOIN type AS t ON t.id = r.type CROSS JOIN node AS n ON n.id = r.other""",
            node=node,
            limit=limit,
        )
        for row in rows:
            kind = (row["type"], bool(row["outgoing"]), tuple(sorted(json.loads(row["labels"]))))
            seen.setdefault(kind, set()).add(node)
            names.setdefault(kind, set()).update(json.loads(row["properties"]))
    return [
        Surrounding(*kind, len(seen[kind]), tuple(sorted(names[kind]))) for kind in sorted(seen)
    ]
