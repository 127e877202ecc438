"""A dashboard that is killed at any moment: what it has confirmed is there, what is sent again is not done twice."""

import random
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from graphbo.runs import Run
from graphbo.types import NodeKey
from tests.backends import Backend
from tests.cli.runs import end_group, load, started
from tests.dashboard.served import begin

pytestmark = pytest.mark.slow

PEOPLE = ("Ann", "Bob", "Cid")
#: Deaths; a server takes longer to let everybody in.
DEATHS = {"sqlite": 3, "neo4j": 2}


@dataclass
class Person:
    """Somebody who asks and tells, and sends again what was not confirmed."""

    name: str
    sent: int = 0
    taken: NodeKey | None = None
    told: dict[NodeKey, float] = field(default_factory=dict)

    def work(self, backend: Backend, address: str) -> None:
        """Until the dashboard does not answer any more."""
        base, _, token = address.partition("/#token=")
        headers = {"authorization": f"Bearer {token}", "origin": base}
        try:
            with httpx.Client(base_url=base, headers=headers, timeout=60) as client:
                while True:
                    self._ask(client)
                    self._tell(client, backend)
        except httpx.TransportError:
            return

    def _ask(self, client: httpx.Client) -> None:
        if self.taken is None:
            said = self._act(client, "ask", count="1", token=f"{self.name}-{self.sent}")
            found = re.fullmatch(r"You took 1 node: (\d+)", said)
            assert found, said
            self.taken = int(found[1])

    def _tell(self, client: httpx.Client, backend: Backend) -> None:
        key = self.taken
        assert key is not None
        with backend.open() as store:
            run = Run.open(store, "mine")
            run.refresh()
        # What was taken and confirmed is there, or has a value that was sent and not confirmed.
        steps = {one.key: one.step for one in run.pending}
        steps |= {one.key: one.step for one in run.history}
        value = self.sent + ord(self.name[0]) / 100
        self._act(client, "tell", step=steps[key], value=str(value))
        self.told[key] = value
        self.sent, self.taken = self.sent + 1, None

    def _act(self, client: httpx.Client, action: str, **form: object) -> str:
        form |= {"run": "mine", "person": self.name, "action": action}
        answer = client.post("/api/act", json=form)
        assert answer.status_code == 200, answer.text
        said: str = answer.json()["said"]
        return said


def address_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert "/#token=" in address, process.communicate(timeout=5)
    return address


def test_what_it_confirmed_is_there_however_it_dies(backend: Backend, tmp_path: Path) -> None:
    load(backend)
    begin(backend, strategy="random")
    everybody = [Person(name) for name in PEOPLE]
    rng = random.Random(7)
    with ThreadPoolExecutor(len(PEOPLE)) as threads:
        for _ in range(DEATHS[backend.name]):
            with started(backend, tmp_path, "dashboard", "--port", 0) as process:
                address, before = address_of(process), sum(one.sent for one in everybody)
                working = [threads.submit(one.work, backend, address) for one in everybody]
                # Anywhere in what follows the first that was confirmed.
                while sum(one.sent for one in everybody) == before:
                    assert not any(one.done() for one in working), working
                    time.sleep(0.005)
                time.sleep(rng.uniform(0, 0.15))
                end_group(process, signal.SIGKILL)
                for one in working:
                    one.result(timeout=120)
            nothing_is_lost(backend, everybody)


def nothing_is_lost(backend: Backend, everybody: list[Person]) -> None:
    """All that was confirmed, once; of what was not, at most what each had just sent."""
    with backend.open() as store:
        run = Run.open(store, "mine")
        run.refresh()
    values = {one.key: one.value for one in run.history}
    taken = {one.key for one in run.pending}
    assert len(values) == len(run.history)
    assert run.record.steps == len(run.history) + len(run.pending)
    for person in everybody:
        assert {key: values.get(key) for key in person.told} == person.told
        assert person.taken is None or person.taken in taken | set(values)
    assert len(values) <= sum(len(one.told) for one in everybody) + len(everybody)
    assert len([one for one in run.pending if one.worker in PEOPLE]) <= 1 + len(everybody)
