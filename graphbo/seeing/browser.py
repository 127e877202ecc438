"""A run in Neo4j Browser: where Browser is, a link that opens it on the run, queries to keep, and a style sheet.

Browser draws what comes back as nodes and relationships, and styles it by label and type, never by property: hence the
labels that a run writes. A few hundred nodes are as many as it shows at once, and as a person can look at.
"""

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote as percent_encoded
from urllib.parse import urlsplit

from graphbo.errors import InvalidAddress, Remedy, ServerError
from graphbo.runs.records import RunRecord
from graphbo.runs.written_names import written_labels, written_properties
from graphbo.stores import Address
from graphbo.stores.neo4j.server.home import Home
from graphbo.stores.neo4j.server.ports import LOOPBACK
from graphbo.stores.neo4j.statements import fill, literal

__all__ = [
    "AURA_CONSOLE",
    "SavedQuery",
    "browser_url",
    "cypher_file",
    "grass_file",
    "link",
    "saved_queries",
]

AURA_CONSOLE = "https://console.neo4j.io"
_AURA_HOST = ".databases.neo4j.io"
#: Where a server has Browser, unless it was told otherwise.
_HTTP_PORT, _HTTPS_PORT = 7474, 7473
_LOOPBACK_NAMES = {LOOPBACK, "localhost", "::1"}


@dataclass(frozen=True)
class SavedQuery:
    """A query that somebody may want to run again.

    Attributes:
        name: for programs.
        title: the first line that Browser shows of it.
        about: what the picture says.
        text: the query.
    """

    name: str
    title: str
    about: str
    text: str


# Queries

# In each, $run becomes the quoted name of the run, and {{…}} the quoted names of its view. Neighbours are limited: a
# hub would fill the screen.
_TEMPLATES = (
    SavedQuery(
        "path",
        "the path of the search",
        "Where it looked: each node that was measured, with the shortest way to the best one that was known by then.",
        """MATCH (r:GraphboRun {name: $run})-[o:GRAPHBO_OBSERVED]->(n)
WITH r, o, n ORDER BY o.seq DESC LIMIT 100
OPTIONAL CALL (r, o) {
  MATCH (r)-[b:GRAPHBO_OBSERVED]->(best) WHERE b.seq < o.seq
  RETURN best ORDER BY b.value {{order}}, b.seq LIMIT 1
}
OPTIONAL MATCH path = shortestPath((n)-[:{{types}}*..6]-(best))
RETURN n, path""",
    ),
    SavedQuery(
        "region",
        "the current region",
        "What the model knows about: annotating the run with the posterior marks these nodes with what is believed.",
        """MATCH (r:GraphboRun {name: $run})-[:GRAPHBO_REGION]->(n)
OPTIONAL MATCH path = (n)-[:{{types}}]-(m) WHERE EXISTS { (r)-[:GRAPHBO_REGION]->(m) }
RETURN n, path LIMIT 1000""",
    ),
    SavedQuery(
        "best",
        "the ten best nodes and what is around them",
        "Are the best ones close to each other? What do they have in common?",
        """MATCH (r:GraphboRun {name: $run})-[o:GRAPHBO_OBSERVED]->(n)
WITH n, o ORDER BY o.value {{order}}, o.seq LIMIT 10
CALL (n) {
  OPTIONAL MATCH path = (n)-[:{{types}}]-(:{{labels}})
  RETURN path LIMIT 12
}
RETURN n, path""",
    ),
    SavedQuery(
        "pending",
        "what is being evaluated",
        "Who measures is on the relationship: click on it.",
        """MATCH asked = (r:GraphboRun {name: $run})-[:GRAPHBO_PENDING]->(n)
CALL (n) {
  OPTIONAL MATCH path = (n)-[:{{types}}]-(:{{labels}})
  RETURN path LIMIT 12
}
RETURN asked, path""",
    ),
    SavedQuery(
        "failed",
        "what failed",
        "Why is on the relationship: click on it.",
        """MATCH failed = (:GraphboRun {name: $run})-[o:GRAPHBO_FAILED]->()
RETURN failed ORDER BY o.seq DESC LIMIT 100""",
    ),
    SavedQuery(
        "runs",
        "runs compared",
        "The ten best nodes of every run on this graph. A node between two runs was found by both.",
        """MATCH (this:GraphboRun {name: $run})
MATCH (r:GraphboRun) WHERE r.view = this.view
CALL (r) {
  MATCH path = (r)-[o:GRAPHBO_OBSERVED]->()
  RETURN path ORDER BY CASE r.direction WHEN 'maximize' THEN -o.value ELSE o.value END, o.seq LIMIT 10
}
RETURN path""",
    ),
)


def saved_queries(record: RunRecord) -> tuple[SavedQuery, ...]:
    """The queries for a run, ready to be pasted: names and values are in them, quoted.

    Raises:
        InvalidName: the view has a name that cannot be quoted.
    """
    order = "DESC" if record.maximize else "ASC"
    return tuple(
        SavedQuery(
            one.name,
            one.title,
            one.about,
            # Before anything of the user's is in the text.
            fill(one.text.replace("{{order}}", order), record.view, {"run": record.name}),
        )
        for one in _TEMPLATES
    )


