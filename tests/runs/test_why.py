"""Why a node: what is expected of it adds up, and is what the model says; in words, and without a model."""

from collections.abc import Iterator
from dataclasses import replace

import networkx as nx
import pytest

from graphbo.errors import NoSuchNode, RunError
from graphbo.runs import Part, Run, RunSettings, Why
from graphbo.stores import EdgeRow, GraphStore, open_store
from graphbo.types import View
from graphbo.types.notation import read_condition, read_path

GRAPH = nx.barabasi_albert_graph(150, 3, seed=1)
VALUES = {node: 100 * value for node, value in nx.pagerank(GRAPH).items()}


@pytest.fixture
def memory() -> Iterator[GraphStore]:
    with open_store("sqlite::memory:") as store:
        yield store


def load(store: GraphStore, graph: "nx.Graph[int]") -> View:
    view = View(("N",), ("R",), key="id")
    store.create_key(view)
    store.write_nodes(view, [(node, {}) for node in graph])
    store.write_relationships(view, [(source, target, {}) for source, target in graph.edges()])
    return view


def run_on(store: GraphStore, count: int, **settings: object) -> Run:
    """A run that has been told so many values."""
    view = load(store, GRAPH)
    run = Run.create(store, view, "search", RunSettings(**{"seed": 1, **settings}))  # type: ignore[arg-type]
    for _ in range(count):
        tell_next(run)
    return run


def tell_next(run: Run) -> None:
    asked = run.ask().pending
    assert asked is not None
    run.tell(VALUES[asked.key], step=asked.step)


def total(why: Why) -> float:
    return sum(part.amount for part in why.parts)


@pytest.mark.parametrize("strategy", ["bayes", "paper"])
def test_what_is_asked_for_is_explained_by_what_was_believed(
    memory: GraphStore, strategy: str
) -> None:
    run = run_on(memory, 14, strategy=strategy)
    asked = run.ask().pending
    assert asked is not None
    why = run.why()
    assert (why.key, why.standing, why.step) == (asked.key, "pending", 15)
    assert why.mean == pytest.approx(asked.candidate.mean, rel=1e-12)
    assert why.acquisition == pytest.approx(asked.candidate.acquisition, rel=1e-12)
    assert total(why) == pytest.approx(why.mean)
    assert why.place == 1
    assert why.best == run.record.best_value
    # Another process says the same, and so does this one once the node is measured.
    text = str(why)
    assert str(Run.open(memory, "search").why(asked.key)) == text
    run.tell(0.5, step=asked.step)
    then = run.why(asked.key)
    assert (then.standing, then.value, str(then)) == ("measured", 0.5, text)


def test_what_others_are_measuring_counts_as_it_did_for_the_model(memory: GraphStore) -> None:
    run = run_on(memory, 12)
    first, second = run.ask().pending, run.ask().pending
    assert first is not None
    assert second is not None
    why = run.why(second.key)
    assert why.mean == pytest.approx(second.candidate.mean, rel=1e-12)
    assert total(why) == pytest.approx(why.mean)
    waiting = [part for part in why.parts if part.key == first.key]
    assert [part.value for part in waiting] == [None]
    # The second is told first: that the first was pending then follows from the numbers.
    run.tell(0.3, step=second.step)
    run.tell(0.4, step=first.step)
    assert run.why(second.key).mean == pytest.approx(second.candidate.mean, rel=1e-12)


def test_what_was_told_meanwhile_counts(memory: GraphStore) -> None:
    run = run_on(memory, 12)
    first, second = run.ask().pending, run.ask().pending
    assert first is not None
    assert second is not None
    run.tell(25.0, step=first.step)
    why = run.why(second.key)
    assert why.asked_mean == second.candidate.mean
    assert why.mean != pytest.approx(second.candidate.mean, rel=1e-3)
    assert "when it was asked for" in str(why)


def test_the_next_node_is_explained_before_anybody_asks(memory: GraphStore) -> None:
    run = run_on(memory, 12)
    why = run.why()
    asked = run.ask().pending
    assert asked is not None
    assert (why.key, why.standing, why.mean) == (asked.key, "next", asked.candidate.mean)


@pytest.mark.parametrize("place", [1, 75])
def test_any_node_can_be_asked_about(memory: GraphStore, place: int) -> None:
    run = run_on(memory, 12)
    taken = {one.key for one in run.history}
    key = [node for node in sorted(VALUES, key=VALUES.__getitem__) if node not in taken][-place]
    why = run.why(key)
    assert (why.standing, why.phase, why.step) == ("open", None, None)
    assert total(why) == pytest.approx(why.mean)
    assert why.candidates > 10


def test_a_node_that_is_not_there_is_named(memory: GraphStore) -> None:
    run = run_on(memory, 12)
    with pytest.raises(NoSuchNode, match="4711"):
        run.why(4711)


def test_random_nodes_are_simply_unknown(memory: GraphStore) -> None:
    run = run_on(memory, 1)
    assert str(run.why()) == "Unknown: drawn at random, to begin with"
    (first,) = run.history
    why = run.why(first.key)
    assert (why.standing, why.parts, why.mean) == ("measured", (), None)


def test_known_values_and_failures_have_their_own_words(memory: GraphStore) -> None:
    run = run_on(memory, 0)
    run.tell_known({7: 1.0})
    assert str(run.why(7)) == "Its value was known before the run"
    asked = run.ask().pending
    assert asked is not None
    run.tell(None, step=asked.step, error="away")
    assert run.why(asked.key).standing == "failed"


def test_a_strategy_without_a_model_says_so(memory: GraphStore) -> None:
    run = run_on(memory, 3, strategy="local")
    expected = "The strategy 'local' has no model: it expects nothing of nodes"
    taken = {one.key for one in run.history}
    assert str(run.why(next(node for node in VALUES if node not in taken))) == expected


