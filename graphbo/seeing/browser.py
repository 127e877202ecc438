"""A run in Neo4j Browser: where Browser is, a link that opens it on the run, queries to keep, and a style sheet.

Browser draws what comes back as nodes and relationships, and styles it by label and type, never by property: hence the
labels that a run writes. A few hundred nodes are as many as it shows at once, and as a person can look at.
"""

import contextlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote as percent_encoded
from urllib.parse import urlsplit

from graphbo.errors import InvalidAddress, Remedy, ServerError
from graphbo.runs.records import RunRecord, UnreadableRun
from graphbo.runs.written_names import answer_properties, written_labels, written_properties
from graphbo.seeing.ways import alternatives, connector, edge_types, ways_between, ways_from
from graphbo.stores import Address
from graphbo.stores.neo4j.server.home import Home
from graphbo.stores.neo4j.server.ports import LOOPBACK
from graphbo.stores.neo4j.statements import literal, quote

__all__ = [
    "AURA_CONSOLE",
    "SavedQuery",
    "browser_url",
    "cypher_file",
    "grass_file",
    "labels_of",
    "link",
    "saved_queries",
]

AURA_CONSOLE = "https://console.neo4j.io"
_AURA_HOST = ".databases.neo4j.io"
#: Where a server has Browser, unless it was told otherwise.
_HTTP_PORT, _HTTPS_PORT = 7474, 7473
#: More labels than this get no rule of their own: Browser keeps the sheet in its own memory, which is small.
MOST_LABELS = 2_000
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

