"""What is run together: tasks × methods, as data."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphbo.bench.methods import BASELINES, PAPER, WHOLE_GRAPH
from graphbo.bench.tasks.valued import ALL

__all__ = ["SUITES", "Group", "Suite"]


@dataclass(frozen=True)
class Group:
    """Tasks that belong into one figure, and what is run on them.

    Attributes:
        name: of the figure.
        tasks, methods: their specs. The first method is the one that others are compared with.
        log: whether regret is shown on a logarithmic scale.
        budget: how many evaluations.
    """

    name: str
    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    log: bool = False
    budget: int = 100


@dataclass(frozen=True)
class Suite:
    """Groups of tasks.

    Attributes:
        about: one line.
        seeds: how many problems of each task.
    """

    name: str
    about: str
    groups: tuple[Group, ...]
    seeds: int = 10


#: What is compared in the paper's experiments. The first is the default, the one to stand its ground.
COMPARED = ("bayes", *PAPER, *BASELINES)


def _specs(pattern: str, **values: Sequence[object]) -> tuple[str, ...]:
    """A spec for each combination of values, put into a pattern."""
    specs = [pattern]
    for name, choices in values.items():
        specs = [one.replace(f"<{name}>", str(choice)) for one in specs for choice in choices]
    return tuple(specs)


CENTRALITY_BA = _specs(
    "centrality:graph=ba,n=1000,m=<m>,measure=<measure>",
    m=(2, 3, 4),
    measure=("betweenness", "eigenvector"),
)
CENTRALITY_WS = _specs(
    "centrality:graph=ws,n=2000,k=<k>,p=<p>,measure=<measure>",
    k=(10, 30),
    p=(0.1, 0.2),
    measure=("betweenness", "eigenvector"),
)
ACKLEY = _specs("grid:function=ackley,noise=<noise>", noise=(0, 0.1, 0.5, 1, 5))
ROSENBROCK = _specs("grid:function=rosenbrock,noise=<noise>", noise=(0, 0.1, 0.5, 1))
SPHERE = ("grid:function=sphere",)
PATIENT_ZERO = (
    *_specs("patient-zero:graph=contacts,beta=<beta>", beta=(0.1, 0.2, 0.3)),
    *_specs("patient-zero:graph=contacts,gamma=<gamma>", gamma=(0.005, 0.15)),
    "patient-zero:graph=contacts,epsilon=0.005",
    "patient-zero:graph=contacts,initial=0.003",
)
INFLUENCE = _specs("influence:data=<data>", data=("enron", "facebook-pages", "twitch"))
TEAMS = _specs(
    "teams:skills=<skills>,alpha=<alpha>,threshold=<threshold>",
    skills=(2, 4),
    alpha=(1, 10),
    threshold=(0.3,),
) + _specs("teams:threshold=<threshold>", threshold=(0.1, 0.2, "median"))

SENSITIVITY = (
    "paper",
    *(f"paper:size={size}" for size in (50, 200)),
    *(f"paper:failure_tolerance={failures}" for failures in (3, 10, 30)),
    *(f"paper:growth={growth}" for growth in (1.25, 2.0)),
    *(f"paper:order={order}" for order in (2, 3, 8)),
)
VARIANTS = (
    "bayes",
    *(f"bayes:size={size}" for size in (50, 200)),
    *(f"bayes:egos={egos}" for egos in (1, 3)),
    "bayes:apart=true",
    "bayes:degrees=false",
    *(f"bayes:refresh={refresh}" for refresh in (1, 15)),
    *(f"bayes:patience={patience}" for patience in (10, 25)),
    *(f"bayes:initial={initial}" for initial in (5, 20)),
    *(f"bayes:kernel={kernel}" for kernel in ("diffusion", "sum-inverse", "matern")),
    "bayes:acquisition=ucb",
)
ABLATION = (
    *_specs("centrality:graph=<g>,measure=<m>", g=("ba", "ws"), m=("betweenness", "eigenvector")),
    "grid:function=ackley",
    "grid:function=ackley,noise=1",
    "patient-zero:graph=town",
    "teams",
)
#: With properties and scouts, with either, and with neither; and what they have to beat.
KNOWING = (
    "bayes:features=auto",
    "bayes",
    "bayes:features=auto,scouts=0",
    "bayes:scouts=0",
    "local",
    "random",
)

_LISTED = (
    Suite(
        "smoke",
        "does everything work? Less than a minute on two cores, without any data",
        (
            Group(
                "smoke",
                (
                    "centrality:graph=ba,n=300",
                    "centrality:graph=ws,n=300,measure=eigenvector",
                    "grid:function=ackley,side=20,noise=0.5",
                    "teams:people=7",
                    "patient-zero:graph=town,n=300",
                ),
                COMPARED,
                budget=50,
            ),
        ),
        seeds=2,
    ),
    Suite(
        "paper",
        "the paper's experiments: their main settings, the paper's kernels, the baselines and the default",
        (
            Group("centrality-ba", CENTRALITY_BA, COMPARED),
            Group("centrality-ws", CENTRALITY_WS, COMPARED),
            Group("ackley", ACKLEY, COMPARED),
            Group("rosenbrock", (*ROSENBROCK, *SPHERE), COMPARED, log=True),
            Group("patient-zero", PATIENT_ZERO, COMPARED),
            Group("influential-users", INFLUENCE, COMPARED),
            Group("teams", TEAMS, COMPARED),
        ),
    ),
    Suite(
        "ablation",
        "what each part of the default is worth, and how sensitive the paper's algorithm is",
        (
            Group("variants", ABLATION, VARIANTS),
            Group("sensitivity", INFLUENCE, SENSITIVITY),
        ),
    ),
    Suite(
        "whole-graph",
        "a trust region, or the whole graph as the region",
        (
            Group(
                "whole-graph",
                _specs(
                    "centrality:graph=ws,n=<n>,k=10,p=0.1,measure=<m>",
                    n=(400, 1000),
                    m=("betweenness", "eigenvector"),
                ),
                ("paper", WHOLE_GRAPH, "bayes"),
            ),
        ),
    ),
    Suite(
        "real",
        "graphs with measured values, with and without what is known of their nodes; all that the data directory has",
        (
            Group("real", (f"valued:data={ALL}",), KNOWING),
            Group("real-raw", (f"valued:data={ALL},value=raw",), KNOWING),
        ),
    ),
    Suite(
        "connected",
        "machines through racks and types, people through places, papers through authors",
        (
            Group(
                "connected",
                _specs(
                    "<task>:through=<through>",
                    task=("machines", "visits", "papers"),
                    through=("paths", "nodes", "projection"),
                ),
                ("bayes", *BASELINES),
            ),
        ),
    ),
    Suite(
        "wall-time",
        "how long a step takes, by the size of the graph",
        (
            Group(
                "wall-time",
                _specs(
                    "centrality:graph=ba,n=<n>,measure=eigenvector",
                    n=(100, 300, 1000, 3000, 10_000),
                ),
                ("bayes", "paper"),
                budget=30,
            ),
            Group(
                "wall-time",
                _specs("centrality:graph=ba,n=<n>,measure=eigenvector", n=(100, 300, 1000, 3000)),
                (WHOLE_GRAPH,),
                budget=30,
            ),
        ),
        seeds=2,
    ),
)

SUITES: dict[str, Suite] = {suite.name: suite for suite in _LISTED}
