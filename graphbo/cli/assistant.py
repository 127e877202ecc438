"""What ``graphbo mcp`` offers an assistant: tools that look at runs, ask and tell, and reports as resources.

Every call opens the database anew: an assistant may be silent for days, and calls come in threads of their own. The
SDK keeps standard output for the protocol; whatever else prints goes to standard error.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from graphbo import __version__
from graphbo.cli.advice import advised
from graphbo.cli.as_printed import (
    best_facts,
    json_ready,
    named,
    observation_facts,
    pending_facts,
    record_facts,
    run_of,
    with_caption,
)
from graphbo.cli.captions import captions_of
from graphbo.cli.options import Place
from graphbo.errors import GraphboError, RunError
from graphbo.runs import Run
from graphbo.runs.captions import Captions, labels_of
from graphbo.runs.node_names import key_in
from graphbo.runs.records import RunRecord
from graphbo.runs.registry import runs_in
from graphbo.runs.telling import Report
from graphbo.types import NodeKey, Pending

__all__ = ["server_for"]

#: How many observations ``status`` gives: all of a long run would be more than an assistant can read.
LAST = 10

#: Why there is no node to measure.
NO_NODE = {
    "budget": "the budget of the run {run!r} is used up: somebody has to raise it",
    "unaffordable": "what is left to spend by the run {run!r} pays for no node that was looked at",
    "exhausted": "every node that the run {run!r} may look at has been measured",
    "waiting": "every node that is left to the run {run!r} is being measured by others",
    "ended": "the run {run!r} was stopped",
}

P = ParamSpec("P")
Answer = TypeVar("Answer")

Facts = dict[str, Any]

RunName = Annotated[str, Field(description="The name of the run, as list_runs gives it.")]
Node = Annotated[str | int, Field(description="The key of the node, as ask or status gives it.")]

INSTRUCTIONS = (
    "graphbo finds the best node of a graph when measuring a node is expensive. A run is one such search; it is kept "
    "in the graph's database. graphbo chooses which node to measure next, never you: suggest no nodes of your own, and "
    "explain its choice with why. A value comes from a measurement that somebody made: never invent or estimate one."
)

MAY_TELL = (
    " To go on with a run: ask, let the person (or a tool that they named) measure that node, then tell the value, or "
    "that measuring failed. A node that was asked for stays reserved until it is told."
)

READ_ONLY = " You may look at runs and not change them: graphbo mcp --allow-tell would permit asking and telling."


def server_for(place: Place, *, allow_tell: bool) -> MCPServer[Any]:
    """The server for one database.

    Args:
        place: the database.
        allow_tell: whether the assistant may ask for nodes and tell values.
    """
    server = MCPServer[Any](
        "graphbo",
        version=__version__,
        instructions=INSTRUCTIONS + (MAY_TELL if allow_tell else READ_ONLY),
        log_level="WARNING",
    )
    runs = _Runs(place)
    looks = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for look in (runs.list_runs, runs.status, runs.best, runs.why):
        server.add_tool(_refusing(look, ToolError), annotations=looks)
    if allow_tell:
        asks = ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False)
        for change in (runs.ask, runs.tell):
            server.add_tool(_refusing(change, ToolError), annotations=asks)
    server.resource(
        "graphbo://runs/{run}/report",
        name="report",
        description="A run as one HTML page: its answer, the curve, a map, what the model learned.",
        mime_type="text/html",
    )(_refusing(runs.report, ResourceError))
    return server


def _refusing(call: Callable[P, Answer], error: type[Exception]) -> Callable[P, Answer]:
    """The same, whose refusals reach the assistant as one line."""

    @wraps(call)
    def refusing(*args: P.args, **kwargs: P.kwargs) -> Answer:
        try:
            return call(*args, **kwargs)
        except GraphboError as refused:
            raise error(advised(refused)) from None

    return refusing


class _Runs:
    """The runs of a database, as an assistant gets them."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def list_runs(self) -> list[Facts]:
        """List the runs of the database: name, state, goal, budget and best value of each."""
        with self._place.open() as store:
            return [
                record_facts(run)
                if isinstance(run, RunRecord)
                else {"name": run.name, "state": "unreadable", "reason": run.reason}
                for run in runs_in(store).listed()
            ]

    def status(self, run: RunName) -> Facts:
        """Say how a run stands: its best node so far, the nodes that are being measured, and its last observations."""
        with self._opened(run) as opened:
            captions = captions_of(opened.store, opened.record)
            best = opened.best()
            last = opened.history[-LAST:]
            captions.read(one.key for one in (best, *opened.pending, *last) if one is not None)
            return record_facts(opened.record) | {
                "best": best_facts(best, captions=captions),
                "pending": [with_caption(pending_facts(one), captions) for one in opened.pending],
                "last": [with_caption(observation_facts(one), captions) for one in last],
            }

    def best(self, run: RunName) -> Facts:
        """Give the answer of a run so far: its best node, with the node's properties."""
        with self._opened(run) as opened:
            best = opened.best()
            if best is None:
                raise RunError(f"the run {run!r} has no value yet")
            properties = opened.properties(best.key)
            captions = captions_of(opened.store, opened.record).take(best.key, properties)
            labels = labels_of(opened.store, opened.view, [best.key]).get(best.key, [])
            return best_facts(best, properties, captions=captions, labels=labels) or {}

    def why(
        self,
        run: RunName,
        node: Annotated[
            str | int | None,
            Field(description="The key of the node; without it, the one that is to be measured."),
        ] = None,
    ) -> Facts:
        """Explain a node: what is expected of it and why, in words and as parts that add up to the expected value."""
        with self._opened(run) as opened:
            why = opened.why(None if node is None else key_in(opened, str(node)))
            captions = captions_of(opened.store, opened.record)
            parts = [asdict(one) | {"value": json_ready(one.value)} for one in why.parts]
            captions.read([why.key, *(one.key for one in why.parts if one.key is not None)])
            return with_caption(asdict(why), captions) | {
                "words": why.text(lambda key: named(key, captions)),
                "parts": parts,
            }

    def ask(
        self,
        run: RunName,
        another: Annotated[
            bool, Field(description="Ask for one more node than those that are waiting.")
        ] = False,
    ) -> list[Facts]:
        """Ask graphbo which node to measure next.

        The same nodes are given until they are told, or until another one is asked for.
        """
        with self._opened(run) as opened:
            waiting = _by_hand(opened)
            if another or not waiting:
                asked = opened.ask(lease=None)
                if asked.pending is None:
                    raise RunError(NO_NODE[asked.why_not].format(run=run))
                waiting = [*waiting, asked.pending]
            captions = captions_of(opened.store, opened.record)
            return [_to_measure(opened, one, captions) for one in waiting]

    def tell(
        self,
        run: RunName,
        node: Node,
        value: Annotated[float | None, Field(description="What was measured there.")] = None,
        failed: Annotated[
            str | None, Field(description="Why there is no value, where measuring failed.")
        ] = None,
        note: Annotated[str | None, Field(description="A remark that is kept with it.")] = None,
    ) -> Facts:
        """Record what was measured at a node that was asked for: its value, or why there is none."""
        if (value is None) == (failed is None):
            raise RunError("expected a value, or why it failed: one of the two")
        with self._opened(run) as opened:
            step = _step_of(opened, node)
            told = opened.report(Report(value, step, error=failed, note=note))
            return observation_facts(told.observation) | {
                "outcome": told.outcome,
                "best": best_facts(opened.best()),
                "run": record_facts(opened.record),
            }

    def report(self, run: str) -> str:
        """A run as one HTML page."""
        from graphbo.seeing import facts_of, html_of  # noqa: PLC0415 - takes a second

        with self._opened(run) as opened:
            return html_of(facts_of(opened))

    @contextmanager
    def _opened(self, name: str) -> Iterator[Run]:
        with self._place.open() as store:
            yield run_of(store, name)


def _by_hand(run: Run) -> list[Pending]:
    """What waits for a person: what a worker measures, the worker tells."""
    return [one for one in run.pending if one.lease_left is None]


def _step_of(run: Run, node: NodeKey) -> int:
    """The step at which somebody asked for a node.

    Raises:
        RunError: nobody did, or a worker measures it.
    """
    waiting = {str(one.key): one.step for one in _by_hand(run)}
    if str(node) in waiting:
        return waiting[str(node)]
    known = f"only {', '.join(waiting)} may be told" if waiting else "ask first"
    raise RunError(f"the node {str(node)!r} is not waiting for a value: {known}")


def _to_measure(run: Run, one: Pending, captions: Captions) -> Facts:
    properties = run.properties(one.key)
    captions.take(one.key, properties)
    facts = with_caption(pending_facts(one), captions)
    return facts | {"properties": {name: json_ready(value) for name, value in properties.items()}}
