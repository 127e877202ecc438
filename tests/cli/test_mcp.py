"""``graphbo mcp``, asked by the SDK's own client as an assistant would."""

import json
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, TextResourceContents

from graphbo.cli import assistant
from graphbo.cli.options import Place
from graphbo.runs import Run, RunSettings
from graphbo.stores import Address
from tests.backends import Backend, environment_for, on_sqlite
from tests.cli.commands import COMMAND
from tests.cli.runs import VIEW, load, score

LOOKING = {"list_runs", "status", "best", "why"}
CHANGING = {"ask", "tell"}


@pytest.fixture
def town(backend: Backend) -> Backend:
    """A database with a run by hand that has measured three nodes."""
    load(backend)
    with backend.open() as store:
        run = Run.create(store, VIEW, "town", RunSettings(seed=3, budget=40, caption="name"))
        for _ in range(3):
            pending = run.ask().pending
            assert pending is not None
            assert isinstance(pending.key, int)
            run.tell(score(pending.key), step=pending.step)
    return backend


def talk(
    backend: Backend,
    conversation: Callable[[Client], Awaitable[None]],
    *options: str,
    directory: Path,
) -> None:
    """Have the installed command talk with a client."""

    async def talking() -> None:
        command = StdioServerParameters(
            command=str(COMMAND),
            args=["mcp", "--uri", backend.uri, *options],
            env=environment_for(backend),
            cwd=directory,
        )
        async with Client(command, read_timeout_seconds=60) as client:
            await conversation(client)

    anyio.run(talking)


def talk_here(
    backend: Backend, conversation: Callable[[Client], Awaitable[None]], *, allow_tell: bool = False
) -> None:
    """The same in this process."""

    async def talking() -> None:
        server = assistant.server_for(place_of(backend), allow_tell=allow_tell)
        async with Client(server) as client:
            await conversation(client)

    anyio.run(talking)


def place_of(backend: Backend) -> Place:
    with backend.open() as store:
        assert isinstance(store.access, Address)
        return Place(store.access, ())


def text_of(result: CallToolResult) -> str:
    return "".join(getattr(one, "text", "") for one in result.content)


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    found: Any = result.structured_content
    return found["result"] if set(found) == {"result"} else found


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return text_of(result)


def observed(backend: Backend) -> Sequence[tuple[int, object, float | None]]:
    with backend.open() as store:
        run = Run.open(store, "town")
        run.refresh()
        return [(one.step, one.key, one.value) for one in run.history]


class TestAnAssistantThatMayTell:
    def test_goes_on_with_a_run(self, town: Backend, tmp_path: Path) -> None:
        async def conversation(client: Client) -> None:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == LOOKING | CHANGING
            (run,) = await call(client, "list_runs")
            assert (run["name"], run["evaluations"]) == ("town", 3)
            (node,) = await call(client, "ask", run="town")
            assert node["caption"] == f"node {node['key']}"
            assert node["properties"]["name"] == f"node {node['key']}"
            # Asking again is no second request.
            assert [one["step"] for one in await call(client, "ask", run="town")] == [4]
            told = await call(
                client, "tell", run="town", node=str(node["key"]), value=11.5, note="twice"
            )
            assert (told["outcome"], told["step"], told["value"]) == ("recorded", 4, 11.5)
            assert told["best"]["key"] == node["key"]
            assert (await call(client, "best", run="town"))["value"] == 11.5
            status = await call(client, "status", run="town")
            assert [one["step"] for one in status["last"]] == [1, 2, 3, 4]
            assert status["pending"] == []

        talk(town, conversation, "--allow-tell", directory=tmp_path)
        assert observed(town)[-1][2] == 11.5

    @on_sqlite
    def test_tells_failures(self, town: Backend) -> None:
        async def conversation(client: Client) -> None:
            (node,) = await call(client, "ask", run="town")
            told = await call(client, "tell", run="town", node=node["key"], failed="nobody at home")
            assert (told["value"], told["error"]) == (None, "nobody at home")

        talk_here(town, conversation, allow_tell=True)

    @on_sqlite
    def test_tells_nothing_else(self, town: Backend) -> None:
        before = observed(town)
        measured = before[0][1]
        with town.open() as store:
            worker = Run.open(store, "town", worker="a:1:x").ask(lease=60.0).pending
            assert worker is not None

        async def conversation(client: Client) -> None:
            asked_first = await refusal(client, "tell", run="town", node=measured, value=1.0)
            assert f"the node '{measured}' is not waiting for a value: ask first" in asked_first
            (node,) = await call(client, "ask", run="town")
            others = await refusal(client, "tell", run="town", node=worker.key, value=1.0)
            assert f"only {node['key']} may be told" in others
            both = await refusal(
                client, "tell", run="town", node=node["key"], value=1.0, failed="x"
            )
            assert "one of the two" in both
            neither = await refusal(client, "tell", run="town", node=node["key"])
            assert neither == both
            infinite = await refusal(client, "tell", run="town", node=node["key"], value="inf")
            assert "finite" in infinite

        talk_here(town, conversation, allow_tell=True)
        assert observed(town) == before

    @on_sqlite
    def test_hears_that_a_budget_is_used_up(self, town: Backend) -> None:
        with town.open() as store:
            run = Run.open(store, "town")
            run.finish(whatever_is_left=True)

        async def conversation(client: Client) -> None:
            assert "the run 'town'" in await refusal(client, "ask", run="town")

        talk_here(town, conversation, allow_tell=True)


