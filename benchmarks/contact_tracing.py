"""Contact tracing on Neo4j's own demo: through paths, and on a projection that is written into the data by hand.

    graphbo neo4j up --home DIR && graphbo neo4j load contact-tracing-50.dump --home DIR
    set -a; . DIR/credentials.env; set +a
    python benchmarks/contact_tracing.py                 # five minutes

Two questions are asked: whose contacts cost most (how many people were at a place together with somebody), and who
spent most hours at places together with others. Both need a look at every visit of a person's places, and stand for
something that takes an interview. Each is sought with eight seeds: through the path from a person to a place to another
person, along relationships that say how many places two people share, which are written for the purpose and removed at
the end, and by random search. Printed is after how many evaluations each search had found the best person.
"""

import argparse
from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from graphbo.objectives import from_callable
from graphbo.runs import Run, RunSettings
from graphbo.runs.registry import runs_in
from graphbo.runs.worker import work
from graphbo.stores import GraphStore, address_from, open_store
from graphbo.stores.neo4j.connection import BULK_SECONDS, Neo4jConnection, rows_of
from graphbo.types import NodeKey, View
from graphbo.types.notation import read_path

SEEDS, BUDGET = 8, 100
PATH = "(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)"
VIEWS = {
    "through paths": View((), key="id", paths=(read_path(PATH),)),
    "on the projection": View(("Person",), ("BENCH_MET",), key="id", weight="places"),
}
TOGETHER = """
MATCH (p:Person)
OPTIONAL MATCH (p)-[a:VISITS]->(:Place)<-[b:VISITS]-(other:Person)
WHERE a.starttime < b.endtime AND b.starttime < a.endtime AND other <> p
WITH p, other, CASE WHEN a.starttime > b.starttime THEN a.starttime ELSE b.starttime END AS begin,
     CASE WHEN a.endtime < b.endtime THEN a.endtime ELSE b.endtime END AS end
RETURN p.id AS key, 0.25 * count(DISTINCT other) AS contacts,
       coalesce(sum(duration.inSeconds(begin, end).seconds), 0) / 3600.0 AS hours
"""
PROJECT = """
MATCH (p:Person)-[:VISITS]->(place:Place)<-[:VISITS]-(q:Person) WHERE p.id < q.id
WITH p, q, count(DISTINCT place) AS places
CREATE (p)-[:BENCH_MET {places: toFloat(places)}]->(q)
"""
FORGET = "MATCH (:Person)-[r:BENCH_MET]->(:Person) DELETE r"
#: What is sought, and in which column of the answer it is.
QUESTIONS = {"whose contacts cost most": "contacts", "who spent most hours with others": "hours"}


def found_after(
    store: GraphStore, view: View, values: Mapping[NodeKey, float], seed: int, strategy: str
) -> int | None:
    """The evaluation that found the best person; None if none did."""
    settings = RunSettings(strategy=strategy, seed=seed, budget=BUDGET, labelled=False)
    run = Run.create(store, view, "contact tracing benchmark", settings)
    try:
        work(run, from_callable(values.__getitem__))
        best = max(values.values())
        found = (number for number, one in enumerate(run.history, 1) if one.value == best)
        return next(found, None)
    finally:
        runs_in(store).clean(run.name)


def main() -> None:
    """Run the searches and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--uri", help="the server, with credentials in the environment")
    address = address_from(parser.parse_args().uri)
    table = Table(title=f"evaluations until the best of all people was found, {SEEDS} seeds")
    for column in ("what is sought", "how", "found", "after evaluations"):
        table.add_column(column, justify="right" if column == "found" else "left")
    connection = Neo4jConnection(address)
    try:
        people = connection.read(TOGETHER, {}, rows_of, seconds=BULK_SECONDS)
        connection.write(PROJECT, {}, rows_of, seconds=BULK_SECONDS)
        with open_store(address) as store:
            for question, column in QUESTIONS.items():
                values: dict[NodeKey, float] = {one["key"]: one[column] for one in people}
                ways = [(how, view, "bayes") for how, view in VIEWS.items()]
                ways.append(("at random", VIEWS["through paths"], "random"))
                for how, view, strategy in ways:
                    after = [
                        found_after(store, view, values, seed, strategy) for seed in range(SEEDS)
                    ]
                    hits = sum(one is not None for one in after)
                    shown = " ".join("–" if one is None else str(one) for one in after)
                    table.add_row(question, how, f"{hits} of {SEEDS}", shown)
    finally:
        connection.write(FORGET, {}, rows_of, seconds=BULK_SECONDS)
        connection.close()
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
