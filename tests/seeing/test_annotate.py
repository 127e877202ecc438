"""What a run leaves on nodes for people, on each database: written, mended, replaced and removed."""

from dataclasses import replace
from typing import Any

import pytest

from graphbo.errors import NoSuchRun, RunError
from graphbo.runs import Run, RunSettings
from graphbo.runs.registry import runs_in
from graphbo.runs.written_names import region_properties, written_labels, written_properties
from graphbo.seeing.annotate import annotate
from graphbo.stores import GraphStore
from tests.backends import Backend, Neo4jBackend
from tests.cli.runs import SIZE, VIEW, load, score

SETTINGS = RunSettings(options={"initial": 4, "size": 16, "egos": 1}, seed=3)
PROPERTIES = {*written_properties("graphbo").values(), *region_properties("graphbo").values()}


@pytest.fixture
def loaded(backend: Backend) -> Backend:
    return load(backend)


def measure(run: Run, count: int) -> None:
    for _ in range(count):
        pending = run.ask().pending
        assert pending is not None
        run.tell(score(int(pending.key)), step=pending.step)


def eventful(store: GraphStore, settings: RunSettings = SETTINGS, name: str = "search") -> Run:
    """A run with everything that can happen in one."""
    run = Run.create(store, VIEW, name, settings)
    run.tell_known({1: score(1), 2: score(2)})
    measure(run, 4)
    first = run.history[2]
    run.tell(99.0, step=first.step, amend=True)
    for _ in range(2):
        failed = run.ask().pending
        assert failed is not None
        run.tell(None, step=failed.step, error="no answer")
    run.ask(lease=60.0)
    released = run.ask().pending
    assert released is not None
    run.release(step=released.step)
    run.ask()
    return run


def marks(store: GraphStore) -> dict[Any, dict[str, object]]:
    """What runs of the usual prefix have written on nodes."""
    found = store.properties(VIEW, range(SIZE))
    ours = {
        key: {name: all_[name] for name in all_ if name in PROPERTIES}
        for key, all_ in found.items()
    }
    return {key: properties for key, properties in ours.items() if properties}


def labelled(backend: Backend, what: str, prefix: str = "graphbo") -> list[int]:
    assert isinstance(backend, Neo4jBackend)
    label = written_labels(prefix)[what]
    rows = backend.run("MATCH (n) WHERE $label IN labels(n) RETURN n.id AS id", label=label)
    return sorted(row["id"] for row in rows)


def test_cleaning_after_everything_leaves_the_database_as_it_was(loaded: Backend) -> None:
    before = loaded.dump()
    with loaded.open() as store:
        run = eventful(store)
        annotate(store, "search", posterior=True)
        measure(run, 3)
        annotate(store, "search", posterior=True)
        runs_in(store).clean("search")
    assert loaded.dump() == before


def test_cleaning_one_run_leaves_the_others_alone(loaded: Backend) -> None:
    with loaded.open() as store:
        eventful(store, name="stays")
        annotate(store, "stays", posterior=True)
        before = loaded.dump()
        eventful(store, name="goes")
        annotate(store, "goes", posterior=True)
        assert loaded.dump() != before
        runs_in(store).clean("goes")
    assert loaded.dump() == before


def test_the_region_has_what_is_believed_now(store: GraphStore, loaded: Backend) -> None:
    run = eventful(store)
    told = marks(store)
    done = annotate(store, "search", posterior=True)
    assert done.region is not None
    region = {one.key: one for one in done.region}
    assert len(region) == 16
    names = region_properties("graphbo")
    for key, properties in marks(store).items():
        believed = {name: properties.pop(name) for name in names.values() if name in properties}
        assert properties == told.get(key, {})  # what was believed then stays
        if key not in region:
            assert not believed
            continue
        assert believed[names["mean"]] == pytest.approx(region[key].mean)
        assert believed[names["std"]] == pytest.approx(region[key].std)
        # What has been measured or is being evaluated is no candidate.
        assert (names["acquisition"] in believed) == (region[key].acquisition is not None)
    taken = {one.key for one in run.history} | {one.key for one in run.pending}
    assert all((one.acquisition is None) == (one.key in taken) for one in done.region)
    if loaded.name == "neo4j":
        assert labelled(loaded, "region") == sorted(region)