def test_an_unknown_graph_is_not_looked_into(memory: GraphStore) -> None:
    run = run_on(memory, 4, reveal="evaluated", start=(5,), options={"initial": 3})
    (first, *_) = run.history
    assert str(run.why(first.key)) == "It is where the search begins"
    known = {first.key}.union(*(GRAPH[one.key] for one in run.history))
    hidden = next(node for node in GRAPH if node not in known)
    calls = run.graph.database_calls
    assert str(run.why(hidden)) == "Unknown: nothing was measured near it"
    assert run.graph.database_calls <= calls + 1


def test_where_nothing_is_left_there_is_nothing_to_explain(memory: GraphStore) -> None:
    view = load(memory, nx.path_graph(2))
    run = Run.create(memory, view, "small", RunSettings())
    for _ in range(2):
        asked = run.ask().pending
        assert asked is not None
        run.tell(1.0, step=asked.step)
    with pytest.raises(RunError, match="has been measured"):
        run.why()


# In words


def why(*parts: Part, maximize: bool = True, std: float = 1.4) -> Why:
    mean = sum(part.amount for part in parts)
    return Why("X", "open", maximize, mean=mean, std=std, parts=parts)


LEVEL = Part("level", 3.0)
MIA = Part("node", 0.9, key="mia", value=6.2, near=True)
TOM = Part("node", 0.4, key="tom", value=4.9, near=True)
ANN = Part("node", -0.6, key="ann", value=1.0, near=True)
FAR = Part("node", 0.8, key="far", value=0.5, near=False)
WAITING = Part("node", 0.8, key="waiting", near=True)
INCOME = Part("feature", 0.8, name="income", value=52_000)


def test_what_speaks_for_a_node_is_named_and_how_much() -> None:
    assert str(why(LEVEL, MIA, TOM, INCOME)) == (
        "Expected 5.1 ± 1.4: near mia (6.2) and tom (4.9); income speaks for it (+0.8)"
    )


def test_nodes_are_called_as_people_call_them() -> None:
    text = why(LEVEL, MIA).text(lambda key: f"{key} of Bremen")
    assert text == "Expected 3.9 ± 1.4: near mia of Bremen (6.2)"


def test_what_speaks_against_it_is_not_kept_quiet() -> None:
    assert str(why(LEVEL, ANN)) == "Expected 2.4 ± 1.4: ann (1) near by speaks against it"
    both = why(LEVEL, ANN, INCOME, maximize=False)
    assert str(both) == "Expected 3.2 ± 1.4: near ann (1); income speaks against it (+0.8)"


def test_what_is_far_away_or_still_waiting_is_no_neighbour() -> None:
    assert str(why(LEVEL, FAR, WAITING)).endswith("little is known of it; 3 is usual here")


def test_what_hardly_counts_is_left_out() -> None:
    small = Part("node", 0.1, key="small", value=4.0, near=True)
    assert "small" not in str(why(LEVEL, MIA, small))


@pytest.mark.parametrize(
    ("std", "expected"),
    [(1.4, "12345.7 ± 1.4"), (1400.0, "12300 ± 1400"), (0.0, "12345.7 ± 0"), (1e-9, "12345.7")],
)
def test_uncertain_numbers_have_no_more_digits_than_they_deserve(std: float, expected: str) -> None:
    assert expected in str(why(Part("level", 12345.678), std=std))


def test_a_model_that_cannot_say_why_says_that() -> None:
    plain = Why("X", "open", maximize=True, mean=2.0, std=0.5)
    assert str(plain) == "Expected 2 ± 0.5: the model does not say why"


PATH = View(
    ("Machine",),
    paths=(read_path("(:Machine)-[:AT]->(:Rack)<-[:AT]-(:Machine)"),),
    key="id",
    candidates_where=read_condition("spare = false"),
)


@pytest.mark.parametrize("node", [None, 5])
def test_candidates_that_hang_together_by_paths_are_explained(
    store: GraphStore, node: int | None
) -> None:
    machines, racks = View(("Machine",), ("AT",), key="id"), View(("Rack",), ("AT",), key="id")
    store.create_key(machines)
    store.create_key(racks)
    store.write_nodes(machines, [(one, {"spare": one % 6 == 4}) for one in range(48)])
    store.write_nodes(racks, [(rack, {}) for rack in range(20)])
    edges: list[EdgeRow] = [
        (one, rack, {}) for one in range(48) for rack in {one // 4, 12 + one % 7}
    ]
    store.write_relationships(machines, edges, target=racks)
    run = Run.create(store, PATH, "search", RunSettings(seed=3, options={"initial": 5}))
    for _ in range(9):
        asked = run.ask().pending
        assert asked is not None
        run.tell(10.0 - abs(int(asked.key) // 4 - 6), step=asked.step)
    why = run.why(node)
    assert total(why) == pytest.approx(why.mean)
    assert [part for part in why.parts if part.kind == "node" and part.near]
    # What is named can be measured: neither racks nor machines that are kept as spare ones.
    named = {part.key for part in why.parts if part.key is not None}
    assert named <= {one.key for one in run.history}
    assert all(int(str(key)) % 6 != 4 for key in named)
    text = why.text("machine {}".format)
    assert text.startswith("Expected ")
    assert "Rack" not in text


def test_what_a_scout_is_like_is_not_near_it() -> None:
    scout = replace(why(LEVEL, MIA, ANN, INCOME), phase="scout")
    assert str(scout) == (
        "Expected 4.1 ± 1.4: like mia (6.2); being like ann (1) speaks against it; income speaks for it (+0.8)"
    )
