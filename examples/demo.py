"""Patient zero: an outbreak in a town, and graphbo finds out whom it began with by asking few people.

``make demo`` runs it on the embedded store, ``make demo-neo4j`` on a Neo4j that it starts. Everything it makes is in
the directory demo/: the town, what people would say, the objective, the database, and a report to open in a browser.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from graphbo.bench.tasks.patient_zero import Outbreak, contact_graph, spread

RUN = "patient-zero"
TOWN = ("--label", "Person", "--rel", "MET")
#: Few would let luck decide: a single order takes anything between one interview and all.
RANDOM_SEEDS = 200

#: The objective of the demo. A real one would wait for an interview, a laboratory or a simulation.
OBJECTIVE = '''"""An interview: when did you fall ill? Whoever fell ill earlier is closer to where it began."""

import json
from pathlib import Path

from graphbo.bench.tasks.patient_zero import Outbreak

TOLD = Outbreak(**json.loads(Path(__file__).with_name("answers.json").read_text()))


def interview(key):
    return TOLD.value(key)
'''


def main() -> None:
    """Tell the story."""
    options = parse()
    directory: Path = options.directory
    graph, outbreak = prepare(directory, options.people, options.seed)
    print(
        f"A town of {len(graph):,} people, {graph.number_of_edges():,} pairs of whom meet. "
        f"{len(outbreak.infected):,} are or were ill by day {outbreak.day}.\n"
        "Who was the first? Each evaluation is an interview.\n"
    )
    place = start_neo4j(directory) if options.neo4j else start_embedded(directory)
    graphbo(directory, "load", "contacts.json", *TOWN, *place)
    graphbo(
        directory,
        *("run", *TOWN, "--objective", "python:interviews:interview"),
        *("--name", RUN, "--budget", str(options.budget), *place),
    )
    history = ask_graphbo(directory, "history", RUN, "--json", *place)
    tell_story(graph, outbreak, history)
    graphbo(directory, "report", RUN, "-o", "report.html", "--optimum", "1", *place)
    say_what_next(directory, place, outbreak, options.neo4j)


def parse() -> argparse.Namespace:
    """The options of this program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--neo4j", action="store_true", help="on a Neo4j that is started here")
    parser.add_argument("--directory", type=Path, default=Path("demo"))
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the town and the outbreak")
    return parser.parse_args()


def prepare(directory: Path, people: int, seed: int) -> tuple["nx.Graph[str]", Outbreak]:
    """Write the town, the answers and the objective into the directory."""
    directory.mkdir(exist_ok=True)
    graph = contact_graph(people, seed=seed)
    outbreak = spread(graph, beta=0.05, seed=seed)
    town = json.dumps(nx.node_link_data(graph, edges="links"))
    (directory / "contacts.json").write_text(town, encoding="utf-8")
    (directory / "answers.json").write_text(json.dumps(asdict(outbreak)), encoding="utf-8")
    (directory / "interviews.py").write_text(OBJECTIVE, encoding="utf-8")
    return graph, outbreak


def start_embedded(directory: Path) -> list[str]:
    """A new file; the options that lead to it."""
    for old in directory.glob("outbreak.db*"):
        old.unlink()
    return ["--uri", "sqlite:outbreak.db"]


def start_neo4j(directory: Path) -> list[str]:
    """A server whose data is in the directory, without what an earlier demo left; the options that lead to it."""
    graphbo(directory, "neo4j", "up", "--home", "neo4j")
    place = ["--credentials", "neo4j/credentials.env"]
    runs = ask_graphbo(directory, "runs", "--json", *place)
    if any(run["name"] == RUN for run in runs):
        graphbo(directory, "clean", RUN, "--yes", *place)
    return place


def command() -> str:
    """The graphbo that belongs to this Python."""
    beside = Path(sys.executable).with_name("graphbo")
    return str(beside) if beside.exists() else shutil.which("graphbo") or "graphbo"


def environment() -> dict[str, str]:
    """Without a database of the user's, which a demo must not touch."""
    return {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}


def graphbo(directory: Path, *words: str) -> None:
    """Show a command and run it."""
    print(f"$ {shlex.join(['graphbo', *words])}", flush=True)
    result = subprocess.run([command(), *words], cwd=directory, env=environment(), check=False)
    if result.returncode:
        raise SystemExit(result.returncode)
    print(flush=True)


def ask_graphbo(directory: Path, *words: str) -> Any:
    """What a command prints as JSON."""
    result = subprocess.run(
        [command(), *words],
        cwd=directory,
        env=environment(),
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    return json.loads(result.stdout)


def tell_story(
    graph: "nx.Graph[str]", outbreak: Outbreak, history: Sequence[dict[str, Any]]
) -> None:
    """Who it was, after how many interviews, and how many it takes at random."""
    person = graph.nodes[outbreak.source]
    who = f"{person['name']}, {person['age']}, of {person['home']}"
    asked = [observation["key"] for observation in history]
    at_random = np.median(
        [random_interviews(list(graph), outbreak, s) for s in range(RANDOM_SEEDS)]
    )
    if outbreak.source in asked:
        print(f"Patient zero is {who}: found with interview {asked.index(outbreak.source) + 1}.")
    else:
        print(f"Patient zero is {who}, and was not found in {len(asked)} interviews.")
    print(
        f"Asking people in random order takes {at_random:.0f} interviews "
        f"(the median of {RANDOM_SEEDS} orders).\n"
    )


def random_interviews(people: Sequence[str], outbreak: Outbreak, seed: int) -> int:
    """How many interviews it takes in a random order."""
    order = np.random.default_rng(seed).permutation(len(people))
    return int(np.flatnonzero(order == people.index(outbreak.source))[0]) + 1


def say_what_next(directory: Path, place: list[str], outbreak: Outbreak, neo4j: bool) -> None:
    """Leave the user something to try."""
    latest = max(outbreak.infected, key=lambda key: outbreak.infected[key])
    print(f"See where it looked: open {directory / 'report.html'} in a browser.")
    print(f"The database is in {directory}/. Try next:")
    print(f"  cd {directory}")
    for words in (
        ["history", RUN, *place],
        ["status", RUN, *place],
        # Contact tracing by hand: from the latest case, through the contacts of those who were asked.
        ["ask", "by-hand", *TOWN, "--start", latest, "--reveal", "evaluated", *place],
        ["tell", "by-hand", latest, "0.1", *place],
        ["clean", RUN, *place],
    ):
        print(f"  {shlex.join(['graphbo', *words])}")
    if neo4j:
        show_in_browser(directory, place)


def show_in_browser(directory: Path, place: list[str]) -> None:
    """Mark the region that the search looks at now, and end with a link to the picture."""
    home = shlex.quote(str(directory / "neo4j"))
    print(f"Stop the server with: graphbo neo4j down --home {home}\n")
    graphbo(directory, "annotate", RUN, "--posterior", *place)
    graphbo(directory, "browser", RUN, *place)


if __name__ == "__main__":
    main()