@on_sqlite
class TestAnAssistantThatMayOnlyLook:
    def test_cannot_ask_or_tell(self, town: Backend, tmp_path: Path) -> None:
        before = town.dump()

        async def conversation(client: Client) -> None:
            assert {tool.name for tool in (await client.list_tools()).tools} == LOOKING
            for tool, arguments in (("ask", {}), ("tell", {"node": 1, "value": 2.0})):
                assert "Unknown tool" in await refusal(client, tool, run="town", **arguments)
            assert (await call(client, "status", run="town"))["state"] == "running"

        talk(town, conversation, directory=tmp_path)
        assert town.dump() == before

    def test_reads_the_report(self, town: Backend) -> None:
        async def conversation(client: Client) -> None:
            templates = (await client.list_resource_templates()).resource_templates
            assert [one.uri_template for one in templates] == ["graphbo://runs/{run}/report"]
            (page,) = (await client.read_resource("graphbo://runs/town/report")).contents
            assert isinstance(page, TextResourceContents)
            assert page.mime_type == "text/html"
            assert page.text.startswith("<!doctype html>")

        talk_here(town, conversation)

    def test_hears_why(self, town: Backend) -> None:
        with town.open() as store:
            run = Run.open(store, "town")
            while len(run.history) < 12:
                pending = run.ask().pending
                assert pending is not None
                run.tell(score(int(pending.key)), step=pending.step)
            expected = run.why()

        async def conversation(client: Client) -> None:
            next_one = await call(client, "why", run="town")
            assert (next_one["key"], next_one["standing"]) == (expected.key, "next")
            assert sum(part["amount"] for part in next_one["parts"]) == pytest.approx(
                next_one["mean"]
            )
            assert next_one["words"].startswith("Expected ")
            first = await call(client, "why", run="town", node=str(expected.key))
            assert first["mean"] == pytest.approx(next_one["mean"])
            assert "no node" in await refusal(client, "why", run="town", node="nobody")

        talk_here(town, conversation)

    def test_hears_of_runs_that_are_not_there(self, town: Backend) -> None:
        async def conversation(client: Client) -> None:
            line = await refusal(client, "status", run="twon")
            assert "there is no run 'twon'" in line

        talk_here(town, conversation)


@on_sqlite
def test_standard_output_is_the_protocol_and_nothing_else(town: Backend, tmp_path: Path) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    result = subprocess.run(
        [str(COMMAND), "mcp", "--uri", town.uri],
        input=json.dumps(hello) + "\n",
        env=environment_for(town),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == [1]
    assert result.stderr.startswith("Using the embedded store")


@on_sqlite
def test_a_database_that_is_not_there_is_said_at_once(backend: Backend, tmp_path: Path) -> None:
    result = subprocess.run(
        [str(COMMAND), "mcp", "--uri", "sqlite:missing.db"],
        env=environment_for(backend),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert "load a graph first" in result.stderr
