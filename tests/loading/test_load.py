"""Loading: what reaches the store, in which order, and what does not."""

import subprocess
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from graphbo.errors import InvalidView, SourceError
from graphbo.loading import Bad, EdgeRecord, NodeRecord, Reading, Survey, open_source
from graphbo.loading.load import BATCH, LoadReport, inspect, load
from graphbo.stores import EdgeRow, GraphStore, NodeRow, WriteCounts
from graphbo.types import NodeKey, View

VIEW = View(("N",), ("R",), key="id")
WEIGHTED = View(("N",), ("R",), key="id", weight="w")


class Recorder:
    """Writes down what a store is told to do, in memory."""

    address = "nowhere"

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.nodes: dict[NodeKey, dict[str, object]] = {}
        self.edges: dict[tuple[NodeKey, NodeKey], dict[str, object]] = {}
        self.largest = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    @property
    def log(self) -> "Recorder":
        return self

    def list_runs(self) -> list[object]:
        return []

    def create_key(self, view: View) -> None:
        self.calls.append("create_key")

    def delete_graph(self, view: View) -> None:
        self.calls.append("delete_graph")
        self.nodes.clear()
        self.edges.clear()

    def write_nodes(self, view: View, nodes: Sequence[NodeRow]) -> WriteCounts:
        self.calls.append("write_nodes")
        self.largest = max(self.largest, len(nodes))
        created = changed = 0
        for key, properties in nodes:
            created += key not in self.nodes
            old = self.nodes.setdefault(key, {})
            changed += any(name not in old or old[name] != properties[name] for name in properties)
            old.update(properties)
        return WriteCounts(nodes_created=created, properties_set=changed)

    def write_relationships(self, view: View, edges: Sequence[EdgeRow]) -> WriteCounts:
        self.calls.append("write_relationships")
        self.largest = max(self.largest, len(edges))
        before = len(self.nodes), len(self.edges)
        changed = 0
        for source, target, properties in edges:
            self.nodes.setdefault(source, {})
            self.nodes.setdefault(target, {})
            old = self.edges.setdefault((source, target), {})
            changed += any(old.get(name) != properties[name] for name in properties)
            old.update(properties)
        return WriteCounts(len(self.nodes) - before[0], len(self.edges) - before[1], changed)

    def count_nodes(self, view: View) -> int:
        return len(self.nodes)

    def count_relationships(self, view: View) -> int:
        return len(self.edges)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def run(
    recorder: Recorder,
    path: Path | str,
    view: View = VIEW,
    *,
    batch: int = BATCH,
    directed: bool = False,
    replace: bool = False,
    skip_bad: bool = False,
) -> LoadReport:
    store: GraphStore = recorder  # type: ignore[assignment]  # only the part that a load uses
    source = open_source(str(path), Reading(weight=view.weight, key=view.key))
    return load(
        store, view, source, batch=batch, directed=directed, replace=replace, skip_bad=skip_bad
    )


def csv(folder: Path, text: str) -> Path:
    (folder / "g.csv").write_text(text)
    return folder / "g.csv"


