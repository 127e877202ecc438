"""The dashboard of a database, asked as a browser would."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from graphbo.cli.checks import examine
from graphbo.dashboard.app import create_app
from graphbo.dashboard.guard import Visitors
from graphbo.runs import Run, RunSettings
from graphbo.types import Pending
from tests.backends import Backend
from tests.cli.runs import VIEW

__all__ = ["ORIGIN", "Served", "begin", "served"]

ORIGIN = "http://127.0.0.1:8765"


class Served:
    """What somebody with the token can do."""

    def __init__(self, client: TestClient, visitors: Visitors) -> None:
        self.client = client
        self.visitors = visitors
        self.headers = {"authorization": f"Bearer {visitors.token}", "origin": ORIGIN}

    def get(self, path: str, **query: Any) -> Any:
        """An answer that has to be fine."""
        answer = self.client.get(path, params=query, headers=self.headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, data: object, expected: int = 200) -> Any:
        """The answer to a form."""
        answer = self.client.post(path, json=data, headers=self.headers)
        assert answer.status_code == expected, answer.text
        return answer.json()

    def act(self, action: str, expected: int = 200, **form: Any) -> str:
        """What is said of an action, or why it is refused."""
        answer = self.post(
            "/api/act", {"run": "mine", "person": "Ann", "action": action, **form}, expected
        )
        said: str = answer["said" if expected == 200 else "error"]
        return said

    def cards(self) -> list[str]:
        """The nodes that people measure, as HTML."""
        return [one["html"] for one in self.get("/api/run", name="mine", rows="25")["cards"]]


@contextmanager
def served(backend: Backend, **settings: Any) -> Iterator[Served]:
    """A dashboard that answers."""
    with backend.open() as store:
        address = store.access
    assert address is not None
    visitors = Visitors("127.0.0.1", 8765, **settings)
    with TestClient(create_app(address, visitors, examine), base_url=ORIGIN) as client:
        yield Served(client, visitors)


def begin(backend: Backend, told: int = 0, **settings: Any) -> Pending:
    """A run with so many values, and a node that Ann has taken."""
    with backend.open() as store:
        run = Run.create(store, VIEW, "mine", RunSettings(**settings), worker="Ann")
        for _ in range(told):
            pending = run.ask().pending
            assert pending is not None
            run.tell(10.0 - abs(int(pending.key) - 42) / 10, step=pending.step)
        pending = run.ask().pending
    assert pending is not None
    return pending
