"""From what the user calls a graph to a store and a view of it: in memory, in a storage, or in a database."""

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from math import isfinite, isnan
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any, TypeVar

from graphbo.api.graphs import GivenGraph, is_graph, read_graph
from graphbo.api.names import NodeNames, kept_names, numbered_names
from graphbo.errors import GraphboError, InvalidAddress, InvalidView
from graphbo.search.features import AUTO
from graphbo.stores import Address, EdgeRow, GraphStore, NodeRow, address_from, open_store
from graphbo.types import LARGEST_INTEGER, View
from graphbo.types.conditions import properties_in
from graphbo.types.text import cut, plural
from graphbo.types.view_texts import ViewTexts

__all__ = ["KEY", "LABEL", "TYPE", "Opened", "database_view", "open_graph"]

#: What a graph in Python is in its store, and a database's without other names.
LABEL, TYPE, KEY = "Node", "LINK", "id"

#: How many nodes or edges are written in one transaction.
BATCH = 20_000
#: How much of a fingerprint tells the graphs of a storage apart.
DIGITS = 12
#: Endings of files that SQLite has written.
SQLITE = (".db", ".sqlite", ".sqlite3")

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Opened:
    """A graph that can be worked on.

    Attributes:
        store: where it is.
        view: the graph in it; None where a run may say.
        names: what the user calls its nodes.
        owned: whether the store was opened here, and is to be closed by whoever has this.
        summary: what it is, in words.
        kept: whether it is a graph in Python that is kept in a storage.
    """

    store: GraphStore
    view: View | None
    names: NodeNames
    owned: bool
    summary: str
    kept: bool = False


def open_graph(
    graph: Any,
    texts: ViewTexts,
    storage: Any = None,
    features: str | Sequence[str] = (),
    read: Sequence[str] = (),
) -> Opened:
    """Open a graph; one in Python is put into memory, or into its storage if it is not there yet.

    Args:
        graph: what was given.
        texts: what was said of it.
        storage: where a graph in Python is kept.
        features: the attributes of its nodes that go with it; all that can, for ``auto``.
        read: others that a search looks at, beside those of filters.

    Raises:
        InvalidView, InvalidWeight, InvalidAddress: it is no graph, or not one that these texts fit.
        StoreError: the database does not answer.
    """
    if is_graph(graph):
        return _open_given(graph, texts, storage, features, read)
    in_database = isinstance(graph, (str, PathLike, Address)) or _is_store(graph)
    if storage is not None and in_database:
        raise InvalidView(
            "a database keeps its runs itself: leave out storage, which is for graphs in Python"
        )
    if isinstance(graph, (str, PathLike, Address)):
        address = _address(graph, "the graph")
        view = database_view(texts)
        store = open_store(address)
        return Opened(store, view, NodeNames(), owned=True, summary=store.address)
    if not in_database:
        read_graph(graph, texts)  # raises, and says what is expected
    view = database_view(texts)
    return Opened(graph, view, NodeNames(), owned=False, summary=graph.address)


def database_view(texts: ViewTexts, *, whole: bool = False) -> View | None:
    """The view of a database that these texts describe; None if they name nothing.

    Args:
        texts: what was said of it.
        whole: whether what was not named is what graphbo itself would have written.
    """
    if not (whole or texts.names_anything):
        return None
    if not (texts.labels or texts.candidates or texts.paths):
        texts = replace(texts, labels=(LABEL,))
    if not (texts.relationships or texts.paths or texts.hop):
        texts = replace(texts, relationships={TYPE: 1.0})
    return texts.view()


def _is_store(given: object) -> bool:
    """Stores follow a protocol: what they all have tells them."""
    return all(hasattr(given, name) for name in ("ego_networks", "random_keys", "log", "address"))


def _address(given: Any, what: str) -> Address:
    """An address; a path is no address, as a file may be anything.

    Raises:
        InvalidAddress: it is none.
    """
    if isinstance(given, Address):
        return given
    if not isinstance(given, (str, PathLike)):
        raise InvalidAddress(
            f"{what} is {cut(repr(given), 60)}: expected an address such as 'sqlite:searches.db'"
        )
    path = fspath(given)
    if isinstance(given, str) and ":" in path.lstrip(".")[2:]:  # more than the letter of a disk
        return address_from(given)
    shown = cut(path if isinstance(path, str) else repr(path), 120)
    if what == "the storage" or PurePath(shown).suffix.lower() in SQLITE:
        raise InvalidAddress(f"{what} is the path {shown!r}: write 'sqlite:{shown}'")
    raise InvalidAddress(
        f"{what} is {shown!r}, which is no address: expected one such as 'sqlite:graph.db' or 'neo4j://localhost'; "
        "a file with a graph is read with networkx, or loaded into a database"
    )


# Graphs in Python