# What stands in double braces is put in by ``saved_queries``. Whatever is looked for is limited: a hub would fill the
# screen.
_TEMPLATES = (
    SavedQuery(
        "path",
        "the path of the search",
        "Where it looked: each node that was measured, with the shortest way to the best one that was known by then.",
        """MATCH (r:GraphboRun {name: {{run}}})-[o:GRAPHBO_OBSERVED]->(n)
WITH r, o, n ORDER BY o.seq DESC LIMIT 100
OPTIONAL CALL (r, o) {
  MATCH (r)-[b:GRAPHBO_OBSERVED]->(best) WHERE b.seq < o.seq
  RETURN best ORDER BY b.value {{order}}, b.seq LIMIT 1
}
OPTIONAL MATCH path = shortestPath((n)-[:{{types}}*..6]-(best))
RETURN n, path""",
    ),
    SavedQuery(
        "connectors",
        "the measured nodes and the connectors between them",
        "The fifty best nodes, and the ways between them through connectors: small grey nodes that are never measured.",
        """MATCH (r:GraphboRun {name: {{run}}})-[o:GRAPHBO_OBSERVED]->(n) WHERE o.value IS NOT NULL
WITH r, n ORDER BY o.value {{order}}, o.seq LIMIT 50
CALL (r, n) {
{{between}}
}
RETURN n, way""",
    ),
    SavedQuery(
        "region",
        "the current region",
        "What the model knows about: annotating the run with the posterior marks these nodes with what is believed.",
        """MATCH (r:GraphboRun {name: {{run}}})-[:GRAPHBO_REGION]->(n)
CALL (r, n) {
{{within}}
}
RETURN n, way LIMIT 1000""",
    ),
    SavedQuery(
        "best",
        "the ten best nodes and what is around them",
        "Are the best ones close to each other? What do they have in common?",
        """MATCH (r:GraphboRun {name: {{run}}})-[o:GRAPHBO_OBSERVED]->(n)
WITH n, o ORDER BY o.value {{order}}, o.seq LIMIT 10
CALL (n) {
{{around}}
}
RETURN n, way""",
    ),
    SavedQuery(
        "pending",
        "what is being evaluated",
        "Who measures is on the relationship: click on it. {{answer}}",
        """MATCH asked = (r:GraphboRun {name: {{run}}})-[:GRAPHBO_PENDING]->(n)
CALL (n) {
{{around}}
}
RETURN asked, way""",
    ),
    SavedQuery(
        "why",
        "why nodes were asked for",
        "In words, with what came of it. Nodes that workers asked for have it once the run is annotated with why.",
        """MATCH (:GraphboRun {name: {{run}}})-[o:GRAPHBO_OBSERVED|GRAPHBO_PENDING]->(n)
WHERE o.why IS NOT NULL
RETURN {{key}} AS node, o.step AS step, o.why AS why, o.value AS value ORDER BY o.step DESC LIMIT 200""",
    ),
    SavedQuery(
        "failed",
        "what failed",
        "Why is on the relationship: click on it.",
        """MATCH failed = (:GraphboRun {name: {{run}}})-[o:GRAPHBO_FAILED]->()
RETURN failed ORDER BY o.seq DESC LIMIT 100""",
    ),
    SavedQuery(
        "runs",
        "runs compared",
        "The ten best nodes of every run on this graph. A node between two runs was found by both.",
        """MATCH (this:GraphboRun {name: {{run}}})
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
    view = record.view
    ways, between, types = ways_from(view), ways_between(view), edge_types(view)
    # Connectors belong to no region, and hold it together.
    within = "EXISTS { (r)-[:GRAPHBO_REGION]->(m) }"
    if view.relationships and view.has_connectors:
        within = f"({within} OR {connector(view, 'm')})"
    pieces = {
        "run": literal(record.name),
        "key": "elementId(n)" if view.key is None else f"n.{quote(view.key)}",
        "answer": _how_to_answer(record),
        "order": "DESC" if record.maximize else "ASC",
        "types": types,
        "around": alternatives(ways, "RETURN way LIMIT 12"),
        "within": alternatives(ways, "RETURN way LIMIT 25", within),
        "between": alternatives(
            between, "RETURN way LIMIT 8", "EXISTS { (r)-[:GRAPHBO_OBSERVED]->(m) }"
        ),
    }
    # There is no shortest way along the edges of a statement, and nothing between nodes where there are no connectors.
    impossible = {"path" if not types else "", "connectors" if not between else ""}
    return tuple(
        replace(one, about=_filled(one.about, pieces), text=_filled(one.text, pieces))
        for one in _TEMPLATES
        if one.name not in impossible
    )


def _how_to_answer(record: RunRecord) -> str:
    """What somebody types who has measured a node; empty where a name in it would not stay in its line."""
    node = "elementId(n)" if record.view.key is None else f"n.{quote(record.view.key)}"
    answer = quote(answer_properties(record.prefix)["answer"])
    text = (
        "To answer, set what was measured, and graphbo collect or a worker tells it:\n"
        f"//   MATCH (:GraphboRun {{name: {literal(record.name)}}})-[:GRAPHBO_PENDING]->(n) "
        f"WHERE {node} = {literal('KEY')} SET n.{answer} = 3.5"
    )
    return text if len(text.splitlines()) == 2 else ""


def _filled(template: str, pieces: Mapping[str, str]) -> str:
    """A template with its pieces. In one pass, so that nothing is looked for in what was put in."""
    return re.sub(r"\{\{([a-z]+)\}\}", lambda found: pieces[found[1]], template)


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


def labels_of(labels: Iterable[str], runs: Iterable[RunRecord | UnreadableRun]) -> list[str]:
    """All labels that Browser may come across: those of a graph, and those that runs write."""
    readable = (run for run in runs if isinstance(run, RunRecord))
    written = (label for run in readable for label in written_labels(run.prefix).values())
    return sorted({*labels, *written})


_GREY = {"color": "#D2D7DE", "border-color": "#AEB5BF", "text-color-internal": "#2A2C34"}
_DARK_GREY = {"color": "#9AA1AC", "border-color": "#7B828D", "text-color-internal": "#FFFFFF"}
_PALE_BLUE = {"color": "#CBE1F6", "border-color": "#86B4E0", "text-color-internal": "#2A2C34"}
_BLUE = {"color": "#4C8EDA", "border-color": "#2870C2", "text-color-internal": "#FFFFFF"}
_ORANGE = {"color": "#F79767", "border-color": "#F36924", "text-color-internal": "#2A2C34"}
_GOLD = {"color": "#FFC454", "border-color": "#D7A013", "text-color-internal": "#2A2C34"}
_VIOLET = {"color": "#8D6FC1", "border-color": "#6A4CA3", "text-color-internal": "#FFFFFF"}


def grass_file(record: RunRecord, labels: Iterable[str] = (), *, caption: str | None = None) -> str:
    """A GraSS style sheet, in its JSON form: that one can hold any name.

    Of the rules that match a node the last one wins, so the order is from the many to the one. A label that has no rule
    gets one from Browser, behind all others, as soon as it appears: it would win over ours, so every label gets one.

    Args:
        record: of the run.
        labels: all those of the database, other runs' included.
        caption: the node property to be written in nodes, beside the key; the step without it.
    """
    own = written_labels(record.prefix)
    view = record.view
    others = [name for name in dict.fromkeys(labels) if name not in {*view.labels, *own.values()}]
    connectors = [name for name in view.labels if name not in view.candidate_labels]
    # Beside the key, which is all that there is of nodes without a caption.
    shown = dict.fromkeys(name for name in (caption, view.key) if caption and name)
    named = " ".join(f"{{{name}}}" for name in shown)
    step = named or f"{{{written_properties(record.prefix)['step']}}}"
    connector = {**_DARK_GREY, **_size(*((26, 6) if caption else (12, 6))), "caption": named}
    candidate = {**_GREY, **_size(*((40, 8) if caption else (20, 10))), "caption": named}
    rules: dict[str, dict[str, str]] = {
        "node": {**candidate, "border-width": "2px"},
        "relationship": _relationship("#8B929D", "2px", ""),
    }
    rules |= {_selector("node", label): connector for label in [*others[:MOST_LABELS], *connectors]}
    rules |= {_selector("node", label): candidate for label in view.candidate_labels}
    observed, best = ((54, 10), (90, 14)) if caption else ((50, 24), (90, 36))
    rules |= {
        _selector("node", own["region"]): {**candidate, **_PALE_BLUE},
        _selector("node", own["observed"]): {**_BLUE, **_size(*observed), "caption": step},
        _selector("node", own["pending"]): {**_ORANGE, **_size(*observed), "caption": named or "?"},
        _selector("node", own["best"]): {**_GOLD, **_size(*best), "caption": step},
        "node.GraphboRun": {**_VIOLET, **_size(65, 10), "caption": "{name}"},
        "relationship.GRAPHBO_OBSERVED": _relationship("#86B4E0", "2px", "{value}"),
        "relationship.GRAPHBO_PENDING": _relationship("#F36924", "3px", "{worker}"),
        "relationship.GRAPHBO_FAILED": _relationship("#D64545", "2px", "{error}"),
    }
    return json.dumps(rules, indent=2, ensure_ascii=False) + "\n"


def _size(diameter: int, font: int) -> dict[str, str]:
    return {"diameter": f"{diameter}px", "font-size": f"{font}px"}


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
