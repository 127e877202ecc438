"""Limits of transactions on Neo4j."""

from dataclasses import replace

import pytest

from benchmarks._wire import wire_to
from graphbo.errors import EvaluationFailed
from graphbo.runs import Run, RunSettings
from graphbo.runs.registry import runs_in
from graphbo.stores import open_store
from graphbo.stores.neo4j.store import Neo4jStore
from graphbo.types import Ego, View
from tests.backends import Neo4jBackend

pytestmark = pytest.mark.neo4j

VIEW = View(("N",), ("R",), key="id")
ENDLESS = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN sum(a * b % 7) + $key"

#: How Bolt spells the names of two settings that come with the beginning of a transaction.
DATABASE, LIMIT = b"\x82db", b"\x8atx_timeout"


def test_no_transaction_is_without_a_limit(neo4j_backend: Neo4jBackend) -> None:
    said: list[bytes] = []

    def listen(data: bytes) -> bool:
        said.append(data)
        return False

    with wire_to(neo4j_backend.uri, 0.0) as wire:
        wire.loses = listen
        with open_store(replace(neo4j_backend.address, uri=wire.uri)) as store:
            assert isinstance(store, Neo4jStore)
            store.create_key(VIEW)
            store.write_relationships(VIEW, [(0, 1, {}), (1, 2, {})])
            store.info()
            store.ego_networks(VIEW, [Ego(0, 3)], [0])
            store.check_query("RETURN $key")
            store.query_number("RETURN $key", 1, None)
            run = Run.create(store, VIEW, "short", RunSettings(strategy="random", budget=3))
            asked = run.ask().pending
            assert asked is not None
            run.tell(1.0, step=asked.step)
            run.tell_known({1: 2.0} if asked.key != 1 else {2: 2.0})
            runs_in(store).clean("short")
            store.delete_graph(VIEW)
    begun = [(one.count(DATABASE), one.count(LIMIT)) for one in said if DATABASE in one]
    assert len(begun) > 15
    assert all(limits == transactions for transactions, limits in begun)


def test_a_statement_of_the_user_that_is_too_slow_is_to_blame_for_it(
    neo4j_backend: Neo4jBackend,
) -> None:
    with neo4j_backend.open() as store:
        assert isinstance(store, Neo4jStore)
        with pytest.raises(EvaluationFailed, match=r"^no answer within 1 s$"):
            store.query_number(ENDLESS, 1, 1.0)
