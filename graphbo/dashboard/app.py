"""The dashboard as an application: which address answers what."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from graphbo.dashboard import looking, sheets, starting
from graphbo.dashboard.actions import act, in_words, key_of
from graphbo.dashboard.connections import Connections
from graphbo.dashboard.guard import Guard, Visitors
from graphbo.dashboard.starting import Examine
from graphbo.dashboard.watching import Watching
from graphbo.errors import GraphboError, NoSuchNode, NoSuchRun, StoreUnavailable
from graphbo.stores import Address, GraphStore

__all__ = ["create_app"]

Answer = TypeVar("Answer")

#: The scripts and styles, by the name in their address: nothing else is read from the disk.
STATIC: Mapping[str, tuple[str, str, str]] = {
    "page.css": ("graphbo.seeing", "page.css", "text/css"),
    "figures.js": ("graphbo.seeing", "figures.js", "text/javascript"),
    "dashboard.css": ("graphbo.dashboard", "dashboard.css", "text/css"),
    "dashboard.js": ("graphbo.dashboard", "dashboard.js", "text/javascript"),
}
#: The pages: one document, which asks for what is on them.
PAGES = ("/", "/run", "/start")


def create_app(address: Address, visitors: Visitors, examine: Examine) -> ASGIApp:
    """The application, which closes its connections when the server ends.

    Args:
        address: of the database.
        visitors: who is let in.
        examine: looks at a graph before a run is started on it.
    """
    desk = _Desk(Connections(address), Watching(), visitors, examine)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        yield
        desk.connections.close()

    app = Starlette(
        routes=[
            *(Route(path, _page(address, visitors)) for path in PAGES),
            Route("/static/{name}", _static),
            Route("/favicon.ico", _icon),
            Route("/api/runs", desk.runs),
            Route("/api/compare", desk.compare),
            Route("/api/run", desk.run),
            Route("/api/figures", desk.figures),
            Route("/api/node", desk.node),
            Route("/api/find", desk.find),
            Route("/api/sheet", desk.take_out),
            Route("/api/form", desk.form),
            Route("/api/examine", desk.examine, methods=["POST"]),
            Route("/api/start", desk.start, methods=["POST"]),
            Route("/api/act", desk.act, methods=["POST"]),
            Route("/api/sheet/look", desk.look_at_sheet, methods=["POST"]),
            Route("/api/sheet/tell", desk.tell_sheet, methods=["POST"]),
        ],
        exception_handlers={GraphboError: _refused, HTTPException: _no_such_address},
        lifespan=lifespan,
    )
    return Guard(app, visitors)


class _Desk:
    """Answers requests, each through a connection of its own."""

    def __init__(
        self, connections: Connections, watching: Watching, visitors: Visitors, examine: Examine
    ) -> None:
        self.connections = connections
        self._watching = watching
        self._visitors = visitors
        self._examine = examine

    async def _ask(self, question: Callable[[GraphStore], Answer]) -> Answer:
        return await self.connections.ask(question)

    # Looking

    async def runs(self, request: Request) -> Response:
        known = _query(request, "version")
        return _news(await self._ask(lambda store: looking.all_runs(store, self._watching, known)))

    async def compare(self, request: Request) -> Response:
        names = request.query_params.getlist("name")[:20]
        return _json(await self._ask(lambda store: looking.compared(store, self._watching, names)))

    async def run(self, request: Request) -> Response:
        name, known, rows = _query(request, "name"), _query(request, "version"), _rows(request)
        read_only = self._visitors.read_only
        return _news(
            await self._ask(
                lambda store: looking.one_run(
                    store, self._watching, name, known, rows, read_only=read_only
                )
            )
        )

    async def figures(self, request: Request) -> Response:
        name = _query(request, "name")
        data = await self._ask(lambda store: self._watching.of(name).figures(store, name))
        return Response(data, media_type="application/json")

    async def node(self, request: Request) -> Response:
        name, key = _query(request, "name"), key_of(_query(request, "key"))
        read_only = self._visitors.read_only
        return _json(
            await self._ask(
                lambda store: looking.node(store, self._watching, name, key, read_only=read_only)
            )
        )

    async def find(self, request: Request) -> Response:
        name, text = _query(request, "name"), _query(request, "text")
        return _json(
            {"key": await self._ask(lambda store: looking.found(store, self._watching, name, text))}
        )

    async def form(self, request: Request) -> Response:
        del request
        return _json({"html": await self._ask(starting.form_part)})

    # Doing

    async def act(self, request: Request) -> Response:
        form = await _form(request)
        return _json({"said": await self._ask(lambda store: act(store, form))})

    async def examine(self, request: Request) -> Response:
        form = await _form(request)
        fine, html = await self._ask(lambda store: starting.examined(store, form, self._examine))
        return _json({"fine": fine, "html": html})

    async def start(self, request: Request) -> Response:
        form = await _form(request)
        run = await self._ask(lambda store: starting.start(store, form))
        return _json({"name": run.name, "said": f"The run {run.name!r} is started"})

    # Spreadsheets

    async def take_out(self, request: Request) -> Response:
        name = _query(request, "name")
        comma = _query(request, "decimal") == "comma"
        text = await self._ask(lambda store: sheets.taken_out(store, name, comma=comma))
        return Response(text.encode(), media_type="text/csv; charset=utf-8")

    async def look_at_sheet(self, request: Request) -> Response:
        sheet = await _sheet(request)
        return _json({"html": await self._ask(lambda store: sheets.looked_at(store, sheet))})

    async def tell_sheet(self, request: Request) -> Response:
        sheet = await _sheet(request)
        return _json({"said": await self._ask(lambda store: sheets.told(store, sheet))})


# Requests


def _query(request: Request, name: str) -> str:
    return request.query_params.get(name, "")[:2_000]


def _rows(request: Request) -> int:
    text = _query(request, "rows")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 25


async def _form(request: Request) -> Mapping[str, Any]:
    try:
        form = json.loads(await request.body())
    except (ValueError, RecursionError):
        form = None
    if not isinstance(form, dict):
        raise HTTPException(400, "this is no form of this page")
    return form


async def _sheet(request: Request) -> sheets.Sheet:
    return sheets.Sheet(
        await request.body(), {name: _query(request, name) for name in request.query_params}
    )


# Answers


def _json(data: Mapping[str, Any], status: int = 200) -> Response:
    return JSONResponse(data, status)


def _news(data: Mapping[str, Any] | None) -> Response:
    return Response(status_code=204) if data is None else _json(data)


async def _refused(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, GraphboError)  # noqa: S101 - it is registered for these
    status = 404 if isinstance(error, NoSuchRun | NoSuchNode) else 409
    if isinstance(error, StoreUnavailable):
        status = 503
    return _json({"error": in_words(error)}, status)


async def _no_such_address(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for these
    said = "there is nothing here" if error.status_code == 404 else error.detail
    return _json({"error": said}, error.status_code)


def _part(package: str, name: str) -> str:
    return files(package).joinpath("page", name).read_text(encoding="utf-8")


def _page(address: Address, visitors: Visitors) -> Callable[[Request], Awaitable[Response]]:
    """The document of every page: it holds nothing that is of the database."""
    del address
    text = _part("graphbo.dashboard", "dashboard.html")
    text = text.replace("@READONLY@", "yes" if visitors.read_only else "no")

    async def page(request: Request) -> Response:
        del request
        return Response(text, media_type="text/html")

    return page


async def _static(request: Request) -> Response:
    found = STATIC.get(request.path_params["name"])
    if found is None:
        raise HTTPException(404)
    package, name, kind = found
    return Response(_part(package, name), media_type=kind)


async def _icon(request: Request) -> Response:
    del request
    return Response(status_code=204)
