"""Captions: read for the nodes that are shown, one question at a time, whatever is in the property."""

from collections.abc import Mapping, Sequence

import pytest

from graphbo.runs.captions import LONGEST_CAPTION, Captions, caption_in, labels_of
from graphbo.stores import GraphStore, open_store
from graphbo.types import NodeKey, View
from tests.backends import Backend

VIEW = View(("N",), ("R",), key="id")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Ann", "Ann"),
        (" Ann ", "Ann"),
        ("", None),
        ("  ", None),
        (None, None),
        ("p1", None),
        (7, "7"),
        (True, "True"),
        (["a", "b"], "['a', 'b']"),
        ("<b>\u2028\x1b[31m", "<b>\u2028\x1b[31m"),
    ],
)
def test_a_caption_is_text_that_says_more_than_the_key(value: object, expected: str | None) -> None:
    assert caption_in({"name": value}, "name", "p1") == expected


def test_a_caption_may_be_missing_and_is_never_a_book() -> None:
    assert caption_in({}, "name", "p1") is None
    assert caption_in({"name": "Ann"}, None, "p1") is None
    assert len(caption_in({"name": "x" * 10**6}, "name", "p1") or "") == LONGEST_CAPTION


def test_captions_are_looked_up_once_and_those_of_deleted_nodes_are_gone(backend: Backend) -> None:
    with backend.open() as store:
        store.create_key(VIEW)
        store.write_nodes(VIEW, [(key, {"name": f"node {key}"}) for key in range(4)])
        captions = Captions(store, VIEW, "name").read([0, 1])
        backend.delete_nodes("N", [1, 2])
        captions.read([0, 1, 2, 3])
        assert [captions.of(key) for key in range(5)] == ["node 0", "node 1", None, "node 3", None]


def test_each_read_is_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[NodeKey]] = []
    with open_store("sqlite::memory:") as store:
        store.create_key(VIEW)
        store.write_nodes(VIEW, [(key, {"name": f"node {key}"}) for key in range(4)])
        properties = store.properties

        def counted(view: View, keys: Sequence[NodeKey]) -> Mapping[NodeKey, dict[str, object]]:
            asked.append(list(keys))
            return properties(view, keys)

        monkeypatch.setattr(store, "properties", counted)
        captions = Captions(store, VIEW, "name").take(3, {"name": "three"})
        captions.read([0, 1, 1, 3]).read([1, 0]).read([2])
        Captions(store, VIEW, None).read([0, 1])
    assert asked == [[0, 1], [2]]
    assert captions.of(3) == "three"


def test_labels_are_named_where_there_are_several(store: GraphStore) -> None:
    two = View(("N", "M"), ("R",), key="id")
    store.create_key(two)
    store.write_nodes(VIEW, [(1, {})])
    assert labels_of(store, two, [1]) == {1: ["N"]}
    assert labels_of(store, VIEW, [1]) == {}
    assert labels_of(store, View(("N", "M"), ("R",), key="id", candidates=("N",)), [1]) == {}