def test_a_second_time_replaces_the_first(store: GraphStore, loaded: Backend) -> None:
    run = eventful(store)
    first = annotate(store, "search", posterior=True).region or ()
    known = {one.key for one in first} | {one.key for one in run.history}
    known |= {one.key for one in run.pending}
    elsewhere = next(key for key in range(SIZE) if key not in known)
    run.tell_known({elsewhere: 500.0})
    second = annotate(store, "search", posterior=True).region or ()
    assert {one.key for one in first} != {one.key for one in second}
    name = region_properties("graphbo")["mean"]
    assert {key for key, all_ in marks(store).items() if name in all_} == {o.key for o in second}
    before = marks(store)
    annotate(store, "search", posterior=True)
    assert marks(store) == before
    if loaded.name == "neo4j":
        assert labelled(loaded, "region") == sorted(one.key for one in second)


def test_mends_what_somebody_changed(loaded: Backend) -> None:
    with loaded.open() as store:
        run = eventful(store)
        before = marks(store)
        told = {one.key: one for one in run.history if not one.failed}
        values = written_properties("graphbo")
        store.write_nodes(VIEW, [(key, {values["value"]: -1.0}) for key in told])
        if isinstance(loaded, Neo4jBackend):
            labels = {what: labelled(loaded, what) for what in ("observed", "best", "pending")}
            assert all(labels.values())
            loaded.run("MATCH (n:GraphboPending) REMOVE n:GraphboPending")
            loaded.run("MATCH (n:GraphboBest) REMOVE n:GraphboBest:GraphboObserved")
        assert marks(store) != before
        for _ in range(2):
            annotate(store, "search")
            assert marks(store) == before
        # Also of nodes that are in the region as well.
        annotate(store, "search", posterior=True)
        with_region = marks(store)
        store.write_nodes(VIEW, [(key, {values["value"]: -1.0}) for key in told])
        annotate(store, "search", posterior=True)
        assert marks(store) == with_region
        if isinstance(loaded, Neo4jBackend):
            assert {what: labelled(loaded, what) for what in labels} == labels


@pytest.mark.neo4j
def test_labels_say_how_things_stand(neo4j_backend: Neo4jBackend) -> None:
    load(neo4j_backend)
    with neo4j_backend.open() as store:
        run = eventful(store)
        valued = sorted(one.key for one in run.history if not one.failed)
        assert labelled(neo4j_backend, "observed") == valued
        assert labelled(neo4j_backend, "pending") == sorted(one.key for one in run.pending)
        best = run.best()
        assert best is not None
        assert labelled(neo4j_backend, "best") == [best.key]
        for one in run.pending:
            run.tell(0.0, step=one.step)
        assert labelled(neo4j_backend, "pending") == []


@pytest.mark.neo4j
def test_without_labels_none_is_written(neo4j_backend: Neo4jBackend) -> None:
    load(neo4j_backend)
    with neo4j_backend.open() as store:
        settings = RunSettings(options=SETTINGS.options, labelled=False)
        eventful(store, settings)
        annotate(store, "search", posterior=True)
        assert marks(store)
    rows = neo4j_backend.run("MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label")
    assert {row["label"] for row in rows} == {"N", "GraphboRun"}


def test_what_cannot_be_believed_is_said_and_changes_nothing(loaded: Backend) -> None:
    with loaded.open() as store:
        Run.create(store, VIEW, "luck", RunSettings(strategy="random"))
        Run.create(store, VIEW, "new", SETTINGS)
        before = loaded.dump()
        with pytest.raises(RunError, match=r"'random' .* has no model.*bayes and paper have one"):
            annotate(store, "luck", posterior=True)
        with pytest.raises(RunError, match="has no region now"):
            annotate(store, "new", posterior=True)
        with pytest.raises(NoSuchRun):
            annotate(store, "nobody")
        assert loaded.dump() == before


def test_objectives_do_not_see_the_marks(store: GraphStore, loaded: Backend) -> None:
    run = eventful(store)
    region = annotate(store, "search", posterior=True).region or ()
    fresh = Run.open(store, "search")
    assert fresh.name == run.name
    for one in region:
        assert not PROPERTIES & fresh.properties(one.key).keys()