def test_the_key_comes_first_then_nodes_then_relationships(recorder: Recorder) -> None:
    report = run(recorder, "grid:2x2")
    assert recorder.calls == ["create_key", "write_nodes", "write_relationships"]
    assert recorder.nodes[3] == {"row": 1, "col": 1}
    assert sorted(recorder.edges) == [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert (report.nodes, report.relationships, report.self_loops) == (4, 4, 0)
    assert report.counts.nodes_created == 4
    assert report.changed
    assert report.rate > 0


def test_the_second_time_changes_nothing(recorder: Recorder) -> None:
    run(recorder, "ba:n=50,m=2")
    assert not run(recorder, "ba:n=50,m=2").changed


def test_replacing_deletes_first(recorder: Recorder, tmp_path: Path) -> None:
    run(recorder, "grid:2x2")
    recorder.calls.clear()
    report = run(recorder, csv(tmp_path, "a,b\n"), replace=True)
    assert recorder.calls == ["delete_graph", "create_key", "write_relationships"]
    assert set(recorder.nodes) == {"a", "b"}
    assert report.replaced
    assert report.changed


@pytest.mark.parametrize("replace", [False, True])
def test_a_malformed_line_stops_everything(
    recorder: Recorder, tmp_path: Path, replace: bool
) -> None:
    path = csv(tmp_path, "a,b\nalone\nc\nb,c\n")
    with pytest.raises(SourceError, match=r"2 malformed lines \(the first, line 2: 1 field"):
        run(recorder, path, replace=replace)
    assert recorder.calls == []
    report = run(recorder, path, replace=replace, skip_bad=True)
    assert report.survey.bad == 2
    assert set(recorder.edges) == {("a", "b"), ("b", "c")}


@pytest.mark.parametrize(
    ("directed", "expected"),
    [
        (False, {(1, 2): 9.0, (2, 10): 5.0}),
        (True, {(1, 2): 3.0, (2, 1): 9.0, (10, 2): 5.0}),
    ],
)
def test_a_pair_is_stored_once_unless_directed(
    recorder: Recorder, tmp_path: Path, directed: bool, expected: dict[tuple[int, int], float]
) -> None:
    run(recorder, csv(tmp_path, "1,2,3\n2,1,9\n10,2,5\n"), WEIGHTED, directed=directed)
    assert {pair: rest["w"] for pair, rest in recorder.edges.items()} == expected


def test_the_last_weight_counts_across_batches(recorder: Recorder, tmp_path: Path) -> None:
    lines = [f"{i % 7},{(i * 5 + 1) % 11},{i}\n" for i in range(300)]
    expected: dict[tuple[int, int], float] = {}
    for i in range(300):
        a, b = sorted((i % 7, (i * 5 + 1) % 11))
        if a != b:
            expected[a, b] = float(i)
    path = csv(tmp_path, "".join(lines))
    run(recorder, path, WEIGHTED, batch=8)
    assert {pair: rest["w"] for pair, rest in recorder.edges.items()} == expected
    assert not run(recorder, path, WEIGHTED, batch=8).changed


@pytest.mark.slow
def test_the_order_of_writing_is_the_same_in_every_process(tmp_path: Path) -> None:
    path = csv(tmp_path, "".join(f"a{i},b{i * 7 % 50},{i}\n" for i in range(200)))
    script = (
        "import sys; from graphbo.loading import Reading, open_source\n"
        "from graphbo.loading.repeats import without_repeats\n"
        "edges = open_source(sys.argv[1], Reading(weight='w')).edges()\n"
        "print([p for part in without_repeats(edges, 200, 10, lambda _: None) for p in part])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script, str(path)],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_properties_of_repeated_edges_add_up(recorder: Recorder, tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    path.write_text(
        '{"nodes": [{"id": 1, "x": 1}, {"id": 1, "y": 2}], "links": [{"source": 1, "target": 2,'
        ' "a": 1, "b": 1}, {"source": 2, "target": 1, "b": 2}]}'
    )
    run(recorder, path)
    assert recorder.edges == {(1, 2): {"a": 1, "b": 2}}
    assert recorder.nodes[1] == {"x": 1, "y": 2}


def test_self_loops_are_left_out_and_their_nodes_kept(recorder: Recorder, tmp_path: Path) -> None:
    report = run(recorder, csv(tmp_path, "1,1\n2,3\n3,3\n4,4\n"), batch=2)
    assert report.self_loops == 3
    assert set(recorder.edges) == {(2, 3)}
    assert set(recorder.nodes) == {1, 2, 3, 4}
    assert report.counts == WriteCounts(nodes_created=4, relationships_created=1)


def test_mixed_keys_have_an_order_too(recorder: Recorder, tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    path.write_text(
        '{"links": [{"source": "a", "target": 1}, {"source": 1, "target": "a"},'
        ' {"source": "b", "target": "a"}]}'
    )
    run(recorder, path)
    assert set(recorder.edges) == {(1, "a"), ("a", "b")}


@pytest.mark.parametrize("weighted", [False, True])
def test_batches_are_as_small_as_asked(recorder: Recorder, tmp_path: Path, weighted: bool) -> None:
    path = csv(tmp_path, "".join(f"{i},{i + 1},1\n" for i in range(1000)))
    run(recorder, path, WEIGHTED if weighted else VIEW, batch=100)
    assert len(recorder.edges) == 1000
    assert recorder.calls.count("write_relationships") == 10
    assert recorder.largest <= (150 if weighted else 100)


def test_the_progress_of_each_stage_goes_up_to_its_end(recorder: Recorder, tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    links = ", ".join(f'{{"source": {i}, "target": {i % 9}, "w": 1}}' for i in range(100))
    path.write_text(f'{{"nodes": [{{"id": 1}}, {{"id": 2}}], "links": [{links}]}}')
    seen: dict[str, list[tuple[int, int]]] = {}
    source = open_source(str(path), Reading(weight="w"))
    load(
        recorder,  # type: ignore[arg-type]
        WEIGHTED,
        source,
        batch=10,
        replace=True,
        watch=lambda stage, done, total: seen.setdefault(stage, []).append((done, total)),
    )
    assert list(seen) == ["read", "delete", "nodes", "sort", "relationships"]
    assert seen["nodes"] == [(0, 2), (2, 2)]
    for stage in ("read", "sort", "relationships"):
        assert seen[stage] == sorted(seen[stage])
        done, total = seen[stage][-1]
        assert done == total


@pytest.mark.parametrize(
    "view",
    [View(("N",), ("R",)), View(("N", "M"), ("R",), key="id"), View(("N",), ("R", "S"), key="id")],
)
def test_a_view_that_cannot_be_written(recorder: Recorder, view: View) -> None:
    with pytest.raises(InvalidView):
        run(recorder, "grid:2x2", view)
    assert recorder.calls == []


class Other:
    """A source of another kind, as a later part of graphbo may add one."""

    name = "other"

    def survey(self, progress: object = None) -> Survey:
        return Survey(nodes=1, edges=1, bad=1, examples=(Bad("row 1", "no good"),))

    def nodes(self) -> Iterator[NodeRecord]:
        yield "a", {"size": [1.0, 2.0]}

    def edges(self) -> Iterator[EdgeRecord]:
        yield "b", "a", {}


def test_any_source_can_be_loaded(recorder: Recorder) -> None:
    with pytest.raises(SourceError, match=r"other: 1 malformed record \(row 1: no good\)"):
        inspect(Other())
    load(recorder, VIEW, Other(), skip_bad=True)  # type: ignore[arg-type]
    assert recorder.nodes == {"a": {"size": [1.0, 2.0]}, "b": {}}
    assert recorder.edges == {("a", "b"): {}}


# Memory


class Nowhere(Recorder):
    """Forgets what it is told."""

    written = 0

    def write_relationships(self, view: View, edges: Sequence[EdgeRow]) -> WriteCounts:
        self.written += len(edges)
        return WriteCounts()


def peak_of(path: Path) -> tuple[int, int]:
    """How many edges were written, and how much memory that took at most."""
    store = Nowhere()
    tracemalloc.start()
    run(store, path, WEIGHTED, batch=1_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return store.written, peak


def write_edges(path: Path, count: int) -> None:
    pairs = ((i, i * 7 + 1) for i in range(count))
    with path.open("w") as file:
        if path.suffix == ".csv":
            file.writelines(f"{a},{b},{a}\n" for a, b in pairs)
        elif path.suffix == ".json":
            edges = (f'{{"source": {a}, "target": {b}, "w": {a}}},' for a, b in pairs)
            file.write('{"nodes": [], "edges": [')
            file.writelines(edges)
            file.write('{"source": 1, "target": 2, "w": 1}]}')
        else:
            file.write('<graphml><key id="w" for="edge" attr.name="w" attr.type="int"/><graph>')
            file.writelines(
                f'<edge source="{a}" target="{b}"><data key="w">{a}</data></edge>' for a, b in pairs
            )
            file.write("</graph></graphml>")


@pytest.mark.parametrize(
    ("name", "few"), [("g.csv", 6_000), ("g.json", 3_000), ("g.graphml", 3_000)]
)
@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path, name: str, few: int) -> None:
    peaks = []
    for count in (few, 3 * few):
        write_edges(tmp_path / name, count)
        written, peak = peak_of(tmp_path / name)
        assert written >= count
        peaks.append(peak)
    # What grows are the names of temporary files, a few bytes per batch.
    assert peaks[1] < 1.15 * peaks[0] + 50_000


@pytest.mark.slow
def test_a_long_file_fits_into_little_memory(tmp_path: Path) -> None:
    write_edges(tmp_path / "g.csv", 300_000)
    script = (
        "import resource, sys\n"
        "from graphbo.loading import open_source\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "source = open_source(sys.argv[1])\n"
        "print(source.survey().edges, sum(1 for _ in source.edges()), peak() - before)"
    )
    output = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "g.csv")], capture_output=True, check=True
    ).stdout.split()
    scale = 1 if sys.platform == "darwin" else 1024
    assert output[:2] == [b"300000", b"300000"]
    assert int(output[2]) * scale < 16e6
