"""A run that is created while the last other one is cleaned: the constraints of runs are there if a run is."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from graphbo.runs import RunSettings
from tests.faults.checker import Findings
from tests.faults.databases import constraints_of_runs
from tests.faults.kinds.base import Attempt, Kind, Limits, Try
from tests.faults.site import Site
from tests.faults.workers import VIEW

__all__ = ["CREATE_BESIDE_CLEAN"]

_SETTINGS = RunSettings(strategy="random", budget=10)
#: The most by which one of the two commands starts later than the other.
_STAGGER_SECONDS = 0.1


@contextmanager
def _created_beside_clean(site: Site) -> Iterator[Try]:
    first = site.create_run(_SETTINGS)
    expected = constraints_of_runs(site.backend)
    site.clean(first)

    def attempt(rng: Random, limits: Limits) -> Attempt:
        old, new = site.create_run(_SETTINGS, 1), site.name("run")
        graph = ["--label", *VIEW.labels, "--rel", *VIEW.relationships, "--strategy", "random"]
        commands = [["clean", old, "--yes"], ["ask", new, *graph]]
        rng.shuffle(commands)
        first = site.start(*commands[0])
        time.sleep(rng.uniform(0.0, _STAGGER_SECONDS))
        second = site.start(*commands[1])
        found = Findings()
        for (name, *_), (process, command) in zip(commands, (first, second), strict=True):
            answer = site.answer(process, command)
            if answer.code != 0:
                found.other.append(f"{name} ended with {answer.code}: {answer.message}")
        missing = expected - constraints_of_runs(site.backend)
        found.other += [f"{new} is there, and the constraint {name} is not" for name in missing]
        found.add(site.clean(new))
        return Attempt(1, found)

    yield attempt


CREATE_BESIDE_CLEAN = Kind(
    "a run created beside `graphbo clean` of the last", {"neo4j": 60}, _created_beside_clean
)