def _open_given(
    graph: Any,
    texts: ViewTexts,
    storage: Any,
    features: str | Sequence[str],
    read: Sequence[str],
) -> Opened:
    _refuse_names(texts)
    given = read_graph(graph, texts)
    if given.unused is not None:
        log.info(
            "the edges have %r, which is not used: weight=%r takes it", given.unused, given.unused
        )
    if given.counted:
        texts = replace(texts, weight_as="similarity")
    elif texts.weight is not None and given.weight is None:  # every entry of a matrix is 1
        texts = replace(texts, default_weight=None)
    texts = replace(texts, weight=given.weight, key=KEY)
    view = replace(texts, labels=(LABEL,), relationships={TYPE: 1.0}).view()
    wanted = _attributes(given) if features == AUTO else set(features)
    looked_at = sorted({*properties_in(view.candidate_condition), *wanted, *read})
    if KEY in looked_at:
        raise InvalidView(f"the number of a node is its {KEY!r}: filter by another attribute")
    summary = f"a {given.kind} of {plural(len(given.nodes), 'node')} and {plural(len(given.edges), 'edge')}"
    if storage is None:
        names = numbered_names(given.nodes, given.attributes)
        store = open_store("sqlite::memory:")
    else:
        address = _address(storage, "the storage")
        names = kept_names(given.nodes, given.attributes)
        mark = _fingerprint(given, names, looked_at)
        view = replace(view, labels=(f"{LABEL}_{mark}",), relationships=(f"{TYPE}_{mark}",))
        store = open_store(address, create=True)
    try:
        _put(store, view, given, names, looked_at)
    except BaseException:
        store.close()
        raise
    return Opened(store, view, names, owned=True, summary=summary, kept=storage is not None)


def _refuse_names(texts: ViewTexts) -> None:
    """A graph in Python has nodes with attributes, and neither labels nor types."""
    for what, given in {
        "label": texts.labels,
        "relationship": texts.relationships,
        "key": texts.key,
        "candidates": texts.candidates,
        "paths": texts.paths,
        "hop": texts.hop,
    }.items():
        if given:
            raise InvalidView(
                f"a graph in Python has neither labels nor types: leave out {what}, or name candidates by an "
                "attribute, with candidates_where"
            )


def _fingerprint(given: GivenGraph, names: NodeNames, looked_at: Sequence[str]) -> str:
    """What two graphs share that are the same, in whatever order their nodes and edges come."""
    keys = [names.keys[node] for node in given.nodes]
    found = hashlib.sha256(json.dumps([given.directed, given.weight, *looked_at]).encode())
    nodes = (
        json.dumps([key, [repr(names.attributes_of(node).get(name)) for name in looked_at]])
        for key, node in zip(keys, given.nodes, strict=True)
    )
    edges = (
        json.dumps([*_ends(keys[a], keys[b], given.directed), weight])
        for a, b, weight in given.edges
    )
    for lines in (nodes, edges):
        for line in sorted(lines):
            found.update(line.encode("utf-8", "surrogatepass"))
        found.update(b"\0")
    return found.hexdigest()[:DIGITS]


def _ends(source: str | int, target: str | int, directed: bool) -> list[str | int]:
    return [source, target] if directed else sorted([source, target], key=str)


def _put(
    store: GraphStore, view: View, given: GivenGraph, names: NodeNames, looked_at: Sequence[str]
) -> None:
    """Write the graph where it is not there in whole: whoever began may have been ended."""
    plain = View(view.labels, view.relationships, key=KEY)
    with suppress(GraphboError):
        there = store.count_nodes(plain), store.count_relationships(plain)
        if there == (len(given.nodes), len(given.edges)):
            return
    store.create_key(plain)
    for nodes in _batches(_node_rows(given, names, looked_at)):
        store.write_nodes(plain, nodes)
    # A type is known once it was written, even if no edge has it.
    store.write_relationships(plain, [])
    for edges in _batches(_edge_rows(given, names)):
        store.write_relationships(plain, edges)


def _node_rows(given: GivenGraph, names: NodeNames, looked_at: Sequence[str]) -> Iterator[NodeRow]:
    for node in given.nodes:
        found: Mapping[str, Any] = names.attributes_of(node) if looked_at else {}
        own = {name: _plain(found[name]) for name in looked_at if name in found}
        # What is missing has no value in tables, either.
        yield (
            names.keys[node],
            {name: value for name, value in own.items() if not _is_missing(value)},
        )


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def _plain(value: Any) -> Any:
    """A value without what is numpy's about it."""
    return value.tolist() if hasattr(value, "tolist") else value


def _attributes(given: GivenGraph) -> set[str]:
    """The attributes whose values a database can hold: numbers, truth values, texts, and lists of numbers."""
    found: dict[str, bool] = {}
    for node in given.nodes:
        for name, value in given.attributes.get(node, {}).items():
            if isinstance(name, str) and name != KEY:
                plain = _plain(value)
                can = _is_missing(plain) or _can_be_kept(plain)
                found[name] = found.get(name, True) and can
    return {name for name, can in found.items() if can}


def _can_be_kept(value: object) -> bool:
    if isinstance(value, bool | str) or (isinstance(value, int) and abs(value) <= LARGEST_INTEGER):
        return True
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, int | float) and isfinite(one) for one in value)
    return isinstance(value, float) and isfinite(value)


def _edge_rows(given: GivenGraph, names: NodeNames) -> Iterator[EdgeRow]:
    for a, b, weight in given.edges:
        properties = {} if given.weight is None or weight is None else {given.weight: weight}
        yield names.keys[given.nodes[a]], names.keys[given.nodes[b]], properties


def _batches(rows: Iterator[T]) -> Iterator[list[T]]:
    while some := list(islice(rows, BATCH)):
        yield some