WHY, WHY_NOW = written_properties("graphbo")["why"], region_properties("graphbo")["why"]


def test_why_is_written_where_it_is_wanted(store: GraphStore, loaded: Backend) -> None:
    del loaded
    run = eventful(store)
    told = marks(store)
    assert not any(WHY in all_ for all_ in told.values())
    done = annotate(store, "search", why=True)
    found = {key: all_[WHY] for key, all_ in marks(store).items() if WHY in all_}
    measured = [one for one in run.history if one.source == "run" and not one.failed]
    keys = [*(one.key for one in measured), *(one.key for one in run.pending)]
    assert set(found) == set(keys)
    assert done.explained == len(found)
    assert all(found[key] == str(run.why(key)) for key in keys)
    assert any(str(why).startswith("Expected ") for why in found.values())
    before = marks(store)
    assert annotate(store, "search", why=True).explained == 0
    assert marks(store) == before


def test_why_is_written_on_the_region_of_now(store: GraphStore, loaded: Backend) -> None:
    del loaded
    run = eventful(store)
    region = annotate(store, "search", posterior=True).region or ()
    found = {key: all_[WHY_NOW] for key, all_ in marks(store).items() if WHY_NOW in all_}
    assert set(found) == {one.key for one in region} - {one.key for one in run.history}
    assert all(str(why).startswith("Expected ") for why in found.values())


def test_why_goes_the_way_of_what_it_explains(store: GraphStore, loaded: Backend) -> None:
    del loaded
    run = Run.create(store, VIEW, "search", replace(SETTINGS, caption="name"))
    measure(run, 9)
    first, second, third = run.ask_many(3).pending
    assert run.explain([first.step, second.step, third.step]) == 3
    whys = [str(marks(store)[one.key][WHY]) for one in (first, second, third)]
    assert whys == [run.why(one.key).text("node {}".format) for one in (first, second, third)]
    why = marks(store)[first.key][WHY]
    run.tell(1.5, step=first.step)
    assert marks(store)[first.key][WHY] == why
    run.tell(None, step=second.step, error="no answer")
    run.release(step=third.step)
    assert second.key not in marks(store)
    assert third.key not in marks(store)
    # What failed has it again when it is mended, under whatever prefix the run has by then.
    run.change_prefix("other")
    run.tell(2.5, step=second.step)
    found = store.properties(VIEW, [first.key, second.key])
    assert found[first.key]["otherWhy"] == why
    assert found[second.key]["otherWhy"] == whys[1]
    run.retract(key=first.key)
    assert "otherWhy" not in store.properties(VIEW, [first.key])[first.key]


def test_what_somebody_has_there_is_left_alone(store: GraphStore, loaded: Backend) -> None:
    del loaded
    run = Run.create(store, VIEW, "search", SETTINGS)
    measure(run, 5)
    pending = run.ask().pending
    assert pending is not None
    told, unwritten = run.history[0].key, run.history[1].key
    for key in (told, pending.key):
        store.write_nodes(VIEW, [(key, {WHY: "mine"})])
    annotate(store, "search", why=True)
    assert WHY in store.properties(VIEW, [unwritten])[unwritten]
    # The value was paid for; the node keeps what it has.
    assert run.tell(3.0, step=pending.step).in_use == (WHY,)
    runs_in(store).clean("search")
    for key in (told, pending.key):
        assert marks(store).pop(key) == {WHY: "mine"}
    assert set(marks(store)) == {told, pending.key}


def test_why_is_taken_off_a_node_that_is_not_written_to(store: GraphStore, loaded: Backend) -> None:
    del loaded
    run = Run.create(store, VIEW, "search", SETTINGS)
    pending = run.ask().pending
    assert pending is not None
    run.explain()
    store.write_nodes(VIEW, [(pending.key, {"graphboMean": "mine"})])
    assert run.tell(3.0, step=pending.step).in_use == ("graphboMean",)
    found = store.properties(VIEW, [pending.key])[pending.key]
    assert (found.get(WHY), found["graphboMean"]) == (None, "mine")