def cypher_file(record: RunRecord, queries: Sequence[SavedQuery]) -> str:
    """All queries in one text, each with a comment that says what it shows."""
    name = literal(record.name)
    lines = [
        f"// graphbo: queries for the run {name}, for Neo4j Browser.",
        "// Drop this file onto Browser's window, or copy one of them into its editor.",
    ]
    for one in queries:
        lines += ["", f"// {name}: {one.title}", f"// {one.about}", f"{one.text};"]
    return "\n".join(lines) + "\n"


# Style

_GREY = {"color": "#D2D7DE", "border-color": "#AEB5BF", "text-color-internal": "#2A2C34"}
_PALE_BLUE = {"color": "#CBE1F6", "border-color": "#86B4E0", "text-color-internal": "#2A2C34"}
_BLUE = {"color": "#4C8EDA", "border-color": "#2870C2", "text-color-internal": "#FFFFFF"}
_ORANGE = {"color": "#F79767", "border-color": "#F36924", "text-color-internal": "#2A2C34"}
_GOLD = {"color": "#FFC454", "border-color": "#D7A013", "text-color-internal": "#2A2C34"}
_VIOLET = {"color": "#8D6FC1", "border-color": "#6A4CA3", "text-color-internal": "#FFFFFF"}


def grass_file(record: RunRecord) -> str:
    """A GraSS style sheet, in its JSON form: that one can hold any name.

    Of the rules that match a node the last one wins, so the order is from the many to the one.
    """
    properties = written_properties(record.prefix)
    labels = written_labels(record.prefix)
    rules: dict[str, dict[str, str]] = {
        "node": {"diameter": "20px", "border-width": "2px", "font-size": "10px", **_GREY},
        "relationship": _relationship("#8B929D", "2px", ""),
    }
    for label in record.view.labels:
        rules[_selector("node", label)] = {"diameter": "20px", **_GREY, "caption": ""}
    rules |= {
        _selector("node", labels["region"]): {**_PALE_BLUE, "diameter": "25px", "caption": ""},
        _selector("node", labels["observed"]): {
            **_BLUE,
            "diameter": "50px",
            "font-size": "24px",
            "caption": f"{{{properties['step']}}}",
        },
        _selector("node", labels["pending"]): {**_ORANGE, "diameter": "50px", "caption": "?"},
        _selector("node", labels["best"]): {
            **_GOLD,
            "diameter": "90px",
            "font-size": "36px",
            "caption": f"{{{properties['step']}}}",
        },
        "node.GraphboRun": {**_VIOLET, "diameter": "65px", "caption": "{name}"},
        "relationship.GRAPHBO_OBSERVED": _relationship("#86B4E0", "2px", "{value}"),
        "relationship.GRAPHBO_PENDING": _relationship("#F36924", "3px", "{worker}"),
        "relationship.GRAPHBO_FAILED": _relationship("#D64545", "2px", "{error}"),
    }
    return json.dumps(rules, indent=2, ensure_ascii=False) + "\n"


def _relationship(color: str, width: str, caption: str) -> dict[str, str]:
    return {
        "color": color,
        "shaft-width": width,
        "font-size": "8px",
        "padding": "3px",
        "text-color-external": "#000000",
        "text-color-internal": "#FFFFFF",
        "caption": caption,
    }


def _selector(kind: str, name: str) -> str:
    return f"{kind}.{name.replace('.', chr(92) + '.')}"


# Addresses


def browser_url(address: Address, homes: Sequence[Path], given: str | None = None) -> str | None:
    """Where Browser is for a database; None for Aura, which has none at an address of its own.

    Args:
        address: the database.
        homes: directories of local servers that may be the one.
        given: what the user says.

    Raises:
        InvalidAddress: what the user says is not the address of a page.
    """
    if given is not None:
        return _checked(given)
    parts = urlsplit(address.uri)
    host = parts.hostname or ""
    if host.endswith(_AURA_HOST):
        return None
    if host in _LOOPBACK_NAMES:
        for home in homes:
            state = None
            with contextlib.suppress(ServerError):  # some other program's directory
                state = Home(home).state()
            # One that was stopped has left its port to somebody else.
            if state is not None and state.pid is not None and state.bolt_port == parts.port:
                return f"http://{LOOPBACK}:{state.http_port}/browser/"
    name = f"[{host}]" if ":" in host else host
    if "+" in parts.scheme:
        return f"https://{name}:{_HTTPS_PORT}/browser/"
    return f"http://{name}:{_HTTP_PORT}/browser/"


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and url.isprintable()
    except ValueError:
        usable = False
    # A link is printed, and a password in it would be too.
    if not usable or "@" in parts.netloc or parts.query or parts.fragment or " " in url:
        raise InvalidAddress("the address of Neo4j Browser is not that of a page", Remedy.GIVE_PAGE)
    return url if parts.path.strip("/") else f"{url.rstrip('/')}/browser/"


def link(base: str, address: Address, query: str) -> str:
    """A link that opens Browser with the database's address, the user's name and a query filled in."""
    parts = urlsplit(address.uri)
    # Browser has no word for certificates that signed themselves: it asks its own browser whom to trust.
    scheme = parts.scheme.replace("+ssc", "+s")
    user = f"{percent_encoded(address.username, safe='')}@" if address.username else ""
    # Browser decodes the whole link before it looks for its parts: these two would end the query, wherever they are.
    query = query.replace("&", r"\u0026").replace("#", r"\u0023")
    dbms = percent_encoded(f"{scheme}://{user}{parts.netloc}", safe=":/@")
    return f"{base}?dbms={dbms}&cmd=edit&arg={percent_encoded(query, safe='')}"
